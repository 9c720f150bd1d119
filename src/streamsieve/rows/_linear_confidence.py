"""A linear model that knows how sure it is of each weight, and keeps the surest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels.sofs import learn_rows
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray
from streamsieve.rows._choice import best
from streamsieve.rows._linear_cells import grown
from streamsieve.rows._row_entries import RowEntries
from streamsieve.state import expect, register

#: Values are at most 1e100, so that no stream leads beyond these.
LARGEST = 1e250


@register
class SureWeights:
    """Means of all weights that are kept, and the confidence of all features, kept or not.

    The confidence of a feature is ``gain = 1 / sigma - 1``, 0 before anything was learnt.
    """

    def __init__(self) -> None:
        self.n_features = 0
        self._cells = np.zeros((0, 2))
        self._member = np.zeros(0, bool)
        self._heap = np.zeros(0, np.int32)
        self._keys = np.zeros(0)
        self._kept = 0

    def learn(
        self, entries: RowEntries, signs: FloatArray, n_features: int, most: int, regularization: float
    ) -> int:
        """Learn rows over so many features, keep at most ``most`` means; return the mistakes made."""
        self.n_features = n_features
        self._cells, self._member = grown(self._cells, n_features), grown(self._member, n_features)
        room = min(most, n_features, self._kept + len(entries.data))
        self._heap, self._keys = grown(self._heap, room), grown(self._keys, room)
        self._kept, mistakes = learn_rows(
            entries.indptr, entries.indices, entries.data, signs, self._cells, self._member, self._heap,
            self._keys, self._kept, min(most, n_features), regularization,
        )  # fmt: skip
        return int(mistakes)

    @property
    def kept(self) -> npt.NDArray[np.int32]:
        """Features whose means are kept, in order."""
        return np.sort(self._heap[: self._kept])

    def coefficients(self, n_features: int) -> FloatArray:
        """Return the means."""
        return self._column(1, n_features)

    def scores(self, n_features: int) -> FloatArray:
        """Return the gains."""
        return self._column(0, n_features)

    def _column(self, which: int, n_features: int) -> FloatArray:
        out = np.zeros(n_features)
        out[: self.n_features] = self._cells[: self.n_features, which]
        return out

    def state(self) -> Arrays:
        """Return all cells, and which features are kept."""
        return {"cells": self._cells[: self.n_features], "kept": self.kept}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        cells = np.array(expect(arrays, "cells", np.float64, (None, 2)))
        kept = expect(arrays, "kept", np.int32, (None,))
        gains = cells[:, 0]
        if not np.all((gains >= 0) & (gains <= LARGEST) & (np.abs(cells[:, 1]) <= LARGEST)):
            raise StateError("the state's weights are not numbers that a model can have")
        model = cls()
        model.n_features, model._kept, model._cells = len(cells), len(kept), cells
        model._member = best(gains, len(kept)) & (gains > 0) if len(kept) else np.zeros(len(cells), bool)
        if not np.array_equal(kept, np.flatnonzero(model._member)) or np.any(cells[~model._member, 1]):
            raise StateError("the state's weights are not those of its surest features")
        # in order, the least sure first, they are a heap
        model._heap = kept[np.lexsort((-kept, gains[kept]))]
        model._keys = gains[model._heap]
        return model

    def check(self, n_features: int, most: int) -> None:
        """Refuse to be the model of so many features, of which so many may have weights."""
        learnt = np.count_nonzero(self._cells[: self.n_features, 0])
        if self.n_features != n_features or self._kept != min(most, learnt):
            raise StateError("the state has weights for other features than it knows")
