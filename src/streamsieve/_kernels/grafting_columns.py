"""Columns that are offered to grafting: which must join the model, and how they enter it.

The model itself is in ``grafting.py``.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def search(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, mean: FloatArray, ss: FloatArray,
    start: int, j: int, known: bool,
    prices: tuple[float, float, float, float, float], codes: tuple[int, int, int],
    feature: IntArray, n_columns: int, residual: FloatArray, reason: npt.NDArray[np.uint8],
    statistic: FloatArray,
) -> int:  # fmt: skip
    """Judge the columns of a block from j on; returns the first that must join, or the number of columns.

    The block comes as pieces: pointers, rows (none if it is dense) and values, column after column, and with
    means and centered sums of squares.  If ``known``, ``statistic`` holds the products with the residual as
    it is now, and the pieces are not looked at.  Columns that are in the model already are passed over.
    ``prices`` are the L1 and L2 penalties, whether columns keep their scale, the share by which a gradient
    must exceed its level, and what may be rounding.
    """
    classes, n = residual.shape
    kept, constant, irrelevant = codes
    while j < len(reason):
        if not ss[j] > 0.0:
            reason[j], statistic[j] = constant, 0.0
            j += 1
            continue
        if not known:
            begin, end = pointers[j], pointers[j + 1]
            statistic[j] = 0.0
            for c in range(classes):
                r = residual[c]
                s = 0.0
                if end - begin == n:
                    x, z = values[begin:end], mean[j]
                    for i in range(n):
                        s += (x[i] - z) * r[i]
                else:  # residuals sum to 0
                    for t in range(begin, end):
                        s += values[t] * r[rows[t]]
                if abs(s) > abs(statistic[j]):
                    statistic[j] = s
        scale = math.sqrt(ss[j] / n)
        level = prices[0] / scale if prices[2] > 0.0 else prices[0]
        statistic[j] /= n * scale
        reason[j] = irrelevant
        if abs(statistic[j]) > level * (1.0 + prices[3]) + prices[4]:
            reason[j] = kept
            for k in range(1, n_columns):
                if feature[k] == start + j:
                    reason[j] = irrelevant
            if reason[j] == kept:
                return j
        j += 1
    return j


@nb.njit(nogil=True, cache=True, error_model="numpy")
def put(
    pointers: IntArray, rows: npt.NDArray[np.int32], values: FloatArray, j: int, mean: float, ss: float,
    prices: tuple[float, float, float, float, float], column: FloatArray, facts: FloatArray,
) -> None:  # fmt: skip
    """Fill in column j of a block at mean 0 and variance 1, and what is to be known of it.

    Sums are relative to its first value, to keep all digits.
    """
    n = len(column)
    begin, end = pointers[j], pointers[j + 1]
    scale = math.sqrt(ss / n)
    weight = 1.0 / scale if prices[2] > 0.0 else 1.0
    # a bound for columns of tiny scale: none with such a ridge ever joins
    facts[0], facts[1] = weight * prices[0], min(weight, 1e150) ** 2 * prices[1]
    facts[2], facts[3] = mean, scale
    z = values[begin] if end - begin == n else 0.0
    s = 0.0
    for t in range(begin, end):
        s += values[t] - z
    if end - begin == n:
        x = values[begin:end]
        for i in range(n):
            column[i] = (x[i] - z - s / n) / scale
    else:
        for i in range(n):
            column[i] = -s / n / scale
        for t in range(begin, end):
            column[rows[t]] = (values[t] - s / n) / scale
