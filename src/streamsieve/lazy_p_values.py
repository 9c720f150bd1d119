"""Lazy p-values: of a million rejected columns, the p-values of few are ever read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray, IntArray


class PValues:
    """P-values of a block, computed on access; indexes like an array of them.

    ``function`` maps arrays (statistics, degrees of freedom) to p-values, elementwise.  It is a module-level
    function or a ``functools.partial`` of one, so that p-values can be sent to another process.
    """

    __slots__ = ("_arrays", "_function")

    def __init__(self, function: Callable[..., FloatArray], *arrays: npt.NDArray[Any]) -> None:
        self._function, self._arrays = function, arrays

    def __len__(self) -> int:
        return len(self._arrays[0])

    def __getitem__(self, part: Any) -> FloatArray:
        return self._function(*(array[part] for array in self._arrays))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:  # noqa: FBT001
        return np.asarray(self[:], dtype, copy=copy)

    def resolve(self) -> None:
        """Compute what needs the values of columns, so that these are not held any longer."""

    def release(self, needed: IntArray) -> None:
        """Hold no values of columns but those at these positions; other p-values are not read any more."""


def places(among: IntArray, wanted: IntArray) -> IntArray:
    """Return the positions of some numbers among others, both increasing; absent ones are left out."""
    if not len(among):
        return np.zeros(0, np.int64)
    place = np.minimum(np.searchsorted(among, wanted), len(among) - 1)
    found: IntArray = place[among[place] == wanted]
    return found


class ReplacedPValues(PValues):
    """P-values of a block, some of which (at increasing positions) come from another test."""

    __slots__ = ("_at", "_before", "_values")

    def __init__(self, before: PValues | FloatArray, at: IntArray, values: PValues | FloatArray) -> None:
        self._before, self._at, self._values = before, at, values

    def __len__(self) -> int:
        return len(self._before)

    def resolve(self) -> None:
        """Compute what needs the values of columns, so that these are not held any longer."""
        for part in (self._before, self._values):
            if isinstance(part, PValues):
                part.resolve()

    def release(self, needed: IntArray) -> None:
        """Hold no values of columns but those at these positions; other p-values are not read any more."""
        if isinstance(self._values, PValues):
            self._values.release(places(self._at, needed))

    def write_to(self, p_values: FloatArray) -> None:
        """Overwrite the entries whose p-values come from the other test."""
        if isinstance(self._before, ReplacedPValues):
            self._before.write_to(p_values)
        p_values[self._at] = self._values[:]

    def __getitem__(self, part: Any) -> FloatArray:
        # an array of all positions would cost more than the few that are usually asked for
        given = isinstance(part, np.ndarray) and part.dtype.kind == "i" and part.min(initial=0) >= 0
        positions = part if given else np.asarray(np.arange(len(self))[part])
        place = np.minimum(np.searchsorted(self._at, positions), len(self._at) - 1)
        found = self._at[place] == positions
        if not found.any():
            return np.array(self._before[part])
        p_values = np.empty(positions.shape)
        p_values[found] = self._values[place[found]]
        p_values[~found] = self._before[positions[~found]]
        return p_values
