"""A confidence-weighted linear model that keeps the weights of highest confidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels.sofs import learn_rows
from streamsieve.base.choose import best
from streamsieve.protocols import FloatArray
from streamsieve.rows.linear.entries import RowEntries
from streamsieve.rows.linear.grow import grow_rows
from streamsieve.state import Array, Part, register

#: Values are at most 1e100, so that no stream leads beyond these.
LARGEST = 1e250


@register
class ConfidenceWeights(Part):
    """Means of all weights that are kept, and the confidence of all features, kept or not.

    The confidence of a feature is ``gain = 1 / sigma - 1``, 0 before anything was learnt.
    """

    fields = {
        "cells": Array("f8", "features", 2, low=-LARGEST, high=LARGEST),
        "kept": Array("i4", "kept", below="features", order="rising"),
    }

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
        """Learn rows, keep at most ``most`` means, and return the number of rows misclassified before."""
        self.n_features = n_features
        self._cells, self._member = grow_rows(self._cells, n_features), grow_rows(self._member, n_features)
        room = min(most, n_features, self._kept + len(entries.data))
        self._heap, self._keys = grow_rows(self._heap, room), grow_rows(self._keys, room)
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

    def _record(self) -> Mapping[str, Any]:
        return {"cells": self._cells[: self.n_features], "kept": self.kept}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        cells, kept = record["cells"], record["kept"]
        gains, model = cells[:, 0], cls()
        model.n_features, model._kept, model._cells = len(cells), len(kept), cells
        model._member = np.zeros(len(cells), bool)
        model._member[kept] = True
        # in this order, the least confident first, they are a heap
        model._heap = kept[np.lexsort((-kept, gains[kept]))]
        model._keys = gains[model._heap]
        return model

    def _consistent(self) -> Iterator[str]:
        gains, means = self._cells.T
        if np.any(gains < 0) or np.any(means[~self._member]):
            yield "a weight has no legal confidence, or is not kept"
        surest = best(gains, self._kept) & (gains > 0) if self._kept else np.zeros(len(gains), bool)
        if not np.array_equal(self._member, surest):
            yield "the weights kept are not those of the highest confidence"

    def problems(self, n_features: int, most: int) -> Iterator[str]:
        """Yield why this cannot be a model of n_features features, at most ``most`` of them with weights."""
        learnt = np.count_nonzero(self._cells[: self.n_features, 0])
        if self.n_features != n_features or self._kept != min(most, learnt):
            yield "the model has weights for other features"
