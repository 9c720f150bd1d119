"""The contract of redundancy rules: candidates in, an outcome out, arrays both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from streamsieve.decisions import REASON_CODE, PValues
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


class Evicted(NamedTuple):
    """Kept columns that left, in order."""

    feature: IntArray
    #: Arrival number of the candidate that was being settled.
    newcomer: IntArray
    reason: npt.NDArray[np.uint8]
    statistic: FloatArray
    p_value: FloatArray
    #: (evicted, up to 3): the features that made it redundant, -1 where there are fewer.
    by: IntArray

    @classmethod
    def none(cls) -> Self:
        """Return that no column left."""
        no_features, no_values = np.zeros(0, np.int64), np.zeros(0)
        return cls(
            no_features, no_features, np.zeros(0, np.uint8), no_values, no_values, np.zeros((0, 1), np.int64)
        )


class Outcome(NamedTuple):
    """What became of each candidate, and of the kept columns it met."""

    #: RELEVANT if it was kept (also if a later candidate evicted it), else why it was rejected.
    reason: npt.NDArray[np.uint8]
    #: The number that decided: its own statistic if it was kept.
    statistic: FloatArray
    #: P-values of the tests that decided, read only where a candidate was rejected; None: its own.
    p_value: PValues | None
    #: (candidates, up to 3): the features that made it redundant, -1 where there are fewer.
    by: IntArray
    evicted: Evicted


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
