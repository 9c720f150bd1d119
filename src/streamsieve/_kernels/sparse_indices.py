"""One look at the index arrays of a CSR or CSC matrix, before anything is read or written by them."""

from __future__ import annotations

import numba as nb

from streamsieve.protocols import IntArray


@nb.njit(nogil=True, cache=True)
def look(indptr: IntArray, indices: IntArray, width: int) -> int:
    """Return 0 if rows are sorted without duplicates, 1 if not; 2 for bad pointers, 3 for a bad index.

    Falls (an index that is not above the one before it) are counted over all entries, which takes no branch,
    and once more where rows begin; rows are sorted and unique if there are no falls but these, and then their
    ends bound all indices.  The number of entries is ``indptr[-1]``; there may be more indices than that.
    """
    n, entries = len(indptr) - 1, indptr[len(indptr) - 1]
    broken = indptr[0] != 0 or entries > len(indices)
    for i in range(n):
        broken |= indptr[i + 1] < indptr[i]
    if broken:
        return 2
    if entries == 0:
        return 0
    falls = at_starts = 0
    least, most = indices[0], indices[entries - 1]
    i = 1
    for low in range(1, entries, 4096):  # counts of a block are small, and its indices stay in the cache
        high = min(low + 4096, entries)
        now, before = indices[low:high], indices[low - 1 : high - 1]
        count = nb.int32(0)
        for e in range(len(now)):
            count += nb.int32(now[e] <= before[e])
        falls += count
        while i < n and indptr[i] < high:  # the rows that begin here
            start = indptr[i]
            if start != indptr[i - 1]:
                first, last = indices[start], indices[start - 1]
                at_starts += first <= last
                least, most = min(least, first), max(most, last)
            i += 1
    if falls > at_starts:  # then the ends of rows are not their extremes
        for e in range(entries):
            least, most = min(least, indices[e]), max(most, indices[e])
    if least < 0 or most >= width:
        return 3
    return 1 if falls > at_starts else 0
