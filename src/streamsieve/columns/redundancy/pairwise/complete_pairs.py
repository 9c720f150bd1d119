"""The pairwise rule by correlation over the rows where both columns are observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from streamsieve._kernels import paired_columns as kernel
from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.pairwise.correlation import empty_results, tested_outcome
from streamsieve.columns.redundancy.pairwise.rule import CONFIG_FIELDS, PairwiseConfig
from streamsieve.columns.redundancy.slots import SLOT, Slots, SlottedRule
from streamsieve.decisions import Outcome
from streamsieve.dependence.blocks import TIE, column_slices
from streamsieve.protocols import FloatArray, IntArray, Matrix
from streamsieve.state import Array, register

#: Number of values of candidates that are standardized at a time: 8 MB.
CHUNK_VALUES = 2**20


def standardized(X: Matrix, chosen: IntArray) -> Iterator[tuple[slice, FloatArray, IntArray]]:
    """Yield chosen columns in batches: positions, standardized values (mean 0, norm 1), and observed rows."""
    n = X.shape[0]
    size = max(1, CHUNK_VALUES // n)
    for low in range(0, len(chosen), size):
        part = slice(low, min(low + size, len(chosen)))
        fresh, seen = np.empty((part.stop - low, n)), np.empty(part.stop - low, np.int64)
        kernel.standardize(*column_slices(X, chosen[part]), sp.issparse(X), fresh, seen)
        yield part, fresh, seen


@register
class PairwiseCompletePairs(SlottedRule):
    """Kept columns of unit length with NaN for missing values."""

    fields = {
        "columns": Array("f8", "kept", "rows", low=-1 - 1e-6, high=1 + 1e-6, missing=True, copy=False),
        "relevance": Array("f8", "kept", low=-1 - 1e-6, high=1 + 1e-6),
        "feature": Array("i8", "kept", low=0, order="rising"),
        **CONFIG_FIELDS,
    }

    def __init__(self, n: int, config: PairwiseConfig) -> None:
        self.n, self._config = n, config
        self.slots = Slots(
            columns=("f8", (SLOT, n)), observed=("i8", (SLOT,)), relevance=("f8", (SLOT,)),
            feature=("i8", (SLOT,)),
        )  # fmt: skip

    def settle(self, candidates: Candidates) -> Outcome:
        """Decide on candidates in order, given the kept columns."""
        X, at, feature, relevance = candidates
        (by, pair), evicted = empty_results(len(at), self._kept)
        rows, evicted_rows = np.zeros(len(at), np.int64), np.zeros(self._kept + len(at), np.int64)
        strength, n_evicted = np.abs(relevance.statistic), 0
        for part, fresh, seen in standardized(X, at):
            done = 0
            while done < len(fresh):
                if self._kept == len(self.slots):
                    self.slots.double()
                done, self._kept, n_evicted = kernel.decide(
                    fresh, seen, strength[part], feature[part], done, *self._config, TIE,
                    *self.slots.arrays.values(), self.slots.order, self._kept,
                    by[part], pair[part], rows[part], *evicted, evicted_rows, n_evicted,
                )  # fmt: skip
        gone = [array[:n_evicted] for array in evicted]
        return tested_outcome(candidates, by, pair, rows, gone, evicted_rows[:n_evicted])

    def _record(self) -> Mapping[str, Any]:
        return {**super()._record(), **self._config._asdict()}

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(record["columns"].shape[1], PairwiseConfig.of(record))

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        observed = np.sum(~np.isnan(record["columns"]), axis=1)
        return super()._rebuilt({**record, "observed": observed})
