"""The two sets of weights of a balanced Winnow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from streamsieve._kernels.winnow import learn_rows
from streamsieve.protocols import BoolArray, FloatArray
from streamsieve.rows.linear.entries import RowEntries
from streamsieve.rows.linear.grow import grow_rows
from streamsieve.state import Array, Part, register

#: Where logarithms of weights are cut off in learning.
LARGEST = 600.0


@register
class WinnowWeights(Part):
    """Weights u for the positive class and v for the negative one, as ``log(u / 2)`` and ``log(v)``."""

    fields = {
        "cells": Array("f8", "features", 2, high=LARGEST, finite=True),
        "bias": Array("f8", 2, high=LARGEST, finite=True),
    }

    def __init__(self) -> None:
        self.n_features = 0
        self._cells = np.zeros((0, 2))
        self._bias = np.zeros(2)

    def learn(
        self,
        entries: RowEntries,
        signs: FloatArray,
        n_features: int,
        *,
        promotion: float,
        demotion: float,
        threshold: float,
        margin: float,
    ) -> int:
        """Learn rows, and return the number of rows misclassified before."""
        self.n_features = n_features
        self._cells = grow_rows(self._cells, n_features)
        return int(
            learn_rows(
                entries.indptr, entries.indices, entries.data, signs, self._cells, self._bias,
                promotion, demotion, threshold, margin,
            )
        )  # fmt: skip

    def coefficients(self, n_features: int) -> FloatArray:
        """Return u - v, which is 1 where nothing was learnt."""
        out = np.ones(n_features)
        u, v = np.exp(self._cells[: self.n_features].T)
        out[: self.n_features] = 2.0 * u - v
        return out

    def learnt(self, n_features: int) -> BoolArray:
        """Return a mask of the features of which something was learnt."""
        out = np.zeros(n_features, bool)
        out[: self.n_features] = self._cells[: self.n_features].any(axis=1)
        return out

    def scores(self, n_features: int) -> FloatArray:
        """Return |u - v|, and 0 where nothing was learnt."""
        return np.where(self.learnt(n_features), np.abs(self.coefficients(n_features)), 0.0)

    def _record(self) -> Mapping[str, Any]:
        return {"cells": self._cells[: self.n_features], "bias": self._bias}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        model = cls()
        model._cells, model._bias = record["cells"], record["bias"]
        model.n_features = len(model._cells)
        return model

    def problems(self, n_features: int, most: int) -> Iterator[str]:  # noqa: ARG002 - all have weights
        """Yield why this cannot be a model of ``n_features`` features."""
        if self.n_features != n_features:
            yield "the model has weights for other features"
