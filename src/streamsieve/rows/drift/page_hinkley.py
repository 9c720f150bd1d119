"""The Page-Hinkley test for a change of mean, for many signals at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from streamsieve.protocols import BoolArray, FloatArray
from streamsieve.state import Array, Float, Int, Part, register

#: Rows of the state of a signal.
N, MEAN, UP, DOWN, LOWEST, HIGHEST = range(6)
#: Initial state of a signal: there is no lowest or highest sum yet.
_START = np.array([0.0, 0.0, 0.0, 0.0, np.inf, -np.inf])[:, None]


@register
class PageHinkley(Part):
    """Detects when the mean of a signal rises or falls; every signal has its own history.

    Each signal has two sums of its deviations from its mean so far: of deviations minus ``delta``, and of
    deviations plus ``delta``.  Without a change the first falls and the second rises.  When the first is more
    than ``threshold`` above its minimum, or the second as far below its maximum, there is an alarm, and the
    signal starts again.

    The recursion equals ``river.drift.PageHinkley`` with ``mode="both"``, bit for bit.

    Parameters
    ----------
    min_instances : int, default=5
        Number of values since the last alarm before which there is no other.
    delta : float, default=0.15
        Changes of the mean by less than that are tolerated.
    threshold : float, default=1.5
        How much of a change must add up, at least 0.
    alpha : float, default=1.0
        The fraction of each sum that remains from one value to the next, 0 < alpha <= 1.  With alpha < 1, as
        in river, the test wears out: the first sum stops falling at -delta / (1 - alpha), and from then on
        ``delta`` tolerates nothing.

    Notes
    -----
    The defaults are made for values between 0 and 1 that :class:`DriftMonitor` computes; see there.

    References
    ----------
    Page, Continuous Inspection Schemes, Biometrika 41, 1954.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.rows.drift.page_hinkley import PageHinkley
    >>> test = PageHinkley()
    >>> test.grow(2)
    >>> alarms = [test.update(np.array([0.5, 0.1 if t < 10 else 0.9])) for t in range(13)]
    >>> np.argwhere(alarms)
    array([[12,  1]])
    """

    fields = {
        "min_instances": Int(1),
        "delta": Float(0),
        "threshold": Float(0),
        "alpha": Float(0, 1, open_low=True),
        "_signals": Array("f8", 6, "signals"),
    }

    def __init__(
        self, min_instances: int = 5, delta: float = 0.15, threshold: float = 1.5, alpha: float = 1.0
    ) -> None:
        given = {"min_instances": min_instances, "delta": delta, "threshold": threshold, "alpha": alpha}
        for name, value in given.items():
            self.fields[name].check_value(name, value)  # type: ignore[attr-defined]
        self.min_instances, self.delta = int(min_instances), float(delta)
        self.threshold, self.alpha = float(threshold), float(alpha)
        self._signals = np.zeros((6, 0))

    @property
    def mean(self) -> FloatArray:
        """Mean of every signal since its last alarm."""
        mean: FloatArray = self._signals[MEAN]
        return mean

    @property
    def n_signals(self) -> int:
        """Number of signals."""
        return self._signals.shape[1]

    def grow(self, n_signals: int) -> None:
        """Add new signals."""
        extra = n_signals - self.n_signals
        if extra > 0:
            self._signals = np.hstack([self._signals, np.repeat(_START, extra, axis=1)])

    def update(self, x: FloatArray) -> BoolArray:
        """Add the next value of every signal, and return which signals have changed."""
        n, mean, up, down, lowest, highest = self._signals
        n += 1
        mean += (1 / n) * (x - mean)
        deviation = x - mean
        up[:] = self.alpha * up + deviation - self.delta
        down[:] = self.alpha * down + deviation + self.delta
        np.minimum(lowest, up, out=lowest)
        np.maximum(highest, down, out=highest)
        alarm = (up - lowest > self.threshold) | (highest - down > self.threshold)
        alarm &= n >= self.min_instances
        self._signals[:, alarm] = _START
        return np.asarray(alarm)

    def _consistent(self) -> Iterator[str]:
        # only a signal without values has no lowest and highest sum
        signals = self._signals
        begun, blank = signals[N] > 0, np.all(signals == _START, axis=0)
        fits = np.all(np.isfinite(signals), axis=0) & (signals[N] == np.floor(signals[N]))
        fits &= (signals[LOWEST] <= signals[UP]) & (signals[HIGHEST] >= signals[DOWN])
        if not np.all(np.where(begun, fits, blank)):
            yield "the signals could not have come about"
