"""Relevance test chosen by column type: correlation, contingency table, or joint F."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from streamsieve.column_types import (
    ALWAYS_FEW,
    BINARY,
    NOMINAL,
    NUMERIC,
    ORDINAL,
    guessed_levels,
    guessed_types,
)
from streamsieve.decisions import CONSTANT, IRRELEVANT, RELEVANT, UNRELIABLE
from streamsieve.dependence.blocks import dense_column
from streamsieve.dependence.contract import Relevance, RelevanceTest
from streamsieve.independence.correlation_p_values import p_value_given
from streamsieve.independence.degenerate_gaussian import information_strength
from streamsieve.independence.fisher_z import FisherZ
from streamsieve.independence.g_squared import GSquared
from streamsieve.independence.p_values import OF_CORRELATIONS, OF_TABLES
from streamsieve.lazy_p_values import PValues
from streamsieve.protocols import BoolArray, ColumnBlock, FloatArray, IntArray, Matrix, Reason, Task
from streamsieve.state import Bool, Nested, register

#: Level below which p-values of sparse tables are confirmed where there is no test.
NO_LEVEL = 0.05
#: Number of levels from which on an ordinal column may be compared as a number.
MANY_LEVELS = 11
#: Level at which the table of such a column must depart from its trend for it to be compared by its levels.
DEPARTURE_LEVEL = 0.01
#: Ways to test a column: as a number, by the table of its levels and the classes, or by the contrasts
#: between its levels.
NUMBER, TABLE, CONTRASTS = range(3)


@register
class RelevanceByType(RelevanceTest):
    """Relevance test by correlation, contingency table or joint F, chosen by the types of column and target.

    ============ ============================ ==================================
    column       classes                      numeric target
    ============ ============================ ==================================
    numeric      correlation (ratio), t or F  correlation, t
    binary       table                        correlation, t
    ordinal      table, and trend             correlation, t
    nominal      table                        F test of the means of its levels
    ============ ============================ ==================================

    An ordinal column of more than four levels has two tests: by its table, which detects any dependence, and
    by its trend, the correlation of its values, which has more power where larger values go with one class.
    The smaller p-value is doubled.  For rules that compare columns on one scale it is then a number if it has
    more than ten levels and its table does not depart from the trend.

    Parameters
    ----------
    correlation : test of numbers
    tables : test of levels, for classes; None for a numeric target
    comparable : bool, default=False
        Whether statistics of all types are on the scale of a correlation, for rules that compare columns:
        ``sqrt(1 - exp(-2 I))`` of the information I in a table.  Binary columns are then numbers.
    """

    fields = {
        "correlation": Nested(FisherZ, shares=("rows",)),
        "tables": Nested(GSquared, shares=("rows",), optional=True),
        "comparable": Bool(),
    }

    def __init__(self, correlation: FisherZ, tables: GSquared | None, *, comparable: bool = False) -> None:
        self.n, self.correlation, self.tables = correlation.n, correlation, tables
        self.comparable = comparable

    @property
    def p_value(self) -> tuple[str, ...]:
        """How p-values of numbers and of tables are computed."""
        return (self.correlation.p_value, *(OF_TABLES if self.tables is None else [self.tables.p_value]))

    def ways(self, types: IntArray) -> IntArray:
        """Return how columns of these types are tested."""
        if self.tables is None:
            return np.where(types == NOMINAL, CONTRASTS, NUMBER)
        number = (types == NUMERIC) | ((types == BINARY) & self.comparable)
        return np.where(number, NUMBER, TABLE)

    def measure(self, X: Matrix) -> Relevance:
        """Test every column of a block by its guessed type."""
        return self._typed(X, guessed_types(X))

    def measure_block(self, block: ColumnBlock) -> Relevance:
        """Test every column of a block by its type."""
        return self.measure(block.X) if block.types is None else self._typed(block.X, block.types)

    def _typed(self, X: Matrix, types: IntArray) -> Relevance:
        """Measure the columns of each way; rules want means, norms, numbers of levels, and types again."""
        ways = self.ways(types)
        used = np.flatnonzero(np.bincount(ways))  # unlike np.unique, one quick pass
        if len(used) <= 1:
            return self._one_way(X, types, int(used[0]) if len(used) else NUMBER)
        m = len(types)
        reason, statistic, p_value = np.zeros(m, np.uint8), np.zeros(m), np.ones(m)
        columns = np.zeros(m), np.zeros(m), np.zeros(m, np.int64), types.copy()
        discrete = np.zeros(m, bool)
        for way in used.tolist():
            some = np.flatnonzero(ways == way)
            found = self._one_way(X[:, some], types[some], way)
            reason[some], statistic[some] = found.reason, found.statistic
            p_value[some] = np.asarray(found.p_value)
            discrete[some] = False if found.discrete is None else found.discrete
            for mine, theirs in zip(columns, found.columns, strict=True):
                mine[some] = theirs
        return Relevance(reason, statistic, p_value, columns, discrete)

    def _one_way(self, X: Matrix, types: IntArray, way: int) -> Relevance:
        m = len(types)
        if way == NUMBER:
            found = self.correlation.measure(X)
            return found._replace(columns=(*found.columns, np.zeros(m, np.int64), types))
        if way == TABLE and self.tables is not None:
            return self._tabulated(X, types, self.tables)
        return self._contrasts(X, types)

    def _tabulated(self, X: Matrix, types: IntArray, tables: GSquared) -> Relevance:
        """Test columns by their tables; ordinal ones of more than a few levels by their trends as well."""
        found = tables.measure(X)
        (levels,), g = found.columns, found.statistic
        if self.correlation.alpha is None:
            reason = np.where(found.reason == IRRELEVANT, RELEVANT, found.reason).astype(np.uint8)
            found = found._replace(reason=reason)
        if self.comparable:
            found = found._replace(statistic=self._strengths(g, (levels - 1) * (tables.n_classes - 1)))
        found = found._replace(columns=(np.zeros(len(levels)), np.zeros(len(levels)), levels, types))
        some = np.flatnonzero((types == ORDINAL) & (levels > ALWAYS_FEW))
        if not len(some):
            return found
        trend = self.correlation.measure(X[:, some])
        numbers = (levels[some] >= MANY_LEVELS) & ~self._departs(g[some], trend.statistic, levels[some])
        return self._with_trends(found, trend, some, numbers & self.comparable)

    def _with_trends(
        self, found: Relevance, trend: Relevance, some: IntArray, as_numbers: BoolArray
    ) -> Relevance:
        """Return the results of tables, where some columns were tested by their trends, too.

        The smaller p-value is doubled (Bonferroni).  Where only one of the tests has rows enough, it decides.
        """
        reason, statistic = found.reason.copy(), found.statistic.copy()
        mean, norm, levels, types = (column.copy() for column in found.columns)
        by_table, by_trend = reason[some] != UNRELIABLE, trend.reason != UNRELIABLE
        p_value = np.array(found.p_value)
        p = np.minimum(
            np.where(by_table, p_value[some], 1.0), np.where(by_trend, np.asarray(trend.p_value), 1.0)
        )
        p = np.where(by_table & by_trend, np.minimum(2 * p, 1.0), p)
        either = by_table | by_trend
        reason[some[either]] = np.where(p <= self.correlation.level, RELEVANT, IRRELEVANT)[either]
        numbers = by_trend & (as_numbers | (~by_table & self.comparable))
        if self.comparable:
            r = np.abs(trend.statistic)
            statistic[some] = np.where(numbers, r, np.maximum(r, statistic[some]))
        at = some[numbers]
        mean[at], norm[at] = (column[numbers] for column in trend.columns)
        levels[at], types[at] = 0, NUMERIC
        p_value[some] = p
        return Relevance(reason, statistic, p_value, (mean, norm, levels, types), found.discrete)

    def _strengths(self, g: FloatArray, freedom: IntArray) -> FloatArray:
        """Return likelihood-ratio statistics on the scale of a correlation."""
        # one by one: rules compare them to the last bit with those of two columns
        pairs = zip(g.tolist(), freedom.tolist(), strict=True)
        return np.array([information_strength(value, degrees, self.n) for value, degrees in pairs])

    def _contrasts(self, X: Matrix, types: IntArray) -> Relevance:
        """Test nominal columns against a numeric target: the share of its variance between levels."""
        m, y = len(types), self.correlation.basis[:, 0]
        share, levels = np.zeros(m), np.ones(m, np.int64)
        for j in range(m):
            of_row = np.unique(dense_column(X, j), return_inverse=True)[1]
            counts = np.bincount(of_row)
            levels[j] = len(counts)
            share[j] = np.sum(np.bincount(of_row, y) ** 2 / counts)
        ratio = np.sqrt(np.minimum(share, 1.0))
        p = joint_p_values(ratio, levels, self.n)
        level = self.correlation.level
        reason = np.where(levels < 2, CONSTANT, np.where(p <= level, RELEVANT, IRRELEVANT)).astype(np.uint8)
        p_value = PValues(partial(joint_p_values, n=self.n), ratio, levels)
        columns = np.zeros(m), np.zeros(m), levels, types
        if self.comparable:
            g = -self.n * np.log1p(-np.minimum(share, 1.0 - 1e-15))
            ratio = self._strengths(g, levels - 1)
        return Relevance(reason, ratio, p_value, columns, np.zeros(m, bool))

    def measure_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        """Test a single column of numbers by its guessed type; None to leave it to `measure`."""
        levels = guessed_levels(x)
        if levels < 2 or self.tables is None or (levels == 2 and self.comparable):
            return self.correlation.measure_one(x)  # nominal is never guessed
        found = self.tables.measure_one(x)
        if found is None:
            return None
        reason, g, p = found
        freedom = (levels - 1) * (self.tables.n_classes - 1)
        strength = information_strength(g, freedom, self.n) if self.comparable else g
        if levels <= ALWAYS_FEW:
            return reason, strength, p
        trend = self.correlation.measure_one(x)
        if trend is None or Reason.RELEVANT in (reason, trend[0]):
            return None
        r = abs(trend[1])
        if self.comparable:
            number = levels >= MANY_LEVELS and not self._departs(g, r, levels)
            strength = r if number else max(r, strength)
        return Reason.IRRELEVANT, strength, min(2 * min(p, trend[2]), 1.0)

    def _departs(self, g: Any, r: Any, levels: Any) -> Any:
        """Whether a table holds more than the trend, by the likelihood ratios of both; elementwise."""
        contrasts = self.correlation.n_contrasts
        beyond = g + self.n * np.log1p(-np.minimum(r * r, 1.0 - 1e-15))
        return chdtrc((levels - 2) * contrasts, np.maximum(beyond, 0.0)) <= DEPARTURE_LEVEL

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        return cls(record["correlation"], record["tables"], comparable=record["comparable"])


def relevance_by_type(
    y: npt.NDArray[Any], task: Task, alpha: float | None, p_value: str, bins: int, *,
    online: bool = False, comparable: bool = False, degrees: str = "strata", reliable: str = "occupied",
) -> RelevanceByType:  # fmt: skip
    """Return the test for a target; a way to compute p-values goes to the tests that have it."""
    of_numbers, of_tables = (p_value if p_value in ways else "auto" for ways in (OF_CORRELATIONS, OF_TABLES))
    correlation = FisherZ(y, task, alpha, signed=comparable, p_value=of_numbers, online=online)
    tables = None
    if task is not Task.REGRESSION:
        level = NO_LEVEL if alpha is None else alpha
        tables = GSquared(y, task, level, degrees, bins, reliable, of_tables, exact=online)
    return RelevanceByType(correlation, tables, comparable=comparable)


def joint_p_values(ratio: FloatArray, levels: IntArray, n: int) -> FloatArray:
    """Return p-values of correlation ratios between a numeric target and the levels of columns."""
    contrasts = np.maximum(levels - 1, 1)
    p = [
        p_value_given(np.array(r), np.array(n - c - 1), int(c)) for r, c in zip(ratio, contrasts, strict=True)
    ]
    return np.where(levels > 1, np.array(p, np.float64).reshape(np.shape(ratio)), 1.0)
