"""Features whose weights in a probit model are large and certain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_number
from streamsieve.exceptions import StateError
from streamsieve.protocols import BoolArray, FloatArray, RowBatch, Task, Traits
from streamsieve.rows._choice import best
from streamsieve.rows._fires_model import FiresModel
from streamsieve.rows._fires_waiting import FiresWaiting, rows_of
from streamsieve.rows._ranked import RankedSelector
from streamsieve.rows._signs import Signs

_TASKS = frozenset({Task.BINARY})
_BY_BATCHES = Traits(tasks=_TASKS, any_chunking=False, size_parameter="k", nested_sizes=True)


class FIRES(RankedSelector):
    """Keep the k features whose weights in a probit model are large and certain.

    The weight of a feature is a normal variable.  Its mean and its standard deviation follow the gradient of
    the likelihood of the rows: the mean grows with what the feature says about the class, the deviation
    shrinks with what was learnt of it.  The score rewards the one and punishes the other.

    Parameters
    ----------
    k : int or None, default=None
        Features to keep, k >= 1.  None: 10, or all features if there are fewer.
    learning_rate_mean : float, default=0.01
        Length of the steps of means, between 0 and 1000.
    learning_rate_spread : float, default=0.01
        Length of the steps of standard deviations, between 0 and 1000.
    penalty_spread : float, default=0.01
        How much an uncertain weight counts less, between 0 and 1e6; the paper's gamma_s.
    penalty_ridge : float, default=0.01
        Scale of the scores, between 1e-30 and 1e6; the paper's gamma_r.  It never changes their order.
    epochs : int, default=1
        Steps for the same rows one after another, at least 1.
    batch_size : int or None, default=1
        Rows whose mean gradient makes a step, at least 1.  Rows wait until there are so many of them, however
        they are cut into batches, and waiting rows are saved with the rest.  None: one step for each batch as
        it comes, so that the size of batches changes the result.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does as the selection changes: "drop" the other features, "zero" them so that the
        width stays, or keep to the selection "frozen" at the first transform.
    ledger : {"all", "none"}, default="all"
        Whether to remember which features entered and left the selection, when, and at what score.

    Attributes
    ----------
    scores_ : float64 array, the paper's omega,
        ``(mean_**2 - penalty_spread * spread_**2) / (2 * penalty_ridge)``
    weights_ : float64 array, the scores moved and stretched to the range from 0 to 1
    selected_ : columns of the k largest scores, best first
    mean_, spread_ : float64 arrays, mean and standard deviation of every weight; at first 0 and 1
    classes_ : the labels seen, the negative one first
    n_waiting_ : rows that wait for a step
    ledger_ : which features entered and left, after how many rows, at what score

    Notes
    -----
    With ``batch_size=1`` nothing waits, and batches of any size give the same result.  A mean of many
    gradients is no longer than a single one, so with more rows a step the model moves less.  Over seven data
    sets, 1 to 500 rows a step gave selections of about equal worth, 1 being the best by a little.

    The labels are two.  A row costs time for its own values, and sparse rows are never made dense.  Scale the
    features: if values are large, a step may overshoot by more than it corrects.  Means and deviations are
    then held within 1e30, and their order means little.

    In one thing this is not the authors' code: a deviation that would be negative becomes 0 after every step,
    not after all epochs.  For one epoch the result is the same.  Two errors of that code are not repeated:
    its ratio of density and probability is 0 / 0 for rows far on the wrong side, and it changes labels in
    place, so that the order of its list of classes decides whether any difference between them is left.

    References
    ----------
    Haug, Pawelczyk, Broelemann, Kasneci, Leveraging Model Inherent Variable Importance for Stable Online
    Feature Selection, KDD 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.rows.fires import FIRES
    >>> rng = np.random.default_rng(0)
    >>> selector = FIRES(k=2)
    >>> for _ in range(10):
    ...     X = rng.normal(size=(100, 8))
    ...     selector = selector.partial_fit(X, X[:, 3] - X[:, 5] > 0)
    >>> sorted(selector.selected_.tolist()), np.sign(selector.mean_[[3, 5]]).tolist()
    ([3, 5], [1.0, -1.0])
    """

    _traits: ClassVar[Traits] = Traits(tasks=_TASKS, size_parameter="k", nested_sizes=True)

    def __init__(
        self,
        k: int | None = None,
        *,
        learning_rate_mean: float = 0.01,
        learning_rate_spread: float = 0.01,
        penalty_spread: float = 0.01,
        penalty_ridge: float = 0.01,
        epochs: int = 1,
        batch_size: int | None = 1,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.learning_rate_mean = learning_rate_mean
        self.learning_rate_spread = learning_rate_spread
        self.penalty_spread = penalty_spread
        self.penalty_ridge = penalty_ridge
        self.epochs = epochs
        self.batch_size = batch_size
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield a step for each row, for so many rows, and for each batch."""
        yield cls()
        yield cls(k=1, batch_size=10, epochs=3, learning_rate_mean=0.1, output="zero")
        yield cls(batch_size=None)

    @property
    def traits(self) -> Traits:
        """What the selector can do; with ``batch_size=None``, the size of batches matters."""
        return self._traits if self.batch_size is not None else _BY_BATCHES

    @property
    def _buffers_rows(self) -> bool:  # type: ignore[override]  # where every batch is a step, none may be kept
        return self.batch_size is not None

    # ---------------------------------------------------------------- learning

    def _check_for_width(self, n_features: int) -> None:
        self._check_k(n_features)
        for name in ("learning_rate_mean", "learning_rate_spread"):
            check_number(name, getattr(self, name), low=0, high=1e3)
        check_number("penalty_spread", self.penalty_spread, low=0, high=1e6)
        check_number("penalty_ridge", self.penalty_ridge, low=1e-30, high=1e6)
        check_number("epochs", self.epochs, low=1, integer=True)
        if self.batch_size is not None:
            check_number("batch_size", self.batch_size, low=1, integer=True)

    def _start(self, batch: RowBatch) -> None:
        n_features = batch.X.shape[1]
        self._check_for_width(n_features)
        self._start_ranking()
        self._signs_ = Signs()
        self._model_ = FiresModel(n_features)
        self._waiting_ = FiresWaiting()

    def _learn(self, batch: RowBatch) -> None:
        rows = rows_of(batch.X)
        self._model_.grow(batch.X.shape[1])
        signs = self._signs_.encode(np.asarray(batch.y), type(self).__name__)
        steps = (int(self.epochs), float(self.learning_rate_mean), float(self.learning_rate_spread))
        if self.batch_size is None:
            self._model_.learn(rows, signs, len(signs), *steps)
        else:
            size = int(self.batch_size)
            for portion, its_signs in self._waiting_.portions(rows, signs, size):
                self._model_.learn(portion, its_signs, size, *steps)
        self._cache_.clear()

    def _known_labels(self) -> Iterable[Any]:
        return self._signs_.classes

    # ---------------------------------------------------------------- what was learnt

    def _learnt_so_far(self, name: str) -> FiresModel:
        if not hasattr(self, "_model_"):
            raise AttributeError(f"{name} is there after fit or partial_fit")
        self._flush_buffer()
        return self._model_

    @property
    def scores_(self) -> FloatArray:
        """One score a feature, larger is better."""
        model = self._learnt_so_far("scores_")
        if "scores" not in self._cache_:
            scores = (model.mean**2 - self.penalty_spread * model.spread**2) / (2 * self.penalty_ridge)
            scores.setflags(write=False)  # shared with whoever asks next
            self._cache_["scores"] = scores
        cached: FloatArray = self._cache_["scores"]
        return cached

    @property
    def weights_(self) -> FloatArray:
        """The scores in the range from 0 to 1; all 0 if they are equal."""
        self._learnt_so_far("weights_")
        scores = self.scores_
        lowest = scores.min()
        length = scores.max() - lowest
        return np.asarray((scores - lowest) / (length if length > 0 else 1.0))

    @property
    def mean_(self) -> FloatArray:
        """Mean of every weight, positive where a feature speaks for the positive class."""
        return self._learnt_so_far("mean_").mean.copy()

    @property
    def spread_(self) -> FloatArray:
        """Standard deviation of every weight."""
        return self._learnt_so_far("spread_").spread.copy()

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels seen, the negative one first."""
        self._learnt_so_far("classes_")
        return np.array(self._signs_.classes)

    @property
    def n_waiting_(self) -> int:
        """Rows that wait for a step."""
        self._learnt_so_far("n_waiting_")
        return len(self._waiting_)

    def _choose(self) -> BoolArray:
        return best(self.scores_, self._budget)

    # ---------------------------------------------------------------- saving

    def _restored(self) -> None:
        super()._restored()
        self._check_for_width(self.n_features_in_)
        kinds = (Signs, self._signs_), (FiresModel, self._model_), (FiresWaiting, self._waiting_)
        if not all(isinstance(part, kind) for kind, part in kinds):
            raise StateError("the state's parts are not those of FIRES")
        if self._model_.n_features != self.n_features_in_:
            raise StateError("the state's model has another number of features")
        self._waiting_.check(self.n_features_in_)
        waiting = self.n_rows_seen_ if self.batch_size is None else self.n_rows_seen_ % self.batch_size
        if len(self._waiting_) != (0 if self.batch_size is None else waiting):
            raise StateError("the state's waiting rows are not as many as its rows leave over")
