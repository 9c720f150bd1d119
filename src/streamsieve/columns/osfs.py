"""OSFS and Fast-OSFS: parents and children of the target from streaming columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy.typing as npt

from streamsieve.base import ColumnSelector, Stop
from streamsieve.column_types import ColumnTypes
from streamsieve.columns.composition import (
    COMPOSITION_PARAMETERS,
    CORRELATIONS,
    Composition,
    check_missing,
    check_types,
    problems,
)
from streamsieve.columns.redundancy.contract import RedundancyRule
from streamsieve.columns.redundancy.markov_blanket.by_type import MarkovBlanketByType
from streamsieve.columns.redundancy.markov_blanket.complete_pairs import MarkovBlanketCompletePairs
from streamsieve.columns.redundancy.markov_blanket.correlation import MarkovBlanketCorrelation
from streamsieve.columns.redundancy.markov_blanket.dependent_rows import MarkovBlanketDependentRows
from streamsieve.columns.redundancy.markov_blanket.discrete import TABLE_TESTS, MarkovBlanketDiscrete
from streamsieve.columns.redundancy.markov_blanket.rank_basis import MarkovBlanketBasis
from streamsieve.columns.redundancy.markov_blanket.rule import LARGEST_SET, MarkovBlanket, MarkovBlanketConfig
from streamsieve.dependence.contract import RelevanceTest, tasks_of
from streamsieve.dependence.target import numeric_target
from streamsieve.independence.any_test import AnyTest
from streamsieve.independence.by_type import relevance_by_type
from streamsieve.independence.complete_pairs import CompletePairsFisherZ
from streamsieve.independence.contingency_test import DEGREES, RELIABLE
from streamsieve.independence.contract import ConditionalTest
from streamsieve.independence.fisher_z import FisherZ
from streamsieve.independence.online_fdr import OnlineFDRProcedure
from streamsieve.independence.p_values import check_p_value
from streamsieve.independence.rank_basis import RankBasisF
from streamsieve.protocols import Task, Traits
from streamsieve.state import Choice, Float, Int, NameOrObject, Nested

TESTS = ("auto", "fisher_z", *TABLE_TESTS, "basis")
UNRELIABLE = ("independent", "skip")

if TYPE_CHECKING:
    Beside = ColumnSelector
else:
    Beside = object


class MarkovBlanketSelector(Beside):
    """What OSFS and Fast-OSFS share: parameters, tests and rules; it stands before `ColumnSelector`."""

    parameters = {
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "test": NameOrObject(*TESTS, needs={"conditional": "conditional(x, y, given)"}),
        "max_conditioning": Int(0, LARGEST_SET),
        "degrees": Choice(*DEGREES),
        "reliable": Choice(*RELIABLE),
        "unreliable": Choice(*UNRELIABLE),
        **COMPOSITION_PARAMETERS,
    }
    _process_: Composition
    fields = {"_process_": Nested(Composition, shares=("rows",))}

    #: Whether a new column is examined before the kept ones, or after them.
    _newcomer_first: ClassVar[bool]

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        test: str | ConditionalTest = "auto",
        max_conditioning: int = 3,
        degrees: str = "strata",
        reliable: str = "occupied",
        unreliable: str = "skip",
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
        """Yield each test, smaller sets, unreliable tests, missing values, and an FDR procedure."""
        for test in TESTS:
            yield cls(test=test)
        yield cls(alpha=0.05, max_conditioning=1, unreliable="independent")
        yield cls(missing="omit")
        yield cls(alpha=0.1, fdr="addis", lag=1)

    @property
    def traits(self) -> Traits:
        """What the selector can do: whether it takes missing values is a parameter."""
        return Traits(
            tasks=tasks_of(self.test),
            missing=self.missing == "omit",
            text=self.missing == "refuse" and self.test in ("auto", *TABLE_TESTS),
            grouped_rows=True,
            dependent_rows=self.test in CORRELATIONS and self.missing == "refuse",
        )

    def _check_together(self) -> None:
        check_missing(self.missing, "test", self.test)
        check_p_value(self.p_value, "test", self.test)
        check_types(self.types, "test", self.test)

    @property
    def _knows_types(self) -> bool:
        return self._by_type or (self.test in TABLE_TESTS and self._dependence.independent)

    @property
    def _by_type(self) -> bool:
        """Whether the type of a column chooses its test; dependent rows have tests of correlation only."""
        return self.test == "auto" and self.missing == "refuse" and self._dependence.independent

    @property
    def _rule(self) -> type[RedundancyRule]:
        """The Markov-blanket rule for the way in which columns are compared."""
        if self._by_type:
            return MarkovBlanketByType
        if self.test == "basis":
            return MarkovBlanketBasis
        if self.test not in CORRELATIONS:
            return MarkovBlanketDiscrete if isinstance(self.test, str) else MarkovBlanket
        if self.missing == "omit":
            return MarkovBlanketCompletePairs
        return MarkovBlanketDependentRows if self._dependence.tested else MarkovBlanketCorrelation

    def _compose(self, y: npt.NDArray[Any], task: Task) -> Composition:
        config = MarkovBlanketConfig(self.max_conditioning, self.unreliable == "skip", self._newcomer_first)
        test, rule = self._test_and_rule(y, task, config)
        fdr = None if self.fdr is None else OnlineFDRProcedure(self.fdr, self.alpha, self.lag)
        return Composition(test, rule, fdr)

    def _test_and_rule(
        self, y: npt.NDArray[Any], task: Task, config: MarkovBlanketConfig
    ) -> tuple[RelevanceTest, RedundancyRule]:
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

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        fdr = self.fdr, self.alpha, self.lag
        yield from problems(self._process_, self._rule, fdr, self.p_value, self.n_features_in_)


class OSFS(MarkovBlanketSelector, ColumnSelector):
    """Online streaming feature selection (OSFS): parents and children of the target.

    A column that is associated with y joins the kept ones.  Then every kept column, the new one last, is
    evicted if some set of up to ``max_conditioning`` others renders it conditionally independent of y.  Of
    two columns with the same information the later one stays.  ``FastOSFS`` examines the new column first and
    is faster.

    Parameters
    ----------
    alpha : float, default=0.01
        Significance level of all tests, in (0, 1).  The paper uses 0.05 and 0.01.
    test : {"auto", "fisher_z", "g2", "chi2", "basis"} or ConditionalTest, default="auto"
        Test of independence: of the (partial) correlation, or the likelihood-ratio or chi-squared
        test of contingency tables of discretized columns (see ``bins``).  "auto" chooses by the types of the
        columns: "fisher_z" for numbers, "g2" for levels and classes, and a test of indicators (degenerate
        Gaussian, Wilks' lambda) where both meet.  "basis" detects U-shapes and thresholds: the joint F test
        of Legendre polynomials (degree 1 to 3) of the column's ranks, given those of the conditioning set;
        linear effects need somewhat more rows.  An object with ``conditional(x, y, given)`` is called once
        per test: correct, but slower.
    max_conditioning : int, default=3
        Maximum size of a conditioning set, in [0, 3].  0 keeps every relevant column.
    degrees : {"strata", "nominal", "zero_cells"}, default="strata"
        Degrees of freedom for "g2" and "chi2": counted over the nonempty strata, by the numbers of categories
        alone, or by these minus one for every empty cell.
    reliable : {"occupied", "nominal"}, default="occupied"
        When "g2" and "chi2" have enough rows, five per degree of freedom: "nominal", the paper's rule, counts
        all categories; "occupied" also accepts a larger table if five rows per degree are where column and
        target both vary.
    unreliable : {"skip", "independent"}, default="skip"
        How to treat a test with too few rows: "skip" ignores the conditioning set; "independent", the paper's
        rule, accepts independence, recorded as "unreliable test".
    p_value : {"auto", "confirmed", "t", "z", "moments", "chi2"}, default="auto"
        How p-values are computed; must fit the test.  Correlations: "t" is Student's t (F for more than two
        classes), exact if y or the column is normal.  "confirmed", the default, is t, held against a test of
        normal scores where both are skewed or heavy-tailed, and Fisher's exact test for small 2 x 2 tables;
        see ``FisherZ``.  "z" is Fisher's transformation, as in the papers: liberal at small levels.
        Tables: "moments", the default, takes the mean and variance of Pearson's statistic over all
        permutations, and Fisher's exact test for small 2 x 2 tables; see ``GSquared``.  "chi2" is the
        limiting chi-squared distribution, as in the papers: liberal in sparse tables.
    missing : {"refuse", "omit"}, default="refuse"
        How to treat NaN.  "omit" performs each test over the rows where all its columns are observed
        (test-wise deletion), and is for ``test="fisher_z"``.
    bins : int, default=5
        For tables: number of equal-frequency bins for columns with more than 32 distinct values, unless they
        are whole numbers that repeat or nominal, in [2, 1024].
    types : dict of str to str, str or None, default=None
        Types of columns by name, as ``{"zip": "nominal"}``, or one type for all: "numeric", "ordinal",
        "nominal" or "binary".  What is not declared is read off the dtype or guessed: two distinct values are
        binary, whole numbers of at most one value per 20 rows (and 256) ordinal, everything else numeric.
    fdr : {None, "addis", "saffron", "lord", "dlord", "alpha_investing", "lond", "lond_any", \
"alpha_spending"}, default=None
        Online FDR procedure that sets the level of each relevance test, so that alpha bounds the false
        discovery rate of the columns found relevant, not of those kept (see ``n_found_``); rows must be
        independent.  ``OnlineFDR`` says what each procedure assumes.  If None, all levels are alpha.
    lag : int, default=0
        For ``fdr``: number of preceding tests whose outcome may not affect the current level; it must reach
        the range over which columns depend on each other.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" takes fractional numbers for regression and everything else for labels.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run early.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    ledger_ : every decision; the statistic is the absolute correlation with y ("g2", "chi2": the test
        statistic), for a redundant or evicted column the partial one given the columns in ``by``
    n_found_, n_kept_ : number of columns found relevant, and of those kept.  The false discovery rate is
        about the former; a redundancy rule may drop more true columns than false ones
    n_features_in_ : columns offered
    column_types_ : types of the columns by name, as they were declared, read off dtypes, or guessed
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** Column f joins if ``f`` and y are dependent at level alpha. Then each kept column g leaves if
    some set Z of at most ``max_conditioning`` other kept columns has ``p(g, y | Z) > alpha``. With "fisher_z"
    the test is that of the partial correlation, ``t = r sqrt((n - |Z| - 2) / (1 - r^2))``.

    **When it fails.** Assumes that dependence shows in single columns (faithfulness), that partial
    correlations or tables describe it, and independent rows. Of two columns that explain each other one is
    evicted, even if both are causes; with few rows conditional tests have no power and too much is called
    redundant.

    Sets are searched by size, then by order of arrival; the first that separates a column from y is in the
    ledger.  An older column survived all sets of earlier columns, so only sets that contain the newcomer are
    tried again; the paper repeats them all, with the same result.

    "fisher_z" with more than two classes: y is all contrasts between classes, and the test the analysis of
    covariance of the partial correlation ratio, F with C - 1 and ``n - |Z| - C`` degrees of freedom.  A
    column that is a linear function of the set is redundant (reason "collinear"); a set with such a column in
    it is passed over, since a smaller one was tried.  No test has a meaning below 1 degree of freedom.

    The paper speaks of a Markov blanket.  What is kept are the target's parents and children in a Bayesian
    network; the children's other parents (spouses) belong to the blanket too, but one that is independent of
    y by itself fails the test of relevance.  ``IAMB`` and ``InterIAMB`` look for them, offline.

    The authors' toolbox skips columns whose *sum* is 0; here only constant columns are.  Relevance is asked
    column by column, so of two columns that matter only together (exclusive or) neither is found.  The
    result depends on the order of columns; the size of blocks never matters.

    With ``missing="omit"``, a test of a column given a set uses the n rows where the column and the whole set
    are observed, and the degrees of freedom of these rows.  Its size is that of complete data if, given the
    set, missingness depends on y alone or on the column alone; if it depends on both, no test over observed
    rows is valid.  Missing values cost power: with fewer complete rows, more columns are called independent.
    Of sets of two or three columns, those that pairwise correlations call independent are tested first.  For
    one column at most 4,096 of these and 4,096 others are tested (columns that miss the same rows cost
    nothing and are not counted), so with up to 29 kept columns all are.  A test over fewer than 4 rows, or
    where y or one of the columns does not vary, is unreliable.  Mean imputation instead would shrink
    correlations between columns and hide redundancy.

    p-values hold for independent rows; for time series and repeated rows of a subject, give ``serial`` or
    ``groups`` to ``begin``.  Tests then look at residuals row by row, which is slower.

    References
    ----------
    Wu, Yu, Ding, Wang, Zhu: Online feature selection with streaming features, TPAMI 35, 2013.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> cause, noise = rng.normal(size=(2, 500))
    >>> dose = cause + rng.normal(size=500)
    >>> y = dose + rng.normal(size=500)
    >>> sieve = ss.OSFS(alpha=0.01).begin(y)
    >>> for decision in sieve.offer(np.c_[cause, noise, dose], names=["cause", "noise", "dose"]):
    ...     print(decision.feature, decision.event, decision.reason, *decision.by)
    cause kept relevant
    noise rejected irrelevant
    cause evicted redundant dose
    dose kept relevant
    """

    _newcomer_first: ClassVar[bool] = False


class FastOSFS(MarkovBlanketSelector, ColumnSelector):
    """Fast-OSFS: parents and children of the target, examining each new column first.

    A column that is associated with y is rejected if some set of up to ``max_conditioning`` kept columns
    renders it conditionally independent of y.  If it stays, each kept column is evicted for which some set
    that contains the new column does so.  Of two columns with the same information the earlier one stays.

    Parameters
    ----------
    alpha : float, default=0.01
        Significance level of all tests, in (0, 1).  The paper uses 0.05 and 0.01.
    test : {"auto", "fisher_z", "g2", "chi2", "basis"} or ConditionalTest, default="auto"
        Test of independence: of the (partial) correlation, or the likelihood-ratio or chi-squared
        test of contingency tables of discretized columns (see ``bins``).  "auto" chooses by the types of the
        columns: "fisher_z" for numbers, "g2" for levels and classes, and a test of indicators (degenerate
        Gaussian, Wilks' lambda) where both meet.  "basis" detects U-shapes and thresholds: the joint F test
        of Legendre polynomials (degree 1 to 3) of the column's ranks, given those of the conditioning set;
        linear effects need somewhat more rows.  An object with ``conditional(x, y, given)`` is called once
        per test: correct, but slower.
    max_conditioning : int, default=3
        Maximum size of a conditioning set, in [0, 3].  0 keeps every relevant column.
    degrees : {"strata", "nominal", "zero_cells"}, default="strata"
        Degrees of freedom for "g2" and "chi2": counted over the nonempty strata, by the numbers of categories
        alone, or by these minus one for every empty cell.
    reliable : {"occupied", "nominal"}, default="occupied"
        When "g2" and "chi2" have enough rows, five per degree of freedom: "nominal", the paper's rule, counts
        all categories; "occupied" also accepts a larger table if five rows per degree are where column and
        target both vary.
    unreliable : {"skip", "independent"}, default="skip"
        How to treat a test with too few rows: "skip" ignores the conditioning set; "independent", the paper's
        rule, accepts independence, recorded as "unreliable test".
    p_value : {"auto", "confirmed", "t", "z", "moments", "chi2"}, default="auto"
        How p-values are computed; must fit the test.  Correlations: "t" is Student's t (F for more than two
        classes), exact if y or the column is normal.  "confirmed", the default, is t, held against a test of
        normal scores where both are skewed or heavy-tailed, and Fisher's exact test for small 2 x 2 tables;
        see ``FisherZ``.  "z" is Fisher's transformation, as in the papers: liberal at small levels.
        Tables: "moments", the default, takes the mean and variance of Pearson's statistic over all
        permutations, and Fisher's exact test for small 2 x 2 tables; see ``GSquared``.  "chi2" is the
        limiting chi-squared distribution, as in the papers: liberal in sparse tables.
    missing : {"refuse", "omit"}, default="refuse"
        How to treat NaN.  "omit" performs each test over the rows where all its columns are observed
        (test-wise deletion), and is for ``test="fisher_z"``.
    bins : int, default=5
        For tables: number of equal-frequency bins for columns with more than 32 distinct values, unless they
        are whole numbers that repeat or nominal, in [2, 1024].
    types : dict of str to str, str or None, default=None
        Types of columns by name, as ``{"zip": "nominal"}``, or one type for all: "numeric", "ordinal",
        "nominal" or "binary".  What is not declared is read off the dtype or guessed: two distinct values are
        binary, whole numbers of at most one value per 20 rows (and 256) ordinal, everything else numeric.
    fdr : {None, "addis", "saffron", "lord", "dlord", "alpha_investing", "lond", "lond_any", \
"alpha_spending"}, default=None
        Online FDR procedure that sets the level of each relevance test, so that alpha bounds the false
        discovery rate of the columns found relevant, not of those kept (see ``n_found_``); rows must be
        independent.  ``OnlineFDR`` says what each procedure assumes.  If None, all levels are alpha.
    lag : int, default=0
        For ``fdr``: number of preceding tests whose outcome may not affect the current level; it must reach
        the range over which columns depend on each other.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" takes fractional numbers for regression and everything else for labels.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run early.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    ledger_ : every decision; the statistic is the absolute correlation with y ("g2", "chi2": the test
        statistic), for a redundant or evicted column the partial one given the columns in ``by``
    n_found_, n_kept_ : number of columns found relevant, and of those kept.  The false discovery rate is
        about the former; a redundancy rule may drop more true columns than false ones
    n_features_in_ : columns offered
    column_types_ : types of the columns by name, as they were declared, read off dtypes, or guessed
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** Column f joins if f and y are dependent at level alpha and no set Z of at most
    ``max_conditioning`` kept columns has ``p(f, y | Z) > alpha``. Then each kept g leaves for which some Z
    that contains f has ``p(g, y | Z) > alpha``. With "fisher_z" the test is that of the partial correlation,
    ``t = r sqrt((n - |Z| - 2) / (1 - r^2))``.

    **When it fails.** As for :class:`OSFS`: pairs that are informative only jointly are not found, and with
    few rows conditional tests have no power, so that too much is called redundant.

    What is said of tests, sets, ties and missing values at ``OSFS`` holds here.

    References
    ----------
    Wu, Yu, Ding, Wang, Zhu: Online feature selection with streaming features, TPAMI 35, 2013.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> cause, noise = rng.normal(size=(2, 500))
    >>> dose = cause + rng.normal(size=500)
    >>> y = dose + rng.normal(size=500)
    >>> sieve = ss.FastOSFS(alpha=0.01).begin(y)
    >>> for decision in sieve.offer(np.c_[cause, noise, dose], names=["cause", "noise", "dose"]):
    ...     print(decision.feature, decision.event, decision.reason, *decision.by)
    cause kept relevant
    noise rejected irrelevant
    cause evicted redundant dose
    dose kept relevant
    """

    _newcomer_first: ClassVar[bool] = True
