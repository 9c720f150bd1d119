"""Sort, merge and thin entries (prefix, value, mass) of log-structured runs.

A run is sorted by prefix and value, and no two of its entries are alike.  A mass of None stands for 1.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numba as nb
import numpy as np

from streamsieve.protocols import FloatArray, IntArray

#: An array that may go along, or None; Numba compiles the two cases apart.
Optional: TypeAlias = Any


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
    instructions run side by side.  No branch depends on a value, and unsigned indices need no sign test.
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

    A class's values are in order already; in every round neighbors merge two and two.
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
    """Sum equal neighbors and leave no prefix more than ``most`` values, in place.

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

    With M the mass and ``d = M / most``, neighbors form cells, and the mass of a cell moves to one of its
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
