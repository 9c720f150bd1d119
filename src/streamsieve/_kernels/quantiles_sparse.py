"""Quantiles over the non-zeros of CSR rows: a hot slot a feature, and sorted runs for everything else.

``hot[feature]`` is [value, mass of class 0, 1, ...]: the first non-zero value the feature ever had, or 0.  A
column with one non-zero value never leaves it: a cache line and an addition a non-zero, exact for ever.

Any other non-zero is an entry (prefix, value, mass) with ``prefix = feature << shift | class``.  Entries
are staged in order of arrival.  A full stage becomes a run: sorted by prefix and value, equal entries summed.
Two runs merge into one, which is thinned where a prefix has too many values.

A mass of None stands for 1 everywhere.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt
from numba.core import cgutils, types
from numba.extending import intrinsic

from streamsieve.protocols import FloatArray, IntArray

CACHE_LINE = 64

#: An array that may go along, or None; Numba compiles the two cases apart.
Optional: TypeAlias = Any

if nb.config.DISABLE_JIT:

    def _prefetch(array: Any, offset: int) -> None:
        """Do nothing: there is no machine code to speed up."""

else:
    from llvmlite import ir

    @intrinsic
    def _prefetch(_typing: Any, array: Any, offset: Any) -> Any:
        """Ask for ``array[offset]``'s cache line, to be written to soon."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            view = context.make_array(signature.args[0])(context, builder, args[0])
            address = builder.gep(view.data, [args[1]])
            byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            for_writing, keep, data = ir.Constant(word, 1), ir.Constant(word, 3), ir.Constant(word, 1)
            builder.call(function, [builder.bitcast(address, byte), for_writing, keep, data])
            return context.get_dummy_value()

        return types.void(array, offset), generate


def aligned_zeros(shape: tuple[int, ...]) -> FloatArray:
    """Zeros that begin at a cache line: np.zeros starts 16 bytes off, and slots would straddle two."""
    size = int(np.prod(shape))
    raw = np.zeros(size + CACHE_LINE // 8)
    skip = (-raw.ctypes.data // 8) % (CACHE_LINE // 8)
    return raw[skip : skip + size].reshape(shape)


# ------------------------------------------------------------------------------------ into the stage


@nb.njit(nogil=True, cache=True)
def ingest(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, codes: IntArray,
    w: FloatArray, weighted: bool, hot: FloatArray, missing: FloatArray, shift: int,
    prefix: IntArray, value: FloatArray, mass: FloatArray, with_mass: bool, fill: int, row: int, entry: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Take CSR rows in, from an entry of a row on; return (row, entry, fill) where it stopped.

    It stops early at an entry that finds the stage full, or that is missing while ``missing`` has no rows.
    """
    width = hot.shape[1]
    flat = hot.reshape(hot.size)
    last = len(indices) - 1
    room = len(value)
    wi = 1.0
    while row < len(indptr) - 1:
        c = codes[row]
        if weighted:
            wi = w[row]
        end = indptr[row + 1] if wi > 0.0 else entry
        while entry < end:
            ahead = np.intp(indices[min(entry + 32, last)]) * width
            _prefetch(flat, ahead)
            if c >= 7:  # the mass is in another cache line than the value
                _prefetch(flat, ahead + 1 + c)
            j = np.intp(indices[entry])
            x = np.float64(data[entry])
            usual = flat[j * width]
            if x == usual and x != 0.0:
                flat[j * width + 1 + c] += wi
            elif np.isnan(x):
                if len(missing) == 0:
                    return row, entry, fill
                missing[j, c] += wi
            elif x != 0.0:
                if usual == 0.0:
                    flat[j * width] = x
                    flat[j * width + 1 + c] = wi
                else:
                    if fill == room:
                        return row, entry, fill
                    prefix[fill] = j << shift | c
                    value[fill] = x
                    if with_mass:
                        mass[fill] = wi
                    fill += 1
            entry += 1
        row += 1
        entry = indptr[row]
    return row, entry, fill


@nb.njit(nogil=True, cache=True)
def absorb_hot(
    other: FloatArray, classes: IntArray, hot: FloatArray, shift: int,
    prefix: IntArray, value: FloatArray, mass: FloatArray, fill: int, place: int,
) -> tuple[int, int]:  # fmt: skip
    """Merge another's hot slots in: equal values add up, a different one goes to the stage.

    ``place`` counts the other's (feature, class); returns (place, fill), early if the stage or its masses
    have no room.
    """
    n = len(classes)
    while place < len(other) * n:
        j, i = divmod(place, n)
        x, m = other[j, 0], other[j, 1 + i]
        if m > 0.0:
            if hot[j, 0] == 0.0:
                hot[j, 0] = x
            if hot[j, 0] == x:
                hot[j, 1 + classes[i]] += m
            else:
                if fill >= min(len(value), len(mass)):
                    return place, fill
                prefix[fill] = j << shift | classes[i]
                value[fill] = x
                mass[fill] = m
                fill += 1
        place += 1
    return place, fill


# ------------------------------------------------------------------------------------ sorting


@nb.njit(nogil=True, cache=True)
def _by_digit(
    prefix: IntArray, value: FloatArray, mass: Optional,
    out_prefix: IntArray, out_value: FloatArray, out_mass: Optional, shift: int, place: IntArray,
) -> None:  # fmt: skip
    """Sort by the digit of the prefix that begins at bit ``shift``; ``place`` has an element a digit."""
    last = len(place) - 1
    for d in range(len(place)):
        place[d] = 0
    for i in range(len(prefix)):
        place[(prefix[i] >> shift) & last] += 1
    before = 0
    for d in range(len(place)):
        count = place[d]
        place[d] = before
        before += count
    for i in range(len(prefix)):
        d = (prefix[i] >> shift) & last
        t = place[d]
        place[d] = t + 1
        out_prefix[t] = prefix[i]
        out_value[t] = value[i]
        if mass is not None:
            out_mass[t] = mass[i]


@nb.njit(nogil=True, cache=True)
def by_prefix(
    prefix: IntArray, value: FloatArray, mass: Optional,
    other_prefix: IntArray, other_value: FloatArray, other_mass: Optional,
) -> None:  # fmt: skip
    """Sort by prefix, equal ones in the order they had, with the help of arrays of the same size.

    A radix sort from the last digit on, there and back: two passes for prefixes of up to 24 bits.
    """
    used = np.int64(0)
    for i in range(len(prefix)):
        used |= prefix[i]
    passes = 2
    while passes < 6 and used >> (12 * passes):
        passes += 2
    digit = 1
    while digit * passes < 63 and used >> (digit * passes):
        digit += 1
    place = np.empty(1 << digit, np.int64)
    for k in range(0, passes, 2):
        _by_digit(prefix, value, mass, other_prefix, other_value, other_mass, k * digit, place)
        _by_digit(other_prefix, other_value, other_mass, prefix, value, mass, (k + 1) * digit, place)


@nb.njit(nogil=True, cache=True)
def _merge_values(
    value: FloatArray, tag: Optional, mark: Optional,
    out_value: FloatArray, out_tag: Optional, out_mark: Optional, low: int, mid: int, high: int,
) -> None:  # fmt: skip
    """Merge low..mid and mid..high into the same places of the other arrays, the left one first among equals.

    From both ends at once: as many steps as the shorter part is long need no bounds, and two chains of
    instructions run side by side.  Nothing branches on a value, which would be a coin toss: tags and marks
    are chosen by arithmetic.  Unsigned indices are spared the test for negative ones.
    """
    if mid == high or value[mid - 1] <= value[mid]:
        for n in range(low, high):
            out_value[n] = value[n]
            if tag is not None:
                out_tag[n] = tag[n]
            if mark is not None:
                out_mark[n] = mark[n]
        return
    one = np.uintp(1)
    i, j, k = np.uintp(low), np.uintp(mid), np.uintp(low)  # up from here
    a, b, q = np.uintp(mid), np.uintp(high), np.uintp(high)  # down from below here
    for _ in range(min(mid - low, high - mid)):
        x, z = value[i], value[j]
        right = z < x
        out_value[k] = z if right else x
        if tag is not None:
            out_tag[k] = tag[i] ^ ((tag[i] ^ tag[j]) & -np.int64(right))
        if mark is not None:
            out_mark[k] = mark[i] ^ ((mark[i] ^ mark[j]) & -np.int64(right))
        i += np.uintp(not right)
        j += np.uintp(right)
        k += one
        q -= one
        x, z = value[a - one], value[b - one]
        left = z < x
        out_value[q] = x if left else z
        if tag is not None:
            out_tag[q] = tag[b - one] ^ ((tag[a - one] ^ tag[b - one]) & -np.int64(left))
        if mark is not None:
            out_mark[q] = mark[b - one] ^ ((mark[a - one] ^ mark[b - one]) & -np.int64(left))
        a -= np.uintp(left)
        b -= np.uintp(not left)
    while k < q:
        right = i == a or (j < b and value[j] < value[i])
        s = j if right else i
        out_value[k] = value[s]
        if tag is not None:
            out_tag[k] = tag[s]
        if mark is not None:
            out_mark[k] = mark[s]
        i += np.uintp(not right)
        j += np.uintp(right)
        k += one


@nb.njit(nogil=True, cache=True)
def _by_value(
    value: FloatArray, tag: Optional, other_value: FloatArray, other_tag: Optional, low: int, high: int
) -> None:
    """Sort low..high by value, equal ones in the order they had; tags go along.

    A merge sort, so never quadratic.  It begins with small blocks, sorted by counting into the other arrays;
    their size is such that the last merge ends in the first arrays again.
    """
    block, width = 4, 8
    while width < high - low:
        width *= 2
        block = 12 - block
    for start in range(low, high, block):
        end = min(start + block, high)
        for i in range(start, end):
            x = value[i]
            place = start
            for j in range(start, i):
                place += value[j] <= x
            for j in range(i + 1, end):
                place += value[j] < x
            other_value[place] = x
            if tag is not None:
                other_tag[place] = tag[i]
    width = block
    here, there = (other_value, other_tag), (value, tag)
    while True:  # once at least, if only to copy a single block back
        for start in range(low, high, 2 * width):
            mid, end = min(start + width, high), min(start + 2 * width, high)
            _merge_values(here[0], here[1], None, there[0], there[1], None, start, mid, end)
        width *= 2
        if width >= high - low:
            break
        here, there = there, here


@nb.njit(nogil=True, cache=True)
def sort_stage(
    prefix: IntArray, value: FloatArray, mass: Optional,
    other_prefix: IntArray, other_value: FloatArray, other_mass: Optional,
) -> None:  # fmt: skip
    """Sort by prefix and value, equal ones in the order they had; the other arrays are only a help."""
    by_prefix(prefix, value, mass, other_prefix, other_value, other_mass)
    start = np.int64(0)  # a plain 0 would be compiled as a case of its own
    while start < len(prefix):
        end = start + 1
        while end < len(prefix) and prefix[end] == prefix[start]:
            end += 1
        if end - start > 1:
            if mass is None:
                _by_value(value, None, other_value, None, start, end)
            else:
                _by_value(value, mass.view(np.int64), other_value, other_mass.view(np.int64), start, end)
        start = end


@nb.njit(nogil=True, cache=True)
def take_range(
    prefix: IntArray, value: FloatArray, mass: Optional, low: int, high: int,
    out_prefix: IntArray, out_value: FloatArray, out_mass: Optional,
) -> int:  # fmt: skip
    """Copy the entries with low <= prefix < high; their number.  ``out`` needs room for one entry more."""
    n = 0
    for i in range(len(prefix)):
        p = prefix[i]
        out_prefix[n] = p
        out_value[n] = value[i]
        if mass is not None:
            out_mass[n] = mass[i]
        n += int((low <= p) & (p < high))
    return n


@nb.njit(nogil=True, cache=True)
def _ordered_until(value: FloatArray, low: int, high: int) -> int:
    """Where the values that begin at ``low`` first fall, or ``high``."""
    i = low + 1
    while i < high and value[i - 1] <= value[i]:
        i += 1
    return min(i, high)


@nb.njit(nogil=True, cache=True)
def pool_classes(
    prefix: IntArray, value: FloatArray, mass: FloatArray, shift: int,
    other_prefix: IntArray, other_value: FloatArray, other_mass: FloatArray, low: int, high: int,
) -> None:  # fmt: skip
    """Reorder low..high of a run, which are whole features: by feature and value, classes together.

    A class's values are in order already; in every round neighbours merge two and two.
    """
    home = (value, mass.view(np.int64), prefix)
    away = (other_value, other_mass.view(np.int64), other_prefix)
    start = low
    while start < high:
        feature = prefix[start] >> shift
        end = start + 1
        while end < high and prefix[end] >> shift == feature:
            end += 1
        here, there = home, away
        at_home = True
        merges = 2 if prefix[start] != prefix[end - 1] else 1
        while merges > 1 or not at_home:
            merges = 0
            at = start
            while at < end:
                mid = _ordered_until(here[0], at, end)
                stop = _ordered_until(here[0], mid, end)
                _merge_values(here[0], here[1], here[2], there[0], there[1], there[2], at, mid, stop)
                at = stop
                merges += 1
            here, there = there, here
            at_home = not at_home
        start = end


# ------------------------------------------------------------------------------------ runs


@nb.njit(nogil=True, cache=True)
def merge_runs(
    prefix_a: IntArray, value_a: FloatArray, mass_a: FloatArray,
    prefix_b: IntArray, value_b: FloatArray, mass_b: FloatArray,
    prefix: IntArray, value: FloatArray, mass: FloatArray,
) -> None:  # fmt: skip
    """Merge two runs as :func:`_merge_values` does; equal entries come to stand side by side."""
    x_a, x_b, x = value_a.view(np.int64), value_b.view(np.int64), value.view(np.int64)
    m_a, m_b, m = mass_a.view(np.int64), mass_b.view(np.int64), mass.view(np.int64)
    one = np.uintp(1)
    i, j, k = np.uintp(0), np.uintp(0), np.uintp(0)
    a, b, q = np.uintp(len(prefix_a)), np.uintp(len(prefix_b)), np.uintp(len(prefix))
    for _ in range(min(len(prefix_a), len(prefix_b))):
        s, t = prefix_a[i], prefix_b[j]
        second = (t < s) | ((t == s) & (value_b[j] < value_a[i]))
        mask = -np.int64(second)
        prefix[k] = s ^ ((s ^ t) & mask)
        x[k] = x_a[i] ^ ((x_a[i] ^ x_b[j]) & mask)
        m[k] = m_a[i] ^ ((m_a[i] ^ m_b[j]) & mask)
        i += np.uintp(not second)
        j += np.uintp(second)
        k += one
        u, v = a - one, b - one
        q -= one
        s, t = prefix_a[u], prefix_b[v]
        first = (t < s) | ((t == s) & (value_b[v] < value_a[u]))
        mask = -np.int64(first)
        prefix[q] = t ^ ((s ^ t) & mask)
        x[q] = x_b[v] ^ ((x_a[u] ^ x_b[v]) & mask)
        m[q] = m_b[v] ^ ((m_a[u] ^ m_b[v]) & mask)
        a -= np.uintp(first)
        b -= np.uintp(not first)
    while k < q:
        second = i == a
        if not second and j < b:
            s, t = prefix_a[i], prefix_b[j]
            second = t < s or (t == s and value_b[j] < value_a[i])
        if second:
            prefix[k], value[k], mass[k] = prefix_b[j], value_b[j], mass_b[j]
            j += one
        else:
            prefix[k], value[k], mass[k] = prefix_a[i], value_a[i], mass_a[i]
            i += one
        k += one


@nb.njit(nogil=True, cache=True)
def compact(
    prefix: IntArray, value: FloatArray, mass: Optional, out_mass: FloatArray, most: int
) -> tuple[int, float]:
    """Sum equal neighbours and leave no prefix more than ``most`` values, in place.

    Returns the new length and the error, as a share of a prefix's mass.  ``out_mass`` may be ``mass``.
    """
    n, start = len(prefix), 0
    out = np.int64(0)  # a plain 0 would be compiled as a case of its own
    worst = 0.0
    while start < n:
        p = prefix[start]
        first = out
        while start < n and prefix[start] == p:
            x = value[start]
            m = 1.0 if mass is None else mass[start]
            if out > first and value[out - 1] == x:
                out_mass[out - 1] += m
            else:
                prefix[out] = p
                value[out] = x
                out_mass[out] = m
                out += 1
            start += 1
        if out - first > most:
            out, error = _thin(prefix, value, out_mass, first, out, most)
            worst = max(worst, error)
    return int(out), worst


@nb.njit(nogil=True, cache=True)
def _thin(
    prefix: IntArray, value: FloatArray, mass: FloatArray, low: int, high: int, most: int
) -> tuple[int, float]:
    """Leave at most ``most`` values of low..high, which are one prefix; return the new end and the error.

    With M the mass and ``d = M / most``, neighbours form cells, and the mass of a cell moves to one of its
    values: the last that has at most d of the cell below it.  The cell ends before it has more than d above.
    So the mass up to any x changes by at most d.  A cell and the first value of the next weigh more than 2 d
    together, hence there are at most ``most`` cells.  Masses are only added up: whole numbers stay exact.
    """
    total = 0.0
    for i in range(low, high):
        total += mass[i]
    d = total / most
    worst = 0.0
    out, i = low, low
    while i < high:
        below = 0.0
        while i + 1 < high and below + mass[i] <= d:
            below += mass[i]
            i += 1
        x, m = value[i], below + mass[i]
        above = 0.0
        i += 1
        while i < high and above + mass[i] <= d:
            above += mass[i]
            i += 1
        prefix[out] = prefix[low]
        value[out] = x
        mass[out] = m + above
        out += 1
        worst = max(worst, below, above)
    return out, worst / total


@nb.njit(nogil=True, cache=True)
def is_sound(
    prefix: IntArray, value: FloatArray, mass: Optional, shift: int, n_classes: int,
    hot: FloatArray, ordered: bool,
) -> bool:  # fmt: skip
    """Whether entries can be those of a stage (or, if ordered, a run): known features, finite, positive."""
    last = (1 << shift) - 1
    for i in range(len(prefix)):
        p = prefix[i]
        if p < 0 or p >> shift >= len(hot) or (p & last) >= n_classes or hot[p >> shift, 0] == 0.0:
            return False
        if not 0.0 < abs(value[i]) < np.inf:
            return False
        if mass is not None and not 0.0 < mass[i] < np.inf:
            return False
        if ordered and i > 0 and not (prefix[i - 1] < p or (prefix[i - 1] == p and value[i - 1] < value[i])):
            return False
    return True


# ------------------------------------------------------------------------------------ answers


@nb.njit(nogil=True, cache=True)
def first_of(prefix: IntArray, shift: int, feature: int) -> int:
    """Where a feature's entries begin; prefixes need only be in order of their features."""
    low, high = 0, len(prefix)
    while low < high:
        mid = (low + high) // 2
        if prefix[mid] >> shift < feature:
            low = mid + 1
        else:
            high = mid
    return low


@nb.njit(nogil=True, cache=True)
def add_stored(prefix: IntArray, mass: FloatArray, shift: int, low: int, high: int, out: FloatArray) -> None:
    """Add the masses of the entries of features low..high to ``out[feature - low, class]``."""
    last = (1 << shift) - 1
    for i in range(first_of(prefix, shift, low), len(prefix)):
        p = prefix[i]
        if p >> shift >= high:
            break
        out[(p >> shift) - low, p & last] += mass[i]


@nb.njit(nogil=True, cache=True)
def fill_tables(
    prefix: IntArray, value: FloatArray, mass: FloatArray, shift: int, first: int,
    hot: FloatArray, zeros: FloatArray, weight: FloatArray, whole: bool,
    low: int, high: int, counts: FloatArray,
) -> None:  # fmt: skip
    """Fill ``counts[row, class, bin]`` for rows low..high; a row is a feature, row 0 is feature ``first``.

    Entries must have their classes pooled; ``hot``, ``zeros`` and ``weight`` are by row.  A value's bin is
    the number of i = 1 .. bins - 1 with i d <= the mass strictly below it, where d is weight / bins.
    """
    n_classes, bins = counts.shape[1], counts.shape[2]
    last = (1 << shift) - 1
    at = first_of(prefix, shift, first + low)
    for r in range(low, high):
        d = max(1.0, np.floor(weight[r] / bins)) if whole else weight[r] * (1.0 - 1e-12) / bins
        some_zeros = False
        for c in range(n_classes):
            some_zeros |= zeros[r, c] > 0.0
        usual = hot[r, 0]
        some_hot = usual != 0.0
        below = 0.0
        b = 0
        while True:
            some_cold = at < len(prefix) and prefix[at] >> shift == first + r
            if not (some_cold or some_hot or some_zeros):
                break
            x = value[at] if some_cold else np.inf
            if some_hot and usual < x:
                x = usual
            if some_zeros and x > 0.0:
                x = 0.0
            while b < bins - 1 and (b + 1) * d <= below:
                b += 1
            if some_zeros and x == 0.0:
                some_zeros = False
                for c in range(n_classes):
                    counts[r, c, b] += zeros[r, c]
                    below += zeros[r, c]
            if some_hot and x == usual:
                some_hot = False
                for c in range(n_classes):
                    counts[r, c, b] += hot[r, 1 + c]
                    below += hot[r, 1 + c]
            while at < len(prefix) and prefix[at] >> shift == first + r and value[at] == x:
                counts[r, prefix[at] & last, b] += mass[at]
                below += mass[at]
                at += 1
