"""Permutation p-values of rank bases, where the F test is not reliable ("arrangements" are permutations)."""

from __future__ import annotations

import math
import zlib
from collections import OrderedDict
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtri

from streamsieve._kernels import arrangements as kernel
from streamsieve._kernels import rank_basis
from streamsieve._kernels.confirmation import bounds_of_functions
from streamsieve._kernels.rank_basis import DEGREE
from streamsieve.independence.discreteness import few_values
from streamsieve.independence.table_p_values import MOST_DRAWS, MOST_ROWS, fisher
from streamsieve.protocols import FloatArray, IntArray

#: Relative error of a p-value that is tolerated, as the first terms of its expansion estimate it.
TOLERANCE = 0.1
#: Relative error up to which these terms correct p-values that are too small for random arrangements.
CREDIBLE = 1.0
#: Rows below which the terms mean little, because the statistic has few values, unless the target has many.
FEW_ROWS = 50
#: Larger p-values are not confirmed, as no decision depends on them.
LARGE = 0.25
#: Number of permutations drawn at first; it is quadrupled while too few of them are as extreme.
FIRST_DRAWS, MORE = 1000, 4
#: Number of permutations as extreme that ends the sampling: many, because columns without ties share their
#: permutations, and so the errors of their p-values.
STOP = 50
#: Number of permutations as extreme below which even the maximum number drawn is too small.
LEAST_EXTREME = 5
#: Numbers that are drawn at a time: 8 MB.
NUMBERS = 2**20
#: Patterns of ties whose arrangements are remembered: 6 MB.
KNOWN_PATTERNS = 8


class Shape(NamedTuple):
    """Skewness and excess kurtosis of orthonormal columns, as sums over all directions.

    Attributes
    ----------
    skewness : sum of squares of all third moments (Mardia, Biometrika 57, 1970)
    traces : sum of squares of the third moments summed over pairs of equal columns
    kurtosis : mean of the squared squared lengths of rows, minus that of normal columns
    """

    skewness: FloatArray
    traces: FloatArray
    kurtosis: FloatArray


def shape_of(basis: FloatArray, rank: IntArray) -> Shape:
    """Return the shape of orthonormal columns (..., columns, rows), of which ``rank`` are not 0."""
    n = basis.shape[-1]
    length = n * np.einsum("...ki,...ki->...i", basis, basis)
    third = np.sqrt(n) * np.einsum("...ai,...bi,...ci->...abc", basis, basis, basis, optimize=True)
    traces = np.einsum("...ki,...i->...k", basis, length) / np.sqrt(n)
    kurtosis = np.mean(length**2, axis=-1) - rank * (rank + 2)
    return Shape(np.sum(third**2, axis=(-3, -2, -1)), np.sum(traces**2, axis=-1), kurtosis)


class Arrangements:
    """Confirms p-values of rank bases against one target.

    Under independence all permutations of the target are equally probable.  Over them the squared loads of
    basis and target have a chi-squared limit, which Rao's F improves.  The next terms of the expansion are
    due to third and fourth moments on both sides.  At the quantile w of d degrees of freedom, averaged over
    all directions, they change a p-value by the factor 1 + c, c = w^3 (6 s + 9 t) / (72 n d (d + 2) (d + 4))
    + w^2 3 k / (24 n d (d + 2)), where s, t and k are products of both sides' `Shape`.  A p-value with c
    above the tolerance becomes the larger of itself and that of random permutations, with sequential stopping
    (Besag and Clifford, Biometrika 78, 1991).  If 100,000 permutations are too few, it is multiplied by
    exp(c) if c is at most 1; else it is Hoeffding's bound for one function and one class,
    times the number of these.  With few rows and classes all p-values below 0.25 are confirmed.

    Columns without ties share their permutations, whatever their values.  A column of two values and a target
    of two have Fisher's exact test, because the statistic has few values over any number of rows.

    Parameters
    ----------
    target : orthonormal contrasts of the target, a column each
    """

    def __init__(self, target: FloatArray) -> None:
        self._target, (self.n, self._b) = target, target.shape
        self._drawn: OrderedDict[bytes, FloatArray] = OrderedDict()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_drawn": OrderedDict()}

    @cached_property
    def _values(self) -> tuple[FloatArray, IntArray, IntArray]:
        """The distinct values of the target, the value of each row, and their numbers of rows."""
        rows = np.round(self._target, 12)  # those of a class differ by rounding
        _, first, of_row, counts = np.unique(
            rows, axis=0 if self._b > 1 else None, return_index=True, return_inverse=True, return_counts=True
        )
        return self._target[first], of_row.reshape(-1), counts

    @cached_property
    def _shape(self) -> Shape:
        """The shape of the target; of classes by one row of each, because there may be many."""
        if self._b == 1:
            return shape_of(self._target.T, np.asarray(1))
        values, _, counts = self._values
        share, products = counts / self.n, self.n * values @ values.T
        length = np.diag(products)
        traces = (share * length) @ products @ (share * length)
        kurtosis = share @ length**2 - self._b * (self._b + 2)
        return Shape(share @ products**3 @ share, traces, kurtosis)

    @property
    def _two(self) -> bool:
        """Whether the target has two values."""
        return self._b == 1 and len(self._values[0]) == 2

    def p_values(
        self, columns: FloatArray, bases: FloatArray, rank: IntArray, left: FloatArray, p_value: FloatArray
    ) -> FloatArray:
        """Return the confirmed p-values of some columns.

        Parameters
        ----------
        columns, bases, rank : the columns, one per row, their bases, and the number of functions of each
        left : Wilks' lambda of basis and target
        p_value : their p-values by the F test
        """
        p_value = p_value.copy()
        small = np.flatnonzero((p_value <= LARGE) & (rank > 0))
        if len(small) and self._two:
            tables, small = small[rank[small] == 1], small[rank[small] > 1]
            p_value[tables] = self._fisher(bases[tables, 0])
        change = self._change(bases[small], rank[small], p_value[small])
        doubtful = (change > TOLERANCE) | self._few
        for j, c in zip(small[doubtful].tolist(), change[doubtful].tolist(), strict=True):
            p, (drawn, extreme) = float(p_value[j]), self._drawn_p_value(columns[j], float(left[j]))
            if extreme < LEAST_EXTREME and c <= CREDIBLE and not self._few:
                drawn = min(drawn, p * math.exp(c))
            elif extreme < LEAST_EXTREME:  # twice the smaller of two p-values is one
                drawn = 2 * min(drawn, self._bound(bases[j, : rank[j]]))
            p_value[j] = max(p, drawn)
        return p_value

    @cached_property
    def _few(self) -> bool:
        """Whether there are few rows, and few values of the target."""
        return self.n < FEW_ROWS and len(self._values[0]) <= few_values(self.n)

    def _change(self, bases: FloatArray, rank: IntArray, p_value: FloatArray) -> FloatArray:
        """Return the relative change of p-values by third and fourth moments."""
        mine, other, d = shape_of(bases, rank), self._shape, rank * float(self._b)
        w = chdtri(d, np.maximum(p_value, 1e-300))
        third = (6 * mine.skewness * other.skewness + 9 * mine.traces * other.traces) / (72 * (d + 4))
        fourth = 3 * np.maximum(mine.kurtosis * other.kurtosis, 0.0) / 24
        change: FloatArray = (third * w + fourth) * w * w / (self.n * d * (d + 2))
        return change

    def _fisher(self, functions: FloatArray) -> FloatArray:
        """Return Fisher's exact p-values of columns of two values, by their only function."""
        second = self._values[1] == 1
        rows = functions > 0
        return fisher(self.n, int(second.sum()), rows.sum(axis=1), (rows & second).sum(axis=1))

    def _drawn_p_value(self, column: FloatArray, left: float) -> tuple[float, int]:
        """Return the p-value of Wilks' lambda over random arrangements, and how many are as extreme."""
        ties = np.unique(column, return_counts=True)[1]
        most, draws = max(1000, min(MOST_DRAWS, MOST_ROWS // self._listed)), FIRST_DRAWS
        while True:
            drawn = self._draws(ties, min(draws, most))
            extreme = np.flatnonzero(drawn <= left * (1 + 1e-9) + 1e-12)
            if len(extreme) >= STOP:
                return STOP / float(extreme[STOP - 1] + 1), STOP
            if draws >= most:
                return (1 + len(extreme)) / (1 + len(drawn)), len(extreme)
            draws *= MORE

    def _bound(self, functions: FloatArray) -> float:
        """Return a bound of the p-value: that of one function and one class, times the number of these.

        Hoeffding's bound for draws without replacement.  A numeric target is split at its median.
        """
        values, codes, counts = self._values
        if self._b == 1 and len(values) > 2:
            codes = (codes > np.median(codes)).astype(np.int64)
            counts = np.bincount(codes, minlength=2)
        bounds = np.empty((len(functions), len(counts)))
        bounds_of_functions(np.sqrt(self.n) * functions, codes, counts, bounds)
        return float(bounds.min()) * len(functions) * (len(counts) if len(counts) > 2 else 1)

    @cached_property
    def _listed(self) -> int:
        """Number of rows that an arrangement draws: all without the most frequent value of the target."""
        counts = self._values[2]
        return int(counts.sum() - counts.max())

    def _draws(self, ties: IntArray, draws: int) -> FloatArray:
        """Return Wilks' lambda of the first random arrangements for a column with these ties."""
        key = ties.tobytes()
        known = self._drawn.pop(key, np.zeros(0))
        if len(known) < draws:
            known = np.concatenate([known, self._draw(ties, len(known), draws)])
        self._drawn[key] = known
        if len(self._drawn) > KNOWN_PATTERNS:
            self._drawn.popitem(last=False)
        return known[:draws]

    def _draw(self, ties: IntArray, low: int, high: int) -> FloatArray:
        """Draw Wilks' lambda of arrangements ``low`` to ``high``; the seed are the ties."""
        bases, levels = np.empty((1, DEGREE, self.n)), np.repeat(np.arange(float(len(ties))), ties)
        rank_basis.rank_bases(levels[None], 0, 1, bases, np.empty(1, np.int64))
        values, _, counts = self._values
        last = int(np.argmax(counts))
        others = np.arange(len(counts)) != last
        basis, sizes, weights = bases[0].T.copy(), counts[others], values[others] - values[last]
        bits = np.random.PCG64(zlib.crc32(ties.tobytes()))
        bits.advance(low * self._listed)
        out, step = np.empty(high - low), max(1, NUMBERS // self._listed)
        for first in range(0, high - low, step):
            part = out[first : first + step]
            numbers = (bits.random_raw(len(part) * self._listed) >> 33).astype(np.int64)
            kernel.wilks(basis, sizes, weights, numbers.reshape(len(part), -1), part)
        return out
