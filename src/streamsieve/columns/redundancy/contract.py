"""The contract of redundancy rules: candidates in, an outcome out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from streamsieve.decisions import Outcome
from streamsieve.dependence.blocks import ColumnSlices, column_slices
from streamsieve.dependence.contract import Relevance
from streamsieve.protocols import IntArray, Matrix, Reason
from streamsieve.state import Part


class Candidates(NamedTuple):
    """The relevant columns of a block, in order of arrival.

    Fields
    ------
    X : values, dense or sparse; candidate j is column ``at[j]``, see `streamsieve.dependence.blocks`
    at : position of each candidate in ``X``
    feature : arrival number of each candidate, increasing
    relevance : what `RelevanceTest.measure` found, one entry per candidate: ``reason``, ``statistic``,
        ``p_value``.  The statistic may carry a sign (correlations do): compare by ``abs(statistic)``
    """

    X: Matrix
    at: IntArray
    feature: IntArray
    relevance: Relevance

    def slices(self) -> ColumnSlices:
        """Return the values of the candidates, one after the other; gathered once for test and rule."""
        if self.relevance.gathered is None:
            return column_slices(self.X, self.at)
        positions, slices = self.relevance.gathered
        return slices.at(np.searchsorted(positions, self.at))


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

    @abstractmethod
    def settle(self, candidates: Candidates) -> Outcome:
        """Let candidates compete with the kept columns, one after the other."""

    def rejects(self, dependence: float) -> Reason | None:  # noqa: ARG002 - most rules need the values
        """Return why a complete column of this dependence on y is rejected whatever its values, or None."""
        return None
