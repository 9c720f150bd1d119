"""Counts of every (feature, value, class): one small hash table per feature, all in one pool of rows.

``heads[feature] = (first row, number of values, bits)``.  A table owns 2^(bits - 1) rows of the pool, none if
bits is 0.  Such a row is ``cells[r] = (value, count in class 0, in class 1, ...)``, in order of arrival.  The
table's part of ``slots``, twice as long, holds 1 + a value's place in the table, at its hash or after, and 0
where it is free.  A full table moves to the end of the pool, twice as large.

The value inf stands for "any other value": it counts new values once the feature has had ``cap`` of them,
until it is empty again, so that each value is counted either in its own row or in that of inf.  Only where
old rows fade, new values take the rows of faded ones.  The value 0 has a row beyond the cap, because the
zeros of sparse rows are inferred.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from streamsieve._kernels.intrinsics import prefetch
from streamsieve.protocols import FloatArray, IntArray

Slots = npt.NDArray[np.uint16]


@nb.njit(nogil=True, cache=True)
def _hash(x: float, bits: int) -> Any:
    """Return ``bits`` bits of a hash.  Both factors are below 2^32, so that nothing overflows."""
    whole = np.float64(x).view(np.int64)
    folded = ((whole >> 32) ^ whole) & 0xFFFFFFFF
    return (folded * 0x61C88647 & 0xFFFFFFFF) >> (32 - bits)


@nb.njit(nogil=True, cache=True)
def _find(x: float, start: int, bits: int, cells: FloatArray, slots: Slots) -> Any:
    """Return the row of a value, or -1."""
    if bits == 0:
        return -1
    at = _hash(x, bits)
    while True:
        slot = np.int64(slots[2 * start + at])
        if slot == 0:
            return -1
        row = start + slot - 1
        if cells[row, 0] == x:
            return row
        at = (at + 1) & ((1 << bits) - 1)


@nb.njit(nogil=True, cache=True)
def _point(place: int, start: int, bits: int, cells: FloatArray, slots: Slots) -> None:
    """Let a slot point to the value at some place of a table."""
    at = _hash(cells[start + place, 0], bits)
    while slots[2 * start + at] != 0:
        at = (at + 1) & ((1 << bits) - 1)
    slots[2 * start + at] = place + 1


@nb.njit(nogil=True, cache=True)
def _enrol(x: float, j: int, cap: int, fades: bool, heads: IntArray, cells: FloatArray, slots: Slots) -> Any:
    """Return the row for a value that has none: a new one, that of inf, or -1 if the table must move."""
    start, size, bits = heads[j, 0], heads[j, 1], heads[j, 2]
    if x != 0.0 and x < np.inf:
        others = _find(np.inf, start, bits, cells, slots)
        if others >= 0 and not fades:
            return others
        if size - (others >= 0) - (_find(0.0, start, bits, cells, slots) >= 0) >= cap:
            if others >= 0:
                return others
            x = np.inf
    if size == (1 << bits) >> 1:
        return -1
    cells[start + size] = 0.0
    cells[start + size, 0] = x
    _point(size, start, bits, cells, slots)
    heads[j, 1] = size + 1
    return start + size


@nb.njit(nogil=True, cache=True)
def _expel(row: int, j: int, heads: IntArray, cells: FloatArray, slots: Slots) -> None:
    """Take a value out of its table."""
    start, size, bits = heads[j, 0], heads[j, 1] - 1, heads[j, 2]
    for r in range(row, start + size):
        cells[r] = cells[r + 1]
    slots[2 * start : 2 * start + (1 << bits)] = 0
    for place in range(size):
        _point(place, start, bits, cells, slots)
    heads[j, 1] = size


@nb.njit(nogil=True, cache=True)
def _move(j: int, heads: IntArray, cells: FloatArray, slots: Slots, used: int) -> Any:
    """Give a full table twice the rows at the end of the pool; return the rows used then, -1 if too many."""
    start, size, bits = heads[j, 0], heads[j, 1], heads[j, 2] + 1
    rows = (1 << bits) >> 1
    if used + rows > len(cells):
        return -1
    slots[2 * used : 2 * (used + rows)] = 0
    for place in range(size):
        cells[used + place] = cells[start + place]
        _point(place, used, bits, cells, slots)
    heads[j, 0], heads[j, 2] = used, bits
    return used + rows


@nb.njit(nogil=True, cache=True)
def count_dense(
    flat: FloatArray, row_step: int, column_step: int, codes: IntArray, w: FloatArray, weighted: bool,
    done: IntArray, cap: int, fades: bool, heads: IntArray, cells: FloatArray, slots: Slots,
    low: int, high: int,
) -> None:  # fmt: skip
    """Count features low..high of rows whose cell (i, j) is ``flat[i * row_step + j * column_step]``.

    ``done[j]`` rows of feature j are counted already.  Where it ends below the number of rows, the table must
    move before the rest can be counted.  In tiles of 64 x 64 cells, which stay in L1.
    """
    n = len(codes)
    wi = 1.0
    for left in range(low, high, 64):
        for top in range(0, n, 64):
            bottom = min(top + 64, n)
            for j in range(left, min(left + 64, high)):
                if done[j] < top or done[j] >= bottom:
                    continue
                start, bits = heads[j, 0], heads[j, 2]
                i = done[j]
                while i < bottom:
                    x = np.float64(flat[i * row_step + j * column_step]) + 0.0  # -0.0 becomes 0.0
                    if not np.isnan(x):
                        row = _find(x, start, bits, cells, slots)
                        if row < 0:
                            row = _enrol(x, j, cap, fades, heads, cells, slots)
                            if row < 0:
                                break
                        if weighted:
                            wi = w[i]
                        cells[row, 1 + codes[i]] += wi
                    i += 1
                done[j] = i


@nb.njit(nogil=True, cache=True)
def count_sparse(
    first: int, indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray,
    codes: IntArray, w: FloatArray, weighted: bool, cap: int, fades: bool,
    heads: IntArray, cells: FloatArray, slots: Slots, stored: FloatArray, used: int,
) -> tuple[int, int]:  # fmt: skip
    """Count CSR rows from entry ``first`` on; return the entry where the pool was full, and its used rows.

    ``stored[feature, class]`` is the weight of the entries that are not 0, missing ones among them.  What is
    needed of a feature is fetched 32 and 16 entries ahead: with many features, nearly all of it is far away.
    """
    n_classes, width = stored.shape[1], cells.shape[1]
    flat_heads, flat_stored = heads.reshape(heads.size), stored.reshape(stored.size)
    flat = cells.reshape(cells.size)
    last = len(indices) - 1
    wi = 1.0
    for i in range(len(indptr) - 1):
        c = codes[i]
        if weighted:
            wi = w[i]
        for e in range(max(first, indptr[i]), indptr[i + 1]):
            far = np.int64(indices[min(e + 32, last)])
            prefetch(flat_heads, far * 3)
            prefetch(flat_stored, far * n_classes + c)
            near = heads[indices[min(e + 16, last)], 0]
            prefetch(slots, near * 2)
            prefetch(flat, near * width)
            soon = min(e + 8, last)
            start, bits = heads[indices[soon], 0], heads[indices[soon], 2]
            if bits > 1:
                slot = np.int64(slots[2 * start + _hash(data[soon], bits)])
                prefetch(flat, (start + slot) * width)
            x = data[e]
            if x == 0.0:
                continue
            j = np.int64(indices[e])
            if not np.isnan(x):
                row = heads[j, 0]
                if heads[j, 1] == 0 or cells[row, 0] != x:  # most sparse features have but one value
                    row = _find(x, row, heads[j, 2], cells, slots)
                if row < 0:
                    row = _enrol(x, j, cap, fades, heads, cells, slots)
                    if row < 0:
                        more = _move(j, heads, cells, slots, used)
                        if more < 0:
                            return e, used
                        used = more
                        row = _enrol(x, j, cap, fades, heads, cells, slots)
                cells[row, 1 + c] += wi
            stored[j, c] += wi
    return len(indices), used


@nb.njit(nogil=True, cache=True)
def absorb(
    starts: IntArray, theirs: FloatArray, classes: IntArray,
    done: IntArray, cap: int, fades: bool, heads: IntArray, cells: FloatArray, slots: Slots,
) -> None:  # fmt: skip
    """Add other tables, that of feature j in rows starts[j]..starts[j + 1]; class i is ``classes[i]`` here.

    ``done[j]`` rows are added already; see :func:`count_dense`.
    """
    for j in range(len(starts) - 1):
        while done[j] < starts[j + 1] - starts[j]:
            cell = theirs[starts[j] + done[j]]
            row = _find(cell[0], heads[j, 0], heads[j, 2], cells, slots)
            if row < 0:
                row = _enrol(cell[0], j, cap, fades, heads, cells, slots)
                if row < 0:
                    break
            for c in range(len(classes)):
                cells[row, 1 + classes[c]] += cell[1 + c]
            done[j] += 1


@nb.njit(nogil=True, cache=True)
def _less(old: float, wi: float) -> Any:
    """Return a sum of weights without one of them, or -1 if that was not in it.

    Whole numbers are exact.  With fractions, what is only rounding is 0.
    """
    left = old - wi
    exact = old < 2.0**53 and old == np.floor(old) and wi == np.floor(wi)
    if not exact and abs(left) <= 1e-9 * wi:
        return 0.0
    return left if left >= 0.0 else -1.0


@nb.njit(nogil=True, cache=True)
def _counted_at(x: float, start: int, bits: int, cells: FloatArray, slots: Slots) -> Any:
    """Return the row in which a value was counted: its own, that of inf, or -1."""
    row = _find(x, start, bits, cells, slots)
    return _find(np.inf, start, bits, cells, slots) if row < 0 and x != 0.0 else row


@nb.njit(nogil=True, cache=True)
def subtract(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, sparse: bool,
    codes: IntArray, w: FloatArray, weighted: bool,
    heads: IntArray, cells: FloatArray, slots: Slots, stored: FloatArray,
    places: IntArray, values: FloatArray,
) -> Any:  # fmt: skip
    """Take rows out again; return -1, or the entry that was never counted: then nothing is changed.

    Rows are CSR if ``sparse``; else they hold all features in order, and ``indices`` has no meaning.
    ``places`` and ``values`` have room for two steps an entry: what was changed, and what was there before.
    """
    flat, flat_stored = cells.reshape(cells.size), stored.reshape(stored.size)
    steps = 0
    wrong: Any = np.int64(-1)
    wi = 1.0
    for i in range(len(indptr) - 1):
        if weighted:
            wi = w[i]
        for e in range(indptr[i], indptr[i + 1]):
            x = data[e] + 0.0
            j = np.int64(indices[e]) if sparse else e - indptr[i]
            if sparse and x != 0.0:
                at = j * stored.shape[1] + codes[i]
                left = _less(flat_stored[at], wi)
                if left < 0.0:
                    wrong = e
                    break
                places[steps], values[steps] = -1 - at, flat_stored[at]
                steps += 1
                flat_stored[at] = left
            if np.isnan(x) or (sparse and x == 0.0):
                continue
            row = _counted_at(x, heads[j, 0], heads[j, 2], cells, slots)
            at = row * cells.shape[1] + 1 + codes[i]
            left = _less(flat[at], wi) if row >= 0 else -1.0
            if left < 0.0:
                wrong = e
                break
            places[steps], values[steps] = at, flat[at]
            steps += 1
            flat[at] = left
        if wrong >= 0:
            break
    if wrong >= 0:
        for step in range(steps - 1, -1, -1):
            at = places[step]
            if at >= 0:
                flat[at] = values[step]
            else:
                flat_stored[-1 - at] = values[step]
    return wrong


@nb.njit(nogil=True, cache=True)
def sweep(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, sparse: bool, codes: IntArray,
    heads: IntArray, cells: FloatArray, slots: Slots,
) -> None:  # fmt: skip
    """Expel the values of rows that :func:`subtract` has taken out, where nothing is left of them."""
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            x = data[e] + 0.0
            if np.isnan(x):
                continue
            j = np.int64(indices[e]) if sparse else e - indptr[i]
            row = _counted_at(x, heads[j, 0], heads[j, 2], cells, slots)
            if row >= 0 and cells[row, 1 + codes[i]] == 0.0 and not cells[row, 1:].any():
                _expel(row, j, heads, cells, slots)


@nb.njit(nogil=True, cache=True)
def expel_faint(share: float, more: FloatArray, heads: IntArray, cells: FloatArray, slots: Slots) -> None:
    """Expel values of at most this share of their feature's mass, of which ``more`` is not in the pool."""
    for j in range(len(more)):
        start, size = heads[j, 0], heads[j, 1]
        total = more[j] + cells[start : start + size, 1:].sum()
        for r in range(start + size - 1, start - 1, -1):
            if cells[r, 1:].sum() <= share * total:
                _expel(r, j, heads, cells, slots)


@nb.njit(nogil=True, cache=True)
def move(features: IntArray, heads: IntArray, cells: FloatArray, slots: Slots, used: int) -> Any:
    """Give full tables twice the rows, for which there must be room; return the rows used then."""
    for j in features:
        used = _move(j, heads, cells, slots, used)
    return used


@nb.njit(nogil=True, cache=True)
def pack(
    heads: IntArray, cells: FloatArray, new_heads: IntArray, new_cells: FloatArray, new_slots: Slots
) -> int:
    """Copy all tables into another pool, which may have more classes; return its used rows.

    There, a table owns as many rows as its values need.  All counts and slots of the new pool are 0.
    """
    used = 0
    for j in range(len(heads)):
        start, size = heads[j, 0], heads[j, 1]
        bits = 0
        while (1 << bits) >> 1 < size:
            bits += 1
        new_heads[j, 0], new_heads[j, 1], new_heads[j, 2] = used, size, bits
        for place in range(size):
            for c in range(cells.shape[1]):
                new_cells[used + place, c] = cells[start + place, c]
            _point(place, used, bits, new_cells, new_slots)
        used += (1 << bits) >> 1
    return used


@nb.njit(nogil=True, cache=True)
def fill(rows: IntArray, starts: IntArray, cells: FloatArray, zeros: FloatArray, out: FloatArray) -> None:
    """Write tables into ``out`` (feature, class, level), which is 0.

    ``rows[starts[f]:starts[f + 1]]`` are the rows of feature f in the order of their values.  ``zeros``
    (feature, class) are the inferred zeros.
    """
    n_classes = zeros.shape[1]
    for f in range(len(out)):
        pending = False
        for c in range(n_classes):
            pending |= zeros[f, c] > 0.0
        level = 0
        for i in range(starts[f], starts[f + 1]):
            row = rows[i]
            if pending and cells[row, 0] >= 0.0:
                for c in range(n_classes):
                    out[f, c, level] = zeros[f, c]
                pending = False
                level += cells[row, 0] > 0.0
            for c in range(n_classes):
                out[f, c, level] += cells[row, 1 + c]
            level += 1
        if pending:
            for c in range(n_classes):
                out[f, c, level] = zeros[f, c]
