"""One look finds what a slow loop finds."""

from itertools import pairwise

import numpy as np
import pytest

from streamsieve._kernels.sparse_indices import look


def slow(indptr, indices, width):
    if indptr[0] != 0 or indptr[-1] > len(indices) or any(b < a for a, b in pairwise(indptr)):
        return 2
    if any(not 0 <= i < width for i in indices[: indptr[-1]]):
        return 3
    rows = [indices[a:b] for a, b in pairwise(indptr)]
    return int(any(b <= a for row in rows for a, b in pairwise(row)))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_it_finds_what_a_slow_loop_finds(dtype):
    rng = np.random.default_rng(0)
    found = set()
    for _ in range(400):
        n, width = int(rng.integers(0, 6)), int(rng.integers(1, 9))
        rows = [np.sort(rng.choice(width, rng.integers(0, width + 1), replace=False)) for _ in range(n)]
        indptr = np.cumsum([0, *map(len, rows)]).astype(dtype)
        indices = np.concatenate([*rows, np.zeros(rng.integers(0, 2))]).astype(dtype)
        for array, high in ((indptr, len(indices) + 2), (indices, width + 1)):
            if len(array) and rng.random() < 0.3:
                array[rng.integers(len(array))] = rng.integers(-1, high)
        want = slow(indptr.tolist(), indices.tolist(), width)
        assert look(indptr, indices, width) == want
        found.add(want)
    assert found == {0, 1, 2, 3}


@pytest.mark.parametrize("at", [0, 1, 16383, 16384, 16385, 39_999])
def test_it_looks_at_every_entry_of_long_rows(at):
    indices = np.arange(40_000, dtype=np.int32)
    indptr = np.array([0, 40_000], np.int32)
    assert look(indptr, indices, 40_000) == 0
    for value, want in ((-1, 3), (40_000, 3), (indices[max(at - 1, 0)] if at else 5, 1)):
        changed = indices.copy()
        changed[at] = value
        assert look(indptr, changed, 40_000) == want
