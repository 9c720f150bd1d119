"""Growable slots: the arrays in which rules and groups store kept columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.columns.redundancy.contract import RedundancyRule
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, IntArray

#: Axes of an array: a size; ``SLOT``, an entry per slot; or ``TILE``, an entry per tile of slots.
Shape = tuple[int | str, ...]
SLOT, TILE = "slot", "tile"
#: Initial number of slots.
FIRST_SLOTS = 32


class Slots:
    """Named arrays with an entry per slot, which double together when all slots are taken.

    Parameters
    ----------
    first : initial number of slots; None for ``FIRST_SLOTS``
    fields : ``name=(dtype, shape)``; an array of pairs has two axes ``SLOT``.  An array of tiles has the axes
        ``(TILE, n, lanes)``, for kernels that compare a column with many kept ones at a time.  New entries
        are 0; the operating system allocates pages of zeros on first use.

    Examples
    --------
    >>> slots = Slots(2, columns=("f8", (SLOT, 100)), products=("f8", (SLOT, SLOT)), feature=("i8", (SLOT,)))
    >>> slots.double()
    >>> slots["columns"].shape, slots["products"].shape, len(slots)
    ((4, 100), (4, 4), 4)
    """

    def __init__(self, first: int | None = None, /, **fields: tuple[str, Shape]) -> None:
        self.fields, self._capacity = fields, first or FIRST_SLOTS
        self._lanes = next((int(axes[2]) for _, axes in fields.values() if TILE in axes), 1)
        self.arrays: Arrays = {name: np.zeros(self._shape(name), fields[name][0]) for name in fields}
        #: Permutation of all slots; kernels keep those in use first, in order of arrival.
        self.order = np.arange(self._capacity)
        self._free = self.order[::-1].copy()

    def _shape(self, name: str) -> tuple[int, ...]:
        sizes = {SLOT: self._capacity, TILE: self._capacity // self._lanes}
        return tuple(sizes[axis] if isinstance(axis, str) else axis for axis in self.fields[name][1])

    def __len__(self) -> int:
        return self._capacity

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.arrays[name]

    def of(self, *names: str) -> tuple[npt.NDArray[Any], ...]:
        """Return some arrays, as arguments of kernels."""
        return tuple(self.arrays[name] for name in names)

    def double(self, at_least: int = 0) -> None:
        """Double the number of slots until there are enough."""
        before = self._capacity
        self._capacity *= 2
        while self._capacity < at_least:
            self._capacity *= 2
        for name, old in self.arrays.items():
            self.arrays[name] = np.zeros(self._shape(name), old.dtype)
            self.arrays[name][tuple(slice(size) for size in old.shape)] = old
        new = np.arange(before, self._capacity)
        self.order = np.concatenate([self.order, new])
        self._free = np.concatenate([new[::-1], self._free])

    def take(self, m: int) -> IntArray:
        """Return m free slots, for stores that take and release them."""
        while len(self._free) < m:
            self.double()
        left = len(self._free) - m
        slots, self._free = self._free[left:][::-1], self._free[:left]
        return slots

    def release(self, slots: IntArray) -> None:
        """Free slots."""
        self._free = np.concatenate([self._free, slots])

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
        self._free = np.arange(q, self._capacity)[::-1]
        return q


class SlottedRule(RedundancyRule):
    """A rule whose kept columns are in the first slots of ``slots.order``, with their arrival numbers."""

    slots: Slots
    #: Number of columns kept.
    _kept: int = 0

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        kept: IntArray = self.slots["feature"][self.slots.order[: self._kept]]
        return kept

    def _record(self) -> Mapping[str, Any]:
        return self.slots.record(self.slots.order[: self._kept])

    @classmethod
    @abstractmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        """Return a rule without columns, configured by the record."""

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        rule = cls._empty(record)
        rule._kept = rule.slots.restore(record)  # noqa: SLF001 - its own class
        return rule
