"""Grafting: columns join an L1-penalized model while the gradient along them exceeds the penalty."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from streamsieve._caller import warn
from streamsieve.base import ColumnSelector, Stop
from streamsieve.base.fitted import fitted_property
from streamsieve.columns.models.lasso import LassoModel
from streamsieve.columns.models.losses import LOSSES, LassoConfig
from streamsieve.columns.models.multi_pass import MultiPass
from streamsieve.decisions import Decisions
from streamsieve.dependence.target import numeric_target, standardized_target
from streamsieve.exceptions import ParameterError
from streamsieve.independence.correlation_p_values import critical_given
from streamsieve.protocols import CLASSIFICATION, ColumnBlock, FloatArray, Statistic, Task, Traits
from streamsieve.state import Bool, Choice, Float, FloatOr, Int, Nested

#: Significance level of the correlation at which "auto" lets a first column join.
AUTOMATIC_LEVEL = 0.001

_OF_LOSS = {
    "squared": Traits(tasks=frozenset({Task.BINARY, Task.REGRESSION})),
    "logistic": Traits(tasks=frozenset({Task.BINARY})),
    "multinomial": Traits(tasks=CLASSIFICATION),
}


class Grafting(MultiPass, ColumnSelector):
    """Grafting: lasso, elastic net or sparse logistic regression that grows with a stream of columns.

    The model minimizes the mean loss plus ``l1`` times the absolute coefficients.  A column joins if the
    gradient of the mean loss along it exceeds the penalty, that is if a non-zero coefficient would lower the
    objective.  Then all coefficients are fitted again, and columns whose coefficient became 0 leave.

    Parameters
    ----------
    l1 : float or "auto", default="auto"
        Strength of the penalty, above 0; ``alpha`` of scikit-learn's ``Lasso`` and ``ElasticNet``, and
        ``1 / (n C)`` of its ``LogisticRegression``.  At the start the gradient along a standardized column is
        its correlation with y times the standard deviation of y (of the most balanced class against all
        others).  "auto" is the gradient of a correlation that is significant at 0.001 over n rows, so that it
        adapts to the number of rows and to the units of y, and about one of 1,000 columns of noise joins an
        empty model.  It is for ``standardize=True``; ``l1_`` is the number.
    loss : {"auto", "squared", "logistic", "multinomial"}, default="auto"
        "auto" is squared for numbers, logistic for two classes and multinomial for more.  "squared" takes two
        classes as 0 and 1; "multinomial" is the same as "logistic" for two classes.
    l1_ratio : float, default=1.0
        Fraction of the penalty that is L1, in (0, 1]; the rest is L2, on half the squared coefficients.
    standardize : bool, default=True
        Whether coefficients are penalized at unit variance of their columns.  If False, a column in small
        units is penalized more than one in large units.
    sweeps : int or None, default=1
        Number of passes of ``fit`` over the columns.  If None, until a pass changes nothing, 1,000 at most;
        then the model is that of scikit-learn, and does not depend on the order of columns.
    tol : float, default=1e-6
        Fraction of the penalty by which a gradient must exceed it, in [1e-9, 0.1].
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record.
    stop : Stop or None, default=None
        Early-stopping rules.

    Attributes
    ----------
    selected_ : arrival numbers of the columns in the model
    coef_ : one coefficient per column in the units of the data, 0 for columns not in the model.  For a
        classification loss one row, for the second label, or one row per label
    intercept_ : a number, or one for each row of ``coef_``
    l1_ : strength of the penalty
    n_sweeps_ : number of passes of ``fit`` over the columns
    ledger_ : every decision; the statistic is the gradient of minus the mean loss along the column at unit
        variance (the largest over classes), so its sign is that of the coefficient.  For an evicted column it
        is the gradient after it has left, and ``by`` is the column that joined.  There are no p-values
    n_features_in_ : number of columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** The model minimizes ``mean loss + l1 (l1_ratio |w|_1 + (1 - l1_ratio) |w|_2^2 / 2)``. A
    column joins if the gradient of the mean loss along it exceeds ``l1 l1_ratio`` in size.

    **When it fails.** The penalty must be chosen, and means something only for standardized columns. Of
    correlated columns those that came first hold the model; one pass is close to the lasso but not equal to
    it. Effects that are not linear are not seen.

    After every step the model is at its minimum over the columns it holds: the gradient along each of them
    equals the penalty, and no column that was just rejected exceeds it.  A rejected or evicted column can
    return only if it is offered again, which a stream does not do; so one pass is close to the lasso, not
    equal to it.  The intercept is not penalized.  The gradient along a copy of a column in the model equals
    the penalty, so the copy stays out.  If a model cannot be fitted accurately, as for classes that are
    separable and a very small penalty, a ``ConvergenceWarning`` is raised.

    Every column that joins costs a fit of all those in the model.  For hundreds of them a solver that has the
    whole matrix is faster.

    Deviations from the paper: columns of a block are judged in order of arrival, not by decreasing gradient,
    so that the result does not depend on the size of blocks; the loss is minimized by Newton's method and
    coordinate descent instead of conjugate gradients.

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
    >>> sieve = ss.Grafting(l1=0.3, sweeps=None).fit(X, y)
    >>> sieve.selected_, sieve.coef_[[7, 30]].round(1)
    (array([ 7, 30]), array([ 0.8, -1.9]))
    """

    _elsewhere: ClassVar[str] = (
        "loss='squared' is for numbers and two classes, 'logistic' for two classes, 'multinomial' for any"
    )

    _statistic = Statistic("gradient")
    parameters = {
        "l1": FloatOr("auto", 0, open_low=True),
        "loss": Choice("auto", *LOSSES),
        "l1_ratio": Float(0, 1, open_low=True),
        "standardize": Bool(),
        "sweeps": Int(1, optional=True),
        "tol": Float(1e-9, 0.1),
    }
    _process_: LassoModel
    fields = {"_process_": Nested(LassoModel, shares=("rows",)), "n_sweeps_": Int(1)}

    def __init__(
        self,
        l1: float | str = "auto",
        *,
        loss: str = "auto",
        l1_ratio: float = 1.0,
        standardize: bool = True,
        sweeps: int | None = 1,
        tol: float = 1e-6,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.l1 = l1
        self.loss = loss
        self.l1_ratio = l1_ratio
        self.standardize = standardize
        self.sweeps = sweeps
        self.tol = tol
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield each loss, an elastic net, and columns that are not standardized."""
        yield cls()
        yield cls(loss="squared", l1_ratio=0.5, l1=0.05)
        yield cls(loss="logistic", l1=0.02, standardize=False)
        yield cls(loss="multinomial", l1=0.05)

    @property
    def traits(self) -> Traits:
        """What the selector can do with its loss."""
        return _OF_LOSS.get(self.loss, self._traits)

    def _compose(self, y: npt.NDArray[Any], task: Task) -> LassoModel:
        loss = self.loss
        if task is Task.REGRESSION:
            loss = "squared"
        elif loss != "squared":
            loss = "multinomial" if task is Task.MULTICLASS else "logistic"
        numbers = numeric_target(y, task)
        l1 = _automatic_l1(numbers, loss) if self.l1 == "auto" else float(self.l1)
        config = LassoConfig(l1 * self.l1_ratio, l1 * (1 - self.l1_ratio), self.standardize, self.tol)
        return LassoModel(loss, numbers, config)

    def _check_together(self) -> None:
        if self.l1 == "auto" and not self.standardize:
            raise ParameterError(
                "l1='auto' requires standardize=True, because it is a correlation: give a number in the "
                "units of the columns"
            )

    @fitted_property
    def l1_(self) -> float:
        """Strength of the penalty."""
        config = self._process_.config
        return float(config.l1 + config.l2)

    def _after_pass(self) -> None:
        self._warn_not_converged()

    def _offer_block(self, block: ColumnBlock) -> Decisions:
        decisions = super()._offer_block(block)
        self._warn_not_converged()
        return decisions

    def _warn_not_converged(self) -> None:
        """Emit ConvergenceWarning if the solver did not converge.

        Called when the state is consistent, since warnings may be errors.
        """
        if not self._process_.converged:
            self._process_.converged = True
            warn(
                f"Grafting could not fit its model accurately at l1={self.l1_:g}: probabilities of "
                "classes are numerically 0 or 1, or columns are nearly collinear; raise l1",
                ConvergenceWarning,
            )

    @fitted_property
    def coef_(self) -> FloatArray:
        """One coefficient per column; for classes one row, or one per class."""
        coefficients = self._process_.coefficients(self.n_features_in_)
        return coefficients[0] if self._process_.loss == "squared" else coefficients

    @fitted_property
    def intercept_(self) -> float | FloatArray:
        """The intercept; for classes one for each row of ``coef_``."""
        intercepts = self._process_.intercepts()
        return float(intercepts[0]) if self._process_.loss == "squared" else intercepts


def _automatic_l1(y: FloatArray, loss: str) -> float:
    """Return the gradient along a column whose correlation with the target is just significant."""
    n = len(y)
    spread = standardized_target(y)[1]
    if loss == "multinomial":
        share = np.bincount(y.astype(np.int64)) / n
        spread = float(np.sqrt(share * (1 - share)).max())
    critical = float(critical_given(AUTOMATIC_LEVEL, np.array(n - 2)))
    return spread * min(critical, 1.0)
