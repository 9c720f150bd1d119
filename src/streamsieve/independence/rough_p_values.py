"""P-values of correlations of which an online FDR procedure needs few digits: on which side of some edges.

Most columns are far from significant.  Whether their test ticks is seen from the correlation, and their
p-values are computed when they are read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from streamsieve.lazy_p_values import PValues, ReplacedPValues
from streamsieve.protocols import BoolArray, FloatArray, IntArray

#: Factor between a p-value and one that is surely larger, whatever the rounding of both.
APART = 1 + 1e-8

#: Function from p-values to the correlations that have them.
Critical = Callable[[FloatArray], FloatArray]


@lru_cache(maxsize=64)
def _cuts(edges: tuple[float, ...], critical: Critical) -> tuple[FloatArray, FloatArray]:
    """Return correlations on either side of each edge, increasing, and lower bounds between the edges."""
    falling = np.array(sorted(edges, reverse=True))
    cuts = np.column_stack([critical(falling * APART), critical(falling * (2 - APART))]).reshape(-1)
    return cuts, np.append(falling * APART, 0.0)


class RoughPValues(PValues):
    """P-values of correlations (ratios) with the target.

    Parameters
    ----------
    function : from correlations to p-values
    r : the correlations
    critical : the inverse of ``function``, for p-values below 1
    levels : bounds are as close as these; p-values below all of them are never rough
    """

    __slots__ = ("_critical", "_levels")

    def __init__(
        self,
        function: Callable[..., FloatArray],
        r: FloatArray,
        critical: Critical,
        levels: tuple[float, ...],
    ) -> None:
        super().__init__(function, r)
        self._critical, self._levels = critical, levels

    def rough(self, part: IntArray, edges: tuple[float, ...]) -> tuple[FloatArray, BoolArray]:
        """Return some p-values, and which of them are lower bounds on the same side of all ``edges``."""
        cuts, bounds = _cuts((*edges, *self._levels), self._critical)
        place = np.searchsorted(cuts, np.abs(self._arrays[0][part]))
        # at odd places a correlation is too close to an edge
        rough = (place % 2 == 0) & (place < len(cuts))
        p_values, exact = bounds[place // 2], np.flatnonzero(~rough)
        p_values[exact] = self[part[exact]]
        return p_values, rough


class RoughAndReplaced(ReplacedPValues):
    """The same, of which some come from another test."""

    __slots__ = ()

    _before: RoughPValues | RoughAndReplaced

    def rough(self, part: IntArray, edges: tuple[float, ...]) -> tuple[FloatArray, BoolArray]:
        """Return some p-values, and which of them are lower bounds on the same side of all ``edges``."""
        left = np.ones(len(self), bool)
        left[self._at] = False
        rough = left[part]
        some, at = np.flatnonzero(rough), np.flatnonzero(~rough)
        p_values = np.empty(len(part))
        p_values[at] = self._values[:] if len(at) == len(self._at) else self[part[at]]
        p_values[some], rough[some] = self._before.rough(part[some], edges)
        return p_values, rough
