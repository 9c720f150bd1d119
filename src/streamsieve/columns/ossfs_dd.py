"""OSSFS-DD: keep, wait or discard, by where a column's dependence stands among all so far."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice, check_number
from streamsieve.base import Stop
from streamsieve.columns._groups import unit_columns
from streamsieve.columns._held_lines import HeldLines, Lines
from streamsieve.columns._held_selector import WaitingSelector
from streamsieve.columns._ossfs_dd_columns import IRRELEVANT, REDUNDANT, Column, Rules, ThreeWayColumns
from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.top_k.correlation import TopKCorrelation
from streamsieve.decisions import KEPT, REASON_CODE, PValues, Settled
from streamsieve.dependence.blocks import TIE
from streamsieve.dependence.contract import Relevance
from streamsieve.independence import FisherZ, fisher_z
from streamsieve.independence.fisher_z import Correlations
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Matrix, Reason, Task

MODES = ("code", "text")
CONSTANT = REASON_CODE[Reason.CONSTANT]
#: Columns that the authors' code keeps unseen.
UNSEEN = 2
DISCARD, WAIT, CHALLENGE, ADMIT = range(4)


class OSSFSDD(WaitingSelector):
    """Keep columns whose dependence on y stands out among all so far; those in between wait for a partner.

    With the mean and the standard deviation of all dependences so far, a column up to ``lower`` deviations
    above the mean is discarded.  From ``upper`` deviations on it is a candidate: of two columns that are
    redundant, it and a member, the weaker one goes.  In between it waits; when ``pool`` columns wait, or
    when somebody asks, two of them that tell enough together are kept, and the others discarded.

    As long as fewer than ``floor`` columns are kept, the best ``floor`` columns by mRMR (``TopK``) are
    selected instead.

    Parameters
    ----------
    lower : float, default=1.0
        Standard deviations above the mean up to which a column is discarded, at least 0.
    upper : float, default=2.0
        Standard deviations above the mean from which on a column is a candidate, at least ``lower``.
    pool : int, default=100
        Columns that wait at most, at least 1.
    floor : int, default=15
        Columns to select at least, if so many are significant; 0: no floor.
    mode : {"code", "text"}, default="code"
        What the authors' code does, or what their text says; see Notes.
    alpha : float, default=0.05
        Level of the tests: of two columns ("code"), and of the columns below the floor, 0 < alpha < 1.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is; "auto" takes fractional numbers for regression and everything else for labels.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run early.

    Attributes
    ----------
    selected_ : arrival numbers of the columns selected, as if nothing more came
    n_waiting_ : number of columns that wait for a partner
    thresholds_ : dependences on y up to which a column is discarded, and from which on it is a candidate
    ledger_ : every decision; the statistic is the correlation with y (for more than two classes the
        correlation ratio), or for a redundant or evicted column its correlation with the one in ``by``.  A
        column kept after it waited has its partner in ``by``.  Below the floor, lines are those of ``TopK``
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    Dependence is the absolute correlation, or the correlation ratio.  Two columns s and f are redundant if s
    tells too little alone and given f together: dep(s, y) + dep(s, y | f) < 2 upper; two waiting columns are
    a pair if that is above 2 upper.  "code" keeps the first two columns unseen, does not look for redundancy
    where dep(s, y | f) is not significant, and forgets whom a candidate drove out if it falls itself.
    Copies are always redundant, which the code would keep.

    The paper's thresholds fail where columns are few or their dependences skewed: hardly one stands out.
    The floor is our guard.  Below it no verdict is final, and ``ledger_`` and ``selected_`` tell how things
    would stand if nothing more came; ``offer`` returns decisions as they become final, which is when the
    columns before no longer wait.  Once the floor is reached it is left behind, and from then on no column is
    evicted that would be missing from it.  Memory grows with the columns kept and waiting, and a few numbers
    for each column without a verdict.

    The result depends on the order of columns; the size of blocks never matters.

    References
    ----------
    Zhou, Zhao, Yan, Wu: Online streaming feature selection via three-way dynamic decision, ACM TKDD, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.columns.ossfs_dd import OSSFSDD
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X = rng.normal(size=(300, 500))
    >>> X[:, 100::50] += y[:, None]
    >>> sieve = OSSFSDD(floor=0, mode="text").fit(X, y)
    >>> sieve.selected_[sieve.selected_ % 50 == 0]
    array([100, 150, 200, 250, 300, 350, 400, 450])
    >>> print(sieve.ledger_.why("x17"))
    x17: rejected, irrelevant (statistic 0.0283, p 0.63)
    """

    _test_: FisherZ
    _columns_: ThreeWayColumns
    #: The best so far and the lines of that contest; None once they are not needed any more.
    _buffer_: TopKCorrelation | None
    _buffer_lines_: HeldLines | None

    def __init__(
        self,
        lower: float = 1.0,
        upper: float = 2.0,
        pool: int = 100,
        floor: int = 15,
        mode: str = "code",
        alpha: float = 0.05,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.lower = lower
        self.upper = upper
        self.pool = pool
        self.floor = floor
        self.mode = mode
        self.alpha = alpha
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Both modes, with and without a floor."""
        yield cls()
        yield cls(floor=0, pool=3)
        yield cls(lower=0.5, upper=1.5, pool=4, floor=3, mode="text")

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_number("lower", self.lower, low=0)
        check_number("upper", self.upper)
        check_number("upper", self.upper, low=self.lower)
        check_number("pool", self.pool, low=1, integer=True)
        check_number("floor", self.floor, low=0, integer=True)
        check_choice("mode", self.mode, MODES)
        check_number("alpha", self.alpha, low=0, high=1, open_low=True, open_high=True)
        self._test_ = FisherZ(y, Task(self.task_), self.alpha)
        self._columns_ = ThreeWayColumns(len(y), self._test_.n_contrasts)
        self._columns_.met = self.floor == 0
        self._buffer_ = self._buffer_lines_ = None
        if self.floor:
            self._buffer_ = TopKCorrelation(len(y), int(self.floor), 1.0)
            self._buffer_lines_ = HeldLines()
        self._begin_lines()

    def _rules(self) -> Rules:
        return Rules(int(self.pool), self.mode == "code", self._test_.share_left(1), int(self.floor))

    # ---------------------------------------------------------------- offering

    def _offer(self, block: ColumnBlock) -> Settled:
        start, columns, lines = self.n_features_in_, self._columns_, self._lines_
        self._open_lines()
        measured = self._test_.relevance(block.X)
        score, counted = np.abs(measured.r), measured.norm > 0
        unseen = UNSEEN - int(columns.moments[0]) if self.mode == "code" else 0
        lower, upper = columns.thresholds(score, counted, self.lower, self.upper)
        way = np.where(score >= upper - TIE, CHALLENGE, WAIT)
        way[score <= lower + TIE] = DISCARD
        way[np.flatnonzero(counted)[: max(unseen, 0)]] = ADMIT
        way[~counted] = DISCARD
        reason = np.where(way >= CHALLENGE, KEPT, IRRELEVANT).astype(np.uint8)
        reason[~counted] = CONSTANT
        lines.add(reason, measured.r)
        self._contest(block.X, start, measured)
        self._decide(block.X, start, measured, way, upper)
        self._settle(start + block.X.shape[1])
        if columns.met:
            self._buffer_ = self._buffer_lines_ = None
        return self._settled(lines.release())

    def _settle(self, coming: int) -> None:
        """Make verdicts final before column ``coming`` is looked at: those before the first that waits."""
        columns = self._columns_
        if columns.met:
            first = columns.features(columns.waiting[:1]).tolist()
            self._lines_.settled = first[0] if first else coming

    def _decide(
        self, X: Matrix, start: int, measured: Correlations, way: IntArray, upper: FloatArray
    ) -> None:
        """Let columns that are not discarded go their ways, in order."""
        rules, columns, lines = self._rules(), self._columns_, self._lines_
        for some, Z in unit_columns(X, np.flatnonzero(way != DISCARD), measured):
            products = Z @ self._test_.basis
            for i, j in enumerate(some.tolist()):
                self._settle(start + j)
                shown = float(measured.r[j])
                column = Column(start + j, Z[i], products[i], abs(shown), shown)
                if way[j] == WAIT:
                    columns.wait(column, float(upper[j]), rules, lines)
                elif way[j] == CHALLENGE:
                    columns.challenge(column, float(upper[j]), rules, lines)
                else:
                    columns.admit(column)
                columns.met |= len(columns.members) >= rules.floor

    def _contest(self, X: Matrix, start: int, measured: Correlations) -> None:
        """Offer a block to the best so far, as long as they may be needed."""
        if self._buffer_ is None or self._buffer_lines_ is None:
            return
        lines, r = self._buffer_lines_, measured.r
        p_value = self._test_.p_value(r)
        reason = measured.reason.copy()
        chosen = np.flatnonzero(reason == KEPT)
        found = Relevance(reason, r, p_value, (measured.mean, measured.norm))
        new = Candidates(X, chosen, chosen + start, found.at(chosen))
        outcome = self._buffer_.settle(new)
        lines.add(reason, r, p_value)
        evicted = iter(zip(*(array.tolist() for array in outcome.evicted[:5]), strict=True))
        gone = next(evicted, None)
        for i, (feature, why) in enumerate(zip(new.feature.tolist(), outcome.reason.tolist(), strict=True)):
            if why != KEPT:
                j = chosen[i]
                lines.change(feature, why, r[j], int(outcome.by[i, 0]), p_value[j])
            if gone is not None and gone[1] == feature:
                member, _, because, *numbers = gone
                lines.change(member, because, numbers[0], feature, numbers[1])
                gone = next(evicted, None)

    def _finish(self) -> Settled:
        self._open_lines()
        lines, columns = self._lines_, self._columns_
        columns.flush(columns.upper, lines)
        if not columns.met and len(columns.members) < self.floor and self._buffer_ is not None:
            lines = self._buffer_lines_ or lines
            columns.replace(_held(self._buffer_, self._test_))
        columns.met = True
        self._buffer_ = self._buffer_lines_ = None
        verdicts = self._settled(lines.view())
        self._lines_ = HeldLines()
        return verdicts

    # ---------------------------------------------------------------- looking

    @property
    def n_waiting_(self) -> int:
        """Number of columns that wait for a partner."""
        return len(self._there().waiting)

    @property
    def thresholds_(self) -> tuple[float, float]:
        """Dependences up to which a column is discarded, and from which on it is a candidate."""
        count, mean, squares = self._there().moments.tolist()
        spread = (squares / max(count, 1.0)) ** 0.5
        return mean + self.lower * spread, mean + self.upper * spread

    def _there(self) -> ThreeWayColumns:
        if not hasattr(self, "ledger_"):
            raise AttributeError("thresholds are there after begin(y) or fit(X, y)")
        return self._columns_

    def _standing(self) -> _Standing:
        """Say how things would stand if nothing more came."""
        columns = self._columns_
        pairs = columns.pairs(columns.upper) if columns.waiting else {}
        enough = columns.met or len(columns.members) + len(pairs) >= self.floor
        return _Standing(pairs, enough)

    def _selected(self) -> IntArray:
        pairs, enough = self._standing()
        if not enough and self._buffer_ is not None:
            return self._buffer_.features
        return np.sort(self._columns_.features([*self._columns_.members, *pairs]))

    def _named(self) -> IntArray:
        return np.concatenate([self._columns_.features(self._columns_.members), self._lines_.named])

    def _presented(self) -> Lines:
        columns, (pairs, enough) = self._columns_, self._standing()
        if not enough and self._buffer_lines_ is not None:
            return self._buffer_lines_.view()
        lines = self._lines_.view()
        for slot, partner in pairs.items():
            feature, by = columns.features([slot, partner]).tolist()
            lines.reason[feature - lines.start], lines.by[feature - lines.start] = KEPT, by
        return lines

    def _line_p_values(self, lines: Lines) -> PValues | FloatArray:
        if self._test_.n_contrasts == 1:
            return PValues(self._test_.p_value, lines.statistic)
        # two columns have a correlation even where a column and many classes have a ratio
        redundant = lines.reason == REDUNDANT
        p_value = np.where(
            redundant, self._gone_p_values(lines.statistic), self._test_.p_value(lines.statistic)
        )
        return np.where(np.isnan(lines.p_value), p_value, lines.p_value)

    def _gone_p_values(self, statistic: FloatArray) -> FloatArray:
        return fisher_z.p_value(statistic, self.n_rows_)

    def _restored(self) -> None:
        columns, buffer, lines = self._columns_, self._buffer_, self._buffer_lines_
        if not isinstance(columns, ThreeWayColumns) or not isinstance(self._test_, FisherZ):
            raise TypeError("its parts are not those of a three-way decision")
        kinds = isinstance(buffer, TopKCorrelation), isinstance(lines, HeldLines)
        if kinds != (not columns.met, not columns.met):
            raise TypeError("it has a floor and no columns for it")
        if columns.tables["products"].shape[1] != self._test_.n_contrasts:
            raise ValueError("its columns are not those of its target")
        super()._restored()
        held = self._lines_.start + len(self._lines_)
        waiting = columns.features(columns.waiting)
        if np.any((waiting < self._lines_.start) | (waiting >= held)):
            raise ValueError("a column waits whose verdict is final")
        if lines is not None and (lines.start, len(lines)) != (0, held):
            raise ValueError("its two ledgers are of different columns")


class _Standing(NamedTuple):
    """Slots of waiting columns and their partners, and whether the floor is reached with them."""

    pairs: dict[int, int]
    enough: bool


def _held(buffer: TopKCorrelation, test: FisherZ) -> list[Column]:
    """Return the columns of a buffer, in order of arrival."""
    arrays = buffer.state()
    columns, kept = arrays["columns"], arrays["kept"]
    return [
        Column(int(arrays["feature"][i]), columns[i], columns[i] @ test.basis, kept[0, i], kept[1, i])
        for i in np.argsort(arrays["feature"])
    ]
