"""SAOLA: keep a column unless a better one among those kept makes it redundant, pair by pair."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice, check_number
from streamsieve.base import ColumnSelector, Stop
from streamsieve.columns._coded import CodedColumns
from streamsieve.columns._correlated import CorrelatedColumns, Dominance
from streamsieve.columns._gate import Gate, check_gate
from streamsieve.exceptions import ParameterError, TargetError
from streamsieve.independence import FisherZ, fisher_z
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Reason, Task
from streamsieve.verdicts import REASON_CODE, Eviction, PValue, Verdicts

MEASURES = ("fisher_z", "su", "mutual_info")
BOUNDS = ("min", "max")
MODES = ("paper", "two_phase")
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
        self.bins = bins
        self.fdr = fdr
        self.lag = lag
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each measure, the other bound and mode, and levels that follow what was found."""
        for measure in MEASURES:
            yield cls(measure=measure)
        yield cls(bound="max", mode="two_phase")
        yield cls(alpha=0.1, fdr="addis", lag=1)

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_number("alpha", self.alpha, low=0, high=1, open_low=True, open_high=True)
        check_choice("measure", self.measure, MEASURES)
        check_number("delta", self.delta, low=0)
        check_choice("bound", self.bound, BOUNDS)
        check_choice("mode", self.mode, MODES)
        check_number("bins", self.bins, low=2, high=1024, integer=True)
        check_gate("addis" if self.fdr is None else self.fdr, self.alpha, self.lag)
        if self.fdr is not None and self.measure != "fisher_z":
            raise ParameterError(
                f"fdr={self.fdr!r} needs p-values, which measure={self.measure!r} does not give: take "
                "measure='fisher_z', or fdr=None and delta for a threshold"
            )
        task = Task(self.task_)
        if self.measure == "fisher_z":
            self._test_ = FisherZ(y, task, self.alpha)
            self._kept_: CorrelatedColumns | CodedColumns = CorrelatedColumns(len(y))
            if self.fdr is not None:
                self._gate_ = Gate(self.fdr, self.alpha, self.lag)
        else:
            self._kept_ = CodedColumns(_coded_target(y, task), self.bins)

    def _selected(self) -> IntArray:
        return self._kept_.features

    def _offer(self, block: ColumnBlock) -> Verdicts:
        kept, start = self._kept_, self.n_features_in_
        two_phase, use_max = self.mode == "two_phase", self.bound == "max"
        if isinstance(kept, CodedColumns):
            reason, statistic, settled = kept.settle(
                block.X, start, normalised=self.measure == "su", delta=self.delta,
                two_phase=two_phase, use_max=use_max,
            )  # fmt: skip
            redundant = np.flatnonzero(settled.by >= 0)
            by, p_value = settled.by[redundant], None
        else:
            measured = self._test_.relevance(block.X)
            reason, statistic = measured.reason, measured.r
            if self.fdr is not None:
                self._gate_.regrade(reason, self._test_.p_value(statistic))
            chosen = np.flatnonzero(reason == KEPT)
            settled = kept.settle(block.X, chosen, measured, start, two_phase=two_phase, use_max=use_max)
            lost = settled.by >= 0
            redundant, by = chosen[lost], settled.by[lost]
            reason[redundant] = REDUNDANT
            # two columns have a correlation even where a column and many classes have a ratio
            p_value = None if self._test_.n_contrasts == 1 else self._test_.p_value(statistic)
            statistic[redundant] = settled.pair[lost]
            if p_value is not None:
                p_value[redundant] = self._pair_p_values(settled.pair[lost])
        dominated = {start + j: (i,) for j, i in zip(redundant.tolist(), by.tolist(), strict=True)}
        return Verdicts(start, reason, statistic, p_value, dominated, self._evictions(settled))

    def _evictions(self, settled: Dominance) -> list[Eviction]:
        p_values = self._pair_p_values(settled.evicted_pair)
        columns = (settled.evicted, settled.evicted_by, settled.evicted_pair, p_values)
        return [
            Eviction(by, feature, Reason.REDUNDANT, pair, p, (by,))
            for feature, by, pair, p in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def _pair_p_values(self, pair: FloatArray) -> FloatArray:
        """Return p-values of dependences between two columns."""
        return fisher_z.p_value(pair, self.n_rows_) if self.measure == "fisher_z" else pair * np.nan

    def _offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        if self.measure != "fisher_z" or self.fdr is not None:
            return None
        found = self._test_.irrelevant_one(x)
        return None if found is None else (Reason.IRRELEVANT, *found)

    def _p_value_of(self) -> PValue | None:
        return self._test_.p_value if self.measure == "fisher_z" else None

    def _restored(self) -> None:
        super()._restored()
        if np.any((self.selected_ < 0) | (self.selected_ >= self.n_features_in_)):
            raise ValueError("a kept column was never offered")
        if self.fdr is not None:
            self._gate_.check(self.fdr, self.alpha, self.lag, self.n_features_in_)


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
