"""Minimization of the quadratic approximation of a penalized loss."""

from __future__ import annotations

import math

from streamsieve._kernels import grafting
from streamsieve.protocols import FloatArray

#: Passes of coordinate descent before a Newton step, which costs as much.
ROUNDS = 10


def minimize(work: FloatArray) -> float:
    """Minimize the quadratic approximation by coordinate descent, with Newton steps if that is slow.

    Stops when every gradient is accurate enough, or when only rounding is left.  Returns the distance to the
    minimum.
    """
    best, in_vain, excess = math.inf, 0, math.inf
    rounds = ROUNDS + work.shape[1] // 6
    while in_vain < 5:
        excess = grafting.descend(work, rounds)
        if excess <= 1:
            break
        in_vain += 1
        if excess < 0.5 * best:
            best, in_vain = excess, 0
        grafting.walk(work)
    return excess
