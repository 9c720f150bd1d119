"""Information-investing: a column must save more bits than it costs to say that it is there."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_number
from streamsieve.base import ColumnSelector, Stop
from streamsieve.columns._orthonormal import OrthonormalModel
from streamsieve.columns._stepwise import Tried, offer_stepwise
from streamsieve.decisions import Settled
from streamsieve.protocols import BoolArray, ColumnBlock, FloatArray, IntArray, Task, Traits


class InformationInvesting(ColumnSelector):
    """Keep columns that shorten the description of the target, spending bits that every success earns.

    Experimental: the published description leaves details open, see Notes.

    A column that joins a linear model lowers the bits it takes to describe y by ``n/2 log2(RSS / RSS_new)``.
    It costs bits to say that this column joins (``-log2`` of a bid, ``wealth / (2 i)`` for column i) and what
    its coefficient is.  If more than ``payout`` bits are left over, it joins and ``payout`` is earned; else
    the bid is lost.  Nothing is ever evicted.

    Parameters
    ----------
    wealth : float, default=0.5
        Wealth at the start, 0 < wealth <= 1.
    payout : float, default=0.5
        Bits that a column has to save, and wealth it earns, 0 < payout <= 1.
    coefficient_bits : float or None, default=2.0
        What it takes to write down a coefficient, at least 0; None is half of ``log2 n``, as in BIC.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is; two classes count as 0 and 1.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run early.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    wealth_ : what is left to bid
    ledger_ : every decision; the statistic is the bits saved after all costs, there are no p-values
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    A column that joins does not lose its bid, because the bid is among the costs it has paid.  A column
    inside the span of the model saves nothing; once the model fits exactly (a residual below 1e-10 of the
    target's variance) nothing more is accepted, and a column that brings it there counts as leaving that
    much.

    References
    ----------
    Zhou, Foster, Stine, Ungar: Streamwise feature selection, JMLR 2006.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 50))
    >>> y = X[:, 7] - 2 * X[:, 30] + rng.normal(size=200)
    >>> ss.InformationInvesting().fit(X, y).selected_
    array([ 7, 30])
    """

    _traits: ClassVar[Traits] = Traits(tasks=frozenset({Task.BINARY, Task.REGRESSION}))
    _elsewhere: ClassVar[str] = (
        "say task='regression' if it is a quantity, use SAOLA, or offer the columns once for each class "
        "against the rest"
    )

    def __init__(
        self,
        wealth: float = 0.5,
        payout: float = 0.5,
        coefficient_bits: float | None = 2.0,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.wealth = wealth
        self.payout = payout
        self.coefficient_bits = coefficient_bits
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Both prices of a coefficient."""
        yield cls()
        yield cls(coefficient_bits=None)

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_number("wealth", self.wealth, low=0, high=1, open_low=True)
        check_number("payout", self.payout, low=0, high=1, open_low=True)
        if self.coefficient_bits is not None:
            check_number("coefficient_bits", self.coefficient_bits, low=0)
        numbers = y == np.unique(y)[1] if self.task_ == Task.BINARY else y
        self._model_ = OrthonormalModel(np.asarray(numbers, np.float64))
        self.wealth_ = float(self.wealth)

    def _selected(self) -> IntArray:
        return self._model_.features

    def _offer(self, block: ColumnBlock) -> Settled:
        return offer_stepwise(self._model_, block.X, self.n_features_in_, self._try, signed=False)

    def _try(self, drop: FloatArray, _: BoolArray, first: int) -> Tried:
        """Test columns until one is accepted; without a success the wealth is a cumulative product."""
        model = self._model_
        i = first + 1 + np.arange(len(drop))
        wealth = self.wealth_ * np.concatenate([[1.0], np.cumprod(1 - 0.5 / i)])
        price = math.log2(model.n) / 2 if self.coefficient_bits is None else self.coefficient_bits
        saved = model.likelihood_gain(drop) / (2 * math.log(2)) + np.log2(wealth[:-1] / (2 * i)) - price
        hits = np.flatnonzero(saved > self.payout)
        done = int(hits[0]) + 1 if len(hits) else len(drop)
        # the bid of a success is not lost
        self.wealth_ = float(wealth[done - 1]) + self.payout if len(hits) else float(wealth[done])
        return Tried(saved[:done], None, accepted=len(hits) > 0)
