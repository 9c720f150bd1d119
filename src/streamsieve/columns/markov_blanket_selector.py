"""Mixin of OSFS and Fast-OSFS: parameters, tests and rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._caller import warn
from streamsieve.base import ColumnSelector, Stop
from streamsieve.base.changing_ledgers import RevisedLedger
from streamsieve.column_types import ColumnTypes
from streamsieve.columns.blanket_composition import BlanketComposition
from streamsieve.columns.composition import (
    COMPOSITION_PARAMETERS,
    CORRELATIONS,
    Composition,
    check_missing,
    check_types,
)
from streamsieve.columns.redundancy.contract import RedundancyRule
from streamsieve.columns.redundancy.markov_blanket.by_type import MarkovBlanketByType
from streamsieve.columns.redundancy.markov_blanket.complete_pairs import MarkovBlanketCompletePairs
from streamsieve.columns.redundancy.markov_blanket.correlation import MarkovBlanketCorrelation
from streamsieve.columns.redundancy.markov_blanket.dependent_rows import MarkovBlanketDependentRows
from streamsieve.columns.redundancy.markov_blanket.discrete import TABLE_TESTS, MarkovBlanketDiscrete
from streamsieve.columns.redundancy.markov_blanket.rank_basis import MarkovBlanketBasis
from streamsieve.columns.redundancy.markov_blanket.rule import (
    LARGEST_SET,
    NEVER_MANY,
    MarkovBlanket,
    MarkovBlanketConfig,
    largest_set,
)
from streamsieve.columns.redundancy.markov_blanket.spouses import LARGEST_POOL, POOL_BYTES, SpousePool
from streamsieve.decisions import Outcome
from streamsieve.dependence.contract import tasks_of
from streamsieve.dependence.target import numeric_target
from streamsieve.exceptions import ParameterError
from streamsieve.independence.any_test import AnyTest
from streamsieve.independence.by_type import relevance_by_type
from streamsieve.independence.complete_pairs import CompletePairsFisherZ
from streamsieve.independence.contingency_test import DEGREES, RELIABLE
from streamsieve.independence.contract import ConditionalTest
from streamsieve.independence.fisher_z import FisherZ
from streamsieve.independence.online_fdr import OnlineFDRProcedure
from streamsieve.independence.p_values import check_p_value
from streamsieve.independence.rank_basis import RankBasisF
from streamsieve.ledger import Ledger
from streamsieve.protocols import ColumnBlock, Decision, Event, IntArray, Reason, Statistic, Task, Traits
from streamsieve.state import Choice, Float, IntOr, NameOrObject, Nested

TESTS = ("auto", "fisher_z", *TABLE_TESTS, "basis")
UNRELIABLE = ("independent", "skip")
#: Number of kept columns from which on ``max_conditioning="auto"`` limits the size of sets.
MANY_KEPT = 200
#: Number of kept columns that are looked at to find out whether tables have enough rows for tests.
LOOKED_AT = 50
#: Tests with which spouses can be searched for.
SPOUSE_TESTS = ("auto", "fisher_z", "g2")

if TYPE_CHECKING:
    MixinBase = ColumnSelector
else:
    MixinBase = object


class MarkovBlanketSelector(MixinBase):
    """Mixin of OSFS and Fast-OSFS with their parameters, tests and rules; precedes `ColumnSelector`."""

    _statistic = Statistic("absolute correlation", redundancy="partial", with_types="own")
    parameters = {
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "test": NameOrObject(*TESTS, needs={"conditional": "conditional(x, y, given)"}),
        "max_conditioning": IntOr("auto", 0, LARGEST_SET),
        "degrees": Choice(*DEGREES),
        "reliable": Choice(*RELIABLE),
        "unreliable": Choice(*UNRELIABLE),
        "spouses": IntOr("auto", 0, LARGEST_POOL),
        **COMPOSITION_PARAMETERS,
    }
    _process_: Composition
    fields = {
        "_process_": Nested(Composition, BlanketComposition, shares=("rows",)),
        "ledger_": Nested(Ledger, RevisedLedger),
    }

    #: Whether a new column is examined before the kept ones, or after them.
    _newcomer_first: ClassVar[bool]

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        test: str | ConditionalTest = "auto",
        max_conditioning: int | str = "auto",
        degrees: str = "strata",
        reliable: str = "occupied",
        unreliable: str = "skip",
        spouses: int | str = 0,
        p_value: str = "auto",
        missing: str = "refuse",
        bins: int = 5,
        types: ColumnTypes = None,
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
        self.spouses = spouses
        self.p_value = p_value
        self.missing = missing
        self.bins = bins
        self.types = types
        self.fdr = fdr
        self.lag = lag
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield each test, smaller sets, unreliable tests, missing values, an FDR procedure, and spouses."""
        for test in TESTS:
            yield cls(test=test)
        yield cls(alpha=0.05, max_conditioning=1, unreliable="independent")
        yield cls(missing="omit")
        yield cls(alpha=0.1, fdr="addis", lag=1)
        yield cls(alpha=0.05, spouses=12)
        yield cls(test="g2", spouses=5)

    @property
    def traits(self) -> Traits:
        """Capabilities of the selector: support for missing values depends on a parameter."""
        return Traits(
            tasks=tasks_of(self.test),
            missing=self.missing == "omit",
            text=self.missing == "refuse" and self.test in ("auto", *TABLE_TESTS),
            grouped_rows=True,
            dependent_rows=self.test in CORRELATIONS and self.missing == "refuse" and not self.spouses,
        )

    def _check_together(self) -> None:
        check_missing(self.missing, "test", self.test)
        check_p_value(self.p_value, "test", self.test)
        check_types(self.types, "test", self.test)
        if self.spouses:
            self._check_spouses()

    def _check_spouses(self) -> None:
        """Refuse ``spouses`` together with tests that do not support the search for them."""
        reason = ""
        if self.test not in SPOUSE_TESTS:
            reason = f"test={self.test!r}: use one of {', '.join(map(repr, SPOUSE_TESTS))}"
        elif self.missing != "refuse":
            reason = f"missing={self.missing!r}: fill in missing values"
        elif self.fdr is not None:
            reason = (
                f"fdr={self.fdr!r}: spouses are tested at alpha, whatever the procedure has left to spend"
            )
        if reason:
            raise ParameterError(
                f"spouses={self.spouses!r} cannot be combined with {reason}, or use spouses=0"
            )

    @property
    def _knows_types(self) -> bool:
        return self._by_type or (self.test in TABLE_TESTS and self._dependence.independent)

    @property
    def _by_type(self) -> bool:
        """Whether tests are chosen by column type; dependent rows have tests of correlation only."""
        return self.test == "auto" and self.missing == "refuse" and self._dependence.independent

    @property
    def _rule(self) -> type[RedundancyRule]:
        """The Markov-blanket rule for the chosen comparison of columns."""
        if self._by_type:
            return MarkovBlanketByType
        if self.test == "basis":
            return MarkovBlanketBasis
        if self.test not in CORRELATIONS:
            return MarkovBlanketDiscrete if isinstance(self.test, str) else MarkovBlanket
        if self.missing == "omit":
            return MarkovBlanketCompletePairs
        return MarkovBlanketDependentRows if self._dependence.tested else MarkovBlanketCorrelation

    @property
    def _max_size(self) -> int:
        return LARGEST_SET if self.max_conditioning == "auto" else int(self.max_conditioning)

    def _compose(self, y: npt.NDArray[Any], task: Task) -> Composition:
        config = MarkovBlanketConfig(
            self._max_size, self.unreliable == "skip", self._newcomer_first,
            MANY_KEPT if self.max_conditioning == "auto" else NEVER_MANY,
        )  # fmt: skip
        test, rule = self._test_and_rule(y, task, config)
        if self.spouses:
            size = None if self.spouses == "auto" else int(self.spouses)
            pool = SpousePool(test, self.alpha, self._max_size, size)
            return BlanketComposition(test, rule, pool)
        fdr = OnlineFDRProcedure.of(self.fdr, self.alpha, self.lag)
        return Composition(test, rule, fdr)

    def _test_and_rule(
        self, y: npt.NDArray[Any], task: Task, config: MarkovBlanketConfig
    ) -> tuple[Any, RedundancyRule]:
        online = self.fdr is not None
        test: Any
        if isinstance(self.test, ConditionalTest):
            numbers = numeric_target(y, task)
            test = AnyTest(self.test, numbers, self.alpha)
            return test, MarkovBlanket(self.test, numbers, self.alpha, config)
        if self._by_type:
            test = relevance_by_type(
                y, task, self.alpha, self.p_value, self.bins, online=online,
                degrees=self.degrees, reliable=self.reliable,
            )  # fmt: skip
        elif self.test == "basis":
            test = RankBasisF.of(y, task, self.alpha, online=online)
        elif self.test not in CORRELATIONS:
            test = TABLE_TESTS[self.test](
                y, task, self.alpha, self.degrees, self.bins, self.reliable, self.p_value, exact=online
            )
        else:
            test = FisherZ(y, task, self.alpha, signed=False, p_value=self.p_value, online=online)
            if self.missing == "omit":
                test = CompletePairsFisherZ(test, observed_classes=False)
            else:
                test = self._dependence.test(test)
        rule: Any = self._rule
        takes_level = rule in (MarkovBlanketBasis, MarkovBlanketDependentRows)
        return test, rule(test, self.alpha, config) if takes_level else rule(test, config)

    # ---------------------------------------------------------------- spouses

    @property
    def _remembers(self) -> bool:
        return bool(self.spouses)

    @property
    def _ledger_kind(self) -> type[Ledger]:
        return RevisedLedger if self.spouses else Ledger

    def _connect_ledger(self) -> None:
        super()._connect_ledger()
        if isinstance(self.ledger_, RevisedLedger):
            self.ledger_.revisions = self._revised

    def _revised(self) -> list[Decision]:
        """Return the current decisions on spouses, and on kept columns redundant given the blanket."""
        pool, name = self._pool_for("ledger_"), self.names_.__getitem__
        if pool is None:
            return []
        spouses, redundant, members = pool.blanket()
        by = tuple(map(name, members))
        kept = [
            Decision(j, name(j), Event.KEPT, Reason.SPOUSE, statistic, p_value, (name(child),))
            for j, (child, statistic, p_value) in spouses.items()
        ]
        left = [
            Decision(j, name(j), Event.REJECTED, Reason.REDUNDANT, *numbers, by)
            for j, numbers in redundant.items()
        ]
        return kept + left

    def _pool_for(self, attribute: str) -> SpousePool | None:
        """Return the pool of rejected columns, for a fitted attribute; None without spouses."""
        process = self._process_for(attribute)
        return process.pool if isinstance(process, BlanketComposition) else None

    @property
    def spouses_(self) -> IntArray:
        """Arrival numbers of the columns that are kept as spouses, in order."""
        pool = self._pool_for("spouses_")
        return np.array([] if pool is None else [*pool.blanket().spouses], np.int64)

    @property
    def n_pooled_(self) -> int:
        """Number of rejected columns in the pool that is searched for spouses."""
        pool = self._pool_for("n_pooled_")
        return 0 if pool is None else pool.n_pooled

    @property
    def n_forgotten_(self) -> int:
        """Number of rejected columns dropped from a full pool, which cannot be found as spouses any more."""
        pool = self._pool_for("n_forgotten_")
        return 0 if pool is None else pool.n_forgotten

    @property
    def n_found_(self) -> int:
        """Number of columns found relevant, by themselves or as spouses, whether they were kept or not."""
        pool = self._pool_for("n_found_")
        spouses = () if pool is None else [j for j in pool.blanket().spouses if not pool.was_relevant(j)]
        return super().n_found_ + len(spouses)

    def _offer(self, block: ColumnBlock) -> Outcome:
        process, before = self._process_, self._largest_set()
        pool = process.pool if isinstance(process, BlanketComposition) else None
        complete = pool is not None and pool.n_forgotten == 0
        outcome = super()._offer(block)
        after = self._largest_set()
        if after < before and self.max_conditioning == "auto":
            self._warn_of_smaller_sets(after)
        if pool is not None and complete and pool.n_forgotten and self.spouses == "auto":
            warn(
                f"the pool of rejected columns is full: {POOL_BYTES // 2**20} MiB hold {pool.size} columns "
                f"of {pool.n} rows, so spouses among those forgotten (n_forgotten_) are out of reach of "
                "later children; set spouses= to the number of columns to remember"
            )
        return outcome

    @property
    def _many_kept(self) -> int:
        """Number of kept columns from which on sets are smaller; missing values have another bound."""
        return int(getattr(self._process_.rule, "many_kept", NEVER_MANY))

    def _largest_set(self) -> int:
        """Return the maximum size of a conditioning set for the next column."""
        return largest_set(len(self._process_.rule.features), self._many_kept)

    def _warn_of_smaller_sets(self, largest: int) -> None:
        """Warn that conditioning sets have at most ``largest`` columns from here on."""
        many = self._many_kept
        kept, columns = many * (LARGEST_SET - largest), f"{largest} column{'s' * (largest > 1)}"
        rule = self._process_.rule
        rule = getattr(rule, "rule", rule)  # the one that the types of the columns chose
        if isinstance(rule, MarkovBlanketDiscrete):
            tested, of = rule.testable(LOOKED_AT)
            if 2 * tested < of:
                warn(
                    f"{kept} columns are kept, because tables of {rule.n:,} rows and {rule.test.n_classes} "
                    "classes are too small to test most of them given another one, so they cannot be found "
                    "redundant: merge levels or classes, take test='fisher_z', which needs fewer rows, if "
                    "levels are in order, or a selector to which you give the number of columns, such as TopK"
                )
                return
        tables = "" if many == MANY_KEPT else f" and compared by tables of {self._process_.n:,} rows"
        warn(
            f"{kept} columns are kept{tables}, so conditioning sets have at most {columns} from here on, "
            "and more columns stay: take a smaller alpha, max_conditioning=3 to try all sets (slow), "
            "or a selector to which you give the number of columns, such as TopK"
        )

    def _consistent(self) -> Iterator[str]:
        pool = self._pool_for("spouses_")
        wanted = bool(self.spouses)
        if (pool is not None) is not wanted or isinstance(self.ledger_, RevisedLedger) is not wanted:
            yield "there is a pool of rejected columns too many or too few"
            return
        if pool is not None:
            size = pool.affordable if self.spouses == "auto" else self.spouses
            if (pool.size, pool.alpha, pool.max_size) != (size, self.alpha, self._max_size):
                yield "the pool of rejected columns has other parameters"
            if np.any(pool.features >= self.n_features_in_):
                yield "a column is remembered that was never offered"
        yield from super()._consistent()
        fdr = self.fdr, self.alpha, self.lag
        yield from self._process_.problems(self._rule, fdr, self.p_value, self.n_features_in_)
