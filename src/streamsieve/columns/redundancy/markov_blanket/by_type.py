"""The Markov-blanket rule chosen by the types of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from streamsieve.columns.redundancy.by_type import KeptColumns, RuleByType
from streamsieve.columns.redundancy.contract import Candidates, RedundancyRule
from streamsieve.columns.redundancy.markov_blanket.correlation import MarkovBlanketCorrelation
from streamsieve.columns.redundancy.markov_blanket.discrete import MarkovBlanketDiscrete
from streamsieve.columns.redundancy.markov_blanket.mixed import MarkovBlanketMixed
from streamsieve.columns.redundancy.markov_blanket.rule import CONFIG_FIELDS, MarkovBlanketConfig
from streamsieve.independence.by_type import RelevanceByType
from streamsieve.state import register


@register
class MarkovBlanketByType(RuleByType):
    """Markov-blanket rule by partial correlation, by contingency tables, or by both."""

    fields = {**RuleByType.fields, **CONFIG_FIELDS}
    has_levels: ClassVar[bool] = True

    def __init__(self, test: RelevanceByType, config: MarkovBlanketConfig) -> None:
        super().__init__(test)
        self._config = config

    @property
    def many_kept(self) -> int:
        """Number of kept columns from which on sets are smaller, by the rule that decides now."""
        return int(getattr(self.rule, "many_kept", self._config.many_kept))

    def _new_rule(self, mode: str) -> RedundancyRule:
        if mode == "numbers":
            return MarkovBlanketCorrelation(self.test.correlation, self._config)
        if mode == "levels" and self.test.tables is not None:
            return MarkovBlanketDiscrete(self.test.tables, self._config)
        return MarkovBlanketMixed(self.test, self._config)

    def _moved(self, mode: str, kept: KeptColumns) -> RedundancyRule:
        if mode == "mixed":
            mixed = MarkovBlanketMixed(self.test, self._config)
            for row in zip(kept.feature.tolist(), kept.values, kept.types.tolist(), strict=True):
                mixed.keep(*row)
            return mixed
        # without conditioning sets the columns enter untested
        whole = MarkovBlanketCorrelation(self.test.correlation, self._config._replace(max_size=0))
        columns, at = np.ascontiguousarray(kept.values.T), np.arange(len(kept.feature))
        relevance = self.test.correlation.measure(columns)
        whole.settle(Candidates(columns, at, kept.feature, relevance))
        return whole.with_config(self._config)

    def _settings(self) -> Mapping[str, Any]:
        return self._config._asdict()

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(record["test"], MarkovBlanketConfig.of(record))
