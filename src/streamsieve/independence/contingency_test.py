"""Base class of tests over contingency tables; subclasses choose the statistic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri

from streamsieve._kernels import table_tests as kernel
from streamsieve._kernels import tables_search as search
from streamsieve._parameters import check_choice, check_number
from streamsieve._threads import over_features
from streamsieve.decisions import CONSTANT, IRRELEVANT, RELEVANT, UNRELIABLE
from streamsieve.dependence.contract import Relevance, RelevanceTest
from streamsieve.dependence.information import c_log_c
from streamsieve.dependence.target import discretize_target
from streamsieve.exceptions import BadValueError, SchemaError
from streamsieve.independence import table_p_values
from streamsieve.independence.column_pieces import Pieces, begins_with_bits, pieces_of
from streamsieve.independence.p_values import OF_TABLES, resolve_auto
from streamsieve.lazy_p_values import PValues
from streamsieve.protocols import FloatArray, IntArray, Matrix, Reason, Task
from streamsieve.state import Array, Bool, Choice, Float, Int

#: Methods of counting degrees of freedom, in the order of the kernels' codes.
DEGREES = ("nominal", "zero_cells", "strata")
#: Tables that must have enough rows.
RELIABLE = ("nominal", "occupied")
#: Minimum number of rows per degree of freedom.
ROWS_PER_FREEDOM = 5
MOST_BINS = 1024

_CODES = (RELEVANT, IRRELEVANT, CONSTANT, UNRELIABLE)


class TableRelevance(NamedTuple):
    """Results of the relevance tests of a block."""

    #: Reason codes of the ledger: relevant, irrelevant, constant, or unreliable test.
    reason: npt.NDArray[np.uint8]
    statistic: FloatArray
    #: Test statistic and its degrees of freedom; see `table_p_values.p_value_or_fisher`.
    tested: FloatArray
    freedom: FloatArray
    #: Number of levels: 1 is a constant column, 2 a binary one.
    levels: IntArray


class Tested(NamedTuple):
    """One test of a column and the target, given others."""

    statistic: float
    #: Degrees of freedom; by "moments" those of the gamma distribution, and 0 where the p-value is exact.
    freedom: float
    p_value: float
    #: Whether there are enough rows.
    reliable: bool


class TableTest(RelevanceTest):
    """A test of independence by contingency tables, bound to a target once; see `GSquared`."""

    #: Pearson's statistic, or the likelihood ratio.
    _pearson: ClassVar[bool]

    fields = {
        "y": Array("u2", "rows", codes=True, nonempty=True),
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "degrees": Choice(*DEGREES),
        "bins": Int(2, MOST_BINS),
        "reliable": Choice(*RELIABLE),
        "p_value": Choice(*OF_TABLES),
        "exact": Bool(),
    }

    def __init__(
        self,
        y: npt.NDArray[Any],
        task: Task,
        alpha: float,
        degrees: str = "strata",
        bins: int = 5,
        reliable: str = "occupied",
        p_value: str = "auto",
        *,
        exact: bool = False,
    ) -> None:
        check_number("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
        check_choice("degrees", degrees, DEGREES)
        check_number("bins", bins, low=2, high=MOST_BINS, integer=True)
        check_choice("reliable", reliable, RELIABLE)
        way = resolve_auto(p_value, OF_TABLES)
        self._bind(discretize_target(y, task), alpha, degrees, bins, reliable, way, exact)

    def _bind(
        self, y: npt.NDArray[np.uint16], alpha: float, degrees: str, bins: int, reliable: str, p_value: str,
        exact: bool,  # noqa: FBT001
    ) -> None:  # fmt: skip
        self.n, self.alpha, self.degrees, self.bins, self.reliable = len(y), alpha, degrees, bins, reliable
        self.p_value, self.exact = p_value, exact
        self.y = y.astype(np.int64)
        self.class_counts = np.bincount(self.y).astype(np.int64)
        self.n_classes = len(self.class_counts)
        counts = np.arange(1.0, self.n + 1)
        #: c ln c, ln c and 1 / c of every possible count; 0 for c = 0
        self.g, self.log = c_log_c(self.n), np.concatenate([[0.0], np.log(counts)])
        self.inverse = np.concatenate([[0.0], 1.0 / counts])
        self._critical = np.full(1, np.inf)

    @property
    def most_levels(self) -> int:
        """Maximum number of levels of a column."""
        return max(int(kernel.most_levels(self.n)), self.bins)

    @property
    def by_moments(self) -> bool:
        """Whether p-values are those of permutation moments."""
        return self.p_value == "moments"

    @property
    def rows_per_freedom(self) -> int:
        """Number of rows per degree of freedom needed by a test given nothing."""
        return 1 if self.by_moments else ROWS_PER_FREEDOM

    @property
    def rules(self) -> tuple[int, bool, int, bool, bool, float]:
        """Rows per degree of freedom, whether occupied cells count, and codes of the degrees and the test."""
        degrees = DEGREES.index(self.degrees)
        occupied = self.reliable == "occupied"
        return ROWS_PER_FREEDOM, occupied, degrees, self._pearson, self.by_moments, self.alpha

    def bounds(self, levels: int, conditioned: int) -> FloatArray:
        """Return the critical values for a search, for columns of up to ``levels`` categories."""
        if self.by_moments:
            return table_p_values.gamma_bounds(self.alpha)
        bounds = self.critical(levels, conditioned)[None]
        bounds.flags.writeable = False  # as those above: a search is compiled for one type of array
        return bounds

    @cached_property
    def _fisher_bounds(self) -> tuple[IntArray, IntArray]:
        return table_p_values.fisher_bounds(self.class_counts, self.alpha, always=self.exact)

    def critical(self, levels: int, conditioned: int = 0) -> FloatArray:
        """Return the smallest significant statistic for every freedom that a reliable test can have.

        No column has more than ``levels`` categories.  Without freedom nothing is significant: infinity.
        """
        nominal = (levels - 1) * (self.n_classes - 1) * levels**conditioned
        # without freedom of its own a test is reliable, but needs no more than the first place
        most = min(nominal, self.n // ROWS_PER_FREEDOM)
        if len(self._critical) <= most:
            more = chdtri(np.arange(len(self._critical), most + 1.0), self.alpha)
            self._critical = np.concatenate([self._critical, more])
        return self._critical

    def p_values(self, tested: FloatArray, freedom: FloatArray) -> PValues:
        """Return the p-values of test statistics, computed on access."""
        ones = int(self.class_counts[-1])
        return PValues(partial(table_p_values.p_value_or_fisher, self.n, ones), tested, freedom)

    def relevance(self, X: Matrix) -> TableRelevance:
        """Test every column of a block against the target."""
        found, fewest, pieces = self._counted(X)
        if self.by_moments:
            self._decide(found, fewest, pieces)
        return found

    def _counted(self, X: Matrix) -> tuple[TableRelevance, IntArray, tuple[Any, ...]]:
        """Return tests that are not yet compared with the level by moments, and rows of the rarest levels."""
        m = X.shape[1]
        reason = np.empty(m, np.uint8)
        (statistic, tested, freedom), (fewest, levels) = np.empty((3, m)), np.empty((2, m), np.int64)
        pieces = self.pieces(X)
        critical, exact = self._critical, (np.zeros(0, np.int64),) * 2
        if self.by_moments:
            exact = self._fisher_bounds
        else:
            critical = self.critical(self.most_levels)
        bits = begins_with_bits(pieces)

        def measure(low: int, high: int, room: FloatArray | None) -> int:
            done: int = kernel.measure(
                *pieces, self.bins, self.y, self.class_counts, self.g, critical, *exact,
                self.rows_per_freedom, self.degrees == "zero_cells", self._pearson, self.by_moments, _CODES,
                reason, statistic, tested, freedom, fewest, levels, low, high, room,
            )  # fmt: skip
            return done

        def work(low: int, high: int) -> None:
            # the kernel for bits alone compiles in a third of the time, and is enough for most data
            done = measure(low, high, None) if bits else low
            if done < high:
                measure(done, high, np.empty(kernel.most_levels(self.n) + 1))

        over_features(m, 32 * (len(pieces[2]) + m), work)  # values may have to be sorted
        if np.any(levels < 0):
            j = int(np.argmax(levels < 0))
            raise BadValueError(
                f"column {j} holds NaN or infinity, which is no level: drop such rows or fill them in",
                j, math.nan,
            )  # fmt: skip
        return TableRelevance(reason, statistic, tested, freedom, levels), fewest, pieces

    def _decide(self, found: TableRelevance, fewest: IntArray, pieces: tuple[Any, ...]) -> None:
        """Compare tables with the level, and confirm the p-values of sparse ones."""
        reason, _, tested, freedom, levels = found
        if self.exact:  # an online procedure needs all p-values, and has its own levels
            some = np.flatnonzero(freedom < 0)
            tested[some], freedom[some] = self.p_values(tested, freedom)[some], 0
            reason[some[tested[some] <= self.alpha]] = RELEVANT
        some = np.flatnonzero(freedom > 0)
        some = some[table_p_values.is_significant(tested[some], freedom[some], self.alpha)]
        reason[some] = RELEVANT
        smallest = int(self.class_counts.min())
        few = fewest[some] * smallest < table_p_values.FEW_FOR_GAMMA * self.n
        rare = table_p_values.is_rare(fewest[some], self.n_classes)
        rare |= table_p_values.is_rare(smallest, levels[some])
        # 2 x 2 tables of few rows have Fisher's p-value already
        sparse = some[few | (rare & ((levels[some] > 2) | (self.n_classes > 2)))]
        if not len(sparse):
            return
        draws = table_p_values.MOST_DRAWS if self.exact else table_p_values.draws_for(self.alpha)
        rows, one = np.arange(self.n), np.zeros(self.n, np.int64)
        for j in sparse.tolist():
            codes = self.encode(pieces, np.array([j]), rows, self.n)[0]
            p = float(table_p_values.p_value(tested[j], freedom[j]))
            tables = table_p_values.tables_of(codes, self.y, one)
            tested[j], freedom[j] = table_p_values.confirmed(p, tables, draws, tail=self.exact), 0
            reason[j] = RELEVANT if tested[j] <= self.alpha else IRRELEVANT

    def measure(self, X: Matrix) -> Relevance:
        """Test every column of a block against the target; rules want the numbers of categories again."""
        reason, statistic, tested, freedom, levels = self.relevance(X)
        discrete = np.ones(len(reason), bool)
        return Relevance(reason, statistic, self.p_values(tested, freedom), (levels,), discrete)

    def measure_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        """Test a single column of numbers; None if it is constant, not finite, or cannot be tested."""
        if not math.isfinite(float(x.sum())):
            return None
        reason, statistic, tested, freedom, _ = self.relevance(x.reshape(-1, 1))
        if reason[0] not in _CODES[:2]:
            return None
        relevant = Reason.RELEVANT if reason[0] == _CODES[0] else Reason.IRRELEVANT
        return relevant, float(statistic[0]), float(self.p_values(tested, freedom)[0])

    def given(self, x: npt.ArrayLike, Z: npt.ArrayLike, *, confirm: bool = True) -> Tested:
        """Test one column and the target given the columns of Z, three at most.

        Parameters
        ----------
        x : one number per row
        Z : (rows, columns) array of what is given
        confirm : whether to confirm a p-value of up to the level; a search through many sets does not

        Returns
        -------
        Tested
            statistic, degrees of freedom, p-value, and whether there are enough rows.
        """
        x, Z = np.asarray(x), np.asarray(Z)
        if x.shape != (self.n,) or Z.ndim != 2 or Z.shape[0] != self.n or not 0 <= Z.shape[1] <= 3:
            raise SchemaError(
                f"x must be a column of {self.n} rows, and Z up to 3 columns of as many rows; got shapes "
                f"{x.shape} and {Z.shape}"
            )
        both = np.column_stack([x, Z])
        if self.by_moments and not Z.shape[1]:
            alone = self.relevance(both)
            p = float(self.p_values(alone.tested, alone.freedom)[0])
            tested = alone.reason[0] not in _CODES[2:]
            return Tested(float(alone.statistic[0]), max(float(alone.freedom[0]), 0.0), p, tested)
        alone, _, pieces = self._counted(both)
        columns = self.encode(pieces, np.arange(both.shape[1]), np.arange(self.n), self.n)
        found = self._given(columns, alone.levels)
        if confirm and self.by_moments and found.p_value <= self.alpha:
            strata = np.unique(columns[1:], axis=1, return_inverse=True)[1].ravel()
            tables = table_p_values.tables_of(columns[0], self.y, strata)
            p = table_p_values.confirmed(found.p_value, tables, table_p_values.draws_for(self.alpha))
            found = found._replace(p_value=p)
        return found

    def _given(self, columns: npt.NDArray[np.uint16], levels: IntArray) -> Tested:
        strata, ends, *tables = self.room(int(levels.max()))
        # one level that all rows share: the test given nothing, or a last member that splits nothing
        nothing = np.zeros(self.n, np.uint16)
        everything = True
        n_strata = search.start_levels(columns[0], self.y, strata, ends)
        for depth in range(1, len(columns)):
            n_strata = search.push_levels(
                depth - 1, columns[depth], levels[depth], n_strata, everything, strata, ends, tables[-2]
            )

        def judge(*, pearson: bool, moments: bool) -> tuple[Any, ...]:
            judged: tuple[Any, ...] = search.judge_levels(
                len(columns) - 1, nothing, 1, levels[0], self.n_classes, n_strata, strata, ends, self.log,
                self.inverse, pearson, moments, *tables,
            )  # fmt: skip
            return judged

        statistic, freedom, rows, occupied, *_ = judge(pearson=self._pearson, moments=False)
        joint = math.prod(levels[1:].tolist())
        nominal = int(levels[0] - 1) * (self.n_classes - 1) * joint
        reliable = self.n >= ROWS_PER_FREEDOM * nominal
        if not reliable and self.reliable == "occupied":
            reliable = freedom > 0 and rows >= ROWS_PER_FREEDOM * freedom
        elif not self.by_moments and self.degrees == "nominal":
            freedom = nominal
        elif not self.by_moments and self.degrees == "zero_cells":
            cells = int(levels[0]) * self.n_classes * joint
            freedom = max(nominal - (cells - occupied), min(nominal, 1))
        tested = statistic if freedom > 0 else 1.0
        if self.by_moments:
            value, *_, mean, variance = judge(pearson=True, moments=True)
            reliable &= variance > 0 or freedom == 0
            scale = 2 * mean / variance if variance > 0 else 0.0
            tested, freedom = value * scale if variance > 0 else 1.0, mean * scale
        p = float(table_p_values.p_value(np.array(tested), np.array(freedom)))
        return Tested(statistic, freedom, p, bool(reliable))

    def pieces(self, X: Matrix) -> Pieces:
        """Return the arrays of a block of columns in the form of kernel arguments."""
        return pieces_of(X, self.n)

    def encode(
        self, pieces: tuple[Any, ...], chosen: IntArray, place: IntArray, width: int
    ) -> npt.NDArray[np.uint16]:
        """Return the levels of chosen columns, a row per column; row i of the block goes to ``place[i]``."""
        out = np.zeros((len(chosen), width), np.uint16)
        kernel.encode(*pieces, self.bins, chosen, place, out)
        return out

    def encode_two(
        self, pieces: tuple[Any, ...], chosen: IntArray, place: IntArray, width: int
    ) -> npt.NDArray[np.uint16]:
        """Return the same as :meth:`encode`, for columns of two levels, most of which have two values."""
        out = np.zeros((len(chosen), width), np.uint16)
        if kernel.encode_two(*pieces, chosen, place, out):
            return out
        return self.encode(pieces, chosen, place, width)

    def room(self, levels: int) -> tuple[npt.NDArray[Any], ...]:
        """Return work space for tests over columns of up to ``levels`` categories."""
        n, classes = self.n, self.n_classes
        return (
            np.zeros((4, 3, n), np.int32),
            np.zeros((4, n + 1), np.int32),
            np.zeros(levels * levels * classes, np.int32),
            np.zeros(levels * levels, np.int32),
            np.zeros(levels * classes, np.int32),
            np.zeros((3, levels), np.int32),
            np.zeros(max(n, levels) + 1, np.int32),
            np.zeros((3, levels)),
        )

    def _record(self) -> Mapping[str, Any]:
        return {**{name: getattr(self, name) for name in self.fields}, "y": self.y.astype(np.uint16)}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        test = cls.__new__(cls)
        test._bind(**record)  # noqa: SLF001
        return test
