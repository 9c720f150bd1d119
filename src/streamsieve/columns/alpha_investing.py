"""Alpha-investing: test every column against the model so far, and pay for each test from a wealth."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import betaincinv, fdtrc

from streamsieve._kernels import linear
from streamsieve._parameters import check_choice, check_number
from streamsieve.base import ColumnSelector, Stop
from streamsieve.columns._orthonormal import OrthonormalModel
from streamsieve.independence._screen import screen, without_offsets
from streamsieve.protocols import ColumnBlock, FloatArray, IntArray, Reason, Task, Traits
from streamsieve.verdicts import REASON_CODE, Verdicts

P_VALUES = ("t", "likelihood_ratio")
#: Columns judged together: the products with the model are one matrix product, and stay in cache.
BLOCK = 1024
#: Share of a centred column outside the model below which it counts as inside: five digits are left.
COLLINEAR = 1e-10
#: A mean this many standard deviations from 0 costs more digits than the test of collinearity can spare.
FAR = 1e3
#: Before the first single column after a success: any level is lower.
NO_BAR = (math.inf, 0.0)

KEPT, CONSTANT, IRRELEVANT, COLLINEAR_CODE, EXACT_CODE, UNRELIABLE = (
    REASON_CODE[reason]
    for reason in (
        Reason.RELEVANT, Reason.CONSTANT, Reason.IRRELEVANT, Reason.COLLINEAR, Reason.EXACT_FIT,
        Reason.UNRELIABLE,
    )
)  # fmt: skip


class AlphaInvesting(ColumnSelector):
    """Keep columns that improve a linear model, spending a wealth that grows with every success.

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
        "say task='regression' if it is a quantity, use SAOLA, or offer the columns once for each class "
        "against the rest"
    )
    _caches: ClassVar[frozenset[str]] = frozenset({"_bar_"})

    def __init__(
        self,
        wealth: float = 0.5,
        payout: float = 0.5,
        p_value: str = "t",
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.wealth = wealth
        self.payout = payout
        self.p_value = p_value
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each kind of p-value."""
        for p_value in P_VALUES:
            yield cls(p_value=p_value)

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_number("wealth", self.wealth, low=0, high=1, open_low=True)
        check_number("payout", self.payout, low=0, high=1, open_low=True)
        check_choice("p_value", self.p_value, P_VALUES)
        numbers = y == np.unique(y)[1] if self.task_ == Task.BINARY else y
        self._model_ = OrthonormalModel(np.asarray(numbers, np.float64))
        self.wealth_ = float(self.wealth)
        self._tests_ = 1 if self.p_value == "likelihood_ratio" else 0
        self._bar_ = NO_BAR

    def _selected(self) -> IntArray:
        return self._model_.features

    # ---------------------------------------------------------------- one block

    def _offer(self, block: ColumnBlock) -> Verdicts:
        m = block.X.shape[1]
        whole = without_offsets(block.X) if sp.issparse(block.X) else block.X
        reason, statistic, p_value = np.empty(m, np.uint8), np.zeros(m), np.ones(m)
        for low in range(0, m, BLOCK):
            part = slice(low, min(low + BLOCK, m))
            X = whole if m <= BLOCK else _columns(whole, part)
            self._judge(X, self.n_features_in_ + low, reason[part], statistic[part], p_value[part])
        self._bar_ = NO_BAR
        return Verdicts(self.n_features_in_, reason, statistic, p_value)

    def _judge(
        self, X: Any, start: int, reason: npt.NDArray[np.uint8], statistic: FloatArray, p_value: FloatArray
    ) -> None:
        """Judge the columns of a small block in order.

        For a column x let u be its part outside the model.  With the residual r of y,
        ``u'r = x'r`` and ``|u|^2 = |x|^2 - |Q'x|^2``, and the residual sum of squares drops by
        ``(x'r)^2 / |u|^2``: u is never formed.  When a column joins, one product with the new basis vector
        repairs both numbers for the rest of the block.
        """
        model, m = self._model_, X.shape[1]
        mean, ss, dot = screen(X, model.residual)
        # Everything X meets below sums to 0, so centring matters only where offsets would eat digits.
        offset = not sp.issparse(X) and bool(np.any(np.abs(mean) * X.shape[0] ** 0.5 > FAR * np.sqrt(ss)))
        centred = X - mean if offset else X
        outside = ss - model.inside(centred)
        low = 0
        while low < m:
            tests = self._tests_ + 1 + np.arange(m - low)
            wealth = self.wealth_ * np.concatenate([[1.0], np.cumprod(1 - 0.5 / tests)])
            free = outside[low:] > COLLINEAR * ss[low:]
            drop = np.divide(dot[low:] ** 2, outside[low:], out=np.zeros(m - low), where=free)
            strength = self._strength(drop)
            hit = self._first_below(strength, wealth[:-1] / (2 * tests))
            done = m - low if hit < 0 else hit + 1
            part = slice(low, low + done)
            statistic[part] = np.copysign(np.sqrt(strength[:done]), dot[part])
            p_value[part] = self._p(strength[:done])
            reason[part] = self._reasons(ss[part], free[:done])
            self._tests_ += done
            self.wealth_ = float(wealth[done])
            if hit >= 0:
                kept = low + hit
                reason[kept] = KEPT
                self.wealth_ += self.payout
                basis, weight = model.add(_dense(centred, kept), start + kept)
                along = linear.products(centred, low + done, basis)
                outside[low + done :] -= along * along
                dot[low + done :] -= along * weight
            low += done

    def _reasons(self, ss: FloatArray, free: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
        """Why the columns of a stretch without success were rejected."""
        untestable = UNRELIABLE if self._freedom() <= 0 else IRRELEVANT
        code = EXACT_CODE if self._model_.fits_exactly else untestable
        reasons = np.full(len(ss), code, np.uint8)
        if code == IRRELEVANT:
            reasons[~free] = COLLINEAR_CODE
        reasons[ss == 0] = CONSTANT
        return reasons

    # ---------------------------------------------------------------- the test

    def _freedom(self) -> int:
        return self._model_.n - self._model_.size - 2

    def _strength(self, drop: FloatArray) -> FloatArray:
        """Return F (or the likelihood ratio's z^2) of a drop in the residual sum of squares."""
        rss = self._model_.rss
        if self._model_.fits_exactly or self._freedom() <= 0:
            return drop * 0.0
        if self.p_value == "likelihood_ratio":
            return drop * (self._model_.n / rss)
        return drop * self._freedom() / np.maximum(rss - drop, 1e-15 * rss)

    def _p(self, strength: Any) -> Any:
        if self.p_value == "likelihood_ratio":
            return np.exp(-strength / 2)
        return fdtrc(1, max(self._freedom(), 1), strength)

    def _least_strength(self, level: float) -> float:
        """Return a strength that every p-value below the level exceeds (a hair less, for rounding)."""
        if self.p_value == "likelihood_ratio":
            exact = -2 * math.log(level)
        else:
            freedom = max(self._freedom(), 1)
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
        model, freedom = self._model_, self._freedom()
        if freedom <= 0 or model.fits_exactly:
            return None
        ss, inside, dot = linear.project_one(x, model.basis, model.size, model.residual)
        outside = ss - inside
        if not (0.0 < ss < math.inf and outside > COLLINEAR * ss):
            return None  # constant, collinear or not finite: the block path says which
        level = self.wealth_ / (2 * (self._tests_ + 1))
        if level < 0.5 * self._bar_[0]:
            # levels only fall until the next success: a bar for a higher level may be low, never too high
            self._bar_ = (level, self._least_strength(level))
        drop, rss = dot * dot / outside, model.rss
        if self.p_value == "likelihood_ratio":
            strength = drop * (model.n / rss)
        else:
            strength = drop * freedom / max(rss - drop, 1e-15 * rss)
        if strength > self._bar_[1]:
            return None
        self._tests_ += 1
        self.wealth_ -= level
        return Reason.IRRELEVANT, math.copysign(math.sqrt(strength), dot), float(self._p(strength))

    def _restored(self) -> None:
        super()._restored()
        self._bar_ = NO_BAR


def _columns(X: Any, part: slice) -> Any:
    """Some columns of a block; for CSC without a copy."""
    if not sp.issparse(X):
        return X[:, part]
    low, high = X.indptr[part.start], X.indptr[part.stop]
    pieces = (X.data[low:high], X.indices[low:high], X.indptr[part.start : part.stop + 1] - low)
    return sp.csc_array(pieces, shape=(X.shape[0], part.stop - part.start))


def _dense(X: Any, j: int) -> FloatArray:
    if not sp.issparse(X):
        return np.array(X[:, j])
    column = np.zeros(X.shape[0])
    part = slice(X.indptr[j], X.indptr[j + 1])
    column[X.indices[part]] = X.data[part]
    return column
