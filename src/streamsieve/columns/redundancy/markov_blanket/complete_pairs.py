"""The Markov-blanket rule by partial correlation over the rows where columns are observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from streamsieve._kernels import paired_partial as kernel
from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.markov_blanket.rule import CONFIG_FIELDS, LARGEST_SET, MarkovBlanketConfig
from streamsieve.columns.redundancy.pairwise.complete_pairs import standardized
from streamsieve.columns.redundancy.slots import SLOT, Slots, SlottedRule
from streamsieve.decisions import COLLINEAR, KEPT, REDUNDANT, UNRELIABLE, Outcome, evictions_of, redundant_by
from streamsieve.independence.complete_pairs import CompletePairsFisherZ
from streamsieve.lazy_p_values import PValues
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Nested, register

#: Reason codes for the results of the search: kept, independent, function of the set, too few rows.
_CODES = np.array([KEPT, REDUNDANT, COLLINEAR, UNRELIABLE], np.uint8)
#: Maximum number of tests per column that need a pass over the rows: all sets of up to three among 29
#: columns.
MOST_TESTS = 4096
#: Statistics of a pair: correlation, the part that the target does not explain, and the correlation of one
#: with the target given the other.
_PAIRS = 3


@register
class MarkovBlanketCompletePairs(SlottedRule):
    """Kept columns of unit length with NaN for missing values, and statistics of every pair."""

    fields = {
        "test": Nested(CompletePairsFisherZ, shares=("rows",)),
        "columns": Array("f8", "kept", "rows", low=-1 - 1e-6, high=1 + 1e-6, missing=True, copy=False),
        "pairs": Array("f8", _PAIRS, "kept", "kept", finite=True),
        "joint": Array("i8", "kept", "kept", low=0, high=2**31),
        "loads": Array("f8", "kept", "loads", low=-1 - 1e-6, high=1 + 1e-6),
        "feature": Array("i8", "kept", low=0, order="rising"),
        **CONFIG_FIELDS,
    }

    def __init__(self, test: CompletePairsFisherZ, config: MarkovBlanketConfig) -> None:
        self.n, self.test, self._config = test.n, test, config
        complete, labels = test.complete, test.labels
        self._y = np.zeros(0) if len(labels) else np.ascontiguousarray(complete.basis[:, 0])
        #: Rows minus degrees of freedom of a test given nothing.
        self._lost = self.n - complete.freedom()
        #: Share of variance that the target must leave, by degrees of freedom; few occur if none is missing.
        self._share = np.full(self.n + 1, -1.0)
        for size in range(LARGEST_SET + 1):
            if complete.freedom(size) > 0:
                self._share[complete.freedom(size)] = complete.share_left(size)
        self._any_missing = False
        loads = complete.n_contrasts + 1 if len(labels) else 1
        self.slots = Slots(
            columns=("f8", (SLOT, self.n)), pairs=("f8", (_PAIRS, SLOT, SLOT)), loads=("f8", (SLOT, loads)),
            joint=("i8", (SLOT, SLOT)), feature=("i8", (SLOT,)),
        )  # fmt: skip

    def settle(self, candidates: Candidates) -> Outcome:
        """Decide on candidates in order, given the kept columns."""
        X, at, feature, relevance = candidates
        decided, left = [_lines(0)], [_lines(0)]
        for part, fresh, seen in standardized(X, at):
            if not self._any_missing and np.any(seen < self.n):
                self._expect_missing()
            width, done, n_gone = len(fresh), 0, 0
            lines, statistic = _lines(width + self._kept + width)
            while done < width:
                if self._kept == len(self.slots):
                    self.slots.double()
                done, self._kept, n_gone = kernel.decide(
                    fresh, feature[part], done, self._config.newcomer_first, self._config.max_size,
                    self._config.skip_unreliable, MOST_TESTS, self._lost, self._share, self._y,
                    self.test.labels, *self.slots.arrays.values(), self.slots.order, self._kept, lines,
                    statistic, n_gone,
                )  # fmt: skip
            gone = slice(width, width + n_gone)
            decided.append((lines[:width], statistic[:width]))
            left.append((lines[gone], statistic[gone]))
        return self._outcome(feature, relevance.statistic, *_joined(decided), *_joined(left))

    def _outcome(
        self,
        feature: IntArray,
        own: FloatArray,
        found: IntArray,
        statistic: FloatArray,
        gone: IntArray,
        gone_statistic: FloatArray,
    ) -> Outcome:
        p_value_of = self.test.complete.p_value_of
        reason, freedom = _CODES[found[:, 2]], found[:, 3]
        left = evictions_of(
            gone[:, 0], gone[:, 1], _CODES[gone[:, 2]], gone_statistic,
            p_value_of(gone_statistic, gone[:, 3]), gone[:, 4:],
        )  # fmt: skip
        kept = reason == _CODES[0]
        p_value = PValues(p_value_of, statistic, freedom)
        return Outcome(
            reason, np.where(kept, own, statistic), p_value, redundant_by(feature, found[:, 4:]), left
        )

    def _expect_missing(self) -> None:
        """Compute the required proportion of variance for any number of observed rows."""
        freedom, test = np.arange(1, self.n + 1), self.test.complete
        share = test.shares(freedom)
        known = self._share[1:] >= 0
        self._share[1:] = np.where(known, self._share[1:], share)
        self._any_missing = True

    def _record(self) -> Mapping[str, Any]:
        return {"test": self.test, **super()._record(), **self._config._asdict()}

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        rule = cls(record["test"], MarkovBlanketConfig.of(record))
        if np.any(record["joint"] < rule.n):
            rule._expect_missing()
        return rule

    def _consistent(self) -> Iterator[str]:
        columns, joint = self.slots["columns"][: self._kept], self.slots["joint"][: self._kept, : self._kept]
        seen, own = self.n - np.isnan(columns).sum(axis=1), joint.diagonal()
        # what the target leaves of a correlation over other rows may be larger than the correlation
        if np.any(np.abs(self.slots["pairs"]) > np.array([1, 2, 1])[:, None, None] + 1e-6):
            yield "what is known of pairs is no correlation"
        fits = np.all((joint <= np.minimum.outer(seen, seen)) & (joint == joint.T))
        if not fits or not np.all((own == seen) | (own == 0)):  # 0 where the target does not vary
            yield "the numbers of pairwise-complete rows are not those of the columns"


def _lines(m: int) -> tuple[IntArray, FloatArray]:
    """Return arrays for m results: feature, newcomer, result, degrees of freedom and set; and statistics."""
    return np.tile(np.array([0, 0, 0, 0, -1, -1, -1]), (m, 1)), np.zeros(m)


def _joined(parts: list[tuple[IntArray, FloatArray]]) -> tuple[IntArray, FloatArray]:
    lines, statistics = zip(*parts, strict=True)
    return np.concatenate(lines), np.concatenate(statistics)
