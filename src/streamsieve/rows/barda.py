"""Features of a budgeted dual averaging learner with adaptive steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_number
from streamsieve.exceptions import StateError
from streamsieve.protocols import CLASSIFICATION, BoolArray, FloatArray, RowBatch, Traits
from streamsieve.rows._barda_classes import BardaClasses
from streamsieve.rows._barda_model import Settings
from streamsieve.rows._choice import best
from streamsieve.rows._ranked import DEFAULT_K, RankedSelector
from streamsieve.rows._row_entries import row_entries


class BARDA(RankedSelector):
    """Keep the k best features of a linear classifier that never forgets what it dropped.

    For every feature there are two sums: of the gradients of the squared hinge loss, and of their squares.
    The weights follow from the sums after every row, with a step of its own for each feature, and only the k
    best of them predict the next row.  A feature that does not predict goes on gathering gradients, and comes
    back when they are large enough.

    Parameters
    ----------
    k : int or None, default=None
        Features to keep, k >= 1; the paper's B.  None: 10, or all features if there are fewer.
    learning_rate : float, default=0.05
        Length of the first steps, above 0 and at most 1000; the paper's eta.  It matters little.
    ridge : float, default=0.01
        How strongly weights are pulled to 0, between 0 and 1e6; the paper's lambda.
    damping : float, default=0.01
        What is added to the root of the sum of squares, between 1e-30 and 1e6; the paper's delta.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does as the selection changes: "drop" the other features, "zero" them so that the
        width stays, or keep to the selection "frozen" at the first transform.
    ledger : {"all", "none"}, default="all"
        Whether to remember which features entered and left the selection, when, and at what score.

    Attributes
    ----------
    scores_ : float64 array, ``w**2 * H`` of every feature, its weight not yet set to 0; with several classes,
        the largest over them
    selected_ : columns of the k largest scores, best first; fewer as long as fewer have a score above 0
    coef_ : float64 array (classes, features), the weights that predict, at most k a row; for two classes one
        row, which speaks for ``classes_[1]``
    classes_ : the labels seen, in order
    mistakes_ : rows whose class was not clearly predicted before they were learnt
    ledger_ : which features entered and left, after how many rows, at what score

    Notes
    -----
    A row costs time for its own values, whatever the number of features and nearly whatever k, although all
    weights change with every row; see ``streamsieve._kernels.barda``.  All features are looked at now and
    then, less and less often.  Yet the weights that predict are the k best of all features at every row,
    exactly, and batches of any size give the same result.  Memory is 24 bytes a feature and class.

    More than two classes are compared each with the rest, and there is a learner for each.  It begins with
    the first row of its class; the first two classes share one, which is mirrored when a third comes.  With
    several classes, ``selected_`` are the k features of the largest scores in any of them, while every class
    predicts with k features of its own.

    Gradients are taken at weights that depend on all rows before.  So two states do not combine into the
    state of the whole stream, and do not merge: adding their sums, as distributed dual averaging does, gives
    another selection than one pass.

    The paper makes several passes over the rows with steps of 1e-4.  The default is made for one pass over
    features of standard deviation 1: scale the features.  Gradients are held within 1e140, so that no value
    makes them overflow.

    References
    ----------
    Zhai, Wang, Koriche, Gao, Online Feature Selection by Adaptive Sub-gradient Methods, ECML-PKDD 2018,
    algorithm B-ARDA.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.rows.barda import BARDA
    >>> rng = np.random.default_rng(0)
    >>> selector = BARDA(k=2)
    >>> for _ in range(10):
    ...     X = rng.normal(size=(100, 8))
    ...     selector = selector.partial_fit(X, X[:, 3] - X[:, 5] > 0)
    >>> sorted(selector.selected_.tolist()), np.sign(selector.coef_[0, [3, 5]]).tolist()
    ([3, 5], [1.0, -1.0])
    """

    _traits: ClassVar[Traits] = Traits(tasks=CLASSIFICATION, size_parameter="k")
    _buffers_rows: ClassVar[bool] = True

    def __init__(
        self,
        k: int | None = None,
        *,
        learning_rate: float = 0.05,
        ridge: float = 0.01,
        damping: float = 0.01,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.learning_rate = learning_rate
        self.ridge = ridge
        self.damping = damping
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield the defaults, the smallest budget, and no ridge with output of fixed width."""
        yield cls()
        yield cls(k=1, ridge=0.5)
        yield cls(k=1, learning_rate=0.5, ridge=0.0, damping=0.1, output="zero")

    # ---------------------------------------------------------------- learning

    def _check_for_width(self, n_features: int) -> None:
        self._check_k(n_features)
        check_number("learning_rate", self.learning_rate, low=0, high=1e3, open_low=True)
        check_number("ridge", self.ridge, low=0, high=1e6)
        check_number("damping", self.damping, low=1e-30, high=1e6)

    @property
    def _settings(self) -> Settings:
        k = DEFAULT_K if self.k is None else min(int(self.k), 2**31)
        return Settings.of(k, float(self.learning_rate), float(self.ridge), float(self.damping))

    def _start(self, batch: RowBatch) -> None:
        n_features = batch.X.shape[1]
        self._check_for_width(n_features)
        self._start_ranking()
        self._learners_ = BardaClasses(n_features)

    def _learn(self, batch: RowBatch) -> None:
        self._learners_.learn(row_entries(batch.X), np.asarray(batch.y), batch.X.shape[1], self._settings)
        self._cache_.clear()

    def _known_labels(self) -> Iterable[Any]:
        return self._learners_.labels.values

    # ---------------------------------------------------------------- what was learnt

    def _learnt_so_far(self, name: str) -> BardaClasses:
        if not hasattr(self, "_learners_"):
            raise AttributeError(f"{name} is there after fit or partial_fit")
        self._flush_buffer()
        return self._learners_

    @property
    def scores_(self) -> FloatArray:
        """One score a feature, larger is better, 0 where nothing was learnt."""
        learners = self._learnt_so_far("scores_")
        if "scores" not in self._cache_:
            scores = learners.scores(self._settings)
            scores.setflags(write=False)  # shared with whoever asks next
            self._cache_["scores"] = scores
        cached: FloatArray = self._cache_["scores"]
        return cached

    @property
    def coef_(self) -> FloatArray:
        """The weights that predict; 0 for features that are not kept."""
        return self._learnt_so_far("coef_").coefficients(self._settings)

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels seen, in order."""
        return np.sort(np.array(self._learnt_so_far("classes_").labels.values))

    @property
    def mistakes_(self) -> int:
        """Rows whose class was not clearly predicted before they were learnt."""
        return self._learnt_so_far("mistakes_").mistakes

    def _choose(self) -> BoolArray:
        # a feature of which nothing was learnt is not worth a place, even if places are left
        return best(self.scores_, self._budget) & (self.scores_ > 0)

    # ---------------------------------------------------------------- saving

    def _restored(self) -> None:
        super()._restored()
        self._check_for_width(self.n_features_in_)
        learners = self._learners_
        if not isinstance(learners, BardaClasses):
            raise StateError("the state lacks its learners")
        if learners.n_features != self.n_features_in_ or learners.models[0].n_rows != self.n_rows_seen_:
            raise StateError("the state's learners saw other rows or features")
