"""Conditional independence given any number of columns, by the occupied strata of their joint levels."""

from __future__ import annotations

import numpy as np

from streamsieve.independence.contingency_test import TableTest
from streamsieve.independence.table_p_values import p_value
from streamsieve.protocols import FloatArray, IntArray

#: Maximum number of cells of a table that is counted as a whole; of larger ones, only occupied cells are.
DENSE_CELLS = 2**20


def joint_strata(columns: IntArray, n: int) -> IntArray:
    """Return the joint level of some columns of codes, one per row of ``columns``, over n rows."""
    strata = np.zeros(n, np.int64)
    for codes in columns:
        strata = np.unique(strata * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return strata


def given_strata(test: TableTest, x: IntArray, strata: IntArray) -> tuple[float, float]:
    """Return the likelihood ratio and the p-value of a column of codes and the target within strata.

    The p-value is that of the permutation moments summed over strata, or of the chi-squared distribution; see
    ``GSquared``.  There is no rule about enough rows: a table without freedom has p = 1.
    """
    levels, classes, count = int(x.max()) + 1, test.n_classes, int(strata.max()) + 1
    sizes = np.bincount(strata, minlength=count)
    by_level = np.bincount(strata * levels + x, minlength=count * levels).reshape(count, levels)
    by_class = np.bincount(strata * classes + test.y, minlength=count * classes).reshape(count, classes)
    cells, found = _occupied((strata * levels + x) * classes + test.y, count * levels * classes)
    stratum, level, label = cells // (levels * classes), cells // classes % levels, cells % classes
    margins = by_level[stratum, level] * by_class[stratum, label].astype(np.float64)
    ratio = float(2 * np.sum(found * np.log(found * sizes[stratum] / margins)))
    r, c = (by_level > 0).sum(axis=1), (by_class > 0).sum(axis=1)
    tested, degrees = ratio, float(((r - 1) * (c - 1)).sum())
    if test.by_moments:
        n = sizes.astype(np.float64)
        pearson: FloatArray = np.bincount(stratum, found * found / margins * n[stratum], count) - n
        tested, degrees = _scaled(pearson, n, by_level, by_class)
    p = float(p_value(np.array(tested), np.array(degrees))) if degrees > 0 else 1.0
    return max(ratio, 0.0), p


def _occupied(cells: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Return the cells that occur, and their counts."""
    if size > DENSE_CELLS:
        return np.unique(cells, return_counts=True)
    counts = np.bincount(cells, minlength=size)
    some = np.flatnonzero(counts)
    return some, counts[some]


def _scaled(
    pearson: FloatArray, n: FloatArray, by_level: IntArray, by_class: IntArray
) -> tuple[float, float]:
    """Return Pearson's statistic over strata as chi-squared, by its permutation mean and variance, and df."""
    with np.errstate(divide="ignore", invalid="ignore"):
        (r, v1, w1), (c, v2, w2) = (_side(n, margins) for margins in (by_level, by_class))
        mean = n * (r - 1) * (c - 1) / (n - 1)
        variance = 2 * n / (n - 3) * (v1 - w1) * (v2 - w2) + n / (n - 1) * n * w1 * w2
        used = (n >= 4) & (r > 1) & (c > 1) & (variance > 1e-10 * mean)
    if not used.any():
        return 0.0, 0.0
    scale = 2 * mean[used].sum() / variance[used].sum()
    return float(max(pearson[used].sum(), 0.0) * scale), float(mean[used].sum() * scale)


def _side(n: FloatArray, margins: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the number of levels that occur, and v and w of the formula (Dawson 1954), per stratum."""
    inverse = np.where(margins > 0, 1.0 / margins, 0.0).sum(axis=1)
    k = (margins > 0).sum(axis=1).astype(np.float64)
    return k, (n - k) * (k - 1) / (n - 1), (n * inverse - k * k) / (n - 2)
