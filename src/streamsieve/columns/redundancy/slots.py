"""Growable slots: the arrays in which rules hold kept columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, IntArray

#: Axes of an array: a size; ``SLOT``, an entry per slot; or ``TILE``, an entry per tile of slots.
Shape = tuple[int | str, ...]
SLOT, TILE = "slot", "tile"


class Slots:
    """Named arrays with an entry per slot, which double together when all slots are taken.

    Parameters
    ----------
    first : number of slots at first
    lanes : slots per tile, for kernels that compare a column with many kept ones at a time
    fields : ``name=(dtype, shape)``; an array of pairs has two axes ``SLOT``, an array of tiles has the axes
        ``(TILE, n, lanes)``.  New entries are 0; pages of zeros cost nothing until a column moves in.

    Examples
    --------
    >>> slots = Slots(2, columns=("f8", (SLOT, 100)), products=("f8", (SLOT, SLOT)), feature=("i8", (SLOT,)))
    >>> slots.double()
    >>> slots["columns"].shape, slots["products"].shape, len(slots)
    ((4, 100), (4, 4), 4)
    """

    def __init__(self, first: int, *, lanes: int = 1, **fields: tuple[str, Shape]) -> None:
        self.fields, self._capacity, self._lanes = fields, first, lanes
        self.arrays: Arrays = {name: np.zeros(self._shape(name), fields[name][0]) for name in fields}

    def _shape(self, name: str) -> tuple[int, ...]:
        sizes = {SLOT: self._capacity, TILE: self._capacity // self._lanes}
        return tuple(sizes[axis] if isinstance(axis, str) else axis for axis in self.fields[name][1])

    def __len__(self) -> int:
        return self._capacity

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.arrays[name]

    def of(self, *names: str) -> tuple[npt.NDArray[Any], ...]:
        """Return some arrays, as kernels take them."""
        return tuple(self.arrays[name] for name in names)

    def double(self, at_least: int = 0) -> None:
        """Add as many slots as there are, again and again until there are enough."""
        self._capacity *= 2
        while self._capacity < at_least:
            self._capacity *= 2
        for name, old in self.arrays.items():
            self.arrays[name] = np.zeros(self._shape(name), old.dtype)
            self.arrays[name][tuple(slice(size) for size in old.shape)] = old

    # ---------------------------------------------------------------- state

    def record(self, used: IntArray) -> Arrays:
        """Return the entries of the slots in use, in the given order; tiles become one row per column."""
        taken = {}
        for name, (_, axes) in self.fields.items():
            array = self.arrays[name]
            if TILE in axes:
                array = np.ascontiguousarray(array[used // self._lanes, :, used % self._lanes])
            for axis, kind in enumerate(axes):
                array = array.take(used, axis) if kind == SLOT else array
            taken[name] = array
        return taken

    def restore(self, record: Mapping[str, Any]) -> int:
        """Put recorded entries, checked by the rule's declaration, into the first slots; return how many."""
        q = len(record["feature"])
        if q > self._capacity:
            self.double(q)
        slots = np.arange(q)
        for name, (_, axes) in self.fields.items():
            shape = tuple(q if axis == SLOT else axis for axis in axes)
            if TILE in axes:
                shape = (q, axes[1])
            if record[name].shape != shape:
                raise StateError(f"the state's {name} have shape {record[name].shape} instead of {shape}")
            if TILE in axes:
                self.arrays[name][slots // self._lanes, :, slots % self._lanes] = record[name]
            else:
                self.arrays[name][tuple(slice(size) for size in record[name].shape)] = record[name]
        return q
