"""What OSFS and Fast-OSFS share: everything but the moment at which a newcomer is examined."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice, check_number
from streamsieve.base import ColumnSelector, Stop
from streamsieve.columns._blanket import LARGEST_SET, BlanketStore, PValueGiven, Settled
from streamsieve.columns._budget_paired import PairedTarget
from streamsieve.columns._coded_blanket import TABLE_TESTS, CodedBlanket
from streamsieve.columns._gate import Gate, check_gate
from streamsieve.columns._paired_partial import PairedPartialColumns
from streamsieve.columns._partial import PartialColumns
from streamsieve.exceptions import ParameterError
from streamsieve.independence import FisherZ
from streamsieve.independence._tables import DEGREES, RELIABLE
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Reason, Task, Traits
from streamsieve.verdicts import KEPT, REASONS, Eviction, Verdicts

TESTS = ("fisher_z", *TABLE_TESTS)
UNRELIABLE = ("independent", "skip")
MISSING = ("refuse", "omit")


class PValues:
    """P-values of a block that are computed when somebody reads them; behaves like an array of them."""

    def __init__(self, p_value_of: PValueGiven, statistic: FloatArray, freedom: IntArray) -> None:
        self._p_value_of, self._statistic, self._freedom = p_value_of, statistic, freedom

    def __len__(self) -> int:
        return len(self._statistic)

    def __getitem__(self, part: Any) -> FloatArray:
        return self._p_value_of(self._statistic[part], self._freedom[part])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:  # noqa: FBT001
        return np.asarray(self[:], dtype, copy=copy)


class BlanketSelector(ColumnSelector):
    """Keep a Markov blanket of the target, as far as tests given a few kept columns can tell."""

    #: Whether a newcomer is examined before the older columns, or after them.
    _newcomer_first: ClassVar[bool]

    _kept_: BlanketStore

    def __init__(
        self,
        alpha: float = 0.01,
        test: str = "fisher_z",
        max_conditioning: int = 3,
        degrees: str = "strata",
        reliable: str = "occupied",
        unreliable: str = "skip",
        missing: str = "refuse",
        bins: int = 5,
        fdr: str | None = None,
        lag: int = 0,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.alpha = alpha
        self.test = test
        self.max_conditioning = max_conditioning
        self.degrees = degrees
        self.reliable = reliable
        self.unreliable = unreliable
        self.missing = missing
        self.bins = bins
        self.fdr = fdr
        self.lag = lag
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each test, smaller sets, unreliable tests, missing values, and levels after what was found."""
        for test in TESTS:
            yield cls(test=test)
        yield cls(alpha=0.05, max_conditioning=1, unreliable="independent")
        yield cls(missing="omit")
        yield cls(alpha=0.1, fdr="addis", lag=1)

    @property
    def traits(self) -> Traits:
        """What the selector can do: whether it takes missing values is a parameter."""
        return Traits(missing=self.missing == "omit")

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_number("alpha", self.alpha, low=0, high=1, open_low=True, open_high=True)
        check_choice("test", self.test, TESTS)
        check_number("max_conditioning", self.max_conditioning, low=0, high=LARGEST_SET, integer=True)
        check_choice("degrees", self.degrees, DEGREES)
        check_choice("reliable", self.reliable, RELIABLE)
        check_choice("unreliable", self.unreliable, UNRELIABLE)
        check_choice("missing", self.missing, MISSING)
        check_number("bins", self.bins, low=2, high=1024, integer=True)
        check_gate(self.fdr, self.alpha, self.lag, optional=True)
        if self.missing == "omit" and self.test != "fisher_z":
            raise ParameterError(
                f"missing='omit' goes with test='fisher_z'; got test={self.test!r}: "
                "give missing values a code of their own, or use missing='refuse'"
            )
        self._kept_ = self._store(y, Task(self.task_))
        if self.fdr is not None:
            self._gate_ = Gate(self.fdr, self.alpha, self.lag)

    def _store(self, y: npt.NDArray[Any], task: Task) -> BlanketStore:
        """Return an empty store for the test that was asked for."""
        most, skip = self.max_conditioning, self.unreliable == "skip"
        if self.test == "fisher_z":
            test = FisherZ(y, task, self.alpha)
            if self.missing == "omit":
                return PairedPartialColumns(test, PairedTarget(y, task).labels, most=most, skip=skip)
            return PartialColumns(test, most=most, skip=skip)
        table = TABLE_TESTS[self.test](y, task, self.alpha, self.degrees, self.bins, self.reliable)
        return CodedBlanket(table, most=most, skip=skip)

    def _selected(self) -> IntArray:
        return self._kept_.features

    def _offer(self, block: ColumnBlock) -> Verdicts:
        store, start = self._kept_, self.n_features_in_
        measured = store.relevance(block.X)
        reason, statistic, freedom, _ = measured
        if self.fdr is not None:
            self._gate_.regrade(reason, store.p_value_of()(statistic, freedom))
        by: dict[int, tuple[int, ...]] = {}
        evictions: list[Eviction] = []
        chosen = np.flatnonzero(reason == KEPT)
        if len(chosen):
            settled = store.settle(block.X, start, chosen, measured, newcomer_first=self._newcomer_first)
            lost = settled.reason != KEPT
            where = chosen[lost]
            if len(where):
                freedom = np.array(freedom)  # may be one number, shown at every place
                reason[where], statistic[where] = settled.reason[lost], settled.statistic[lost]
                freedom[where] = settled.freedom[lost]
            sets = zip((start + where).tolist(), settled.by[lost].tolist(), strict=True)
            by = {feature: _members(row) for feature, row in sets}
            evictions = _evictions(settled, store.p_value_of())
        p_value = cast(FloatArray, PValues(store.p_value_of(), statistic, freedom))
        return Verdicts(start, reason, statistic, p_value, by, evictions)

    def _offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        if self.fdr is not None:
            return None
        found = self._kept_.irrelevant_one(x)
        return None if found is None else (Reason.IRRELEVANT, *found)

    def _restored(self) -> None:
        super()._restored()
        kept = self.selected_
        if np.any(kept < 0) or np.any(kept >= self.n_features_in_) or np.any(np.diff(kept) <= 0):
            raise ValueError("the kept columns are none of those offered, or not in order")
        if isinstance(self._kept_, PairedPartialColumns) is not (self.missing == "omit"):
            raise ValueError(f"a {type(self._kept_).__name__} does not go with missing={self.missing!r}")
        if self.fdr is not None:
            self._gate_.check(self.fdr, self.alpha, self.lag, self.n_features_in_)


def _evictions(settled: Settled, p_value_of: PValueGiven) -> list[Eviction]:
    p_values = p_value_of(settled.evicted_statistic, settled.evicted_freedom)
    columns = (
        settled.evicted_at, settled.evicted, settled.evicted_reason, settled.evicted_statistic, p_values,
        settled.evicted_by,
    )  # fmt: skip
    return [
        Eviction(step, feature, REASONS[reason], statistic, p, _members(by))
        for step, feature, reason, statistic, p, by in zip(*(c.tolist() for c in columns), strict=True)
    ]


def _members(row: list[int]) -> tuple[int, ...]:
    return tuple(i for i in row if i >= 0)
