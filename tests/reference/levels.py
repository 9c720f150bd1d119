"""Which columns keep their distinct values as levels in a contingency table.

Up to 32 distinct values are levels.  Whole numbers are levels up to one per 20 rows, and up to 256.  All
other columns are cut into bins.

Source: docs/column_types.md.
"""

import numpy as np


def are_levels(x):
    """Whether the values of a column are its levels."""
    values = np.unique(x)
    whole = np.all(values == np.floor(values))
    return len(values) <= (min(256, max(32, len(x) // 20)) if whole else 32)
