"""SAOLA: keep a column unless a better one among those kept makes it redundant, pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.base import ColumnSelector, Stop
from streamsieve.columns._budget_paired import PairedTarget
from streamsieve.columns._coded import CodedColumns
from streamsieve.columns._correlated import CorrelatedColumns, Dominance
from streamsieve.columns._gate import LONGEST_LAG, RULES, Gate
from streamsieve.columns._paired_columns import PairedColumns
from streamsieve.exceptions import ParameterError, TargetError
from streamsieve.independence import FisherZ, fisher_z
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Matrix, Reason, Task, Traits
from streamsieve.state import Choice, Float, Int, Nested, Undeclared
from streamsieve.verdicts import REASON_CODE, Eviction, PValue, Verdicts

MEASURES = ("fisher_z", "su", "mutual_info")
BOUNDS = ("min", "max")
MODES = ("paper", "two_phase")
MISSING = ("refuse", "omit")
MOST_CLASSES = 2**16
#: Quantiles that a numeric target is cut at for the discrete measures.
TARGET_BINS = 5

KEPT, REDUNDANT = REASON_CODE[Reason.RELEVANT], REASON_CODE[Reason.REDUNDANT]


class SAOLA(ColumnSelector):
    """Keep columns that tell about the target and are not dominated by a kept one, at any width.

    A new column F is rejected if it does not depend on y, or if some kept Y depends on y at least as
    much and F depends on Y at least as much as on y.  If F is the better one of such a pair, Y is
    evicted.  One comparison a pair, no conditioning: millions of sparse columns take seconds.

    Parameters
    ----------
    alpha : float, default=0.01
        Level of the test of relevance for ``measure="fisher_z"``, 0 < alpha < 1.
    measure : {"fisher_z", "su", "mutual_info"}, default="fisher_z"
        Dependence of two columns: absolute correlation, symmetric uncertainty, or mutual information in
        nats.  The latter two take columns as codes (see bins) and see more than linear dependence.
    delta : float, default=0.0
        For "su" and "mutual_info": a column at or below it is irrelevant.  0 lets nearly every column of
        a wide sparse stream count as relevant; raise it there.
    bound : {"min", "max"}, default="min"
        What the dependence of F and Y must reach: the smaller of their dependences on y (SAOLA) or the
        larger (SAOLA-max, keeps more).
    mode : {"paper", "two_phase"}, default="paper"
        In the paper, F may evict Y and fall to a third column right after, so that Y is lost for nothing.
        "two_phase" settles F first.
    missing : {"refuse", "omit"}, default="refuse"
        What to do about NaN.  "omit" compares two columns over the rows where both are seen, and is for
        ``measure="fisher_z"``.
    bins : int, default=5
        For "su" and "mutual_info": columns with more than 32 distinct values are cut into so many bins
        of equal frequency, 2 to 1024.
    fdr : {None, "addis", "saffron", "lord", "dlord", "alpha_investing", "lond"}, default=None
        With a rule, for "fisher_z", a column is tested for relevance at the level that this rule gives it,
        so that of all columns found relevant an expected share of at most alpha is not; see ``OnlineFDR``.
        With None every column is tested at alpha, and of many junk columns the share alpha is relevant.
    lag : int, default=0
        For a rule: how many columns before a column must not influence its level; see ``OnlineFDR``.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is; "auto" takes fractional numbers for regression and everything else for labels.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run early.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    ledger_ : every decision; the statistic is the dependence on y, or for a redundant or evicted column
        its dependence on the one in ``by``
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    Ties: with "fisher_z" the newcomer of two equals leaves, so duplicates go; with "su" and "mutual_info"
    equals leave each other alone.  Both are what the authors' toolbox does, and reproduce its selections.
    Deviations: the toolbox skips columns whose *sum* is 0, which drops centred ones; here only constant
    columns are skipped.  The paper's Algorithm 1 tests ``< delta``, so with delta = 0 nothing is ever
    irrelevant; its text and this class test ``<=``.  The paper's "mutual information" is symmetric
    uncertainty in the toolbox; both are offered.  More than two classes: see ``FisherZ``.  The result
    depends on the order of columns; the size of blocks never matters.

    With ``missing="omit"``, correlations are over joint rows and Fisher's z has their number less 3 degrees
    of freedom.  A column with gaps that is seen in fewer than 4 rows, or where y does not vary, is
    unreliable; two columns with fewer than 4 joint rows share nothing.  Filling in means instead would shrink
    correlations between columns, so that redundancy is not seen.

    References
    ----------
    Yu, Wu, Ding, Pei: Towards scalable and accurate online feature selection for big data, ICDM 2014.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> dose = y + rng.normal(size=300)
    >>> copy = dose + 0.5 * rng.normal(size=300)
    >>> sieve = ss.SAOLA(alpha=0.01).begin(y)
    >>> for decision in sieve.offer(np.c_[copy, rng.normal(size=300), dose], names=["copy", "noise", "dose"]):
    ...     print(decision.feature, decision.event, decision.reason, *decision.by)
    copy kept relevant
    noise rejected irrelevant
    copy evicted redundant dose
    dose kept relevant
    """

    def __init__(
        self,
        alpha: float = 0.01,
        measure: str = "fisher_z",
        delta: float = 0.0,
        bound: str = "min",
        mode: str = "paper",
        missing: str = "refuse",
        bins: int = 5,
        fdr: str | None = None,
        lag: int = 0,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.alpha = alpha
        self.measure = measure
        self.delta = delta
        self.bound = bound
        self.mode = mode
        self.missing = missing
        self.bins = bins
        self.fdr = fdr
        self.lag = lag
        self.task = task
        self.ledger = ledger
        self.stop = stop

    parameters = {
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "measure": Choice(*MEASURES),
        "delta": Float(0),
        "bound": Choice(*BOUNDS),
        "mode": Choice(*MODES),
        "missing": Choice(*MISSING),
        "bins": Int(2, 1024),
        "fdr": Choice(None, *RULES),
        "lag": Int(0, LONGEST_LAG),
        **ColumnSelector.common_parameters,
    }
    fields = {
        **ColumnSelector.common_fields,
        "_test_": Nested(FisherZ, shares=("rows",), optional=True),
        "_pairs_": Nested(PairedTarget, optional=True),
        "_gate_": Undeclared(Gate, optional=True),
        "_kept_": Nested(CorrelatedColumns, PairedColumns, CodedColumns, shares=("rows",)),
    }

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each measure, the other bound and mode, missing values, and levels after what was found."""
        for measure in MEASURES:
            yield cls(measure=measure)
        yield cls(bound="max", mode="two_phase")
        yield cls(missing="omit")
        yield cls(alpha=0.1, fdr="addis", lag=1)

    @property
    def traits(self) -> Traits:
        """What the selector can do: whether it takes missing values is a parameter."""
        return Traits(missing=self.missing == "omit")

    def _begin(self, y: npt.NDArray[Any]) -> None:
        self._check_parameters()
        task = Task(self.task_)
        if self.measure == "fisher_z":
            self._test_ = FisherZ(y, task, self.alpha)
            self._kept_: CorrelatedColumns | PairedColumns | CodedColumns = CorrelatedColumns(len(y))
            if self.missing == "omit":
                self._pairs_, self._kept_ = PairedTarget(y, task), PairedColumns(len(y))
            if self.fdr is not None:
                self._gate_ = Gate(self.fdr, self.alpha, self.lag)
        else:
            self._kept_ = CodedColumns(_coded_target(y, task), self.bins)

    def _check_together(self) -> None:
        if self.fdr is not None and self.measure != "fisher_z":
            raise ParameterError(
                f"fdr={self.fdr!r} needs p-values, which measure={self.measure!r} does not give: take "
                "measure='fisher_z', or fdr=None and delta for a threshold"
            )
        if self.missing == "omit" and self.measure != "fisher_z":
            raise ParameterError(
                f"missing='omit' goes with measure='fisher_z'; got measure={self.measure!r}: "
                "give missing values a code of their own, or use missing='refuse'"
            )

    def _selected(self) -> IntArray:
        return self._kept_.features

    def _offer(self, block: ColumnBlock) -> Verdicts:
        kept, start = self._kept_, self.n_features_in_
        if not isinstance(kept, CodedColumns):
            return self._offer_correlated(block.X, kept)
        reason, statistic, settled = kept.settle(
            block.X, start, normalised=self.measure == "su", delta=self.delta,
            two_phase=self.mode == "two_phase", use_max=self.bound == "max",
        )  # fmt: skip
        redundant = np.flatnonzero(settled.by >= 0)
        evictions = _evictions(settled, settled.evicted_pair * np.nan)
        return Verdicts(start, reason, statistic, None, _dominated(start, redundant, settled), evictions)

    def _offer_correlated(self, X: Matrix, kept: CorrelatedColumns | PairedColumns) -> Verdicts:
        start, test = self.n_features_in_, self._test_
        rules = {"two_phase": self.mode == "two_phase", "use_max": self.bound == "max"}
        p_value: FloatArray | None = None  # to be computed when somebody reads them
        if isinstance(kept, PairedColumns):
            measured, p_value = self._pairs_.measure(X, test, self.alpha)
        else:
            measured = test.relevance(X)
        reason, statistic = measured.reason, measured.r
        if self.fdr is not None:
            self._gate_.regrade(reason, test.p_value(statistic) if p_value is None else p_value)
        chosen = np.flatnonzero(reason == KEPT)
        if isinstance(kept, PairedColumns):
            settled, rows, evicted_rows = kept.settle(X, chosen, statistic, start, **rules)
        else:
            settled = kept.settle(X, chosen, measured, start, **rules)
            rows, evicted_rows = (np.full(len(a), self.n_rows_) for a in (settled.by, settled.evicted))
        lost = settled.by >= 0
        redundant = chosen[lost]
        if p_value is None and test.n_contrasts > 1:
            p_value = test.p_value(statistic)
        reason[redundant], statistic[redundant] = REDUNDANT, settled.pair[lost]
        if p_value is not None:
            # two columns have a correlation even where a column and many classes have a ratio
            p_value[redundant] = fisher_z.p_value_given(settled.pair[lost], rows[lost] - 3)
        evictions = _evictions(settled, fisher_z.p_value_given(settled.evicted_pair, evicted_rows - 3))
        return Verdicts(start, reason, statistic, p_value, _dominated(start, redundant, settled), evictions)

    def _offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        if self.measure != "fisher_z" or self.fdr is not None:
            return None
        found = self._test_.irrelevant_one(x)
        return None if found is None else (Reason.IRRELEVANT, *found)

    def _p_value_of(self) -> PValue | None:
        plain = self.measure == "fisher_z" and self.missing == "refuse"
        return self._test_.p_value if plain else None

    def _consistent(self) -> Iterator[str]:
        correlated, omits = self.measure == "fisher_z", self.missing == "omit"
        needed = CodedColumns if not correlated else PairedColumns if omits else CorrelatedColumns
        if type(self._kept_) is not needed or hasattr(self, "_test_") is not correlated:
            found = type(self._kept_).__name__
            yield f"a {found} does not go with measure={self.measure!r}, missing={self.missing!r}"
        elif np.any(self.selected_ >= self.n_features_in_):
            yield "a kept column was never offered"
        elif hasattr(self, "_pairs_") is not omits or hasattr(self, "_gate_") is not (self.fdr is not None):
            yield "there is a part too many or too few for missing or fdr"
        elif omits and len(self._pairs_.labels) not in (0, self.n_rows_):
            yield "there is not one class per row"
        elif self.fdr is not None:
            yield from self._gate_.problems(self.fdr, self.alpha, self.lag, self.n_features_in_)


def _dominated(start: int, redundant: IntArray, settled: Dominance) -> dict[int, tuple[int, ...]]:
    """Return which column made each redundant one redundant."""
    by = settled.by[settled.by >= 0]
    return {start + j: (i,) for j, i in zip(redundant.tolist(), by.tolist(), strict=True)}


def _evictions(settled: Dominance, p_values: FloatArray) -> list[Eviction]:
    columns = (settled.evicted, settled.evicted_by, settled.evicted_pair, p_values)
    return [
        Eviction(by, feature, Reason.REDUNDANT, pair, p, (by,))
        for feature, by, pair, p in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _coded_target(y: npt.NDArray[Any], task: Task) -> npt.NDArray[np.uint16]:
    """Labels as 0, 1, 2, ...; a numeric target is cut at its quantiles."""
    if task is Task.REGRESSION:
        size = len(y) // TARGET_BINS
        cuts = np.sort(y)[np.arange(1, TARGET_BINS) * size - 1] if size else np.unique(y)[:-1]
        y = np.searchsorted(cuts, y, side="left")
    codes = np.unique(y, return_inverse=True)[1]
    if codes.max() >= MOST_CLASSES:
        raise TargetError(
            f"y holds {codes.max() + 1:,} classes; measures over codes take {MOST_CLASSES:,} at most"
        )
    return codes.astype(np.uint16)
