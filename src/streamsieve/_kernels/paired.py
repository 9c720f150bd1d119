"""Dependence of two columns over the rows where both are seen; NaN marks what is missing.

Every column is shifted by one of its own values, as in ``column_products``, so that offsets cost no digits.
A spread that is only rounding counts as none: dependence on a constant is 0.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def first_seen(values: FloatArray, n: int) -> float:
    """One of a column's own values: 0 if some are not stored, else the first that is no NaN."""
    if len(values) == n:
        for v in values:
            if not np.isnan(v):
                return float(v)
    return 0.0


@nb.njit(nogil=True, cache=True)
def with_numbers(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, sparse: bool,
    y: FloatArray, seen: IntArray, spread: FloatArray, r: FloatArray, values_of_y: IntArray,
) -> None:  # fmt: skip
    """Rows seen, centered sum of squares, and correlation with a target of unit length that sums to 0.

    ``values_of_y`` is 1 where the target is constant over the rows seen, else 2.
    """
    n = len(y)
    for j in range(len(indptr) - 1):
        low, high = indptr[j], indptr[j + 1]
        x0 = first_seen(data[low:high], n)
        rows = n
        sx = sxx = sxy = sy = 0.0
        syy = 1.0
        for t in range(low, high):
            of_y = y[indices[t]] if sparse else y[t - low]
            if np.isnan(data[t]):
                rows -= 1
                sy -= of_y
                syy -= of_y * of_y
            else:
                d = data[t] - x0
                sx += d
                sxx += d * d
                sxy += d * of_y
        seen[j] = rows
        some = max(rows, 1)
        spread[j] = max(sxx - sx * sx / some, 0.0)
        of_target = syy - sy * sy / some
        values_of_y[j] = 2 if of_target > 1e-12 else 1
        r[j] = 0.0
        if spread[j] > 0.0 and values_of_y[j] == 2:
            r[j] = (sxy - sx * sy / some) / np.sqrt(spread[j] * of_target)


@nb.njit(nogil=True, cache=True)
def with_classes(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, sparse: bool,
    labels: IntArray, label_counts: IntArray,
    seen: IntArray, spread: FloatArray, ratio: FloatArray, classes: IntArray,
) -> None:  # fmt: skip
    """Rows seen, centered sum of squares, correlation ratio with labels, and number of classes seen."""
    n = len(labels)
    counts = np.empty(len(label_counts), np.int64)
    sums = np.empty(len(label_counts))
    for j in range(len(indptr) - 1):
        low, high = indptr[j], indptr[j + 1]
        x0 = first_seen(data[low:high], n)
        for c in range(len(counts)):
            counts[c] = label_counts[c]
        sums[:] = 0.0
        rows = n
        sx = sxx = between = 0.0
        for t in range(low, high):
            label = labels[indices[t]] if sparse else labels[t - low]
            if np.isnan(data[t]):
                rows -= 1
                counts[label] -= 1
            else:
                d = data[t] - x0
                sx += d
                sxx += d * d
                sums[label] += d
        some = max(rows, 1)
        classes[j] = 0
        for label in range(len(counts)):
            if counts[label] > 0:
                apart = sums[label] / counts[label] - sx / some
                between += counts[label] * apart * apart
                classes[j] += 1
        seen[j] = rows
        spread[j] = max(sxx - sx * sx / some, 0.0)
        ratio[j] = np.sqrt(min(between / spread[j], 1.0)) if spread[j] > 0.0 else 0.0


@nb.njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def compare(
    x: FloatArray, x_seen: FloatArray, kept: FloatArray, kept_seen: FloatArray, q: int,
    shared: FloatArray, joint: FloatArray,
) -> None:  # fmt: skip
    """One column against q kept ones, 0 where missing: |correlation| over complete pairs, and their number.

    Fewer than 4 complete pairs of more rows, or one of the two constant over them: 0.
    """
    for s in range(q):
        z, z_seen = kept[s], kept_seen[s]
        rows = sx = sz = sxx = szz = sxz = 0.0
        for i in range(len(x)):
            a = x[i] * z_seen[i]
            b = z[i] * x_seen[i]
            rows += x_seen[i] * z_seen[i]
            sx += a
            sz += b
            sxx += a * a
            szz += b * b
            sxz += a * b
        joint[s] = rows
        shared[s] = 0.0
        if rows >= 4.0 or rows == len(x):
            of_x = sxx - sx * sx / rows
            of_z = szz - sz * sz / rows
            if of_x > 1e-12 * sxx and of_z > 1e-12 * szz:
                shared[s] = min(abs(sxz - sx * sz / rows) / np.sqrt(of_x * of_z), 1.0)
