"""Detection of drift by how far the means of features move from one window of rows to the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import stdtrit

from streamsieve.criteria.criterion import ratio
from streamsieve.protocols import BoolArray, FloatArray, IntArray
from streamsieve.rows.drift.drift_monitor import EVENT_FIELDS, Drift, packed_events, unpacked_events
from streamsieve.rows.drift.page_hinkley import PageHinkley
from streamsieve.state import Array, Float, Int, Nested, Part, register

#: Statistics of a feature in one window: number of rows that have it, their mean, sum of squared deviations.
ROWS, AVERAGE, SQUARES = range(3)
#: Probability that any stationary feature exceeds its level in one window.
FALSE_ALARM = 0.01
#: Page-Hinkley test: minimum number of windows before an alarm, and tolerated rise.
PATIENCE, TOLERANCE = 3, 0.1
#: A jump from one constant to another has no finite velocity.
FASTEST = 1e6
#: Differences below this share of the values are rounding.
ROUNDING = 1e-14


class Motion(NamedTuple):
    """Changes of the means of features from one window to the next, one number per feature."""

    #: Difference of the means over the pooled standard deviation.
    velocity: FloatArray
    #: The same in standard errors, less the critical value; negative where the difference is not significant.
    excess: FloatArray
    #: Whether the feature varies; constant features are not compared.
    compared: BoolArray


@register
class VelocityMonitor(Part):
    """Detects that means of features have begun to move, and which.

    At the end of each window of rows, a feature's velocity is the difference of its means in this window and
    in the one before, over their pooled standard deviation.  A Page-Hinkley test follows ``log(1 + s)``,
    where s sums all velocities in standard errors, as far as they exceed a critical value that stationary
    features exceed in one of 100 windows (Student's t, Bonferroni).  If the signal has risen at an alarm, the
    features that drift are those with a significant velocity above ``Q3 + fence * (Q3 - Q1)`` of all
    velocities; if none is above, all with a significant one.

    Parameters
    ----------
    fence : float, default=1.5
        At least 0.
    alarm : float, default=1.0
        The threshold of the Page-Hinkley test, above 0.

    Attributes
    ----------
    turns : int, windows judged
    velocity : float64 array, the velocities when last judged
    events : list of Drift, as :meth:`note` took them down

    Notes
    -----
    Features that are constant in both windows, or missing in one, are left out of the critical value and of
    the quartiles.  A plain sum of velocities would depend on the number of features and on their dependence,
    and a few that move among thousands would be lost in it.  False alarms over 20,000 windows each of 1, 10
    and 100 independent and of 100 nearly equal normal features, by simulation: 4 at most for windows of 1000
    rows, 7 for windows of 50, and 9 for windows of 10.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.rows.drift.velocity_monitor import VelocityMonitor
    >>> monitor = VelocityMonitor()
    >>> for turn in range(6):
    ...     rows, squares = np.full(4, 100.0), np.full(4, 100.0)
    ...     means = np.array([0.1, 0.0, 0.1, 2.0 if turn == 5 else 0.0])
    ...     drifted = monitor.judge(np.array([rows, means, squares]))
    >>> drifted, monitor.velocity.round(1)
    (array([3]), array([0., 0., 0., 2.]))
    """

    fields = {
        "fence": Float(0),
        "alarm": Float(0, open_low=True),
        "turns": Int(),
        "_sparse_rows": Int(),
        "_test": Nested(PageHinkley),
        "velocity": Array("f8", "features", low=0, high=FASTEST),
        "_before": Array("f8", 3, "features", finite=True),
        "_again": Array("i8", "again", below="features"),
        **EVENT_FIELDS,
    }

    def __init__(self, fence: float = 1.5, alarm: float = 1.0) -> None:
        self.fence, self.alarm = float(fence), float(alarm)
        self.turns = 0
        self.velocity = np.zeros(0)
        self.events: list[Drift] = []
        self._test = PageHinkley(PATIENCE, TOLERANCE, self.alarm)
        self._test.grow(1)
        self._before = np.zeros((3, 0))
        self._sparse_rows = 0  # number of rows of the window before that are 0 in features that appear later
        self._again = np.zeros(0, np.int64)

    def judge(self, now: FloatArray, sparse_rows: int = 0) -> IntArray:
        """Return the features that drifted in the window that has ended, or in the one before it.

        Features that drifted in the window before are returned again: that window still held rows from before
        the change, this one does not.

        Parameters
        ----------
        now : array (3, features): rows that have the feature, their mean, and the sum of their squared
            deviations from it
        sparse_rows : number of rows of the window that are 0 in features that appear later; in the other rows
            these are missing
        """
        before = np.zeros(now.shape)
        before[:, : self._before.shape[1]] = self._before
        before[ROWS, self._before.shape[1] :] = self._sparse_rows
        moved = motion(before, now)
        again, self._again = self._again, np.zeros(0, np.int64)
        if self.turns and self._rises(moved):
            self._again = self._drifted(moved)
        self.turns += 1
        self.velocity, self._before, self._sparse_rows = moved.velocity, now, sparse_rows
        return np.union1d(again, self._again)

    def _rises(self, moved: Motion) -> bool:
        signal = np.log1p(np.maximum(moved.excess, 0.0).sum())
        mean = float(self._test.mean[0])
        # a fall is no drift, but restarts the test as well
        return bool(self._test.update(np.array([signal]))[0]) and bool(signal > mean)

    def _drifted(self, moved: Motion) -> IntArray:
        significant = moved.excess > 0
        first, third = np.quantile(moved.velocity[moved.compared], [0.25, 0.75])
        above = significant & (moved.velocity > third + self.fence * (third - first))
        return np.flatnonzero(above if above.any() else significant)

    def note(self, row: int, features: IntArray, before: FloatArray, after: FloatArray) -> None:
        """Record that features were scored again after the given number of rows."""
        columns = zip(features.tolist(), before.tolist(), after.tolist(), strict=True)
        self.events += [Drift(row, j, old, new) for j, old, new in columns]

    def _record(self) -> Mapping[str, Any]:
        return {
            **{name: getattr(self, name) for name in self.fields if name not in EVENT_FIELDS},
            **packed_events(self.events),
        }

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        events = unpacked_events(record)
        monitor = super()._rebuilt(record)
        monitor.events = events
        return monitor

    def _consistent(self) -> Iterator[str]:
        if self._test.n_signals != 1:
            yield f"{self._test.n_signals} signals are followed, not one"
        if np.any(self._before[[ROWS, SQUARES]] < 0):
            yield "numbers of rows or squared deviations are below 0"
        if any(drift.feature >= len(self.velocity) for drift in self.events):
            yield "a drift is of an unknown feature"


def motion(before: FloatArray, now: FloatArray) -> Motion:
    """Compare two windows; their content is that of :meth:`VelocityMonitor.judge`."""
    n_features = now.shape[1]
    velocity, excess = np.zeros(n_features), np.full(n_features, -np.inf)
    compared = np.zeros(n_features, bool)
    # of very many features, most are 0 in both windows
    alive = np.flatnonzero((before[SQUARES] + now[SQUARES] > 0) | (before[AVERAGE] != now[AVERAGE]))
    before, now = before[:, alive], now[:, alive]
    freedom = before[ROWS] + now[ROWS] - 2
    there = (before[ROWS] > 0) & (now[ROWS] > 0) & (freedom > 0)
    shift = np.abs(now[AVERAGE] - before[AVERAGE])
    spread = np.sqrt((before[SQUARES] + now[SQUARES]) / np.maximum(freedom, 1.0))
    rounding = ROUNDING * np.maximum(np.abs(before[AVERAGE]), np.abs(now[AVERAGE]))
    shift[~there | (shift <= rounding)] = 0.0
    spread[spread <= rounding] = 0.0
    velocity[alive] = speed = np.minimum(ratio(shift, spread), FASTEST)
    compared[alive] = chosen = there & ((spread > 0) | (shift > 0))
    errors = np.sqrt(before[ROWS] * now[ROWS] / np.maximum(before[ROWS] + now[ROWS], 1.0))
    # features without missing values share their degrees of freedom, so there is mostly one level
    different, which = np.unique(freedom[chosen], return_inverse=True)
    level = -stdtrit(different, FALSE_ALARM / 2 / max(1, len(which)))
    excess[compared] = (speed * errors)[chosen] - level[which]
    return Motion(velocity, excess, compared)
