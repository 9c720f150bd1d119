"""Weighted count, mean and centered second moment of every feature in every class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._values import refuse_non_finite
from streamsieve.protocols import FloatArray, IntArray, Matrix
from streamsieve.state import Nested, register, untouched_on_error
from streamsieve.summaries.arrays import (
    by_class,
    checked_columns,
    checked_places,
    in_steps,
    rows_with_weight,
    widened,
)
from streamsieve.summaries.class_totals import FREQUENCY, ClassTotals, check_alike
from streamsieve.summaries.moments.dense import DenseMoments
from streamsieve.summaries.moments.sparse import SparseMoments

#: Features per block for criteria, so that the arrays of a block stay in cache.
BLOCK = 16_384


class MomentsBlock(NamedTuple):
    """Moments of some features, all arrays (class, feature)."""

    #: Sum of weights, up to a common factor.
    mass: FloatArray
    #: Effective number of rows: (sum of weights)^2 / sum of squares under fading.
    n: FloatArray
    #: Mean of the observed values; 0 where there are none.
    mean: FloatArray
    #: Population variance (ddof 0).
    variance: FloatArray


@register
class Moments(ClassTotals):
    """Count, mean and variance of every feature per class, in one exact pass.

    Dense and sparse rows, weights, missing values (NaN, skipped feature by feature), labels and features
    that appear late, fading, and merging; all equal to recomputing from the whole data, up to rounding.
    Accurate at any offset: the variance of a column with mean 1e9 and variance 1 is accurate to 1e-6.

    Parameters
    ----------
    half_life : float or None, default=None
        Number of rows after which the weight of an observation is halved, at least 1.  If None, all rows
        count alike.
    weight_kind : {"frequency", "importance"}, default="frequency"
        "frequency": weight k is equivalent to k copies of a row. "importance": weights of single
        observations; the effective number of rows is then (sum w)^2 / sum w^2, as under fading.

    Notes
    -----
    Chan, Golub and LeVeque (1983) for merging; a row's growing weight instead of decaying sums for
    fading.  The thesis's recursion for faded means lacks the faded count (its equations 3.1-3.3 grow
    without bound); here the count fades too.  Memory: 16 bytes per feature and class for dense rows (24
    once values were missing), 32 for sparse rows.

    A merge reads as "then came the other's rows"; without fading the order is immaterial.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.summaries import Moments
    >>> m = Moments()
    >>> m.update(np.array([[1.0, 5.0], [3.0, 5.0], [9.0, 7.0]]), np.array(["a", "a", "b"]))
    >>> m.classes, m.n_rows
    (['a', 'b'], 3)
    >>> m.block(0, 2).mean
    array([[2., 5.],
           [9., 7.]])
    """

    fields = {
        **ClassTotals.fields,
        "_cells": Nested(DenseMoments, SparseMoments, shares=("classes", "features"), optional=True),
    }

    def __init__(self, half_life: float | None = None, *, weight_kind: str = FREQUENCY) -> None:
        super().__init__(half_life, weight_kind)
        self._cells: DenseMoments | SparseMoments | None = None

    @property
    def n_features(self) -> int:
        """Number of features seen."""
        return 0 if self._cells is None else self._cells.n_features

    @property
    def nbytes(self) -> int:
        """Memory used, in bytes."""
        return 0 if self._cells is None else self._cells.nbytes

    def block(self, low: int, high: int) -> MomentsBlock:
        """Return the moments of features low..high."""
        if self._cells is None:
            return MomentsBlock(*np.zeros((4, 0, 0)))
        mass, mean, m2 = self._cells.block(low, high, self._mass, self._rows)
        information = np.divide(
            self._mass, self._squares, out=np.ones_like(self._mass), where=self._squares > 0
        )
        variance = np.divide(m2, mass, out=np.zeros_like(m2), where=mass > 0)
        return MomentsBlock(mass, mass * information[:, None], mean, variance)

    def blocks(self) -> Iterator[MomentsBlock]:
        """Yield the moments of all features, some at a time."""
        for low in range(0, self.n_features, BLOCK):
            yield self.block(low, min(low + BLOCK, self.n_features))

    def update(self, X: Matrix, y: npt.NDArray[Any], weight: FloatArray | None = None) -> None:
        """Add rows, all of them or (on an error) none."""
        X, y, weight = rows_with_weight(X, y, weight)
        if X.shape[0] == 0:
            return
        if sp.issparse(X):  # known features without a column are 0 here
            X = widened(X, self.n_features, 0.0)
        codes, new = self._labels.encode(y)
        step = self._fading.most_rows or X.shape[0]
        if sp.issparse(X) or step < X.shape[0]:
            refuse_non_finite(X, missing=True)
        n_classes, n_features = len(self._labels) + len(new), max(self.n_features, X.shape[1])
        with untouched_on_error(self, self._cells):
            self._make_room(n_classes, n_features, sparse=sp.issparse(X))
            for part in in_steps(X, codes, weight, step):
                self._learn(*part)
        self._labels.add(new)

    def _make_room(self, n_classes: int, n_features: int, *, sparse: bool) -> None:
        if self._cells is None:
            self._cells = (SparseMoments if sparse else DenseMoments)(n_classes, n_features)
        self._add_classes(n_classes)
        self._cells.grow(n_classes, n_features, self._mass)

    def _learn(self, X: Matrix, codes: IntArray, weight: FloatArray | None) -> None:
        cells, n_classes = self._cells, len(self._mass)
        if cells is None:
            return
        w, squares = self._fading.weights(len(codes), weight)
        mass = np.bincount(codes, w, minlength=n_classes).astype(np.float64)
        if sp.issparse(X) and isinstance(cells, SparseMoments):
            cells.update(X, codes, w)
        elif isinstance(X, np.ndarray) and isinstance(cells, DenseMoments):
            cells.update(X, *by_class(codes, n_classes), w, self._mass, mass)
        else:
            self._learn_other_kind(X, codes, w, mass)
        self._add_rows(codes, mass, squares)

    def _learn_other_kind(self, X: Matrix, codes: IntArray, w: FloatArray | None, mass: FloatArray) -> None:
        """Summarize a dense batch of a sparse stream, or the reverse, and merge the summary."""
        batch = Moments()
        batch.update(X, codes, w)
        known = np.array(batch.classes, np.int64)
        self._absorb(batch, known, mass)

    def _absorb(self, other: Moments, classes: IntArray, mass: FloatArray) -> None:
        """Merge the features of another one; its class i is ``classes[i]`` here, its masses are ``mass``."""
        if other._cells is None or self._cells is None:
            return
        n_classes = len(self._mass)
        for low in range(0, other.n_features, BLOCK):
            high = min(low + BLOCK, other.n_features)
            theirs = other._cells.block(low, high, other._mass, other._rows)
            ours = tuple(np.zeros((n_classes, high - low)) for _ in theirs)
            for ours_k, theirs_k in zip(ours, theirs, strict=True):
                ours_k[classes] = theirs_k
            self._cells.absorb(low, high, self._mass, ours, mass)  # type: ignore[arg-type]
        self._absorb_unseen(other.n_features, mass, zeros=isinstance(other._cells, SparseMoments))

    def _absorb_unseen(self, low: int, mass: FloatArray, *, zeros: bool) -> None:
        """Merge features from ``low`` on that the other never saw: 0 if it was sparse, missing if dense."""
        cells = self._cells
        if cells is None or low == cells.n_features or (zeros and isinstance(cells, SparseMoments)):
            return
        nothing = np.zeros((len(mass), cells.n_features - low))
        weight = nothing + mass[:, None] if zeros else nothing
        cells.absorb(low, cells.n_features, self._mass, (weight, nothing, nothing), mass)

    def _scale(self, factor: float) -> None:
        super()._scale(factor)
        if self._cells is not None:
            self._cells.scale(factor)

    def merge(self, other: Self) -> None:
        """Merge another summary, as if its rows had been added after these."""
        check_alike(self, other, "moments")
        if other._cells is None:
            return
        if other is self:
            self.merge(self.copy())
            return
        if self._cells is None:
            self.__dict__.update(vars(other.copy()))
            return
        codes, new = self._precede(other)
        n_features = max(self.n_features, other.n_features)
        self._make_room(len(self._labels) + len(new), n_features, sparse=False)
        mass = np.zeros(len(self._mass))
        mass[codes] = other._mass
        same_kind = isinstance(self._cells, SparseMoments) and isinstance(other._cells, SparseMoments)
        if same_kind and other.n_features == n_features:
            self._cells.merge(other._cells, codes)  # type: ignore[union-attr,arg-type]
        else:
            self._absorb(other, codes, mass)
        self._add_totals(other, codes)
        self._labels.add(new)

    def _consistent(self) -> Iterator[str]:
        if (self._cells is None) is not (len(self._labels) == 0):
            yield "there are labels without moments, or moments without labels"

    def forget(self, columns: IntArray) -> None:
        """Treat all rows so far as missing (NaN) for some features."""
        columns = checked_columns(columns, self.n_features)
        if self._cells is not None and len(columns):
            self._cells.forget(columns, self._mass)

    def reindexed(self, columns: IntArray, n_features: int) -> Self:
        """Return a copy with feature i at ``columns[i]``; the others are missing (dense) or 0 (sparse)."""
        columns = checked_places(columns, self.n_features, n_features)
        twin: Self = self.copy()
        if self._cells is not None:
            twin._cells = self._cells.reindexed(columns, n_features, self._mass)
        return twin
