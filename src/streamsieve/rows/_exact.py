"""Scores without the error of a summary: all rows are kept, and their columns sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve.criteria._formula import Formula
from streamsieve.criteria._table_formula import TableFormula
from streamsieve.criteria.gini import Gini
from streamsieve.protocols import FloatArray
from streamsieve.summaries._inner import innermost
from streamsieve.summaries._sorted_columns import SortedColumns
from streamsieve.summaries._target_bins import TargetBins

#: Rows whose targets decide where a numeric target is cut: all that there can be.
ALL_ROWS = 2**31 - 1


def sorts(formula: Formula) -> bool:
    """Whether a formula reads bins, which sorted columns give without error; sums are exact anyway."""
    return isinstance(formula, TableFormula) and not formula.discrete


def new_columns(formula: Formula, *, regression: bool) -> Any:
    """Make an empty memory of all rows for a formula over bins."""
    if isinstance(formula, TableFormula):
        formula.check_parameters()
    columns = SortedColumns()
    return TargetBins(columns, getattr(formula, "bins", 5), ALL_ROWS) if regression else columns


def exact_scores(formula: Formula, memory: Any) -> FloatArray:
    """Score every feature; for the best split, all thresholds are tried, not only those between bins."""
    columns = innermost(memory)
    if isinstance(formula, Gini):
        purity = columns.purities()
        return np.where(purity < 0, formula.worst, np.minimum(purity, 1.0) - 1.0)
    return formula(columns)
