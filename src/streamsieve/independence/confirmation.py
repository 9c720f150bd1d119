"""Confirmed p-values of correlations: the t test, checked by a second test where it is unreliable."""

from __future__ import annotations

from collections import deque
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import betainc, gammaln, ndtr, ndtri

from streamsieve._kernels import confirmation as kernel
from streamsieve.dependence.blocks import DENSE_VALUES, CenteredColumns, Doubt, row_by_row
from streamsieve.independence.discreteness import two_by_two
from streamsieve.independence.permuted_targets import PermutedTargets
from streamsieve.independence.table_p_values import fisher
from streamsieve.lazy_p_values import PValues, places
from streamsieve.protocols import BoolArray, FloatArray, IntArray, Matrix

#: Relative error of a p-value that is tolerated, as the first terms of its expansion estimate it.
TOLERANCE = 0.1
#: The same for the second test, which replaces the first where it is worse.
SCORES_TOLERANCE = 0.25
#: Normal quantile beyond which no more digits of a p-value matter: 1e-15.
LARGEST_QUANTILE = 8.0
#: Steps that bring the root of a convex cubic to all digits from at most 1.3 times its value.
NEWTON_STEPS = 6
#: Values of columns that may wait for their p-values to be read: 8 MB.
MOST_WAITING = 2**20


#: See `_kernels.confirmation.doubtful`.
Limits = tuple[BoolArray, tuple[float, float, float, float, float], tuple[float, float, float, float]]


class Confirmation:
    """Confirmation of p-values against one target, by its moments, classes and normal scores.

    Under independence all arrangements of the target are equally probable.  Over them, the correlation with a
    column is normal up to a skewness of ``g_x g_y / sqrt(n)`` and an excess kurtosis of ``k_x k_y / n``,
    with the skewness g and excess kurtosis k of column and target.  At the normal quantile z, one tail
    probability becomes larger by the factor ``exp(a)`` and the other smaller, where a is the skewness times
    ``z^3 / 6``, so that a two-sided p-value changes by ``a^2 / 2``; and both become larger by the kurtosis
    times ``z^4 / 24``.  The t test is trusted down to the level at which the sum reaches the tolerance.  A
    smaller p-value becomes the maximum of that of the t test and

    1. for a numeric target, that of the column and the normal scores of the target;
    2. if it is still in doubt, and for classes, that of the normal scores of the column;
    3. if ties leave it in doubt, Hoeffding's bound for draws without replacement, of the scores of each
       class; the smallest one times the number of classes.  A numeric target is split at its median;

    but no more than the trusted level: at that level and above, t decides.  A decision at a fixed level
    therefore needs a second test only of columns that are in doubt at this level.

    With few rows these steps lose power, and the p-value is that of t over permutations of the target instead
    (`PermutedTargets`), again no more than the trusted level.  Permutations resolve no p-values below a
    limit, nor how far the most extreme order stands out: there the steps decide, and if they give a tenth of
    the limit no permutation is drawn.

    A table of two classes and two values has Fisher's exact p-value where few rows are expected in a cell.

    Parameters
    ----------
    basis : orthonormal contrasts of the target, one row each
    labels : codes of more than two classes; else empty
    given : number of columns in a model of which target and columns are residuals; None for no model.
        Residuals are numbers: they have no table, and a degree of freedom less for each column of the model.
    """

    def __init__(self, basis: FloatArray, labels: IntArray, given: int | None = None) -> None:
        self.n, self._contrasts = basis.shape
        self._freedom = self.n - self._contrasts - 1 - (given or 0)
        self._basis, self._y = basis, np.ascontiguousarray(basis[:, 0])
        #: P-values not read yet, oldest first, with the columns that they hold.
        self._waiting: deque[tuple[ConfirmedOnAccess, int]] = deque()
        #: Number of columns that these held when they were added.
        self._held = 0
        low, high = self._y.min(), self._y.max()
        second = self._y == high
        if len(labels):
            codes, counts = labels, np.bincount(labels)
        elif np.all(second | (self._y == low)):
            codes, counts = second.astype(np.int64), np.bincount(second)
        else:
            _, codes, counts = np.unique(self._y, return_inverse=True, return_counts=True)
        #: Whether there are two classes, or two numbers.
        self.two = len(counts) == 2 and given is None
        self._numeric = not self.two and not len(labels)
        self._given = given
        #: Distinct value of each row, and the number of rows with each.
        self._codes, self._counts = codes.astype(np.int64), counts.astype(np.int64)
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
    def _classes(self) -> tuple[IntArray, IntArray]:
        """Classes for Hoeffding's bound, and their sizes; a numeric target is split at its median."""
        if not self._numeric:
            return self._codes, self._counts
        above = self._y > np.median(self._y)
        codes = (above if above.any() else self._y >= np.median(self._y)).astype(np.int64)
        return codes, np.bincount(codes)

    @cached_property
    def _permuted(self) -> PermutedTargets:
        values = self._basis[np.unique(self._codes, return_index=True)[1]]
        return PermutedTargets(values, self._codes, 1 / max(self.least, 1e-300))

    @cached_property
    def _table(self) -> FloatArray:
        """Normal scores of ranks 0, 1/2, 1, ..."""
        table: FloatArray = ndtri(np.arange(2.0 * self.n + 1) / 2 / (self.n + 1))
        return table

    @cached_property
    def _scores(self) -> FloatArray:
        """Normal scores of a numeric target, centered and of unit length."""
        last = np.cumsum(self._counts)
        scores = self._table[2 * last - self._counts + 1][self._codes]  # twice the mean rank of each value
        scores -= scores.mean()
        unit: FloatArray = scores / np.sqrt(scores @ scores)
        return unit

    @cached_property
    def _scores_moments(self) -> tuple[float, float, float]:
        return _moments(self._scores)

    def _tables(self, columns: CenteredColumns, *, exact: bool) -> tuple[IntArray, IntArray, BoolArray]:
        """Return 2 x 2 tables, 0 for columns of more values, and which have Fisher's exact p-value."""
        ones, both = found = np.zeros((2, len(columns)), np.int64)
        kernel.two_by_two(*columns.slices, columns.sparse, self._second, found)
        expected = np.minimum(ones, self.n - ones) * float(self._counts.min()) / self.n
        return ones, both, (ones > 0) & (exact | (expected < kernel.LEAST_EXPECTED))

    def tables_of(self, X: Matrix, first: npt.NDArray[np.uint8] | None) -> tuple[IntArray, IntArray]:
        """Return the 2 x 2 tables of a block's columns and two classes; 0 for columns of more values."""
        return two_by_two(X, self._second, first)

    def fisher(self, ones: IntArray, both: IntArray) -> FloatArray:
        """Return Fisher's exact p-values of 2 x 2 tables."""
        return fisher(self.n, int(self._counts[1]), ones, both)

    def limits(self, level: float, least: float) -> Limits:
        """Return what `doubtful_at` must know of a level; t is trusted for every column below ``least``."""
        second = self._second if self.two else np.zeros(0, bool)
        square = min(-float(ndtri(level / 2)), LARGEST_QUANTILE) ** 2 if level < self.sure else 0.0
        # the bound of a normal quantile in `_kernels.column_products` is one for t, not for F
        freedom = self.n - 2.0 if self._contrasts == 1 else np.inf
        rarest = float(self._counts.min())
        return second, (rarest, square, least, freedom, LARGEST_QUANTILE**2), (*self._target_terms, TOLERANCE)

    def doubtful_at(
        self, limits: Limits, columns: CenteredColumns, size: FloatArray
    ) -> tuple[npt.NDArray[np.uint8], IntArray]:
        """Return 1 for columns whose decision at a level may not be that of the t or F test.

        And 2 for those of which only the p-value may be another.  ``size`` has their correlations (ratios).
        Also return the 2 x 2 tables that have Fisher's exact p-value; 0 for other columns.
        """
        found, tables = np.empty(len(columns), np.uint8), np.empty((2, len(columns)), np.int64)
        kernel.doubtful(
            *columns.slices, columns.sparse, columns.mean, columns.norm, self.n, size, *limits, found, tables
        )
        return found, tables

    @cached_property
    def _second(self) -> BoolArray:
        second: BoolArray = self._codes == 1
        return second

    @cached_property
    def _target_terms(self) -> tuple[float, float, float]:
        """Squared skewness of the target over 72 n, and its excess kurtoses over 24 n."""
        skewness, lightest, heaviest = self._moments
        return skewness**2 / (72 * self.n), lightest / (24 * self.n), heaviest / (24 * self.n)

    @cached_property
    def _extremes(self) -> FloatArray:
        """The largest skewness, and the largest and smallest excess kurtosis, that n numbers can have."""
        return np.array([[self.n**0.5, self.n**0.5], [self.n, -2.0]])

    def _column_moments(self, columns: CenteredColumns) -> FloatArray:
        """Return skewness and kurtosis and, for a numeric target, the correlation with its normal scores."""
        found = np.empty((3 if self._numeric else 2, len(columns)))
        y = self._scores if self._numeric else self._y
        kernel.moments(*columns.slices, columns.sparse, columns.mean, columns.norm, y, found)
        return found

    def may_change(
        self, X: Matrix, chosen: IntArray, mean: FloatArray, norm: FloatArray, p_value: FloatArray
    ) -> BoolArray:
        """Return which p-values of chosen columns of a block may change; none of the columns has two values.

        ``mean`` and ``norm`` are those of all columns.  Of a block that is stored row by row, moments are
        computed in place; few columns have to be gathered then.
        """
        doubtful: BoolArray = p_value < self.sure
        if sp.issparse(X) or X.strides[1] != X.itemsize or X.dtype != np.float64:
            return doubtful
        some, found = chosen[doubtful], np.empty((2, int(doubtful.sum())))
        flat, width = row_by_row(X)
        kernel.moments_of_rows(flat, width, self.n, some, mean, norm, found)
        # sums in another order than those of gathered columns
        doubtful[doubtful] = p_value[doubtful] < _trusted(found, self._moments, self.n, TOLERANCE) * (
            1 + 1e-6
        )
        return doubtful

    def p_values(self, columns: CenteredColumns, p_value: FloatArray, *, exact: bool) -> FloatArray:
        """Return the confirmed p-values of some columns.

        Parameters
        ----------
        columns : the columns, none of them constant
        p_value : their p-values by the t or F test
        exact : whether every 2 x 2 table has Fisher's exact p-value, not only those with few rows in a cell
        """
        p_value, rest = p_value.copy(), np.arange(len(columns))
        if self.two:
            ones, both, small = self._tables(columns, exact=exact)
            p_value[small] = self.fisher(ones[small], both[small])
            rest = np.flatnonzero(ones == 0)
        rest = rest[p_value[rest] < self.sure]
        if not len(rest):
            return p_value
        found = self._column_moments(columns.at(rest))
        trusted = _trusted(found, self._moments, self.n, TOLERANCE)
        doubtful = p_value[rest] < trusted
        rest, found, trusted = rest[doubtful], found[:, doubtful], trusted[doubtful]
        p, again = p_value[rest], np.arange(len(rest))
        if self._numeric:
            p = np.maximum(p, self._tested(found[2]))
            again = np.flatnonzero(p < _trusted(found, self._scores_moments, self.n, SCORES_TOLERANCE))
        if len(again):
            p[again] = np.maximum(p[again], self._scored(columns.at(rest[again]), p[again]))
        p = np.minimum(p, trusted)
        if self._given is None:  # residuals are not exchangeable
            self._permute(columns, rest, p, trusted)
        p_value[rest] = p
        return p_value

    def _permute(self, columns: CenteredColumns, rest: IntArray, p: FloatArray, trusted: FloatArray) -> None:
        """Replace p-values of some columns by those of permutations, where these resolve them."""
        least = self._permuted.resolution
        worth = np.flatnonzero((p > least / 10) & (trusted > least))
        step = max(1, DENSE_VALUES // self.n)
        for low in range(0, len(worth), step):
            some = worth[low : low + step]
            drawn, known = self._permuted.p_values(columns.at(rest[some]).standardized(self.n))
            p[some] = np.where(known, np.minimum(drawn, trusted[some]), np.minimum(p[some], drawn))

    @cached_property
    def sure(self) -> float:
        """Level down to which t is trusted for every column; small for balanced classes."""
        return float(_trusted(self._extremes, self._moments, self.n, TOLERANCE).max())

    def doubt(self, least: float) -> Doubt:
        """Return the parameters that mark doubtful columns, from a squared correlation ``least`` on."""
        # sums in another order than those of gathered columns
        return least, *self._target_terms, TOLERANCE * (1 - 1e-6)

    def wait(self, later: ConfirmedOnAccess) -> None:
        """Let p-values wait until they are read, as long as all that wait hold few columns."""
        self._waiting.append((later, len(later)))
        self._held += len(later)
        while self._held * self.n > MOST_WAITING:
            oldest, held = self._waiting.popleft()
            oldest.resolve()
            self._held -= held

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_waiting": deque(), "_held": 0}

    def _scored(self, columns: CenteredColumns, p_value: FloatArray) -> FloatArray:
        """Return p-values confirmed by the normal scores of columns and, where ties leave doubt, bounds."""
        found, basis = np.empty((3, len(columns))), self._scores[:, None] if self._numeric else self._basis
        kernel.scored(
            *columns.slices, columns.sparse, columns.orders(), self._table, np.ascontiguousarray(basis), found
        )
        p_value = np.maximum(p_value, self._tested(found[2]))
        moments = self._scores_moments if self._numeric else self._moments
        tied = np.flatnonzero(p_value < _trusted(found, moments, self.n, SCORES_TOLERANCE))
        if len(tied):
            codes, counts = self._classes
            bounds, some = np.empty((len(tied), len(counts))), columns.at(tied)
            kernel.bounds(*some.slices, some.sparse, some.orders(), self._table, codes, counts, bounds)
            tests = 1 if len(counts) == 2 else len(counts)
            p_value[tied] = np.maximum(p_value[tied], np.minimum(1.0, tests * bounds.min(axis=1)))
        return p_value

    def _tested(self, r: FloatArray) -> FloatArray:
        """Return p-values of correlations (ratios) with normal scores."""
        size = np.minimum(np.abs(r), 1.0)
        p_value: FloatArray = betainc(self._freedom / 2, self._contrasts / 2, (1 - size) * (1 + size))
        return p_value


class ConfirmedOnAccess(PValues):
    """P-values of columns that are relevant by the t or F test, confirmed when they are read.

    Parameters
    ----------
    confirmation : the method of confirmation
    columns : the columns
    before : their p-values by the t or F test
    """

    __slots__ = ("_before", "_columns", "_confirmation", "_known", "_open")

    def __init__(self, confirmation: Confirmation, columns: CenteredColumns, before: PValues) -> None:
        self._confirmation, self._columns, self._before = confirmation, columns, before
        #: Confirmed p-values, NaN before that.
        self._known = np.full(len(columns), np.nan)
        #: Positions of those whose values ``_columns`` holds.
        self._open = np.arange(len(columns))

    def __len__(self) -> int:
        return len(self._open)

    def __getitem__(self, part: Any) -> FloatArray:
        self.resolve()
        p_values: FloatArray = self._known[part]
        return p_values

    def __reduce__(self) -> tuple[Any, ...]:
        return np.array, (self[:],)

    def resolve(self) -> None:
        """Confirm them all, and hold no columns any longer."""
        if len(self._open):
            before = self._before[self._open]
            self._known[self._open] = self._confirmation.p_values(self._columns, before, exact=False)
            self._hold(np.arange(0))

    def release(self, needed: IntArray) -> None:
        """Hold no values of columns but those at these positions."""
        self._hold(places(self._open, needed))
        if len(self._open):
            self._confirmation.wait(self)

    def _hold(self, left: IntArray) -> None:
        self._columns, self._open = self._columns.at(left), self._open[left]


def _moments(y: FloatArray) -> tuple[float, float, float]:
    """Return the absolute skewness of numbers, and their excess kurtosis as the least and the largest."""
    z = (y - y.mean()) / y.std()
    kurtosis = float(np.mean(z**4) - 3)
    return float(np.abs(np.mean(z**3))), kurtosis, kurtosis


def _terms(
    found: FloatArray, target: tuple[float, float, float], n: int, *, light: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients of z^6 and z^4 in the relative change of p-values."""
    if light:
        kurtosis = np.maximum(np.maximum(found[1] * target[1], found[1] * target[2]), 0.0)
    else:  # light tails on both sides matter over few rows only, and normal scores are enough for them
        kurtosis = np.maximum(found[1], 0.0) * max(target[2], 0.0)
    return (found[0] * target[0]) ** 2 / (72 * n), kurtosis / (24 * n)


def _trusted(found: FloatArray, target: tuple[float, float, float], n: int, tolerance: float) -> FloatArray:
    """Return the levels down to which skewness and kurtosis of columns and target change p-values little.

    At the normal quantile z, the change is ``a z^6 + b z^4``, a cubic polynomial in z^2.
    """
    a, b = _terms(found, target, n, light=tolerance == TOLERANCE)
    square = np.empty(len(a))
    kernel.trusted_squares(a, b, tolerance, LARGEST_QUANTILE**2, NEWTON_STEPS, square)
    levels: FloatArray = np.where(square < LARGEST_QUANTILE**2, 2 * ndtr(-np.sqrt(square)), 0.0)
    return levels
