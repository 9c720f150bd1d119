"""Tables begin at a cache line."""

import pytest

from streamsieve._aligned import CACHE_LINE, aligned_zeros


@pytest.mark.parametrize("shape", [(3,), (5, 2, 4), (1, 1, 4), (0, 2, 4), (5, 4), (1, 2), (0, 4)])
def test_tables_begin_at_a_cache_line(shape):
    table = aligned_zeros(shape)
    assert table.shape == shape
    assert table.ctypes.data % CACHE_LINE == 0 or table.size == 0
    assert not table.any()
    assert table.flags.c_contiguous
