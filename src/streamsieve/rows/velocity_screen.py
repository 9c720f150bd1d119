"""Screening by mutual information, recomputed only for features that drift."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np

from streamsieve.base import RowSelector
from streamsieve.base.fitted import fitted_property
from streamsieve.criteria import MutualInfo
from streamsieve.exceptions import TargetError
from streamsieve.protocols import CLASSIFICATION, FloatArray, IntArray, RowBatch, Statistic, Traits
from streamsieve.rows.drift.drift_monitor import Drift
from streamsieve.rows.drift.velocity_monitor import ROUNDING, VelocityMonitor
from streamsieve.state import Array, Bool, Float, Int, Nested
from streamsieve.summaries import Moments, RecentRows


class VelocityScreen(RowSelector):
    """Screening by mutual information, recomputed only for features whose means drift.

    Rows are processed in consecutive windows, and the first one ranks the features.  Afterward the means of
    features are compared from window to window, which is cheap; when a change is detected in the features as
    a whole, those that moved most are scored again on the window that has just ended, and the others keep
    their scores.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all features if there are fewer.
    window : int, default=1000
        Number of rows per window, at least 10.  The rows of the current window are stored: memory is that of
        window x features.
    bins : int, default=5
        Number of equal-frequency bins for the values of a feature, in [2, 1024]; see
        :class:`streamsieve.criteria.MutualInfo`.
    fence : float, default=1.5
        Outlier factor, at least 0: a feature drifts if its velocity is significant and above ``Q3 + fence *
        (Q3 - Q1)`` of the velocities of all features.
    alarm : float, default=1.0
        Threshold above which drifting features are searched for, above 0: that of a Page-Hinkley test on
        ``log(1 + s)``, where s sums velocities in standard errors, less
        the critical value.  At 1.0, one feature a few standard errors above it is enough.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does with features that are not selected: "drop" them, set them to "zero", or drop
        those outside the selection of the first call ("frozen").
    ledger : {"all", "kept", "none"}, default="all"
        Whether to record which features entered and left the selected set, when, and with what score; "kept"
        is the same as "all".

    Attributes
    ----------
    scores_ : float64 array, mutual information with the class in nats, one per feature
    velocity_ : float64 array, the velocities when the last window ended
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    drift_ : list of (row, feature, before, after): features scored again, with their scores
    ledger_ : which features entered and left the selected set, after how many rows, with what score

    Notes
    -----
    **Formula.** ``v_j = |mean_now - mean_before| / pooled standard deviation`` over two adjacent windows.
    Scores are the mutual information with the class over the window in which the feature was last scored.

    **When it fails.** Drift that changes relevance and leaves means alone, and changes within a window.
    Scores of different features may come from different windows.

    Velocity is ``|mean_now - mean_before|`` over the pooled standard deviation of both windows.  A change
    that leaves all means unchanged, such as a feature that becomes evidence for another class, is not
    detected; ``Screen(on_drift=...)`` monitors relevance itself.

    This is a simplification of the paper.  There, micro-clusters of each class follow the
    stream, velocities are those of their centroids, and the alarm comes from their rates of splitting and
    dying; here they are replaced by two adjacent windows and a Page-Hinkley test.  The quartile rule is the
    paper's.  There are three additions.  A velocity must be significant (Student's t, Bonferroni, 1 %),
    else the quartiles would find drifting features in noise.  If more than a quarter of the features move,
    the fence is above them all; then every significant one drifts.  And features that drifted are scored once
    more at the end of the next window, because changes occur within a window.

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

    _traits = Traits(tasks=CLASSIFICATION, missing=True, forgets=True, size_parameter="k", nested_sizes=True)
    _buffers_rows: ClassVar[bool] = True

    _statistic = Statistic("mutual information")
    parameters = {
        "window": Int(10),
        "bins": Int(2, 1024),
        "fence": Float(0),
        "alarm": Float(0, open_low=True),
    }
    fields = {
        "_text_": Bool(),
        "_monitor_": Nested(VelocityMonitor),
        "_rows_": Nested(RecentRows),
        "_information_": Array("f8", "scored", low=0, finite=True),
        "_scored_": Array("?", "scored"),
    }

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
        """Yield windows longer and shorter than small data, and one that rescores nearly always."""
        yield cls()
        yield cls(window=40, output="zero")
        yield cls(k=1, window=25, bins=3, fence=0.0, alarm=0.01)

    def _start(self, batch: RowBatch) -> None:
        self._text_ = bool(np.asarray(batch.y).dtype.kind == "U")
        self._monitor_ = VelocityMonitor(self.fence, self.alarm)
        self._rows_ = self._new_window()
        self._information_ = np.zeros(0)
        #: Whether a feature varied when it was scored.
        self._scored_ = np.zeros(0, bool)

    def _new_window(self) -> RecentRows:
        return RecentRows("classes", size=self.window)

    def _known_labels(self) -> Iterable[Any]:
        return self._rows_.classes

    def _remembered_labels(self) -> Iterable[Any]:
        return ()  # labels of a window are forgotten at its end

    def _learn(self, batch: RowBatch) -> None:
        X, y = batch.X, np.asarray(batch.y)
        if (y.dtype.kind == "U") is not self._text_:
            kinds = ("numbers", "text") if y.dtype.kind == "U" else ("text", "numbers")
            raise TargetError(
                f"labels so far were {kinds[0]}, but this batch has {kinds[1]}: use text or numbers "
                "throughout"
            )
        n, low = X.shape[0], 0
        if n > self.window - self._rows_.n_rows:
            self._rows_.checked(X, y)  # checked before the first part is learned
        while low < n:
            room = self.window - self._rows_.n_rows
            part = slice(low, low + room)
            whole = low == 0 and n <= room  # a slice of sparse rows costs more than the rows
            self._rows_.update(X if whole else X[part], y[part])
            low += room
            if self._rows_.n_rows == self.window:
                self._turn(self.n_samples_seen_ + low)

    def _turn(self, rows: int) -> None:
        """End a window: update scores where needed, and start the next one."""
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
        again = varies & ~scored
        again[drifted] = True
        columns = np.flatnonzero(again)
        if len(columns):
            before, scores[columns] = scores[drifted], self._scores_over_window(columns)
            self._monitor_.note(rows, drifted, before, scores[drifted])
            scored[columns] = varies[columns]
        self._information_, self._scored_, self._rows_ = scores, scored, self._new_window()

    def _scores_over_window(self, columns: IntArray | None = None) -> FloatArray:
        """Return the mutual information of some or all features over the rows of the current window."""
        formula = MutualInfo(bins=self.bins)
        summary = formula.new_summary()
        self._rows_.replay(summary, columns)
        return formula(summary)

    def _scores(self) -> FloatArray:
        known = self._information_ if self._monitor_.turns else self._scores_over_window()
        return np.pad(known, (0, self.n_features_in_ - len(known)))

    @fitted_property
    def velocity_(self) -> FloatArray:
        """Velocity of each feature between the last two windows; 0 before there are two."""
        known = self._monitor_.velocity
        return np.pad(known, (0, self.n_features_in_ - len(known)))

    @fitted_property
    def drift_(self) -> list[Drift]:
        """Features that were scored again because they drifted: row, feature, score before and after."""
        return self._monitor_.events

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        rows, monitor = self._rows_, self._monitor_
        if (rows.target, rows.size) != ("classes", self.window):
            yield f"the rows are not those of a window of {self.window} with class labels"
        elif (monitor.fence, monitor.alarm) != (self.fence, self.alarm):
            yield "the monitor has other parameters"
        elif divmod(self.n_samples_seen_, self.window) != (monitor.turns, rows.n_rows):
            yield "the windows do not fit the number of rows"
        elif len(monitor.velocity) != len(self._scored_):
            yield "the monitor and the scores have different numbers of features"
        elif max(len(self._scored_), rows.n_features) > self.n_features_in_:
            yield "the window has more features than there are"
        yield from self._proven_features(len(self._scored_), rows.n_features)
