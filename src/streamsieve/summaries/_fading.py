"""Forgetting at a half-life, without ever touching what is stored.

To let all old rows weigh less, let each new row weigh more: row t weighs ``2 ** (t / half_life)``.  Every
statistic is a ratio, so the common factor cancels.  When the factor grows large, everything stored is
multiplied once by a power of two, which is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve._parameters import check_number
from streamsieve.exceptions import StateError
from streamsieve.protocols import FloatArray

#: log2 of the largest factor at the start of a step; within one it may double, and squares are summed too.
LARGEST = 100
#: Rows that nobody lives to see.
LONGEST = 1e15


def remainder(whole: Any, part: FloatArray, n_rows: Any) -> FloatArray:
    """Return ``whole - part`` for sums of weights, with what is only rounding of n_rows terms set to 0.

    Fractional weights add up differently in different orders; the residue of two sums that should be equal
    must not count as mass.
    """
    rest = whole - part
    # whole numbers add up exactly
    exact = (whole == np.floor(whole)) & (part == np.floor(part))
    slack = np.where(exact, 0.0, whole * np.minimum(n_rows * np.finfo(np.float64).eps, 1e-6))
    return np.where(rest > slack, rest, 0.0)


class Fading:
    """The clock of a summary.

    It counts rows, and derives each weight from the count: weights are the same to the last bit however the
    rows are cut into batches.

    Parameters
    ----------
    half_life : rows after which an observation weighs half, or None
    ticks : rows that have passed
    shift : whole powers of two taken out so far
    """

    def __init__(self, half_life: float | None, ticks: int = 0, shift: float = 0.0) -> None:
        if half_life is not None:
            check_number("half_life", half_life, low=1, high=LONGEST)
        self.half_life, self.ticks, self.shift = half_life, ticks, shift

    @property
    def exponent(self) -> float:
        """log2 of the next row's weight."""
        return 0.0 if self.half_life is None else self.ticks / self.half_life - self.shift

    @property
    def most_rows(self) -> int | None:
        """How many rows fit into one step without overflow; None for any number."""
        return None if self.half_life is None else max(1, int(LARGEST * self.half_life))

    def factors(self, n: int) -> FloatArray | None:
        """Return the weights of the next n rows, or None if nothing fades."""
        if self.half_life is None:
            return None
        return np.exp2(np.arange(self.ticks, self.ticks + n) / self.half_life - self.shift)

    def advance(self, n: int) -> float | None:
        """Let n rows pass; return the factor by which to rescale everything stored, if it is time."""
        if self.half_life is None:
            return None
        self.ticks += n
        if self.exponent <= LARGEST:
            return None
        return self.shrink()

    def shrink(self) -> float:
        """Take the whole part of the exponent out, and return the power of two that does so."""
        whole = float(np.floor(self.exponent))
        self.shift += whole
        return float(np.exp2(-whole))

    def precede(self, other: Fading, n_other: int) -> float:
        """Let the other's rows come after ours: return the factor for what we have stored.

        Afterwards this clock shows the other's time, in the other's units.
        """
        if self.half_life is None:
            return 1.0
        factor = float(np.exp2(other.exponent - self.exponent - n_other / self.half_life))
        self.ticks, self.shift = other.ticks, other.shift
        return factor

    def state(self) -> FloatArray:
        """Return the half-life (NaN for none), the ticks and the shift."""
        return np.array([np.nan if self.half_life is None else self.half_life, self.ticks, self.shift])

    @classmethod
    def from_state(cls, array: Any) -> Fading:
        """Rebuild."""
        half_life, ticks, shift = (float(v) for v in array)
        fits = ticks >= 0 and ticks == np.floor(ticks) < 2**62 and shift == np.floor(shift) < np.inf
        fading = cls(None)
        if fits and 1 <= half_life <= LONGEST:
            fading = cls(half_life, int(ticks), shift)
            fits = -1e-9 <= fading.exponent <= 2 * LARGEST
        elif not np.isnan(half_life):
            fits = False
        if not fits:
            raise StateError(f"the state claims {ticks} rows, shift {shift} and half-life {half_life}")
        return fading
