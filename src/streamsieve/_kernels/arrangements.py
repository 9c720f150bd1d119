"""Wilks' lambda over random arrangements of a target: the distribution under independence."""

from __future__ import annotations

import numba as nb
import numpy as np

from streamsieve.protocols import FloatArray, IntArray


@nb.njit(nogil=True, cache=True)
def wilks(
    basis: FloatArray, sizes: IntArray, weights: FloatArray, numbers: IntArray, out: FloatArray
) -> None:
    """Fill Wilks' lambda of three functions and a target of few values, once per row of ``numbers``.

    ``basis`` has orthonormal functions that sum to 0, one column each.  ``sizes[g]`` rows have value g of the
    target; those of one more value are not listed.  ``weights[g]`` are the target's orthonormal contrasts
    there, minus those of the value that is not listed.  Which rows they are is drawn without replacement by
    ``numbers``, uniform below 2**31.
    """
    n, contrasts = len(basis), weights.shape[1]
    order = np.arange(n)
    loads = np.empty((3, contrasts))
    for draw in range(len(numbers)):
        loads[:] = 0.0
        at = 0
        for g in range(len(sizes)):
            s0 = s1 = s2 = 0.0
            for _ in range(sizes[g]):
                other = at + ((numbers[draw, at] * (n - at)) >> 31)
                row = order[other]
                order[other] = order[at]
                order[at] = row
                at += 1
                s0 += basis[row, 0]
                s1 += basis[row, 1]
                s2 += basis[row, 2]
            for c in range(contrasts):
                loads[0, c] += s0 * weights[g, c]
                loads[1, c] += s1 * weights[g, c]
                loads[2, c] += s2 * weights[g, c]
        a = b = c2 = 1.0
        d = e = f = 0.0
        for c in range(contrasts):
            p, q, r = loads[0, c], loads[1, c], loads[2, c]
            a -= p * p
            b -= q * q
            c2 -= r * r
            d -= p * q
            e -= p * r
            f -= q * r
        out[draw] = a * (b * c2 - f * f) - d * (d * c2 - f * e) + e * (d * f - b * e)
