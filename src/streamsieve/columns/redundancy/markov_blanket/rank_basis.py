"""The Markov-blanket rule by joint F tests of rank bases, which condition on polynomials of ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.markov_blanket.rule import (
    CONFIG_FIELDS,
    Kept,
    MarkovBlanket,
    MarkovBlanketConfig,
)
from streamsieve.decisions import Outcome
from streamsieve.dependence.blocks import dense_column
from streamsieve.independence.rank_basis import BasisGram, RankBasisF
from streamsieve.state import Array, Nested, register


@register
class MarkovBlanketBasis(MarkovBlanket):
    """Kept columns, their values, and the products of their bases; a test costs no pass over the rows.

    Parameters
    ----------
    test : test of relevance, which has the target
    alpha : level of the tests
    config : options of the rule
    """

    fields = {
        "test": Nested(RankBasisF, shares=("rows",)),
        "alpha": MarkovBlanket.fields["alpha"],
        "columns": Array("f8", "kept", "rows", finite=True),
        "feature": MarkovBlanket.fields["feature"],
        **CONFIG_FIELDS,
    }

    def __init__(self, test: RankBasisF, alpha: float, config: MarkovBlanketConfig) -> None:
        self.n, self.test, self._alpha, self._config = test.n, test, alpha, config
        self._kept: list[Kept] = []
        self._gram = BasisGram(test)

    def settle(self, candidates: Candidates) -> Outcome:
        """Decide on candidates in order, given the kept columns."""
        for at, feature in zip(candidates.at.tolist(), candidates.feature.tolist(), strict=True):
            self._gram.enter(feature, dense_column(candidates.X, at))
        outcome = super().settle(candidates)
        stay = {kept.feature for kept in self._kept}
        gone = {*candidates.feature.tolist(), *(eviction.feature for eviction in outcome.evictions)} - stay
        for feature in gone:
            self._gram.leave(feature)
        return outcome

    def _tested(self, column: Kept, given: tuple[Kept, ...]) -> tuple[float, float]:
        """Return statistic and p-value; with too few rows for a test, the set is skipped, or separates."""
        statistic, p_value = self._gram.tested(column.feature, tuple(sorted(kept.feature for kept in given)))
        if math.isnan(p_value):
            return 0.0, 0.0 if self._config.skip_unreliable else 1.0
        return statistic, p_value

    def _record(self) -> Mapping[str, Any]:
        bound = {"test": self.test, "alpha": self._alpha, **self._config._asdict()}
        return {**bound, "columns": self._values(), "feature": self.features}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        rule = cls(record["test"], record["alpha"], MarkovBlanketConfig.of(record))
        for feature, column in zip(record["feature"].tolist(), record["columns"], strict=True):
            rule._kept.append(Kept(feature, column))
            rule._gram.enter(feature, column)
        return rule
