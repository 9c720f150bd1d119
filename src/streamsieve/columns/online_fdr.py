"""Online FDR: each column is tested at a level that controls the false discovery rate of the stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from streamsieve.base import ColumnSelector, Stop
from streamsieve.base.selector import fitted_property
from streamsieve.columns.composition import Composition, problems
from streamsieve.columns.models.linear import LinearModel
from streamsieve.columns.models.stepwise import Stepwise, Tested
from streamsieve.columns.redundancy.keep_all import KeepAll
from streamsieve.decisions import KEPT, Outcome
from streamsieve.dependence.target import numeric_target
from streamsieve.exceptions import ParameterError
from streamsieve.independence import FisherZ
from streamsieve.independence.online_fdr import LONGEST_LAG, RULES, OnlineFDRProcedure
from streamsieve.independence.p_values import OF_CORRELATIONS
from streamsieve.protocols import BoolArray, ColumnBlock, FloatArray, Task, Traits
from streamsieve.state import Array, Choice, Float, Int, Nested, Part

TESTS = ("marginal", "conditional")
CONDITIONAL = Traits(tasks=frozenset({Task.BINARY, Task.REGRESSION}), grouped_rows=True)


class ConditionalFDR(Stepwise):
    """Columns join a model if the t test of their coefficient is a discovery of an FDR procedure."""

    fields = {"model": Nested(LinearModel, shares=("rows",)), "fdr": Nested(OnlineFDRProcedure)}

    model: LinearModel

    def __init__(self, model: LinearModel, fdr: OnlineFDRProcedure) -> None:
        self.model, self.fdr = model, fdr
        #: Levels of the block that is being tested.
        self._levels: list[FloatArray] = []

    def offer(self, block: ColumnBlock, start: int) -> Outcome:
        """Decide on a block whose first column has arrival number ``start``."""
        self._levels = [np.zeros(0)]
        outcome = super().offer(block, start)
        self.fdr.last_levels = np.concatenate(self._levels)
        return outcome

    def test(self, gain: FloatArray, testable: BoolArray, first: int) -> Tested:  # noqa: ARG002
        """Test columns given the model until one is accepted."""
        f = self.model.f_statistic(gain)
        p_value = self.model.p_value(f)
        tested = np.flatnonzero(testable)
        found, some_levels = self.fdr.decide(p_value[tested], until_found=True)
        tested, accepted = tested[: len(found)], bool(found.any())
        done = int(tested[-1]) + 1 if accepted else len(gain)
        levels = np.full(done, np.nan)
        levels[tested] = some_levels
        self._levels.append(levels)
        return np.sqrt(f[:done]), p_value[:done], accepted


class Levels(Part):
    """The significance levels of the tests on record, in order."""

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

    Column t is kept if its p-value is at most its level.  A level depends on earlier discoveries: it
    decreases while nothing is found, and every column kept pays for larger levels later.  The expected
    proportion of false discoveries among the columns kept, the false discovery rate (FDR), then stays below
    ``alpha`` at any time, whatever the length of the stream and the size of blocks.  No column is ever
    evicted.

    Parameters
    ----------
    fdr : {"addis", "saffron", "lord", "dlord", "alpha_investing", "lond"}, default="addis"
        Procedure that sets the levels.  "addis" charges for a test only if its p-value is between 1/4 and
        1/2, and has the most power in simulations; "saffron" charges above 1/2.  "lord" (LORD++) charges for
        every test and suffers least from dependent columns; "dlord" does not charge above 1/2.
        "alpha_investing" (the generalized form, GAI) charges for all columns that are not kept.  "lond" is
        the oldest procedure, and the most conservative.
    alpha : float, default=0.05
        Bound on the false discovery rate, in (0, 1).
    lag : int, default=0
        Number of preceding tests whose outcome may not affect the current level, 0 to 65,536: about the range
        over which neighbouring columns are correlated.  Without it, such neighbours can double the FDR.
    scope : {"marginal", "conditional"}, default="marginal"
        Null hypothesis of a column: it is independent of y (correlation, or for more than two classes the F
        test), or it adds nothing to a linear model of y on the columns kept so far (t test).
    p_value : {"auto", "confirmed", "t", "z"}, default="auto"
        How the p-values of scope "marginal" are computed.  "t" is Student's t (F for more than two classes),
        exact if y or the column is normal.  "confirmed", the default, is t, held against a test of normal
        scores where both are skewed or heavy-tailed, and Fisher's exact test for 2 x 2 tables; see
        ``FisherZ``.  "z" is Fisher's transformation: too liberal for the levels used here.  The p-values of
        "conditional" are exact for normal errors, and take "auto" only.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of y; "auto" takes fractional numbers for regression and everything else for labels.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record.
    stop : Stop or None, default=None
        Early-stopping rules.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    levels_ : significance level of each column in the ledger, in order; NaN for one that was not tested
    wealth_ : what is left to spend on levels; undefined for "lond"
    ledger_ : every decision; the statistic is the correlation (or correlation ratio) with y, or the signed t
        of the column's coefficient
    n_features_in_ : number of columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    With "marginal" every proxy of a true feature is a true discovery, so that many redundant columns are
    kept: use ``fdr=`` of a selector with a redundancy rule (``SAOLA(fdr=...)``), or "conditional".  The
    guarantee is for independent p-values, each of which is at most u with a probability of at most u if the
    column is independent of y; that needs independent rows.  Correlated neighbors break "saffron" and
    "alpha_investing" most: simulated with a correlation of 0.8 and alpha = 0.05, their FDR was 0.12 and 0.10,
    that of "addis" 0.07, and of "addis" with a lag of 5 it was 0.02.

    p-values hold for independent rows, or for rows whose dependence is given to ``begin`` (``serial``,
    ``groups``).  Simulated with AR(1) rows of coefficient 0.8 and alpha = 0.05, "addis" had an FDR of 0.84
    without ``serial`` and of 0.04 with it.

    A column that cannot be tested (constant, collinear, too few rows) is not a test: it costs nothing and
    does not count for the lag.  Weights, thresholds and the part of alpha to begin with are those that the
    papers and the R package onlineFDR recommend.  The level of LOND is ``alpha w_t max(1, found)``; its first
    paper has ``found + 1``.

    References
    ----------
    Tian, Ramdas: ADDIS, NeurIPS 2019.  Ramdas, Zrnic, Wainwright, Jordan: SAFFRON, ICML 2018.  Ramdas, Yang,
    Wainwright, Jordan: Online control of the false discovery rate with decaying memory, NeurIPS 2017.
    Javanmard, Montanari: Online rules for control of false discovery rate, Annals of Statistics 2018.
    Aharoni, Rosset: Generalized alpha-investing, JRSS B 2014.  The lag: Zrnic, Ramdas, Jordan: Asynchronous
    online testing of multiple hypotheses, JMLR 2021.

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
        p_value: str = "auto",
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.fdr = fdr
        self.alpha = alpha
        self.lag = lag
        self.scope = scope
        self.p_value = p_value
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield each procedure, a lag, and the conditional test."""
        for rule in RULES:
            yield cls(rule)
        yield cls(lag=3)
        yield cls(scope="conditional")

    @property
    def traits(self) -> Traits:
        """What the selector can do: the conditional test is not defined for more than two classes."""
        return CONDITIONAL if self.scope == "conditional" else self._traits

    def _check_together(self) -> None:
        if self.scope == "conditional" and self.p_value != "auto":
            raise ParameterError(f"p_value={self.p_value!r} goes with scope='marginal': take p_value='auto'")

    def _begin(self, y: npt.NDArray[Any]) -> None:
        super()._begin(y)
        self._levels_ = Levels()

    def _compose(self, y: npt.NDArray[Any], task: Task) -> Composition | ConditionalFDR:
        fdr = OnlineFDRProcedure(self.fdr, self.alpha, self.lag)
        if self.scope == "conditional":
            return ConditionalFDR(LinearModel(numeric_target(y, task)), fdr)
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
        """What is left to spend on levels."""
        if self.fdr == "lond":
            raise AttributeError("wealth_ has no meaning for fdr='lond'")
        return self._procedure.wealth()

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        process, fdr = self._process_, (self.fdr, self.alpha, self.lag)
        if isinstance(process, Composition) is not (self.scope == "marginal"):
            yield f"a {type(process).__name__} does not go with scope={self.scope!r}"
        elif isinstance(process, Composition):
            yield from problems(process, KeepAll, fdr, self.p_value, self.n_features_in_)
        else:
            yield from process.fdr.problems(*fdr, self.n_features_in_)
        if len(process.features) != self._procedure.discoveries:
            yield "the kept columns are not those that the tests found"
