"""Conditional tests between columns of mixed types and the target.

Levels given levels are tested by contingency tables, everything else by Wilks' lambda of the embedded
columns; see `independence.degenerate_gaussian`.  Products of embedded columns are computed once, so that a
test costs a few small matrices, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from streamsieve.independence.by_type import RelevanceByType
from streamsieve.independence.degenerate_gaussian import (
    Comparison,
    Embedded,
    compared,
    compared_numbers,
    embedded,
)
from streamsieve.protocols import FloatArray

#: Takes the place of a column's number for the target.
TARGET = -1


class TestedByType(NamedTuple):
    """A statistic, its p-value, and whether the rows suffice for the test."""

    statistic: float
    p_value: float
    reliable: bool


class ConditionalByType:
    """Columns by their numbers, and tests of one of them and the target given others.

    Parameters
    ----------
    test : the tests of numbers and of levels given nothing, which know the target
    """

    def __init__(self, test: RelevanceByType) -> None:
        self.test = test
        self._embedded: dict[int, Embedded] = {}
        self._products: dict[tuple[int, int], FloatArray] = {}

    def add(self, column: int, values: FloatArray, kind: int) -> None:
        """Take a column of a type, a position in ``column_types.TYPES``."""
        self._embedded[column] = embedded(values, kind)

    def kind(self, column: int) -> int:
        """Return the type of a column."""
        return self._embedded[column].kind

    def keep_only(self, columns: Collection[int]) -> None:
        """Forget all columns but some."""
        left = {*columns}
        self._embedded = {column: each for column, each in self._embedded.items() if column in left}
        self._products = {pair: block for pair, block in self._products.items() if left | {TARGET} >= {*pair}}

    def given(self, column: int, others: Sequence[int]) -> TestedByType:
        """Test a column and the target given others, three at most."""
        of = [self._embedded[each] for each in (column, *others)]
        if self.test.tables is not None and all(each.discrete for each in of):
            found = self.test.tables.given(of[0].values, np.column_stack([each.values for each in of[1:]]))
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
        if (a, b) not in self._products:
            block = self._basis(a).T @ self._basis(b)
            self._products[a, b], self._products[b, a] = block, block.T
        return self._products[a, b]

    def _basis(self, column: int) -> FloatArray:
        return self.test.correlation.basis if column == TARGET else self._embedded[column].basis
