"""Information-investing: a column must save more bits than it costs to encode that it is in the model."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve.base import ColumnSelector, Stop
from streamsieve.base.fitted import fitted_property
from streamsieve.columns.models.linear import LinearModel
from streamsieve.columns.models.stepwise import LEAST_LEFT, LEAST_WEALTH, Stepwise, Tested, Values
from streamsieve.dependence.target import numeric_target
from streamsieve.protocols import BoolArray, FloatArray, Statistic, Task, Traits
from streamsieve.state import Float, Nested


class InformationInvestor(Stepwise):
    """A wealth from which each column pays a bid, and which grows with every column that joins the model."""

    fields = {
        "model": Nested(LinearModel, shares=("rows",)),
        "wealth": Float(LEAST_LEFT, 2.0**54),
        "payout": Float(0, 1, open_low=True),
        "coefficient_bits": Float(0),
    }
    signed: ClassVar[bool] = False

    model: LinearModel

    def __init__(self, model: LinearModel, wealth: float, payout: float, coefficient_bits: float) -> None:
        self.model, self.wealth, self.payout = model, wealth, payout
        self.coefficient_bits = coefficient_bits

    def test(
        self, gain: FloatArray, testable: BoolArray, first: int, values: Values,  # noqa: ARG002
    ) -> Tested:  # fmt: skip
        """Test columns until one is accepted; until then the wealth is a cumulative product."""
        i = first + 1 + np.arange(len(gain))
        wealth = self.wealth * np.concatenate([[1.0], np.cumprod(1 - 0.5 / i)])
        bits = self.model.likelihood_gain(gain) / (2 * math.log(2))
        saved = bits + np.log2(wealth[:-1] / (2 * i)) - self.coefficient_bits
        hits = np.flatnonzero(saved > self.payout)
        done = int(hits[0]) + 1 if len(hits) else len(gain)
        # the bid of a success is not lost
        self.wealth = float(wealth[done - 1]) + self.payout if len(hits) else float(wealth[done])
        return saved[:done], None, len(hits) > 0


class InformationInvesting(ColumnSelector):
    """Information-investing: streamwise regression by minimum description length.

    Experimental: the published description leaves details open, see Notes.

    A column that joins a linear model shortens the code of y by ``n/2 log2(RSS / RSS_new)`` bits.  It costs
    bits to encode that this column joins (``-log2`` of a bid, ``wealth / (2 i)`` for column i) and the value
    of its coefficient.  If more than ``payout`` bits remain, the column joins and ``payout`` is earned;
    otherwise the bid is lost.  No column is ever evicted.

    Parameters
    ----------
    wealth : float, default=0.5
        Initial wealth, in [1e-100, 1].
    payout : float, default=0.5
        Bits that a column must save, and the wealth it earns, in (0, 1].
    coefficient_bits : float or None, default=2.0
        Bits that encode a coefficient, at least 0.  If None, half of ``log2 n``, as in BIC.
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
    ledger_ : every decision; the statistic is the number of bits saved after all costs, without p-values
    n_features_in_ : number of columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** A column joins if ``n/2 log2(RSS / RSS_new) + log2(wealth / (2 i)) - (bits of its
    coefficient) > payout``.

    **When it fails.** Columns late in a long stream of noise meet a wealth near 0. Columns never leave, the
    model is linear, and no false discovery rate is bounded.

    A column that joins does not lose its bid, because the bid is among the costs it has paid.  A column in
    the span of the model saves nothing.  Once the model fits exactly (a residual sum of squares below 1e-10
    of the target's), no further column is accepted, and a column that reaches such a fit is credited with a
    residual of that size.

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

    _traits: ClassVar[Traits] = Traits(tasks=frozenset({Task.BINARY, Task.REGRESSION}), grouped_rows=True)
    _elsewhere: ClassVar[str] = (
        "say task='regression' if it is a quantity, use SAOLA, or offer the columns once for each class "
        "against the rest"
    )

    _statistic = Statistic("bits saved")
    parameters = {
        "wealth": Float(LEAST_WEALTH, 1),
        "payout": Float(0, 1, open_low=True),
        "coefficient_bits": Float(0, optional=True),
    }
    _process_: InformationInvestor
    fields = {"_process_": Nested(InformationInvestor, shares=("rows",))}

    def __init__(
        self,
        wealth: float = 0.5,
        *,
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
        """Yield both costs of a coefficient."""
        yield cls()
        yield cls(coefficient_bits=None)

    def _compose(self, y: npt.NDArray[Any], task: Task) -> InformationInvestor:
        bits = math.log2(len(y)) / 2 if self.coefficient_bits is None else float(self.coefficient_bits)
        model = LinearModel(numeric_target(y, task))
        return InformationInvestor(model, float(self.wealth), float(self.payout), bits)

    @fitted_property
    def wealth_(self) -> float:
        """Current wealth."""
        return self._process_.wealth
