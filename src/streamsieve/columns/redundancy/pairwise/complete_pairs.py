"""The pairwise rule by correlation over the rows where both columns are observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from streamsieve._kernels import paired_columns as kernel
from streamsieve.columns.redundancy.contract import Candidates, RedundancyRule
from streamsieve.columns.redundancy.pairwise.correlation import room, tested_outcome
from streamsieve.columns.redundancy.pairwise.rule import CONFIG_FIELDS, PairwiseConfig
from streamsieve.columns.redundancy.slots import SLOT, Slots
from streamsieve.decisions import Outcome
from streamsieve.dependence.blocks import TIE, column_slices
from streamsieve.protocols import FloatArray, IntArray, Matrix
from streamsieve.state import Array, register

FIRST_SLOTS = 32
#: Values of candidates that are standardized at a time: 8 MB.
CHUNK_VALUES = 2**20


def standardized(X: Matrix, chosen: IntArray) -> Iterator[tuple[slice, FloatArray, IntArray]]:
    """Yield some of the chosen columns at a time: which, their values (mean 0, norm 1), and rows observed."""
    n = X.shape[0]
    size = max(1, CHUNK_VALUES // n)
    for low in range(0, len(chosen), size):
        part = slice(low, min(low + size, len(chosen)))
        fresh, seen = np.empty((part.stop - low, n)), np.empty(part.stop - low, np.int64)
        kernel.standardise(*column_slices(X, chosen[part]), sp.issparse(X), fresh, seen)
        yield part, fresh, seen


@register
class PairwiseCompletePairs(RedundancyRule):
    """Kept columns of unit length with NaN for missing values.

    Parameters
    ----------
    n : number of rows
    config : variants of the rule
    """

    fields = {
        "columns": Array("f8", "kept", "rows", low=-1 - 1e-6, high=1 + 1e-6, missing=True, copy=False),
        "relevance": Array("f8", "kept", low=-1 - 1e-6, high=1 + 1e-6),
        "feature": Array("i8", "kept", low=0, order="rising"),
        **CONFIG_FIELDS,
    }

    def __init__(self, n: int, config: PairwiseConfig) -> None:
        self.n, self._config, self._kept = n, config, 0
        self.slots = Slots(
            FIRST_SLOTS, columns=("f8", (SLOT, n)), relevance=("f8", (SLOT,)), feature=("i8", (SLOT,))
        )
        self._observed, self._order = np.zeros(FIRST_SLOTS, np.int64), np.arange(FIRST_SLOTS)

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return self.slots["feature"][self._order[: self._kept]]

    @property
    def nbytes(self) -> int:
        """Memory of the kept columns, in bytes."""
        return 8 * self._kept * (self.n + 4)

    def settle(self, candidates: Candidates) -> Outcome:
        """Let candidates compete with the kept columns, one after the other."""
        X, at, feature, relevance = candidates
        (by, pair), evicted = room(len(at), self._kept)
        rows, evicted_rows = np.zeros(len(at), np.int64), np.zeros(self._kept + len(at), np.int64)
        strength, n_evicted = np.abs(relevance.statistic), 0
        for part, fresh, seen in standardized(X, at):
            done = 0
            while done < len(fresh):
                if self._kept == len(self.slots):
                    self._double()
                columns, kept_relevance, kept_feature = self.slots.of("columns", "relevance", "feature")
                done, self._kept, n_evicted = kernel.decide(
                    fresh, seen, strength[part], feature[part], done, *self._config, TIE,
                    columns, self._observed, kept_relevance, kept_feature, self._order, self._kept,
                    by[part], pair[part], rows[part], *evicted, evicted_rows, n_evicted,
                )  # fmt: skip
        gone = [array[:n_evicted] for array in evicted]
        return tested_outcome(candidates, by, pair, rows, gone, evicted_rows[:n_evicted])

    def _double(self) -> None:
        old = len(self.slots)
        self.slots.double()
        self._observed = np.concatenate([self._observed, np.zeros(old, np.int64)])
        self._order = np.concatenate([self._order, np.arange(old, 2 * old)])

    def _record(self) -> Mapping[str, Any]:
        return {**self.slots.record(self._order[: self._kept]), **self._config._asdict()}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        q, n = record["columns"].shape
        kept = cls(n, PairwiseConfig(record["two_phase"], record["use_max"]))
        while len(kept.slots) < q:
            kept._double()
        kept._kept = kept.slots.restore(record)
        kept._observed[:q] = n - np.isnan(record["columns"]).sum(axis=1)
        return kept
