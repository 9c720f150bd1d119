"""Mutual information that is computed anew only for features whose values have begun to move."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from streamsieve._parameters import check_number
from streamsieve.criteria import MutualInfo
from streamsieve.exceptions import StateError, TargetError
from streamsieve.protocols import CLASSIFICATION, BoolArray, FloatArray, IntArray, RowBatch, Traits
from streamsieve.rows._choice import best
from streamsieve.rows._drift_monitor import Drift
from streamsieve.rows._ranked import RankedSelector
from streamsieve.rows._velocity_monitor import ROUNDING, VelocityMonitor
from streamsieve.summaries import Moments
from streamsieve.summaries._recent_rows import RecentRows


class VelocityScreen(RankedSelector):
    """Rank by mutual information once, and again only for features that drift, when they drift.

    The rows are looked at in consecutive windows.  The first one ranks the features.  From then on means are
    compared from window to window, which is cheap; when the features as a whole begin to move, those that
    move most are scored anew from the window that has just ended, and the others keep their scores.

    Parameters
    ----------
    k : int or None, default=None
        Keep the k best, k >= 1.  None keeps 10, or all if fewer.
    window : int, default=1000
        Rows of a window, at least 10.  The rows of the present window are kept: memory is that of window x
        features.
    bins : int, default=5
        Bins of equal frequency for the values of a feature, at least 2; see
        :class:`streamsieve.criteria.MutualInfo`.
    fence : float, default=1.5
        A feature drifts if its velocity is above ``Q3 + fence * (Q3 - Q1)`` of the velocities of all features
        (and beyond chance), at least 0.
    alarm : float, default=1.0
        How much the movement of all must rise until somebody looks for features that drift, above 0: the
        threshold of a Page-Hinkley test on ``log(1 + s)``, where s sums up velocities in standard errors, as
        far as they are beyond chance.  At 1.0, one feature a few standard errors beyond chance is enough.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does as the best features change: "drop" the others, "zero" them so that the
        width stays, or keep to the selection "frozen" at the first transform.
    ledger : {"all", "none"}, default="all"
        Whether to remember which features entered and left the top set, when, and at what score.

    Attributes
    ----------
    scores_ : float64 array, mutual information with the class in nats, one a feature
    velocity_ : float64 array, the velocities when the last window ended
    selected_ : columns of the selected features, best first
    drift_ : list of (row, feature, before, after): features scored anew, with their scores
    ledger_ : which features entered and left, after how many rows, at what score

    Notes
    -----
    Velocity is ``|mean_now - mean_before|`` over the pooled standard deviation of both windows.  A change
    that leaves every mean where it was, such as that of the class a feature speaks for, goes unnoticed;
    ``Screen(on_drift=...)`` watches relevance itself.

    This follows the idea of the paper, not its letter.  There, micro-clusters of each class follow the
    stream, velocities are those of their centroids, and the alarm comes from their rates of splitting and
    dying; here two adjacent windows and a Page-Hinkley test take their place.  The rule of the quartiles is
    the paper's.  Ours are three additions.  A velocity must be beyond chance to count (Student's t, once in
    100 windows for any feature), else the quartiles would find drifting features in noise.  If more than a
    quarter of the features move, the fence is above them all; then every feature beyond chance drifts.  And
    features that drifted are scored a second time when the next window ends: change comes in the midst of a
    window, half of whose rows are of before.

    The first alarm may come after four windows, and later ones three windows after the last.  Until the first
    window is full, scores are those of the rows so far.  A feature that was constant when it was scored is
    scored when it first varies.  Windows end at multiples of ``window`` rows, so batches of any size give
    the same result.  Missing values are left out, feature by feature.

    References
    ----------
    Hammoodi, Stahl and Badii, Real-time feature selection technique with concept drift detection using
    adaptive micro-clusters for data stream mining, Knowledge-Based Systems 161, 2018.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> screen = ss.VelocityScreen(k=1, window=200)
    >>> for t in range(16):
    ...     y = rng.integers(0, 2, 100)
    ...     X = rng.normal(size=(100, 6))
    ...     X[:, 4 if t < 10 else 1] += 2 * y
    ...     screen = screen.partial_fit(X, y)
    >>> screen.selected_, sorted({drift.feature for drift in screen.drift_})
    (array([1]), [1, 4])
    """

    _traits = Traits(
        tasks=CLASSIFICATION, missing=True, forgets=True, size_parameter="k", nested_sizes=True
    )
    _buffers_rows: ClassVar[bool] = True

    def __init__(
        self,
        k: int | None = None,
        *,
        window: int = 1000,
        bins: int = 5,
        fence: float = 1.5,
        alarm: float = 1.0,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.window = window
        self.bins = bins
        self.fence = fence
        self.alarm = alarm
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Windows longer and shorter than small data, and one so eager that it rarely keeps a score."""
        yield cls()
        yield cls(window=40, output="zero")
        yield cls(k=1, window=25, bins=3, fence=0.0, alarm=0.01)

    # ---------------------------------------------------------------- learning

    def _start(self, batch: RowBatch) -> None:
        self._check_for_width(batch.X.shape[1])
        self._start_ranking()
        self._text_ = bool(np.asarray(batch.y).dtype.kind == "U")
        self._monitor_ = VelocityMonitor(self.fence, self.alarm)
        self._rows_ = self._new_window()
        self._information_ = np.zeros(0)
        #: Whether a feature varied when it was scored.
        self._scored_ = np.zeros(0, bool)

    def _check_for_width(self, n_features: int) -> None:
        self._check_k(n_features)
        check_number("window", self.window, low=10, integer=True)
        check_number("bins", self.bins, low=2, integer=True)
        check_number("fence", self.fence, low=0)
        check_number("alarm", self.alarm, low=0, open_low=True)

    def _new_window(self) -> RecentRows:
        return RecentRows("classes", self.window)

    def _known_labels(self) -> Iterable[Any]:
        return self._rows_.classes

    def _learn(self, batch: RowBatch) -> None:
        X, y = batch.X, np.asarray(batch.y)
        if (y.dtype.kind == "U") is not self._text_:
            kinds = ("numbers", "text") if y.dtype.kind == "U" else ("text", "numbers")
            raise TargetError(
                f"labels so far were {kinds[0]}, now {kinds[1]} came: keep to text or to numbers"
            )
        n, low = X.shape[0], 0
        if n > self.window - self._rows_.n_rows:
            self._rows_.checked(X, y)  # before the first part is learnt
        while low < n:
            room = self.window - self._rows_.n_rows
            part = slice(low, low + room)
            whole = low == 0 and n <= room  # a slice of sparse rows costs more than the rows
            self._rows_.update(X if whole else X[part], y[part])
            low += room
            if self._rows_.n_rows == self.window:
                self._turn(self.n_rows_seen_ + low)
        self._cache_.clear()

    def _turn(self, rows: int) -> None:
        """End a window: score what has to be, and begin with the next one."""
        window, p = self._rows_, self.n_features_in_
        pooled = Moments()
        window.replay(pooled, pooled=True)
        block = pooled.block(0, p)
        squares = block.variance[0] * block.mass[0]
        varies = np.sqrt(block.variance[0]) > ROUNDING * np.abs(block.mean[0])
        drifted = self._monitor_.judge(
            np.array([block.mass[0], block.mean[0], squares]), window.sparse_rows
        )  # fmt: skip
        scores, scored = np.zeros(p), np.zeros(p, bool)
        scores[: len(self._scored_)], scored[: len(self._scored_)] = self._information_, self._scored_
        anew = varies & ~scored
        anew[drifted] = True
        columns = np.flatnonzero(anew)
        if len(columns):
            before, scores[columns] = scores[drifted], self._scores_of(columns)
            self._monitor_.note(rows, drifted, before, scores[drifted])
            scored[columns] = varies[columns]
        self._information_, self._scored_, self._rows_ = scores, scored, self._new_window()

    def _scores_of(self, columns: IntArray | None = None) -> FloatArray:
        """Return the mutual information of some or all features over the rows of the present window."""
        formula = MutualInfo(bins=self.bins)
        summary = formula.new_summary()
        self._rows_.replay(summary, columns)
        return formula(summary)

    # ---------------------------------------------------------------- choosing

    @property
    def scores_(self) -> FloatArray:
        """Mutual information with the class in nats, one number a feature."""
        if not hasattr(self, "_information_"):
            raise AttributeError("scores_ is there after fit or partial_fit")
        self._flush_buffer()
        if "scores" not in self._cache_:
            known = self._information_ if self._monitor_.turns else self._scores_of()
            scores = np.pad(known, (0, self.n_features_in_ - len(known)))
            scores.setflags(write=False)  # shared with whoever asks next
            self._cache_["scores"] = scores
        cached: FloatArray = self._cache_["scores"]
        return cached

    @property
    def velocity_(self) -> FloatArray:
        """How fast each feature moved from the last window but one to the last; 0 before there were two."""
        if not hasattr(self, "_information_"):
            raise AttributeError("velocity_ is there after fit or partial_fit")
        self._flush_buffer()
        known = self._monitor_.velocity
        return np.pad(known, (0, self.n_features_in_ - len(known)))

    @property
    def drift_(self) -> list[Drift]:
        """Features that were scored anew because they drifted: row, feature, score before and after."""
        if not hasattr(self, "_information_"):
            raise AttributeError("drift_ is there after fit or partial_fit")
        self._flush_buffer()
        return self._monitor_.events

    def _choose(self) -> BoolArray:
        return best(self.scores_, self._budget)

    # ---------------------------------------------------------------- saving

    def _restored(self) -> None:
        super()._restored()
        self._check_for_width(self.n_features_in_)
        rows, monitor, scores, scored = self._rows_, self._monitor_, self._information_, self._scored_
        if not isinstance(rows, RecentRows) or not isinstance(monitor, VelocityMonitor):
            raise StateError("the state lacks its rows or its monitor")
        if (rows.target, rows.size) != ("classes", self.window) or type(self._text_) is not bool:
            raise StateError("the state's rows are not such as this screen keeps")
        if (monitor.fence, monitor.alarm) != (self.fence, self.alarm):
            raise StateError("the state's monitor was made with other parameters")
        if divmod(self.n_rows_seen_, self.window) != (monitor.turns, rows.n_rows):
            raise StateError("the state's windows do not fit the number of its rows")
        p = len(monitor.velocity)
        if scores.shape != (p,) or scored.shape != (p,) or max(p, rows.n_features) > self.n_features_in_:
            raise StateError("the state's scores do not fit its features")
        if (
            scores.dtype != np.float64
            or scored.dtype != bool
            or not np.all((scores >= 0) & (scores < np.inf))
        ):
            raise StateError("the state's scores are not such as there can be")
