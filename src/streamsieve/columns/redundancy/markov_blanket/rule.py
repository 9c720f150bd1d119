"""The Markov-blanket rule in plain Python, for any test of conditional independence.

A column is redundant if some set of at most ``max_size`` other kept columns renders it conditionally
independent of the target.  Sets are searched by size, then by order of arrival; the first one decides.

* Fast-OSFS (``newcomer_first``): a candidate is tested given sets of kept columns.  If it stays, each kept
  column, in order of arrival, is tested given the sets that contain the candidate.
* OSFS: the kept columns are tested first, given the sets that contain the candidate; then the candidate,
  given what is left.

Sets without the candidate were tried before, so no kept column is tested against them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np

from streamsieve.columns.redundancy.contract import Candidates, RedundancyRule
from streamsieve.decisions import REDUNDANT, RELEVANT, Eviction, Outcome
from streamsieve.dependence.blocks import dense_column
from streamsieve.independence.contract import ConditionalTest, tested
from streamsieve.protocols import FloatArray, IntArray, Reason
from streamsieve.state import Array, Bool, Encoded, Float, Int, register

#: Maximum size of a conditioning set.
LARGEST_SET = 3
#: Value of ``many_kept`` for which the size of sets is never reduced.
NEVER_MANY = 2**31 - 1
#: Rows (or words of 64 rows) that the table tests of one candidate may read, a second or two; beyond it
#: ``many_kept`` is smaller, but never smaller than ``LEAST_MANY``.
MOST_READ, LEAST_MANY = 2**29, 16


def largest_set(kept: int, many_kept: int) -> int:
    """Return the maximum size of a set: 3, from ``many_kept`` kept columns on 2, from twice as many 1.

    n columns need about n^4 / 6 tests of sets of three, and n^3 / 2 of sets of two.
    """
    return LARGEST_SET if kept < many_kept else 2 if kept < 2 * many_kept else 1


class MarkovBlanketConfig(NamedTuple):
    """Options of the Markov-blanket rule."""

    #: Maximum size of a conditioning set, 0 to 3.
    max_size: int
    #: Whether to ignore sets with too few rows for a test, instead of accepting independence.
    skip_unreliable: bool
    #: Whether to test a candidate before the kept columns (Fast-OSFS), or after them (OSFS).
    newcomer_first: bool
    #: Number of kept columns from which sets are smaller; see `largest_set`.
    many_kept: int = NEVER_MANY

    def many_for(self, reads: int) -> int:
        """Return ``many_kept`` for tests that read this number of rows each: a candidate takes seconds."""
        return self.many_kept if self.many_kept == NEVER_MANY else _many_for(self.many_kept, reads)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """Read the configuration from the record of a rule."""
        return cls(*(record[name] for name in cls._fields))


@lru_cache(maxsize=64)
def _many_for(most: int, reads: int) -> int:
    """Return the largest number of columns, up to ``most``, whose tests read at most ``MOST_READ`` rows."""
    many = min(most, LEAST_MANY)
    while many < most and reads * tests_of_three(many + 1) <= MOST_READ:
        many += 1
    return many


def tests_of_three(kept: int) -> int:
    """Return about how many sets of up to three columns a candidate is tested with, if all columns stay.

    A sixth of the cube for the candidate itself, and half of it for the kept columns, given the candidate.
    """
    return 2 * kept**3 // 3


#: The configuration as fields of a rule's state.
CONFIG_FIELDS = {
    "max_size": Int(0, LARGEST_SET),
    "skip_unreliable": Bool(),
    "newcomer_first": Bool(),
    "many_kept": Int(0, NEVER_MANY),
}


class Kept(NamedTuple):
    """A kept column."""

    feature: int
    column: FloatArray


class Separation(NamedTuple):
    """The first set that renders a column independent of the target."""

    members: tuple[int, ...]
    statistic: float
    p_value: float


@register
class MarkovBlanket(RedundancyRule):
    """Markov-blanket rule for a user-defined conditional test; stores the kept columns and their values."""

    fields = {
        "test": Encoded("conditional"),
        "y": Array("f8", "rows", finite=True),
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "columns": Array("f8", "kept", "rows"),
        "feature": Array("i8", "kept", low=0, order="rising"),
        **CONFIG_FIELDS,
    }

    def __init__(
        self, test: ConditionalTest, y: FloatArray, alpha: float, config: MarkovBlanketConfig
    ) -> None:
        self.n, self._test, self._y, self._alpha, self._config = len(y), test, y, alpha, config
        self._kept: list[Kept] = []
        self._largest = config.max_size

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return np.array([kept.feature for kept in self._kept], np.int64)

    @property
    def many_kept(self) -> int:
        """Number of kept columns from which on sets are smaller."""
        return self._config.many_kept

    def settle(self, candidates: Candidates) -> Outcome:
        """Decide on candidates in order, given the kept columns."""
        found: list[Separation | None] = []
        evicted: list[Eviction] = []
        for j in range(len(candidates.at)):
            new = self._arrived(candidates, j)
            self._largest = min(self._config.max_size, largest_set(len(self._kept), self.many_kept))
            if self._config.newcomer_first:
                separation = self._separation(new, self._kept)
                if separation is None:
                    evicted += self._evict(new)
            else:
                evicted += self._evict(new)
                separation = self._separation(new, self._kept)
            if separation is None:
                self._kept.append(new)
            found.append(separation)
        lost = np.array([each is not None for each in found], bool)
        some = [each or Separation((), 0.0, 1.0) for each in found]
        return Outcome(
            np.where(lost, REDUNDANT, RELEVANT).astype(np.uint8),
            np.where(lost, [each.statistic for each in some], candidates.relevance.statistic),
            np.array([each.p_value for each in some]),
            {int(j): each.members for j, each in zip(candidates.feature, some, strict=True) if each.members},
            evicted,
        )

    def _arrived(self, candidates: Candidates, j: int) -> Kept:
        """Return a candidate with its values."""
        return Kept(int(candidates.feature[j]), dense_column(candidates.X, candidates.at[j]))

    def _evict(self, new: Kept) -> list[Eviction]:
        """Remove each kept column that a set with the newcomer separates from the target."""
        evicted = []
        for old in list(self._kept):
            others = [kept for kept in self._kept if kept is not old]
            separation = self._separation(old, others, new)
            if separation is not None:
                self._kept = others
                members, statistic, p_value = separation
                evicted.append(
                    Eviction(new.feature, old.feature, Reason.REDUNDANT, statistic, p_value, members)
                )
        return evicted

    def _separation(self, column: Kept, others: Sequence[Kept], new: Kept | None = None) -> Separation | None:
        """Return the first set of others, with the newcomer if there is one, that separates a column."""
        for given in self._sets(column, others, new):
            statistic, p_value = self._tested(column, given)
            if p_value > self._alpha:
                return Separation(tuple(kept.feature for kept in given), statistic, p_value)
        return None

    def _sets(self, column: Kept, others: Sequence[Kept], new: Kept | None) -> Iterator[tuple[Kept, ...]]:  # noqa: ARG002
        """Yield the sets that may separate a column, in order."""
        fixed = () if new is None else (new,)
        for size in range(1 - len(fixed), self._largest + 1 - len(fixed)):
            for members in combinations(others, size):
                yield (*members, *fixed)

    def _values(self) -> FloatArray:
        """Return the values of the kept columns, one row per column."""
        return np.array([kept.column for kept in self._kept]).reshape(-1, self.n)

    def _tested(self, column: Kept, given: tuple[Kept, ...]) -> tuple[float, float]:
        """Return statistic and p-value of a column and the target given others, at least one."""
        return tested(self._test, column.column, self._y, np.column_stack([kept.column for kept in given]))

    def _record(self) -> Mapping[str, Any]:
        bound = {"test": self._test, "y": self._y, "alpha": self._alpha, **self._config._asdict()}
        return {**bound, "columns": self._values(), "feature": self.features}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        rule = cls(record["test"], record["y"], record["alpha"], MarkovBlanketConfig.of(record))
        rule._kept = [Kept(*row) for row in zip(record["feature"].tolist(), record["columns"], strict=True)]
        return rule
