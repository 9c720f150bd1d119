"""The non-zero weights of a sparse linear model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.protocols import FloatArray
from streamsieve.state import Array, Float, Part, register

#: Bound on the norm of the weights of every selector.
LARGEST = 1e7


@register
class SparseWeights(Part):
    """The few non-zero weights of a model over any number of features.

    Parameters
    ----------
    columns : features that have a weight, in order
    values : their weights, none of them 0
    scale : factor of all weights
    """

    fields = {
        "columns": Array("i4", "kept", low=0, order="rising"),
        "values": Array("f8", "kept", low=-LARGEST, high=LARGEST),
        "scale": Float(0, 1, open_low=True),
    }

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
        """Return columns and values, copied into arrays of this length."""
        columns, values = np.zeros(most, np.int32), np.zeros(most)
        columns[: len(self.columns)] = self.columns
        values[: len(self.values)] = self.values
        return columns, values

    def coefficients(self, n_features: int) -> FloatArray:
        """Return one weight per feature."""
        weights = np.zeros(n_features)
        weights[self.columns] = self.scale * self.values
        return weights

    def scores(self, n_features: int) -> FloatArray:
        """Return the absolute weights."""
        return np.abs(self.coefficients(n_features))

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        return cls(**record)

    def _consistent(self) -> Iterator[str]:
        if not np.all(self.values):
            yield "a weight of 0 is kept"

    def problems(self, n_features: int, most: int) -> Iterator[str]:
        """Yield why this is not a valid model of n_features features, at most ``most`` with weights."""
        if len(self.columns) > min(n_features, most) or (self.columns >= n_features).any():
            yield "there are weights for unknown features, or too many of them"
