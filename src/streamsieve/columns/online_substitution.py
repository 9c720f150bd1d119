"""Online substitution: a budget of columns, in which a newcomer takes the place of the weakest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice, check_number
from streamsieve._validation import refuse_non_finite
from streamsieve.base import Stop
from streamsieve.columns._model_columns import Offered
from streamsieve.columns._substitution_model import LOSSES, Pace, SubstitutionModel
from streamsieve.columns._sweeps import SweepingSelector
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import ColumnBlock, FloatArray, Task, Traits
from streamsieve.verdicts import Verdicts

LOGISTIC = Traits(tasks=frozenset({Task.BINARY}), size_parameter="budget")
#: Arrivals in which every coefficient takes a step, for each column of the budget.
PACE = 4


class UncheckedBlock(ColumnBlock):
    """A block whose values nobody has looked at yet."""


class OnlineSubstitution(SweepingSelector[SubstitutionModel]):
    """Keep a fixed number of columns: those with the largest coefficients in a model that they share.

    A newcomer gets the coefficient that lowers the loss most.  If there is no room, it takes the place of the
    column with the smallest coefficient, provided that its own is larger.  Now and then the columns in the
    model take steps towards their common minimum.  There is no penalty to choose.

    Parameters
    ----------
    budget : int, default=50
        Most columns to keep, at least 1.
    loss : {"auto", "squared", "logistic"}, default="auto"
        "auto" is squared for numbers and logistic for two classes; "squared" takes those as 0 and 1.
    refresh : int or None, default=None
        All coefficients in the model take a step once in so many arrivals, the paper's m, at least 1.  With 1
        they do at every arrival, which costs as much as looking at ``budget`` columns; small values help
        where columns are correlated.  None is four times the budget.
    step : float, default=1.0
        How far a step goes towards the minimum along its column, 0 < step <= 1; the paper's learning rate.
    sweeps : int or None, default=1
        How often ``fit`` goes over the columns; None is until a sweep changes nothing, 1,000 times at most.
        A second one finds columns that came before those they need.
    n_jobs : int or None, default=None
        Threads; None is 1, and -1 is one for each processor.  With more than one, columns are measured ahead
        of the decisions on those just before them: the paper's asynchronous variant.  Columns of fewer than
        65,536 values are done by one thread.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is; "auto" takes fractional numbers for regression and everything else for labels.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run early.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    coef_ : one coefficient a column in the units of the data, 0 for columns that are not kept
    intercept_ : the constant
    n_sweeps_ : how often ``fit`` went over the columns
    ledger_ : every decision; the statistic is the coefficient at that moment, of the column at unit variance
        (and a numeric target, too).  "outscored" is a column whose coefficient was smaller than all those
        kept; for an evicted one ``by`` is the newcomer.  There are no p-values
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    Of equal coefficients the column that arrived last goes.  A column whose coefficient would be 0, as of a
    copy of a kept one that has come to rest, does not enter even if there is room.  For orthogonal columns
    the result is the ``budget`` columns of largest correlation with y.

    With few rows the first columns explain y nearly as well as any others could, and there is little left for
    those that come later: on data of far more columns than rows the selection is of what came first.

    Deviations from the paper: there all coefficients in the model take a step of 1 / m at every arrival; here
    they take a whole step once in m arrivals, each from the residual that the one before it left.  The mean
    move is the same, but the steps need no estimate of the largest eigenvalue and cost m times less.  The
    newcomer's coefficient is the minimum along its column, however correlated the columns in the model are;
    with one learning rate for both, as in the paper, newcomers come too short among correlated columns.  One
    survey prints the newcomer's coefficient with the wrong sign.  When no coefficient moves by 1e-9, all of
    them rest until the next substitution.

    With several threads a column is measured by a residual that misses at most the last eight columns for
    each thread, and decisions are taken in order.  On well-conditioned columns the selection is that
    of one thread; where coefficients are close to each other it may differ between runs.

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
    >>> sieve = ss.OnlineSubstitution(budget=2).fit(X, y)
    >>> sieve.selected_, sieve.coef_[[7, 30]].round(1)
    (array([ 7, 30]), array([ 1.1, -2.2]))
    """

    _traits: ClassVar[Traits] = Traits(
        tasks=frozenset({Task.BINARY, Task.REGRESSION}), size_parameter="budget"
    )
    _kind: ClassVar[type] = SubstitutionModel
    _elsewhere: ClassVar[str] = (
        "say task='regression' if it is a quantity, use Grafting, or offer the columns once for each class "
        "against the rest"
    )

    def __init__(
        self,
        budget: int = 50,
        loss: str = "auto",
        refresh: int | None = None,
        step: float = 1.0,
        sweeps: int | None = 1,
        n_jobs: int | None = None,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.budget = budget
        self.loss = loss
        self.refresh = refresh
        self.step = step
        self.sweeps = sweeps
        self.n_jobs = n_jobs
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each loss, coefficients that all move at every arrival, and threads."""
        yield cls(budget=5)
        yield cls(budget=3, loss="squared", refresh=1, step=0.5)
        yield cls(budget=6, loss="logistic", refresh=2, n_jobs=2)

    @property
    def traits(self) -> Traits:
        """What the selector can do: the logistic loss is for two classes."""
        return LOGISTIC if self.loss == "logistic" else self._traits

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_number("budget", self.budget, low=1, high=2**31 - 1, integer=True)
        check_choice("loss", self.loss, ("auto", *LOSSES))
        if self.refresh is not None:
            check_number("refresh", self.refresh, low=1, high=2**31 - 1, integer=True)
        check_number("step", self.step, low=0, high=1, open_low=True)
        self._threads()
        self._check_sweeps()
        numbers = y == np.unique(y)[1] if self.task_ == Task.BINARY else y
        loss = "logistic" if self.task_ == Task.BINARY and self.loss != "squared" else "squared"
        pace = Pace(int(self.budget), int(self.refresh or PACE * self.budget), float(self.step))
        self._model_ = SubstitutionModel(loss, np.asarray(numbers, np.float64), pace)

    def _threads(self) -> int:
        """Return how many threads to use."""
        if self.n_jobs is None:
            return 1
        check_number("n_jobs", self.n_jobs, low=-1, integer=True)
        if self.n_jobs == 0:
            raise ParameterError("n_jobs must be -1 (all processors), None or at least 1; got 0")
        return self.n_jobs if self.n_jobs > 0 else os.cpu_count() or 1

    def _checked(self, X: Any, names: Sequence[str] | None) -> ColumnBlock:
        # a pass over many columns costs as much as judging them, which finds values that are none, too; but
        # under a rule to stop a block is not offered as a whole, and could not be taken back
        plain = type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.shape[1] > 0
        fits = plain and X.shape[0] == self.n_rows_ and (names is None or len(names) == X.shape[1])
        if fits and self.stop is None:
            return UncheckedBlock(X, None if names is None else tuple(names))
        return super()._checked(X, names)

    def _offer(self, block: ColumnBlock) -> Verdicts:
        start = self.n_features_in_
        offered = None
        if isinstance(block, UncheckedBlock):
            offered = self._model_.offer(block.X, start, self._threads(), checked=False)
            if offered is None:
                refuse_non_finite(block.X, block.names)
        reason, statistic, evictions = offered or self._judge(block.X, start)
        return Verdicts(start, reason, statistic, evictions=evictions)

    def _judge(self, X: Any, start: int) -> Offered:
        offered = self._model_.offer(X, start, self._threads())
        if offered is None:
            raise AssertionError("checked columns cannot be suspicious")
        return offered

    @property
    def coef_(self) -> FloatArray:
        """One coefficient a column."""
        return self._model("coef_").coefficients(self.n_features_in_)

    @property
    def intercept_(self) -> float:
        """The constant."""
        return self._model("intercept_").intercept()
