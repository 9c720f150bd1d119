"""Columns of mixed types in slots, for comparing a candidate with many of them at once."""

from __future__ import annotations

import numpy as np

from streamsieve._kernels import mixed_pairs as kernel
from streamsieve.columns.redundancy.slots import SLOT, Slots
from streamsieve.independence.degenerate_gaussian import Embedded, Levels, dependence, logs
from streamsieve.protocols import FloatArray, IntArray

_NO_LEVELS = Levels(np.zeros(0, np.int32), 0, 0.0)
#: Minimum number of rows for a test of two numeric columns.
_FEWEST_ROWS = 3


class MixedColumns:
    """Columns by slot, in the form in which they are compared: codes of levels, or centered unit vectors."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._slots = Slots(
            codes=("i4", (SLOT, n)), many=("i8", (SLOT,)), entropy=("f8", (SLOT,)),
            values=("f8", (SLOT, n)), single=("?", (SLOT,)),
        )  # fmt: skip
        self._embedded: dict[int, Embedded] = {}

    def __getitem__(self, slot: int) -> Embedded:
        """Return the column in a slot."""
        return self._embedded[slot]

    def add(self, column: Embedded) -> int:
        """Put a column into a free slot, which is returned."""
        slot = int(self._slots.take(1)[0])
        self.put(slot, column)
        return slot

    def put(self, slot: int, column: Embedded) -> None:
        """Put a column into a slot."""
        if slot >= len(self._slots):
            self._slots.double(slot + 1)
        codes, many, entropy, values, single = self._slots.arrays.values()
        levels = column.levels or _NO_LEVELS
        many[slot], entropy[slot], single[slot] = levels.many, levels.entropy, column.basis.shape[1] == 1
        if levels.many:
            codes[slot] = levels.codes
        if single[slot]:
            values[slot] = column.basis[:, 0]
        self._embedded[slot] = column

    def drop(self, slot: int) -> None:
        """Free a slot."""
        del self._embedded[slot]
        self._slots.release(np.array([slot]))

    def strengths(self, column: Embedded, slots: IntArray) -> FloatArray:
        """Return the dependence of a column on those in some slots; equals `dependence` up to rounding."""
        found = np.full(len(slots), np.nan)
        if self.n >= _FEWEST_ROWS:
            levels, values = column.levels or _NO_LEVELS, column.basis
            widest = int(self._slots["many"][slots].max(initial=0))
            kernel.strengths(
                *levels, np.ascontiguousarray(values[:, 0]) if values.shape[1] == 1 else np.zeros(0), slots,
                *self._slots.arrays.values(), logs(self.n), np.zeros(levels.many * widest, np.int64), found,
            )  # fmt: skip
        for k in np.flatnonzero(np.isnan(found)).tolist():
            found[k] = dependence(column, self._embedded[int(slots[k])]).strength
        return found
