"""Online FDR: each column is tested at a level that controls the false discovery rate of the stream."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from streamsieve.base import ColumnSelector, Stop
from streamsieve.base.fitted import fitted_property
from streamsieve.column_types import ColumnTypes, TypesParameter
from streamsieve.columns.composition import Composition, check_types
from streamsieve.columns.models.linear import LinearModel, tied
from streamsieve.columns.models.stepwise import Stepwise, Tested, Values
from streamsieve.columns.redundancy.keep_all import KeepAll
from streamsieve.decisions import KEPT, Outcome
from streamsieve.dependence.blocks import CenteredColumns
from streamsieve.dependence.target import TARGET_BINS, numeric_target
from streamsieve.exceptions import ParameterError
from streamsieve.independence import FisherZ
from streamsieve.independence.by_type import relevance_by_type
from streamsieve.independence.confirmation import Confirmation
from streamsieve.independence.fisher_z import ONLINE_LEVEL
from streamsieve.independence.online_fdr import LONGEST_LAG, RULES, OnlineFDRProcedure
from streamsieve.independence.p_values import OF_CORRELATIONS, check_p_value
from streamsieve.independence.rank_basis import RankBasisF
from streamsieve.protocols import BoolArray, ColumnBlock, FloatArray, IntArray, Statistic, Task, Traits
from streamsieve.state import Array, Bool, Choice, Float, Int, Nested, Part

TESTS = ("marginal", "conditional")
#: Tests of scope "marginal".
MARGINAL = ("auto", "fisher_z", "basis")
#: P-values of scope "conditional"; "auto" is "confirmed".
OF_COEFFICIENTS = ("auto", "confirmed", "t")
CONDITIONAL = Traits(tasks=frozenset({Task.BINARY, Task.REGRESSION}), grouped_rows=True)


class ConditionalFDR(Stepwise):
    """Columns join a model if the t test of their coefficient is a discovery of an FDR procedure.

    ``confirmed``: where the residuals of column and target are both skewed or heavy-tailed, the p-value is
    the larger of that of t and of a test of their normal scores.
    """

    fields = {
        "model": Nested(LinearModel, shares=("rows",)),
        "fdr": Nested(OnlineFDRProcedure),
        "confirmed": Bool(),
    }

    model: LinearModel

    def __init__(self, model: LinearModel, fdr: OnlineFDRProcedure, *, confirmed: bool) -> None:
        self.model, self.fdr, self.confirmed = model, fdr, confirmed
        #: Levels of the block that is being tested.
        self._levels: list[FloatArray] = []
        #: Confirmation of p-values given the current model, and its number of columns.
        self._confirmation: tuple[int, Confirmation] | None = None

    def offer(self, block: ColumnBlock, start: int) -> Outcome:
        """Decide on a block whose first column has arrival number ``start``."""
        self._levels = [np.zeros(0)]
        outcome = super().offer(block, start)
        self.fdr.last_levels = np.concatenate(self._levels)
        return outcome

    def test(
        self, gain: FloatArray, testable: BoolArray, first: int, values: Values,  # noqa: ARG002
    ) -> Tested:  # fmt: skip
        """Test columns given the model until one is accepted."""
        f = self.model.f_statistic(gain)
        p_value = self.model.p_value(f)
        small = np.flatnonzero(testable & (p_value <= max(self.fdr.alpha, ONLINE_LEVEL)))
        if self.confirmed and len(small):
            p_value[small] = self._confirmed(p_value[small], small, values)
        tested = np.flatnonzero(testable)
        found, some_levels = self.fdr.decide(p_value[tested], until_found=True)
        tested, accepted = tested[: len(found)], bool(found.any())
        done = int(tested[-1]) + 1 if accepted else len(gain)
        levels = np.full(done, np.nan)
        levels[tested] = some_levels
        self._levels.append(levels)
        return np.sqrt(f[:done]), p_value[:done], accepted

    def _confirmed(self, p_value: FloatArray, at: IntArray, values: Values) -> FloatArray:
        """Return the p-values of some columns, confirmed on the residuals given the model."""
        model = self.model
        if self._confirmation is None or self._confirmation[0] != model.size:
            residual = tied(model.residual / np.sqrt(model.rss))[:, None]
            self._confirmation = model.size, Confirmation(residual, np.zeros(0, np.int64), model.size)
        confirmation, p_value = self._confirmation[1], p_value.copy()
        doubtful = np.flatnonzero(p_value < confirmation.sure)
        if len(doubtful):
            columns = CenteredColumns.of_residuals(model.left(values(at[doubtful])))
            p_value[doubtful] = confirmation.p_values(columns, p_value[doubtful], exact=False)
        return p_value

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        return cls(record["model"], record["fdr"], confirmed=record["confirmed"])


class Levels(Part):
    """The significance levels of the recorded tests, in order."""

    fields = {"values": Array("f8", "tests", low=0, high=1, missing=True)}

    def __init__(self) -> None:
        self._blocks: list[FloatArray] = []

    @property
    def values(self) -> FloatArray:
        """All levels; NaN for a column that was not tested."""
        return np.concatenate([np.zeros(0), *self._blocks])

    def append(self, levels: FloatArray) -> None:
        """Add the levels of a block."""
        self._blocks.append(levels)

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        levels = cls()
        levels.append(record["values"])
        return levels


class OnlineFDR(ColumnSelector):
    """Online FDR control: keep columns under a bound on the false discovery rate, for streams of any length.

    Column t is kept if its p-value is at most its level.  Levels depend on earlier discoveries: they decrease
    while nothing is found, and increase after every column kept.  The false discovery rate (FDR), the
    expected proportion of false discoveries among the columns kept, is then at most ``alpha`` after any
    number of columns that is fixed in advance, under the assumptions of the procedure (below) and if rows are
    independent.  No column is ever evicted.

    Parameters
    ----------
    fdr : {"addis", "saffron", "lord", "dlord", "alpha_investing", "lond", "lond_any", "alpha_spending"}, \
default="addis"
        Procedure that sets the levels.  For columns that are independent of each other: "addis" has the most
        power in simulations; "saffron" is the same for binary columns and classes (see Notes); "lord"
        (LORD++), "dlord" and "alpha_investing" (the generalized form, GAI) have less power.  For
        dependent columns: "lond".  If nothing is known about the dependence: "lond_any" (reshaped LOND), or
        "alpha_spending", which bounds the probability of any false discovery.
    alpha : float, default=0.05
        Bound on the false discovery rate, in (0, 1); for "alpha_spending" on the family-wise error rate.
    lag : int, default=0
        Number of preceding tests whose outcome may not affect the current level, in [0, 65536].  It must
        reach the range over which columns depend on each other: ten copies in a row need a lag of 10.
    scope : {"marginal", "conditional"}, default="marginal"
        Null hypothesis of a column: it is independent of y (correlation, or for more than two classes the F
        test), or it adds nothing to a linear model of y on the columns kept so far (t test).
    test : {"auto", "fisher_z", "basis"}, default="auto"
        Test of scope "marginal": of the correlation, or "auto" by the type of the column: numbers and binary
        columns by "fisher_z", levels and classes by their table, ordinal ones by their trend, too, a nominal
        column and a numeric target by the F test of the means of its levels.  "basis" detects U-shapes and
        thresholds: the joint F test of Legendre polynomials (degree 1 to 3) of the column's ranks.
    types : dict of str to str, str or None, default=None
        Types of columns by name, as ``{"zip": "nominal"}``, or one type for all: "numeric", "ordinal",
        "nominal" or "binary".  Other types are inferred from the dtype or guessed: two distinct values are
        binary, whole numbers of at most one value per 20 rows (and 256) ordinal, everything else numeric.
    p_value : {"auto", "confirmed", "t", "z"}, default="auto"
        How p-values of correlations are computed.  "t" is Student's t (F for more than two classes), exact
        if y or the column is normal.  "confirmed", the default, is t, but where both are skewed or
        heavy-tailed its permutation p-value or, over many rows, the larger of t and a test of normal scores,
        and for 2 x 2 tables Fisher's exact test; see ``FisherZ``.  In scope "conditional" both test a
        coefficient, and the larger of both tests is taken on the residuals of column and y given the model;
        t is exact for normal errors.  "z" (scope "marginal") is Fisher's transformation: too liberal for the
        levels used here.  For "basis" only "auto" is available: p-values are exact for normal y, and
        confirmed by random permutations of y if there are few rows, ties or rare classes.
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
    levels_ : significance level of each column in the ledger, in order; NaN for one that was not tested
    wealth_ : remaining alpha-wealth; not available for "lond", "lond_any" and "alpha_spending"
    n_kept_, n_found_ : number of columns kept, which is the number found, as there is no redundancy rule
    ledger_ : every decision; the statistic is the correlation (or correlation ratio) with y, or the signed t
        of the column's coefficient
    n_features_in_ : number of columns offered
    column_types_ : types of the columns by name, declared, inferred from dtypes, or guessed
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** Column t is kept if ``p_t <= alpha_t``; the level ``alpha_t`` depends on alpha, on t and on
    the discoveries before, by the formula of the procedure ``fdr``.

    **When it fails.** The bound requires valid p-values: dependent rows, or a dependence between columns that
    the procedure does not allow for, invalidate it. Levels fall while nothing is
    found, so that an informative column after a long stretch of noise needs a very small p-value.

    Guarantees for valid p-values, by the dependence between columns
    (docs/guides/false_discovery_control.md has the theorems, and what simulations show):

    ================= =============== ======================= ============ ===========
    procedure         independent     local, within ``lag``   PRDS         arbitrary
    ================= =============== ======================= ============ ===========
    lord, saffron     FDR             mFDR                    nothing      nothing
    addis, dlord      FDR (1)         mFDR (1)                nothing      nothing
    alpha_investing   FDR             nothing                 nothing      nothing
    lond              FDR             FDR                     FDR          nothing
    lond_any          FDR             FDR                     FDR          FDR
    alpha_spending    FWER            FWER                    FWER         FWER
    ================= =============== ======================= ============ ===========

    (1) if null p-values of continuous columns are uniformly conservative.  Discrete p-values need not be:
    a column of few distinct values (at most 32, and half of the rows) against such a target is tested as
    by "saffron" in "addis" and as by "lord" in "dlord", out of the same wealth.

    If the discoveries decide when the stream ends (``Stop(max_features=...)``), "lond", "lond_any" and
    "alpha_spending" keep these guarantees, and the others bound the mFDR only: in simulations the FDR was up
    to 0.066 at alpha = 0.05 (``python -m studies.calibration.promises``).

    mFDR is the ratio of the expected numbers of false discoveries and of discoveries; PRDS is a form of
    positive dependence.  Two-sided tests of correlated columns are not PRDS in general; for them the FDR of
    "lond" is empirical: at most 0.01 in simulations, where "saffron" had up to 0.18 and "addis" up to
    0.09 (alpha = 0.05; ``python -m studies.calibration.simulated``).  Rows must be independent: serially
    correlated rows make every p-value wrong.

    With "marginal" every proxy of a true feature is a true discovery, so that many redundant columns are
    kept: use ``fdr=`` of a selector with a redundancy rule (``SAOLA(fdr=...)``), or "conditional".  The model
    of "conditional" was chosen by the same rows; its p-values are valid for columns that are independent of y
    and of the columns before, and for others there is no theorem.

    p-values assume independent rows, unless ``begin`` is given ``serial`` or ``groups``.  Simulated with
    AR(1) rows of coefficient 0.8 and alpha = 0.05, "addis" had an FDR of 0.84 without ``serial`` and of 0.03
    with it.

    A column that cannot be tested (constant, collinear, too few rows) does not count as a test: it costs no
    wealth and does not count for the lag.  Weights, thresholds and the initial wealth are those recommended
    by the papers and the R package onlineFDR, except that the last three procedures have the weights
    ``t^-1.1 / 10.58``, which leave more for late columns.  The level of LOND is ``alpha w_t (found + 1)``, as
    in its first paper, which is never below the ``max(1, found)`` of a later one.

    References
    ----------
    Tian, Ramdas: ADDIS, NeurIPS 2019.  Ramdas, Zrnic, Wainwright, Jordan: SAFFRON, ICML 2018.  Ramdas, Yang,
    Wainwright, Jordan: Online control of the false discovery rate with decaying memory, NeurIPS 2017.
    Javanmard, Montanari: On online control of false discovery rate, arXiv 1502.06197, 2015 (LOND).
    Aharoni, Rosset: Generalized alpha-investing, JRSS B 2014.  Foster, Stine: Alpha-investing, JRSS B 2008
    (alpha-spending).  The lag, and PRDS: Zrnic, Ramdas, Jordan: Asynchronous online testing of multiple
    hypotheses, JMLR 2021.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1000))
    >>> y = X[:, 7] - 2 * X[:, 30] + X[:, 700] + rng.normal(size=200)
    >>> ss.OnlineFDR(alpha=0.1).fit(X, y).selected_
    array([  7,  30, 700])
    >>> sum(d.p_value <= 0.1 for d in ss.OnlineFDR().fit(X, y).ledger_)  # what a fixed level would keep
    113
    """

    _elsewhere: ClassVar[str] = (
        "use scope='marginal', say task='regression' if it is a quantity, or offer the columns once for each "
        "class against the rest"
    )

    _traits: ClassVar[Traits] = Traits(grouped_rows=True, dependent_rows=True)
    parameters = {
        "fdr": Choice(*RULES),
        "alpha": Float(0, 1, open_low=True, open_high=True),
        "lag": Int(0, LONGEST_LAG),
        "scope": Choice(*TESTS),
        "test": Choice(*MARGINAL),
        "types": TypesParameter(),
        "p_value": Choice("auto", *OF_CORRELATIONS),
    }
    _process_: Composition | ConditionalFDR
    fields = {"_process_": Nested(Composition, ConditionalFDR, shares=("rows",)), "_levels_": Nested(Levels)}

    def __init__(
        self,
        fdr: str = "addis",
        *,
        alpha: float = 0.05,
        lag: int = 0,
        scope: str = "marginal",
        test: str = "auto",
        types: ColumnTypes = None,
        p_value: str = "auto",
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.fdr = fdr
        self.alpha = alpha
        self.lag = lag
        self.scope = scope
        self.test = test
        self.types = types
        self.p_value = p_value
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield each procedure, a lag, the nonlinear measure, and the conditional test."""
        for rule in RULES:
            yield cls(rule)
        yield cls(lag=3)
        yield cls(test="basis")
        yield cls(scope="conditional")

    @property
    def _statistic(self) -> Statistic:
        conditional = self.scope == "conditional"
        return Statistic("t", by_parameter=False) if conditional else Statistic("correlation")

    @property
    def traits(self) -> Traits:
        """Capabilities of the selector: the conditional test is not defined for more than two classes."""
        if self.scope == "conditional":
            return CONDITIONAL
        correlation = self.test != "basis"
        return replace(self._traits, text=self.test == "auto", dependent_rows=correlation)

    def _check_together(self) -> None:
        check_p_value(self.p_value, "test", self.test)
        if self.scope == "conditional" and self.test == "basis":
            raise ParameterError(
                f"test={self.test!r} requires scope='marginal'; FastOSFS(test='basis', fdr=...) tests given "
                "other columns"
            )
        if self.scope == "conditional" and self.p_value not in OF_COEFFICIENTS:
            raise ParameterError(
                f"p_value={self.p_value!r} requires scope='marginal': use p_value='auto' or p_value='t'"
            )
        check_types(self.types, "test", self.test if self.scope == "marginal" else "fisher_z")

    @property
    def _knows_types(self) -> bool:
        return self.scope == "marginal" and self.test == "auto" and self._dependence.independent

    def _begin(self, y: npt.NDArray[Any]) -> None:
        super()._begin(y)
        self._levels_ = Levels()

    def _compose(self, y: npt.NDArray[Any], task: Task) -> Composition | ConditionalFDR:
        fdr = OnlineFDRProcedure(self.fdr, self.alpha, self.lag)
        if self.scope == "conditional":
            model = LinearModel(numeric_target(y, task))
            return ConditionalFDR(model, fdr, confirmed=self.p_value != "t")
        if self._knows_types:
            by_type = relevance_by_type(
                y, task, self.alpha, self.p_value, TARGET_BINS, online=True, comparable=True
            )
            return Composition(by_type, KeepAll(len(y)), fdr)
        if self.test == "basis":
            return Composition(RankBasisF.of(y, task, self.alpha, online=True), KeepAll(len(y)), fdr)
        test = self._dependence.test(FisherZ(y, task, self.alpha, p_value=self.p_value, online=True))
        return Composition(test, KeepAll(len(y)), fdr)

    def _offer(self, block: ColumnBlock) -> Outcome:
        outcome = super()._offer(block)
        if self.ledger != "none":
            levels = self._procedure.last_levels
            self._levels_.append(levels if self.ledger == "all" else levels[outcome.reason == KEPT])
        return outcome

    @property
    def _procedure(self) -> OnlineFDRProcedure:
        return cast(OnlineFDRProcedure, self._process_.fdr)

    @fitted_property
    def levels_(self) -> FloatArray:
        """Significance level of each column in the ledger, in order; NaN for one that was not tested."""
        return self._levels_.values

    @fitted_property
    def wealth_(self) -> float:
        """Remaining alpha-wealth."""
        wealth = self._procedure.wealth()
        if math.isnan(wealth):
            raise AttributeError(f"wealth_ is not defined for fdr={self.fdr!r}")
        return wealth

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        process, fdr = self._process_, (self.fdr, self.alpha, self.lag)
        if isinstance(process, Composition) is not (self.scope == "marginal"):
            yield f"a {type(process).__name__} does not go with scope={self.scope!r}"
        elif isinstance(process, Composition):
            yield from process.problems(KeepAll, fdr, self.p_value, self.n_features_in_)
        elif process.confirmed is not (self.p_value != "t"):
            yield f"the test has other p-values than p_value={self.p_value!r}"
        else:
            yield from process.fdr.problems(*fdr, self.n_features_in_)
        if len(process.features) != self._procedure.discoveries:
            yield "the kept columns are not those that the tests found"
