"""Confirmed p-values of correlations: the t test, held against a second test where it cannot be trusted."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.special import betainc, gammaln, ndtr, ndtri

from streamsieve._kernels import confirmation as kernel
from streamsieve.dependence.blocks import column_slices
from streamsieve.independence.table_p_values import fisher
from streamsieve.protocols import BoolArray, FloatArray, IntArray, Matrix

#: Relative error of a p-value that is tolerated, as the first terms of its expansion estimate it.
TOLERANCE = 0.1
#: The same for the second test, which replaces the first where it is worse.
SCORES_TOLERANCE = 0.25
#: Normal quantile beyond which no more digits of a p-value matter: 1e-15.
FAR = 8.0
#: Fewest rows expected in a cell of a 2 x 2 table for the t test.
LEAST_EXPECTED = 5
#: Rows of a dense block that are looked at first for columns of two values.
FIRST_ROWS = 16


class Confirmation:
    """What confirms p-values against one target: its moments, classes and normal scores.

    Under independence all arrangements of the target are equally probable.  Over them, the correlation with a
    column is normal up to a skewness of ``g_x g_y / sqrt(n)`` and an excess kurtosis of ``k_x k_y / n``,
    with the skewness g and excess kurtosis k of column and target.  At the normal quantile z, one tail
    probability becomes larger by the factor ``exp(a)`` and the other smaller, where a is the skewness times
    ``z^3 / 6``, so that a two-sided p-value changes by ``a^2 / 2``; and both become larger by the kurtosis
    times ``z^4 / 24``.  Where the sum exceeds the tolerance, the p-value becomes the maximum of that of the
    t test and

    1. for a numeric target, that of the column and the normal scores of the target;
    2. if it is still in doubt, and for classes, that of the normal scores of the column;
    3. if ties leave it in doubt, Hoeffding's bound for draws without replacement, of the scores of each
       class; the smallest one times the number of classes.  A numeric target is split at its median.

    A table of two classes and two values has Fisher's exact p-value where few rows are expected in a cell.

    Parameters
    ----------
    basis : orthonormal contrasts of the target, one row each
    labels : codes of more than two classes; else empty
    """

    def __init__(self, basis: FloatArray, labels: IntArray) -> None:
        self.n, self._contrasts = basis.shape
        self._basis, self._y = basis, np.ascontiguousarray(basis[:, 0])
        codes = labels if len(labels) else np.unique(self._y, return_inverse=True)[1]
        counts = np.bincount(codes)
        #: Whether there are two classes, or two numbers.
        self.two = len(counts) == 2
        self._numeric = not self.two and not len(labels)
        if self._numeric:  # the classes of the last resort
            above = self._y > np.median(self._y)
            codes = (above if above.any() else self._y >= np.median(self._y)).astype(np.int64)
        self._codes, self._counts = codes.astype(np.int64), np.bincount(codes).astype(np.int64)
        #: P-value of a perfect correlation: one arrangement of the target out of all.
        self.least = float(np.exp(np.sum(gammaln(counts + 1.0)) - gammaln(self.n + 1.0)))
        if self._numeric:
            self._moments = _moments(self._y)
        else:
            q = self._counts / self.n
            spread = q * (1 - q)
            self._moments = (
                float(np.max(np.abs(1 - 2 * q) / np.sqrt(spread))),
                float(np.min(1 / spread - 6)),
                float(np.max(1 / spread - 6)),
            )

    @cached_property
    def _table(self) -> FloatArray:
        """Normal scores of ranks 0, 1/2, 1, ..."""
        table: FloatArray = ndtri(np.arange(2.0 * self.n + 1) / 2 / (self.n + 1))
        return table

    @cached_property
    def _scores(self) -> FloatArray:
        """Normal scores of a numeric target, centered and of unit length."""
        _, codes, counts = np.unique(self._y, return_inverse=True, return_counts=True)
        last = np.cumsum(counts)
        scores = self._table[2 * last - counts + 1][codes]  # twice the mean rank of each value
        scores -= scores.mean()
        unit: FloatArray = scores / np.sqrt(scores @ scores)
        return unit

    def _tables(self, X: Matrix, chosen: IntArray) -> IntArray:
        """Return the 2 x 2 tables of columns of two values, 0 for others."""
        tables, at = np.zeros((2, len(chosen)), np.int64), np.arange(len(chosen))
        if not sp.issparse(X):  # most others show a third value in the first rows
            first = X[:FIRST_ROWS, chosen]
            at = np.flatnonzero(np.all((first == first.min(axis=0)) | (first == first.max(axis=0)), axis=0))
        found = np.zeros((2, len(at)), np.int64)
        kernel.two_by_two(*column_slices(X, chosen[at]), sp.issparse(X), self._codes == 1, found)
        tables[:, at] = found
        return tables

    def p_values(
        self, X: Matrix, chosen: IntArray, columns: tuple[FloatArray, FloatArray], p_value: FloatArray,
        *, exact: bool,
    ) -> FloatArray:  # fmt: skip
        """Return the confirmed p-values of some columns of a block.

        Parameters
        ----------
        X : the block
        chosen : positions of the columns, which are not constant
        columns : their means and norms
        p_value : their p-values by the t or F test
        exact : whether every 2 x 2 table has Fisher's exact p-value, not only those with few rows in a cell
        """
        p_value, rest = p_value.copy(), np.arange(len(chosen))
        if self.two:
            ones, both = self._tables(X, chosen)
            expected = np.minimum(ones, self.n - ones) * float(self._counts.min()) / self.n
            small = np.flatnonzero((ones > 0) & (exact | (expected < LEAST_EXPECTED)))
            p_value[small] = fisher(self.n, int(self._counts[1]), ones[small], both[small])
            rest = np.flatnonzero(ones == 0)
        rest = rest[p_value[rest] <= self._sure]
        if not len(rest):
            return p_value
        y = self._scores if self._numeric else self._y
        found = np.empty((3, len(rest)))
        slices = column_slices(X, chosen[rest])
        kernel.moments(*slices, sp.issparse(X), *(each[rest] for each in columns), y, found)
        doubtful = _doubtful(p_value[rest], found, self._moments, self.n, TOLERANCE)
        if self._numeric:
            second = np.maximum(p_value[rest], self._tested(found[2]))
            p_value[rest] = np.where(doubtful, second, p_value[rest])
            moments = _moments(y)
            doubtful &= _doubtful(p_value[rest], found, moments, self.n, SCORES_TOLERANCE)
        rest = rest[doubtful]
        if len(rest):
            p_value[rest] = np.maximum(p_value[rest], self._scored(X, chosen[rest], p_value[rest]))
        return p_value

    @cached_property
    def _sure(self) -> float:
        """P-value above which no column leaves a doubt; balanced classes have a small one."""
        # no column has a larger skewness than the root of n, nor a kurtosis beyond n or below -2
        extremes = np.array([[self.n**0.5, self.n], [self.n**0.5, -2.0]])
        z = np.linspace(0.0, FAR, 801)
        doubtful = [_doubtful(2 * ndtr(-z), each, self._moments, self.n, TOLERANCE) for each in extremes]
        first = int(np.argmax(np.append(np.any(doubtful, axis=0), True)))
        return float(2 * ndtr(-z[max(first - 1, 0)])) if first < len(z) else 0.0

    def _scored(self, X: Matrix, chosen: IntArray, p_value: FloatArray) -> FloatArray:
        """Return p-values confirmed by the normal scores of columns and, where ties leave doubt, bounds."""
        found, basis = np.empty((3, len(chosen))), self._scores[:, None] if self._numeric else self._basis
        slices = (*column_slices(X, chosen), sp.issparse(X), self._table)
        kernel.scored(*slices, np.ascontiguousarray(basis), found)
        p_value = np.maximum(p_value, self._tested(found[2]))
        moments = _moments(self._scores) if self._numeric else self._moments
        tied = np.flatnonzero(_doubtful(p_value, found, moments, self.n, SCORES_TOLERANCE))
        if len(tied):
            bounds = np.empty((len(tied), len(self._counts)))
            slices = (*column_slices(X, chosen[tied]), sp.issparse(X), self._table)
            kernel.bounds(*slices, self._codes, self._counts, bounds)
            tests = 1 if len(self._counts) == 2 else len(self._counts)
            p_value[tied] = np.maximum(p_value[tied], np.minimum(1.0, tests * bounds.min(axis=1)))
        return p_value

    def _tested(self, r: FloatArray) -> FloatArray:
        """Return p-values of correlations (ratios) with normal scores."""
        size, freedom = np.minimum(np.abs(r), 1.0), self.n - self._contrasts - 1
        p_value: FloatArray = betainc(freedom / 2, self._contrasts / 2, (1 - size) * (1 + size))
        return p_value


def _moments(y: FloatArray) -> tuple[float, float, float]:
    """Return the absolute skewness of numbers, and their excess kurtosis as the least and the largest."""
    z = (y - y.mean()) / y.std()
    kurtosis = float(np.mean(z**4) - 3)
    return float(np.abs(np.mean(z**3))), kurtosis, kurtosis


def _doubtful(
    p_value: FloatArray, found: FloatArray, target: tuple[float, float, float], n: int, tolerance: float
) -> BoolArray:
    """Return where skewness and kurtosis of columns and target change p-values too much."""
    z = np.minimum(-ndtri(np.maximum(p_value, 1e-300) / 2), FAR)
    skewness = np.abs(found[0]) * target[0] / np.sqrt(n)
    if tolerance == TOLERANCE:
        kurtosis = np.maximum(np.maximum(found[1] * target[1], found[1] * target[2]), 0.0) / n
    else:  # light tails on both sides matter over few rows only, and normal scores are enough for them
        kurtosis = np.maximum(found[1], 0.0) * max(target[2], 0.0) / n
    doubtful: BoolArray = (skewness * z**3 / 6) ** 2 / 2 + kurtosis * z**4 / 24 > tolerance
    return doubtful
