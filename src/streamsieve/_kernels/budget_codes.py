"""Information between columns as small integer codes, for whole blocks and for one column and many.

Up to 32 distinct values are codes of their own; more are cut into bins of equal frequency.  Codes are names:
the one of value zero is 0, so that a sparse column costs only its stored values.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray

#: Distinct values that are codes of their own.
LEVELS = 32


@nb.njit(nogil=True, cache=True)
def code(
    values: FloatArray, n: int, bins: int, out: npt.NDArray[np.uint16], counts: IntArray
) -> tuple[int, int]:
    """Code the stored values of a column of n rows, whose other rows are 0; count every code.

    A value's code is the number of cuts below it.  Cuts are all distinct values but the last or, if there
    are too many, the ``i floor(n / bins)``-th smallest values.  Returns (codes in use, largest code + 1).
    """
    stored = len(values)
    order = np.argsort(values)
    zeros = n - stored
    cuts = np.empty(max(34, bins))  # one value too many, and zero
    distinct = 0
    negative = 0
    last = np.nan
    for t in range(stored + 1):
        if zeros > 0 and negative == t and (t == stored or values[order[t]] >= 0.0):
            # the zeros that are not stored take their place here
            cuts[distinct] = 0.0
            distinct += 1
            last = 0.0
        if t == stored or distinct > 32:
            break
        v = values[order[t]]
        if v < 0.0:
            negative += 1
        if v != last:
            cuts[distinct] = v
            distinct += 1
            last = v
    size = distinct - 1
    if distinct > 32:
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
    rows: npt.NDArray[np.int32], codes: npt.NDArray[np.uint16], size: int,
    other: npt.NDArray[np.uint16], other_counts: IntArray, other_size: int,
    spread: float, other_spread: float, g: FloatArray, cell: IntArray,
) -> float:  # fmt: skip
    """Mutual information of stored codes and a column given row by row, in nats times the rows.

    The spreads are entropies in the same unit, ``g[c] = c ln c``.
    """
    for a in range(other_size):
        cell[a] = other_counts[a]
    for a in range(other_size, size * other_size):
        cell[a] = 0
    for t in range(len(rows)):
        b = other[rows[t]]
        cell[b] -= 1
        cell[codes[t] * other_size + b] += 1
    joint = 0.0
    for a in range(size * other_size):
        joint += g[cell[a]]
    return float(max(spread + other_spread - (g[len(other)] - joint), 0.0))


@nb.njit(nogil=True, cache=True)
def entropy(counts: IntArray, size: int, n: int, g: FloatArray) -> float:
    """Entropy of a column from the counts of its codes, in nats times the rows."""
    total = 0.0
    for a in range(size):
        total += g[counts[a]]
    return float(max(g[n] - total, 0.0))


@nb.njit(nogil=True, cache=True)
def measure(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, bins: int,
    y: npt.NDArray[np.uint16], y_counts: IntArray, y_entropy: float, g: FloatArray,
    shared: FloatArray, spread: FloatArray, levels: IntArray, first: int, last: int,
) -> None:  # fmt: skip
    """Columns first..last of a CSC block: information about y, entropy, and number of codes."""
    n = len(y)
    codes = np.empty(n, np.uint16)
    counts = np.zeros(max(33, bins), np.int64)
    cell = np.empty(len(counts) * len(y_counts), np.int64)
    for j in range(first, last):
        low, high = indptr[j], indptr[j + 1]
        levels[j], size = code(data[low:high], n, bins, codes, counts)
        spread[j] = entropy(counts, size, n, g)
        shared[j] = information(
            indices[low:high], codes[: high - low], size,
            y, y_counts, len(y_counts), spread[j], y_entropy, g, cell,
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
    _, size = code(values, n, bins, codes, out_counts)
    spread = entropy(out_counts, size, n, g)
    cell = np.empty(size * len(out_counts), np.int64)
    for s in range(q):
        shared[s] = information(
            rows, codes, size, kept[s], kept_counts[s], len(out_counts), spread, kept_spread[s], g, cell
        )
    out[:] = 0
    for t in range(len(rows)):
        out[rows[t]] = codes[t]
    return float(spread)
