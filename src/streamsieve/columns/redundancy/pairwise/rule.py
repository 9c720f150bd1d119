"""The pairwise rule in plain Python, for any measure of dependence between two columns.

A candidate F is compared with the kept columns in order of arrival.  F and a kept column K are a redundant
pair if their dependence on each other reaches the smaller (``bound="min"``) of their dependences on the
target, or the larger (``"max"``).  Of such a pair the column that depends less on the target leaves; of
equals, F leaves.  If F is the one to leave, it is rejected at once.  In the paper, kept columns that F had
eliminated before are evicted nevertheless; in the two-phase variant they stay.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from streamsieve.columns.redundancy.contract import Candidates, RedundancyRule
from streamsieve.decisions import REDUNDANT, RELEVANT, Eviction, Outcome
from streamsieve.dependence.blocks import TIE, dense_column
from streamsieve.dependence.contract import Measure, dependence_of, p_value_of
from streamsieve.protocols import FloatArray, IntArray, Reason
from streamsieve.state import Array, Bool, Encoded, register


class PairwiseConfig(NamedTuple):
    """Options of the pairwise rule, in the order of the kernels' arguments."""

    #: Whether a rejected candidate evicts nothing.
    two_phase: bool
    #: Whether the dependence of a pair must reach the larger of the two dependences on the target.
    use_max: bool

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """Read the configuration from the record of a rule."""
        return cls(record["two_phase"], record["use_max"])


#: The configuration as fields of a rule's state.
CONFIG_FIELDS = {"two_phase": Bool(), "use_max": Bool()}


class Kept(NamedTuple):
    """A kept column."""

    feature: int
    relevance: float
    column: FloatArray


class Pair(NamedTuple):
    """How strongly two columns depend on each other, and the p-value; NaN if the measure has none."""

    dependence: float
    p_value: float


@register
class Pairwise(RedundancyRule):
    """Pairwise rule for a user-defined measure; stores the kept columns and their values."""

    fields = {
        "measure": Encoded("dependence"),
        "columns": Array("f8", "kept", "rows"),
        "relevance": Array("f8", "kept", low=0),
        "feature": Array("i8", "kept", low=0, order="rising"),
        **CONFIG_FIELDS,
    }

    def __init__(self, n: int, measure: Measure, config: PairwiseConfig) -> None:
        self.n, self._measure, self._config = n, measure, config
        self._kept: list[Kept] = []

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return np.array([kept.feature for kept in self._kept], np.int64)

    def settle(self, candidates: Candidates) -> Outcome:
        """Decide on candidates in order, given the kept columns."""
        reason = np.full(len(candidates.feature), RELEVANT, np.uint8)
        statistic, by = candidates.relevance.statistic.copy(), {}
        p_value = np.full(len(reason), np.nan)
        evicted: list[Eviction] = []
        for j, feature in enumerate(candidates.feature.tolist()):
            new = self._arrived(candidates, j)
            winner, pair, beaten = self._compete(new)
            if winner is None or not self._config.two_phase:
                self._leave(beaten)
                for loser, compared in beaten.items():
                    evicted.append(Eviction(feature, loser, Reason.REDUNDANT, *compared, (feature,)))
            if winner is None:
                self._join(new)
            else:
                reason[j], by[feature] = REDUNDANT, (winner.feature,)
                statistic[j], p_value[j] = pair
        return Outcome(reason, statistic, p_value, by, evicted)

    def _arrived(self, candidates: Candidates, j: int) -> Kept:
        """Return a candidate with its values."""
        strength = abs(float(candidates.relevance.statistic[j]))
        return Kept(int(candidates.feature[j]), strength, dense_column(candidates.X, candidates.at[j]))

    def _compete(self, new: Kept) -> tuple[Kept | None, Pair, dict[int, Pair]]:
        """Return the kept column that makes a candidate redundant, and those that it makes redundant."""
        beaten: dict[int, Pair] = {}
        for kept in self._rivals(new):
            pair = self._compared(new, kept)
            bound = (max if self._config.use_max else min)(new.relevance, kept.relevance)
            if pair.dependence >= bound - TIE:
                if kept.relevance >= new.relevance - TIE:
                    return kept, pair, beaten
                beaten[kept.feature] = pair
        return None, Pair(0.0, math.nan), beaten

    def _join(self, new: Kept) -> None:
        """Keep a candidate."""
        self._kept.append(new)

    def _leave(self, features: Collection[int]) -> None:
        """Remove kept columns."""
        if features:
            self._kept = [kept for kept in self._kept if kept.feature not in features]

    def _rivals(self, new: Kept) -> Iterable[Kept]:  # noqa: ARG002 - rules that know better look at it
        """Yield the kept columns that may be redundant with a candidate, in order."""
        return self._kept

    def _compared(self, new: Kept, kept: Kept) -> Pair:
        """Return the dependence of two columns, and its p-value if the measure has one."""
        dependence = dependence_of(self._measure, new.column, kept.column)
        return Pair(dependence, p_value_of(self._measure, dependence, self.n))

    def _record(self) -> Mapping[str, Any]:
        return {
            "measure": self._measure,
            "columns": np.array([kept.column for kept in self._kept]).reshape(-1, self.n),
            "relevance": np.array([kept.relevance for kept in self._kept]),
            "feature": self.features,
            **self._config._asdict(),
        }

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        rule = cls(record["columns"].shape[1], record["measure"], PairwiseConfig.of(record))
        rows = zip(record["feature"].tolist(), record["relevance"].tolist(), record["columns"], strict=True)
        rule._kept = [Kept(*row) for row in rows]
        return rule
