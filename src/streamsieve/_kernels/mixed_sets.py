"""Conditioning sets of columns of mixed types: pass over those that clearly do not separate.

A set separates a column from the target if Wilks' lambda of their residuals given the set is large enough.
Most sets are far from it, and a few products in 64-bit floats show so.  A set that may separate, that is
nearly collinear, or that has another test (tables, indicators of a nominal column) is left to the caller.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray

Flags = npt.NDArray[np.bool_]


@nb.njit(nogil=True, cache=True)
def _is_open(
    slots: IntArray, size: int, total: FloatArray, within: FloatArray, least: float, critical: float,
    a: FloatArray, b: FloatArray,
) -> bool:  # fmt: skip
    """Whether a set may separate a column: ``slots`` are its ``size`` members and, behind them, the column.

    Gauss elimination of all products (a), and of the part that the target leaves (b).  The ratio of the
    determinants of the members is what they leave of the target, and that of the column's last pivots lambda.
    """
    for i in range(size + 1):
        for j in range(size + 1):
            a[i, j] = total[slots[i], slots[j]]
            b[i, j] = within[slots[i], slots[j]]
    of_all = of_rest = 1.0
    for k in range(size):
        of_all *= a[k, k]
        of_rest *= b[k, k]
        if not (of_all > least and of_rest > least):
            return True
        for i in range(k + 1, size + 1):
            share, left = a[i, k] / a[k, k], b[i, k] / b[k, k]
            for j in range(k + 1, size + 1):
                a[i, j] -= share * a[k, j]
                b[i, j] -= left * b[k, j]
    if not a[size, size] > least:
        return True
    return not b[size, size] < critical * a[size, size]


@nb.njit(nogil=True, cache=True)
def next_open(
    column: int, others: IntArray, newcomer: int, largest: int, total: FloatArray, within: FloatArray,
    levels: Flags, tables: bool, least: float, critical: FloatArray, members: IntArray, size: int,
) -> int:  # fmt: skip
    """Move on to the next set that may separate a column; return its number of others, or -1.

    Parameters
    ----------
    column, others, newcomer : slots; -1 for a column without one (sets with it are open).  Every set has the
        newcomer; -2 for none
    largest : columns that a set may have, with the newcomer
    total, within : products of columns of unit length, and their part that the target leaves
    levels, tables : whether each slot has levels; whether columns of levels are tested by tables
    least : what products of pivots must exceed
    critical : value of lambda, by size of the set, up to which a column clearly depends on the target
    members : positions in ``others`` of the present set, to be overwritten
    size : its number of others; -1 to begin
    """
    fixed = 0 if newcomer == -2 else 1
    a, b = np.empty((4, 4)), np.empty((4, 4))
    slots = np.empty(4, np.int64)
    m = len(others)
    fresh = size < 0
    if fresh:
        size = 1 - fixed
    while size + fixed <= largest and size <= m:
        if fresh:
            for i in range(size):
                members[i] = i
            fresh = False
        else:
            i = size - 1
            while i >= 0 and members[i] == m - size + i:
                i -= 1
            if i < 0:
                size += 1
                fresh = True
                continue
            members[i] += 1
            for j in range(i + 1, size):
                members[j] = members[j - 1] + 1
        many = size + fixed
        for i in range(size):
            slots[i] = others[members[i]]
        if fixed:
            slots[size] = newcomer
        slots[many] = column
        known, by_table = True, tables
        for i in range(many + 1):
            known = known and slots[i] >= 0
            by_table = by_table and known and levels[slots[i]]
        if not known or by_table or _is_open(slots, many, total, within, least, critical[many], a, b):
            return size
    return -1
