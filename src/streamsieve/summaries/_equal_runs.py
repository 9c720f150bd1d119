"""Runs over rows of equal weight: the fast path.

**The bound.**  Take a collapse of two runs of weight w, r of whose 2k values are at most x.  Keeping the 1st,
3rd, 5th ... counts 2w * ceil(r / 2) instead of w * r: off by 0 or +w; keeping the 2nd, 4th ... by -w or 0.
About the known centre +-w/2 that is off by w/2.  Estimates are sums over runs, so errors add up: with E the
sum of w/2 and S the sum of the centres over all collapses so far, ``|estimate(x) + S - truth(x)| <= E`` for
every x and every order of rows.

**The rule** *collapse only if E stays within epsilon * N, else double k* is its own proof, for any N, and
doubling loses nothing: two runs of a level join into one of twice the width, and a lone run is each of its
values twice at half the weight, one level down.  Level l sees N / (k 2^(l+1)) collapses of weight 2^l, so
E <= N L / (4k) with L levels, and k doubles only when L > 4 epsilon k: at epsilon 1e-3, k is 1024 below
32,768 rows of a class, 2048 below half a million, 4096 below half a billion.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import quantiles_dense as kernel
from streamsieve.summaries._class_runs import ClassRuns, Run


class EqualRuns(ClassRuns):
    """Level l holds at most one run, and each of its values stands for 2^l rows."""

    weighted: ClassVar[bool] = False
    start: ClassVar[float] = 1.0

    def __init__(self, n_features: int, epsilon: float, dtype: npt.DTypeLike) -> None:
        super().__init__(n_features, epsilon, dtype)
        self._spare: npt.NDArray[Any] | None = None

    @property
    def nbytes(self) -> int:
        return super().nbytes + (0 if self._spare is None else self._spare.nbytes)

    def _flush(self) -> None:
        self.filled = 0
        self.in_runs += self.k
        self._carry(0, None)

    def _carry(self, level: int, run: npt.NDArray[Any] | None) -> None:
        """Insert a run (None: the buffer, sorted on the way) and collapse while its level is taken."""
        plan, level = self._plan(level)
        out = run if run is not None else self._empty_run(plan)
        if run is None or plan:
            self._execute(run, plan, out)
        if self._level(level):
            self._widen(level, out)
        else:
            self.levels[level].append(Run(out, 2.0**level))

    def _plan(self, level: int) -> tuple[list[tuple[npt.NDArray[Any], bool]], int]:
        """Take the runs out that are to be collapsed with the newcomer, and account for the error."""
        plan = []
        while self._level(level):
            half = 2.0 ** (level - 1)
            if self.error + half > self.epsilon * self.in_runs:
                break
            odd = bool(self.flips[level])
            self.error += half
            self.shift += half if odd else -half
            self.flips[level] ^= 1
            plan.append((self.levels[level].pop().values, odd))
            level += 1
        return plan, level

    def _empty_run(self, plan: list[tuple[npt.NDArray[Any], bool]]) -> npt.NDArray[Any]:
        """Return an array for the result: one that is used up, the spare one, or a new one."""
        if plan:
            return plan[0][0]
        spare, self._spare = self._spare, None
        fits = spare is not None and spare.shape == (self.n_features, self.k) and spare.dtype == self.dtype
        return spare if spare is not None and fits else np.empty((self.n_features, self.k), self.dtype)

    def _execute(
        self, run: npt.NDArray[Any] | None, plan: list[tuple[npt.NDArray[Any], bool]], out: npt.NDArray[Any]
    ) -> None:
        k, rows = self.k, self.rows
        count_few = run is None and self.few.prepare()

        def work(low: int, high: int) -> None:
            part = slice(low, high)
            a, b = np.empty((2, high - low, k), self.dtype)
            if run is None:
                kernel.transpose(rows[:k, part], a, self.missing[part])
                a.sort(axis=1)
                if count_few:
                    self.few.tally(low, high, a, None)
            else:
                a = run[part]
            for other, odd in plan:
                kernel.collapse(a, other[part], b, odd)
                a, b = b, a  # a run that is inserted is used up, so it may serve as scratch
            out[part] = a

        self._over_blocks(k, self.dtype.itemsize, work)
        self.few.release()
        for used_up, _ in plan:
            if used_up is not out:
                self._spare = used_up

    def _widen(self, level: int = -1, newcomer: npt.NDArray[Any] | None = None) -> None:
        """Double k without loss; ``newcomer`` is a second run of ``level``."""
        old, k = self.levels, self.k
        self.levels, self.flips = [], []
        self.k, self._spare = 2 * k, None
        wider: list[tuple[int, npt.NDArray[Any]]] = []
        back: npt.NDArray[Any] | None = None
        for place, runs in enumerate(old):
            for run in runs:
                if place == level and newcomer is not None:
                    wider.append((place, self._joined(run.values, newcomer)))
                elif place:
                    wider.append((place - 1, np.repeat(run.values, 2, axis=1)))
                else:
                    back = run.values
        for place, values in reversed(wider):
            self._insert(place, values)
        if back is not None:
            self._return(back)

    def _joined(self, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        out = np.empty((self.n_features, 2 * a.shape[1]), self.dtype)

        def work(low: int, high: int) -> None:
            kernel.join(a[low:high], b[low:high], out[low:high])

        self._over_blocks(out.shape[1], self.dtype.itemsize, work)
        return out

    def _return(self, run: npt.NDArray[Any]) -> None:
        """Put a run of level 0 back into the buffer, as if it had never been sorted."""
        if self.few.prepare():  # what is in the buffer is in no table
            backwards = np.tile(-np.arange(1.0, run.shape[1] + 1), (self.n_features, 1))
            self.few.tally(0, self.n_features, run, backwards)
        gone = np.isinf(run)
        self.missing -= gone.sum(axis=1)
        self.in_runs -= run.shape[1]
        self.add(np.where(gone, np.nan, run).T.astype(self.dtype), None, None)

    def merge(self, other: Self) -> None:
        """Take the other's rows into account; the other is used up."""
        while self.k < other.k:
            self._widen()
        while other.k < self.k:
            other._widen()
        self._merge_facts(other)
        for level in range(len(other.levels) - 1, -1, -1):
            for run in other.levels[level]:
                self._insert(level, run.values)
        self.add(other.rows[: other.filled], None, None)

    def _insert(self, level: int, values: npt.NDArray[Any]) -> None:
        """Insert a run that may be narrower than ours are by now."""
        while values.shape[1] < self.k and level > 0:
            values, level = np.repeat(values, 2, axis=1), level - 1
        if values.shape[1] == self.k:
            self._carry(level, values)
        else:
            self._return(values)

    def _adds_up(self) -> bool:
        alone = all(
            len(runs) <= 1 and all(run.weight == 2.0**level for run in runs)
            for level, runs in enumerate(self.levels)
        )
        return alone and self.k * sum(run.weight for run in self.runs) == self.in_runs
