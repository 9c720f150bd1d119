"""Score a matrix by a criterion, through its summary, in any form and cut."""

from importlib import import_module

import numpy as np

from streamsieve import registry
from tests.criteria.random_tables import TABLE_CRITERIA
from tests.summaries.streams import FORMS

#: Every criterion with p-values, and its slow twin.
CRITERIA = {name: kind() for name, kind in registry.criteria().items() if kind.has_p_values}
MOMENTS = {name: criterion for name, criterion in CRITERIA.items() if name not in TABLE_CRITERIA}
TWINS = {name: import_module(f"tests.reference.{name}") for name in CRITERIA}
CLASSES = [name for name in CRITERIA if name != "correlation"]


def summarized(criterion, X, y, weight=None, half_life=None, form="C", batch=None):
    """Return the criterion's summary of the rows, taken in batches."""
    summary = criterion.new_summary(half_life=half_life)
    n = len(y)
    y = np.asarray(y, np.float64) if summary.target == "numeric" else np.asarray(y)
    for low in range(0, n, batch or n):
        part = slice(low, low + (batch or n))
        summary.update(FORMS[form](X[part]), y[part], None if weight is None else weight[part])
    return summary


def scored(criterion, X, y, *args, **kwargs):
    """Return scores and p-values."""
    summary = summarized(criterion, X, y, *args, **kwargs)
    return criterion(summary), criterion.p_values(summary)
