"""A linear model of which only the weights that are not 0 are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray
from streamsieve.state import expect, register

#: No selector lets its weights grow longer than this.
LARGEST = 1e7


@register
class SparseWeights:
    """Few weights among any number of features.

    Parameters
    ----------
    columns : features that have a weight, in order
    values : their weights, none of them 0
    scale : what all weights are yet to be multiplied by
    """

    def __init__(
        self,
        columns: npt.NDArray[np.int32] | None = None,
        values: FloatArray | None = None,
        scale: float = 1.0,
    ) -> None:
        self.columns = np.zeros(0, np.int32) if columns is None else columns
        self.values = np.zeros(0) if values is None else values
        self.scale = scale

    def with_room(self, most: int) -> tuple[npt.NDArray[np.int32], FloatArray]:
        """Return copies of columns and values in arrays of this length."""
        columns, values = np.zeros(most, np.int32), np.zeros(most)
        columns[: len(self.columns)] = self.columns
        values[: len(self.values)] = self.values
        return columns, values

    def coefficients(self, n_features: int) -> FloatArray:
        """Return one weight a feature."""
        weights = np.zeros(n_features)
        weights[self.columns] = self.scale * self.values
        return weights

    def scores(self, n_features: int) -> FloatArray:
        """Return the sizes of the weights."""
        return np.abs(self.coefficients(n_features))

    def state(self) -> Arrays:
        """Return the weights, their places and their scale."""
        return {"columns": self.columns, "values": self.values, "scale": np.array([self.scale])}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        columns = np.array(expect(arrays, "columns", np.int32, (None,)))
        values = np.array(expect(arrays, "values", np.float64, columns.shape))
        scale = float(expect(arrays, "scale", np.float64, (1,))[0])
        if np.any(columns < 0) or np.any(np.diff(columns.astype(np.int64)) <= 0):
            raise StateError("the state's weights are not in the order of their features")
        if not (np.all(np.abs(values) <= LARGEST) and np.all(values) and 0 < scale <= 1):  # NaN is not
            raise StateError("the state's weights are not numbers that a model can have")
        return cls(columns, values, scale)

    def check(self, n_features: int, most: int) -> None:
        """Refuse to be the model of so many features, of which so many may have weights."""
        if len(self.columns) > min(n_features, most) or (self.columns >= n_features).any():
            raise StateError("the state has weights for features that it does not know, or too many of them")
