"""The pairwise rule over dependent rows: it compares correlations, but does not test those of two columns."""

from __future__ import annotations

import math

import numpy as np

from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.pairwise.correlation import PairwiseCorrelation
from streamsieve.decisions import Outcome
from streamsieve.state import register


@register
class PairwiseDependentRows(PairwiseCorrelation):
    """Kept columns centered, of unit length; redundant columns have no p-value (NaN)."""

    def settle(self, candidates: Candidates) -> Outcome:
        """Decide on candidates in order, given the kept columns."""
        outcome = super().settle(candidates)
        evictions = [eviction._replace(p_value=math.nan) for eviction in outcome.evictions]
        return outcome._replace(p_value=np.full(len(outcome.reason), np.nan), evictions=evictions)
