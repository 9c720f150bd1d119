"""TopK: the k best columns so far, with or without regard to what they share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import screen
from streamsieve._parameters import check_choice, check_number
from streamsieve.base import ColumnSelector, Stop
from streamsieve.columns._budget import OUTSCORED, REDUNDANT, Budget, Candidates, Outcome
from streamsieve.columns._budget_coded import CodedBudget, CodedTarget
from streamsieve.columns._budget_correlated import CorrelatedBudget
from streamsieve.columns._budget_paired import PairedBudget, PairedTarget
from streamsieve.columns._gate import Gate, check_gate
from streamsieve.columns.saola import _coded_target
from streamsieve.exceptions import CapabilityError, MergeError, ParameterError, SchemaError
from streamsieve.independence import FisherZ
from streamsieve.protocols import (
    ColumnBlock,
    Decision,
    Event,
    FloatArray,
    IntArray,
    Matrix,
    Reason,
    Task,
    Traits,
)
from streamsieve.verdicts import KEPT, REASON_CODE, Eviction, PValue, Verdicts

MEASURES = ("fisher_z", "su", "mutual_info")
MISSING = ("refuse", "omit")
REASON_OF = {0: Reason.RELEVANT, REDUNDANT: Reason.REDUNDANT, OUTSCORED: Reason.OUTSCORED}
_UNTESTED = (REASON_CODE[Reason.IRRELEVANT], REASON_CODE[Reason.UNRELIABLE])
#: A level for a test that nobody asks.
ANY_LEVEL = 0.5


class Measured(NamedTuple):
    """How every column of a block stands to the target."""

    reason: npt.NDArray[np.uint8]
    statistic: FloatArray
    #: None: to be computed from the statistics when somebody reads them.
    p_value: FloatArray | None
    mean: FloatArray
    norm: FloatArray


class TopK(ColumnSelector):
    """Keep at most k columns: those that tell most about the target and share least with each other.

    A buffer of k columns.  A newcomer enters at once while there is room; later, the newcomer and the k
    members are scored by their dependence on y minus ``redundancy`` times their mean dependence on the k
    others, and the one with the least score goes.  ``redundancy=0`` is the exact top k for any order of
    columns, and merges; above it is streaming mRMR by swap.

    Parameters
    ----------
    k : int, default=15
        Most columns to keep, at least 1.
    redundancy : float, default=1.0
        Weight of what columns share, 0 to 1; 0.5 is a good choice for k of 50 and more.
    measure : {"fisher_z", "su", "mutual_info"}, default="fisher_z"
        Dependence of two columns: absolute correlation, symmetric uncertainty, or mutual information in
        nats.  The latter two take columns as codes (see bins) and see more than linear dependence.
    alpha : float or None, default=0.05
        Level of the test of relevance, 0 < alpha < 1: Fisher's z, or the G test over codes.  Columns that
        are not significant never enter.  None: no test.
    missing : {"refuse", "omit"}, default="refuse"
        What to do about NaN.  "omit" compares two columns over the rows where both are seen, and is for
        ``measure="fisher_z"``.
    bins : int, default=5
        For "su" and "mutual_info": columns with more than 32 distinct values are cut into so many bins
        of equal frequency, 2 to 1024.
    fdr : {None, "addis", "saffron", "lord", "dlord", "alpha_investing", "lond"}, default=None
        With a rule, a column is tested for relevance at the level that this rule gives it, so that of all
        columns found relevant an expected share of at most alpha is not; see ``OnlineFDR``.  With None every
        column is tested at alpha, and of many junk columns the share alpha is relevant.  A rule looks at
        columns in order, so that selectors with one do not merge.
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
    ledger_ : every decision; the statistic is always the dependence on y (with its sign, where a correlation
        has one).  "redundant" says that redundancy decided: a rejected column would have entered without it,
        an evicted one would have stayed.  ``by`` names the member a rejected column depends on most, or the
        newcomer that took the place of an evicted one.  "outscored" says that dependence on y decided.
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    Of equal scores the column that arrived last goes, so the newcomer loses ties, and ``redundancy=0`` is
    the top k of a stable sort.  With any redundancy a copy of a member (also negated, scaled, or with other
    names for its codes) is rejected at once, even while there is room; the scores alone would let it in
    whenever a third column scores less.  A column that cannot enter, whatever it shares with the members,
    is rejected without looking at them.  With redundancy the result depends on the order of columns; the
    size of blocks never matters.

    With ``missing="omit"``, correlations are over joint rows and Fisher's z has their number less 3 degrees
    of freedom.  A column with gaps that is seen in fewer than 4 rows, or where y does not vary, is
    unreliable; two columns with fewer than 4 joint rows share nothing.  A column is a copy only if the member
    is seen wherever it is.  Filling in means instead would shrink correlations between columns, so that
    redundancy is not seen.

    References
    ----------
    Rahmaninia, Moradi: OSFSMI: online stream feature selection method based on mutual information, Applied
    Soft Computing 68, 2018 (a buffer of fixed size).
    Peng, Long, Ding: Feature selection based on mutual information, IEEE TPAMI 27(8), 2005 (mRMR).

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.columns.top_k import TopK
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> dose, weight = y + rng.normal(size=(2, 300))
    >>> echo = dose + 0.1 * rng.normal(size=300)
    >>> X = np.c_[echo, rng.normal(size=300), dose, weight]
    >>> sieve = TopK(k=2).begin(y)
    >>> for decision in sieve.offer(X, names=["echo", "noise", "dose", "weight"]):
    ...     print(decision.feature, decision.event, decision.reason, *decision.by)
    echo kept relevant
    noise rejected irrelevant
    dose kept relevant
    echo evicted outscored weight
    weight kept relevant
    """

    def __init__(
        self,
        k: int = 15,
        redundancy: float = 1.0,
        measure: str = "fisher_z",
        alpha: float | None = 0.05,
        missing: str = "refuse",
        bins: int = 5,
        fdr: str | None = None,
        lag: int = 0,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.k = k
        self.redundancy = redundancy
        self.measure = measure
        self.alpha = alpha
        self.missing = missing
        self.bins = bins
        self.fdr = fdr
        self.lag = lag
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each measure, no redundancy, no test, missing values, and levels that follow what was found."""
        for measure in MEASURES:
            yield cls(k=3, measure=measure)
        yield cls(k=4, redundancy=0)
        yield cls(k=20, redundancy=0.5, alpha=None)
        yield cls(k=3, redundancy=0, measure="su", alpha=None)
        yield cls(k=3, missing="omit")
        yield cls(k=3, alpha=0.1, fdr="addis", lag=1)

    @property
    def traits(self) -> Traits:
        """What the selector can do: missing values and merging depend on its parameters."""
        return Traits(
            missing=self.missing == "omit",
            merges=self.redundancy == 0 and self.fdr is None,
            size_parameter="k",
        )

    # ---------------------------------------------------------------- beginning

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_number("k", self.k, low=1, integer=True)
        check_number("redundancy", self.redundancy, low=0, high=1)
        check_choice("measure", self.measure, MEASURES)
        if self.alpha is not None:
            check_number("alpha", self.alpha, low=0, high=1, open_low=True, open_high=True)
        check_choice("missing", self.missing, MISSING)
        check_number("bins", self.bins, low=2, high=1024, integer=True)
        if self.missing == "omit" and self.measure != "fisher_z":
            raise ParameterError(
                f"missing='omit' goes with measure='fisher_z'; got measure={self.measure!r}: "
                "give missing values a code of their own, or use missing='refuse'"
            )
        if self.fdr is not None and self.alpha is None:
            raise ParameterError(
                f"fdr={self.fdr!r} needs a rate to keep to, but alpha is None: take alpha=0.05"
            )
        check_gate(self.fdr, ANY_LEVEL if self.alpha is None else self.alpha, self.lag, optional=True)
        task = Task(self.task_)
        if self.measure == "fisher_z":
            self._test_ = FisherZ(y, task, ANY_LEVEL if self.alpha is None else self.alpha)
            if self.missing == "omit":
                self._pairs_ = PairedTarget(y, task)
        else:
            self._codes_ = CodedTarget(_coded_target(y, task), self.bins)
        self._kept_ = self._buffer(len(y))
        if self.fdr is not None and self.alpha is not None:
            self._gate_ = Gate(self.fdr, self.alpha, self.lag)

    def _buffer(self, n: int) -> Budget:
        k, weight = int(self.k), float(self.redundancy)
        if weight == 0:
            return Budget(n, k)
        if self.measure != "fisher_z":
            return CodedBudget(n, k, weight, self.bins, normalised=self.measure == "su")
        return PairedBudget(n, k, weight) if self.missing == "omit" else CorrelatedBudget(n, k, weight)

    # ---------------------------------------------------------------- offering

    def _offer(self, block: ColumnBlock) -> Verdicts:
        start, measured = self.n_features_in_, self._measured(block.X)
        reason, statistic = measured.reason, measured.statistic
        if self.fdr is not None:
            p_value = self._test_.p_value(statistic) if measured.p_value is None else measured.p_value
            self._gate_.regrade(reason, p_value)
        chosen = np.flatnonzero(reason == KEPT)
        new = self._candidates(chosen, start, measured)
        outcome = self._kept_.settle(block.X, new)
        for fate in (REDUNDANT, OUTSCORED):
            reason[chosen[outcome.fate == fate]] = REASON_CODE[REASON_OF[fate]]
        fallen = np.flatnonzero(outcome.by >= 0)
        by = {int(new.feature[j]): (int(outcome.by[j]),) for j in fallen}
        return Verdicts(start, reason, statistic, measured.p_value, by, _evictions(new.feature, outcome))

    def _measured(self, X: Matrix) -> Measured:
        nothing = np.zeros(0)
        if self.measure != "fisher_z":
            coded = self._codes_.measure(X, self.alpha, normalised=self.measure == "su")
            return Measured(*coded, nothing, nothing)
        if self.missing == "omit":
            found, p_value = self._pairs_.measure(X, self._test_, self.alpha)
        else:
            found, p_value = self._test_.relevance(X), None
        if self.alpha is None:
            self._let_in(found.reason, X)
        return Measured(found.reason, found.r, p_value, found.mean, found.norm)

    def _let_in(self, reason: npt.NDArray[np.uint8], X: Matrix) -> None:
        """Undo the verdicts of a test that nobody asked for; columns with too many gaps stay out."""
        untested = np.isin(reason, _UNTESTED)
        if self.missing == "omit":
            untested &= ~((reason == _UNTESTED[1]) & self._pairs_.gaps(X))
        reason[untested] = KEPT

    def _candidates(self, chosen: IntArray, start: int, measured: Measured) -> Candidates:
        r = measured.statistic[chosen]
        p = self._test_.p_value(r) if measured.p_value is None else measured.p_value[chosen]
        return Candidates(chosen, chosen + start, np.stack([np.abs(r), r, p]), measured.mean, measured.norm)

    def _offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        if self.measure != "fisher_z" or self._test_.n_contrasts > 1 or self.fdr is not None:
            return None
        ss, dot = screen.screen_one(x, self._test_.basis[:, 0])
        if not 0.0 < ss < math.inf:
            return None  # constant or not finite: somebody else decides
        r = dot / math.sqrt(ss)
        size = abs(r)
        if self.alpha is not None and size < self._test_.critical < math.inf:
            reason = Reason.IRRELEVANT
        elif size <= self._kept_.limit and size < 1 and not isinstance(self._kept_, PairedBudget):
            reason = Reason.OUTSCORED
        else:
            return None
        z = math.atanh(size) * math.sqrt(max(self.n_rows_ - 3, 0))
        return reason, r, math.erfc(z / math.sqrt(2.0))

    def _p_value_of(self) -> PValue | None:
        plain = self.measure == "fisher_z" and self.missing == "refuse"
        return self._test_.p_value if plain else None

    def _selected(self) -> IntArray:
        return self._kept_.features

    # ---------------------------------------------------------------- merging

    def merge(self, other: Self) -> Self:
        """Become the selector of these columns followed by the other's, over the same rows.

        Exact, and only for ``redundancy=0`` and ``fdr=None``: the top k of two streams are among the top k of
        each.

        Parameters
        ----------
        other : a TopK with equal parameters that began with the same y and saw other columns; it is not
            changed.  Its columns that came without names are counted on from here.

        Returns
        -------
        self
        """
        if not self.traits.merges:
            raise CapabilityError(
                "TopK merges with redundancy=0 and fdr=None only, where the order of columns is no matter; "
                f"got redundancy={self.redundancy!r} and fdr={self.fdr!r}: offer all columns to one selector"
            )
        self._check_same(other)
        mine, theirs = self._identity_, other._identity_
        same = self.task_ == other.task_ and _equal(mine.y, theirs.y)
        named = mine.rows is not None and theirs.rows is not None
        if not same or (named and not _equal(mine.rows, theirs.rows)):
            raise MergeError(
                "the two selectors began with different rows or labels: begin both with the same y (and "
                "identifiers), in the same order"
            )
        shift, given = self.n_features_in_, other.ledger_.names.given
        names = self.ledger_.names
        try:
            names.check(list(given.values()), shift)
        except SchemaError as error:
            raise MergeError(f"the two selectors saw columns of the same name: {error}") from error
        names.restore((shift + index for index in given), given.values())
        names.named += [[shift + low, shift + high] for low, high in other.ledger_.names.named]
        self._take_over(other, shift)
        self.n_features_in_ = shift + other.n_features_in_
        self.stopped_ = self.stopped_ or other.stopped_
        if mine.rows is None:
            self._identity_ = type(mine)(mine.n, mine.y, theirs.rows)
        self.__dict__.pop("feature_names_in_", None)
        return self

    def _take_over(self, other: Self, shift: int) -> None:
        """Write the other's decisions into the ledger, let its members compete, and say who left."""
        theirs, names = other.ledger_.names, self.ledger_.names

        def renamed(name: str) -> str:
            index = theirs.index_of(name)
            return name if index is None or index in theirs.given else names[shift + index]

        for line in other.ledger_:
            here, causes = renamed(line.feature), tuple(map(renamed, line.by))
            self.ledger_.note(line._replace(step=shift + line.step, feature=here, by=causes))
        members = other._kept_.members
        new = members._replace(feature=members.feature + shift)
        outcome = self._kept_.settle(None, new)
        last = max(shift + other.n_features_in_ - 1, 0)
        for j, newcomer in enumerate(new.feature.tolist()):
            gone, numbers = int(outcome.gone[j]), outcome.gone_values[:, j]
            by: tuple[str, ...] = (names[newcomer],)
            if outcome.fate[j]:  # kept there, but not among the best of both
                gone, numbers, by = newcomer, new.values[1:, j], ()
            if gone >= 0:
                left = (Event.EVICTED, Reason.OUTSCORED, float(numbers[0]), float(numbers[1]))
                self.ledger_.note(Decision(last, names[gone], *left, by))

    def _restored(self) -> None:
        super()._restored()
        selected = self.selected_
        if np.any((selected < 0) | (selected >= self.n_features_in_)):
            raise ValueError("a kept column was never offered")
        wanted = type(self._buffer(self.n_rows_))
        if type(self._kept_) is not wanted:
            raise ValueError(f"a {wanted.__name__} is wanted, but there is a {type(self._kept_).__name__}")
        if wanted is PairedBudget and len(self._pairs_.labels) not in (0, self.n_rows_):
            raise ValueError("there is not one class a row")
        if self.fdr is not None and self.alpha is not None:
            self._gate_.check(self.fdr, self.alpha, self.lag, self.n_features_in_)


def _evictions(feature: IntArray, outcome: Outcome) -> list[Eviction]:
    """Return who left for whom, in order."""
    return [
        Eviction(
            int(feature[j]), int(outcome.gone[j]), REASON_OF[int(outcome.gone_fate[j])],
            float(outcome.gone_values[0, j]), float(outcome.gone_values[1, j]), (int(feature[j]),),
        )
        for j in np.flatnonzero(outcome.gone >= 0)
    ]  # fmt: skip


def _equal(mine: npt.NDArray[Any] | None, theirs: npt.NDArray[Any] | None) -> bool:
    """Whether two lists of fingerprints are known and the same."""
    return mine is not None and theirs is not None and np.array_equal(mine, theirs)
