"""Alpha-investing: test every column against the model so far, and pay for each test from a wealth."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, fdtrc, ndtr, ndtri

from streamsieve._kernels import linear
from streamsieve._parameters import check_choice, check_number
from streamsieve.base import ColumnSelector, Stop
from streamsieve.columns._logistic import LogisticModel
from streamsieve.columns._orthonormal import OrthonormalModel
from streamsieve.columns._stepwise import COLLINEAR, Tried, offer_stepwise
from streamsieve.decisions import Settled
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Reason, Task, Traits

MODELS = ("linear", "logistic")
P_VALUES = ("t", "likelihood_ratio")
#: Before the first single column after a success: any level is lower.
NO_BAR = (math.inf, 0.0)
LOGISTIC = Traits(tasks=frozenset({Task.BINARY}))


class AlphaInvesting(ColumnSelector):
    """Keep columns that improve a linear or logistic model, spending a wealth that grows with every success.

    Column i is tested at level ``wealth / (2 i)``.  If its p-value is below, it joins the model and
    ``payout`` is earned; the level is paid either way.  Nothing is ever evicted.

    Parameters
    ----------
    wealth : float, default=0.5
        Wealth at the start, 0 < wealth <= 1.
    payout : float, default=0.5
        Wealth earned by a kept column, 0 < payout <= 1.
    p_value : {"t", "likelihood_ratio"}, default="t"
        "t" is the exact test of a coefficient.  "likelihood_ratio" is ``exp(-z^2 / 2)``, which the
        authors' toolbox calls a p-value: three to five times larger, so more cautious; the intercept
        then counts as the first candidate, as it does there.
    model : {"linear", "logistic"}, default="linear"
        What the columns are to explain y by.  "logistic" is for two classes; "t" is then the score test of
        a coefficient, given the columns in the model, and z its root.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is; two classes count as 0 and 1.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run early.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    wealth_ : what is left to spend
    ledger_ : every decision; the statistic is the signed t (or z) of the column's coefficient
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    The defaults are the papers', and generous: with wealth and payout of 0.5 up to a quarter of the kept
    columns may be junk.  With both at 0.05 the expected share stays near 5 %.

    Deviations: an explicit intercept (the toolbox takes column 1 for it, so that one all-zero column makes
    every later p-value NaN; the reported failure on sparse data is this); a column inside the span of the
    model is rejected as collinear instead of inverting a singular matrix; and once the model fits exactly,
    what is left is rounding and nothing more is accepted.  Two surveys print "added if the p-value is
    greater": it is smaller, as in their own pseudo-code.  Without any success the wealth after n columns is
    ``wealth * binomial(2n, n) / 4^n``.

    The logistic model is fitted anew when a column joins, and tested at that fit.  A coefficient that would
    be infinite, because a column never is non-zero in one of the classes, is held finite by a penalty of
    0.0000005 times the variance of the linear predictor.  Once the model separates the classes it fits
    exactly, and as above nothing more is accepted.

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

    _traits: ClassVar[Traits] = Traits(tasks=frozenset({Task.BINARY, Task.REGRESSION}))
    _elsewhere: ClassVar[str] = (
        "say task='regression' if it is a quantity and the model is linear, use SAOLA, or offer the columns "
        "once for each class against the rest"
    )
    _caches: ClassVar[frozenset[str]] = frozenset({"_bar_"})

    def __init__(
        self,
        wealth: float = 0.5,
        payout: float = 0.5,
        p_value: str = "t",
        model: str = "linear",
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.wealth = wealth
        self.payout = payout
        self.p_value = p_value
        self.model = model
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each kind of p-value, and the logistic model."""
        for p_value in P_VALUES:
            yield cls(p_value=p_value)
        yield cls(model="logistic")

    @property
    def traits(self) -> Traits:
        """What the selector can do: a logistic model is for two classes."""
        return LOGISTIC if self.model == "logistic" else self._traits

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_number("wealth", self.wealth, low=0, high=1, open_low=True)
        check_number("payout", self.payout, low=0, high=1, open_low=True)
        check_choice("p_value", self.p_value, P_VALUES)
        check_choice("model", self.model, MODELS)
        numbers = np.asarray(y == np.unique(y)[1] if self.task_ == Task.BINARY else y, np.float64)
        self._model_: OrthonormalModel | LogisticModel = (
            LogisticModel(numbers) if self.model == "logistic" else OrthonormalModel(numbers)
        )
        self.wealth_ = float(self.wealth)
        self._tests_ = 1 if self.p_value == "likelihood_ratio" else 0
        self._bar_ = NO_BAR

    def _selected(self) -> IntArray:
        return self._model_.features

    # ---------------------------------------------------------------- one block

    def _offer(self, block: ColumnBlock) -> Settled:
        self._bar_ = NO_BAR
        return offer_stepwise(self._model_, block.X, self.n_features_in_, self._try)

    def _try(self, gain: FloatArray, *_: Any) -> Tried:
        """Test columns until one is accepted; without a success the wealth is a cumulative product."""
        tests = self._tests_ + 1 + np.arange(len(gain))
        wealth = self.wealth_ * np.concatenate([[1.0], np.cumprod(1 - 0.5 / tests)])
        strength = self._strength(gain)
        hit = self._first_below(strength, wealth[:-1] / (2 * tests))
        done = len(gain) if hit < 0 else hit + 1
        self._tests_ += done
        self.wealth_ = float(wealth[done]) + (self.payout if hit >= 0 else 0.0)
        return Tried(np.sqrt(strength[:done]), self._p(strength[:done]), accepted=hit >= 0)

    # ---------------------------------------------------------------- the test

    def _strength(self, gain: FloatArray) -> FloatArray:
        """Return the square of t, or of z."""
        model = self._model_
        if isinstance(model, LogisticModel):
            return gain
        return model.z_squared(gain) if self._by_ratio else model.f_statistic(gain)

    @property
    def _by_ratio(self) -> bool:
        return self.p_value == "likelihood_ratio"

    def _p(self, strength: Any) -> Any:
        if self._by_ratio:
            return np.exp(-strength / 2)
        if isinstance(self._model_, LogisticModel):
            return 2 * ndtr(-np.sqrt(strength))
        return self._model_.p_value(strength)

    def _least_strength(self, level: float) -> float:
        """Return a strength that every p-value below the level exceeds (a hair less, for rounding)."""
        if self._by_ratio:
            exact = -2 * math.log(level)
        elif isinstance(self._model_, LogisticModel):
            exact = float(ndtri(level / 2)) ** 2
        else:
            freedom = max(self._model_.freedom, 1)
            inside = float(betaincinv(freedom / 2, 0.5, level))  # freedom / (freedom + F)
            exact = freedom * (1 - inside) / max(inside, 1e-300)
        return exact * (1 - 1e-9)

    def _first_below(self, strength: FloatArray, level: FloatArray) -> int:
        """Return the position of the first p-value below its level, or -1.

        Levels fall along the block, so the first one gives a condition that few columns meet.
        """
        few = np.flatnonzero(strength > self._least_strength(float(level[0])))
        hits = few[self._p(strength[few]) < level[few]]
        return int(hits[0]) if len(hits) else -1

    def _offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        model = self._model_
        if isinstance(model, LogisticModel) or model.obstacle is not None:
            return None
        ss, inside, dot = linear.project_one(x, model.basis, model.size, model.residual)
        outside = ss - inside
        if not (0.0 < ss < math.inf and outside > COLLINEAR * ss):
            return None  # constant, collinear or not finite: the block path says which
        level = self.wealth_ / (2 * (self._tests_ + 1))
        if level < 0.5 * self._bar_[0]:
            # levels only fall until the next success: a bar for a higher level may be low, never too high
            self._bar_ = (level, self._least_strength(level))
        drop, rss, freedom = dot * dot / outside, model.rss, model.freedom
        by_ratio = self._by_ratio
        strength = drop * (model.n / rss) if by_ratio else drop * freedom / max(rss - drop, 1e-15 * rss)
        if strength > self._bar_[1]:
            return None
        self._tests_ += 1
        self.wealth_ -= level
        p = np.exp(-strength / 2) if by_ratio else fdtrc(1, freedom, strength)
        return Reason.IRRELEVANT, math.copysign(math.sqrt(strength), dot), float(p)

    def _restored(self) -> None:
        super()._restored()
        self._bar_ = NO_BAR
