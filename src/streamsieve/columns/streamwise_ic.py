"""Streamwise regression by an information criterion: a column joins if AIC, BIC or RIC improves."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve.base import ColumnSelector, Stop
from streamsieve.columns.models.linear import DowndatableLinearModel
from streamsieve.columns.models.stepwise import ModelCandidates, Stepwise, Tested, Values
from streamsieve.decisions import Eviction
from streamsieve.dependence.blocks import RELATIVE_TIE
from streamsieve.dependence.target import numeric_target
from streamsieve.protocols import BoolArray, FloatArray, IntArray, Reason, Statistic, Task, Traits
from streamsieve.state import Bool, Choice, Int, Nested

CRITERIA = ("aic", "bic", "ric")


class CriterionSearch(Stepwise):
    """Search in which columns join if a criterion improves, and leave once they no longer improve it."""

    fields = {
        "model": Nested(DowndatableLinearModel, shares=("rows",)),
        "criterion": Choice(*CRITERIA),
        "n_candidates": Int(1),
        "remove": Bool(),
    }
    signed: ClassVar[bool] = False

    model: DowndatableLinearModel

    def __init__(
        self, model: DowndatableLinearModel, criterion: str, n_candidates: int, *, remove: bool
    ) -> None:
        self.model, self.criterion = model, criterion
        self.n_candidates, self.remove = n_candidates, remove

    def test(
        self, gain: FloatArray, testable: BoolArray, first: int, values: Values,  # noqa: ARG002
    ) -> Tested:  # fmt: skip
        """Test columns until one gains more than its penalty."""
        gain = self.model.likelihood_gain(gain)
        hits = np.flatnonzero(gain > self._penalty(first + np.arange(len(gain))))
        done = int(hits[0]) + 1 if len(hits) else len(gain)
        return gain[:done], None, len(hits) > 0

    def _penalty(self, feature: IntArray) -> FloatArray:
        """Return the penalty of columns, by arrival number."""
        if self.criterion == "ric":
            choice = np.maximum(feature + 1, self.n_candidates)
            penalties: FloatArray = np.maximum(2.0, 2 * np.log(choice))
            return penalties
        return np.full(len(feature), 2.0 if self.criterion == "aic" else math.log(self.n))

    def joined(self, candidates: ModelCandidates, low: int, newcomer: int) -> list[Eviction]:
        """Remove older columns whose loss, given the newcomer, is below the penalty."""
        model, penalty = self.model, float(self._penalty(np.array([newcomer]))[0])
        gone: list[Eviction] = []
        while self.remove and model.size > 1:
            losses = model.likelihood_loss()[:-1]
            least = float(losses.min())
            if least >= penalty:
                break
            # of equal losses the older column leaves
            place = int(np.argmax(losses <= least + RELATIVE_TIE * (1 + least)))
            feature = int(model.features[place])
            loss = float(losses[place])
            gone.append(Eviction(newcomer, feature, Reason.REDUNDANT, loss, math.nan, (newcomer,)))
            model.remove(place)
        if gone:
            candidates.measure_again(low)
        return gone


class StreamwiseIC(ColumnSelector):
    """Streamwise regression by AIC, BIC or RIC: columns join a linear model while the criterion improves.

    A column joins if it raises twice the log-likelihood, ``n log(RSS / RSS_new)``, by more than its penalty:
    2 for AIC, ``log n`` for BIC, ``2 log p`` for RIC, with p columns to choose from.  After a column has
    joined, older ones leave whose contribution is now below the penalty, the smallest first.

    Parameters
    ----------
    information_criterion : {"ric", "bic", "aic"}, default="ric"
        RIC keeps about as many irrelevant columns in a wide stream as in a narrow one.  AIC keeps about one
        irrelevant column in six, and BIC one in 80 at 500 rows, whatever the length of the stream: they are
        for narrow streams.
    n_candidates : int or None, default=None
        Number of columns to choose from, for RIC.  If None, the number of columns offered so far, which also
        counts if it is larger.
    remove : bool, default=True
        Whether older columns may leave.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of y; two classes count as 0 and 1.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record.
    stop : Stop or None, default=None
        Early-stopping rules.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    ledger_ : every decision; the statistic is the gain in twice the log-likelihood, or for an evicted column
        the loss without it; ``by`` is the column that made it redundant, and there are no p-values
    n_features_in_ : number of columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    **Formula.** A column joins if ``n log(RSS / RSS_new) > penalty``: 2 (AIC), ``log n`` (BIC), ``2 log p``
    (RIC).

    **When it fails.** AIC and BIC do not account for the number of columns tried, so that a long stream of
    noise fills the model; RIC does. The model is linear.

    Columns leave only when another joins, and never the one that has just joined: nothing else changes their
    contributions, except that the penalty of RIC grows with the number of columns.  RIC's penalty is at least
    2, AIC's, so that the first columns do not join for free.  Some surveys define RIC with p as the number of
    columns in the model; it is the number of candidates.  A column in the span of the model gains
    nothing.  Once the model fits exactly (a residual sum of squares below 1e-10 of the target's), no further
    column is accepted, and a column that reaches such a fit is credited with a residual of that size.

    References
    ----------
    Zhou, Foster, Stine, Ungar: Streamwise feature selection, JMLR 2006.  Foster, George: The risk inflation
    criterion for multiple regression, Annals of Statistics 1994.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 50))
    >>> X[:, 3] += X[:, 30]
    >>> y = X[:, 7] - 2 * X[:, 30] + rng.normal(size=200)
    >>> sieve = ss.StreamwiseIC("ric", n_candidates=50).fit(X, y)
    >>> sieve.selected_
    array([ 7, 30])
    >>> print(sieve.ledger_.why("x3"))
    x3: evicted, redundant given {x30} (gain in 2 log L 0.1526)
    """

    _traits: ClassVar[Traits] = Traits(tasks=frozenset({Task.BINARY, Task.REGRESSION}), grouped_rows=True)
    _elsewhere: ClassVar[str] = (
        "say task='regression' if it is a quantity, use SAOLA, or offer the columns once for each class "
        "against the rest"
    )

    _statistic = Statistic("gain in 2 log L")
    parameters = {
        "information_criterion": Choice(*CRITERIA),
        "n_candidates": Int(1, optional=True),
        "remove": Bool(),
    }
    _process_: CriterionSearch
    fields = {"_process_": Nested(CriterionSearch, shares=("rows",))}

    def __init__(
        self,
        information_criterion: str = "ric",
        *,
        n_candidates: int | None = None,
        remove: bool = True,
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.information_criterion = information_criterion
        self.n_candidates = n_candidates
        self.remove = remove
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield each criterion, a declared number of columns, and a model that only grows."""
        for information_criterion in CRITERIA:
            yield cls(information_criterion)
        yield cls(n_candidates=1000, remove=False)

    def _compose(self, y: npt.NDArray[Any], task: Task) -> CriterionSearch:
        model = DowndatableLinearModel(numeric_target(y, task))
        return CriterionSearch(model, self.information_criterion, self.n_candidates or 1, remove=self.remove)
