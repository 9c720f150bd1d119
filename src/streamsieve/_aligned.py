"""Cache-aligned arrays for sparse kernels, so that a cell never straddles two cache lines."""

from __future__ import annotations

import numpy as np

from streamsieve.protocols import FloatArray

CACHE_LINE = 64


def aligned_zeros(shape: tuple[int, ...]) -> FloatArray:
    """Zeros that begin at a cache line: np.zeros starts 16 bytes off, and cells would straddle two."""
    size = int(np.prod(shape))
    raw = np.zeros(size + CACHE_LINE // 8)
    skip = (-raw.ctypes.data // 8) % (CACHE_LINE // 8)
    return raw[skip : skip + size].reshape(shape)
