"""Online substitution: a model of k columns, in which a new column may replace the weakest one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve.base import ColumnSelector, Stop
from streamsieve.base.fitted import fitted_property
from streamsieve.columns.models.multi_pass import MultiPass
from streamsieve.columns.models.substitution import LOSSES, SubstitutionConfig, SubstitutionModel
from streamsieve.decisions import Outcome
from streamsieve.dependence.target import numeric_target
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import ColumnBlock, FloatArray, Statistic, Task, Traits
from streamsieve.state import Choice, Float, Int, Nested

LOGISTIC = Traits(tasks=frozenset({Task.BINARY}), size_parameter="k")
#: Default of ``refresh``, times k.
REFRESH = 4


class UncheckedBlock(ColumnBlock):
    """A block whose values have not been checked yet."""


class OnlineSubstitution(MultiPass, ColumnSelector):
    """Online substitution: keep the k columns of largest coefficients in a common model.

    A newcomer gets the coefficient that lowers the loss most.  If the model is full, it replaces the column
    of smallest coefficient, provided that its own is larger.  Periodically all coefficients take a step
    toward their joint minimum.  There is no penalty to choose.

    Parameters
    ----------
    k : int, default=50
        Maximum number of columns to keep, at least 1.
    loss : {"auto", "squared", "logistic"}, default="auto"
        "auto" is squared for numbers and logistic for two classes; "squared" takes those as 0 and 1.
    refresh : int or None, default=None
        Number of arrivals between two rounds of steps of all coefficients, the paper's m, at least 1.  With 1
        there is a round at every arrival, which costs as much as measuring ``k`` columns; small values
        help where columns are correlated.  If None, 4 k.
    step_size : float, default=1.0
        Length of a step, as a fraction of the way to the minimum along its column, in (0, 1]; the paper's
        learning rate.
    sweeps : int or None, default=1
        Number of passes of ``fit`` over the columns.  If None, until a pass changes nothing, 1,000 at most.
        A second pass finds columns that arrived before those they need.
    n_jobs : int or None, default=None
        Number of threads; None means 1, and -1 one per processor.  With more than one, columns are measured
        before the preceding ones are decided: the paper's asynchronous variant.  Columns of fewer than 65,536
        values are measured by one thread.
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
    coef_ : one coefficient per column in the units of the data, 0 for columns that are not kept
    intercept_ : the intercept
    n_sweeps_ : number of passes of ``fit`` over the columns
    ledger_ : every decision; the statistic is the coefficient at that moment, of the column at unit variance
        (as a numeric target is).  "outscored" is a column whose coefficient was smaller than all those kept;
        for an evicted one ``by`` is the newcomer.  There are no p-values
    n_features_in_ : number of columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** A newcomer x has the coefficient ``x'r / x'x`` with the residual r. If the model has k
    columns, it replaces the one of smallest coefficient (columns of unit variance) if its own is larger.

    **When it fails.** With few rows, or many correlated columns, the first columns explain everything and
    stay. The model is linear, and there is no test: k columns are kept from pure noise, too.

    Of equal coefficients the column that arrived last leaves.  A column whose coefficient would be 0, such as
    a copy of a kept one whose coefficient has converged, does not enter even if the model is not full.  For
    orthogonal columns the result is the ``k`` columns of largest correlation with y.

    With few rows the first columns explain y nearly as well as any others could, and little is left for later
    ones: on data of far more columns than rows the selection consists of what came first.

    Deviations from the paper: there all coefficients in the model take a step of 1 / m at every arrival; here
    they take a whole step once in m arrivals, each from the residual that the previous one left.  The mean
    move is the same, but the steps need no estimate of the largest eigenvalue and cost m times less.  The
    newcomer's coefficient is the minimum along its column, however correlated the columns in the model are;
    with one learning rate for both, as in the paper, newcomers are at a disadvantage among correlated
    columns.  One survey prints the newcomer's coefficient with the wrong sign.  When no coefficient moves by
    1e-9, all of them rest until the next substitution.

    With several threads a column is measured with a residual that lacks at most the last eight columns per
    thread, and decisions are taken in order.  On well-conditioned columns the selection is that of one
    thread; where coefficients are close to each other it may differ between runs.

    References
    ----------
    Yang, Fujimaki, Kusumura, Liu: Online feature selection: a limited-memory substitution algorithm and its
    asynchronous parallel variation, KDD 2016.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 50))
    >>> y = X[:, 7] - 2 * X[:, 30] + rng.normal(size=200)
    >>> sieve = ss.OnlineSubstitution(k=2).fit(X, y)
    >>> sieve.selected_, sieve.coef_[[7, 30]].round(1)
    (array([ 7, 30]), array([ 1.1, -2.2]))
    """

    _traits: ClassVar[Traits] = Traits(tasks=frozenset({Task.BINARY, Task.REGRESSION}), size_parameter="k")
    _elsewhere: ClassVar[str] = (
        "say task='regression' if it is a quantity, use Grafting, or offer the columns once for each class "
        "against the rest"
    )

    _statistic = Statistic("coefficient")
    parameters = {
        "k": Int(1, 2**31 - 1),
        "loss": Choice("auto", *LOSSES),
        "refresh": Int(1, 2**31 - 1, optional=True),
        "step_size": Float(0, 1, open_low=True),
        "sweeps": Int(1, optional=True),
        "n_jobs": Int(-1, optional=True),
    }
    _process_: SubstitutionModel
    fields = {"_process_": Nested(SubstitutionModel, shares=("rows",)), "n_sweeps_": Int(1)}

    def __init__(
        self,
        k: int = 50,
        *,
        loss: str = "auto",
        refresh: int | None = None,
        step_size: float = 1.0,
        sweeps: int | None = 1,
        n_jobs: int | None = None,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.k = k
        self.loss = loss
        self.refresh = refresh
        self.step_size = step_size
        self.sweeps = sweeps
        self.n_jobs = n_jobs
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield each loss, a round of steps at every arrival, and threads."""
        yield cls(k=5)
        yield cls(k=3, loss="squared", refresh=1, step_size=0.5)
        yield cls(k=6, loss="logistic", refresh=2, n_jobs=2)

    @property
    def traits(self) -> Traits:
        """Capabilities of the selector: the logistic loss is for two classes."""
        return LOGISTIC if self.loss == "logistic" else self._traits

    def _check_together(self) -> None:
        if self.n_jobs == 0:
            raise ParameterError("n_jobs must be -1 (all processors), None or at least 1; got 0")

    def _compose(self, y: npt.NDArray[Any], task: Task) -> SubstitutionModel:
        loss = "logistic" if task is Task.BINARY and self.loss != "squared" else "squared"
        refresh = int(self.refresh or REFRESH * self.k)
        config = SubstitutionConfig(int(self.k), refresh, float(self.step_size))
        return SubstitutionModel(loss, numeric_target(y, task), config)

    def _checked(self, X: Any, names: Sequence[str] | None) -> ColumnBlock:
        # checking many columns costs as much as measuring them, which finds bad values too; but with a
        # stopping rule a block is offered in pieces, and could not be rolled back
        plain = type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.shape[1] > 0
        fits = plain and X.shape[0] == self._n_rows and (names is None or len(names) == X.shape[1])
        if fits and self.stop is None and not hasattr(self, "_holdout_"):
            return UncheckedBlock(X, None if names is None else tuple(names))
        return super()._checked(X, names)

    def _offer(self, block: ColumnBlock) -> Outcome:
        return self._settle(block, self.n_features_in_)

    def _settle(self, block: ColumnBlock, start: int) -> Outcome:
        jobs = self.n_jobs or 1
        n_threads = jobs if jobs > 0 else os.cpu_count() or 1
        checked = not isinstance(block, UncheckedBlock)
        return self._process_.offer(block, start, n_threads, checked=checked)

    @fitted_property
    def coef_(self) -> FloatArray:
        """One coefficient per column."""
        return self._process_.coefficients(self.n_features_in_)

    @fitted_property
    def intercept_(self) -> float:
        """The intercept."""
        return self._process_.intercept()
