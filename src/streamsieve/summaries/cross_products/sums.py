"""Sums over rows of x, of x times a target, and of all products of two features, about an origin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk

from streamsieve._kernels import products as kernel
from streamsieve.protocols import BoolArray, FloatArray, IntArray
from streamsieve.state import Array, Bool, Part
from streamsieve.summaries.arrays import padded
from streamsieve.summaries.cross_products.targets import Targets, rows_at_a_time

#: Maximum number of features; their products take 8 p^2 bytes, 3.2 GB.
MOST_FEATURES = 20_000
#: Speed of a matrix product relative to the loop over pairs of stored values, per multiplication.
DENSE_SPEED = 20
#: Ratio of squared mean to variance, which costs digits, beyond which the origin moves.
FAR_MEAN = 100.0
#: Fraction of a square about the origin that may be rounding; a variance below it is 0.
ROUNDING = 1e-12


class Sums(Part):
    """Additive sums over rows, so that two parts of a stream combine exactly.

    As long as rows are sparse, the origin is 0, except in columns that were never 0: there it is the value of
    the first row.  So rows remain sparse, and yet an offset costs no digits.  With the first dense rows the
    origin becomes the mean (``centered``), and stays there.
    """

    fields = {
        "centered": Bool(),
        "totals": Array("f8", "targets", finite=True, copy=False),
        "origin": Array("f8", "features", finite=True, copy=False),
        "cross": Array("f8", "targets", "features", finite=True, copy=False),
        "triangle": Array("f8", "pairs", finite=True, copy=False),
    }

    def __init__(self, n_targets: int, n_features: int) -> None:
        self.n_targets, self.n_features = n_targets, n_features
        self.centered = False
        # columns whose origin is not 0, if that is known
        self._full: IntArray | None = None
        self._totals = np.zeros(n_targets)
        self._origin = np.zeros(n_features)
        self._cross = np.zeros((n_targets, n_features))
        self._products = np.zeros((n_features, n_features))

    @property
    def totals(self) -> FloatArray:
        """Sum of every target; the first is the sum of weights."""
        return self._totals[: self.n_targets]

    @property
    def origin(self) -> FloatArray:
        """Point relative to which values are summed."""
        return self._origin[: self.n_features]

    @property
    def cross(self) -> FloatArray:
        """Sums of every target times every feature, about the origin."""
        return self._cross[: self.n_targets, : self.n_features]

    @property
    def products(self) -> FloatArray:
        """Sums of products of features about the origin; the upper triangle counts."""
        return self._products[: self.n_features, : self.n_features]

    @property
    def mass(self) -> float:
        """Sum of weights."""
        return float(self._totals[0])

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes."""
        return sum(a.nbytes for a in (self._totals, self._origin, self._cross, self._products))

    def mean(self) -> FloatArray:
        """Return the mean of every feature."""
        return self.origin + self._offset()

    def covariance(self) -> FloatArray:
        """Return the population covariances of all pairs of features."""
        out = np.zeros((self.n_features, self.n_features))
        if self.mass > 0:
            kernel.covariance(self._products, self._offset(), self.mass, out)
            # if nearly all of a square is due to the mean, the remainder is rounding
            square, variance = np.diagonal(self.products) / self.mass, np.diagonal(out)
            np.fill_diagonal(out, np.where(variance > ROUNDING * square, variance, 0.0))
        return out

    def target_covariance(self) -> FloatArray:
        """Return the population covariances of every target, except the constant, with every feature."""
        if not self.mass > 0:
            return np.zeros((self.n_targets - 1, self.n_features))
        return np.asarray((self.cross[1:] - np.outer(self.totals[1:], self._offset())) / self.mass)

    def _offset(self) -> FloatArray:
        """Return the mean relative to the origin."""
        if self.centered or not self.mass > 0:
            return np.zeros(self.n_features)
        return np.asarray(self.cross[0] / self.mass)

    def grow(self, n_targets: int, n_features: int) -> None:
        """Allocate room for new targets and features, which were 0 so far."""
        targets, features = self._cross.shape
        if n_targets > targets or n_features > features:
            # with spare room; otherwise a new feature in every row would copy everything for every row
            targets = targets if n_targets <= targets else max(n_targets, targets + targets // 2)
            if n_features > features:
                features = n_features if self.n_features == 0 else max(n_features, features + features // 4)
                self._origin = padded(self._origin, features)
                self._products = padded(self._products, features, features)
            self._totals = padded(self._totals, targets)
            self._cross = padded(self._cross, targets, features)
        self.n_targets = max(self.n_targets, n_targets)
        self.n_features = max(self.n_features, n_features)

    def add_dense(self, X: npt.NDArray[Any], targets: Targets) -> None:
        """Add dense rows with all features."""
        n, p = X.shape
        self.center()
        rows, mean, cross = np.empty((n + 1, p)), np.empty(p), np.zeros((self.n_targets, p))
        kernel.center(np.ascontiguousarray(X), *targets, rows, mean, cross)
        # Chan's formula: the last row carries the difference of the two means
        rows[n] = self._shift_means(mean, targets.sums(self.n_targets), cross)
        self._add_squares(rows)

    def add_sparse(self, X: Any, targets: Targets) -> None:
        """Add CSR rows with all features, whose values have been checked."""
        step = rows_at_a_time(self.n_features)
        if self.centered:
            for low in range(0, X.shape[0], step):
                part = slice(low, low + step)
                self.add_dense(X[part].toarray(), targets.part(part))
            return
        indptr = X.indptr.astype(np.int64, copy=False)
        values = self._about_origin(X, targets.weight)
        lengths = np.diff(indptr).astype(np.float64)
        if lengths @ lengths * DENSE_SPEED > float(len(lengths)) * self.n_features**2:
            self._add_filled(X, values, targets, step)
        else:
            kernel.scatter(
                indptr, X.indices, values, targets.weight, targets.place, targets.value,
                self._cross, self._products,
            )  # fmt: skip
        self._totals[: self.n_targets] += targets.sums(self.n_targets)
        self._follow()

    def _add_filled(self, X: Any, values: FloatArray, targets: Targets, step: int) -> None:
        """Add sparse rows with so few zeros that a matrix product is faster."""
        about = sp.csr_array((values, X.indices, X.indptr), shape=X.shape)
        for low in range(0, X.shape[0], step):
            part = slice(low, low + step)
            rows, some = about[part].toarray(), targets.part(part)
            self.cross[...] += some.times(rows, self.n_targets)
            self._add_squares(rows * np.sqrt(some.weight)[:, None])

    def _about_origin(self, X: Any, weight: FloatArray) -> FloatArray:
        """Return the stored values about the origin, after adapting it to these rows."""
        values: FloatArray = X.data.astype(np.float64)
        if not self.mass > 0:
            end = X.indptr[1]
            self._origin[X.indices[:end]] = values[:end]
            self._full = None
        full, p = self._shifted(), self.n_features
        if len(full) == 0:
            return values
        # the origin of a column with a 0 in these rows returns to 0
        stored = np.bincount(X.indices[values != 0], minlength=p)
        gone = full[stored[full] < X.shape[0]]
        self._move(gone, -self.origin[gone])
        values -= self.origin[X.indices]
        # the first row may be an outlier
        full, w = self._shifted(), np.repeat(weight, np.diff(X.indptr)) / weight.sum()
        offset: FloatArray = np.bincount(X.indices, w * values, minlength=p)[full].astype(np.float64)
        square: FloatArray = np.bincount(X.indices, w * values**2, minlength=p)[full].astype(np.float64)
        far = _far(offset, square)
        if X.shape[0] > 1 and far.any():
            before = self.origin.copy()
            self._move(full[far], offset[far])
            values -= (self.origin - before)[X.indices]
        return values

    def _follow(self) -> None:
        """Move the origin if the mean has moved away from it, as it may when old rows fade."""
        full = self._shifted()
        if len(full):
            offset = self.cross[0, full] / self.mass
            far = _far(offset, self.products[full, full] / self.mass)
            self._move(full[far], offset[far])

    def _shifted(self) -> IntArray:
        """Columns whose origin is not 0."""
        if self._full is None:
            self._full = np.flatnonzero(self.origin)
        return self._full

    def _move(self, columns: IntArray, by: FloatArray) -> None:
        """Move the origin of some columns."""
        if len(columns) == 0:
            return
        everywhere = np.zeros(self.n_features)
        everywhere[columns] = by
        kernel.move(self._products, columns, everywhere, self.cross[0].copy(), self.mass)
        self._cross[: self.n_targets, columns] -= np.outer(self.totals, by)
        # a value minus itself is exactly 0, and 0 marks a column without an origin
        self._origin[columns] += by
        self._full = None

    def center(self) -> None:
        """Move the origin of all columns to their means, permanently."""
        if self.centered:
            return
        if self.mass > 0:
            offset = self._offset()
            self._add_squares(np.sqrt(self.mass) * offset[None, :], -1.0)
            self.cross[...] -= np.outer(self.totals, offset)
            self._origin[: self.n_features] += offset
            self._cross[0] = 0.0
        self.centered = True

    def shift_target(self, by: float) -> None:
        """Move the origin of the numeric target by ``by``."""
        self._cross[1] -= by * self._cross[0]
        self._totals[1] -= by * self._totals[0]

    def _shift_means(self, mean: FloatArray, sums: FloatArray, cross: FloatArray) -> FloatArray:
        """Add the sums of a part about its mean; return the row whose square the products still lack."""
        delta = mean - self.origin
        share = sums[0] / (self.mass + sums[0])
        self.cross[...] += cross + np.outer(sums, delta * (1 - share)) - np.outer(self.totals, delta * share)
        self._cross[0] = 0.0
        row: FloatArray = delta * np.sqrt(self.mass * share)
        # from nothing, the mean itself: origin + delta would round
        self._origin[: self.n_features] = mean if share == 1.0 else self.origin + delta * share
        self._totals[: self.n_targets] += sums
        return row

    def _add_squares(self, rows: FloatArray, sign: float = 1.0) -> None:
        """Add x x' of rows to the products, in place if the memory layout allows it."""
        if self._products.shape[0] == self.n_features:
            # Fortran's lower triangle is our upper one
            dsyrk(sign, rows.T, beta=1.0, c=self._products.T, lower=1, overwrite_c=1)
        else:
            self.products[...] += dsyrk(sign, rows.T, lower=1).T

    def scale(self, factor: float) -> None:
        """Multiply every weight by a factor."""
        self._totals *= factor
        self._cross *= factor
        self._products *= factor

    def absorb(self, other: Sums, places: IntArray) -> None:
        """Add the sums of another part, which are destroyed; its target i is ``places[i]`` here."""
        p = other.n_features
        if not (self.centered or other.centered):
            self._meet(other)
            self._cross[places, :p] += other.cross
            self._totals[places] += other.totals
            self.products[:p, :p] += other.products
            return
        self.center()
        other.center()
        if not other.mass > 0:
            return
        mean, sums, cross = np.zeros(self.n_features), np.zeros(self.n_targets), np.zeros_like(self.cross)
        mean[:p], sums[places], cross[places, :p] = other.origin, other.totals, other.cross
        row = self._shift_means(mean, sums, cross)
        self.products[:p, :p] += other.products
        self._add_squares(row[None, :])

    def _meet(self, other: Sums) -> None:
        """Move two sparse parts to one origin."""
        p, common = other.n_features, np.zeros(self.n_features)
        if other.mass > 0:
            both = (self.origin[:p] != 0) & (other.origin != 0)
            common[:p][both] = self.origin[:p][both]
            ours = np.flatnonzero(self.origin != common)
            theirs = np.flatnonzero(other.origin != common[:p])
            self._move(ours, (common - self.origin)[ours])
            other._move(theirs, (common[:p] - other.origin)[theirs])
            # set exactly, as a sum with a difference may round
            self._origin[: self.n_features], other._origin[:p] = common, common[:p]
            self._full = None

    def forget(self, columns: IntArray) -> None:
        """Treat some features as 0 in all rows."""
        self._origin[columns] = 0.0
        self._full = None
        self._cross[:, columns] = 0.0
        self._products[columns] = 0.0
        self._products[:, columns] = 0.0

    def reindexed(self, columns: IntArray, n_features: int) -> Sums:
        """Return a copy with feature i at ``columns[i]``; the others are 0 in all rows."""
        moved = Sums(self.n_targets, n_features)
        moved.centered = self.centered
        moved._totals[...] = self.totals
        moved._origin[columns] = self.origin
        moved._cross[:, columns] = self.cross
        whole = np.zeros((self.n_features, self.n_features))
        kernel.covariance(self._products, np.zeros(self.n_features), 1.0, whole)  # both triangles
        moved._products[np.ix_(columns, columns)] = whole
        return moved

    def _record(self) -> Mapping[str, Any]:
        """Return the fields; of the products, the upper triangle row by row."""
        rows = [self.products[j, j:] for j in range(self.n_features)]
        facts = {name: getattr(self, name) for name in ("centered", "totals", "origin", "cross")}
        return facts | {"triangle": np.concatenate(rows) if rows else np.zeros(0)}

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        p, products = len(record["origin"]), len(record["triangle"])
        if p > MOST_FEATURES or products != p * (p + 1) // 2:
            yield (
                f"there are {products} products of {p} features; there must be p (p + 1) / 2, and at most "
                f"{MOST_FEATURES} features"
            )

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        triangle, (m, p) = record["triangle"], record["cross"].shape
        sums = cls(m, p)
        sums.centered = record["centered"]
        for name in ("totals", "origin", "cross"):
            getattr(sums, name)[...] = record[name]
        end = 0
        for j in range(p):
            start, end = end, end + p - j
            sums._products[j, j:] = triangle[start:end]
        return sums

    def _consistent(self) -> Iterator[str]:
        if np.any(np.diagonal(self.products) < 0):
            yield "a sum of squares is negative"


def _far(offset: FloatArray, square: FloatArray) -> BoolArray:
    """Whether means are so far from the origin that they dominate the squares about it."""
    return np.asarray(offset**2 * (1 + FAR_MEAN) > FAR_MEAN * square)
