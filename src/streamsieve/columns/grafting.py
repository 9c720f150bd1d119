"""Grafting: columns join a penalised model while its gradient along them is steep enough."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from streamsieve._parameters import check_choice, check_number
from streamsieve.base import Stop
from streamsieve.columns._grafting_model import LOSSES, GraftedModel, Penalty
from streamsieve.columns._model_columns import Offered
from streamsieve.columns._sweeps import SweepingSelector
from streamsieve.decisions import Decisions, Settled
from streamsieve.protocols import CLASSIFICATION, ColumnBlock, FloatArray, Reason, Task, Traits

_OF_LOSS = {
    "squared": Traits(tasks=frozenset({Task.BINARY, Task.REGRESSION})),
    "logistic": Traits(tasks=frozenset({Task.BINARY})),
    "multinomial": Traits(tasks=CLASSIFICATION),
}


class Grafting(SweepingSelector[GraftedModel]):
    """Keep the columns of a lasso, elastic net or sparse logistic model that grows as they arrive.

    The model minimises the mean loss plus ``penalty`` times the absolute coefficients.  A column joins if the
    gradient of the mean loss along it exceeds the penalty, that is if any coefficient for it would pay.  Then
    all coefficients are fitted again, and columns whose coefficient became 0 leave.

    Parameters
    ----------
    penalty : float, default=0.15
        Price of a coefficient, above 0; ``alpha`` of scikit-learn's ``Lasso`` and ``ElasticNet``, and
        ``1 / (n C)`` of its ``LogisticRegression``.  At the start the gradient along a standardised column is
        its correlation with y times the deviation of y, so for two classes 0.5 at most.  The default then
        keeps nothing if no column correlates with them by 0.3.
    loss : {"auto", "squared", "logistic", "multinomial"}, default="auto"
        "auto" is squared for numbers, logistic for two classes and multinomial for more.  "squared" takes two
        classes as 0 and 1; "multinomial" is "logistic" for two.
    l1_ratio : float, default=1.0
        Share of the penalty on absolute coefficients, 0 < l1_ratio <= 1; the rest is on half their squares.
    standardise : bool, default=True
        Whether coefficients are those of columns at unit variance where they are penalised.  If not, a column
        in small units costs more than one in large units.
    sweeps : int or None, default=1
        How often ``fit`` goes over the columns; None is until a sweep changes nothing, 1,000 times at most.
        Then the model is that of scikit-learn, and no longer depends on the order of columns.
    tol : float, default=1e-6
        Share of the penalty by which a gradient must exceed it, 1e-9 to 0.1.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is; "auto" takes fractional numbers for regression and everything else for labels.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run early.

    Attributes
    ----------
    selected_ : arrival numbers of the columns in the model
    coef_ : one coefficient a column in the units of the data, 0 for columns not in the model.  For a loss of
        classes one row, which speaks for the second label, or one row a label
    intercept_ : a number, or one for each row of ``coef_``
    n_sweeps_ : how often ``fit`` went over the columns
    ledger_ : every decision; the statistic is the gradient of minus the mean loss along the column at unit
        variance (the steepest over classes), so its sign is that of the coefficient.  For an evicted
        column it is what its leaving leaves, and ``by`` is the column that joined.  There are no p-values
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    After every step the model is at its minimum over the columns it holds: the gradient along each of them is
    the penalty, and no column that was just rejected exceeds it.  A rejected or evicted column can come back
    only if it is offered again, which a stream does not do; so one pass is close to the lasso, not equal to
    it.  The intercept has no penalty.  A copy of a column in the model has the penalty for a gradient, and
    stays out.  If a model cannot be fitted exactly, as for classes that columns tell apart without an error
    and next to no penalty, a ``ConvergenceWarning`` says so.

    Every column that joins costs a fit of all those in the model.  If these become hundreds, a solver that
    has the whole matrix is faster.

    Deviations from the paper: columns of a block are judged in order of arrival, not the steepest first, so
    that the size of blocks never matters; the loss is minimised by Newton's method and coordinate descent
    instead of conjugate gradients.

    References
    ----------
    Perkins, Theiler: Online feature selection using grafting, ICML 2003.  Perkins, Lacker, Theiler: Grafting:
    fast, incremental feature selection by gradient descent in function space, JMLR 2003.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 50))
    >>> y = X[:, 7] - 2 * X[:, 30] + rng.normal(size=200)
    >>> sieve = ss.Grafting(penalty=0.3, sweeps=None).fit(X, y)
    >>> sieve.selected_, sieve.coef_[[7, 30]].round(1)
    (array([ 7, 30]), array([ 0.8, -1.9]))
    """

    _kind: ClassVar[type] = GraftedModel
    _elsewhere: ClassVar[str] = (
        "loss='squared' is for numbers and two classes, 'logistic' for two classes, 'multinomial' for any"
    )

    def __init__(
        self,
        penalty: float = 0.15,
        loss: str = "auto",
        l1_ratio: float = 1.0,
        standardise: bool = True,  # noqa: FBT001, FBT002 - a parameter of an estimator
        sweeps: int | None = 1,
        tol: float = 1e-6,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.l1_ratio = l1_ratio
        self.standardise = standardise
        self.sweeps = sweeps
        self.tol = tol
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each loss, an elastic net, and columns as they are."""
        yield cls()
        yield cls(loss="squared", l1_ratio=0.5, penalty=0.05)
        yield cls(loss="logistic", penalty=0.02, standardise=False)
        yield cls(loss="multinomial", penalty=0.05)

    @property
    def traits(self) -> Traits:
        """What the selector can do with its loss."""
        return _OF_LOSS.get(self.loss, self._traits)

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_number("penalty", self.penalty, low=0, open_low=True)
        check_choice("loss", self.loss, ("auto", *LOSSES))
        check_number("l1_ratio", self.l1_ratio, low=0, high=1, open_low=True)
        check_choice("standardise", self.standardise, (True, False))
        check_number("tol", self.tol, low=1e-9, high=0.1)
        self._check_sweeps()
        several = self.task_ == Task.MULTICLASS
        loss = self.loss
        if self.task_ == Task.REGRESSION:
            loss = "squared"
        elif loss != "squared":
            loss = "multinomial" if several else "logistic"
        codes = y if self.task_ == Task.REGRESSION else np.unique(y, return_inverse=True)[1]
        penalty = Penalty(
            self.penalty * self.l1_ratio, self.penalty * (1 - self.l1_ratio), self.standardise, self.tol
        )
        self._model_ = GraftedModel(loss, codes.astype(np.float64), penalty)

    def _offer(self, block: ColumnBlock) -> Settled:
        reason, statistic, evictions = self._judge(block.X, self.n_features_in_)
        return Settled(self.n_features_in_, reason, statistic, evictions=evictions)

    def _judge(self, X: Any, start: int) -> Offered:
        return self._model_.offer(X, start)

    def _offer_block(self, block: ColumnBlock) -> Decisions:
        verdicts = super()._offer_block(block)
        self._say_if_short()
        return verdicts

    def _sweep(self, blocks: list[ColumnBlock]) -> bool:
        changed = super()._sweep(blocks)
        self._say_if_short()
        return changed

    def _say_if_short(self) -> None:
        """Warn if a model did not get to its minimum; now that all is consistent, this may raise."""
        if self._model_.fell_short:
            self._model_.fell_short = False
            warnings.warn(
                f"Grafting could not fit its model exactly at penalty={self.penalty:g}: chances of classes "
                "are 0 or 1 to the last digit, or columns nearly depend on each other; raise the penalty",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _offer_one(self, x: FloatArray) -> tuple[Reason, float, float] | None:
        gradient = self._model_.too_flat(x)
        return None if gradient is None else (Reason.IRRELEVANT, gradient, math.nan)

    @property
    def coef_(self) -> FloatArray:
        """One coefficient a column; for classes one row, or one a class."""
        coefficients = self._model("coef_").coefficients(self.n_features_in_)
        return coefficients[0] if self._model_.loss == "squared" else coefficients

    @property
    def intercept_(self) -> float | FloatArray:
        """The constant; for classes one for each row of ``coef_``."""
        intercepts = self._model("intercept_").intercepts()
        return float(intercepts[0]) if self._model_.loss == "squared" else intercepts
