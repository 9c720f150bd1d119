"""The Markov-blanket rule over dependent rows: partial correlations whose tests allow for them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from streamsieve.columns.redundancy.markov_blanket.rule import (
    CONFIG_FIELDS,
    Kept,
    MarkovBlanket,
    MarkovBlanketConfig,
)
from streamsieve.independence.dependent_rows import DependentRowsTest
from streamsieve.state import Array, Nested, register


@register
class MarkovBlanketDependentRows(MarkovBlanket):
    """Kept columns and their values; each test uses residuals row by row.

    Parameters
    ----------
    test : test of relevance, which has the conditional test too
    alpha : level of the tests
    config : options of the rule
    """

    fields = {
        "test": Nested(DependentRowsTest, derived=True, shares=("rows",)),
        "alpha": MarkovBlanket.fields["alpha"],
        "columns": Array("f8", "kept", "rows", finite=True),
        "feature": MarkovBlanket.fields["feature"],
        **CONFIG_FIELDS,
    }

    def __init__(self, test: DependentRowsTest, alpha: float, config: MarkovBlanketConfig) -> None:
        self.n, self.test, self._alpha, self._config = test.n, test, alpha, config
        self._kept: list[Kept] = []

    def _tested(self, column: Kept, given: tuple[Kept, ...]) -> tuple[float, float]:
        """Return statistic and p-value; with too few rows for a test, the set is skipped, or separates."""
        columns = np.column_stack([kept.column for kept in given])
        statistic, p_value = self.test.conditional(column.column, columns)
        if math.isnan(p_value):
            p_value = 0.0 if self._config.skip_unreliable else 1.0
        return statistic, p_value

    def _record(self) -> Mapping[str, Any]:
        bound = {"test": self.test, "alpha": self._alpha, **self._config._asdict()}
        return {**bound, "columns": self._values(), "feature": self.features}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        rule = cls(record["test"], record["alpha"], MarkovBlanketConfig.of(record))
        rule._kept = [Kept(*row) for row in zip(record["feature"].tolist(), record["columns"], strict=True)]
        return rule
