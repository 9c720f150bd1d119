"""The Markov-blanket rule by partial correlation.

Tests need two matrices: the correlations of the kept columns, and the part of them that the target does not
explain.  A candidate costs one product with every kept column; testing whether a set separates it from the
target is then arithmetic on a few numbers, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import partial as kernel
from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.markov_blanket.rule import CONFIG_FIELDS, LARGEST_SET, MarkovBlanketConfig
from streamsieve.columns.redundancy.slots import SLOT, Slots, SlottedRule
from streamsieve.decisions import COLLINEAR, KEPT, REDUNDANT, UNRELIABLE, Outcome, evictions_of, redundant_by
from streamsieve.independence.fisher_z import FisherZ
from streamsieve.lazy_p_values import PValues
from streamsieve.protocols import IntArray
from streamsieve.state import Array, Nested, register


@register
class MarkovBlanketCorrelation(SlottedRule):
    """Kept columns centered, of unit length, and all their correlations."""

    fields = {
        "test": Nested(FisherZ, shares=("rows", "contrasts")),
        "columns": Array("f8", "kept", "rows", low=-1 - 1e-6, high=1 + 1e-6, copy=False),
        "total": Array("f8", "kept", "kept", low=-1 - 1e-6, high=1 + 1e-6),
        "within": Array("f8", "kept", "kept", low=-1 - 1e-6, high=1 + 1e-6),
        "loads": Array("f8", "kept", "contrasts", low=-1 - 1e-6, high=1 + 1e-6),
        "feature": Array("i8", "kept", low=0, order="rising"),
        **CONFIG_FIELDS,
    }

    def __init__(self, test: FisherZ, config: MarkovBlanketConfig) -> None:
        self.n, self.test, self._config = test.n, test, config
        testable = sum(test.freedom(size) > 0 for size in range(1, config.max_size + 1))
        self._searched = testable if config.skip_unreliable else config.max_size
        self._share = np.array([test.share_left(size) for size in range(LARGEST_SET + 1)])
        self._basis = np.ascontiguousarray(test.basis.T)
        # the values stay in their slots; everything else is in order of arrival
        self.slots = Slots(
            columns=("f8", (SLOT, self.n)), total=("f8", (SLOT, SLOT)), within=("f8", (SLOT, SLOT)),
            loads=("f8", (SLOT, test.n_contrasts)), feature=("i8", (SLOT,)),
        )  # fmt: skip

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return self.slots["feature"][: self._kept].copy()

    def settle(self, candidates: Candidates) -> Outcome:
        """Decide on candidates in order, given the kept columns."""
        X, at, feature, relevance = candidates
        slices = (*candidates.slices(), sp.issparse(X), *relevance.columns)
        m, most = len(at), self._kept + len(at)
        verdict, statistic, by = np.zeros(m, np.int64), np.zeros(m), np.full((m, LARGEST_SET), -1)
        gone, newcomer, gone_verdict = np.zeros((3, most), np.int64)
        gone_statistic, gone_by = np.zeros(most), np.full((most, LARGEST_SET), -1)
        done = n_gone = 0
        while True:
            done, self._kept, n_gone = kernel.decide(
                *slices, feature, done, self._config.newcomer_first, self._searched, self._config.many_kept,
                self._share, self._basis,
                *self.slots.arrays.values(), self.slots.order, self._kept,
                verdict, statistic, by, gone, newcomer, gone_verdict, gone_statistic, gone_by, n_gone,
            )  # fmt: skip
            if done == m:
                break
            self.slots.double()
        some, p_value_of = slice(n_gone), self.test.p_value_of
        freedom, gone_freedom = self._freedom(verdict), self._freedom(gone_verdict[some])
        left = evictions_of(
            gone[some], newcomer[some], self._reason(gone_verdict[some]), gone_statistic[some],
            p_value_of(gone_statistic[some], gone_freedom), gone_by[some],
        )  # fmt: skip
        p_value = PValues(p_value_of, statistic, freedom)
        decided = np.where(verdict == 0, relevance.statistic, statistic)
        return Outcome(self._reason(verdict), decided, p_value, redundant_by(feature, by), left)

    @property
    def many_kept(self) -> int:
        """Number of kept columns from which on sets are smaller."""
        return self._config.many_kept

    def with_config(self, config: MarkovBlanketConfig) -> Self:
        """Return a rule with the same columns and other options."""
        return self._rebuilt({**self._record(), **config._asdict()})

    def _reason(self, verdict: IntArray) -> npt.NDArray[np.uint8]:
        """Return codes for sizes of sets; a size is negative where the column is a function of the set."""
        reason = np.where(verdict < 0, COLLINEAR, REDUNDANT).astype(np.uint8)
        reason[self._freedom(verdict) <= 0] = UNRELIABLE
        reason[verdict == 0] = KEPT
        return reason

    def _freedom(self, verdict: IntArray) -> IntArray:
        return self.test.freedom() - np.abs(verdict)

    def _record(self) -> Mapping[str, Any]:
        kept = self.slots.record(np.arange(self._kept))
        columns = self.slots["columns"][self.slots.order[: self._kept]]
        return {"test": self.test, **kept, "columns": columns, **self._config._asdict()}

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        return cls(record["test"], MarkovBlanketConfig.of(record))
