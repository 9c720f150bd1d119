"""A budgeted dual averaging learner of one class against the rest."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._aligned import aligned_zeros
from streamsieve._kernels import barda as kernel
from streamsieve.base.choose import best
from streamsieve.protocols import BoolArray, FloatArray, IntArray
from streamsieve.rows.linear.entries import RowEntries

#: Minimum number of features in the pool beyond the budget.
SPARE = 512
#: Growth of a + H after which all features are examined again; less if the pool would become too large.
REACHES = (0.5, 0.1, 0.02)
#: Scores below this are too close to underflow for a relative margin.
SMALLEST = 1e-280

#: Maximum number of renewals of the pool before one row is learned; once or twice is enough.
MOST_STALLS = 100


class Settings(NamedTuple):
    """Parameters of a learner, passed with every batch because they may change at any time."""

    budget: int
    rate: float
    ridge: float
    damping: float
    spare: int
    width: int

    @classmethod
    def of(cls, budget: int, rate: float, ridge: float, damping: float) -> Self:
        """Choose the sizes of pool and zone, which do not influence the result."""
        return cls(budget, rate, ridge, damping, max(SPARE, budget), 16 + int(2 * budget**0.5))


class DualAveraging:
    """Sums of gradients and squared gradients per feature, and the pool of candidates for the budget.

    Everything else follows from the sums and the number of rows; ``streamsieve._kernels.barda`` describes
    it.
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self._table = aligned_zeros((n_features, 2))
        self._place = np.zeros(n_features, np.int32)
        self._touched = np.empty(n_features, np.int32)
        self._pool, self._lines = np.empty(0, np.int64), np.empty((3, 0))
        self._counts, self._levels = np.zeros(9, np.int64), np.zeros(9)
        self._settings: Settings | None = None

    @property
    def n_rows(self) -> int:
        """Rows learned."""
        return int(self._counts[kernel.ROWS])

    @property
    def gradients(self) -> FloatArray:
        """Sum of gradients per feature."""
        return self._table[: self.n_features, 0]

    @property
    def squares(self) -> FloatArray:
        """Sum of squared gradients per feature."""
        return self._table[: self.n_features, 1]

    @classmethod
    def of(cls, gradients: FloatArray, squares: FloatArray, n_rows: int) -> Self:
        """Return a learner with these sums."""
        model = cls(len(gradients))
        model._know(gradients, squares, n_rows)
        return model

    def mirror(self, other: DualAveraging) -> None:
        """Copy another learner with all signs reversed."""
        self._know(-other.gradients, other.squares, other.n_rows)

    def _know(self, gradients: FloatArray, squares: FloatArray, n_rows: int) -> None:
        p = self.n_features
        self._table[:p, 0], self._table[:p, 1] = gradients, squares
        touched = np.flatnonzero((gradients != 0) | (squares != 0))
        self._touched[: len(touched)] = touched
        self._place[touched] = kernel.OUTSIDE
        self._counts[[kernel.ROWS, kernel.TOUCHED]] = n_rows, len(touched)

    def weights(self, settings: Settings) -> tuple[FloatArray, FloatArray]:
        """Return the weights before the budget is applied, and the scores by which they are ranked."""
        h = settings.damping + np.sqrt(self.squares)
        w = -settings.rate * self.gradients / (settings.ridge * settings.rate * self.n_rows + h)
        return w, w * w * h

    def kept_weights(self, settings: Settings) -> FloatArray:
        """Return the weights used for prediction: 0 outside the budget."""
        w, scores = self.weights(settings)
        if np.count_nonzero(w) > settings.budget:
            w[~best(scores, settings.budget)] = 0.0
        return w

    def learn(
        self, rows: RowEntries, signs: FloatArray, first: int, settings: Settings, margins: FloatArray
    ) -> None:
        """Learn rows from ``first`` on, one by one; their margins before learning go to ``margins``."""
        if settings != self._settings:
            self._settings = settings
            self._start_over()
        n, widest = len(rows.indptr) - 1, int(np.diff(rows.indptr).max(initial=0))
        stalled = 0
        while stalled < MOST_STALLS:
            self._make_room(int(self._counts[kernel.MOST]) + widest)
            before = first
            first = kernel.learn(
                *rows, signs, first, settings.rate, settings.ridge, settings.damping, settings.budget,
                settings.width, self._table, self._place, self._touched, self._pool, self._lines,
                self._counts, self._levels, margins,
            )  # fmt: skip
            if first == n:
                return
            stalled = stalled + 1 if first == before else 0
            self._renew(settings)
        raise RuntimeError(f"the pool was renewed {MOST_STALLS} times for one row: please report this")

    def grow(self, n_features: int) -> None:
        """Extend the arrays for new features."""
        old = len(self._table)
        if n_features > old:
            size = max(n_features, 2 * old)
            table, place = aligned_zeros((size, 2)), np.zeros(size, np.int32)
            touched = np.empty(size, np.int32)
            table[:old], place[:old], touched[:old] = self._table, self._place, self._touched
            self._table, self._place, self._touched = table, place, touched
        self.n_features = n_features

    def _make_room(self, n: int) -> None:
        """Allocate room for n features in the pool, or for all if there are fewer."""
        n = min(n, len(self._table))
        held = int(self._counts[kernel.HELD])
        if n > len(self._pool):
            pool, lines = np.empty(n, np.int64), np.empty((3, n))
            pool[:held], lines[:, :held] = self._pool[:held], self._lines[:, :held]
            self._pool, self._lines = pool, lines

    def _start_over(self) -> None:
        """Empty the pool, so that all features are examined before the next row."""
        self._fill(np.empty(0, np.int64), np.empty(0), np.empty(0))
        self._levels[kernel.HORIZON] = -1.0

    def _renew(self, settings: Settings) -> None:
        """Fill the pool with the best features and the runners-up, and set the floor below them."""
        counts, levels = self._counts, self._levels
        held = int(counts[kernel.HELD])
        if self._now(settings) <= levels[kernel.HORIZON] and held > counts[kernel.MOST]:
            pool, (g, h) = self._pool[:held], self._lines[:2, :held]
            if self._thin_out(pool, g, h, settings):
                return
        self._survey(settings)

    def _now(self, settings: Settings) -> float:
        return settings.ridge * settings.rate * self.n_rows

    def _thin_out(self, pool: IntArray, g: FloatArray, h: FloatArray, settings: Settings) -> bool:
        """Remove the worst features from the pool if the floor stays above their scores."""
        counts, levels = self._counts, self._levels
        now, horizon = self._now(settings), float(levels[kernel.HORIZON])
        score = _score(g, h, now)
        at = _nth(settings.budget + settings.spare, score, pool)
        line = _Line(g[at], h[at], int(pool[at]))
        if horizon == np.inf:
            horizon = now + REACHES[0] * (now + line.h)
        if counts[kernel.FLOOR] >= 0:
            floor = _Line(levels[kernel.FLOOR_G], levels[kernel.FLOOR_H], int(counts[kernel.FLOOR]))
            if not line.stays_above(floor.g, floor.h, floor.feature, now, horizon):
                return False
        if _score(line.g, line.h, horizon) < SMALLEST:
            return False
        kept = ~line.stays_above(g, h, pool, now, horizon)
        if np.count_nonzero(kept) > counts[kernel.MOST]:
            return False
        self._draw_floor(line, horizon)
        self._fill(pool[kept], g[kept], h[kept])
        return True

    def _survey(self, settings: Settings) -> None:
        """Examine all features that ever had a gradient."""
        counts = self._counts
        now, n_kept = self._now(settings), settings.budget + settings.spare
        touched = self._touched[: counts[kernel.TOUCHED]]
        score = np.empty(len(touched))
        kernel.look(touched, self._table, settings.rate, settings.damping, now, score)
        counts[kernel.MOST] = most = settings.budget + 2 * settings.spare
        self._draw_floor(None, np.inf)
        near: IntArray | slice = slice(None)
        if len(touched) > n_kept:
            at = _nth(n_kept, score, touched)
            line = self._line_of(touched[at], settings)
            for reach in REACHES:
                horizon = now + reach * (now + line.h)
                lowest = _score(line.g, line.h, horizon) * kernel.SURELY
                if lowest < SMALLEST:
                    break
                near = np.flatnonzero(score >= lowest)  # the others stay below, as scores only fall
                g, h = self._lines_of(touched[near], settings)
                near = near[~line.stays_above(g, h, touched[near], now, horizon)]
                if len(near) <= most or reach == REACHES[-1]:
                    self._draw_floor(line, horizon)
                    break
        pool = touched[near].astype(np.int64)
        counts[kernel.MOST] = max(most, len(pool) + settings.spare)
        self._fill(pool, *self._lines_of(pool, settings))

    def _line_of(self, feature: Any, settings: Settings) -> _Line:
        g, h = self._lines_of(feature, settings)
        return _Line(float(g), float(h), int(feature))

    def _lines_of(self, features: Any, settings: Settings) -> tuple[FloatArray, FloatArray]:
        return settings.rate * self._table[features, 0], settings.damping + np.sqrt(self._table[features, 1])

    def _draw_floor(self, line: _Line | None, horizon: float) -> None:
        self._counts[kernel.FLOOR] = -1 if line is None else line.feature
        self._levels[kernel.HORIZON] = horizon
        if line is not None:
            self._levels[[kernel.FLOOR_G, kernel.FLOOR_H]] = line.g, line.h

    def _fill(self, pool: IntArray, g: FloatArray, h: FloatArray) -> None:
        """Fill the pool with these features, in any order; the kernel determines the members."""
        counts, levels, n = self._counts, self._levels, len(pool)
        self._place[self._pool[: counts[kernel.HELD]]] = kernel.OUTSIDE
        self._make_room(n)
        counts[[kernel.SURE, kernel.REST, kernel.HELD]] = 0, 0, n
        counts[[kernel.UPPER, kernel.LOWER]] = -1
        levels[kernel.CALM] = -1.0
        self._pool[:n], self._lines[0, :n], self._lines[1, :n] = pool, g, h
        self._place[pool] = np.arange(1, n + 1, dtype=np.int32)


class _Line(NamedTuple):
    """The score of a feature as a function of time, as long as it gets no gradient."""

    g: float
    h: float
    feature: int

    def stays_above(self, g: Any, h: Any, feature: Any, now: float, then: float) -> BoolArray:
        """Whether these features rank after this one (or are this one) from ``now`` until ``then``."""
        below = _score(g, h, now) < _score(self.g, self.h, now) * kernel.SURELY
        below &= _score(g, h, then) < _score(self.g, self.h, then) * kernel.SURELY
        equal = (np.abs(g) == abs(self.g)) & (h == self.h)
        return np.asarray(np.where(equal, feature >= self.feature, below))


def _score(g: Any, h: Any, a: float) -> Any:
    w = g / (a + h)
    return w * w * h


def _nth(rank: int, score: FloatArray, features: npt.NDArray[Any]) -> int:
    """Return the position of the feature of the given rank; ties go to the lower feature."""
    bound = np.partition(score, len(score) - 1 - rank)[len(score) - 1 - rank]
    equal = np.flatnonzero(score == bound)
    return int(equal[np.argsort(features[equal])[rank - np.count_nonzero(score > bound)]])
