"""P-values of contingency tables: chi-squared, permutation moments, Fisher's exact test, random tables.

What is tested is a chi-squared statistic with its degrees of freedom.  By "moments" both are those of the
gamma distribution that has the mean and the variance of Pearson's statistic over all permutations: scaled,
and not whole numbers.  Without degrees of freedom the p-value itself is given, and 1 is no test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from threading import Lock
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, chdtri, gammaln

from streamsieve._kernels import exact_tables as kernel
from streamsieve.protocols import BoolArray, FloatArray, IntArray

#: Expected count below which a 2 x 2 table has Fisher's p-value, and any other table must be confirmed.
FEW_FOR_FISHER, FEW_FOR_GAMMA = 5, 1
#: Share of the variance due to skewed margins up to which the gamma distribution nearly holds its level.
LITTLE_SKEW = 0.05
#: Rows of a level below which a single table is confirmed in any case, because X2 has few values; and rows
#: per class below which it is.  Likewise of a class, per level.  By the gamma distribution, five rows of a
#: class in five equally frequent levels have a size of .03 at .01, 16 rows in 20 levels one of .003 at .001
#: (``python -m studies.calibration.rare_levels``).
RARE_LEVEL, RARE_PER_CLASS = 16, 3
#: Maximum number of random tables, and the number as extreme as the observed one at which sampling stops.
MOST_DRAWS, STOP = 100_000, 10
#: Rows that are drawn for all of them together, a second or so, unless these are fewer than 1,000 tables.
MOST_ROWS = 300_000_000
#: Rows up to which random tables are remembered, and for how many margins: 8 MB.
FEW_ROWS, KNOWN_MARGINS = 1_000, 256

#: Counts of the levels of one side of a table, sorted.
Counts = tuple[int, ...]
#: Tables whose moments are computed together; each has room for the largest of them.
STACKED = 256
#: Tables of two classes whose p-values are remembered: 8 MB.
KNOWN_TABLES = 2**20
#: Ranges of degrees of freedom in an octave, and the exponents of 2 at which they begin and end.
PER_OCTAVE, FIRST, LAST = 8, -4, 20


def is_rare(rows: IntArray | int, others: IntArray | int) -> BoolArray:
    """Whether a level has so few rows, for the number of classes, that its table must be confirmed."""
    return np.less(rows, np.maximum(RARE_LEVEL, np.multiply(RARE_PER_CLASS, others)))


def p_value(tested: FloatArray, freedom: FloatArray) -> FloatArray:
    """Return p-values of chi-squared statistics; without degrees of freedom they are given."""
    tested, freedom = np.asarray(tested, np.float64), np.asarray(freedom, np.float64)
    p: FloatArray = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1e-300), tested), tested)
    return p


def p_value_or_fisher(n: int, ones: int, tested: FloatArray, freedom: FloatArray) -> FloatArray:
    """Return the same; where the degrees are negative, those of Fisher's test, computed here.

    Then -freedom rows have the rarer level and ``tested`` of them are in the class of ``ones`` out of n rows.
    """
    p = p_value(tested, freedom)
    exact = np.atleast_1d(freedom < 0)
    if exact.any():
        corner, fewest = (np.atleast_1d(a)[exact].astype(np.int64) for a in (tested, -freedom))
        np.atleast_1d(p)[exact] = fisher(n, ones, fewest, corner)
    return p


def fisher(n: int, ones: int, rows: IntArray, corner: IntArray) -> FloatArray:
    """Return Fisher's p-values of 2 x 2 tables: ``corner`` of the ``rows`` of a level are in one class.

    The class has ``ones`` of all n rows.
    """
    found = np.empty(len(rows))
    if len(rows) == 0:  # nothing to compile the kernel for
        return found
    kernel.fisher(corner, rows, ones, n, log_factorial(n), _fisher_known(n, ones), found)
    return found


@lru_cache(maxsize=4)
def _fisher_known(n: int, ones: int) -> FloatArray:
    """Return the p-values of tables that were computed before, by rows of the level and corner; 0: unknown.

    There are many columns of two values, but few different tables.  Unused memory is not allocated.
    """
    return np.zeros((min(n + 1, KNOWN_TABLES // (ones + 1)), ones + 1))


@lru_cache(maxsize=4)
def log_factorial(n: int) -> FloatArray:
    """Return ln c! for c = 0, 1, ..., n."""
    table: FloatArray = gammaln(np.arange(n + 1.0) + 1.0)
    table.flags.writeable = False
    return table


@lru_cache(maxsize=16)
def gamma_bounds(alpha: float) -> FloatArray:
    """Bound the smallest significant ratio of a chi-squared statistic and its degrees of freedom.

    From below and above, for ranges of degrees of freedom; a table between the bounds needs its p-value.
    """
    octave, part = np.divmod(np.arange((LAST - FIRST) * PER_OCTAVE + 1), PER_OCTAVE)
    freedom = 2.0 ** (FIRST + octave) * (1.0 + part / PER_OCTAVE)
    ratio = chdtri(freedom, alpha) / freedom
    # within a range the ratio is monotone but for a flat peak
    both = np.minimum(ratio[:-1], ratio[1:]) * 0.99, np.maximum(ratio[:-1], ratio[1:]) * 1.01
    bounds: FloatArray = np.stack(both)
    bounds.flags.writeable = False
    return bounds


def is_significant(tested: FloatArray, freedom: FloatArray, alpha: float) -> BoolArray:
    """Whether chi-squared statistics have p-values of alpha at most; all have degrees of freedom."""
    low, high = gamma_bounds(alpha)
    fraction, octave = np.frexp(freedom)  # 1/2 <= fraction < 1
    at = PER_OCTAVE * (octave - 1 - FIRST) + (2 * PER_OCTAVE * fraction).astype(np.int64) - PER_OCTAVE
    inside, at = (at >= 0) & (at < len(low)), np.clip(at, 0, len(low) - 1)
    ratio = tested / freedom
    significant: BoolArray = ratio >= high[at]
    near = np.flatnonzero(~inside | (~significant & (ratio >= low[at])))
    significant[near] = chdtrc(freedom[near], tested[near]) <= alpha
    return significant


class Moments(NamedTuple):
    """Pearson's statistic of some tables, with its mean and variance over all permutations."""

    statistic: FloatArray
    mean: FloatArray
    variance: FloatArray
    #: The part of the variance that is due to skewed margins on both sides.
    joint: FloatArray


def moments(tables: IntArray) -> Moments:
    """Return the statistic and moments of each table.

    Zeros where permutations do not change it, and with fewer than four rows.  References: Haldane, Biometrika
    31, 1940; Dawson, Biometrika 41, 1954.
    """
    n = tables.sum(axis=(1, 2)).astype(np.float64)
    sides = tables.sum(axis=2), tables.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        (r, v1, w1, by_level), (c, v2, w2, by_class) = (_side(n, margins) for margins in sides)
        mean = n * (r - 1) * (c - 1) / (n - 1)
        joint = n / (n - 1) * n * w1 * w2
        variance = 2 * n / (n - 3) * (v1 - w1) * (v2 - w2) + joint
        statistic = n * (tables * by_level[:, :, None] * (tables * by_class[:, None, :])).sum(axis=(1, 2)) - n
        tested = (n >= 4) & (r > 1) & (c > 1) & (variance > 1e-10 * mean)
    statistic = np.maximum(statistic, 0.0)
    return Moments(*(np.where(tested, a, 0.0) for a in (statistic, mean, variance, joint)))


def _side(n: FloatArray, margins: IntArray) -> tuple[FloatArray, ...]:
    """Return the number of levels that occur, v and w of the formula, and 1 / count or 0."""
    inverse = np.where(margins > 0, 1.0 / margins, 0.0)
    k = (margins > 0).sum(axis=1).astype(np.float64)
    return k, (n - k) * (k - 1) / (n - 1), (n * inverse.sum(axis=1) - k * k) / (n - 2), inverse


def tables_of(x: IntArray, y: IntArray, strata: IntArray) -> list[IntArray]:
    """Count levels x and classes y in every stratum; return the tables without empty rows and columns."""
    levels, classes = int(x.max()) + 1, int(y.max()) + 1
    found = []
    for rows in np.split(np.argsort(strata, kind="stable"), np.cumsum(np.bincount(strata))[:-1]):
        counts = np.bincount(x[rows].astype(np.int64) * classes + y[rows], minlength=levels * classes)
        table = counts.reshape(levels, classes)
        found.append(table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0])
    return found


def confirmed(p: float, tables: Sequence[IntArray], draws: int, *, tail: bool = False) -> float:
    """Return the larger of a p-value by moments and one that is valid at every level, for sparse tables.

    The valid one is, if it is small enough, twice the Bonferroni p-value of Fisher's exact tests of one level
    and one class against all others; else that of up to ``draws`` random tables with the same margins, by
    sequential stopping (Besag and Clifford, Biometrika 78, 1991).  Unless a single table has a rare level or
    class, it is p if no expected count is below 1 or, if the far ``tail`` does not matter, if the margins are
    not skewed on both sides.
    """
    parts = [moments(_stacked(tables[low : low + STACKED])) for low in range(0, len(tables), STACKED)]
    found = Moments(*map(np.concatenate, zip(*parts, strict=True)))
    used = [table for table, variance in zip(tables, found.variance.tolist(), strict=True) if variance > 0]
    observed, _, variance, joint = (math.fsum(part.tolist()) for part in found)
    margins = [(table.sum(axis=0), table.sum(axis=1)) for table in used]
    rare = len(used) == 1 and any(is_rare(a.min(), len(b)) for a, b in permutations(margins[0]))
    dense = all(a.min() * b.min() >= FEW_FOR_GAMMA * a.sum() for a, b in margins)
    if not rare and (dense or (joint <= LITTLE_SKEW * variance and not tail)):
        return p
    lf = log_factorial(max(int(table.sum()) for table in used))
    cells = [kernel.cell_p_value(table, lf) for table in used]
    by_cell = min(1.0, min(smallest for smallest, _ in cells) * sum(tests for _, tests in cells))
    if 2 * by_cell <= 1 / draws:
        return float(max(p, 2 * by_cell))
    pairs = _canonical(margins)
    rows = sum(_drawn_rows(drawn) for drawn, _ in pairs)
    draws = min(draws, max(1000, MOST_ROWS // rows))
    if len(pairs) == 1 and margins[0][0].sum() <= FEW_ROWS:
        exceeding, made = _random_tables(*pairs[0], draws).exceedances(observed)
    else:
        drawn, shuffled = (_joined([pair[side] for pair in pairs]) for side in (0, 1))
        exceeding, made = kernel.exceedances(*drawn, *shuffled, observed, draws, STOP)
    valid = STOP / made if exceeding == STOP else 2 * min((1 + exceeding) / (1 + draws), by_cell)
    return float(max(p, valid))


def _canonical(margins: Sequence[tuple[IntArray, IntArray]]) -> list[tuple[Counts, Counts]]:
    """Return the sorted margins of all strata, the side with fewer rows to draw first; strata are sorted.

    The distribution does not depend on the order of levels, sides or strata, so equal problems become equal.
    """
    pairs = [(tuple(sorted(a.tolist())), tuple(sorted(b.tolist()))) for a, b in margins]
    if sum(_drawn_rows(b) for _, b in pairs) < sum(_drawn_rows(a) for a, _ in pairs):
        pairs = [(b, a) for a, b in pairs]
    return sorted(pairs)


def _drawn_rows(margin: Counts) -> int:
    """Return the number of rows that have to be drawn: all but those of the largest level."""
    return sum(margin[:-1])


class RandomTables:
    """Random tables with the same margins, drawn when first needed, for all columns that have these margins.

    Of the statistics it keeps the largest, and after how many draws these became what they are: enough to
    know when any number was exceeded ``STOP`` times.
    """

    def __init__(self, drawn: Counts, shuffled: Counts, most: int) -> None:
        self._margins = (*_joined([drawn]), *_joined([shuffled]))
        self._codes, self._cell, self._state = kernel.begin(*self._margins)
        self._most, self._made, self._records = most, 0, 0
        self._largest = np.full(min(STOP, most + 1), -np.inf)  # with fewer draws, it never fills
        self._record, self._place = np.empty(128), np.empty(128, np.int64)
        self._lock = Lock()  # columns of several threads may have the same margins

    def exceedances(self, observed: float) -> tuple[int, int]:
        """Return how many tables of how many drawn are as extreme, `kernel.exceedances` to the last bit."""
        threshold = observed * (1.0 - 1e-9)
        with self._lock:
            while self._made < self._most and self._largest[0] < threshold:
                self._draw_on(threshold)
            first = int(np.searchsorted(self._record[: self._records], threshold))
            if first < self._records:
                return STOP, int(self._place[first])
            return int(np.sum(self._largest >= threshold)), self._most

    def _draw_on(self, threshold: float) -> None:
        if self._records == len(self._record):
            self._record = np.concatenate([self._record, np.empty(self._records)])
            self._place = np.concatenate([self._place, np.empty(self._records, np.int64)])
        state, self._made, self._records = kernel.draw_on(
            *self._margins, self._codes, self._cell, np.uint64(self._state), threshold, self._made,
            self._most, self._largest, self._record, self._place, self._records,
        )  # fmt: skip
        self._state = state


@lru_cache(maxsize=KNOWN_MARGINS)
def _random_tables(drawn: Counts, shuffled: Counts, most: int) -> RandomTables:
    """Return the tables of these margins; of few rows and levels, many columns have the same."""
    return RandomTables(drawn, shuffled, most)


def _stacked(tables: Sequence[IntArray]) -> IntArray:
    """Return tables as one array, with empty rows and columns where they are smaller than others."""
    shape = np.array([table.shape for table in tables]).max(axis=0)
    out = np.zeros((len(tables), *shape), np.int64)
    for k, table in enumerate(tables):
        out[k, : table.shape[0], : table.shape[1]] = table
    return out


def _joined(pieces: Sequence[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Concatenate lists; also return the beginning and end of each."""
    return np.concatenate(pieces).astype(np.int64), np.cumsum([0, *map(len, pieces)]).astype(np.int64)


def draws_for(alpha: float) -> int:
    """Return the number of random tables that a decision at a fixed level needs."""
    return min(MOST_DRAWS, math.ceil(40 / alpha))


def fisher_bounds(class_counts: IntArray, alpha: float, *, always: bool) -> tuple[IntArray, IntArray]:
    """Return the smallest and largest count that is not significant, by the rows of the rarer level.

    For 2 x 2 tables with an expected count below 5.  With ``always`` for all, and none is significant.
    """
    n = int(class_counts.sum())
    most = n // 2 + 1
    if len(class_counts) != 2:
        most = 0
    elif not always:
        most = min(most, math.ceil(FEW_FOR_FISHER * n / int(class_counts.min())))
    low, high = np.zeros((2, most), np.int64)
    if always:
        high[:] = n
    elif most:
        kernel.fisher_bounds(int(class_counts[1]), n, alpha, log_factorial(n), low, high)
    return low, high
