"""Conditional tests between columns of mixed types and the target.

Levels given levels are tested by contingency tables, everything else by Wilks' lambda of the embedded
columns; see `independence.degenerate_gaussian`.  Products of embedded columns are computed once, so that a
test costs a few small matrices, however many rows there are.  A search through sets passes over those that
clearly do not separate (`_kernels.mixed_sets`), and the test decides on the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from streamsieve._kernels import mixed_sets as kernel
from streamsieve.independence.by_type import RelevanceByType
from streamsieve.independence.degenerate_gaussian import (
    Comparison,
    Embedded,
    compared,
    compared_numbers,
    embedded,
)
from streamsieve.protocols import FloatArray

#: Number of the target, in place of a column's number.
TARGET = -1
#: Maximum size of a conditioning set.
MOST_GIVEN = 3
#: Initial number of slots for products.
FIRST_SLOTS = 16
#: Determinant of correlations up to which columns count as nearly collinear, and the distance from the
#: critical value of lambda up to which a test is close: the digits that are lost above it are fewer.
NEARLY_COLLINEAR, CLOSE = 1e-4, 1e-6
#: What the kernel takes for a column of several indicators, and for no newcomer.
NO_SLOT, NO_NEWCOMER = -1, -2


class TestedByType(NamedTuple):
    """A statistic, its p-value, and whether there are enough rows for the test."""

    statistic: float
    p_value: float
    reliable: bool


class ConditionalByType:
    """Columns by number, and tests of one of them and the target given others.

    Parameters
    ----------
    test : the tests of numbers and of levels given nothing, which know the target
    """

    def __init__(self, test: RelevanceByType) -> None:
        self.test = test
        self._embedded: dict[int, Embedded] = {}
        self._products: dict[int, dict[int, FloatArray]] = {}
        #: Columns that are single numbers, by slot: all products, the part that the target leaves, and
        #: whether they are levels.
        self._slot: dict[int, int] = {}
        self._total, self._within = np.zeros((2, FIRST_SLOTS, FIRST_SLOTS))
        self._levels = np.zeros(FIRST_SLOTS, bool)
        self._critical = _critical(test)

    def add(self, column: int, values: FloatArray, kind: int) -> None:
        """Add a column of a type, a position in ``column_types.TYPES``."""
        new = self._embedded[column] = embedded(values, kind)
        if new.basis.shape[1] == 1:
            self._add_products(column, new)

    def _add_products(self, column: int, new: Embedded) -> None:
        slot = min({*range(len(self._slot) + 1)} - {*self._slot.values()})
        if slot == len(self._levels):
            self._total, self._within = (np.pad(a, (0, slot)) for a in (self._total, self._within))
            self._levels = np.pad(self._levels, (0, slot))
        self._slot[column], self._levels[slot] = slot, new.discrete
        loads = {other: self._product(other, TARGET)[0] for other in self._slot}
        for other, at in self._slot.items():
            product = float(self._embedded[other].basis[:, 0] @ new.basis[:, 0])
            self._total[slot, at] = self._total[at, slot] = product
            self._within[slot, at] = self._within[at, slot] = product - float(loads[other] @ loads[column])

    def kind(self, column: int) -> int:
        """Return the type of a column."""
        return self._embedded[column].kind

    def drop(self, column: int) -> None:
        """Forget a column."""
        del self._embedded[column]
        self._slot.pop(column, None)
        for other in self._products.pop(column, {}):
            self._products.get(other, {}).pop(column, None)

    def keep_only(self, columns: Collection[int]) -> None:
        """Forget all columns but some."""
        for column in {*self._embedded} - {*columns}:
            self.drop(column)

    def open_sets(
        self, column: int, others: Sequence[int], largest: int, newcomer: int | None = None
    ) -> Iterator[tuple[int, ...]]:
        """Yield the sets of others, as positions, that may separate a column from the target, in order.

        By size, then as `itertools.combinations` does.  Sets have at most ``largest`` columns and one at
        least, with the newcomer if there is one, which is not yielded.  Any other set does not separate.
        """
        slots = np.array([self._slot.get(other, NO_SLOT) for other in others], np.int64)
        fixed = NO_NEWCOMER if newcomer is None else self._slot.get(newcomer, NO_SLOT)
        members, size = np.zeros(MOST_GIVEN, np.int64), -1
        while True:
            size = kernel.next_open(
                self._slot.get(column, NO_SLOT), slots, fixed, largest, self._total, self._within,
                self._levels, self.test.tables is not None, NEARLY_COLLINEAR, self._critical, members, size,
            )  # fmt: skip
            if size < 0:
                return
            yield tuple(members[:size].tolist())

    def given(self, column: int, others: Sequence[int]) -> TestedByType:
        """Test a column and the target given up to three others."""
        of = [self._embedded[each] for each in (column, *others)]
        if self.test.tables is not None and all(each.discrete for each in of):
            Z = np.column_stack([each.values for each in of[1:]])
            found = self.test.tables.given(of[0].values, Z, confirm=False)
            return TestedByType(found.statistic, found.p_value, bool(found.reliable))
        tested = self._compared((column, TARGET, *others))
        if tested is None:
            return TestedByType(0.0, 1.0, reliable=False)
        return TestedByType(tested.strength, tested.p_value, reliable=True)

    def _compared(self, names: Sequence[int]) -> Comparison | None:
        """Compare the first two columns given the others."""
        blocks = [[self._product(a, b) for b in names] for a in names]
        if all(block.size == 1 for block in blocks[0]):
            numbers = [[block.item() for block in row] for row in blocks]
            return compared_numbers(numbers, self.test.n, 0, 1, [*range(2, len(names))])
        ends = [0, *accumulate(block.shape[1] for block in blocks[0])]
        gram = np.empty((ends[-1], ends[-1]))
        places = [slice(low, high) for low, high in pairwise(ends)]
        for rows, row in zip(places, blocks, strict=True):
            for columns, block in zip(places, row, strict=True):
                gram[rows, columns] = block
        x, y = np.arange(ends[1]), np.arange(ends[1], ends[2])
        return compared(gram, self.test.n, x, y, np.arange(ends[2], ends[-1]))

    def _product(self, a: int, b: int) -> FloatArray:
        """Return the products of two embedded columns, or of one and the target."""
        known = self._products.setdefault(a, {})
        if b not in known:
            known[b] = self._basis(a).T @ self._basis(b)
            self._products.setdefault(b, {})[a] = known[b].T
        return known[b]

    def _basis(self, column: int) -> FloatArray:
        return self.test.correlation.basis if column == TARGET else self._embedded[column].basis


def _critical(test: RelevanceByType) -> FloatArray:
    """Return the value of Wilks' lambda, by number of columns given, up to which independence is rejected."""
    contrasts, level = test.correlation.n_contrasts, test.correlation.level
    freedom = test.n - 1 - contrasts - np.arange(MOST_GIVEN + 1)
    found = betaincinv(np.maximum(freedom, 1) / 2, contrasts / 2, level) - CLOSE
    return np.where(freedom >= 1, found, -1.0)
