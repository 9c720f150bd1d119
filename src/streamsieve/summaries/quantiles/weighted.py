"""Runs over rows of unequal weight: sample weights and fading.

A row has one weight, shared by all its features, so all features of a class carry the same mass at every
moment, and a run is still sorted values plus one number.  Fading, rescaling and merging touch only such
numbers.

**The bound.**  Thinning a mass M to k values at its mass positions (h + 1/2) c, c = M / k, is off by c/2 at
most (see the kernel), and errors of runs add up.  Every unit of mass passes a flush and then one collapse a
level, so E <= W (L + 1) / (2k) with L levels.

**The rule.**  A flush is always possible: k >= 1 / (2 epsilon), so it costs at most epsilon times the mass it
adds.  A collapse that would violate E <= epsilon * W is not done: k doubles first (each value twice at half
the weight, which loses nothing), as long as that can help for ordinary weights; beyond that the two runs are
kept until later rows leave enough error.  Unusual weights cost memory, never accuracy.

Under fading, old errors fade with old mass.  The oldest run, once its mass is below an eighth of the bound,
is dropped and counts as error: memory is bounded by the half-life, not by the number of rows.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import quantiles_weighted as kernel
from streamsieve.protocols import FloatArray
from streamsieve.summaries.quantiles.equal_weight import EqualWeightSketch
from streamsieve.summaries.quantiles.sketch import QuantileSketch, SortedRun
from streamsieve.summaries.quantiles.sorted_rows import SortedRows


class WeightedSketch(QuantileSketch):
    """Each run has a weight of its own; a level may hold several runs for a while."""

    weighted: ClassVar[bool] = True
    start: ClassVar[float] = 2.0

    def sorted_rows(self) -> SortedRows | None:
        """Return the buffered rows as sorted so far; None if a new sort is faster."""
        if self._sorted is None:
            self._sorted = SortedRows(self.n_features, self.dtype)
        kept = self._sorted
        return kept if kept.few_new(self.filled) and kept.make_room(len(self.rows)) else None

    @classmethod
    def of_equal(cls, equal: EqualWeightSketch) -> WeightedSketch:
        """Convert a sketch of equal weights: runs of weight 2^l are valid, centered errors stay centered."""
        made = cls(0, equal.epsilon, equal.dtype)
        width = made.k
        made.__dict__.update({name: fact for name, fact in vars(equal).items() if name in vars(made)})
        made.weights = np.ones(len(equal.rows))
        while made.k < width:  # as wide as those of a class that comes later
            made._widen()
        return made

    def _fits(self, cost: float) -> bool:
        return self.error + cost <= self.epsilon * self.in_runs

    def _flush(self) -> None:
        k, rows, u = self.k, self.rows[: self.filled], self.weights[: self.filled].copy()
        mass = float(u.sum())
        c = weight = mass / k
        self.filled, self._sorted = 0, None
        self.in_runs += mass
        self.error += c / 2
        plan: list[tuple[SortedRun, float]] = []
        level = 0
        while self._level(level) and self._fits((weight + self.levels[level][-1].weight) / 2):
            other = self.levels[level].pop()
            plan.append((other, weight))
            weight += other.weight
            self.error += weight / 2
            level += 1
        out = plan[0][0].values if plan else np.empty((self.n_features, k), self.dtype)
        count_few = self.few.prepare()

        def work(low: int, high: int) -> None:
            part = slice(low, high)
            values, cumulative = ordered(rows[:, part], u, self.missing[part])
            if count_few:
                self.few.tally(low, high, values, cumulative)
            a, b = np.empty((2, high - low, k), self.dtype)
            kernel.thin(values, cumulative, c, a)
            for other, weight_of_a in plan:
                kernel.collapse(a, weight_of_a, other.values[part], other.weight, b)
                a, b = b, a
            out[part] = a

        self._over_blocks(len(rows), 8, work)
        self.few.release()
        self.levels[level].append(SortedRun(out, weight))
        self._settle()
        self._drop_faded()

    def _settle(self) -> None:
        """Collapse runs of the same level, as far as the bound allows."""
        level = 0
        while level < len(self.levels):
            if len(self.levels[level]) < 2:
                level += 1
                continue
            a, b = self.levels[level][:2]
            if self._fits((a.weight + b.weight) / 2):
                del self.levels[level][:2]
                self.error += (a.weight + b.weight) / 2
                self._level(level + 1).append(self._collapsed(a, b))
            elif 2 * self.k * self.epsilon <= len(self.levels) + 2:
                self._widen()
            else:
                level += 1

    def _collapsed(self, a: SortedRun, b: SortedRun) -> SortedRun:
        out = np.empty((self.n_features, self.k), self.dtype)

        def work(low: int, high: int) -> None:
            part = slice(low, high)
            kernel.collapse(a.values[part], a.weight, b.values[part], b.weight, out[part])

        self._over_blocks(self.k, self.dtype.itemsize, work)
        return SortedRun(out, a.weight + b.weight)

    def _widen(self) -> None:
        """Double k: each value twice, at half the weight."""
        self.k *= 2
        self.levels = [
            [SortedRun(np.repeat(run.values, 2, axis=1), run.weight / 2) for run in level]
            for level in self.levels
        ]

    def _drop_faded(self) -> None:
        """Drop the oldest runs, the first of the highest levels, as long as their mass is negligible.

        A younger run of small mass has not faded but only begun, and its rows must not be lost.
        """
        little = self.epsilon * self.in_runs / 8
        for level in reversed(self.levels):
            while level:
                mass = level[0].weight * self.k
                if mass >= little or not self._fits(mass):
                    return
                self.error += mass
                del level[0]

    def merge(self, other: Self) -> None:
        """Merge another sketch, which is destroyed."""
        self._merge_facts(other)
        for level, runs in enumerate(other.levels):
            self._level(level).extend(runs)
        self._settle()
        self.add(other.rows[: other.filled], None, other.weights[: other.filled])

    def _adds_up(self) -> bool:
        # faded runs are dropped, but their rows still count
        return self.k * sum(run.weight for run in self.runs) <= self.in_runs * (1 + 1e-9)


def ordered(
    rows: npt.NDArray[Any], u: FloatArray, missing: FloatArray
) -> tuple[npt.NDArray[Any], FloatArray]:
    """Sort every feature of some rows; return the values (feature, row) and the mass up to each of them."""
    m, p = rows.shape
    keys = np.empty((p, m), np.int64)
    kernel.pack(rows, u, keys, missing)
    keys.view(np.float64).sort(axis=1)
    values, cumulative = np.empty((p, m), rows.dtype), np.empty((p, m))
    if rows.dtype == np.float32:
        kernel.order(keys, u, values, cumulative)
        return values, cumulative
    unsorted = np.zeros(p, bool)
    kernel.order_exactly(keys, rows, u, values, cumulative, unsorted)
    if unsorted.any():
        column = np.where(np.isnan(rows[:, unsorted]), np.inf, rows[:, unsorted]).T
        number = np.arange(m)
        # of equal values below 0 later rows are first, as where keys are sorted
        order = np.lexsort((np.where(np.signbit(column), -1 - number, number), column), axis=1)
        values[unsorted] = np.take_along_axis(column, order, axis=1)
        cumulative[unsorted] = np.cumsum(u[order], axis=1)
    return values, cumulative
