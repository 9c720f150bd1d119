"""The pairwise rule by mutual information or symmetric uncertainty of discretized columns.

One kernel discretizes a column, measures it and decides on it, so that nothing is computed twice.  Of two
equally relevant columns neither eliminates the other, as in the authors' toolbox.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import discrete as kernel
from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.pairwise.correlation import empty_results
from streamsieve.columns.redundancy.pairwise.rule import CONFIG_FIELDS, PairwiseConfig
from streamsieve.columns.redundancy.slots import SLOT, Slots, SlottedRule
from streamsieve.decisions import REDUNDANT, Outcome, evictions_of, redundant_by
from streamsieve.dependence.blocks import TIE
from streamsieve.dependence.information import LEDGER_CODES, Information
from streamsieve.protocols import IntArray
from streamsieve.state import Array, Nested, register

#: Values per kernel call, about a tenth of a second; Ctrl-C is handled between calls.
PIECE_VALUES = 2**20


@register
class PairwiseDiscrete(SlottedRule):
    """Kept columns as categories, row by row."""

    fields = {
        "test": Nested(Information, shares=("rows",)),
        "codes": Array("u2", "kept", "rows", copy=False),
        "counts": Array("i8", "kept", "widest", low=0, high=2**31, copy=False),
        "levels": Array("i8", "kept", low=1, high=2**16),
        "entropy": Array("f8", "kept", low=0, finite=True),
        "relevance": Array("f8", "kept", low=0, finite=True),
        "feature": Array("i8", "kept", low=0, order="rising"),
        **CONFIG_FIELDS,
    }
    measures: ClassVar[bool] = True

    def __init__(self, information: Information, config: PairwiseConfig) -> None:
        self.n, self.test, self._config = information.n, information, config
        self.slots = Slots(
            codes=("u2", (SLOT, self.n)), counts=("i8", (SLOT, information.width)), levels=("i8", (SLOT,)),
            entropy=("f8", (SLOT,)), relevance=("f8", (SLOT,)), feature=("i8", (SLOT,)),
        )  # fmt: skip

    def settle(self, candidates: Candidates) -> Outcome:
        """Discretize, measure and decide on columns in order, given the kept ones."""
        X, at, feature, _ = candidates
        X = sp.csc_array(X) if len(at) == X.shape[1] else sp.csc_array(X)[:, at]
        reason, n_evicted = np.zeros(len(at), np.uint8), 0
        (by, statistic), evicted = empty_results(len(at), self._kept)
        for run in _consecutive(feature, max(1, PIECE_VALUES // self.n)):
            outcome = reason[run], statistic[run], by[run]
            n_evicted = self._settle_run(X, run, int(feature[run.start]), outcome, evicted, n_evicted)
        gone, newcomer, pair = evicted[0][:n_evicted], evicted[1][:n_evicted], evicted[2][:n_evicted]
        why, no_test = np.full(n_evicted, REDUNDANT, np.uint8), np.full(n_evicted, np.nan)
        left = evictions_of(gone, newcomer, why, pair, no_test, newcomer[:, None])
        return Outcome(reason, statistic, None, redundant_by(feature, by[:, None]), left)

    def _settle_run(
        self, X: Any, run: slice, start: int, outcome: tuple[npt.NDArray[Any], ...],
        evicted: tuple[npt.NDArray[Any], ...], n_evicted: int,
    ) -> int:  # fmt: skip
        """Decide on columns with consecutive arrival numbers; return the number of evictions so far."""
        test, pointers = self.test, X.indptr[run.start : run.stop + 1].astype(np.int64, copy=False)
        table, done = test.table(), 0
        while True:
            done, self._kept, n_evicted = kernel.decide(
                pointers, X.indices, X.data, done, start, test.bins,
                *test.target, test.normalized, test.delta, *self._config, TIE,
                *self.slots.arrays.values(), self._kept,
                *outcome, *evicted, n_evicted, test.g, table, LEDGER_CODES,
            )  # fmt: skip
            if done == len(pointers) - 1:
                return n_evicted
            self.slots.double()

    def _record(self) -> Mapping[str, Any]:
        return {"test": self.test, **super()._record(), **self._config._asdict()}

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(record["test"], PairwiseConfig.of(record))

    def _consistent(self) -> Iterator[str]:
        codes, counts, levels = (array[: self._kept] for array in self.slots.of("codes", "counts", "levels"))
        if np.any(levels > counts.shape[1]) or np.any(codes >= levels[:, None]):
            yield "a column has codes beyond its categories"
        elif np.any(counts.sum(axis=1) != self.n):
            yield "the categories of a column do not add up to its rows"


def _consecutive(feature: IntArray, most: int) -> Iterator[slice]:
    """Yield the runs of consecutive arrival numbers, at most ``most`` at a time."""
    edges = [0, *(np.flatnonzero(np.diff(feature) != 1) + 1).tolist(), len(feature)]
    for low, high in pairwise(edges):
        for begin in range(low, high, most):
            yield slice(begin, min(begin + most, high))
