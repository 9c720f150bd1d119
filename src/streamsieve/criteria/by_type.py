"""Criteria for streams of numeric and categorical columns, each scored by its own criterion on one scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from streamsieve.criteria.correlation import Correlation
from streamsieve.criteria.criterion import Criterion, sorts_columns, split, summary_for
from streamsieve.criteria.f import AnovaF
from streamsieve.criteria.mutual_info import MutualInfo
from streamsieve.criteria.tables import TableCriterion, information, shares
from streamsieve.dependence.information import information_strengths
from streamsieve.protocols import ANY_TASK, FloatArray, Task
from streamsieve.summaries import ByType, Window
from streamsieve.summaries.moments import MomentsBlock
from streamsieve.summaries.nesting import innermost
from streamsieve.summaries.table_block import TableBlock


@dataclass(frozen=True)
class MeansStrength(AnovaF):
    """The F test of means, scored by the correlation of normal variables with the same information."""

    def score(self, block: MomentsBlock) -> FloatArray:
        """Correlation ratio, less its bias under independence."""
        s = split(block)
        total = s.between + s.within
        share = np.divide(s.between, total, out=np.zeros_like(total), where=total > 0)
        n = block.n.sum(axis=0)
        return information_strengths(-n * np.log1p(-np.minimum(share, 1 - 1e-15)), s.df_between, n)


@dataclass(frozen=True)
class LevelsStrength(MutualInfo):
    """The test of a table, scored by the correlation of normal variables with the same information."""

    def score(self, block: TableBlock) -> FloatArray:
        """Square root of ``1 - exp(-2 I)``, less the bias of the information I under independence."""
        s = shares(block)
        return information_strengths(2 * s.n * information(s), s.freedom, s.n)


@dataclass(frozen=True)
class CriterionByType(Criterion):
    """One criterion for quantities and one for levels.

    Parameters
    ----------
    numbers : criterion of the features that are quantities
    levels : criterion of the features with levels, over counts
    at : columns of the features with levels, rising
    exact_numbers : whether quantities are scored from their sorted values
    """

    numbers: Criterion
    levels: Criterion
    at: tuple[int, ...]
    exact_numbers: bool = False

    tasks: ClassVar[frozenset[Task]] = ANY_TASK
    needs: ClassVar[type[Any]] = ByType

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the criterion that the caller chose."""
        return self.numbers.name

    @property
    def worst(self) -> float:  # type: ignore[override]
        """Score of a feature that carries no information."""
        return self.numbers.worst

    def check(self, summary: Any) -> None:
        """Both criteria check what they read."""

    def blocks(self, summary: Any) -> Iterator[Any]:
        """Yield the whole summary: features of both kinds stand in any order."""
        return iter([summary])

    def score(self, block: Any) -> FloatArray:
        """Return one score per feature."""
        numbers = innermost(block.numbers)
        exact = self.exact_numbers and sorts_columns(self.numbers)
        scores = self.numbers.exact(numbers) if exact else self.numbers(numbers)
        return self._joined(scores, self.levels(innermost(block.levels)), self.worst)

    def p_value(self, block: Any) -> FloatArray:
        """Return one p-value per feature."""
        p_values = self.numbers.p_values(innermost(block.numbers))
        return self._joined(p_values, self.levels.p_values(innermost(block.levels)), 1.0)

    def _joined(self, of_numbers: FloatArray, of_levels: FloatArray, without_rows: float) -> FloatArray:
        # columns may be declared before the first row, from which on tables know them
        if len(of_levels) or len(of_numbers):
            of_numbers[list(self.at)] = of_levels if len(of_levels) else without_rows
        return of_numbers

    def new_summary(self, *, window: int | None = None, **options: Any) -> Any:
        """Return an empty summary; the options are those of ``summary_for``."""
        parts = (summary_for(self.numbers, **options), summary_for(self.levels, **options))
        summary = ByType(*parts, np.array(self.at))
        return summary if window is None else Window(summary, size=window)


def by_type(criterion: Criterion, at: tuple[int, ...], *, comparable: bool, exact: bool) -> CriterionByType:
    """Return a criterion whose columns ``at`` are levels.

    ``comparable`` puts a criterion of means or correlations on the scale of a correlation; tables over bins
    and tables over levels have the same scale anyway.
    """
    if isinstance(criterion, TableCriterion):
        return CriterionByType(criterion, replace(criterion, discrete=True), at, exact)
    if not comparable:
        raise TypeError(f"criterion={criterion.name!r} has no scale in common with criteria over levels")
    numbers = criterion if isinstance(criterion, Correlation) else MeansStrength()
    return CriterionByType(numbers, LevelsStrength(discrete=True), at, exact)
