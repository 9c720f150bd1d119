"""Streamwise regression: a column joins if AIC, BIC or RIC gets better by it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice, check_number
from streamsieve.base import ColumnSelector, Stop
from streamsieve.columns._removable import RemovableModel
from streamsieve.columns._stepwise import Candidates, Tried, offer_stepwise
from streamsieve.decisions import Eviction, Settled
from streamsieve.protocols import BoolArray, ColumnBlock, FloatArray, IntArray, Reason, Task, Traits

CRITERIA = ("aic", "bic", "ric")
#: Losses that differ by less than this share are equal: the older column leaves.
TIE = 1e-9


class StreamwiseIC(ColumnSelector):
    """Keep columns of a linear model while an information criterion gets better by them.

    A column joins if it raises twice the log-likelihood, ``n log(RSS / RSS_new)``, by more than its price: 2
    for AIC, ``log n`` for BIC, ``2 log p`` for RIC, with p columns to choose from.  When one has joined,
    older ones that are no longer worth the price leave, the least worthy first.

    Parameters
    ----------
    criterion : {"ric", "bic", "aic"}, default="ric"
        RIC keeps about as many junk columns in a wide stream as in a narrow one.  AIC takes about one junk
        column in six, and BIC one in 80 at 500 rows, however many come: they are for narrow streams.
    n_candidates : int or None, default=None
        How many columns there are to choose from, for RIC; None is as many as have come so far.  If more come
        than that, their number counts.
    remove : bool, default=True
        Whether older columns leave again.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is; two classes count as 0 and 1.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to remember.
    stop : Stop or None, default=None
        Rules that end the run early.

    Attributes
    ----------
    selected_ : arrival numbers of the columns kept
    ledger_ : every decision; the statistic is the gain in twice the log-likelihood, or for an evicted column
        the loss without it; ``by`` is the column that made it worthless, and there are no p-values
    n_features_in_ : columns offered
    stopped_ : which rule of ``stop`` was met, or None

    Notes
    -----
    Columns leave only when another joins, and not the one that has just joined: nothing else changes what
    they are worth, except that the price in RIC grows with the columns seen.  A price of RIC is at least
    AIC's, 2, so that the first columns are not for free.  Surveys print RIC with the number of columns in the
    model in the place of p; it is the number to choose from.  A column inside the span of the model gains
    nothing; once the model fits exactly (a residual below 1e-10 of the target's variance) nothing more is
    accepted, and a column that brings it there counts as leaving that much.

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
    x3: evicted, redundant given {x30} (statistic 0.1526)
    """

    _traits: ClassVar[Traits] = Traits(tasks=frozenset({Task.BINARY, Task.REGRESSION}))
    _elsewhere: ClassVar[str] = (
        "say task='regression' if it is a quantity, use SAOLA, or offer the columns once for each class "
        "against the rest"
    )

    def __init__(
        self,
        criterion: str = "ric",
        n_candidates: int | None = None,
        remove: bool = True,  # noqa: FBT001, FBT002 - a parameter of an estimator
        task: str = "auto",
        ledger: str = "all",
        stop: Stop | None = None,
    ) -> None:
        self.criterion = criterion
        self.n_candidates = n_candidates
        self.remove = remove
        self.task = task
        self.ledger = ledger
        self.stop = stop

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each criterion, a declared number of columns, and a model that only grows."""
        for criterion in CRITERIA:
            yield cls(criterion)
        yield cls(n_candidates=1000, remove=False)

    def _begin(self, y: npt.NDArray[Any]) -> None:
        check_choice("criterion", self.criterion, CRITERIA)
        check_choice("remove", self.remove, (True, False))
        if self.n_candidates is not None:
            check_number("n_candidates", self.n_candidates, low=1, integer=True)
        numbers = y == np.unique(y)[1] if self.task_ == Task.BINARY else y
        self._model_ = RemovableModel(np.asarray(numbers, np.float64))

    def _selected(self) -> IntArray:
        return self._model_.features

    def _offer(self, block: ColumnBlock) -> Settled:
        joined = self._prune if self.remove else None
        return offer_stepwise(
            self._model_, block.X, self.n_features_in_, self._try, signed=False, joined=joined
        )

    def _try(self, drop: FloatArray, _: BoolArray, first: int) -> Tried:
        """Test columns until one is worth its price."""
        gain = self._model_.likelihood_gain(drop)
        hits = np.flatnonzero(gain > self._price(first + np.arange(len(drop))))
        done = int(hits[0]) + 1 if len(hits) else len(drop)
        return Tried(gain[:done], None, accepted=len(hits) > 0)

    def _price(self, feature: IntArray) -> FloatArray:
        """Return what columns must gain, by arrival number."""
        if self.criterion == "ric":
            choice = np.maximum(feature + 1, self.n_candidates or 1)
            prices: FloatArray = np.maximum(2.0, 2 * np.log(choice))
            return prices
        return np.full(len(feature), 2.0 if self.criterion == "aic" else math.log(self._model_.n))

    def _prune(self, candidates: Candidates, low: int, newcomer: int) -> list[Eviction]:
        """Let older columns go that are not worth the price any more, given the newcomer."""
        model, price = self._model_, float(self._price(np.array([newcomer]))[0])
        gone: list[Eviction] = []
        while model.size > 1:
            losses = model.likelihood_loss()[:-1]
            least = float(losses.min())
            if least >= price:
                break
            place = int(np.argmax(losses <= least + TIE * (1 + least)))
            feature = int(model.features[place])
            loss = float(losses[place])
            gone.append(Eviction(newcomer, feature, Reason.REDUNDANT, loss, math.nan, (newcomer,)))
            model.remove(place)
        if gone:
            candidates.measure_again(low)
        return gone
