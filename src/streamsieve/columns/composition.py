"""Composition of a relevance test, a significance level and a redundancy rule: measure, test, settle.

    block --measure--> Relevance --level--> Candidates --settle--> Outcome
          (pure)                 (fixed, or           (a rule, in order of arrival; the
                                  online FDR)          selector makes Decisions of it)

Most column selectors are compositions: they only choose a test (`dependence/`, `independence/`) and a
redundancy rule (`columns/redundancy/`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np

from streamsieve.column_types import ColumnTypes, TypesParameter
from streamsieve.columns.redundancy.contract import Candidates, RedundancyRule
from streamsieve.decisions import KEPT, Outcome
from streamsieve.dependence.contract import MeasuredBlock, Relevance, RelevanceTest
from streamsieve.exceptions import ParameterError, SchemaError, StateError
from streamsieve.independence.online_fdr import LONGEST_LAG, RULES, OnlineFDRProcedure
from streamsieve.independence.p_values import CHOICES, p_value_methods
from streamsieve.lazy_p_values import PValues, ReplacedPValues
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Reason
from streamsieve.state import Choice, Int, Nested, Part, register
from streamsieve.state.tree import flat

MISSING = ("refuse", "omit")
#: Measures and tests of correlation; "auto" is one if rows are dependent or values are missing.
CORRELATIONS = ("auto", "fisher_z")
#: Measures over contingency tables, and those that support levels.
TABLE_MEASURES = ("su", "mutual_info")
TYPED = ("auto", *TABLE_MEASURES)

#: Parameters that every selector with a composition has, besides its own.
COMPOSITION_PARAMETERS: Mapping[str, Any] = {
    "p_value": Choice(*CHOICES),
    "missing": Choice(*MISSING),
    "bins": Int(2, 1024),
    "types": TypesParameter(),
    "fdr": Choice(None, *RULES),
    "lag": Int(0, LONGEST_LAG),
}


def check_missing(missing: str, name: str, part: Any) -> None:
    """Refuse ``missing="omit"`` for a measure or test (parameter ``name``) that needs complete columns."""
    if missing == "omit" and part not in CORRELATIONS:
        raise ParameterError(
            f"missing='omit' requires {name}='fisher_z'; got {name}={part!r}: "
            "give missing values a code of their own, or use missing='refuse'"
        )


def check_types(types: ColumnTypes, name: str, part: Any, instead: str = "auto") -> None:
    """Refuse ``types`` for a measure or test (parameter ``name``) that treats all columns as numbers."""
    if types is not None and (part == "fisher_z" or not isinstance(part, str)):
        raise ParameterError(
            f"types={types!r} does not go with {name}={part!r}, which treats all columns alike: use "
            f"{name}='{instead}'"
        )


@register
class Composition(Part):
    """Relevance analysis, then redundancy analysis, column by column.

    Parameters
    ----------
    test : measure or test of relevance, bound to the target
    rule : redundancy rule, without columns
    fdr : procedure that sets the level of each test; None for the fixed level of ``test``
    """

    fields = {
        # absent: that of the rule
        "test": Nested(RelevanceTest, derived=True, shares=("rows",), optional=True),
        "rule": Nested(RedundancyRule, derived=True, shares=("rows",)),
        "fdr": Nested(OnlineFDRProcedure, optional=True),
    }

    def __init__(
        self, test: RelevanceTest, rule: RedundancyRule, fdr: OnlineFDRProcedure | None = None
    ) -> None:
        self.n, self.test, self.rule, self.fdr = test.n, test, rule, fdr

    @property
    def features(self) -> IntArray:
        """Arrival numbers of the columns kept, in order."""
        return self.rule.features

    @property
    def _holds_all(self) -> bool:
        """Whether a measured block holds the values of all columns, or only of the relevant ones."""
        return self.fdr is not None

    def measure(self, block: ColumnBlock) -> MeasuredBlock:
        """Measure the relevance of a block; changes nothing."""
        relevance = self._measured(block)._replace(gathered=None)
        if isinstance(relevance.p_value, PValues):
            relevance.p_value.resolve()
        held = np.arange(len(relevance.reason))
        if not self._holds_all:
            held = np.flatnonzero(relevance.reason == KEPT)
            relevance = relevance._replace(columns=tuple(array[held] for array in relevance.columns))
        types = None if block.types is None else block.types.astype(np.uint8)  # of all columns: they travel
        return MeasuredBlock(
            block.X[:, held], block.names, block.position, block.seconds, types,
            relevance=relevance, held=held, measured_by=self.fingerprint,
        )  # fmt: skip

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the target and parameters of the test, on which all measurements depend."""
        digest = hashlib.sha256(f"{type(self.test).__name__} {self.n} {not self._holds_all}".encode())
        try:
            arrays = flat(self.test.tree())
        except StateError:  # a custom part that cannot be saved; kernels do not depend on its numbers
            arrays = {}
        for name in sorted(arrays):
            digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
        return digest.hexdigest()

    def check(self, block: MeasuredBlock) -> None:
        """Refuse a block that another test measured: kernels do not check its numbers."""
        if block.measured_by != self.fingerprint:
            raise SchemaError(
                "this block was measured by a selector with another target or other parameters: measure it "
                "with the selector that began with this y"
            )

    def offer(self, block: ColumnBlock, start: int) -> Outcome:
        """Decide on a block whose first column has arrival number ``start``."""
        relevance = self._relevance(block)
        reason, statistic, p_value = relevance[:3]
        if self.fdr is not None and p_value is not None:
            self.fdr.retest(reason, p_value, relevance.discrete)
        chosen = np.flatnonzero(reason == KEPT)
        if not len(chosen):
            return Outcome(reason, statistic, p_value, start=start, found=0)
        places = block.places(chosen) if isinstance(block, MeasuredBlock) else chosen
        relevance = relevance.at(chosen, places)
        outcome = self.rule.settle(Candidates(block.X, places, start + chosen, relevance))
        statistic = statistic.copy()  # lazy p-values still read the relevance statistics
        reason[chosen], statistic[chosen] = outcome.reason, outcome.statistic
        if isinstance(p_value, PValues):  # rejected columns show the p-value of the test that rejected them
            p_value.release(chosen if outcome.p_value is None else chosen[outcome.reason == KEPT])
        p_value = _p_values(p_value, chosen, outcome)
        # if the rule measures relevance, the number follows from the reasons
        found = None if self.rule.measures else len(chosen)
        return Outcome(reason, statistic, p_value, outcome.by, outcome.evictions, start, found)

    def _relevance(self, block: ColumnBlock) -> Relevance:
        """Return the relevance of a block, in writable arrays."""
        if isinstance(block, MeasuredBlock):
            return block.relevance.owned()
        if self.rule.measures:
            return Relevance.unmeasured(block.X.shape[1])
        return self._measured(block)

    def _measured(self, block: ColumnBlock) -> Relevance:
        return self.test.measure(block.X) if block.types is None else self.test.measure_block(block)

    def offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        """Reject a single column, as (reason, statistic, p-value), or return None to leave it to `offer`."""
        found = None if self.fdr is not None else self.test.measure_one(x)
        if found is None or found[0] is not Reason.RELEVANT:
            return found
        rejected = self.rule.rejects(abs(found[1]))
        return None if rejected is None else (rejected, *found[1:])

    def _record(self) -> Mapping[str, Any]:
        own = getattr(self.rule, "test", None) is not self.test
        return {"test": self.test if own else None, "rule": self.rule, "fdr": self.fdr}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        test = record["test"] or getattr(record["rule"], "test", None)
        if test is None:
            raise ParameterError("there is no test of relevance")
        return cls(test, record["rule"], record["fdr"])

    def problems(
        self, rule: type[RedundancyRule], fdr: tuple[str | None, float, int], p_value: str, offered: int
    ) -> Iterator[str]:
        """Yield the inconsistencies with a selector's parameters and the number of columns offered to it."""
        if type(self.rule) is not rule:
            yield f"a {type(self.rule).__name__} does not go with the parameters: they need a {rule.__name__}"
        elif np.any(self.features >= offered):
            yield "a kept column was never offered"
        elif p_value not in ("auto", *p_value_methods(self.test)):
            yield f"the test has other p-values than p_value={p_value!r}"
        elif (self.fdr is None) is not (fdr[0] is None):
            yield "there is an FDR procedure too many or too few"
        elif self.fdr is not None:
            yield from self.fdr.problems(*fdr, offered)

    def _consistent(self) -> Iterator[str]:
        kept = self.features
        if self.rule.n != self.n:
            yield f"the test has {self.n} rows, the rule {self.rule.n}"
        elif np.any(kept < 0) or np.any(np.diff(kept) <= 0):
            yield "the kept columns are not in order"


def _p_values(
    marginal: PValues | FloatArray | None, chosen: IntArray, outcome: Outcome
) -> PValues | FloatArray | None:
    """Return the p-values of a block: of the relevance test, and of the tests that rejected candidates."""
    lost = np.flatnonzero(outcome.reason != KEPT)
    if marginal is None or outcome.p_value is None or not len(lost):
        return marginal
    decided: Callable[..., FloatArray] = outcome.p_value.__getitem__
    return ReplacedPValues(marginal, chosen[lost], PValues(decided, lost))
