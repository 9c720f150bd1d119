"""Block bagging: every block of streaming columns becomes a bag of learners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np

from streamsieve.learners.ensembles.base import Ensemble
from streamsieve.learners.ensembles.members import check_member, fitted, prediction
from streamsieve.learners.fsa import FSAClassifier, FSARegressor
from streamsieve.protocols import BoolArray, FloatArray, IntArray
from streamsieve.state import Choice, Int

COMBINE = ("stack", "vote")


class BlockBagging(Ensemble):
    """Bagging over streaming columns: every block of columns becomes a new member of the ensemble.

    A member is a bag of learners over the columns of one block, each fitted to a bootstrap sample of the
    rows.  Members vote, or are weighted by their out-of-bag predictions (stacking).

    Parameters
    ----------
    estimator : estimator or None, default=None
        A scikit-learn classifier or regressor for the blocks.  If None, ``FSAClassifier`` or
        ``FSARegressor``.
    task : {"classification", "regression"}, default="classification"
        Type of target.
    bags : int, default=5
        Number of learners per block, at least 1.
    combine : {"stack", "vote"}, default="stack"
        "stack": non-negative weights, fitted to out-of-bag predictions.  "vote": every learner
        of every block has one vote; in regression, the mean.
    convex : bool, default=False
        Whether weights must sum to 1; for "stack".
    block_size : int, default=100
        Columns per block when ``fit`` cuts a whole matrix, at least 1.
    random_state : int or None, default=0
        Seed of the draws, in [0, 2^32).  If None, one is drawn by ``fit`` and saved.

    Attributes
    ----------
    member_weights_ : float64 array, one non-negative number per block
    edges_ : int64 array, the first column of every block, and the number of columns
    classes_ : the labels, in order; in classification
    n_features_in_ : number of columns offered
    feature_names_in_ : their names; if any came with a name
    n_samples_seen_ : number of rows

    Notes
    -----
    **Formula.** ``prediction = sum over blocks b of weight_b * (1 / M) sum over its M learners``; the weights
    are equal, or fitted to out-of-bag rows.

    **When it fails.** Interactions between columns of different blocks are not detected. A block of noise
    lowers
    a vote of equal weights.

    The bootstrap samples are the same for all blocks, so that all are evaluated on the same rows.  In
    classification they are stratified, so that no learner misses a class.  A row in every bag does not count
    in the weights; if there is no other, all blocks have the same weight.  In regression y and the
    predictions are centered at the mean of y, so that weights do not depend on the origin of y.  A new block
    costs its own learners and a small least-squares problem; earlier members do not change.
    :class:`SuperLearner` does the same with several kinds of learners per block, evaluated by
    cross-validation instead of bagging.  If a block has fewer columns than an FSA learner is to keep, all are
    kept.

    The target and the out-of-bag predictions are stored, one number per row, class and block, because the
    weights of all blocks change when a new one arrives.

    An ensemble can be saved if its learners are of this library: files hold no code.

    References
    ----------
    Breiman, Bagging Predictors, Machine Learning 24 (1996); that new columns become a new member: Siu, review
    of online feature selection for dynamic models.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.learners.ensembles.block_bagging import BlockBagging
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> noise, signal = rng.normal(size=(200, 8)), rng.normal(size=(200, 8)) + y[:, None]
    >>> model = BlockBagging().begin(y).offer(noise).offer(signal)
    >>> model.member_weights_.argmax(), model.score(np.hstack([noise, signal]), y) > 0.9
    (np.int64(1), True)
    """

    parameters = {**Ensemble.parameters, "bags": Int(1), "combine": Choice(*COMBINE), "block_size": Int(1)}
    fields = {**Ensemble.fields, "_seed_": Int(0, 2**32 - 1)}

    def __init__(
        self,
        estimator: Any = None,
        *,
        task: str = "classification",
        bags: int = 5,
        combine: str = "stack",
        convex: bool = False,
        block_size: int = 100,
        random_state: int | None = 0,
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

    def _check_together(self) -> None:
        check_member("estimator", self._estimator, self.task)

    def _columns_a_block(self, p: int) -> int:
        return min(p, int(self.block_size))

    def _plan(self) -> None:
        self._bags_, self._seed_ = int(self.bags), self._seed

    @property
    def _estimator(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return FSARegressor() if self.task == "regression" else FSAClassifier()

    def _draws(self) -> list[IntArray]:
        """Return the rows of every bag: as many as there are, class by class."""
        groups = [np.arange(self.n_samples_seen_)]
        if self._n_classes:
            groups = [np.flatnonzero(self._y_ == code) for code in range(self._n_classes)]
        draws = []
        for bag in range(self._bags_):
            rng = np.random.default_rng([self._seed_, bag])
            draws.append(np.sort(np.concatenate([rng.choice(group, len(group)) for group in groups])))
        return draws

    def _left_out(self, rows: IntArray) -> IntArray:
        """Return the rows that a bag has not drawn."""
        out = np.ones(self.n_samples_seen_, bool)
        out[rows] = False
        return np.flatnonzero(out)

    def _judged(self) -> BoolArray:
        judged = np.zeros(self.n_samples_seen_, bool)
        for rows in self._draws():
            judged[self._left_out(rows)] = True
        return judged

    def _new_members(self, X: Any) -> Iterator[tuple[list[Any], FloatArray]]:
        total, count = np.zeros(self._predictions_.shape[1:]), np.zeros(self.n_samples_seen_)
        learners = []
        for rows in self._draws():
            learner = fitted(self._estimator, X[rows], self._y_[rows])
            learners.append(learner)
            others = self._left_out(rows)
            if len(others):
                total[others] += prediction(learner, X[others], self._n_classes)
                count[others] += 1
        yield learners, total / np.maximum(count, 1)[:, None]

    def _weights(self) -> FloatArray:
        if self.combine == "vote":
            return np.full(len(self._predictions_), 1.0 / len(self._predictions_))
        return super()._weights()

    def _predicted(self, learner: Any, X: Any) -> FloatArray:
        """Return a learner's vote, or its probabilities."""
        predicted = super()._predicted(learner, X)
        if self.combine == "vote" and self._n_classes:
            return np.asarray(np.eye(self._n_classes)[np.argmax(predicted, axis=1)])
        return predicted
