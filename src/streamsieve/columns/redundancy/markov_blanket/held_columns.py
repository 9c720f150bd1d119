"""Store of columns, with tests between them and with the target given others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from streamsieve.column_types import NUMERIC
from streamsieve.independence.by_type import RelevanceByType
from streamsieve.independence.degenerate_gaussian import compared, embedded
from streamsieve.independence.fisher_z import FisherZ
from streamsieve.independence.g_squared import GSquared
from streamsieve.independence.joint_tables import given_strata, joint_strata
from streamsieve.protocols import FloatArray, IntArray, Task

#: Tests of relevance whose conditional counterparts are known here.
HeldTest = RelevanceByType | GSquared | FisherZ


class Held(NamedTuple):
    """A column in memory: its values, its levels, or both."""

    #: Position in ``column_types.TYPES``.
    kind: int
    values: FloatArray | None
    codes: npt.NDArray[np.uint16] | None


def _parts(test: HeldTest) -> tuple[GSquared | None, FisherZ | None]:
    """Return the tests of levels and of numbers."""
    if isinstance(test, RelevanceByType):
        return test.tables, test.correlation
    return (test, None) if isinstance(test, GSquared) else (None, test)


class HeldColumns:
    """Columns by arrival number, and the tests between them.

    Discrete columns (or a discrete target) given discrete columns are tested by contingency tables within the
    joint levels of the conditioning set, everything else by Wilks' lambda of embedded columns, of which
    partial correlation is the special case for numbers.  There is no minimum number of rows: a table without
    degrees of freedom has p = 1.
    """

    def __init__(self, test: HeldTest) -> None:
        self.n, self.test = test.n, test
        self.tables, correlation = _parts(test)
        self._target = None if correlation is None else correlation.basis
        self._columns: dict[int, Held] = {}
        self._bases: dict[int, FloatArray] = {}
        #: Tests of other columns against one of these.
        self._against: dict[int, GSquared] = {}

    def __contains__(self, feature: int) -> bool:
        return feature in self._columns

    @property
    def bytes_per_column(self) -> int:
        """Memory per column, in bytes."""
        return self.n * (2 * (self.tables is not None) + 8 * (self._target is not None))

    def add(self, feature: int, values: FloatArray, kind: int) -> None:
        """Store a column."""
        if self._target is None:
            kind = -1
        elif not isinstance(self.test, RelevanceByType):
            kind = NUMERIC
        codes = None
        if self.tables is not None and kind != NUMERIC:
            codes = self.tables.encode(
                self.tables.pieces(values[:, None]), np.zeros(1, np.int64), np.arange(self.n), self.n
            )[0]
        self._columns[feature] = Held(kind, None if self._target is None else values, codes)

    def drop(self, feature: int) -> None:
        """Remove a column."""
        for store in (self._columns, self._bases, self._against):
            store.pop(feature, None)

    def forget_bases(self) -> None:
        """Free cached embeddings."""
        self._bases, self._against = {}, {}

    def associated(self, a: int, b: int) -> float:
        """Return the p-value of two columns, given nothing."""
        first, second = self._columns[a], self._columns[b]
        if first.codes is not None and second.codes is not None and self.tables is not None:
            if b not in self._against:
                self._against[b] = GSquared(
                    second.codes, Task.MULTICLASS, self.tables.alpha, p_value=self.tables.p_value
                )
            nothing = np.zeros(self.n, np.int64)
            return given_strata(self._against[b], first.codes.astype(np.int64), nothing)[1]
        return self._compared([self._basis(a), self._basis(b)])[1]

    def given(self, feature: int, members: Sequence[int]) -> tuple[float, float]:
        """Return statistic and p-value of a column and the target given others."""
        if self.tables is not None:
            codes = [self._columns[j].codes for j in (feature, *members)]
            known = [column.astype(np.int64) for column in codes if column is not None]
            if len(known) == len(codes):
                strata = joint_strata(np.array(known[1:]).reshape(-1, self.n), self.n)
                return given_strata(self.tables, known[0], strata)
        if self._target is None:
            raise RuntimeError("a column without levels where all have levels")
        return self._compared([self._basis(feature), self._target, *map(self._basis, members)])

    def tested(self, features: list[int], members: list[int]) -> tuple[FloatArray, FloatArray]:
        """Return statistics and p-values of columns and the target given others."""
        statistic, p_value = np.array([self.given(j, members) for j in features]).reshape(-1, 2).T
        return statistic, p_value

    def by_tables(self, features: Iterable[int]) -> bool:
        """Whether all tests of some columns and the target are those of tables."""
        return self.tables is not None and all(self._columns[j].codes is not None for j in features)

    def _basis(self, feature: int) -> FloatArray:
        if feature not in self._bases:
            kind, values, _ = self._columns[feature]
            if values is None:
                raise RuntimeError("a column without values where some are numbers")
            self._bases[feature] = embedded(values, kind).basis
        return self._bases[feature]

    def _compared(self, parts: list[FloatArray]) -> tuple[float, float]:
        """Compare the first two groups of columns given the others; p = 1 if there are too few rows."""
        stacked = np.column_stack(parts)
        ends = np.cumsum([0, *(part.shape[1] for part in parts)])
        x, y, *_ = (np.arange(low, high) for low, high in pairwise(ends))
        found = compared(stacked.T @ stacked, self.n, x, y, np.arange(ends[2], ends[-1]))
        return (0.0, 1.0) if found is None else (found.strength, found.p_value)

    # ---------------------------------------------------------------- states

    def record(self, features: Iterable[int]) -> dict[str, npt.NDArray[np.generic] | None]:
        """Return some columns as arrays: their types, and their values or their levels."""
        some = [self._columns[j] for j in features]
        kinds = np.array([column.kind for column in some], np.int64)
        if self._target is None:
            codes = np.array([column.codes for column in some], np.uint16).reshape(-1, self.n)
            return {"kinds": kinds, "codes": codes, "values": None}
        values = np.array([column.values for column in some], np.float64).reshape(-1, self.n)
        return {"kinds": kinds, "codes": None, "values": values}

    def restore(
        self, features: IntArray, kinds: IntArray, values: FloatArray | None,
        codes: npt.NDArray[np.uint16] | None,
    ) -> None:  # fmt: skip
        """Store the columns of a record."""
        for at, (feature, kind) in enumerate(zip(features.tolist(), kinds.tolist(), strict=True)):
            if values is not None:
                self.add(feature, values[at], kind)
            elif codes is not None:
                self._columns[feature] = Held(kind, None, codes[at])
