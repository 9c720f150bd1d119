"""Alpha-investing: each column is tested given the model so far, at a level paid from an alpha-wealth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, fdtrc, ndtr, ndtri

from streamsieve._kernels import linear
from streamsieve.base import ColumnSelector, Stop
from streamsieve.base.fitted import fitted_property
from streamsieve.columns.models.linear import LinearModel
from streamsieve.columns.models.logistic import LogisticModel
from streamsieve.columns.models.stepwise import (
    COLLINEAR_FRACTION,
    LEAST_LEFT,
    LEAST_WEALTH,
    Stepwise,
    Tested,
    Values,
)
from streamsieve.decisions import Outcome
from streamsieve.dependence.blocks import RELATIVE_TIE
from streamsieve.dependence.target import numeric_target
from streamsieve.protocols import BoolArray, ColumnBlock, FloatArray, Reason, Statistic, Task, Traits
from streamsieve.state import Choice, Float, Int, Nested

MODELS = ("linear", "logistic")
TEST_STATISTICS = ("t", "likelihood_ratio")
#: Value before the first single column after a success: larger than any level.
NO_BAR = (math.inf, 0.0)
LOGISTIC = Traits(tasks=frozenset({Task.BINARY}), grouped_rows=True)


class AlphaInvestor(Stepwise):
    """A wealth that pays for the level of each test and grows with every column that joins the model."""

    fields = {
        "model": Nested(LinearModel, LogisticModel, shares=("rows",)),
        "wealth": Float(LEAST_LEFT, 2.0**54),
        "payout": Float(0, 1, open_low=True),
        "test_statistic": Choice(*TEST_STATISTICS),
        "tests": Int(0, 2**53),
    }

    model: LinearModel | LogisticModel

    #: Level of the last single column that was tested exactly, and the squared statistic below which it is
    #: rejected.
    _bar: tuple[float, float] = NO_BAR

    def __init__(
        self, model: LinearModel | LogisticModel, wealth: float, payout: float, test_statistic: str
    ) -> None:
        self.model, self.wealth, self.payout, self.test_statistic = model, wealth, payout, test_statistic
        #: Number of tests so far; the likelihood ratio counts the intercept.
        self.tests = 1 if self._by_ratio else 0

    def offer(self, block: ColumnBlock, start: int) -> Outcome:
        """Decide on a block whose first column has arrival number ``start``."""
        self._bar = NO_BAR
        return super().offer(block, start)

    def test(
        self, gain: FloatArray, testable: BoolArray, first: int, values: Values,  # noqa: ARG002
    ) -> Tested:  # fmt: skip
        """Test columns until one is accepted; until then the wealth is a cumulative product."""
        tests = self.tests + 1 + np.arange(len(gain))
        wealth = self.wealth * np.concatenate([[1.0], np.cumprod(1 - 0.5 / tests)])
        strength = self._strength(gain)
        hit = self._first_below(strength, wealth[:-1] / (2 * tests))
        done = len(gain) if hit < 0 else hit + 1
        self.tests += done
        self.wealth = float(wealth[done]) + (self.payout if hit >= 0 else 0.0)
        return np.sqrt(strength[:done]), self._p(strength[:done]), hit >= 0

    def _strength(self, gain: FloatArray) -> FloatArray:
        """Return the square of t, or of z."""
        if isinstance(self.model, LogisticModel):
            return gain
        return self.model.z_squared(gain) if self._by_ratio else self.model.f_statistic(gain)

    @property
    def _by_ratio(self) -> bool:
        return self.test_statistic == "likelihood_ratio"

    def _p(self, strength: Any) -> Any:
        if self._by_ratio:
            return np.exp(-strength / 2)
        if isinstance(self.model, LogisticModel):
            return 2 * ndtr(-np.sqrt(strength))
        return self.model.p_value(strength)

    def _least_strength(self, level: float) -> float:
        """Return what t^2 or z^2 must exceed for a p-value below the level, less a margin for rounding."""
        if self._by_ratio:
            exact = -2 * math.log(level)
        elif isinstance(self.model, LogisticModel):
            exact = float(ndtri(level / 2)) ** 2
        else:
            freedom = max(self.model.freedom, 1)
            inside = float(betaincinv(freedom / 2, 0.5, level))  # freedom / (freedom + F)
            exact = freedom * (1 - inside) / max(inside, 1e-300)
        return exact * (1 - RELATIVE_TIE)

    def _first_below(self, strength: FloatArray, level: FloatArray) -> int:
        """Return the position of the first p-value below its level, or -1.

        Levels decrease along the block, so the first one gives a condition that few columns meet.
        """
        few = np.flatnonzero(strength > self._least_strength(float(level[0])))
        hits = few[self._p(strength[few]) < level[few]]
        return int(hits[0]) if len(hits) else -1

    def offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        """Reject a single column, as (reason, statistic, p-value), or return None to leave it to `offer`."""
        model = self.model
        if isinstance(model, LogisticModel) or model.obstacle is not None:
            return None
        ss, inside, dot = linear.project_one(x, model.basis, model.size, model.residual)
        outside = ss - inside
        if not (0.0 < ss < math.inf and outside > COLLINEAR_FRACTION * ss):
            return None  # constant, collinear or not finite: `offer` finds out which
        level = self.wealth / (2 * (self.tests + 1))
        if level < 0.5 * self._bar[0]:
            # levels decrease until the next success, so the bound of an earlier level stays valid
            self._bar = (level, self._least_strength(level))
        drop, rss, freedom = dot * dot / outside, model.rss, model.freedom
        by_ratio = self._by_ratio
        strength = drop * (model.n / rss) if by_ratio else drop * freedom / max(rss - drop, 1e-15 * rss)
        if strength > self._bar[1]:
            return None
        self.tests += 1
        self.wealth -= level
        p = np.exp(-strength / 2) if by_ratio else fdtrc(1, freedom, strength)
        return Reason.IRRELEVANT, math.copysign(math.sqrt(strength), dot), float(p)

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        if record["wealth"] > 1 + record["tests"]:
            yield f"{record['tests']} tests cannot have earned a wealth of {record['wealth']:g}"


class AlphaInvesting(ColumnSelector):
    """Alpha-investing: streamwise regression with adaptive significance levels.

    Column i is tested in a linear or logistic model of the columns kept so far, at level ``wealth / (2 i)``.
    If its p-value is below, it joins the model and ``payout`` is earned; the level is paid either way.  No
    column is ever evicted.

    Parameters
    ----------
    wealth : float, default=0.5
        Initial wealth, in [1e-100, 1].
    payout : float, default=0.5
        Wealth earned by a kept column, in (0, 1].
    test_statistic : {"t", "likelihood_ratio"}, default="t"
        "t" is the exact test of a coefficient.  "likelihood_ratio" is ``exp(-z^2 / 2)``, which the authors'
        toolbox calls a p-value: three to five times larger, hence more conservative; the intercept then
        counts as the first candidate, as it does there.
    model : {"linear", "logistic"}, default="linear"
        Regression model of y.  "logistic" is for two classes; "t" is then the score test of a coefficient,
        and z the square root of its statistic.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of y; two classes count as 0 and 1.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record.
    stop : Stop or None, default=None
        Early-stopping rules.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    wealth_ : current wealth
    ledger_ : every decision; the statistic is the signed t (or z) of the column's coefficient
    n_features_in_ : number of columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** Level of column i: ``wealth / (2 i)``. If ``p_i`` is at most the level, the column joins and
    the wealth grows by ``payout``; the level is paid either way.

    **When it fails.** After a long run of noise the wealth is near 0, so later columns are tested at levels
    near 0. Columns never leave, so an early proxy keeps its place when the better column comes. The model is
    linear or logistic.

    The defaults are the papers', and generous: with wealth and payout of 0.5 up to a quarter of the kept
    columns may be false discoveries.  With both at 0.05 the expected proportion stays near 5 %, if columns
    are independent of each other and rows are independent.

    Deviations: an explicit intercept (the toolbox takes column 1 for it, so that one all-zero column makes
    every later p-value NaN, which explains the reported failure on sparse data); a column in the span of the
    model is rejected as collinear instead of inverting a singular matrix; and once the model fits exactly,
    the residual is rounding and no further column is accepted.  Two surveys print "added if the p-value is
    greater": it is smaller, as in their own pseudo-code.  Without any success the wealth after n columns is
    ``wealth * binomial(2n, n) / 4^n``.

    The logistic model is refitted when a column joins.  A coefficient that would be infinite, because a
    column is non-zero in one of the classes only, is kept finite by a penalty of 0.0000005 times the variance
    of the linear predictor.  Once the model separates the classes it fits exactly, and no further column is
    accepted.

    References
    ----------
    Zhou, Foster, Stine, Ungar: Streamwise feature selection, JMLR 2006.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 50))
    >>> y = X[:, 7] - 2 * X[:, 30] + rng.normal(size=200)
    >>> ss.AlphaInvesting(wealth=0.05, payout=0.05).fit(X, y).selected_
    array([ 7, 30])
    """

    _traits: ClassVar[Traits] = Traits(tasks=frozenset({Task.BINARY, Task.REGRESSION}), grouped_rows=True)
    _elsewhere: ClassVar[str] = (
        "say task='regression' if it is a quantity and the model is linear, use SAOLA, or offer the columns "
        "once for each class against the rest"
    )

    parameters = {
        "wealth": Float(LEAST_WEALTH, 1),
        "payout": Float(0, 1, open_low=True),
        "test_statistic": Choice(*TEST_STATISTICS),
        "model": Choice(*MODELS),
    }
    _process_: AlphaInvestor
    fields = {"_process_": Nested(AlphaInvestor, shares=("rows",))}

    def __init__(
        self,
        wealth: float = 0.5,
        *,
        payout: float = 0.5,
        test_statistic: str = "t",
        model: str = "linear",
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.wealth = wealth
        self.payout = payout
        self.test_statistic = test_statistic
        self.model = model
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield each kind of p-value, and the logistic model."""
        for test_statistic in TEST_STATISTICS:
            yield cls(test_statistic=test_statistic)
        yield cls(model="logistic")

    @property
    def _statistic(self) -> Statistic:
        return Statistic("z" if self.test_statistic == "likelihood_ratio" else "t")

    @property
    def traits(self) -> Traits:
        """Capabilities of the selector: a logistic model is for two classes."""
        return LOGISTIC if self.model == "logistic" else self._traits

    def _compose(self, y: npt.NDArray[Any], task: Task) -> AlphaInvestor:
        target = numeric_target(y, task)
        model = LogisticModel(target) if self.model == "logistic" else LinearModel(target)
        return AlphaInvestor(model, float(self.wealth), float(self.payout), self.test_statistic)

    @fitted_property
    def wealth_(self) -> float:
        """Current wealth."""
        return self._process_.wealth
