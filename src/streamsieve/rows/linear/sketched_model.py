"""Logistic regression with weights in a count sketch: any number of features in fixed memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import sketch as kernels
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.rows.linear.entries import RowEntries
from streamsieve.state import Array, Int, Nested, Part, register
from streamsieve.summaries.class_totals import Fading, LabelEncoder

#: Maximum number of features in a heap: its hash table then takes 32 MB, even for a state with few features.
MOST_HITTERS = 2**20
#: Rows per kernel call; Ctrl-C is handled between calls.
PIECE_ROWS = 2**15


class HeavyHitters(Part):
    """The features of largest weight: a heap, smallest first, and a hash table from ids to slots.

    A feature keeps its slot as long as it stays; a new one takes the slot of the feature that it replaces.

    Parameters
    ----------
    capacity : how many features there may be, at most 2**20
    """

    fields = {
        "ids": Array("i8", "features", low=0, unique=True, copy=False),
        "keys": Array("f8", "features", low=0, finite=True, copy=False),
        "capacity": Int(1, MOST_HITTERS),
    }

    def __init__(self, capacity: int) -> None:
        self.ids = np.zeros(capacity, np.int64)
        self.keys = np.zeros(capacity)
        self.heap = np.zeros(capacity, np.int64)
        self.place = np.zeros(capacity, np.int64)
        # at most a quarter full, so that most lookups of other features end at the first cell
        self.table = np.zeros(1 << (4 * capacity - 1).bit_length(), np.int64)
        self.count = np.zeros(1, np.int64)

    @property
    def capacity(self) -> int:
        """Maximum number of features."""
        return len(self.ids)

    @property
    def features(self) -> IntArray:
        """Ids of the features, by slot."""
        return self.ids[: int(self.count[0])]

    @property
    def is_full(self) -> bool:
        """Whether a new feature has to replace another one."""
        return int(self.count[0]) == len(self.ids)

    def fill(self, ids: IntArray, keys: FloatArray) -> None:
        """Replace the features by these."""
        self.count[0] = len(ids)
        self.ids[: len(ids)] = ids
        self.keys[: len(ids)] = keys
        kernels.build(self.ids, self.keys, self.heap, self.place, self.table, self.count)

    def refresh(self, cells: FloatArray, models: int, seeds: npt.NDArray[np.uint64]) -> None:
        """Update all keys from a sketch."""
        kernels.refresh(cells, models, seeds, self.ids, self.keys, self.heap, self.place, self.count)

    def _record(self) -> Mapping[str, Any]:
        """Return ids and keys; the order inside the heap follows from them."""
        n = int(self.count[0])
        return {"ids": self.ids[:n], "keys": self.keys[:n], "capacity": self.capacity}

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        if len(record["ids"]) > record["capacity"]:
            yield f"{len(record['ids'])} features are in a heap of {record['capacity']}"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        hitters = cls(record["capacity"])
        hitters.fill(record["ids"], record["keys"])
        return hitters


MOST_DEPTH = 31
MOST_WIDTH = 2**30


@register
class SketchedModel(Part):
    """One linear model for up to two classes, and one against the rest for each of more.

    The positive class of the single model is the first label; the model of the second label is its mirror
    image.  When a third label appears, both are stored, and the model of the third begins with zeros.

    Parameters
    ----------
    width, depth : buckets a row of the sketch, and rows
    capacity : how many features of largest weight are known by id; only these predict
    seed : of the hash functions
    half_life : rows after which a step counts half, or None
    """

    fields = {
        "cells": Array("f8", "depth", "width", "models", finite=True),
        "hitters": Nested(HeavyHitters),
        "labels": Nested(LabelEncoder),
        "clock": Nested(Fading),
        "seed": Int(0, 2**32 - 1),
        "rows": Int(),
        "mistakes": Int(),
    }

    def __init__(
        self, *, width: int, depth: int, capacity: int, seed: int, half_life: float | None = None
    ) -> None:
        self.seed = seed
        self.seeds = np.asarray(np.random.SeedSequence(seed).generate_state(depth, np.uint64), np.uint64)
        self.cells = np.zeros((depth, width, 1))
        self.hitters = HeavyHitters(capacity)
        self.labels = LabelEncoder()
        self.clock = Fading(half_life)
        self.rows = self.mistakes = 0

    @property
    def models(self) -> int:
        """Number of models."""
        return len(self.labels) if len(self.labels) > 2 else 1

    @property
    def shape(self) -> tuple[int, int]:
        """Depth and width of the sketch."""
        return self.cells.shape[0], self.cells.shape[1]

    def learn(self, entries: RowEntries, names: IntArray, y: npt.NDArray[Any], rate: float) -> None:
        """Take one gradient step per row, in order.

        Parameters
        ----------
        entries : the rows, finite
        names : the id of each column; None if column numbers are the ids
        y : one label per row
        rate : the learning rate
        """
        codes, new, first_rows = self.labels.encode_by_row(y)
        low = 0
        for row, label in zip(first_rows, new, strict=True):
            self._learn_between(low, row, entries, names, codes, rate)
            self._add_label(label)
            low = row
        self._learn_between(low, len(y), entries, names, codes, rate)

    def _learn_between(
        self, low: int, high: int, entries: RowEntries, names: IntArray, codes: IntArray, rate: float
    ) -> None:
        most, top = self.clock.most_rows or PIECE_ROWS, self.hitters
        while low < high:
            n = min(high - low, most)
            factors = self.clock.factors(n)
            self.mistakes += kernels.learn(
                entries.data, entries.indices, entries.indptr, names, codes, low, low + n,
                float(rate), np.ones(n) if factors is None else factors, self.rows,
                self.cells, self.models, self.seeds,
                top.ids, top.keys, top.heap, top.place, top.table, top.count,
            )  # fmt: skip
            self.rows += n
            low += n
            shrink = self.clock.advance(n)
            if shrink is not None:
                self.cells *= shrink
                top.keys *= shrink

    def _add_label(self, label: Any) -> None:
        self.labels.add([label])
        if self.models == 1:
            return
        if self.models > self.cells.shape[2]:
            wider = np.zeros((*self.shape, max(4, 2 * self.cells.shape[2])))
            wider[:, :, : self.cells.shape[2]] = self.cells
            self.cells = wider
        if self.models == 3:
            np.negative(self.cells[:, :, 0], out=self.cells[:, :, 1])
        self.hitters.refresh(self.cells, self.models, self.seeds)

    def weights(self, features: IntArray) -> FloatArray:
        """Return the current weights, one row per feature and one column per model."""
        weights: FloatArray = kernels.weights(features, self.cells, self.models, self.seeds)
        weights *= 2.0**-self.clock.exponent
        return weights

    def norms(self, low: int, high: int) -> FloatArray:
        """Return the sum of absolute weights over the models, for the features low, ..., high - 1."""
        norms: FloatArray = kernels.norms(low, high, self.cells, self.models, self.seeds)
        norms *= 2.0**-self.clock.exponent
        return norms

    def merged(self, other: SketchedModel) -> SketchedModel:
        """Return the sum of two models, as if the rows of the other came later."""
        labels = LabelEncoder()
        labels.add(self.labels.values)
        labels.encode(np.array(other.labels.values))  # refuses a mixture of text and numbers
        labels.add([v for v in other.labels.values if v not in self.labels.values])
        depth, width = self.shape
        clock = self.clock.copy()
        factor = clock.precede(other.clock, other.rows)
        total = SketchedModel(width=width, depth=depth, capacity=self.hitters.capacity, seed=self.seed)
        total.clock, total.labels = clock, labels
        total.cells = self._speaking_for(labels.values) * factor + other._speaking_for(labels.values)
        total.rows, total.mistakes = self.rows + other.rows, self.mistakes + other.mistakes
        ids = np.concatenate([self.hitters.features, other.hitters.features])
        ids = ids[np.sort(np.unique(ids, return_index=True)[1])]
        keys = np.abs(kernels.weights(ids, total.cells, total.models, total.seeds)).sum(axis=1)
        best = np.sort(np.lexsort((ids, -keys))[: total.hitters.capacity])
        total.hitters.fill(ids[best], keys[best])
        return total

    def _speaking_for(self, labels: list[Any]) -> FloatArray:
        """Return the cells of one model per label, for a superset of the labels of this model."""
        mine = self.labels.values
        if len(labels) <= 2:
            return self.cells if mine[0] == labels[0] else -self.cells
        out = np.zeros((*self.shape, len(labels)))
        for i, label in enumerate(mine):
            mirrored = self.models == 1 and i == 1
            out[:, :, labels.index(label)] = -self.cells[:, :, 0] if mirrored else self.cells[:, :, i]
        return out

    def _record(self) -> Mapping[str, Any]:
        own = {name: getattr(self, name) for name in self.fields}
        return {**own, "cells": self.cells[:, :, : self.models]}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        depth = len(record["cells"])
        model = cls(width=1, depth=depth, capacity=1, seed=record["seed"])
        model.__dict__.update(record)
        return model

    def _consistent(self) -> Iterator[str]:
        depth, width = self.shape
        if depth % 2 == 0 or depth > MOST_DEPTH or not 1 <= width <= MOST_WIDTH:
            yield f"a sketch of {depth} rows of {width} buckets"
        if not len(self.labels) or self.cells.shape[2] != self.models:
            yield f"{self.cells.shape[2]} models for {len(self.labels)} labels"
        if self.mistakes > self.rows:
            yield f"{self.mistakes} mistakes in {self.rows} rows"
