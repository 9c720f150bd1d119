"""Quantile sketch of one class of dense rows: a buffer of rows, and sorted runs of all features in step.

All features of a class have seen the same rows, so control is scalar and data flow in whole arrays: ``k``
buffered rows are transposed and sorted into a *run*, a (feature, k) array whose values all weigh the same;
two runs of a level become one of the next level, as digits carry in a binary counter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve._threads import over_features
from streamsieve.exceptions import StateError
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Float, Int, Nested, Part
from streamsieve.summaries.quantiles.small_domain import SmallDomain
from streamsieve.summaries.quantiles.sorted_rows import SortedRows

#: Bytes per block of features, which stays in the second-level cache from transposing to the last collapse.
BLOCK_BYTES = 2**18
#: Cost of sorting a value, in units of reading one.
COST_OF_SORTING = 16
FEWEST_ROWS = 8
WIDEST = 2**26
#: Maximum number of levels; no number of rows fills more.
DEEPEST = 64
#: Mass in runs below which a class has faded away; smaller numbers lose digits.
FADED_MASS = 1e-280


#: The largest and the smallest positive number.
LARGEST, TINY = float(np.finfo(np.float64).max), 5e-324


class SortedRun(NamedTuple):
    """Sorted values (feature, k), each of the same weight; missing ones are +inf, at the end."""

    values: npt.NDArray[Any]
    weight: float


class QuantileSketch(Part, ABC):
    """Runs of one class over all features, with a certified bound of the error of collapsing.

    ``|estimate(x) + shift - truth(x)| <= error`` for every x, where both are masses of values up to x.
    """

    fields = {
        "epsilon": Float(1e-6, 1, open_high=True),
        "k": Int(32, WIDEST),
        "in_runs": Float(0),
        "error": Float(0),
        "shift": Float(),
        "rows": Array(("f4", "f8"), "buffered", "features"),
        "weights": Array("f8", "buffered", low=0, finite=True),
        "runs": Array(
            ("f4", "f8"), "runs", "features", "k", low=-LARGEST, order="sorted", copy=False, optional=True
        ),
        "run_weights": Array("f8", "runs", low=TINY, finite=True),
        "run_levels": Array("i8", "runs", low=0, high=DEEPEST, order="sorted"),
        "parity": Array("i8", "levels", low=0, high=1),
        "missing": Array("f8", "features", finite=True),
        "few": Nested(SmallDomain, shares=("features",)),
    }

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
        #: The buffered rows in sorted order, if they have been requested.
        self._sorted: SortedRows | None = None
        #: Mass of the rows that are in runs.  It is summed once per flush, never by batches: their size must
        #: not change a bit.
        self.in_runs = self.error = self.shift = 0.0
        self.levels: list[list[SortedRun]] = []
        self.parity: list[int] = []
        #: Mass of missing values among the rows that are in runs.
        self.missing = np.zeros(n_features)
        self.few = SmallDomain(n_features)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.rows.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the stored values."""
        return self.rows.dtype

    @property
    def runs(self) -> list[SortedRun]:
        """All runs, level by level."""
        return [run for level in self.levels for run in level]

    @property
    def mass(self) -> float:
        """Mass of all rows, in runs and in the buffer."""
        waiting = float(self.weights[: self.filled].sum()) if self.weighted else float(self.filled)
        return self.in_runs + waiting

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes."""
        arrays = [self.rows, self.weights, self.missing, *(run.values for run in self.runs)]
        in_order = 0 if self._sorted is None else self._sorted.nbytes
        return sum(a.nbytes for a in arrays) + self.few.nbytes + in_order

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

    def _level(self, level: int) -> list[SortedRun]:
        while len(self.levels) <= level:
            self.levels.append([])
            self.parity.append(0)
        return self.levels[level]

    def _over_blocks(self, width: int, itemsize: int, work: Callable[[int, int], None]) -> None:
        """Call ``work(low, high)`` on blocks of features that fit into the cache, in parallel."""
        step = max(2, min(256, BLOCK_BYTES // max(1, width * itemsize)))

        def lane(low: int, high: int) -> None:
            for j in range(low, high, step):
                work(j, min(high, j + step))

        over_features(self.n_features, self.n_features * width * COST_OF_SORTING, lane)

    def scale(self, factor: float) -> None:
        """Multiply every mass by a factor; masses that underflow are dropped."""
        self.weights[: self.filled] *= factor
        if self.in_runs * factor < FADED_MASS:
            factor, self.few = 0.0, SmallDomain(self.n_features)
        self.in_runs *= factor
        self.error *= factor
        self.shift *= factor
        self.missing *= factor
        self.few.scale(factor)
        runs = [[SortedRun(run.values, run.weight * factor) for run in level] for level in self.levels]
        self.levels = [[run for run in level if run.weight > 0] for level in runs]

    def forget(self, columns: IntArray) -> None:
        """Treat all rows so far as missing for some features."""
        self._sorted = None
        self.rows[: self.filled, columns] = np.nan
        for run in self.runs:
            run.values[columns] = np.inf
        self.missing[columns] = self.in_runs
        self.few.forget(columns)

    def reindex(self, columns: IntArray, n_features: int) -> None:
        """Move feature i to columns[i]; the others are missing in all rows so far."""
        rows = np.full((len(self.rows), n_features), np.nan, self.dtype)
        rows[: self.filled, columns] = self.rows[: self.filled]
        missing = np.full(n_features, self.in_runs)
        missing[columns] = self.missing
        self.levels = [[_moved(run, columns, n_features) for run in level] for level in self.levels]
        self.rows, self.missing, self._sorted = rows, missing, None
        self.few.reindex(columns, n_features)

    def grow(self, n_features: int) -> None:
        """Add features that were missing in all rows so far."""
        self.reindex(np.arange(self.n_features), n_features)

    def astype(self, dtype: npt.DTypeLike) -> None:
        """Change the type of the stored values."""
        rows = np.empty(self.rows.shape, dtype)
        rows[: self.filled] = self.rows[: self.filled]  # entries after these must not be read
        self.rows, self._sorted = rows, None
        self.levels = [[SortedRun(r.values.astype(dtype), r.weight) for r in level] for level in self.levels]

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Merge another sketch, which may be destroyed."""

    @abstractmethod
    def _widen(self) -> None:
        """Double k, without loss."""

    def _merge_facts(self, other: Self) -> None:
        """Bring the runs of both to one width, and add masses, errors and tables of few values."""
        while self.k < other.k:
            self._widen()
        while other.k < self.k:
            other._widen()
        self.in_runs += other.in_runs
        self.error += other.error
        self.shift += other.shift
        self.missing += other.missing
        self.few.merge(other.few)

    def _record(self) -> Mapping[str, Any]:
        runs = self.runs
        return {
            **{name: getattr(self, name) for name in ("epsilon", "k", "in_runs", "error", "shift")},
            "rows": self.rows[: self.filled],
            "weights": self.weights[: self.filled],
            "runs": np.stack([run.values for run in runs]) if runs else None,
            "run_weights": np.array([run.weight for run in runs]),
            "run_levels": np.array([i for i, level in enumerate(self.levels) for _ in level], np.int64),
            "parity": np.array(self.parity, np.int64),
            "missing": self.missing,
            "few": self.few,
        }

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        rows, runs, parity = record["rows"], record.pop("runs"), record.pop("parity")
        made = cls(rows.shape[1], record["epsilon"], rows.dtype)
        weights, levels = record.pop("run_weights").tolist(), record.pop("run_levels")
        made.__dict__.update({name: value for name, value in record.items() if value is not None})
        made.filled = len(rows)
        made.levels, made.parity = [[] for _ in parity], parity.tolist()
        if len(levels) and (runs is None or runs.dtype != rows.dtype or levels.max() >= len(parity)):
            raise StateError("the state's runs are not there, of another type than its rows, or of no level")
        for values, weight, level in zip(() if runs is None else runs, weights, levels.tolist(), strict=True):
            made.levels[level].append(SortedRun(values.copy(), weight))
        return made

    def _consistent(self) -> Iterator[str]:
        slack = 1 + 1e-9
        if len(self.parity) > DEEPEST:
            yield f"{len(self.parity)} levels are more than rows can fill"
        elif self.k & (self.k - 1) or 2 * self.k * self.epsilon < 1 or self.filled >= self.k:
            yield f"runs of {self.k} values do not go with epsilon={self.epsilon}, or the buffer is full"
        elif any(run.values.shape[1] != self.k for run in self.runs):
            yield f"there are runs of another width than {self.k}"
        elif np.isinf(self.rows).any():
            yield "the buffered rows hold infinite values"
        elif not abs(self.shift) <= self.error * slack or not self.error <= self.epsilon * self.mass * slack:
            yield f"the error is beyond its epsilon of {self.epsilon}"
        elif not self._adds_up():
            yield "the runs do not add up to their mass"
        elif not self._counts():
            yield "a value, or what is missing, was counted less than 0 times"

    def _counts(self) -> bool:
        """Whether runs and buffer together count every value, and the missing ones, at least 0 times.

        Alone, a table or a count of missing values may be below 0; see :class:`SmallDomain`.
        """
        least = -1e-9 * max(self.mass, FADED_MASS)
        below = self.missing < least
        if self.few.useful:
            below |= (self.few.masses < least).any(axis=1)
        weights = self.weights[: self.filled] if self.weighted else np.ones(self.filled)
        for j in np.flatnonzero(below).tolist():  # there are few, if any
            column = self.rows[: self.filled, j]
            if self.missing[j] + weights[np.isnan(column)].sum() < least:
                return False
            size = max(int(self.few.sizes[j]), 0) if self.few.useful else 0
            for value, counted in zip(self.few.values[j, :size], self.few.masses[j, :size], strict=True):
                if counted + weights[column == value].sum() < least:
                    return False
        return True

    @abstractmethod
    def _adds_up(self) -> bool:
        """Whether the runs may have come from rows of the mass in runs."""


def _moved(run: SortedRun, columns: IntArray, n_features: int) -> SortedRun:
    values = np.full((n_features, run.values.shape[1]), np.inf, run.values.dtype)
    values[columns] = run.values
    return SortedRun(values, run.weight)
