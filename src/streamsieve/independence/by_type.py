"""Relevance test chosen by column type: correlation, contingency table, or joint F."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.column_types import BINARY, NOMINAL, NUMERIC, guessed_levels, guessed_types
from streamsieve.decisions import CONSTANT, IRRELEVANT, RELEVANT
from streamsieve.dependence.blocks import dense_column
from streamsieve.dependence.contract import Relevance, RelevanceTest
from streamsieve.independence.degenerate_gaussian import information_strength
from streamsieve.independence.fisher_z import FisherZ, p_value_given
from streamsieve.independence.g_squared import GSquared
from streamsieve.independence.p_values import OF_CORRELATIONS, OF_TABLES
from streamsieve.lazy_p_values import PValues
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Matrix, Reason, Task
from streamsieve.state import Bool, Nested, register

#: Level below which p-values of sparse tables are confirmed where there is no test.
NO_LEVEL = 0.05
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
    ordinal      table                        correlation, t
    nominal      table                        F test of the means of its levels
    ============ ============================ ==================================

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
        used = np.unique(ways)
        if len(used) <= 1:
            return self._one_way(X, types, int(used[0]) if len(used) else NUMBER)
        m = len(types)
        reason, statistic, p_value = np.zeros(m, np.uint8), np.zeros(m), np.ones(m)
        columns = np.zeros(m), np.zeros(m), np.zeros(m, np.int64), types
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
        zeros = np.zeros(m), np.zeros(m)
        if way == TABLE and self.tables is not None:
            found = self.tables.measure(X)
            (levels,) = found.columns
            if self.comparable:
                freedom = (levels - 1) * (self.tables.n_classes - 1)
                found = found._replace(statistic=self._strengths(found.statistic, freedom))
            return found._replace(columns=(*zeros, levels, types))
        return self._contrasts(X, types)

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

    def one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        """Test a single column of numbers by its guessed type; None to leave it to `measure`."""
        levels = guessed_levels(x)
        if levels < 2 or self.tables is None or (levels == 2 and self.comparable):
            return self.correlation.one(x)  # nominal is never guessed
        found = self.tables.one(x)
        if found is None or not self.comparable:
            return found
        reason, statistic, p = found
        freedom = (levels - 1) * (self.tables.n_classes - 1)
        return reason, information_strength(statistic, freedom, self.n), p

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
