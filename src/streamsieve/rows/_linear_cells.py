"""Arrays with a row for every feature, where features may appear over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def grown(array: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    """Return the array, or one at least twice as long with zeros at the end, if it is too short."""
    if len(array) >= length:
        return array
    # the first time exactly: where all features are there from the beginning, nothing is wasted
    longer = np.zeros((max(length, 2 * len(array)), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
