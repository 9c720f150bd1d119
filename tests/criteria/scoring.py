"""Score a matrix by a criterion, through its summary, in any form and cut."""

import numpy as np

from streamsieve.criteria import AnovaF, Correlation, Fisher, WelchT
from tests.criteria.random_tables import TABLE_CRITERIA, TABLE_TWINS
from tests.reference import correlation, f, fisher, t
from tests.summaries.streams import FORMS

MOMENTS = {"t": WelchT(), "fisher": Fisher(), "f": AnovaF(), "correlation": Correlation()}
CRITERIA = {**MOMENTS, **TABLE_CRITERIA}
TWINS = {"t": t, "fisher": fisher, "f": f, "correlation": correlation, **TABLE_TWINS}
CLASSES = [name for name in CRITERIA if name != "correlation"]


def summarised(criterion, X, y, weight=None, half_life=None, form="C", batch=None):
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
    summary = summarised(criterion, X, y, *args, **kwargs)
    return criterion(summary), criterion.p_values(summary)
