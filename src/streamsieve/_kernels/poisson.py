"""Poisson(1) weights that are a function of (seed, row, replica): no state, any order, any cutting."""

from __future__ import annotations

import numba as nb
import numpy as np

from streamsieve.protocols import FloatArray


@nb.njit(nogil=True, cache=True)
def poisson_weights(seed: int, first_row: int, n_rows: int, group: int) -> FloatArray:
    """Return the weights of ``n_rows`` rows from ``first_row`` on in four replicas, from ``4 * group`` on.

    Philox4x32-10 (Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011)
    with the seed as key and (row, group) as counter gives four numbers of 32 bits, one a replica; each
    becomes a count by inverting the distribution function.  Numbers of 32 bits in words of 64: no product
    overflows, with or without a compiler.
    """
    # floor(2^32 P(count <= i)), as far as 32 bits tell; a count is that of the steps at or below a number
    steps = np.array(
        [1580030168, 3160060337, 3950075421, 4213413783, 4279248373, 4292415291, 4294609777, 4294923276,
         4294962463, 4294966817, 4294967252, 4294967292, 4294967295],
        np.uint64,
    )  # fmt: skip
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    multiplier_0, multiplier_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
    step_0, step_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
    out = np.empty((4, n_rows))
    for i in range(n_rows):
        row = np.uint64(first_row + i)
        a, b, c, d = row & low, row >> half, np.uint64(group), np.uint64(0)
        key_0, key_1 = np.uint64(seed) & low, np.uint64(seed) >> half
        for _ in range(10):
            first, second = a * multiplier_0, c * multiplier_1
            a, b = (second >> half) ^ b ^ key_0, second & low
            c, d = (first >> half) ^ d ^ key_1, first & low
            key_0, key_1 = (key_0 + step_0) & low, (key_1 + step_1) & low
        for j, word in enumerate((a, b, c, d)):
            count = 0
            while count < len(steps) and word >= steps[count]:
                count += 1
            out[j, i] = count
    return out
