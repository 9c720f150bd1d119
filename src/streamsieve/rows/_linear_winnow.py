"""The two sets of weights of a balanced Winnow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels.winnow import learn_rows
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, BoolArray, FloatArray
from streamsieve.rows._linear_cells import grown
from streamsieve.rows._row_entries import RowEntries
from streamsieve.state import expect, register

#: Where logarithms of weights are cut off in learning.
LARGEST = 600.0


@register
class WinnowWeights:
    """Weights u for the positive class and v for the negative one, as ``log(u / 2)`` and ``log(v)``."""

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
        """Learn rows over so many features; return the mistakes made."""
        self.n_features = n_features
        self._cells = grown(self._cells, n_features)
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

    def state(self) -> Arrays:
        """Return the logarithms of the weights."""
        return {"cells": self._cells[: self.n_features], "bias": self._bias}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        model = cls()
        model._cells = np.array(expect(arrays, "cells", np.float64, (None, 2)))
        model._bias = np.array(expect(arrays, "bias", np.float64, (2,)))
        model.n_features = len(model._cells)
        for logarithms in (model._cells, model._bias):
            if not np.all(np.isfinite(logarithms) & (logarithms <= LARGEST)):
                raise StateError("the state's weights are not numbers that a model can have")
        return model

    def check(self, n_features: int, most: int) -> None:  # noqa: ARG002 - all features have weights
        """Refuse to be the model of so many features."""
        if self.n_features != n_features:
            raise StateError("the state has weights for other features than it knows")
