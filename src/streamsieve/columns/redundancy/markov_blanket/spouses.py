"""Spouses of the target: columns that depend on it only given one of its children.

OSFS rejects such a column, because it is marginally independent of the target.  A pool therefore stores the
columns that were rejected last, each with the set that made it independent of the target (its separating set,
empty for an irrelevant column).  Spouses are computed from the kept columns and the pool:

1. A pooled column s is a candidate through a kept column c if s is associated with c and depends on the
   target given its separating set and c, each at the level of the tests.  Of several c the one with the
   smallest p-value counts.
2. Conditioning on a child also makes the ancestors of spouses dependent, so candidates are tested again.
   Starting with the weakest, a candidate is dropped if some set of up to ``max_size - 1`` kept columns and
   other candidates, together with c, makes it independent of the target.
3. Where all columns are compared by tables, inter-IAMB over the kept columns and candidates takes the place
   of step 2.  Sets of columns with many levels have too few rows to be tested, and a rule keeps what it
   cannot test; given the blanket, which is small, such a column is independent of the target and is removed.

A full pool drops the oldest column that is not a candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, islice
from typing import Any, NamedTuple, Self

import numpy as np

from streamsieve.column_types import TYPES
from streamsieve.columns.redundancy.markov_blanket.held_columns import HeldColumns, HeldTest
from streamsieve.columns.redundancy.markov_blanket.rule import LARGEST_SET
from streamsieve.decisions import IRRELEVANT, KEPT, REDUNDANT, Eviction, Outcome
from streamsieve.dependence.blocks import dense_column
from streamsieve.independence.by_type import RelevanceByType
from streamsieve.independence.fisher_z import FisherZ
from streamsieve.independence.g_squared import GSquared
from streamsieve.independence.incremental_association import incremental_association
from streamsieve.protocols import FloatArray, IntArray, Matrix, Reason
from streamsieve.state import Array, Float, Int, Nested, Part, register

LARGEST_POOL = 2**16
#: Memory for the pool if its size is not given, in bytes.
POOL_BYTES = 2**28
#: Maximum number of sets tried per candidate, which bounds the time with hundreds of kept columns.
MOST_SETS = 4096


class Spouse(NamedTuple):
    """How a spouse was found."""

    #: The kept column through which it depends on the target.
    child: int
    statistic: float
    p_value: float


class Blanket(NamedTuple):
    """The Markov blanket: spouses, and kept columns that are redundant given the blanket."""

    #: By arrival number in order.
    spouses: Mapping[int, Spouse]
    #: Kept columns that are independent of the target given the blanket: statistic and p-value, in order.
    redundant: Mapping[int, tuple[float, float]]
    #: Arrival numbers of the members, in order.
    members: tuple[int, ...]


@register
class SpousePool(Part):
    """Values of the kept columns and of the columns rejected last, and the spouses among the latter.

    Parameters
    ----------
    test : test of relevance, bound to the target
    alpha : level of all tests
    max_size : maximum size of a conditioning set
    size : number of rejected columns to store; None for the number that fits into ``POOL_BYTES``
    """

    fields = {
        "test": Nested(RelevanceByType, GSquared, FisherZ, shares=("rows",)),
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "max_size": Int(0, LARGEST_SET),
        "size": Int(1, LARGEST_POOL),
        "children": Array("i8", "children", low=0, order="rising"),
        "pooled": Array("i8", "pooled", low=0, unique=True),
        "sets": Array("i8", "pooled", LARGEST_SET, low=-1),
        "kinds": Array("i8", "held", low=-1, high=len(TYPES) - 1),
        "values": Array("f8", "held", "rows", finite=True, optional=True),
        "codes": Array("u2", "held", "rows", optional=True),
        "n_forgotten": Int(0),
    }

    def __init__(self, test: HeldTest, alpha: float, max_size: int, size: int | None) -> None:
        self.n, self.test, self.alpha, self.max_size = test.n, test, alpha, max_size
        self._held = HeldColumns(test)
        self.size = self.affordable if size is None else size
        #: Number of columns that were dropped from a full pool.
        self.n_forgotten = 0
        self._children: list[int] = []
        #: Separating sets of the pooled columns, oldest first.
        self._sets: dict[int, tuple[int, ...]] = {}
        #: Cache by pooled column and child: how the column depends on y given the child, or None.
        self._known: dict[int, dict[int, Spouse | None]] = {}
        self._blanket: Blanket | None = Blanket({}, {}, ())

    @property
    def affordable(self) -> int:
        """Number of columns that ``POOL_BYTES`` hold."""
        return max(1, min(POOL_BYTES // self._held.bytes_per_column, LARGEST_POOL))

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns in memory: kept or pooled."""
        return np.array([*self._children, *self._sets], np.int64)

    @property
    def n_pooled(self) -> int:
        """Number of rejected columns in memory."""
        return len(self._sets)

    @property
    def children(self) -> list[int]:
        """Arrival numbers of the columns that the rule keeps."""
        return self._children

    def was_relevant(self, feature: int) -> bool:
        """Whether a pooled column was found relevant by itself."""
        return bool(self._sets[feature])

    # ---------------------------------------------------------------- adding and removing columns

    def follow(
        self, X: Matrix, arrived: list[int], types: IntArray | None, outcome: Outcome, start: int
    ) -> None:
        """Update the pool by the decisions on a block; column j of ``X`` has number ``arrived[j]``."""
        place = {feature: j for j, feature in enumerate(arrived)}
        left: dict[int, list[Eviction]] = {}
        for eviction in outcome.evictions:
            left.setdefault(eviction.step, []).append(eviction)
        for j, reason in enumerate(outcome.reason.tolist()):
            feature = start + j
            if reason in (KEPT, IRRELEVANT, REDUNDANT):
                kind = -1 if types is None else int(types[j])
                self._held.add(feature, dense_column(X, place[feature]), kind)
            if reason == KEPT:
                self._children.append(feature)
            for gone in left.get(feature, ()):
                self._leave(gone)
            if reason in (IRRELEVANT, REDUNDANT):
                self._sets[feature] = self._members(outcome.by.get(feature, ()))
            while len(self._sets) > self.size:
                self._forget(self._oldest())
        self._held.forget_bases()
        self._blanket = None

    def _leave(self, gone: Eviction) -> None:
        """Move an evicted column to the pool."""
        self._children.remove(gone.feature)
        for known in self._known.values():
            known.pop(gone.feature, None)
        if gone.reason is Reason.REDUNDANT:
            self._sets[gone.feature] = self._members(gone.by)
        else:
            self._drop(gone.feature)

    def _members(self, by: tuple[int, ...]) -> tuple[int, ...]:
        """Return the columns of a separating set that are in memory."""
        return tuple(j for j in by if j in self._held)

    def _oldest(self) -> int:
        """Return the pooled column to drop."""
        return next((j for j in self._sets if self._candidate(j) is None), next(iter(self._sets)))

    def _forget(self, feature: int) -> None:
        del self._sets[feature]
        self.n_forgotten += 1
        self._drop(feature)

    def _drop(self, feature: int) -> None:
        """Drop the values of a column, and the cached results that involve it."""
        self._held.drop(feature)
        self._known.pop(feature, None)
        for other, members in self._sets.items():
            if feature in members:
                self._sets[other] = tuple(j for j in members if j != feature)
                self._known.pop(other, None)

    # ---------------------------------------------------------------- the search

    def blanket(self) -> Blanket:
        """Return the kept columns and the spouses among the pooled ones that make up the blanket."""
        if self._blanket is None:
            spouses = {j: best for j in self._sets if (best := self._candidate(j)) is not None}
            found = sorted([*self._children, *spouses])
            if self._held.by_tables(found):
                joined = incremental_association(found, self._held.tested, self.alpha, interleaved=True)
            else:
                joined = [*self._children, *self._not_separated(spouses)]
            members = tuple(sorted(joined)) or tuple(self._children)
            self._blanket = Blanket(
                {j: spouses[j] for j in members if j in spouses},
                {j: self._held.given(j, members) for j in self._children if j not in members},
                members,
            )
            self._held.forget_bases()
        return self._blanket

    def _not_separated(self, candidates: Mapping[int, Spouse]) -> list[int]:
        """Return the candidates that no set of other members separates from the target."""
        left = dict(candidates)
        for feature in sorted(left, key=lambda j: (-left[j].p_value, -j)):
            if self._separated(feature, left):
                del left[feature]
        return [*left]

    def _candidate(self, feature: int) -> Spouse | None:
        """Return how a pooled column depends on the target given a child, if it does."""
        known = self._known.setdefault(feature, {})
        for child in self._children:
            if child not in known:
                known[child] = self._through(feature, child)
        ways = [known[child] for child in self._children]
        return min((way for way in ways if way is not None), key=lambda way: way.p_value, default=None)

    def _through(self, feature: int, child: int) -> Spouse | None:
        members = self._sets[feature]
        if child in members or self._held.associated(feature, child) > self.alpha:
            return None
        # round, so that the order of summation does not decide ties
        statistic, p_value = self._held.given(feature, (*members, child))
        p_value = float(f"{p_value:.9e}")
        return Spouse(child, statistic, p_value) if p_value <= self.alpha else None

    def _separated(self, feature: int, found: Mapping[int, Spouse]) -> bool:
        """Whether some set with the child renders a candidate independent of the target."""
        child = found[feature].child
        others = sorted({*self._children, *found} - {feature, child})
        return any(
            self._held.given(feature, (*members, child))[1] > self.alpha
            for members in islice(_sets(others, self.max_size - 1), MOST_SETS)
        )

    # ---------------------------------------------------------------- states

    def _record(self) -> Mapping[str, Any]:
        sets = np.full((len(self._sets), LARGEST_SET), -1, np.int64)
        for row, members in zip(sets, self._sets.values(), strict=True):
            row[: len(members)] = members
        return {
            "test": self.test, "alpha": self.alpha, "max_size": self.max_size, "size": self.size,
            "children": np.array(self._children, np.int64), "pooled": np.array([*self._sets], np.int64),
            "sets": sets, "n_forgotten": self.n_forgotten, **self._held.record(self.features.tolist()),
        }  # fmt: skip

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        held = np.concatenate([record["children"], record["pooled"]])
        if len(record["kinds"]) != len(held) or len(np.unique(held)) != len(held):
            yield "the columns in memory are not those that are kept or pooled"
        elif (record["values"] is None) is (record["codes"] is None):
            yield "the columns in memory should have values or levels"
        elif (record["codes"] is not None) is not isinstance(record["test"], GSquared):
            yield "the columns in memory do not go with the test"
        elif len(record["pooled"]) > record["size"]:
            yield "more columns are pooled than the pool has places"
        elif not {*record["sets"].ravel().tolist()} <= {-1, *held.tolist()}:
            yield "a separating set has a column that is not in memory"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        pool = cls(record["test"], record["alpha"], record["max_size"], record["size"])
        pool.restore(record)
        return pool

    def restore(self, record: Mapping[str, Any]) -> None:
        """Take the columns of a record."""
        self.n_forgotten = record["n_forgotten"]
        self._children = record["children"].tolist()
        self._sets = {
            feature: tuple(j for j in row if j >= 0)
            for feature, row in zip(record["pooled"].tolist(), record["sets"].tolist(), strict=True)
        }
        values: FloatArray | None = record["values"]
        self._held.restore(self.features, record["kinds"], values, record["codes"])
        self._blanket = None


def _sets(others: list[int], most: int) -> Iterator[tuple[int, ...]]:
    """Yield sets of up to ``most`` columns, by size and then by order of arrival."""
    for size in range(most + 1):
        yield from combinations(others, size)
