"""SAOLA: pairwise redundancy analysis of streaming columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

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
from streamsieve.columns.redundancy.pairwise.complete_pairs import PairwiseCompletePairs
from streamsieve.columns.redundancy.pairwise.correlation import PairwiseCorrelation
from streamsieve.columns.redundancy.pairwise.dependent_rows import PairwiseDependentRows
from streamsieve.columns.redundancy.pairwise.discrete import PairwiseDiscrete
from streamsieve.columns.redundancy.pairwise.mixed import PairwiseByType
from streamsieve.columns.redundancy.pairwise.rule import Pairwise, PairwiseConfig
from streamsieve.dependence.any_measure import AnyMeasure
from streamsieve.dependence.contract import Measure, tasks_of
from streamsieve.dependence.information import Information
from streamsieve.dependence.target import discretize_target, numeric_target
from streamsieve.exceptions import ParameterError
from streamsieve.independence.by_type import relevance_by_type
from streamsieve.independence.complete_pairs import CompletePairsFisherZ
from streamsieve.independence.fisher_z import FisherZ
from streamsieve.independence.online_fdr import OnlineFDRProcedure
from streamsieve.independence.p_values import check_p_value
from streamsieve.independence.rank_basis import RankBasis, RankBasisF
from streamsieve.protocols import Statistic, Task, Traits
from streamsieve.state import Choice, Float, NameOrObject, Nested

MEASURES = ("auto", "fisher_z", "su", "mutual_info", "basis")
#: Measures with p-values.
TESTED = (*CORRELATIONS, "basis")
BOUNDS = ("min", "max")
VARIANTS = ("paper", "corrected")


class SAOLA(ColumnSelector):
    """Scalable and accurate online feature selection (SAOLA) by pairwise comparisons.

    A column F is rejected if it is not associated with y, or if a kept column K is associated with y at least
    as strongly and F and K are associated at least as strongly as F and y.  If F is the stronger one of such
    a pair, K is evicted.  One comparison per pair, no conditioning: millions of sparse columns take seconds.

    Parameters
    ----------
    alpha : float, default=0.01
        Significance level of the relevance test, in (0, 1), for independent rows; for measures with p-values.
    measure : {"auto", "fisher_z", "su", "mutual_info", "basis"} or Measure, default="auto"
        Dependence of two columns: absolute correlation, symmetric uncertainty, or mutual information in nats.
        The latter two discretize columns (see ``bins``) and detect nonlinear dependence.  "auto" chooses by
        the types of the columns: "fisher_z" for numbers; the table of two columns of levels, or the
        indicators of a nominal one beside a number, on the scale of a correlation, ``sqrt(1 - exp(-2 I))``.
        Ordinal columns are tested by their trend, too, see docs/column_types.md.
        "basis" detects U-shapes and thresholds and has p-values: the adjusted multiple correlation with
        Legendre polynomials (degree 1 to 3) of a column's ranks, and its F test.  An object with
        ``dependence(x, z)``, and ``p_value(dependence, n)`` if columns are to be tested at ``alpha``, is
        compared column by column: correct, but slower.
    delta : float, default=0.0
        For measures without p-values: a column at or below it is irrelevant.  With 0, nearly every column of
        a wide sparse stream counts as relevant; use a larger value there.
    bound : {"min", "max"}, default="min"
        What the dependence of F and K must reach: the smaller of their dependences on y (SAOLA) or the
        larger (SAOLA-max, keeps more).
    variant : {"paper", "corrected"}, default="paper"
        In the paper, F may evict K and then be rejected because of a third column, so that K is lost without
        a replacement. "corrected" evicts a column only if F is kept.
    p_value : {"auto", "confirmed", "t", "z"}, default="auto"
        How p-values of "fisher_z" are computed.  "t" is Student's t (F for more than two classes), exact if y
        or the column is normal.  "confirmed", the default, is t, but if both are skewed or heavy-tailed its
        permutation p-value or, over many rows, the larger of t and a test of normal scores, and Fisher's
        exact test for small 2 x 2 tables; see ``FisherZ``.  "z" is Fisher's transformation, as in the paper:
        liberal at small levels.
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
        independent.  See ``OnlineFDR`` for the assumptions of each procedure.  Needs p-values.  If None, all
        levels are alpha.
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
    ledger_ : every decision; the statistic is the dependence on y, or for a redundant or evicted column
        its dependence on the one in ``by``
    n_found_, n_kept_ : number of columns found relevant, and of those kept.  The bound on the false discovery
        rate applies to the former; a redundancy rule may drop more true columns than false ones
    n_features_in_ : number of columns offered
    column_types_ : types of the columns by name, declared, inferred from dtypes, or guessed
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** With association s(., .), column f is rejected if f and y are independent at level alpha, or
    if some kept k has ``s(k, y) >= s(f, y)`` and ``s(f, k) >= s(f, y)``; a kept k is evicted if ``s(f, y) >
    s(k, y)`` and ``s(f, k) >= s(k, y)``.

    **When it fails.** Pairs only: a column that is redundant given two others stays, and a column that
    complements a stronger, correlated one is rejected. On narrow tables of correlated measurements it may
    keep too little; see :class:`FastOSFS`.

    Ties: with "fisher_z" the new column of two equals is rejected, so duplicates are dropped; with "su" and
    "mutual_info" neither of two equals eliminates the other.  Both are what the authors' toolbox does, and
    reproduce its selections.
    Deviations: the toolbox skips columns whose *sum* is 0, which drops centered ones; here only constant
    columns are skipped.  The paper's Algorithm 1 tests ``< delta``, so with delta = 0 nothing is ever
    irrelevant; its text and this class test ``<=``.  The paper's "mutual information" is symmetric
    uncertainty in the toolbox; both are offered.  More than two classes: see ``FisherZ``.  The result depends
    on the order of columns, but not on the size of blocks.

    With ``missing="omit"``, a correlation over c complete pairs has c - 2 degrees of freedom.  A column
    observed in fewer than 4 rows, or where y does not vary, is unreliable; two columns with fewer than 4
    complete pairs are not redundant.  Mean imputation instead would shrink correlations between columns and
    hide redundancy.

    p-values assume independent rows; for time series or repeated measurements of a subject, pass ``serial``
    or ``groups`` to ``begin``.

    References
    ----------
    Yu, Wu, Ding, Pei: Towards scalable and accurate online feature selection for big data, ICDM 2014.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> dose = y + rng.normal(size=300)
    >>> copy = dose + 0.5 * rng.normal(size=300)
    >>> sieve = ss.SAOLA(alpha=0.01).begin(y)
    >>> for decision in sieve.offer(np.c_[copy, rng.normal(size=300), dose], names=["copy", "noise", "dose"]):
    ...     print(decision.feature, decision.event, decision.reason, *decision.by)
    copy kept relevant
    noise rejected irrelevant
    copy evicted redundant dose
    dose kept relevant
    """

    _statistic = Statistic("correlation", redundancy="between")
    parameters = {
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "measure": NameOrObject(*MEASURES, needs={"dependence": "dependence(x, z)"}),
        "delta": Float(0),
        "bound": Choice(*BOUNDS),
        "variant": Choice(*VARIANTS),
        **COMPOSITION_PARAMETERS,
    }
    _process_: Composition
    fields = {"_process_": Nested(Composition, shares=("rows",))}

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        measure: str | Measure = "auto",
        delta: float = 0.0,
        bound: str = "min",
        variant: str = "paper",
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
        self.measure = measure
        self.delta = delta
        self.bound = bound
        self.variant = variant
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
        """Yield each measure, the other bound and variant, missing values, and an FDR procedure."""
        for measure in MEASURES:
            yield cls(measure=measure)
        yield cls(bound="max", variant="corrected")
        yield cls(missing="omit")
        yield cls(alpha=0.1, fdr="addis", lag=1)

    @property
    def traits(self) -> Traits:
        """Capabilities of the selector: support for missing values depends on a parameter."""
        return Traits(
            tasks=tasks_of(self.measure),
            missing=self.missing == "omit",
            text=self.missing == "refuse" and self.measure in TYPED,
            grouped_rows=True,
            dependent_rows=self.measure in CORRELATIONS and self.missing == "refuse",
        )

    def _check_together(self) -> None:
        check_missing(self.missing, "measure", self.measure)
        check_p_value(self.p_value, "measure", self.measure, tables=False)
        check_types(self.types, "measure", self.measure)
        tested = self.measure in TESTED or callable(getattr(self.measure, "p_value", None))
        if self.fdr is not None and not tested:
            raise ParameterError(
                f"fdr={self.fdr!r} needs p-values, which measure={self.measure!r} does not have: use "
                "measure='auto', 'fisher_z' or 'basis', an object with `p_value(dependence, n)`, or "
                "fdr=None and delta"
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
        """The pairwise rule for the chosen comparison of columns."""
        if self._by_type:
            return PairwiseByType
        if self.measure == "basis":
            return Pairwise
        if self.measure not in CORRELATIONS:
            return PairwiseDiscrete if isinstance(self.measure, str) else Pairwise
        if self.missing == "omit":
            return PairwiseCompletePairs
        return PairwiseDependentRows if self._dependence.tested else PairwiseCorrelation

    def _compose(self, y: npt.NDArray[Any], task: Task) -> Composition:
        config = PairwiseConfig(two_phase=self.variant == "corrected", use_max=self.bound == "max")
        fdr = OnlineFDRProcedure.of(self.fdr, self.alpha, self.lag)
        if self.measure == "basis":
            basis = RankBasisF.of(y, task, self.alpha, online=self.fdr is not None)
            return Composition(basis, Pairwise(len(y), RankBasis(), config), fdr)
        if isinstance(self.measure, Measure):
            measure = AnyMeasure(self.measure, numeric_target(y, task), self.alpha, self.delta)
            return Composition(measure, Pairwise(len(y), self.measure, config), fdr)
        if self._by_type:
            by_type = relevance_by_type(
                y, task, self.alpha, self.p_value, self.bins, online=self.fdr is not None, comparable=True
            )
            return Composition(by_type, PairwiseByType(by_type, config), fdr)
        if self.measure not in CORRELATIONS:
            codes, normalized = discretize_target(y, task), self.measure == "su"
            information = Information(codes, self.bins, normalized=normalized, delta=self.delta)
            return Composition(information, PairwiseDiscrete(information, config))
        test = FisherZ(y, task, self.alpha, p_value=self.p_value, online=self.fdr is not None)
        if self.missing == "omit":
            pairs = CompletePairsFisherZ(test, observed_classes=True)
            return Composition(pairs, PairwiseCompletePairs(len(y), config), fdr)
        rule = PairwiseDependentRows if self._dependence.tested else PairwiseCorrelation
        return Composition(self._dependence.test(test), rule(len(y), config), fdr)

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        fdr = self.fdr, self.alpha, self.lag
        yield from self._process_.problems(self._rule, fdr, self.p_value, self.n_features_in_)
