"""Bagging over columns that stream in: every block of new columns becomes a new member."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np

from streamsieve._parameters import check_choice, check_number
from streamsieve.learners._ensemble import Ensemble
from streamsieve.learners._members import check_member, learnt, opinion
from streamsieve.learners.fsa import FSAClassifier, FSARegressor
from streamsieve.protocols import BoolArray, FloatArray, IntArray

COMBINE = ("stack", "vote")


class BlockBagging(Ensemble):
    """Learn from columns that arrive in blocks: every block is a new member, and none is learnt twice.

    A member is a bag of learners that know the block's columns only, each learnt from rows drawn with
    repetition. Members vote, or are weighted by how well they predict the rows that were not drawn.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A scikit-learn classifier or regressor to learn a block with.  None: ``FSAClassifier`` or
        ``FSARegressor``.
    task : {"classification", "regression"}, default="classification"
        What y is.
    bags : int, default=5
        Learners a block, at least 1.
    combine : {"stack", "vote"}, default="stack"
        "stack": non-negative weights, from predictions for rows that were not drawn.  "vote": every learner
        of every block has one vote; in regression, the mean.
    convex : bool, default=False
        Whether weights must sum to 1; for "stack".
    block_size : int, default=100
        Columns a block when ``fit`` cuts a whole matrix, at least 1.
    random_state : int, default=0
        Seed of the draws, 0 <= random_state < 2^32.

    Attributes
    ----------
    weights_ : float64 array, one non-negative number a block
    edges_ : int64 array, the first column of every block, and the number of columns
    classes_ : the labels, in order; in classification
    n_features_in_ : columns offered
    feature_names_in_ : their names; if any came with a name
    n_rows_ : rows

    Notes
    -----
    The draws are the same for all blocks, so that all are judged on the same rows.  In classification they
    are made within each class, so that no learner misses one.  A row that every bag has drawn does not
    count in the weights; if there is no other, all blocks count the same.  In regression it is deviations
    from the mean of y that are weighted, so weights do not depend on where y has its 0.  A new block
    costs its own learners and a small least-squares problem.  Whatever came before stays as it is.
    :class:`SuperLearner` does the same with several kinds of learners a block, judged by cross-validation
    instead of draws.  Where a block has fewer columns than an FSA learner is to keep, it keeps them all.

    The target and the predictions for rows not drawn are kept, one number a row, class and block, because the
    weights of all blocks change when a new one comes.

    An ensemble can be saved if its learners are of this library: files hold no code.

    References
    ----------
    Breiman, Bagging Predictors, Machine Learning 24 (1996); that new columns become a new member: Siu, review
    of online feature selection for dynamic models.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.learners.block_bagging import BlockBagging
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> noise, signal = rng.normal(size=(200, 8)), rng.normal(size=(200, 8)) + y[:, None]
    >>> model = BlockBagging().begin(y).offer(noise).offer(signal)
    >>> model.weights_.argmax(), model.score(np.hstack([noise, signal]), y) > 0.9
    (np.int64(1), True)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        task: str = "classification",
        bags: int = 5,
        combine: str = "stack",
        convex: bool = False,
        block_size: int = 100,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.task = task
        self.bags = bags
        self.combine = combine
        self.convex = convex
        self.block_size = block_size
        self.random_state = random_state

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield both tasks and both ways to combine."""
        yield cls(FSAClassifier(epochs=30), bags=2)
        yield cls(FSAClassifier(epochs=30), bags=1, combine="vote", block_size=8)
        yield cls(FSARegressor(epochs=40), task="regression", bags=1, convex=True)

    # ---------------------------------------------------------------- learning

    def _check_parameters(self) -> None:
        check_member("estimator", self._estimator, self.task)
        check_number("bags", self.bags, low=1, integer=True)
        check_choice("combine", self.combine, COMBINE)
        check_number("block_size", self.block_size, low=1, integer=True)

    def _columns_a_block(self, p: int) -> int:
        return min(p, int(self.block_size))

    def _plan(self) -> None:
        self._bags_, self._seed_ = int(self.bags), int(self.random_state)

    @property
    def _estimator(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return FSARegressor() if self.task == "regression" else FSAClassifier()

    def _draws(self) -> list[IntArray]:
        """Return the rows of every bag: as many as there are, class by class."""
        groups = [np.arange(self.n_rows_)]
        if self._n_classes:
            groups = [np.flatnonzero(self._y_ == code) for code in range(self._n_classes)]
        draws = []
        for bag in range(self._bags_):
            rng = np.random.default_rng([self._seed_, bag])
            draws.append(np.sort(np.concatenate([rng.choice(group, len(group)) for group in groups])))
        return draws

    def _left_out(self, rows: IntArray) -> IntArray:
        """Return the rows that a bag has not drawn."""
        out = np.ones(self.n_rows_, bool)
        out[rows] = False
        return np.flatnonzero(out)

    def _judged(self) -> BoolArray:
        judged = np.zeros(self.n_rows_, bool)
        for rows in self._draws():
            judged[self._left_out(rows)] = True
        return judged

    def _voices(self, X: Any) -> Iterator[tuple[list[Any], FloatArray]]:
        said, count = np.zeros(self._opinions_.shape[1:]), np.zeros(self.n_rows_)
        learners = []
        for rows in self._draws():
            learner = learnt(self._estimator, X[rows], self._y_[rows])
            learners.append(learner)
            others = self._left_out(rows)
            if len(others):
                said[others] += opinion(learner, X[others], self._n_classes)
                count[others] += 1
        yield learners, said / np.maximum(count, 1)[:, None]

    def _weights(self) -> FloatArray:
        if self.combine == "vote":
            return np.full(len(self._opinions_), 1.0 / len(self._opinions_))
        return super()._weights()

    def _said(self, learner: Any, X: Any) -> FloatArray:
        """Return a learner's vote, or how likely it takes every class to be."""
        said = super()._said(learner, X)
        if self.combine == "vote" and self._n_classes:
            vote: FloatArray = np.eye(self._n_classes)[np.argmax(said, axis=1)]
            return vote
        return said

    def _restored(self) -> None:
        super()._restored()
        check_number("random_state", self._seed_, low=0, high=2**32 - 1, integer=True)
