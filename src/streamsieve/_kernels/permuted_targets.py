"""Permutations of a target: random ones, and all that differ."""

from __future__ import annotations

import numba as nb
import numpy as np

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def shuffled(values: FloatArray, numbers: IntArray, out: FloatArray) -> None:
    """Fill ``out[c, k]`` with column c of ``values`` in the k-th random order.

    ``numbers[k]`` are uniform below 2**31, one per row but the last.
    """
    n, columns = values.shape
    order = np.empty(n, np.int64)
    for k in range(len(numbers)):
        for i in range(n):
            order[i] = i
        for i in range(n):
            if i < n - 1:
                other = i + ((numbers[k, i] * (n - i)) >> 31)
                row = order[other]
                order[other] = order[i]
                order[i] = row
            for c in range(columns):
                out[c, k, i] = values[order[i], c]


@nb.njit(nogil=True, cache=True)
def listed(codes: IntArray, values: FloatArray, out: FloatArray) -> None:
    """Fill ``out[c, k]`` with column c of ``values`` in the k-th distinct order of increasing codes.

    Row g of ``values`` is that of code g.  Orders follow each other as words do in a dictionary.
    """
    n, columns = len(codes), values.shape[1]
    word = codes.copy()
    for k in range(out.shape[1]):
        for i in range(n):
            for c in range(columns):
                out[c, k, i] = values[word[i], c]
        i = n - 2
        while i >= 0 and word[i] >= word[i + 1]:
            i -= 1
        if i < 0:
            return
        j = n - 1
        while word[j] <= word[i]:
            j -= 1
        word[i], word[j] = word[j], word[i]
        i, j = i + 1, n - 1
        while i < j:
            word[i], word[j] = word[j], word[i]
            i += 1
            j -= 1
