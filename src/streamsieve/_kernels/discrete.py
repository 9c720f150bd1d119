"""Discretized columns: coding, entropy, mutual information, and SAOLA's pairwise rule over them.

Up to 32 distinct values are codes of their own, and up to ``most_levels(n)`` if they are whole numbers; more
are cut into bins of equal frequency.  Codes are names: any permutation gives the same information.  The value
zero has code 0, so that a sparse column costs only its stored values.  Information and entropies are in nats
times the rows, and ``g[c] = c ln c``.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def most_levels(n: int) -> int:
    """Number of distinct whole numbers that are levels of their own over n rows: 20 rows each, 32 to 256."""
    return min(256, max(32, n // 20))


@nb.njit(nogil=True, cache=True)
def encode(
    values: FloatArray, rows: npt.NDArray[np.int32], stored: int, n: int, bins: int,
    out_rows: npt.NDArray[np.int32], out_codes: npt.NDArray[np.uint16], counts: IntArray,
) -> tuple[int, int]:  # fmt: skip
    """List the rows of one column whose code is not 0, with their codes, and count every code.

    Of the n rows ``stored`` are given; the others are 0.  Returns (rows listed, number of codes).
    """
    most = most_levels(n) + 1  # with a place for the value 0, which need not occur
    distinct = np.empty(most)
    distinct[0] = 0.0
    levels = 1
    length = 0
    overflow = False
    counts[:] = 0
    for t in range(stored):
        v = values[t]
        code = -1
        for a in range(levels):
            if distinct[a] == v:
                code = a
                break
        if code < 0:
            if v != math.floor(v):
                most = 33
            if levels >= most:
                overflow = True
                break
            distinct[levels] = v
            code = levels
            levels += 1
        if code > 0:
            out_rows[length] = rows[t]
            out_codes[length] = code
            counts[code] += 1
            length += 1
    if not overflow and levels - (1 if length == n else 0) < most:
        counts[0] = n - length
        return length, levels
    return _bin(values, rows, stored, n, bins, out_rows, out_codes, counts)  # type: ignore[no-any-return]


@nb.njit(nogil=True, cache=True)
def _bin(
    values: FloatArray, rows: npt.NDArray[np.int32], stored: int, n: int, bins: int,
    out_rows: npt.NDArray[np.int32], out_codes: npt.NDArray[np.uint16], counts: IntArray,
) -> tuple[int, int]:  # fmt: skip
    """Cut i is the i * floor(n / bins)-th smallest value; a value's bin is the number of cuts below it.

    The zeros that are not stored are ranked without being sorted.
    """
    bins = min(bins, n)
    ordered = np.sort(values[:stored])
    zeros = n - stored
    negative = 0
    while negative < stored and ordered[negative] < 0.0:
        negative += 1
    cuts = np.empty(bins - 1)
    for i in range(bins - 1):
        rank = (i + 1) * (n // bins) - 1
        if rank < negative:
            cuts[i] = ordered[rank]
        elif rank < negative + zeros:
            cuts[i] = 0.0
        else:
            cuts[i] = ordered[rank - zeros]
    zero_bin = 0
    while zero_bin < bins - 1 and cuts[zero_bin] < 0.0:
        zero_bin += 1
    counts[:] = 0
    length = 0
    for t in range(stored):
        code = 0
        while code < bins - 1 and cuts[code] < values[t]:
            code += 1
        # the bin of zero gets code 0, the one that costs nothing
        if code == zero_bin:
            code = 0
        elif code == 0:
            code = zero_bin
        if code > 0:
            out_rows[length] = rows[t]
            out_codes[length] = code
            counts[code] += 1
            length += 1
    counts[0] = n - length
    return length, bins


@nb.njit(nogil=True, cache=True)
def encode_stored(
    values: FloatArray, n: int, bins: int, out: npt.NDArray[np.uint16], counts: IntArray
) -> tuple[int, int]:
    """Write the codes of the stored values of a column of n rows, in order of value; count every code.

    A code is the number of cuts below the value: all distinct values but the last or, if there are too many,
    the ``i floor(n / bins)``-th smallest values.  Returns (codes in use, largest code + 1).
    """
    stored = len(values)
    order = np.argsort(values)
    zeros = n - stored
    most = most_levels(n)
    cuts = np.empty(max(most + 2, bins))  # one value too many, and zero
    distinct = 0
    negative = 0
    last = np.nan
    for t in range(stored + 1):
        if zeros > 0 and negative == t and (t == stored or values[order[t]] >= 0.0):
            # the zeros that are not stored take their place here
            cuts[distinct] = 0.0
            distinct += 1
            last = 0.0
        if t == stored or distinct > most:
            break
        v = values[order[t]]
        if v < 0.0:
            negative += 1
        if v != last:
            if v != math.floor(v):
                most = 32
            cuts[distinct] = v
            distinct += 1
            last = v
    size = distinct - 1
    if distinct > most:
        size = min(bins, n) - 1
        negative = 0
        while negative < stored and values[order[negative]] < 0.0:
            negative += 1
        for i in range(size):
            rank = (i + 1) * (n // (size + 1)) - 1
            if rank < negative:
                cuts[i] = values[order[rank]]
            elif rank < negative + zeros:
                cuts[i] = 0.0
            else:
                cuts[i] = values[order[rank - zeros]]
    of_zero = 0
    while of_zero < size and cuts[of_zero] < 0.0:
        of_zero += 1
    counts[: size + 1] = 0
    now = 0
    for t in range(stored):
        v = values[order[t]]
        while now < size and cuts[now] < v:
            now += 1
        name = 0 if now == of_zero else (of_zero if now == 0 else now)
        out[order[t]] = name
        counts[name] += 1
    counts[0] += zeros
    used = 0
    for a in range(size + 1):
        used += counts[a] > 0
    return used, size + 1


@nb.njit(nogil=True, cache=True)
def information(
    rows: npt.NDArray[np.int32], codes: npt.NDArray[np.uint16], length: int, levels: int, h: float,
    other: npt.NDArray[np.uint16], other_counts: IntArray, other_levels: int, other_h: float,
    g: FloatArray, cell: IntArray,
) -> float:  # fmt: skip
    """Mutual information of listed codes and a column of codes row by row; ``h`` are their entropies.

    The first row of the table, that of code 0, is what the counts of the other column leave.
    """
    size = levels * other_levels
    for a in range(other_levels):
        cell[a] = other_counts[a]
    for a in range(other_levels, size):
        cell[a] = 0
    for t in range(length):
        b = other[rows[t]]
        cell[codes[t] * other_levels + b] += 1
        cell[b] -= 1
    joint = 0.0
    for a in range(size):
        joint += g[cell[a]]
    return float(max(h + other_h - (g[len(other)] - joint), 0.0))


@nb.njit(nogil=True, cache=True)
def entropy(counts: IntArray, levels: int, n: int, g: FloatArray) -> float:
    """Entropy of a column from the counts of its codes."""
    s = 0.0
    for a in range(levels):
        s += g[counts[a]]
    return float(max(g[n] - s, 0.0))


@nb.njit(nogil=True, cache=True)
def measure(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, bins: int,
    y: npt.NDArray[np.uint16], y_counts: IntArray, y_entropy: float, g: FloatArray,
    shared: FloatArray, spread: FloatArray, levels: IntArray, first: int, last: int,
) -> None:  # fmt: skip
    """Columns first..last of a CSC block: information about y, entropy, and number of codes."""
    n = len(y)
    codes = np.empty(n, np.uint16)
    counts = np.zeros(max(most_levels(n) + 1, bins), np.int64)
    cell = np.empty(len(counts) * len(y_counts), np.int64)
    for j in range(first, last):
        low, high = indptr[j], indptr[j + 1]
        levels[j], size = encode_stored(data[low:high], n, bins, codes, counts)
        spread[j] = entropy(counts, size, n, g)
        shared[j] = information(
            indices[low:high], codes, high - low, size, spread[j],
            y, y_counts, len(y_counts), y_entropy, g, cell,
        )  # fmt: skip


@nb.njit(nogil=True, cache=True)
def compare(
    rows: npt.NDArray[np.int32], values: FloatArray, bins: int, kept: npt.NDArray[np.uint16],
    kept_counts: IntArray, kept_spread: FloatArray, q: int, g: FloatArray,
    shared: FloatArray, out: npt.NDArray[np.uint16], out_counts: IntArray,
) -> float:  # fmt: skip
    """One column against q kept ones: their information; also its codes row by row, counts and entropy."""
    n = kept.shape[1]
    codes = np.empty(len(values), np.uint16)
    out_counts[:] = 0
    _, size = encode_stored(values, n, bins, codes, out_counts)
    spread = entropy(out_counts, size, n, g)
    cell = np.empty(size * len(out_counts), np.int64)
    for s in range(q):
        shared[s] = information(
            rows, codes, len(rows), size, spread,
            kept[s], kept_counts[s], len(out_counts), kept_spread[s], g, cell,
        )  # fmt: skip
    out[:] = 0
    for t in range(len(rows)):
        out[rows[t]] = codes[t]
    return float(spread)


@nb.njit(nogil=True, cache=True)
def informations(
    pointers: IntArray, rows: npt.NDArray[np.int32], codes: npt.NDArray[np.uint16],
    levels: IntArray, h: FloatArray, wanted: IntArray,
    other: npt.NDArray[np.uint16], other_counts: IntArray, other_h: float, g: FloatArray,
    first: int, last: int, out: FloatArray,
) -> None:  # fmt: skip
    """Mutual information of columns ``wanted[first:last]``, listed one after another, and another column."""
    width = len(other_counts)
    widest = 1
    for k in range(first, last):
        widest = max(widest, levels[wanted[k]])
    cell = np.empty(widest * width, np.int64)
    for k in range(first, last):
        j = wanted[k]
        low, high = pointers[j], pointers[j + 1]
        out[k] = information(
            rows[low:high], codes[low:high], high - low, levels[j], h[j],
            other, other_counts, width, other_h, g, cell,
        )  # fmt: skip


@nb.njit(nogil=True, cache=True)
def decide(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, first: int, start: int, bins: int,
    y: npt.NDArray[np.uint16], y_counts: IntArray, y_h: float,
    normalized: bool, delta: float, two_phase: bool, use_max: bool, tie: float,
    kept: npt.NDArray[np.uint16], kept_counts: IntArray, kept_levels: IntArray, kept_h: FloatArray,
    kept_relevance: FloatArray, kept_feature: IntArray, q: int,
    reason: npt.NDArray[np.uint8], statistic: FloatArray, by: IntArray,
    evicted: IntArray, evicted_by: IntArray, evicted_pair: FloatArray, n_evicted: int,
    g: FloatArray, cell: IntArray, codes_of: tuple[int, int, int, int],
) -> tuple[int, int, int]:  # fmt: skip
    """Offer columns ``first``, first + 1, ... of a CSC block whose column 0 has arrival number ``start``.

    ``codes_of`` are the ledger's codes for (kept, constant, irrelevant, redundant).  Returns (next column,
    kept, evicted); it comes back early when all slots are taken.
    """
    n = len(y)
    code_kept, code_constant, code_irrelevant, code_redundant = codes_of
    rows = np.empty(n, np.int32)
    codes = np.empty(n, np.uint16)
    counts = np.empty(max(most_levels(n) + 1, bins), np.int64)
    pairs = np.empty(len(kept))
    dropped = np.empty(len(kept), np.bool_)
    for j in range(first, len(indptr) - 1):
        if q == len(kept):
            return j, q, n_evicted
        low, high = indptr[j], indptr[j + 1]
        length, levels = encode(data[low:high], indices[low:high], high - low, n, bins, rows, codes, counts)
        h = entropy(counts, levels, n, g)
        if h <= tie * n:
            reason[j] = code_constant
            statistic[j] = 0.0
            continue
        r = information(rows, codes, length, levels, h, y, y_counts, len(y_counts), y_h, g, cell)
        r = 2.0 * r / (h + y_h) if normalized else r / n
        statistic[j] = r
        if r <= delta + tie:
            reason[j] = code_irrelevant
            continue
        dominated = False
        n_dropped = 0
        for i in range(q):
            dropped[i] = False
            other = kept_relevance[i]
            if abs(other - r) <= tie:  # strict rule: equals leave each other alone
                continue
            bound = max(r, other) if use_max else min(r, other)
            most = min(h, kept_h[i])
            if (2.0 * most / (h + kept_h[i]) if normalized else most / n) <= bound + tie:
                continue  # information is at most either entropy: these two cannot dominate
            d = information(
                rows, codes, length, levels, h,
                kept[i], kept_counts[i], kept_levels[i], kept_h[i], g, cell,
            )  # fmt: skip
            d = 2.0 * d / (h + kept_h[i]) if normalized else d / n
            if d <= bound + tie or d <= delta + tie:
                continue
            pairs[i] = d
            if other > r:
                dominated = True
                reason[j] = code_redundant
                by[j] = kept_feature[i]
                statistic[j] = d
                for rest in range(i + 1, q):
                    dropped[rest] = False
                break
            dropped[i] = True
            n_dropped += 1
        if n_dropped > 0 and not (dominated and two_phase):
            w = 0
            for i in range(q):
                if dropped[i]:
                    evicted[n_evicted] = kept_feature[i]
                    evicted_by[n_evicted] = start + j
                    evicted_pair[n_evicted] = pairs[i]
                    n_evicted += 1
                else:
                    if w != i:
                        kept[w] = kept[i]
                        kept_counts[w] = kept_counts[i]
                        kept_levels[w] = kept_levels[i]
                        kept_h[w] = kept_h[i]
                        kept_relevance[w] = kept_relevance[i]
                        kept_feature[w] = kept_feature[i]
                    w += 1
            q = w
        if not dominated:
            reason[j] = code_kept
            kept[q, :] = 0
            for t in range(length):
                kept[q, rows[t]] = codes[t]
            for a in range(len(counts)):
                kept_counts[q, a] = counts[a]
            kept_levels[q] = levels
            kept_h[q] = h
            kept_relevance[q] = r
            kept_feature[q] = start + j
            q += 1
    return len(indptr) - 1, q, n_evicted
