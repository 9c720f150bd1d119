"""Super learner: members weighted by their out-of-fold predictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import Ridge, SGDClassifier

from streamsieve.base.fitted import fitted_property
from streamsieve.exceptions import InputError, ParameterError
from streamsieve.learners.ensembles.base import Ensemble
from streamsieve.learners.ensembles.members import check_member, fitted, prediction
from streamsieve.learners.fsa import FSAClassifier, FSARegressor
from streamsieve.protocols import BoolArray, FloatArray, IntArray
from streamsieve.state import Array, Int


class SuperLearner(Ensemble):
    """Stacked ensemble whose non-negative weights are fitted to out-of-fold predictions.

    Columns may arrive all at once, with ``fit``, or in blocks, with ``begin`` and ``offer``.  Every block has
    its own members, fitted to its columns only, and no member is refitted.

    Parameters
    ----------
    members : sequence of estimators or None, default=None
        scikit-learn classifiers or regressors.  None: ``FSAClassifier`` and a logistic regression by
        stochastic gradients; in regression, ``FSARegressor`` and ridge regression.
    task : {"classification", "regression"}, default="classification"
        Type of target.
    folds : int, default=5
        Number of folds, at least 2.
    convex : bool, default=False
        Whether the weights must sum to 1.
    random_state : int or None, default=0
        Seed of the folds, in [0, 2^32).  If None, one is drawn by ``fit`` and saved.

    Attributes
    ----------
    member_weights_ : float64 array, one non-negative number per member, block by block
    members_ : the members, each learned from all rows, block by block
    edges_ : int64 array, the first column of every block, and the number of columns
    classes_ : the labels, in order; in classification
    n_features_in_ : number of columns seen
    feature_names_in_ : their names; if any came with a name
    n_samples_seen_ : number of rows

    Notes
    -----
    **Formula.** ``min over b >= 0 of |y - Z b|^2`` with out-of-fold predictions Z.

    **When it fails.** With few rows the weights follow noise of the folds. Members see one block of columns
    each: interactions between blocks are not detected.

    With out-of-fold predictions Z, the weights b >= 0 minimize ``|y - Z b|^2``; then the members learn again
    from all rows.  In regression y and Z are centered by the mean of y, so weights do not depend on the
    origin of y.  In classification Z are probabilities, y is one-hot, and a member has one weight for all
    classes.  A classifier without ``predict_proba`` gives its predicted class probability 1.

    The folds never hold out the only row of a class; if there are no other rows, all members weigh the same.
    They are the same for all blocks.  The target and the out-of-fold predictions are kept, one number per
    row, class and member, because all weights change when a new block arrives.  If a block has fewer columns
    than an FSA learner is to keep, all are kept.  ``fit`` is ``begin`` and one ``offer``, so a stream can
    continue after it.

    An ensemble can be saved if all its members are of this library: files hold no code.

    References
    ----------
    van der Laan, Polley, Hubbard, Super Learner, Statistical Applications in Genetics and Molecular Biology 6
    (2007); Breiman, Stacked Regressions, Machine Learning 24 (1996).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> from streamsieve.learners.ensembles.super_learner import SuperLearner
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = X[:, 0] + 0.1 * rng.normal(size=200)
    >>> both = SuperLearner([DummyRegressor(), LinearRegression()], task="regression").fit(X, y)
    >>> both.member_weights_.round(2).tolist()
    [0.0, 1.0]
    >>> late = rng.normal(size=(200, 3))  # columns that come later become new members
    >>> both.offer(late).member_weights_.round().tolist()
    [0.0, 1.0, 0.0, 0.0]
    """

    parameters = {**Ensemble.parameters, "folds": Int(2)}
    fields = {**Ensemble.fields, "_parts_": Array("i8", "rows", low=-1)}

    def __init__(
        self,
        members: Sequence[Any] | None = None,
        *,
        task: str = "classification",
        folds: int = 5,
        convex: bool = False,
        random_state: int | None = 0,
    ) -> None:
        self.members = members
        self.task = task
        self.folds = folds
        self.convex = convex
        self.random_state = random_state

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield both tasks, and weights that sum to 1."""
        yield cls([FSAClassifier(epochs=30), SGDClassifier(loss="log_loss", random_state=0)], folds=2)
        yield cls([FSARegressor(3, epochs=40), Ridge()], task="regression", folds=2)
        yield cls([FSAClassifier(epochs=30), FSAClassifier(2, epochs=30)], convex=True, folds=2)

    def _check_together(self) -> None:
        if self.members is None:
            return
        if isinstance(self.members, str) or not isinstance(self.members, Sequence) or not len(self.members):
            raise ParameterError(f"members must be a sequence of estimators, or None; got {self.members!r}")
        for member in self.members:
            check_member("a member", member, self.task)

    @property
    def _to_learn(self) -> list[Any]:
        if self.members is not None:
            return list(self.members)
        if self.task == "regression":
            return [FSARegressor(), Ridge()]
        return [FSAClassifier(), SGDClassifier(loss="log_loss", random_state=0)]

    def _plan(self) -> None:
        n = self.n_samples_seen_
        if n < 2:
            raise InputError(
                f"n_samples = {n}, but one row must be held out and one learned: give two at least"
            )
        codes = self._y_ if self._n_classes else None
        self._parts_ = _parts(codes, n, int(self.folds), self._seed)

    def _judged(self) -> BoolArray:
        return np.asarray(self._parts_ >= 0)

    def _new_members(self, X: Any) -> Iterator[tuple[list[Any], FloatArray]]:
        parts = self._parts_
        for member in self._to_learn:
            held_out = np.zeros(self._predictions_.shape[1:])
            for part in np.unique(parts[parts >= 0]):
                rest, own = np.flatnonzero(parts != part), np.flatnonzero(parts == part)
                learner = fitted(member, X[rest], self._y_[rest])
                held_out[own] = prediction(learner, X[own], self._n_classes)
            yield [fitted(member, X, self._y_)], held_out

    @fitted_property
    def members_(self) -> list[Any]:
        """The members, each fitted to all rows; block by block."""
        return self._learners_


def _parts(codes: npt.NDArray[Any] | None, n: int, folds: int, seed: int) -> IntArray:
    """Deal rows out to parts, class by class; the only row of a class gets -1, which is no part."""
    folds = min(folds, n)
    order = np.random.default_rng(seed).permutation(n)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    parts = np.empty(n, np.int64)
    parts[order] = np.arange(n) % folds
    if codes is not None:
        parts[np.bincount(codes)[codes] == 1] = -1
    return parts
