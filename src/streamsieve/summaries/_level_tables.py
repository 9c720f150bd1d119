"""One table of counts (value, class) for every feature; see ``_kernels/contingency.py`` for how they lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import contingency as kernel
from streamsieve._kernels.threads import over_features
from streamsieve._validation import LIMIT
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, BoolArray, FloatArray, IntArray
from streamsieve.state import expect
from streamsieve.summaries._fading import remainder

#: Columns of the heads: first row, number of values, and bits.
START, SIZE, BITS = range(3)
#: The key of "any other value".
OTHERS = np.inf
#: Rows a pool grows by at least.
FEW_ROWS = 64
#: A value with less than this share of its feature's mass is below all rounding.
FAINT = 2.0**-60
#: Fractional weights that came and went leave some rounding, whatever is there now.
DUST = 1e-10
#: Sums of whole weights are exact below this.
EXACT = 2.0**53
_UNIT = np.ones(1)


class LevelTables:
    """Counts of every feature's values, class by class.

    The zeros of sparse rows are not counted but inferred: ``stored`` (feature, class) is the mass of sparse
    rows in which the feature is something else.  It is there as soon as such rows came.

    Parameters
    ----------
    cap : values that get a row of their own, not counting 0
    fades : whether old rows fade, so that new values may take the rows of those that have faded away
    """

    def __init__(self, cap: int, *, fades: bool) -> None:
        self.cap, self.fades = cap, fades
        self.n_features = 0
        self.n_classes = 0
        self._heads = np.zeros((0, 3), np.int64)  # may have spare rows at the end, as has stored
        self._stored: FloatArray | None = None
        self._used = 0
        self._cells = np.zeros((0, 1))
        self._slots = np.zeros(0, np.uint16)

    @property
    def nbytes(self) -> int:
        stored = 0 if self._stored is None else self._stored.nbytes
        return self._heads.nbytes + self._cells.nbytes + self._slots.nbytes + stored

    @property
    def sizes(self) -> IntArray:
        """Return the number of values of every feature, inferred zeros excepted."""
        return self._heads[: self.n_features, SIZE]

    @property
    def keys(self) -> FloatArray:
        """Return the values of all features, one feature after the other."""
        return np.asarray(self._cells[self._rows(), 0])

    @property
    def largest_keys(self) -> FloatArray:
        """Return the largest key of every feature; -inf where there is none."""
        largest = np.full(self.n_features, -np.inf)
        there = self.sizes > 0
        if there.any():
            largest[there] = np.maximum.reduceat(self.keys, (np.cumsum(self.sizes) - self.sizes)[there])
        return largest

    def _rows(self, low: int = 0, high: int | None = None) -> IntArray:
        """Return the rows of the pool that hold values, one feature after the other."""
        starts, sizes, _ = self._heads[low : self.n_features if high is None else high].T
        before = np.cumsum(sizes) - sizes
        return np.asarray(np.arange(int(sizes.sum())) + np.repeat(starts - before, sizes))

    @property
    def _pool(self) -> tuple[IntArray, FloatArray, npt.NDArray[np.uint16]]:
        return self._heads, self._cells, self._slots

    # ---------------------------------------------------------------- room

    def grow(self, n_classes: int, n_features: int, *, sparse: bool) -> None:
        """Make room for late labels and features; sparse rows so far count as zeros for the latter."""
        if n_features > len(self._heads):
            rows = max(n_features, len(self._heads) + len(self._heads) // 2)
            self._heads = _padded(self._heads, rows, 3)
        self.n_features = n_features
        if n_classes > self.n_classes:
            self._repack(len(self._cells), n_classes)
            self.n_classes = n_classes
        shape = len(self._heads), n_classes
        if self._stored is None and sparse:
            self._stored = np.zeros(shape)
        elif self._stored is not None and self._stored.shape != shape:
            self._stored = _padded(self._stored, *shape)

    def _reserve(self, rows: int) -> None:
        """Make room for some more rows in the pool."""
        if self._used + rows > len(self._cells):
            live = int(((1 << self._heads[:, BITS]) >> 1).sum())
            self._repack(live + max(rows, live // 2, FEW_ROWS), self.n_classes)

    def _repack(self, rows: int, n_classes: int) -> None:
        """Copy all tables into a pool of so many rows."""
        pool = np.zeros_like(self._heads), np.zeros((rows, 1 + n_classes)), np.zeros(2 * rows, np.uint16)
        self._used = kernel.pack(self._heads, self._cells, *pool)
        self._heads, self._cells, self._slots = pool

    def _double(self, waiting: IntArray) -> None:
        """Give full tables twice the rows."""
        self._reserve(int(np.maximum(1, 2 * self._heads[waiting, SIZE]).sum()))
        self._used = kernel.move(waiting, *self._pool, self._used)

    # ---------------------------------------------------------------- rows

    def count_dense(self, X: npt.NDArray[Any], codes: IntArray, w: FloatArray | None) -> None:
        """Take dense rows of checked values into account."""
        if X.flags.f_contiguous and not X.flags.c_contiguous:
            flat, steps = X.T.reshape(-1), (1, len(X))
        else:
            flat, steps = np.ascontiguousarray(X).reshape(-1), (X.shape[1], 1)
        weights = (_UNIT, False) if w is None else (w, True)
        done = np.zeros(X.shape[1], np.int64)

        def work(low: int, high: int) -> None:
            batch = (flat, *steps, codes, *weights, done)
            kernel.count_dense(*batch, self.cap, self.fades, *self._pool, low, high)

        over_features(X.shape[1], X.size, work)
        while len(waiting := np.flatnonzero(done < len(X))):
            self._double(waiting)
            over_features(X.shape[1], int((len(X) - done[waiting]).sum()), work)

    def count_sparse(self, X: Any, codes: IntArray, w: FloatArray | None) -> None:
        """Take CSR rows of checked values into account; :meth:`grow` was told of them."""
        batch = (*_csr(X), codes, *((_UNIT, False) if w is None else (w, True)), self.cap, self.fades)
        entry = 0
        while True:
            tables = (*self._pool, self._stored, self._used)
            entry, self._used = kernel.count_sparse(entry, *batch, *tables)
            if entry == len(X.indices):
                return
            self._reserve(max(1, 2 * int(self._heads[X.indices[entry], SIZE])))

    def subtract(self, X: Any, codes: IntArray, w: FloatArray | None) -> int:
        """Take rows out again; return -1, or the entry that was never counted: then nothing is changed."""
        if sp.issparse(X):
            rows = (*_csr(X), True)
        else:
            cells = np.ascontiguousarray(X, np.float64).reshape(-1)
            rows = (np.arange(len(X) + 1) * X.shape[1], np.zeros(0, np.int32), cells, False)
        weights = (_UNIT, False) if w is None else (w, True)
        stored = np.zeros((0, self.n_classes)) if self._stored is None else self._stored
        undo = np.empty(2 * len(rows[2]), np.int64), np.empty(2 * len(rows[2]))
        wrong = int(kernel.subtract(*rows, codes, *weights, *self._pool, stored, *undo))
        if wrong < 0:
            kernel.sweep(*rows, codes, *self._pool)
        return wrong

    def absorb(self, other: LevelTables, keys: FloatArray, classes: IntArray) -> None:
        """Add another's tables; its values are ``keys`` to us, its class i is ours ``classes[i]``."""
        cells = other._cells[other._rows()]
        cells[:, 0] = keys
        theirs = np.concatenate([[0], np.cumsum(other.sizes)]), cells, classes
        done = np.zeros(other.n_features, np.int64)
        kernel.absorb(*theirs, done, self.cap, self.fades, *self._pool)
        while len(waiting := np.flatnonzero(done < other.sizes)):
            self._double(waiting)
            kernel.absorb(*theirs, done, self.cap, self.fades, *self._pool)
        if other._stored is not None and self._stored is not None:
            self._stored[: other.n_features, classes] += other._stored[: other.n_features]

    def clear_classes(self, classes: BoolArray) -> None:
        """Count nothing in some classes, of which no row is left."""
        self._cells[:, 1:][:, classes] = 0.0
        if self._stored is not None:
            self._stored[:, classes] = 0.0
        kernel.expel_faint(0.0, np.zeros(self.n_features), *self._pool)

    def forget(self, columns: IntArray, sparse_mass: FloatArray) -> None:
        """Let all rows so far count as missing for some features."""
        self._heads[columns] = 0
        if self._stored is not None:
            self._stored[columns] = sparse_mass

    def renumber(self, columns: IntArray, n_features: int) -> None:
        """Let feature i be ``columns[i]``; the others are as if they came late."""
        heads = np.zeros((n_features, 3), np.int64)
        heads[columns] = self._heads[: self.n_features]
        if self._stored is not None:
            stored = np.zeros((n_features, self.n_classes))
            stored[columns] = self._stored[: self.n_features]
            self._stored = stored
        self._heads, self.n_features = heads, n_features

    def scale(self, factor: float, sparse_mass: FloatArray, rows: IntArray) -> None:
        """Multiply every weight by a factor, and expel what has faded below all rounding."""
        self._cells[: self._used, 1:] *= factor
        if self._stored is not None:
            self._stored *= factor
        zeros = self.zeros(0, self.n_features, sparse_mass, rows).sum(axis=1)
        kernel.expel_faint(FAINT, zeros, *self._pool)

    # ---------------------------------------------------------------- what was counted

    def zeros(self, low: int, high: int, sparse_mass: FloatArray, rows: IntArray) -> FloatArray:
        """Return the inferred zeros (feature, class) of features low..high."""
        if self._stored is None:
            return np.zeros((high - low, self.n_classes))
        stored = self._stored[low:high]
        exact = (sparse_mass < EXACT) & _whole(sparse_mass) & _whole(stored)
        left = np.maximum(sparse_mass - stored, 0.0)
        rest = remainder(sparse_mass, stored, rows)
        if not self.fades:
            rest = np.where(rest > DUST * sparse_mass, rest, 0.0)
        return np.where(exact, left, rest)

    def block(self, low: int, high: int, zeros: FloatArray) -> FloatArray:
        """Return counts (feature, class, level) of features low..high, padded with 0."""
        sizes = self._heads[low:high, SIZE]
        starts, rows = np.concatenate([[0], np.cumsum(sizes)]), self._rows(low, high)
        rows = rows[np.lexsort((self._cells[rows, 0], np.repeat(np.arange(len(sizes)), sizes)))]
        levels = int(sizes.max(initial=0)) + (self._stored is not None)
        out = np.zeros((high - low, self.n_classes, max(1, levels)))
        kernel.fill(rows, starts, self._cells, zeros, out)
        return out

    def table(self, feature: int, zeros: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the keys of one feature in order, and its counts (class, level)."""
        start, size, _ = self._heads[feature]
        keys = np.sort(self._cells[start : start + size, 0])
        if zeros.any() and 0.0 not in keys:
            keys = np.insert(keys, np.searchsorted(keys, 0.0), 0.0)
        return keys, self.block(feature, feature + 1, zeros)[0][:, : len(keys)]

    def state(self) -> Arrays:
        cells = self._cells[self._rows()]
        arrays: Arrays = {
            "sizes": self.sizes.copy(),
            "keys": cells[:, 0].copy(),
            "counts": cells[:, 1:].copy(),
        }
        return (
            arrays if self._stored is None else {**arrays, "stored": self._stored[: self.n_features].copy()}
        )

    @classmethod
    def from_state(
        cls, arrays: Mapping[str, npt.NDArray[Any]], n_classes: int, cap: int, *, fades: bool
    ) -> LevelTables:
        """Rebuild; what the keys of texts mean is for the alphabet to check."""
        tables = cls(cap, fades=fades)
        sizes = expect(arrays, "sizes", np.int64, (None,))
        if np.any((sizes < 0) | (sizes > cap + 2)):
            raise StateError(f"the state's features should have 0 to {cap + 2} values each")
        ends = np.cumsum(sizes)
        rows = int(ends[-1]) if len(ends) else 0
        keys = expect(arrays, "keys", np.float64, (rows,))
        counts = expect(arrays, "counts", np.float64, (rows, n_classes))
        _check_values(sizes, keys, cap)
        _check_mass("counts", counts)
        if "stored" in arrays:
            tables._stored = np.array(expect(arrays, "stored", np.float64, (len(sizes), n_classes)))
            _check_mass("stored", tables._stored)
        tables.n_features, tables.n_classes = len(sizes), n_classes
        tables._heads = np.stack([ends - sizes, sizes, np.zeros_like(sizes)], axis=1)
        tables._cells = np.column_stack([keys, counts])
        owned = 2 ** np.ceil(np.log2(sizes[sizes > 0]))
        tables._repack(int(owned.sum()), n_classes)
        return tables


def _csr(X: Any) -> tuple[IntArray, npt.NDArray[np.int32], FloatArray]:
    return X.indptr.astype(np.int64), X.indices, X.data.astype(np.float64, copy=False)


def _padded(array: npt.NDArray[Any], rows: int, columns: int) -> npt.NDArray[Any]:
    padded = np.zeros((rows, columns), array.dtype)
    padded[: array.shape[0], : array.shape[1]] = array
    return padded


def _whole(a: FloatArray) -> BoolArray:
    return np.asarray(a == np.floor(a))


def _check_values(sizes: IntArray, keys: FloatArray, cap: int) -> None:
    """Refuse what is no value, a value that a feature has twice, and too many of them."""
    feature = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((keys, feature))
    twice = (keys[order][1:] == keys[order][:-1]) & (np.diff(feature) == 0)
    if not np.all((keys > -LIMIT) & (keys != LIMIT)) or twice.any():
        raise StateError("the state counts what is no value, or a feature's value twice")
    counted = np.bincount(feature[(keys != 0) & (keys != OTHERS)], minlength=len(sizes))
    if np.any(counted > cap):
        raise StateError(f"the state's features have more values than a cap of {cap} allows")


def _check_mass(name: str, mass: FloatArray) -> None:
    if not np.all((mass >= 0) & (mass < np.inf)):
        raise StateError(f"the state's {name} are negative or not finite")
