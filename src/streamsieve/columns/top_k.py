"""TopK: the k best columns of a stream by relevance, or by relevance and redundancy (mRMR)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt

from streamsieve.base import ColumnSelector, Stop
from streamsieve.column_types import ColumnTypes
from streamsieve.columns.composition import (
    COMPOSITION_PARAMETERS,
    CORRELATIONS,
    TABLE_MEASURES,
    TYPED,
    Composition,
    check_missing,
    check_types,
)
from streamsieve.columns.redundancy.contract import RedundancyRule
from streamsieve.columns.redundancy.top_k.complete_pairs import TopKCompletePairs
from streamsieve.columns.redundancy.top_k.correlation import TopKBuffer, TopKCorrelation
from streamsieve.columns.redundancy.top_k.discrete import TopKDiscrete
from streamsieve.columns.redundancy.top_k.mixed import TopKByType
from streamsieve.columns.redundancy.top_k.rule import TopKMeasured
from streamsieve.dependence.any_measure import AnyMeasure
from streamsieve.dependence.contract import Measure, RelevanceTest, tasks_of
from streamsieve.dependence.target import discretize_target, numeric_target
from streamsieve.exceptions import CapabilityError, MergeError, ParameterError, SchemaError
from streamsieve.independence.by_type import relevance_by_type
from streamsieve.independence.complete_pairs import CompletePairsFisherZ
from streamsieve.independence.fisher_z import FisherZ
from streamsieve.independence.information_test import InformationTest
from streamsieve.independence.online_fdr import OnlineFDRProcedure
from streamsieve.independence.p_values import check_p_value
from streamsieve.independence.rank_basis import RankBasis, RankBasisF
from streamsieve.protocols import Decision, Event, Reason, Statistic, Task, Traits
from streamsieve.state import Float, Int, NameOrObject, Nested

MEASURES = ("auto", "fisher_z", "su", "mutual_info", "basis")


class TopK(ColumnSelector):
    """The k columns of largest relevance and least redundancy (streaming mRMR).

    A buffer of k columns.  A new column enters while there is room; later, the new column and the k members
    are scored by their dependence on y minus ``redundancy_weight`` times their mean dependence on the k
    others, and the one with the least score leaves.  ``redundancy_weight=0`` is the exact top k for any order
    of columns, and merges.

    Parameters
    ----------
    k : int, default=15
        Number of columns to keep, at least 1.
    redundancy_weight : float, default=1.0
        Weight of redundancy, in [0, 1]; 0.5 is a good choice for k of 50 and more.
    measure : {"auto", "fisher_z", "su", "mutual_info", "basis"} or Measure, default="auto"
        Dependence of two columns: absolute correlation, symmetric uncertainty, or mutual information in nats.
        The latter two discretize columns (see ``bins``) and detect nonlinear dependence.  "auto" chooses by
        the types of the columns: "fisher_z" for numbers; the table of two columns of levels, or the
        indicators of a nominal one beside a number, on the scale of a correlation, ``sqrt(1 - exp(-2 I))``.
        Ordinal columns are tested by their trend, too, see docs/column_types.md.
        "basis" detects U-shapes and thresholds and has p-values: the adjusted multiple correlation with
        Legendre polynomials (degree 1 to 3) of a column's ranks, and its F test.  An object with
        ``dependence(x, z)``, and ``p_value(dependence, n)`` unless ``alpha=None``, is compared column by
        column: correct, but slower.
    alpha : float or None, default=0.05
        Significance level of the relevance test, in (0, 1): of the correlation, or the G test of discretized
        columns.  Columns that are not significant never enter.  None: no test.
    p_value : {"auto", "confirmed", "t", "z", "moments", "chi2"}, default="auto"
        How p-values are computed; must be available for the test.  Correlations: "t" is Student's t (F for
        more than two classes), exact if y or the column is normal.  "confirmed", the default, is t, but if
        both are skewed or heavy-tailed its permutation p-value or, over many rows, the larger of t and a test
        of normal scores, and Fisher's exact test for small 2 x 2 tables; see ``FisherZ``.  "z" is Fisher's
        transformation, as in the papers: liberal at small levels.  Tables: "moments", the default, takes mean
        and variance of Pearson's statistic over all permutations, and Fisher's exact test for small 2 x 2
        tables; see ``GSquared``.  "chi2" is the limiting distribution, as in the papers: liberal if sparse.
    missing : {"refuse", "omit"}, default="refuse"
        How to treat NaN.  "omit" compares two columns over their complete pairs of rows, and is for
        ``measure="fisher_z"``.
    bins : int, default=5
        For levels: number of equal-frequency bins for columns with more than 32 distinct values, unless they
        are whole numbers that repeat or nominal, in [2, 1024].
    types : dict of str to str, str or None, default=None
        Types of columns by name, as ``{"zip": "nominal"}``, or one type for all: "numeric", "ordinal",
        "nominal" or "binary".  Other types are inferred from the dtype or guessed: two distinct values are
        binary, whole numbers of at most one value per 20 rows (and 256) ordinal, everything else numeric.
    fdr : {None, "addis", "saffron", "lord", "dlord", "alpha_investing", "lond", "lond_any", \
"alpha_spending"}, default=None
        Online FDR procedure that sets the level of each relevance test, so that alpha bounds the false
        discovery rate of the columns found relevant, not of those kept (see ``n_found_``); rows must be
        independent.  See ``OnlineFDR`` for the assumptions of each procedure.  If None, all levels are alpha.
        A procedure tests columns in order, so selectors with one do not merge.
    lag : int, default=0
        For ``fdr``: number of preceding tests whose outcome may not affect the current level; it must reach
        the range over which columns depend on each other.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record.
    stop : Stop or None, default=None
        Early-stopping rules.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    ledger_ : every decision; the statistic is always the dependence on y (with its sign, where a correlation
        has one).  "redundant" means that redundancy decided: without it, a rejected column would have
        entered, or an evicted one stayed.  ``by`` is the member that a rejected column depends on most, or
        the new column that replaced an evicted one.  "outscored" means that dependence on y decided.
    n_found_, n_kept_ : number of columns found relevant, and of those kept.  The bound on the false discovery
        rate applies to the former; a redundancy rule may drop more true columns than false ones
    n_features_in_ : number of columns offered
    column_types_ : types of the columns by name, declared, inferred from dtypes, or guessed
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** ``score(f) = dep(f, y) - redundancy_weight * mean over the k others of dep(f, g)``; the
    smallest of k + 1 leaves.

    **When it fails.** With ``alpha=None`` k columns are kept whether or not they are informative. Redundancy
    is pairwise, and columns that are informative only jointly are not found.

    Among equal scores, the column that arrived last is removed, so a new column loses ties, and
    ``redundancy_weight=0`` is the top k of a stable sort.  With any redundancy a copy of a member (also
    negated, scaled, or with other names for its codes) is rejected at once, even while there is room; the
    scores alone would let it in whenever a third column scores less.  A column that cannot enter, whatever it
    shares with the members, is rejected without looking at them.  With redundancy the result depends on the
    order of columns, but not on the size of blocks.

    With ``missing="omit"``, a correlation over c complete pairs has c - 2 degrees of freedom.  A column
    observed in fewer than 4 rows, or where y does not vary, is unreliable; two columns with fewer than 4
    complete pairs are not redundant.  A copy is observed only in rows in which the member is.  Mean
    imputation instead would shrink correlations between columns and hide redundancy.

    p-values assume independent rows; for time series or repeated measurements of a subject, pass ``serial``
    or ``groups`` to ``begin``.

    References
    ----------
    Rahmaninia, Moradi: OSFSMI: online stream feature selection method based on mutual information, Applied
    Soft Computing 68, 2018 (a buffer of fixed size).
    Peng, Long, Ding: Feature selection based on mutual information, IEEE TPAMI 27(8), 2005 (mRMR).

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.columns.top_k import TopK
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> dose, weight = y + rng.normal(size=(2, 300))
    >>> echo = dose + 0.1 * rng.normal(size=300)
    >>> X = np.c_[echo, rng.normal(size=300), dose, weight]
    >>> sieve = TopK(k=2).begin(y)
    >>> for decision in sieve.offer(X, names=["echo", "noise", "dose", "weight"]):
    ...     print(decision.feature, decision.event, decision.reason, *decision.by)
    echo kept relevant
    noise rejected irrelevant
    dose kept relevant
    echo evicted outscored weight
    weight kept relevant
    """

    _statistic = Statistic("correlation")
    parameters = {
        "k": Int(1),
        "redundancy_weight": Float(0, 1),
        "measure": NameOrObject(*MEASURES, needs={"dependence": "dependence(x, z)"}),
        "alpha": Float(0, 1, open_low=True, open_high=True, optional=True),
        **COMPOSITION_PARAMETERS,
    }
    _process_: Composition
    fields = {"_process_": Nested(Composition, shares=("rows",))}

    def __init__(
        self,
        k: int = 15,
        *,
        redundancy_weight: float = 1.0,
        measure: str | Measure = "auto",
        alpha: float | None = 0.05,
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
        self.k = k
        self.redundancy_weight = redundancy_weight
        self.measure = measure
        self.alpha = alpha
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
        """Yield each measure, no redundancy, no test, missing values, and an FDR procedure."""
        for measure in MEASURES:
            yield cls(k=3, measure=measure)
        yield cls(k=4, redundancy_weight=0)
        yield cls(k=20, redundancy_weight=0.5, alpha=None)
        yield cls(k=3, redundancy_weight=0, measure="su", alpha=None)
        yield cls(k=3, missing="omit")
        yield cls(k=3, alpha=0.1, fdr="addis", lag=1)

    @property
    def traits(self) -> Traits:
        """Capabilities of the selector: missing values and merging depend on its parameters."""
        return Traits(
            tasks=tasks_of(self.measure),
            missing=self.missing == "omit",
            text=self.missing == "refuse" and self.measure in TYPED,
            merges=self.redundancy_weight == 0 and self.fdr is None,
            size_parameter="k",
            grouped_rows=True,
            dependent_rows=self.measure in CORRELATIONS and self.missing == "refuse",
        )

    def _check_together(self) -> None:
        check_missing(self.missing, "measure", self.measure)
        check_p_value(self.p_value, "measure", self.measure)
        check_types(self.types, "measure", self.measure)
        if self.fdr is not None and self.alpha is None:
            raise ParameterError(f"fdr={self.fdr!r} needs a rate, but alpha is None: use alpha=0.05")
        tested = isinstance(self.measure, str) or callable(getattr(self.measure, "p_value", None))
        if self.alpha is not None and not tested:
            raise ParameterError(
                f"alpha={self.alpha!r} needs p-values, but measure={self.measure!r} has no "
                "`p_value(dependence, n)`: add it, or take alpha=None"
            )

    @property
    def _by_type(self) -> bool:
        """Whether tests are chosen by column type; dependent rows have tests of correlation only."""
        return self.measure == "auto" and self.missing == "refuse" and self._dependence.independent

    @property
    def _knows_types(self) -> bool:
        return self._by_type or (self.measure in TABLE_MEASURES and self._dependence.independent)

    @property
    def _rule(self) -> type[RedundancyRule]:
        """The top-k rule for the chosen comparison of columns; with a weight of 0 they are not compared."""
        if self.redundancy_weight == 0:
            return TopKBuffer
        if self._by_type:
            return TopKByType
        if self.measure == "basis":
            return TopKMeasured
        if self.measure not in CORRELATIONS:
            return TopKDiscrete if isinstance(self.measure, str) else TopKMeasured
        return TopKCompletePairs if self.missing == "omit" else TopKCorrelation

    def _compose(self, y: npt.NDArray[Any], task: Task) -> Composition:
        sizes = len(y), int(self.k), float(self.redundancy_weight)
        fdr = OnlineFDRProcedure.of(self.fdr, self._rate, self.lag)
        test: RelevanceTest
        rule: TopKBuffer | TopKByType
        if isinstance(self.measure, Measure):
            below_all = -1.0  # a dependence is at least 0; a state file holds no infinity
            test = AnyMeasure(self.measure, numeric_target(y, task), self.alpha, below_all)
            rule = TopKMeasured(*sizes, self.measure)
        elif self._by_type:
            test = relevance_by_type(
                y, task, self.alpha, self.p_value, self.bins, online=self.fdr is not None, comparable=True
            )
            rule = TopKByType(test, *sizes[1:])
        elif self.measure == "basis":
            test = RankBasisF.of(y, task, self.alpha, online=self.fdr is not None)
            rule = TopKMeasured(*sizes, RankBasis())
        elif self.measure not in CORRELATIONS:
            codes, normalized = discretize_target(y, task), self.measure == "su"
            test = InformationTest(
                codes, self.bins, self.alpha, normalized=normalized, p_value=self.p_value,
                exact=self.fdr is not None,
            )  # fmt: skip
            rule = TopKDiscrete(*sizes, self.bins, normalized=normalized)
        else:
            complete = FisherZ(y, task, self.alpha, p_value=self.p_value, online=self.fdr is not None)
            if self.missing == "omit":
                test, rule = CompletePairsFisherZ(complete, observed_classes=True), TopKCompletePairs(*sizes)
            else:
                test, rule = self._dependence.test(complete), TopKCorrelation(*sizes)
        return Composition(test, rule if self.redundancy_weight > 0 else TopKBuffer(*sizes), fdr)

    @property
    def _rate(self) -> float:
        """The level as a number, even if there is no test."""
        return 0.5 if self.alpha is None else self.alpha

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        fdr = self.fdr, self._rate, self.lag
        yield from self._process_.problems(self._rule, fdr, self.p_value, self.n_features_in_)
        rule, sizes = self._process_.rule, (self.k, self.redundancy_weight)
        if isinstance(rule, (TopKBuffer, TopKByType)) and (rule.k, rule.weight) != sizes:
            yield "the rule has another k or redundancy_weight"

    def merge(self, other: Self) -> Self:
        """Merge another selector, as if its columns had been offered after these, over the same rows.

        Exact, but only available for ``redundancy_weight=0`` and ``fdr=None``: the top k of two streams are
        among the top k of each.

        Parameters
        ----------
        other : TopK
            A selector with equal parameters that began with the same y and was offered other columns; it is
            not changed.  Its columns without names are renumbered to follow the columns of this one.

        Returns
        -------
        self
        """
        if not self.traits.merges:
            raise CapabilityError(
                "TopK merges with redundancy_weight=0 and fdr=None only, where the order of columns does not "
                f"matter; got redundancy_weight={self.redundancy_weight!r} and fdr={self.fdr!r}: offer all "
                "columns to one selector"
            )
        self._check_same(other)
        if not self._began_alike(other):
            raise MergeError(
                "the two selectors began with different rows or labels: begin both with the same y (and "
                "identifiers, groups, serial and holdout), in the same order"
            )
        mine, theirs = self._all_rows, other._all_rows
        shift, given, names = self.n_features_in_, other.names_.known, self.names_
        try:
            names.check(list(given.values()), shift)
        except SchemaError as error:
            raise MergeError(f"the two selectors saw columns of the same name: {error}") from error
        names.restore((shift + index for index in given), given.values())
        names.named_ranges += [[shift + low, shift + high] for low, high in other.names_.named_ranges]
        self._take_over(other, shift)
        self.n_features_in_ = shift + other.n_features_in_
        self._found_ += other._found_
        self.stopped_ = self.stopped_ or other.stopped_
        mine.rows = theirs.rows if mine.rows is None else mine.rows
        if "_types_" in self.__dict__:
            self._types_.append(other._types_.codes)
        if self._has_holdout:
            self._holdout_.columns.absorb(other._holdout_.columns, shift, self._selected())
        self.__dict__.pop("feature_names_in_", None)
        return self

    def _began_alike(self, other: Self) -> bool:
        """Whether two selectors have the same rows, target, dependence of rows and rows held out."""
        if self._has_holdout is not other._has_holdout:
            return False
        if self._has_holdout and not np.array_equal(self._holdout_.mask, other._holdout_.mask):
            return False
        return self.task_ == other.task_ and self._all_rows.matches(other._all_rows)

    def _take_over(self, other: Self, shift: int) -> None:
        """Record the other's decisions, let its members compete with ours, and record the evictions."""
        theirs, names = other.names_, self.names_

        def renamed(name: str) -> str:
            index = theirs.index_of(name)
            return name if index is None or index in theirs.known else names[shift + index]

        for line in other.ledger_:
            here, causes = renamed(line.feature), tuple(map(renamed, line.by))
            self.ledger_.note(line._replace(step=shift + line.step, feature=here, by=causes))
        members = cast(TopKBuffer, other._process_.rule).members
        new = members._replace(feature=members.feature + shift)
        fates = cast(TopKBuffer, self._process_.rule).enter(new)
        last = max(shift + other.n_features_in_ - 1, 0)
        for j, newcomer in enumerate(new.feature.tolist()):
            gone, numbers = int(fates.gone[j]), fates.gone_values[:, j]
            by: tuple[str, ...] = (names[newcomer],)
            if fates.fate[j]:  # kept there, but not among the best of both
                gone, numbers, by = newcomer, new.values[1:, j], ()
            if gone >= 0:
                left = (Event.EVICTED, Reason.OUTSCORED, float(numbers[0]), float(numbers[1]))
                self.ledger_.note(Decision(last, names[gone], *left, by))
