"""InteractionScan: columns that tell about y, alone or in pairs within a bounded pool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import chdtri

from streamsieve._kernels.interaction_scan import LEVELS
from streamsieve._parameters import check_number
from streamsieve.base import Stop
from streamsieve.columns._groups import DENSE_VALUES
from streamsieve.columns._held_lines import Lines
from streamsieve.columns._held_selector import WaitingSelector
from streamsieve.columns._interaction_scan_pool import LARGEST_POOL, ROWS_PER_FREEDOM, Coded, PairPool, Pairs
from streamsieve.decisions import KEPT, REASON_CODE, Settled
from streamsieve.dependence.target import discretize_target
from streamsieve.independence.contingency_test import p_value
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Reason, Task

CONSTANT, IRRELEVANT, UNRELIABLE = (
    REASON_CODE[reason] for reason in (Reason.CONSTANT, Reason.IRRELEVANT, Reason.UNRELIABLE)
)
#: Sum of 1 / (k ln^2 k) over k = 2, 3, ...
SUM_OF_SHARES = 2.109742801236892
OUT, POOLED, CHOSEN = range(3)


class InteractionScan(WaitingSelector):
    """Keep columns that tell about y alone, and pairs that do together though neither does alone.

    Every column is tested alone, and with each of the last ``pool`` columns that told nothing alone and the
    last ``pool`` columns kept: does the pair tell more than the better of the two?  If so, both are kept.
    This finds an exclusive or, of which no column has any dependence on y.

    Parameters
    ----------
    pool : int, default=500
        Columns that tell nothing alone and are remembered as partners, 1 to 65,536; and likewise of those
        kept.  A pair farther apart is not found.
    alpha : float, default=0.05
        Chance to keep anything at all over the whole stream if no column has to do with y, 0 < alpha < 1.
    bins : int, default=2
        Columns with more than 8 distinct values are cut into so many bins of equal frequency, 2 to 8.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is; "auto" takes fractional numbers for regression and everything else for labels.  A numeric
        y is cut into 5 classes of equal frequency.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run early; a pair may bring two columns at once.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    pairs_ : arrival numbers of the columns kept together, a pair a row, in the order they were found
    n_pairs_ : number of pairs tested
    n_pooled_ : number of columns in the pool
    ledger_ : every decision; the statistic is the likelihood ratio (G) of the column and y, or for a column
        kept for a pair that of what the pair adds to the better of the two, with the partner in ``by``
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    A column that told nothing alone has no final verdict as long as it is in the pool: ``ledger_`` and
    ``selected_`` tell how things stand, and ``offer`` returns decisions as they become final.

    The G of a pair is 2 n I(b; y | a), a being the one that tells more alone; degrees of freedom count what
    occurs.  Testing b given any other column, as is sometimes done, would find a pair for every partner of a
    column that is relevant by itself.  A table that has fewer than five rows for a degree of freedom is not
    tested.

    Column t of those that vary is tested at the level ``alpha / (2.11 (t + 1) ln^2(t + 1))``, half of which
    is for the column alone and half for all its pairs together (Bonferroni); the levels sum to alpha.

    Nothing is removed because it is redundant, and of three columns that tell only together no two are found.

    References
    ----------
    Zhou, Li, Zhao, Wu: Feature interaction for streaming feature selection, IEEE TNNLS 32(10), 2021 (the aim;
    a column that fails alone is dropped there before pairs are looked at, so that this is another method).
    Spirtes, Glymour, Scheines: Causation, Prediction, and Search, 2000 (the test).

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.columns.interaction_scan import InteractionScan
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (500, 100))
    >>> y = X[:, 20] ^ X[:, 70] ^ (rng.random(500) < 0.1)
    >>> sieve = InteractionScan().fit(X, y)
    >>> sieve.selected_
    array([20, 70])
    >>> print(sieve.ledger_.why("x20"))
    x20: kept, relevant given {x70} (statistic 394, p 2.8e-86)
    """

    _pool_: PairPool

    def __init__(
        self,
        pool: int = 500,
        alpha: float = 0.05,
        bins: int = 2,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.pool = pool
        self.alpha = alpha
        self.bins = bins
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """A large pool and a small one."""
        yield cls()
        yield cls(pool=7, alpha=0.5, bins=3)

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_number("pool", self.pool, low=1, high=LARGEST_POOL, integer=True)
        check_number("alpha", self.alpha, low=0, high=1, open_low=True, open_high=True)
        check_number("bins", self.bins, low=2, high=LEVELS, integer=True)
        self._pool_ = PairPool(discretize_target(y, Task(self.task_)), int(self.pool))
        self._begin_lines()

    # ---------------------------------------------------------------- offering

    def _offer(self, block: ColumnBlock) -> Settled:
        self._open_lines()
        X, start, pool = block.X, self.n_features_in_, self._pool_
        size = max(1, DENSE_VALUES // self.n_rows_)
        for low in range(0, X.shape[1], size):
            part = X[:, low : low + size]
            values = part.toarray().T if sp.issparse(part) else part.T
            features = start + low + np.arange(len(values))
            self._take(pool.encode(np.ascontiguousarray(values, np.float64), int(self.bins), features))
        self._settle(start + X.shape[1])
        return self._settled(self._lines_.release())

    def _settle(self, coming: int) -> None:
        """Make verdicts final up to the first column in the pool."""
        pooled = self._pool_.pooled
        self._lines_.settled = int(pooled[0]) if len(pooled) else coming

    def _take(self, coded: Coded) -> None:
        """Test columns alone, then in pairs, one after the other."""
        pool = self._pool_
        statistic, freedom = pool.alone(coded)
        p = p_value(statistic, freedom)
        reason = np.full(len(p), IRRELEVANT, np.uint8)
        reason[self.n_rows_ < ROWS_PER_FREEDOM * freedom] = UNRELIABLE
        reason[coded.levels < 2] = CONSTANT
        counted = reason == IRRELEVANT
        level = self._levels(pool.tests + np.cumsum(counted)) / 2
        pool.tests += int(counted.sum())
        reason[counted & (p <= level)] = KEPT
        way = np.where(reason == KEPT, CHOSEN, np.where(counted, POOLED, OUT)).astype(np.uint8)
        self._lines_.add(reason, statistic, p)
        pool.kept += coded.feature[way == CHOSEN].tolist()
        # with one degree of freedom and one partner a pair is found soonest
        bound, at = chdtri(1.0, level), 0
        while at < len(way):
            pairs = pool.scan(coded, way, bound, at)
            at = pairs.at
            if at < len(way):
                found = self._found(coded, at, pairs, float(level[at]), chosen=way[at] == CHOSEN)
                pool.join(coded, at, chosen=found)
                at += 1

    def _levels(self, t: IntArray) -> FloatArray:
        """Return the level for all tests of the t-th column."""
        ahead = np.maximum(t, 1) + 1.0
        levels: FloatArray = self.alpha / (SUM_OF_SHARES * ahead * np.log(ahead) ** 2)
        return levels

    def _found(self, coded: Coded, at: int, pairs: Pairs, level: float, *, chosen: bool) -> bool:
        """Keep the partners of a column, and say whether it is kept itself."""
        pool, lines, feature = self._pool_, self._lines_, int(coded.feature[at])
        p = p_value(pairs.statistic, pairs.freedom)
        found = np.flatnonzero(p <= level / max(len(p), 1))
        if not len(found):
            return chosen
        partners = pool.features(pairs.slots).tolist()
        # of equal p-values, which may all be 0, the larger statistic
        best = min(found.tolist(), key=lambda i: (p[i], -pairs.statistic[i]))
        if not chosen:
            lines.change(feature, KEPT, pairs.statistic[best], partners[best], p[best])
            pool.kept.append(feature)
        for i in found.tolist():
            pool.pairs.append((partners[i], feature))
            if pool.promote(int(pairs.slots[i])):
                lines.change(partners[i], KEPT, pairs.statistic[i], feature, p[i])
                pool.kept.append(partners[i])
        return True

    def _finish(self) -> Settled:
        self._open_lines()
        self._pool_.clear()
        self._settle(self.n_features_in_)
        return self._settled(self._lines_.release())

    # ---------------------------------------------------------------- looking

    @property
    def pairs_(self) -> IntArray:
        """Arrival numbers of the columns kept together, a pair a row."""
        return np.array(self._there().pairs, np.int64).reshape(-1, 2)

    @property
    def n_pairs_(self) -> int:
        """Number of pairs tested."""
        return self._there().n_pairs

    @property
    def n_pooled_(self) -> int:
        """Number of columns in the pool."""
        return len(self._there().pooled)

    def _there(self) -> PairPool:
        if not hasattr(self, "ledger_"):
            raise AttributeError("pairs are there after begin(y) or fit(X, y)")
        return self._pool_

    def _selected(self) -> IntArray:
        return np.sort(np.array(self._pool_.kept, np.int64))

    def _named(self) -> IntArray:
        return np.concatenate([self._selected(), self._lines_.named])

    def _presented(self) -> Lines:
        return self._lines_.view()

    def _line_p_values(self, lines: Lines) -> FloatArray:
        return lines.p_value

    def _gone_p_values(self, statistic: FloatArray) -> FloatArray:
        return statistic  # nobody ever leaves

    def _restored(self) -> None:
        if not isinstance(self._pool_, PairPool) or self._pool_.size != self.pool:
            raise TypeError("its pool is not that of its parameters")
        super()._restored()
        pool, lines = self._pool_, self._lines_
        pooled = pool.pooled
        if np.any((pooled < lines.start) | (pooled >= lines.start + len(lines))):
            raise ValueError("a column in the pool has a final verdict")
        if {*pooled.tolist()} & {*pool.kept} or pool.tests > self.n_features_in_:
            raise ValueError("its pool does not fit what is kept")
