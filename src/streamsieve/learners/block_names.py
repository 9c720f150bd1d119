"""Names of columns that arrive in blocks, with names or without."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve.decisions import FeatureNames
from streamsieve.protocols import ColumnBlock


def names_with(learner: Any, block: ColumnBlock) -> npt.NDArray[Any] | None:
    """Return the names of all columns when a block has come; None if no column ever had one.

    Columns without a name are called x0, x1, ... once another has one, because scikit-learn knows names for
    all columns or for none.  A name that is taken is refused.
    """
    known, start = getattr(learner, "feature_names_in_", None), learner.n_features_in_
    if known is None and block.names is None:
        return None
    book = FeatureNames()
    if known is not None:
        book.claim(known.tolist(), 0)
    if block.names is not None:
        book.claim(block.names, start)
    return np.array([book[i] for i in range(start + block.X.shape[1])], dtype=object)
