"""The pairwise rule by absolute correlation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import dominance as kernel
from streamsieve._kernels.dominance import LANES
from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.pairwise.rule import CONFIG_FIELDS, PairwiseConfig
from streamsieve.columns.redundancy.slots import SLOT, TILE, Slots, SlottedRule
from streamsieve.decisions import REDUNDANT, RELEVANT, Outcome, evictions_of, redundant_by
from streamsieve.dependence.blocks import TIE
from streamsieve.independence.correlation_p_values import p_value_given
from streamsieve.lazy_p_values import PValues
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, register

FIRST_SLOTS = 4 * LANES


@register
class PairwiseCorrelation(SlottedRule):
    """Kept columns centered, of unit length, in tiles of 32."""

    fields = {
        "columns": Array("f8", "kept", "rows", low=-1 - 1e-6, high=1 + 1e-6, copy=False),
        "relevance": Array("f8", "kept", low=0, high=1 + 1e-6),
        "feature": Array("i8", "kept", low=0, order="rising"),
        **CONFIG_FIELDS,
    }

    def __init__(self, n: int, config: PairwiseConfig) -> None:
        self.n, self._config = n, config
        self.slots = Slots(
            FIRST_SLOTS, columns=("f8", (TILE, n, LANES)), relevance=("f8", (SLOT,)),
            feature=("i8", (SLOT,)),
        )  # fmt: skip
        #: Stack of free slots, maintained by the kernel; its top is entry ``slots - kept - 1``.
        self._free = np.arange(FIRST_SLOTS)[::-1].copy()

    def settle(self, candidates: Candidates) -> Outcome:
        """Decide on candidates in order, given the kept columns."""
        X, at, feature, relevance = candidates
        slices = (*candidates.slices(), sp.issparse(X), *relevance.columns)
        strength = np.abs(relevance.statistic)
        (by, pair), evicted = empty_results(len(at), self._kept)
        done = n_evicted = 0
        while True:
            done, self._kept, n_evicted = kernel.decide(
                *slices, strength, feature, done, *self._config, TIE,
                *self.slots.of("columns", "relevance", "feature"), self.slots.order, self._free, self._kept,
                by, pair, *evicted, n_evicted,
            )  # fmt: skip
            if done == len(at):
                return tested_outcome(candidates, by, pair, self.n, [a[:n_evicted] for a in evicted], self.n)
            self.slots.double()
            self._stack_free()

    def _stack_free(self) -> None:
        """Fill the stack with the unused slots; those in use come first."""
        self._free = np.zeros(len(self.slots), np.int64)
        self._free[: len(self.slots) - self._kept] = np.arange(self._kept, len(self.slots))[::-1]

    def _record(self) -> Mapping[str, Any]:
        return {**super()._record(), **self._config._asdict()}

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(record["columns"].shape[1], PairwiseConfig.of(record))

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        rule = super()._rebuilt(record)
        rule._stack_free()  # noqa: SLF001 - its own class
        return rule


def empty_results(
    m: int, kept: int
) -> tuple[tuple[IntArray, FloatArray], tuple[IntArray, IntArray, FloatArray]]:
    """Return arrays for winner and dependence of m candidates; for evictions feature, winner, dependence."""
    most = kept + m
    evicted = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
    return (np.full(m, -1, np.int64), np.zeros(m)), evicted


def tested_outcome(
    candidates: Candidates, by: IntArray, pair: FloatArray, rows: IntArray | int,
    evicted: Sequence[npt.NDArray[Any]], evicted_rows: IntArray | int,
) -> Outcome:  # fmt: skip
    """Return the outcome of candidates that ``by`` rejected, with correlation ``pair`` over ``rows`` rows."""
    lost = by >= 0
    reason = np.where(lost, REDUNDANT, RELEVANT).astype(np.uint8)
    statistic = np.where(lost, pair, candidates.relevance.statistic)
    # two columns have a correlation even if the target needs a correlation ratio
    p_value = PValues(p_value_given, pair, np.broadcast_to(rows - 2, pair.shape))
    feature, newcomer, strength = evicted
    gone = evictions_of(
        feature, newcomer, np.full(len(feature), REDUNDANT, np.uint8), strength,
        p_value_given(strength, np.broadcast_to(evicted_rows - 2, strength.shape)), newcomer[:, None],
    )  # fmt: skip
    return Outcome(reason, statistic, p_value, redundant_by(candidates.feature, by[:, None]), gone)
