"""The contract of redundancy rules: candidates in, an outcome out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from streamsieve.decisions import REASON_CODE, REASONS, Eviction, Outcome
from streamsieve.dependence.contract import Relevance
from streamsieve.protocols import FloatArray, IntArray, Matrix, Reason
from streamsieve.state import Part

RELEVANT, REDUNDANT = REASON_CODE[Reason.RELEVANT], REASON_CODE[Reason.REDUNDANT]


class Candidates(NamedTuple):
    """The relevant columns of a block, in order of arrival."""

    #: Values; candidate j is column ``at[j]``.
    X: Matrix
    at: IntArray
    #: Arrival numbers, increasing.
    feature: IntArray
    #: What `RelevanceTest.measure` found, one entry per candidate.
    relevance: Relevance


def sets(features: IntArray, by: IntArray) -> dict[int, tuple[int, ...]]:
    """Return which features made each column redundant, from rows of up to 3, -1 where there are fewer."""
    some = np.flatnonzero(by[:, 0] >= 0)  # most columns have none
    features, by = features[some], by[some]
    if by.shape[1] == 1:  # there may be a hundred thousand, and a set of one needs no search for its end
        return {j: (i,) for j, i in zip(features.tolist(), by[:, 0].tolist(), strict=True)}
    return {j: _members(row) for j, row in zip(features.tolist(), by.tolist(), strict=True)}


def evictions(
    feature: IntArray, newcomer: IntArray, reason: npt.NDArray[np.uint8], statistic: FloatArray,
    p_value: FloatArray, by: IntArray,
) -> list[Eviction]:  # fmt: skip
    """Return the kept columns that left, in order; ``newcomer`` is the candidate that was being settled."""
    arrays = newcomer, feature, reason, statistic, p_value, by
    return [
        Eviction(step, gone, REASONS[why], number, p, _members(row))
        for step, gone, why, number, p, row in zip(*(array.tolist() for array in arrays), strict=True)
    ]


def _members(row: list[int]) -> tuple[int, ...]:
    return tuple([i for i in row if i >= 0])


class RedundancyRule(Part, ABC):
    """Kept columns that decide which candidates join them and which of them leave.

    A rule sees every relevant column once, in order of arrival.  The size of blocks must not matter: settling
    two blocks is the same as settling one that holds both.  A rule that is to be saved is registered
    (`streamsieve.state.register`) and declares its ``fields``.
    """

    #: Whether it measures relevance itself while it settles: then every column is a candidate.
    measures: ClassVar[bool] = False

    #: Number of rows.
    n: int

    @property
    @abstractmethod
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Memory held, in bytes."""

    @abstractmethod
    def settle(self, candidates: Candidates) -> Outcome:
        """Let candidates compete with the kept columns, one after the other."""

    def rejects(self, dependence: float) -> Reason | None:  # noqa: ARG002 - most rules need the values
        """Return why a complete column of this dependence on y is rejected whatever its values, or None."""
        return None
