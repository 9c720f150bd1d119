"""Arrays with one row per feature, where features may appear over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def grow_rows(array: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    """Return the array, or if it is too short, one at least twice as long with zeros at the end."""
    if len(array) >= length:
        return array
    # the first time exactly: where all features are there from the beginning, nothing is wasted
    longer = np.zeros((max(length, 2 * len(array)), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
