"""What is remembered of one class in dense rows: a buffer of rows, and sorted runs of all features in step.

All features of a class have seen the same rows, so control is scalar and data flow in whole arrays: ``k``
buffered rows are transposed and sorted into a *run*, a (feature, k) array whose values all weigh the same;
two runs of a level become one of the next level, as digits carry in a binary counter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels.threads import over_features
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, IntArray
from streamsieve.state import expect
from streamsieve.summaries._few_values import FewValues

#: A block of features stays in the second-level cache from transposing to the last collapse.
BLOCK_BYTES = 2**18
#: Sorting a value costs about as much as reading this many.
COST_OF_SORTING = 16
FEWEST_ROWS = 8
WIDEST = 2**26
#: More levels than rows can fill.
DEEPEST = 64
#: Mass in runs below which a class has faded away: numbers so small lose their digits.
FAINTEST = 1e-280


class Run(NamedTuple):
    """Sorted values (feature, k), each of the same weight; missing ones are +inf, at the end."""

    values: npt.NDArray[Any]
    weight: float


class ClassRuns(ABC):
    """Runs of one class over all features, with a certified bound of what collapsing has cost.

    ``|estimate(x) + shift - truth(x)| <= error`` for every x, where both are masses of values up to x.
    """

    #: Whether rows carry weights.
    weighted: ClassVar[bool]
    #: A new class begins with runs of at least ``start / epsilon`` values.
    start: ClassVar[float]

    def __init__(self, n_features: int, epsilon: float, dtype: npt.DTypeLike) -> None:
        self.epsilon = epsilon
        self.k = 1 << max(5, int(np.ceil(np.log2(self.start / epsilon))))
        self.rows = np.empty((0, n_features), dtype)
        self.weights = np.empty(0)
        self.filled = 0
        #: Mass of the rows that are in runs.  It is summed once a flush, never by batches: their size must
        #: not change a bit.
        self.in_runs = self.error = self.shift = 0.0
        self.levels: list[list[Run]] = []
        self.flips: list[int] = []
        #: Mass of missing values among the rows that are in runs.
        self.missing = np.zeros(n_features)
        self.few = FewValues(n_features)

    # ---------------------------------------------------------------- facts

    @property
    def n_features(self) -> int:
        return int(self.rows.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.rows.dtype

    @property
    def runs(self) -> list[Run]:
        """All runs, level by level."""
        return [run for level in self.levels for run in level]

    @property
    def mass(self) -> float:
        """Mass of all rows, in runs and in the buffer."""
        waiting = float(self.weights[: self.filled].sum()) if self.weighted else float(self.filled)
        return self.in_runs + waiting

    @property
    def nbytes(self) -> int:
        arrays = [self.rows, self.weights, self.missing, *(run.values for run in self.runs)]
        return sum(a.nbytes for a in arrays) + self.few.nbytes

    # ---------------------------------------------------------------- learning

    def add(self, X: npt.NDArray[Any], index: IntArray | None, w: FloatArray | None) -> None:
        """Append rows ``X[index]`` (all of X without an index) with their weights."""
        total = len(X) if index is None else len(index)
        done = 0
        while done < total:
            if self.filled == len(self.rows):
                self._make_room(min(self.k, self.filled + total - done))
            t = min(len(self.rows) - self.filled, total - done)
            at = slice(self.filled, self.filled + t)
            part = slice(done, done + t)
            if index is None:
                self.rows[at] = X[part]
            elif X.dtype == self.dtype:
                np.take(X, index[part], axis=0, out=self.rows[at], mode="clip")
            else:
                self.rows[at] = X[index[part]]
            if self.weighted:
                self.weights[at] = 1.0 if w is None else w[part] if index is None else w[index[part]]
            self.filled += t
            done += t
            if self.filled == self.k:
                self._flush()

    def _make_room(self, wanted: int) -> None:
        """Let the buffer grow by doubling: short streams stay short."""
        size = min(self.k, max(2 * len(self.rows), FEWEST_ROWS, wanted))
        rows = np.empty((size, self.n_features), self.dtype)
        rows[: self.filled] = self.rows[: self.filled]
        self.rows = rows
        if self.weighted:
            self.weights = np.concatenate([self.weights[: self.filled], np.empty(size - self.filled)])

    @abstractmethod
    def _flush(self) -> None:
        """Turn the full buffer into a run, and carry."""

    def _level(self, level: int) -> list[Run]:
        while len(self.levels) <= level:
            self.levels.append([])
            self.flips.append(0)
        return self.levels[level]

    def _over_blocks(self, width: int, itemsize: int, work: Callable[[int, int], None]) -> None:
        """Call ``work(low, high)`` on blocks of features that fit into the cache, in parallel."""
        step = max(2, min(256, BLOCK_BYTES // max(1, width * itemsize)))

        def lane(low: int, high: int) -> None:
            for j in range(low, high, step):
                work(j, min(high, j + step))

        over_features(self.n_features, self.n_features * width * COST_OF_SORTING, lane)

    # ---------------------------------------------------------------- changes of all that is stored

    def scale(self, factor: float) -> None:
        """Multiply every mass by a factor; what gets too small for a number is forgotten."""
        self.weights[: self.filled] *= factor
        if self.in_runs * factor < FAINTEST:
            factor, self.few = 0.0, FewValues(self.n_features)
        self.in_runs *= factor
        self.error *= factor
        self.shift *= factor
        self.missing *= factor
        self.few.scale(factor)
        runs = [[Run(run.values, run.weight * factor) for run in level] for level in self.levels]
        self.levels = [[run for run in level if run.weight > 0] for level in runs]

    def forget(self, columns: IntArray) -> None:
        """Let all rows so far count as missing for some features."""
        self.rows[: self.filled, columns] = np.nan
        for run in self.runs:
            run.values[columns] = np.inf
        self.missing[columns] = self.in_runs
        self.few.forget(columns)

    def renumber(self, columns: IntArray, n_features: int) -> None:
        """Move feature i to columns[i]; the others are missing in all rows so far."""
        rows = np.full((len(self.rows), n_features), np.nan, self.dtype)
        rows[: self.filled, columns] = self.rows[: self.filled]
        missing = np.full(n_features, self.in_runs)
        missing[columns] = self.missing
        self.levels = [[_moved(run, columns, n_features) for run in level] for level in self.levels]
        self.rows, self.missing = rows, missing
        self.few.renumber(columns, n_features)

    def grow(self, n_features: int) -> None:
        """Add features that were missing in all rows so far."""
        self.renumber(np.arange(self.n_features), n_features)

    def astype(self, dtype: npt.DTypeLike) -> None:
        """Change the type of the stored values."""
        rows = np.empty(self.rows.shape, dtype)
        rows[: self.filled] = self.rows[: self.filled]  # what follows is not to be read
        self.rows = rows
        self.levels = [[Run(r.values.astype(dtype), r.weight) for r in level] for level in self.levels]

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Take the other's rows into account; the other may be used up."""

    def _merge_facts(self, other: Self) -> None:
        """Add what needs no carrying: masses, errors, missing and few values of the other's runs."""
        self.in_runs += other.in_runs
        self.error += other.error
        self.shift += other.shift
        self.missing += other.missing
        self.few.merge(other.few)

    # ---------------------------------------------------------------- state

    def state(self) -> Arrays:
        """Return everything as arrays."""
        runs = self.runs
        shape = (len(runs), self.n_features, self.k)
        return {
            "facts": np.array([self.in_runs, self.error, self.shift]),
            "rows": self.rows[: self.filled].copy(),
            "weights": self.weights[: self.filled].copy(),
            "runs": np.stack([run.values for run in runs]) if runs else np.empty(shape, self.dtype),
            "run_weights": np.array([run.weight for run in runs]),
            "run_levels": np.array([i for i, level in enumerate(self.levels) for _ in level], np.int64),
            "flips": np.array(self.flips, np.int64),
            "missing": self.missing.copy(),
            **self.few.state(),
        }

    @classmethod
    def from_state(cls, arrays: Any, n_features: int, epsilon: float) -> Self:
        """Rebuild, after checking that the arrays fit together."""
        dtype = arrays["rows"].dtype if "rows" in arrays else np.float64
        if dtype not in (np.float32, np.float64):
            raise StateError(f"rows in a state are float32 or float64, not {dtype}")
        made = cls(n_features, epsilon, dtype)
        made.in_runs, made.error, made.shift = expect(arrays, "facts", np.float64, (3,)).tolist()
        made.rows = np.array(expect(arrays, "rows", dtype, (None, n_features)))
        made.filled = len(made.rows)
        made.weights = np.array(expect(arrays, "weights", np.float64, (made.filled if cls.weighted else 0,)))
        runs = expect(arrays, "runs", dtype, (None, n_features, None))
        made.k = runs.shape[2]
        weights = expect(arrays, "run_weights", np.float64, (len(runs),))
        levels = expect(arrays, "run_levels", np.int64, (len(runs),))
        flips = expect(arrays, "flips", np.int64, (None,))
        made.missing = np.array(expect(arrays, "missing", np.float64, (n_features,)))
        made.few = FewValues.from_state(arrays, n_features)
        masses = np.concatenate([weights, made.weights, made.missing, [made.in_runs, made.error]])
        fits = (
            np.all((masses >= 0) & (masses < np.inf)) and np.all(weights > 0),
            made.k & (made.k - 1) == 0 and 32 <= made.k <= WIDEST and 2 * made.k * epsilon >= 1,
            made.filled < made.k and not np.isinf(made.rows).any(),
            len(flips) <= DEEPEST and np.isin(flips, (0, 1)).all(),
            np.all((levels >= 0) & (levels < len(flips))) and np.all(levels[1:] >= levels[:-1]),
            np.all(runs[..., 1:] >= runs[..., :-1]) and np.all(runs[..., :1] > -np.inf),
        )
        if not all(fits):
            raise StateError("the state's runs do not fit together")
        made.levels, made.flips = [[] for _ in flips], flips.tolist()
        for values, weight, level in zip(runs, weights.tolist(), levels.tolist(), strict=True):
            made.levels[level].append(Run(values.copy(), weight))
        slack = 1 + 1e-9
        if not abs(made.shift) <= made.error * slack or not made.error <= epsilon * made.mass * slack:
            raise StateError(f"the state claims an error beyond its epsilon of {epsilon}")
        if not made._adds_up():
            raise StateError("the state's runs do not add up to their mass")
        return made

    @abstractmethod
    def _adds_up(self) -> bool:
        """Whether the runs may have come from rows of the mass in runs."""


def _moved(run: Run, columns: IntArray, n_features: int) -> Run:
    values = np.full((n_features, run.values.shape[1]), np.inf, run.values.dtype)
    values[columns] = run.values
    return Run(values, run.weight)
