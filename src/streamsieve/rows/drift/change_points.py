"""A generalized likelihood ratio test for a change of mean, for many signals at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Int, Part, register

#: Maximum number of buckets per size and in all: 3 of one value, 3 of two, ..., 3 of 128.
BUCKETS_PER_SIZE, MOST_BUCKETS = 3, 24
#: Minimum number of values before a change point, after it, and in all, for a comparison.
LEAST_BEFORE, LEAST_AFTER, LEAST_VALUES = 3, 2, 8
#: Bound on the sums in a state, far beyond what any signal reaches.
LARGEST_SIGNAL = 1e6


@register
class ChangePoints(Part):
    """Compare the mean of a signal before and after each of a few points in time.

    The values of a signal are summed in buckets, small ones for the latest values and larger ones for
    earlier values (an exponential histogram, as in ADWIN), so that memory stays bounded: the latest
    765 values are remembered.  The border of two buckets is a possible change point.  There the means on both
    sides are compared by their standardized difference; the largest one over all points is the generalized
    likelihood ratio statistic of a normal signal.  The variance is taken to be 1, as for normal scores, or
    the pooled variance of both sides if that is larger.

    Notes
    -----
    If values are independent and normal with a variance of at most 1, each difference is normal with a
    variance of at most 1.  By the union bound, the probability that one of the at most 23 differences of a
    signal exceeds h is then at most 46 (1 - Phi(h)) per value.

    References
    ----------
    Siegmund, Venkatraman, Using the Generalized Likelihood Ratio Statistic for Sequential Detection of a
    Change-Point, Annals of Statistics 23 (1995).  Bifet, Gavaldà, Learning from Time-Changing Data with
    Adaptive Windowing, SDM 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.rows.drift.change_points import ChangePoints
    >>> test = ChangePoints()
    >>> test.grow(2)
    >>> for t in range(12):
    ...     test.update(np.array([0.5, 0.0 if t < 8 else 4.0]))
    >>> differences = test.differences()
    >>> differences.max(axis=0).round(1), int(test.values_after[differences[:, 1].argmax()])
    (array([0. , 6.5]), 4)
    """

    fields = {
        "n_values": Int(),
        "_sizes": Array("i8", "buckets", low=1),
        "_sums": Array("f8", "buckets", "signals", low=-LARGEST_SIGNAL, high=LARGEST_SIGNAL),
        "_squares": Array("f8", "buckets", "signals", low=0, high=LARGEST_SIGNAL),
        "_start": Array("i8", "signals", low=0),
    }

    def __init__(self) -> None:
        self.n_values = 0
        self._sizes = np.zeros(0, np.int64)
        self._sums = np.zeros((0, 0))
        self._squares = np.zeros((0, 0))
        # number of the first value of each signal that counts
        self._start = np.zeros(0, np.int64)

    @property
    def n_signals(self) -> int:
        """Number of signals."""
        return len(self._start)

    @property
    def values_after(self) -> IntArray:
        """Number of values after each possible change point."""
        after: IntArray = np.cumsum(self._sizes[::-1])[::-1][1:]
        return after

    @property
    def _counts(self) -> FloatArray:
        """Number of values that count, per bucket and signal."""
        ends = self.n_values - np.append(self.values_after, 0)[:, None]
        return np.clip(ends - self._start, 0, self._sizes[:, None]).astype(float)

    @property
    def means(self) -> FloatArray:
        """Mean of each signal; 0 where there are no values."""
        means: FloatArray = self._sums.sum(axis=0) / np.maximum(self._counts.sum(axis=0), 1)
        return means

    def grow(self, n_signals: int) -> None:
        """Add new signals."""
        extra = n_signals - self.n_signals
        if extra > 0:
            self._sums = np.pad(self._sums, ((0, 0), (0, extra)))
            self._squares = np.pad(self._squares, ((0, 0), (0, extra)))
            self._start = np.pad(self._start, (0, extra), constant_values=self.n_values)

    def update(self, x: FloatArray) -> None:
        """Add the next value of every signal."""
        self.n_values += 1
        self._sizes = np.append(self._sizes, 1)
        self._sums = np.vstack([self._sums, x])
        self._squares = np.vstack([self._squares, x * x])
        size = 1
        while np.count_nonzero(self._sizes == size) > BUCKETS_PER_SIZE:
            self._join(int(np.argmax(self._sizes == size)))
            size *= 2
        if len(self._sizes) > MOST_BUCKETS:
            self._sizes, self._sums, self._squares = self._sizes[1:], self._sums[1:], self._squares[1:]
            self._start = np.maximum(self._start, self.n_values - self._sizes.sum())

    def _join(self, i: int) -> None:
        for values in (self._sizes, self._sums, self._squares):
            values[i] += values[i + 1]
        self._sizes = np.delete(self._sizes, i + 1)
        self._sums, self._squares = (np.delete(a, i + 1, axis=0) for a in (self._sums, self._squares))

    def sides(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the numbers of values and their means before and after each point, by signal."""
        counts = self._counts
        n, total = counts.sum(axis=0), self._sums.sum(axis=0)
        before, first = np.cumsum(counts, axis=0)[:-1], np.cumsum(self._sums, axis=0)[:-1]
        after, second = n - before, total - first
        return before, after, first / np.maximum(before, 1), second / np.maximum(after, 1)

    def differences(self) -> FloatArray:
        """Return the standardized difference of means at each point, by signal; 0 with too few values."""
        if len(self._sizes) < 2:
            return np.zeros((0, self.n_signals))
        before, after, first, second = self.sides()
        within = self._squares.sum(axis=0) - before * first**2 - after * second**2
        n = before + after
        variance = np.maximum(1.0, within / np.maximum(n - 2, 1))
        enough = (before >= LEAST_BEFORE) & (after >= LEAST_AFTER) & (n >= LEAST_VALUES)
        weight = before * after / np.maximum(n, 1)
        return np.where(enough, (second - first) * np.sqrt(weight / variance), 0.0)

    def restart(self, signals: IntArray, points: IntArray) -> None:
        """Forget the values of each of some signals before its point, given by position."""
        for signal, point in zip(signals.tolist(), points.tolist(), strict=True):
            self._sums[: point + 1, signal] = self._squares[: point + 1, signal] = 0.0
        ends = self.n_values - self.values_after
        self._start[signals] = np.maximum(self._start[signals], ends[points])

    def clear(self, signal: int) -> None:
        """Forget all values of a signal."""
        self._sums[:, signal] = self._squares[:, signal] = 0.0
        self._start[signal] = self.n_values

    def _consistent(self) -> Iterator[str]:
        remembered = int(self._sizes.sum())
        if (
            len(self._sizes) > MOST_BUCKETS
            or remembered > self.n_values
            or np.any(self._start > self.n_values)
        ):
            yield f"{remembered} values in {len(self._sizes)} buckets, of {self.n_values} in all"
        if np.any(self._sums**2 > self._sizes[:, None] * self._squares * (1 + 1e-9)):
            yield "the sums and the sums of squares could not have come about"
