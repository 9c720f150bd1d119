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
    relevance : result of `RelevanceTest.measure`, one entry per candidate: ``reason``, ``statistic``,
        ``p_value``.  The statistic may have a sign (correlations do): compare by ``abs(statistic)``
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
    """Protocol of redundancy rules, which decide on candidates and evict kept columns.

    A rule gets every relevant column once, in order of arrival.  The result must not depend on the size of
    blocks: deciding on two blocks is the same as deciding on their concatenation.  To be saved, a rule must
    be registered (`streamsieve.state.register`) and declare its ``fields``.
    """

    #: Whether `settle` measures relevance itself; every column is then a candidate.
    measures: ClassVar[bool] = False

    #: Number of rows.
    n: int

    @property
    @abstractmethod
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""

    @abstractmethod
    def settle(self, candidates: Candidates) -> Outcome:
        """Decide on candidates in order, given the kept columns."""

    def rejects(self, dependence: float) -> Reason | None:  # noqa: ARG002 - most rules need the values
        """Return why any column with this dependence on y is rejected, whatever its values, or None."""
        return None
