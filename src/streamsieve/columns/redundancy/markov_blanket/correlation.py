"""The Markov-blanket rule by partial correlation.

Two matrices hold what tests need: the correlations of the kept columns, and the part of them that the target
does not explain.  A candidate costs one product with every kept column; whether a set separates it from the
target is then arithmetic on a few numbers, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._kernels import partial as kernel
from streamsieve.columns.redundancy.contract import Candidates, RedundancyRule
from streamsieve.columns.redundancy.markov_blanket.rule import CONFIG_FIELDS, LARGEST_SET, MarkovBlanketConfig
from streamsieve.columns.redundancy.slots import SLOT, Slots
from streamsieve.decisions import REASON_CODE, Outcome, PValues, evictions, sets
from streamsieve.dependence.blocks import column_slices
from streamsieve.independence.fisher_z import FisherZ, p_value_given
from streamsieve.protocols import IntArray, Reason
from streamsieve.state import Array, Nested, register

FIRST_SLOTS = 16

KEPT, REDUNDANT, COLLINEAR, UNRELIABLE = (
    REASON_CODE[r] for r in (Reason.RELEVANT, Reason.REDUNDANT, Reason.COLLINEAR, Reason.UNRELIABLE)
)


@register
class MarkovBlanketCorrelation(RedundancyRule):
    """Kept columns centred, of unit length, and all their correlations.

    Parameters
    ----------
    test : Fisher's z, bound to the target
    config : variants of the rule
    """

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
        self.n, self.test, self._config, self._kept = test.n, test, config, 0
        testable = sum(test.freedom(size) > 0 for size in range(1, config.max_size + 1))
        self._searched = testable if config.skip_unreliable else config.max_size
        self._share = np.array([test.share_left(size) for size in range(LARGEST_SET + 1)])
        self._basis = np.ascontiguousarray(test.basis.T)
        self.slots = Slots(
            FIRST_SLOTS, columns=("f8", (SLOT, self.n)), total=("f8", (SLOT, SLOT)),
            within=("f8", (SLOT, SLOT)), loads=("f8", (SLOT, test.n_contrasts)), feature=("i8", (SLOT,)),
        )  # fmt: skip
        #: Slots of the values in order of arrival; everything else lies in that order itself.
        self._order = np.arange(FIRST_SLOTS)

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return self.slots["feature"][: self._kept].copy()

    @property
    def nbytes(self) -> int:
        """Memory of the kept columns and their correlations, in bytes."""
        return 8 * self._kept * (self.n + 2 * self._kept + self.test.n_contrasts)

    def settle(self, candidates: Candidates) -> Outcome:
        """Let candidates compete with the kept columns, one after the other."""
        X, at, feature, relevance = candidates
        slices = (*column_slices(X, at), sp.issparse(X), *relevance.columns)
        m, most = len(at), self._kept + len(at)
        verdict, statistic, by = np.zeros(m, np.int64), np.zeros(m), np.full((m, LARGEST_SET), -1)
        gone, newcomer, gone_verdict = np.zeros((3, most), np.int64)
        gone_statistic, gone_by = np.zeros(most), np.full((most, LARGEST_SET), -1)
        done = n_gone = 0
        while True:
            done, self._kept, n_gone = kernel.decide(
                *slices, feature, done, self._config.newcomer_first, self._searched, self._share, self._basis,
                *self.slots.of("columns", "total", "within", "loads", "feature"), self._order, self._kept,
                verdict, statistic, by, gone, newcomer, gone_verdict, gone_statistic, gone_by, n_gone,
            )  # fmt: skip
            if done == m:
                break
            self._double()
        some, p_value_of = slice(n_gone), partial(p_value_given, contrasts=self.test.n_contrasts)
        freedom, gone_freedom = self._freedom(verdict), self._freedom(gone_verdict[some])
        left = evictions(
            gone[some], newcomer[some], self._reason(gone_verdict[some]), gone_statistic[some],
            p_value_of(gone_statistic[some], gone_freedom), gone_by[some],
        )  # fmt: skip
        p_value = PValues(p_value_of, statistic, freedom)
        decided = np.where(verdict == 0, relevance.statistic, statistic)
        return Outcome(self._reason(verdict), decided, p_value, sets(feature, by), left)

    def _reason(self, verdict: IntArray) -> npt.NDArray[np.uint8]:
        """Return codes for sizes of sets; a size is negative where the column is a function of the set."""
        reason = np.where(verdict < 0, COLLINEAR, REDUNDANT).astype(np.uint8)
        reason[self._freedom(verdict) <= 0] = UNRELIABLE
        reason[verdict == 0] = KEPT
        return reason

    def _freedom(self, verdict: IntArray) -> IntArray:
        return self.test.freedom() - np.abs(verdict)

    def _double(self, at_least: int = 0) -> None:
        self.slots.double(at_least)
        self._order = np.concatenate([self._order, np.arange(len(self._order), len(self.slots))])

    def _record(self) -> Mapping[str, Any]:
        kept = self.slots.record(np.arange(self._kept))
        columns = self.slots["columns"][self._order[: self._kept]]
        return {"test": self.test, **kept, "columns": columns, **self._config._asdict()}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        kept, q = cls(record["test"], MarkovBlanketConfig.of(record)), len(record["feature"])
        if q > len(kept.slots):
            kept._double(q)
        kept._kept = kept.slots.restore(record)
        return kept
