"""Nearest rows: distances, neighbors, and the features in which they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import relief as kernel
from streamsieve._threads import over_features
from streamsieve.dependence.blocks import without_offsets
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import BoolArray, FloatArray, IntArray, Matrix
from streamsieve.state import Choice, Int

METRICS = ("euclidean", "manhattan")
#: Distances held at a time: 32 MB.
BLOCK_VALUES = 2**22
#: Rounding error of the contribution of a feature to a distance, which is at most 1.
ROUNDING = 1e-12


class Neighbors:
    """All rows, scaled so that no feature differs by more than 1; nominal features differ by 0 or 1.

    A numeric feature adds the square ("euclidean") or the size ("manhattan") of its difference to a distance.
    """

    def __init__(self, X: Matrix, nominal: BoolArray, metric: str) -> None:
        self.n, self.p = X.shape
        self._nominal, self._squared = nominal, metric == "euclidean"
        self._tie = ROUNDING * self.p
        self._sparse: tuple[Any, ...] | None = None
        if sp.issparse(X):
            X = _scaled_csr(X, nominal)
            self._sparse = (X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, nominal)
            return
        self._numbers = _scaled(X[:, ~nominal])
        self._names = np.ascontiguousarray(X[:, nominal], np.float64)
        self._lengths: FloatArray = np.einsum("ij,ij->i", self._numbers, self._numbers)

    def nearest(self, rows: IntArray, starts: IntArray, k: int) -> Iterator[tuple[IntArray, list[IntArray]]]:
        """Yield some of the rows, all of one part, and their k nearest others in every part.

        Part c is the rows from ``starts[c]`` to ``starts[c + 1]``.  It gives all it has if that is fewer.
        Neighbors come in order of their rows; of equally near ones the first rows are taken.
        """
        step = max(1, BLOCK_VALUES // self.n)
        parts = list(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))
        for own, (low, high) in enumerate(parts):
            mine = rows[(rows >= low) & (rows < high)]
            for at in range(0, len(mine), step):
                some = mine[at : at + step]
                distance = self.distances(some)
                distance[np.arange(len(some)), some] = np.inf
                wanted = (min(k, b - a - (c == own)) for c, (a, b) in enumerate(parts))
                yield (
                    some,
                    [
                        self._nearest(distance[:, a:b], a, size)
                        for (a, b), size in zip(parts, wanted, strict=True)
                    ],
                )

    def _nearest(self, distance: FloatArray, low: int, k: int) -> IntArray:
        farthest = np.partition(distance, k - 1, axis=1)[:, k - 1]
        out = np.empty((len(distance), k), np.int64)
        kernel.pick(distance, low, farthest, self._tie, out)
        return out

    def by_rank(self, rows: IntArray, nearest: IntArray) -> IntArray:
        """Return neighbors with the nearest first; of equally near ones the first row comes first."""
        one, other = np.repeat(rows, nearest.shape[1]), nearest.reshape(-1)
        distance = self._pairs(one, other).reshape(nearest.shape)
        order = np.argsort(distance, axis=1, kind="stable")
        rising = np.take_along_axis(distance, order, axis=1)
        # a distance belongs with the one before it unless it is truly larger
        group = np.cumsum(np.diff(rising, axis=1, prepend=rising[:, :1]) > self._tie, axis=1)
        by_row = np.argsort(group * nearest.shape[1] + order, axis=1)
        return np.take_along_axis(nearest, np.take_along_axis(order, by_row, axis=1), axis=1)

    def distances(self, some: IntArray) -> FloatArray:
        """Return the distances of some rows from all rows."""
        if self._sparse is not None:
            sparse, out = self._sparse, np.zeros((len(some), self.n))

            def add(low: int, high: int) -> None:
                kernel.add_sparse(*sparse, self._squared, some, low, high, out)

            over_features(self.n, 4 * len(some) * len(sparse[2]), add)
            return out
        if self._squared:
            out = self._numbers[some] @ self._numbers.T
            out *= -2.0
            out += self._lengths
            out += self._lengths[some, None]
        else:
            out = np.zeros((len(some), self.n))
            over_features(
                self.n, len(some) * self._numbers.size,
                lambda low, high: kernel.add_absolute(self._numbers, some, low, high, out),
            )  # fmt: skip
        if self._names.size:
            over_features(
                self.n, len(some) * self._names.size,
                lambda low, high: kernel.add_unequal(self._names, some, low, high, out),
            )  # fmt: skip
        return out

    def _pairs(self, one: IntArray, other: IntArray) -> FloatArray:
        """Return the distances of pairs of rows, some at a time."""
        out = np.empty(len(one))
        step = max(1, BLOCK_VALUES // self.p)
        for low in range(0, len(one), step):
            part = slice(low, low + step)
            out[part] = self._apart(one[part], other[part])
        return out

    def _apart(self, one: IntArray, other: IntArray) -> FloatArray:
        if self._sparse is not None:
            indptr, indices, data, nominal = self._sparse
            X = sp.csr_array((data, indices, indptr), shape=(self.n, self.p))
            difference = (X[one] - X[other]).tocsr()
            size = difference.data**2 if self._squared else np.abs(difference.data)
            difference.data = np.where(
                nominal[difference.indices], (difference.data != 0).astype(np.float64), size
            )
            return np.asarray(difference.sum(axis=1)).reshape(-1)
        difference = self._numbers[one] - self._numbers[other]
        size = difference**2 if self._squared else np.abs(difference)
        unequal = self._names[one] != self._names[other]
        return np.asarray(size.sum(axis=1) + unequal.sum(axis=1))

    def weighed(self, one: IntArray, other: IntArray, weight: FloatArray) -> FloatArray:
        """Return, for every feature, the sum of its weighted differences over pairs of rows."""
        if self._sparse is not None:
            out = np.zeros(self.p)
            kernel.weigh_sparse(*self._sparse, one, other, weight, out)
            return out
        out, parts = np.zeros(self.p), (np.zeros(self._numbers.shape[1]), np.zeros(self._names.shape[1]))
        for X, total, add in (
            (self._numbers, parts[0], kernel.weigh_absolute),
            (self._names, parts[1], kernel.weigh_unequal),
        ):
            if len(total):

                def work(low: int, high: int, X: Any = X, total: Any = total, add: Any = add) -> None:
                    add(X, one, other, weight, low, high, total)

                over_features(len(total), len(one) * len(total), work)
        out[~self._nominal], out[self._nominal] = parts
        return out


def _scaled(X: npt.NDArray[Any]) -> FloatArray:
    """Return numeric columns between 0 and 1; a constant one is 0."""
    low = X.min(axis=0, initial=np.inf)
    span = X.max(axis=0, initial=-np.inf).astype(np.float64) - low
    return np.ascontiguousarray((X - low.astype(np.float64)) / np.where(span > 0, span, 1.0))


def _scaled_csr(X: Any, nominal: BoolArray) -> Any:
    """Return sparse columns of span 1, those of names as they are; a constant one is 0."""
    given = sp.csc_array(X).astype(np.float64)
    X = without_offsets(given)
    low, high = (np.asarray(f(axis=0).toarray(), np.float64).reshape(-1) for f in (X.min, X.max))
    span = np.where(nominal | (high <= low), 1.0, high - low)
    column = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    # a difference from the first value may make two names one
    values = np.where(nominal[column], given.data, X.data / span[column])
    X = sp.csc_array((values, X.indices, X.indptr), shape=X.shape).tocsr()
    X.sort_indices()
    return X


#: Parameters that the Relief family shares; ``nominal`` depends on the features, see :func:`nominal_mask`.
NEIGHBOR_PARAMETERS = {"metric": Choice(*METRICS), "n_rows_sampled": Int(1, optional=True)}


def nominal_mask(selector: Any) -> BoolArray:
    """Return which features are nominal, by the parameter ``nominal`` of a selector that has seen data."""
    nominal, p = selector.nominal, selector.n_features_in_
    names = getattr(selector, "feature_names_in_", ())
    if nominal is None or (isinstance(nominal, str) and nominal == "all"):
        return np.full(p, nominal is not None)
    if isinstance(nominal, str) or not isinstance(nominal, Iterable) or getattr(nominal, "ndim", 1) == 0:
        raise _bad_nominal(nominal, p, named=len(names) > 0)
    mask = np.zeros(p, bool)
    places = {name: j for j, name in enumerate(names)}
    for column in nominal:
        number = isinstance(column, (int, np.integer)) and not isinstance(column, (bool, np.bool_))
        j = int(column) if number else places.get(column) if isinstance(column, str) else None
        if j is None or not 0 <= j < p:
            raise _bad_nominal(column, p, named=len(names) > 0)
        mask[j] = True
    return mask


def _bad_nominal(what: Any, p: int, *, named: bool) -> ParameterError:
    names = " or their names" if named else " (X has no feature names)"
    return ParameterError(
        f"nominal must be None, 'all', or a list of columns, 0 to {p - 1}{names}; got {what!r}"
    )


def sampled_rows(n: int, sample: int | None, seed: int) -> IntArray:
    """Return the rows whose neighbors are examined, in order."""
    if sample is None or sample >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).permutation(n)[:sample])
