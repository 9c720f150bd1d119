"""Tests of (partial) correlation by t or Fisher's z, and the F test of the correlation ratio."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import betaincinv, betaln, ndtri

from streamsieve._kernels import column_products as kernel
from streamsieve._kernels import student_t
from streamsieve.decisions import CONSTANT, IRRELEVANT, RELEVANT, UNRELIABLE
from streamsieve.dependence.blocks import (
    NO_DOUBT,
    CenteredColumns,
    Doubt,
    column_products,
    column_slices,
    marks_doubtful,
    without_offsets,
)
from streamsieve.dependence.contract import Relevance, RelevanceTest
from streamsieve.dependence.target import class_labels, contrasts
from streamsieve.independence.confirmation import Confirmation, ConfirmedOnAccess, Limits
from streamsieve.independence.correlation_p_values import PERFECT, critical_given, p_value_given
from streamsieve.independence.discreteness import first_values, is_discrete, with_few_values
from streamsieve.independence.p_values import OF_CORRELATIONS, resolve_auto
from streamsieve.independence.rough_p_values import RoughAndReplaced, RoughPValues
from streamsieve.lazy_p_values import PValues, ReplacedPValues
from streamsieve.protocols import BoolArray, FloatArray, IntArray, Matrix, Reason, Task
from streamsieve.state import Array, Bool, Choice, Float, register

#: Level up to which p-values are confirmed for an online FDR procedure.
ONLINE_LEVEL = 0.05
#: Levels between which an online FDR procedure takes p-values for rough at first: of its own order.
ROUGH_LEVELS = (ONLINE_LEVEL, 0.01, 0.002, 0.0004)

_RELEVANT, _IRRELEVANT = Reason.RELEVANT, Reason.IRRELEVANT
_CODES = (RELEVANT, IRRELEVANT, CONSTANT)
#: Too few rows for any test.
_UNTESTABLE = (RELEVANT, UNRELIABLE, CONSTANT)


class Correlations(NamedTuple):
    """Correlation of every column of a block with the target, and its mean and norm."""

    #: Reason codes of the ledger: relevant, irrelevant (or unreliable test), constant.
    reason: npt.NDArray[np.uint8]
    #: Correlation, or for more than two classes the correlation ratio; 0 for a constant column.
    r: FloatArray
    mean: FloatArray
    #: Length of the centered column; 0 for a constant one.
    norm: FloatArray


@register
class FisherZ(RelevanceTest):
    """Test of the correlation with a target by Student's t, Fisher's z, or F for more than two classes.

    Two classes are coded as 0 and 1.  For more, the statistic is the correlation ratio eta (the square root
    of the proportion of variance between classes, which is the absolute correlation for two classes), with
    the F test instead of t.

    Parameters
    ----------
    y : labels or numbers, one per row
    task : type of target
    alpha : level of the test, in (0, 1); None for no test: every column that varies is relevant
    signed : whether the statistic keeps the sign of the correlation
    p_value : {"auto", "confirmed", "t", "z"}, default="auto"
        How p-values are computed.  "t" is exact for a normal target, or a normal column and any target.
        "confirmed" ("auto") is t, and where column and target are both skewed or heavy-tailed, the
        permutation p-value of t; with many rows, or for p-values too small for random permutations, the
        maximum of t and a test of normal scores; see ``confirmation.Confirmation``.  "z" is Fisher's
        transformation.
    online : bool, default=False
        Whether p-values are used by an online FDR procedure: "confirmed" then uses Fisher's exact p-value for
        all 2 x 2 tables, and confirms all p-values up to 0.05, not only those up to alpha.  The relevance
        marks discrete p-values: those of columns with few distinct values, if the target has few.

    Notes
    -----
    A p-value of "confirmed" is that of t down to the level at which t is reliable.  Below, with few rows, it
    is the permutation p-value of t, but at most this level: valid for any distributions, if rows are
    exchangeable under independence.  Random permutations are the same in every run, and resolve p-values down
    to .0006 over 100 rows and .006 over 1,000.  Smaller p-values, and those of more rows, lie between that of
    t and the level at which t is reliable, and are valid to the order of an expansion of the permutation
    distribution.  For 2 x 2 tables it is Fisher's.  P-values above alpha, of rejected columns, are those of
    t.  ``python -m studies.calibration.pairs`` measures sizes for pairs of families, and ``python -m
    studies.calibration.power`` the power.
    Rows must be independent.  The p-value of a perfect correlation is the probability of one permutation of
    the target.  Partial correlations are tested by t.

    References
    ----------
    Student: The probable error of a mean, Biometrika 1908 (t).  Fisher, Biometrika 1915 (z).  Pitman:
    Significance tests which may be applied to samples from any populations II, JRSS Supplement 1937
    (moments of the permutation distribution).  Hoeffding: Probability inequalities for sums of bounded random
    variables, JASA 1963; Bahadur, Rao: On deviations of the sample mean, Annals of Mathematical Statistics
    1960 (the bound).  Besag, Clifford: Sequential Monte Carlo p-values, Biometrika 1991.  Spirtes,
    Glymour, Scheines: Causation, Prediction, and Search, 2000.
    """

    fields = {
        "basis": Array("f8", "rows", "contrasts", low=-1 - 1e-6, high=1 + 1e-6, nonempty=True),
        "alpha": Float(0, 1, open_low=True, open_high=True, optional=True),
        "signed": Bool(),
        "p_value": Choice(*OF_CORRELATIONS),
        "online": Bool(),
        "labels": Array("i8", "labels", codes=True),
    }

    def __init__(
        self,
        y: npt.NDArray[Any],
        task: Task,
        alpha: float | None,
        *,
        signed: bool = True,
        p_value: str = "auto",
        online: bool = False,
    ) -> None:
        basis, labels, way = contrasts(y, task), class_labels(y, task), resolve_auto(p_value, OF_CORRELATIONS)
        self._bind(basis, alpha, labels, signed=signed, p_value=way, online=online)

    def _bind(
        self,
        basis: FloatArray,
        alpha: float | None,
        labels: IntArray,
        *,
        signed: bool,
        p_value: str,
        online: bool,
    ) -> None:
        self.n: int = basis.shape[0]
        self.n_contrasts: int = basis.shape[1]
        self.basis, self.alpha, self.signed, self.p_value = basis, alpha, signed, p_value
        #: Codes of more than two classes; else nothing.
        self.labels, self.online = labels, online
        self._y = np.ascontiguousarray(basis[:, 0])
        #: Smallest significant correlation; infinite with too few rows for a test.
        self.critical = 0.0
        self._way = "z" if p_value == "z" else "t"
        self._log_beta = float(betaln(max(self.n - 2, 1) / 2, 0.5))
        if alpha is not None:
            freedom = np.array(self.freedom())
            self.critical = float(critical_given(alpha, freedom, self.n_contrasts, self._way))
        #: Correlation from which on p-values are confirmed.
        self._confirmed_from = math.inf
        if p_value == "confirmed" and alpha is not None:
            self._confirmed_from = self.critical
            if online and alpha < ONLINE_LEVEL:
                self._confirmed_from = float(critical_given(ONLINE_LEVEL, freedom, self.n_contrasts))

    def freedom(self, conditioned: int = 0) -> int:
        """Return the degrees of freedom of a test given ``conditioned`` columns; below 1 there is no test."""
        lost = 3 if self.p_value == "z" and self.n_contrasts == 1 else self.n_contrasts + 1
        return self.n - conditioned - lost

    @property
    def level(self) -> float:
        """Level of the test, 1 where there is none."""
        return 1.0 if self.alpha is None else self.alpha

    def share_left(self, conditioned: int = 0) -> float:
        """Return the share of a column's variance that the target must leave for independence.

        Given ``conditioned`` columns, a column with a larger share is independent; that is, one whose squared
        partial correlation (ratio) is below 1 minus the share.  Without freedom every column is: -1.
        """
        return float(self.shares(np.array(self.freedom(conditioned))))

    def shares(self, freedom: IntArray) -> FloatArray:
        """Return the shares of variance as in `share_left`, by degrees of freedom."""
        some = np.maximum(freedom, 1)
        if self.p_value == "z" and self.n_contrasts == 1:
            share = 1 / np.cosh(-ndtri(self.level / 2) / np.sqrt(some)) ** 2
        else:  # the share of variance within classes has a beta distribution under independence
            share = betaincinv(some / 2, self.n_contrasts / 2, self.level)
        shares: FloatArray = np.where(freedom > 0, share, -1.0)
        return shares

    @cached_property
    def _confirmation(self) -> Confirmation:
        return Confirmation(self.basis, self.labels)

    @property
    def _least(self) -> float:
        """P-value of a perfect correlation; t and z have 0."""
        return self._confirmation.least if self.p_value == "confirmed" else 0.0

    @property
    def p_values(self) -> Callable[[FloatArray], FloatArray]:
        """The function from correlations (ratios) with the target to p-values by t, F or z."""
        return partial(self.p_value_of, freedom=np.array(self.freedom()), least=self._least)

    @property
    def p_value_of(self) -> Callable[..., FloatArray]:
        """The function from partial correlations and degrees of freedom to p-values; it can be pickled."""
        return partial(p_value_given, contrasts=self.n_contrasts, way=self._way)

    def measure(self, X: Matrix) -> Relevance:
        """Test every column of a block against the target; means and norms are kept for redundancy rules."""
        marked = np.empty(X.shape[1], bool) if self.online and self._marks and marks_doubtful(X) else None
        tables = None
        if self.online and self._by_tables and sp.issparse(X):
            tables = np.empty((2, X.shape[1]), np.int32)
        found = self.relevance(X, marked, tables)
        reason, statistic = found.reason, found.r if self.signed else np.abs(found.r, out=found.r)
        found = found._replace(r=statistic)
        if self._confirmed_from < math.inf and not self.online:
            return self._confirmed(X, reason, PValues(self.p_values, statistic), found)
        p_values = RoughPValues(self.p_values, statistic, self._critical_of, ROUGH_LEVELS)
        return self._online(X, reason, p_values, found, marked, tables)

    @property
    def _marks(self) -> bool:
        """Whether p-values in doubt can be marked while correlations are computed."""
        return self._confirmed_from < math.inf and self.n_contrasts == 1

    @cached_property
    def _by_tables(self) -> bool:
        """Whether columns of two values have the p-values of their tables."""
        return self._confirmed_from < math.inf and self._confirmation.two

    @cached_property
    def _sure(self) -> float:
        """Correlation (ratio) up to which t is trusted for every column."""
        return float(self._critical_of(np.array(min(self._confirmation.sure * (1 + 1e-6), 1.0))))

    @cached_property
    def _limits(self) -> Limits:
        return self._confirmation.limits(self.level, self._sure)

    @cached_property
    def _doubt(self) -> Doubt:
        least = max(self._confirmed_from, self._sure)
        return self._confirmation.doubt(min(least, PERFECT) ** 2 * (1 - 1e-9))

    @cached_property
    def _critical_of(self) -> Callable[[FloatArray], FloatArray]:
        """The function from p-values to correlations (ratios); it can be pickled."""
        freedom = np.array(self.freedom())
        return partial(critical_given, freedom=freedom, contrasts=self.n_contrasts, way=self._way)

    def _online(
        self,
        X: Matrix,
        reason: npt.NDArray[np.uint8],
        p_value: RoughPValues | RoughAndReplaced,
        found: Correlations,
        marked: BoolArray | None,
        tables: IntArray | None,
    ) -> Relevance:
        """Confirm the p-values that an online procedure may find small, and say which are discrete."""
        _, r, mean, norm = found
        two, first = None, first_values(X) if self.discrete_target else None
        if marked is None:
            chosen = np.flatnonzero(np.abs(r) >= self._confirmed_from)  # that of a constant column is 0
        else:
            chosen = np.flatnonzero(marked)
            chosen = chosen[np.abs(r[chosen]) >= self._confirmed_from]
        if self._by_tables:
            ones, both = self._confirmation.tables_of(X, first) if tables is None else tables
            two = ones > 0
        if two is not None and two.any():
            # two values may differ by less than squares show
            exact = np.flatnonzero(two & (reason != CONSTANT))
            p = self._confirmation.fisher(ones[exact].astype(np.int64), both[exact].astype(np.int64))
            p_value = self._replaced(reason, p_value, exact, p)
            chosen = chosen[~two[chosen]]
        if marked is None:
            chosen = chosen[np.abs(r[chosen]) >= self._sure]
        if len(chosen) and marked is None:
            doubtful = self._confirmation.may_change(X, chosen, mean, norm, p_value[chosen])
            chosen = chosen[doubtful | (np.abs(r[chosen]) >= PERFECT)]
        if len(chosen):
            before = p_value[chosen]
            some = CenteredColumns(column_slices(X, chosen), sp.issparse(X), mean[chosen], norm[chosen])
            p = self._confirmation.p_values(some, before, exact=True)
            changed = np.flatnonzero((p != before) | (np.abs(r[chosen]) >= PERFECT))
            p_value = self._replaced(reason, p_value, chosen[changed], p[changed])
        discrete = with_few_values(X, two, first) if self.discrete_target else None
        return Relevance(reason, r, p_value, (mean, norm), discrete)

    def _replaced(
        self,
        reason: npt.NDArray[np.uint8],
        before: RoughPValues | RoughAndReplaced,
        at: IntArray,
        p: FloatArray,
    ) -> RoughPValues | RoughAndReplaced:
        """Return p-values of which some are from another test, and decide by them at the fixed level."""
        if not len(at):
            return before
        reason[at] = np.where(p <= self.level, RELEVANT, IRRELEVANT)
        return RoughAndReplaced(before, at, p)

    def _confirmed(
        self, X: Matrix, reason: npt.NDArray[np.uint8], p_value: PValues, found: Correlations
    ) -> Relevance:
        """Decide at the fixed level; p-values on which no decision depends are confirmed on access."""
        _, r, mean, norm = found
        chosen = np.flatnonzero(reason == RELEVANT)
        if not len(chosen):
            return Relevance(reason, r, p_value, (mean, norm))
        slices = column_slices(X, chosen)
        columns = CenteredColumns(slices, sp.issparse(X), mean[chosen], norm[chosen])
        size = np.abs(r[chosen])
        doubtful, (ones, both) = self._confirmation.doubtful_at(self._limits, columns, size)
        doubtful[size >= PERFECT] = 1
        decisive, later = np.flatnonzero(doubtful == 1), np.flatnonzero(doubtful == 2)
        before = p_value
        if len(decisive):
            p, of_table = np.empty(len(decisive)), ones[decisive] > 0
            tables, others = decisive[of_table], decisive[~of_table]
            p[of_table] = self._confirmation.fisher(ones[tables], both[tables])
            if len(others):
                known = before[chosen[others]]
                p[~of_table] = self._confirmation.p_values(columns.at(others), known, exact=False)
            reason[chosen[decisive]] = np.where(p <= self.level, RELEVANT, IRRELEVANT)
            p_value = ReplacedPValues(p_value, chosen[decisive], p)
        if len(later):
            known_later = PValues(before.__getitem__, chosen[later])
            lazy = ConfirmedOnAccess(self._confirmation, columns.at(later), known_later)
            p_value = ReplacedPValues(p_value, chosen[later], lazy)
        return Relevance(reason, r, p_value, (mean, norm), gathered=(chosen, slices))

    @cached_property
    def discrete_target(self) -> bool:
        """Whether an online procedure must know which columns have discrete p-values."""
        return self.online and is_discrete(self.labels if len(self.labels) else self._y)

    def measure_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        """Test a single column; None if it is constant or not finite, or with several contrasts."""
        critical = self.critical
        if self.n_contrasts > 1 or critical == math.inf:
            return None
        ss, dot = kernel.one_column(x, self._y)
        if not 0.0 < ss < math.inf:
            return None
        r = dot / math.sqrt(ss)
        size = abs(r)
        if size >= PERFECT:
            return None
        if size >= self._confirmed_from:
            return None
        reason = _IRRELEVANT if dot * dot < critical * critical * ss else _RELEVANT
        if self._way == "z":
            p = math.erfc(math.atanh(size) * math.sqrt((self.n - 3) / 2))
        else:
            p = student_t.p_value(size, self.n - 2, self._log_beta)
        return reason, r if self.signed else size, p

    def relevance(
        self, X: Matrix, marked: BoolArray | None = None, tables: IntArray | None = None
    ) -> Correlations:
        """Return correlations, means and norms of every column, in one pass.

        ``marked`` is filled with the columns whose p-value by t may have to be confirmed, and ``tables``, of
        a sparse block, with the 2 x 2 tables of columns of two values.
        """
        doubt = NO_DOUBT if marked is None else self._doubt
        mean, ss, dot = column_products(X, self._y, doubt, marked, tables)
        if self.n_contrasts > 1:  # the square root of the sum of squares between classes
            products = (without_offsets(X) if sp.issparse(X) else X - mean).T @ self.basis
            dot = np.sqrt(np.einsum("ij,ij->i", products, products))
        reason = np.empty(len(ss), np.uint8)
        kernel.grade(ss, dot, self.critical, _CODES if self.critical < math.inf else _UNTESTABLE, reason)
        return Correlations(reason, r=dot, mean=mean, norm=ss)

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        (n, contrasts), labels = record["basis"].shape, record["labels"]
        many = contrasts > 1
        if len(labels) != (n if many else 0) or (many and labels.max() != contrasts):
            yield "the classes are not those of the target"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        test = cls.__new__(cls)
        test._bind(**record)  # noqa: SLF001
        return test
