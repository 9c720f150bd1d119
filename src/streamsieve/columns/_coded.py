"""Kept columns that judge newcomers by mutual information."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import xlogy

from streamsieve._kernels import codes
from streamsieve._kernels.codes import LEVELS
from streamsieve.columns._correlated import TIE, Dominance
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, FloatArray, Reason
from streamsieve.state import expect, register
from streamsieve.verdicts import REASON_CODE

if TYPE_CHECKING:
    from streamsieve.protocols import Matrix

_CODES = tuple(
    REASON_CODE[reason] for reason in (Reason.RELEVANT, Reason.CONSTANT, Reason.IRRELEVANT, Reason.REDUNDANT)
)
#: Columns that a store has room for at first.
FIRST_SLOTS = 32
#: Columns of the tables kept for every kept column.
_TABLES = ("codes", "counts", "levels", "entropy", "relevance", "feature")


class CodedVerdicts(NamedTuple):
    """Reasons and statistics of all columns of a block, and what happened among the dominant ones."""

    reason: npt.NDArray[np.uint8]
    statistic: FloatArray
    settled: Dominance


@register
class CodedColumns:
    """Columns as small codes, row by row; memory grows with the columns kept.

    Parameters
    ----------
    y : codes of the target, 0, 1, 2, ...
    bins : number of bins for columns with more than 32 distinct values
    """

    def __init__(self, y: npt.NDArray[np.uint16], bins: int) -> None:
        self.n = n = len(y)
        self._y, self._bins = y, bins
        self._g = xlogy(np.arange(n + 1.0), np.arange(n + 1.0))
        self._y_counts = np.bincount(y).astype(np.int64)
        self._y_entropy = codes.entropy(self._y_counts, len(self._y_counts), n, self._g)
        widest = max(LEVELS + 1, bins)
        self._cell = np.zeros(widest * max(widest, len(self._y_counts)), np.int64)
        self._tables: dict[str, npt.NDArray[Any]] = {
            "codes": np.zeros((FIRST_SLOTS, n), np.uint16),
            "counts": np.zeros((FIRST_SLOTS, widest), np.int64),
            "levels": np.zeros(FIRST_SLOTS, np.int64),
            "entropy": np.zeros(FIRST_SLOTS),
            "relevance": np.zeros(FIRST_SLOTS),
            "feature": np.zeros(FIRST_SLOTS, np.int64),
        }
        self._kept = 0

    @property
    def features(self) -> npt.NDArray[np.int64]:
        """Arrival numbers of the columns kept, in order."""
        return self._tables["feature"][: self._kept]

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return sum(table.nbytes for table in self._tables.values())

    def settle(
        self, X: Matrix, start: int, *, normalised: bool, delta: float, two_phase: bool, use_max: bool
    ) -> CodedVerdicts:
        """Code every column of a block, measure it, and let it compete with the kept ones, in order."""
        X = sp.csc_array(X)
        pointers = X.indptr.astype(np.int64, copy=False)
        m = X.shape[1]
        reason, statistic, by = np.zeros(m, np.uint8), np.zeros(m), np.full(m, -1, np.int64)
        room = self._kept + m
        evicted, evicted_by, evicted_pair = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
        done = n_evicted = 0
        while True:
            done, self._kept, n_evicted = codes.decide(
                pointers, X.indices, X.data, done, start, self._bins,
                self._y, self._y_counts, self._y_entropy, normalised, delta, two_phase, use_max, TIE,
                *(self._tables[name] for name in _TABLES), self._kept,
                reason, statistic, by, evicted, evicted_by, evicted_pair, n_evicted,
                self._g, self._cell, _CODES,
            )  # fmt: skip
            if done == m:
                parts = (evicted[:n_evicted], evicted_by[:n_evicted], evicted_pair[:n_evicted])
                return CodedVerdicts(reason, statistic, Dominance(by, statistic, *parts))
            self._double()

    def _double(self) -> None:
        self._tables = {
            name: np.concatenate([table, np.zeros_like(table)]) for name, table in self._tables.items()
        }

    def state(self) -> Arrays:
        """Return the target and the kept columns."""
        kept = {name: table[: self._kept] for name, table in self._tables.items()}
        return {"y": self._y, "bins": np.array([self._bins], np.int64), **kept}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild, after checking that every code is one that its table has."""
        y = np.array(expect(arrays, "y", np.uint16, (None,)))
        bins = int(expect(arrays, "bins", np.int64, (1,))[0])
        if len(y) == 0 or not 2 <= bins <= 1024:
            raise StateError(f"the state claims {len(y)} rows and {bins} bins")
        kept = cls(y, bins)
        q = len(expect(arrays, "feature", np.int64, (None,)))
        while len(kept._tables["feature"]) < q:
            kept._double()
        for name, table in kept._tables.items():
            table[:q] = expect(arrays, name, table.dtype, (q, *table.shape[1:]))
        levels, counts = kept._tables["levels"][:q], kept._tables["counts"][:q]
        if q and (
            np.any(levels < 1)
            or np.any(levels > counts.shape[1])
            or np.any(kept._tables["codes"][:q].max(axis=1) >= levels)
            or np.any(counts < 0)
            or np.any(counts.sum(axis=1) != len(y))
        ):
            raise StateError("the state's coded columns do not fit together")
        kept._kept = q
        return kept
