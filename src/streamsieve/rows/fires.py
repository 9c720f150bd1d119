"""FIRES: feature importance and uncertainty in an online probit model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import fires as kernel
from streamsieve.base import RowSelector
from streamsieve.base.fitted import fitted_property
from streamsieve.protocols import FloatArray, RowBatch, Statistic, Task, Traits
from streamsieve.rows.linear.minibatch_buffer import MinibatchBuffer, Rows, rows_of
from streamsieve.rows.linear.signed_labels import SignedLabels
from streamsieve.state import Array, Float, Int, Nested, Part, register


@register
class ProbitModel(Part):
    """Mean and standard deviation of every weight; at first 0 and 1."""

    fields = {
        "mean": Array("f8", "features", low=-kernel.FURTHEST, high=kernel.FURTHEST),
        "spread": Array("f8", "features", low=0, high=kernel.FURTHEST),
    }

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self._mean, self._spread = np.zeros(n_features), np.ones(n_features)
        self._sums = np.zeros((2, n_features))

    @property
    def mean(self) -> FloatArray:
        """Means of the weights."""
        return self._mean[: self.n_features]

    @property
    def spread(self) -> FloatArray:
        """Standard deviations of the weights."""
        return self._spread[: self.n_features]

    def grow(self, n_features: int) -> None:
        """Extend the arrays for new features."""
        old = len(self._mean)
        if n_features > old:
            size = max(n_features, 2 * old)
            mean, spread = np.zeros(size), np.ones(size)
            mean[:old], spread[:old] = self._mean, self._spread
            self._mean, self._spread, self._sums = mean, spread, np.zeros((2, size))
        self.n_features = n_features

    def learn(
        self, rows: Rows, signs: FloatArray, size: int, epochs: int, rate_mean: float, rate_spread: float
    ) -> None:
        """Take a step for every ``size`` rows, each of them ``epochs`` times."""
        steps = (size, epochs, rate_mean, rate_spread, self._mean, self._spread, self._sums)
        if isinstance(rows, np.ndarray):
            kernel.learn_dense(rows, signs, *steps)
        else:
            kernel.learn_sparse(*rows, signs, *steps)

    def _record(self) -> Mapping[str, Any]:
        return {"mean": self.mean, "spread": self.spread}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        model = cls(0)
        model._mean, model._spread = record["mean"], record["spread"]
        model.n_features = len(model._mean)
        model._sums = np.zeros((2, model.n_features))
        return model


_TASKS = frozenset({Task.BINARY})
_BY_BATCHES = Traits(tasks=_TASKS, any_chunking=False, size_parameter="k", nested_sizes=True)


class FIRES(RowSelector):
    """FIRES: online feature selection by importance and uncertainty in a probit model, for two classes.

    The weight of each feature is a normal random variable whose mean and standard deviation follow the
    gradient of the likelihood of the rows: the mean grows with the importance of the feature, the deviation
    shrinks as more is learned.  The score rewards a large mean and penalizes a large deviation.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all features if there are fewer.
    learning_rate_mean : float, default=0.01
        Step size of the means, in [0, 1000].
    learning_rate_spread : float, default=0.01
        Step size of the standard deviations, in [0, 1000].
    penalty_spread : float, default=0.01
        Penalty on the uncertainty of a weight, in [0, 1e6]; the paper's gamma_s.
    l2 : float, default=0.01
        Scale of the scores, in [1e-30, 1e6]; the paper's gamma_r.  It does not change their order.
    epochs : int, default=1
        Number of consecutive steps for the same rows, in [1, 10000].
    batch_size : int or None, default=1
        Number of rows per gradient step, at least 1.  Rows are buffered until there are enough, so the result
        does not depend on the size of batches; buffered rows are saved as well.  If None, one step per batch,
        and the result depends on the size of batches.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does with features that are not selected: "drop" them, set them to "zero", or drop
        those outside the selection of the first call ("frozen").
    ledger : {"all", "kept", "none"}, default="all"
        Whether to record which features entered and left the selected set, when, and with what score; "kept"
        is the same as "all".

    Attributes
    ----------
    scores_ : float64 array, the paper's omega,
        ``(coef_**2 - penalty_spread * spread_**2) / (2 * l2)``
    normalized_scores_ : float64 array, the scores scaled to [0, 1]
    selected_ : columns of the selected features, in column order
    ranked_ : columns of the k largest scores, best first
    coef_, spread_ : float64 arrays, mean and standard deviation of every coefficient; initially 0 and 1.
        A positive coefficient is evidence for ``classes_[1]``.
    classes_ : the labels seen, sorted
    n_waiting_ : number of rows buffered for the next step
    ledger_ : which features entered and left the selected set, after how many rows, with what score

    Notes
    -----
    **Formula.** With weights of mean mu (``coef_``) and standard deviation sigma (``spread_``), ``rho =
    sqrt(1 + sum x^2 sigma^2)`` and ``z = y mu'x / rho``, steps follow the gradient of ``log Phi(z)`` in mu
    and sigma. Score: ``(mu^2 - penalty_spread sigma^2) / (2 l2)``.

    **When it fails.** The model is linear and has no intercept. Two classes only.  In one pass over few rows
    the means stay near 0 and the ranking is mostly noise; without scaling, features are ranked by their
    scale.

    With more rows per step the model moves less, because a mean gradient is no longer than a single one.
    Over seven data sets, 1 to 500 rows per step gave selections of about equal quality, with 1 slightly
    ahead.

    The cost of a row is proportional to its number of nonzero values, and sparse rows are never made dense.
    Scale the features: with large values, steps may overshoot and diverge.  Means and deviations are then
    clipped at 1e30, and their order is meaningless.

    Deviation from the authors' code: a negative standard deviation is set to 0 after every step, not after
    all epochs; for one epoch the result is the same.  Two errors of that code are avoided: the ratio of
    density and probability is 0 / 0 for rows far on the wrong side, and labels are changed in place, so that
    the two classes may become equal, depending on the order of the list of classes.

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
    >>> sorted(selector.selected_.tolist()), np.sign(selector.coef_[[3, 5]]).tolist()
    ([3, 5], [1.0, -1.0])
    """

    _traits: ClassVar[Traits] = Traits(tasks=_TASKS, size_parameter="k", nested_sizes=True)

    _statistic = Statistic("weight")
    parameters = {
        "learning_rate_mean": Float(0, 1e3),
        "learning_rate_spread": Float(0, 1e3),
        "penalty_spread": Float(0, 1e6),
        "l2": Float(1e-30, 1e6),
        "epochs": Int(1, 10_000),
        "batch_size": Int(1, optional=True),
    }
    fields = {
        "_labels_": Nested(SignedLabels),
        "_model_": Nested(ProbitModel),
        "_minibatch_": Nested(MinibatchBuffer),
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        learning_rate_mean: float = 0.01,
        learning_rate_spread: float = 0.01,
        penalty_spread: float = 0.01,
        l2: float = 0.01,
        epochs: int = 1,
        batch_size: int | None = 1,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.learning_rate_mean = learning_rate_mean
        self.learning_rate_spread = learning_rate_spread
        self.penalty_spread = penalty_spread
        self.l2 = l2
        self.epochs = epochs
        self.batch_size = batch_size
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield a step per row, per ten rows, and per batch."""
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

    def _start(self, batch: RowBatch) -> None:
        self._labels_ = SignedLabels()
        self._model_ = ProbitModel(batch.X.shape[1])
        self._minibatch_ = MinibatchBuffer()

    def _learn(self, batch: RowBatch) -> None:
        rows = rows_of(batch.X)
        self._model_.grow(batch.X.shape[1])
        signs = self._labels_.encode(np.asarray(batch.y), type(self).__name__)
        steps = (int(self.epochs), float(self.learning_rate_mean), float(self.learning_rate_spread))
        if self.batch_size is None:
            self._model_.learn(rows, signs, len(signs), *steps)
        else:
            size = int(self.batch_size)
            for portion, its_signs in self._minibatch_.portions(rows, signs, size):
                self._model_.learn(portion, its_signs, size, *steps)

    def _known_labels(self) -> Iterable[Any]:
        return self._labels_.classes

    def _scores(self) -> FloatArray:
        mean, spread = self._model_.mean, self._model_.spread
        scores: FloatArray = (mean**2 - self.penalty_spread * spread**2) / (2 * self.l2)
        return scores

    @fitted_property
    def normalized_scores_(self) -> FloatArray:
        """The scores scaled to the range from 0 to 1; all 0 if they are equal."""
        scores = self.scores_
        lowest = scores.min()
        length = scores.max() - lowest
        return np.asarray((scores - lowest) / (length if length > 0 else 1.0))

    @fitted_property
    def coef_(self) -> FloatArray:
        """Mean of every coefficient, positive where a feature is evidence for ``classes_[1]``."""
        return self._model_.mean.copy() if self._labels_.positive_is_larger else 0.0 - self._model_.mean

    @fitted_property
    def spread_(self) -> FloatArray:
        """Standard deviation of every coefficient."""
        return self._model_.spread.copy()

    @fitted_property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels seen, sorted."""
        return np.sort(np.array(self._labels_.classes))

    @fitted_property
    def n_waiting_(self) -> int:
        """Number of rows buffered for the next step."""
        return len(self._minibatch_)

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        if self._model_.n_features != self.n_features_in_ or not self._minibatch_.fits(self.n_features_in_):
            yield "the model or the minibatch has another number of features"
        if len(self._minibatch_) != (
            0 if self.batch_size is None else self.n_samples_seen_ % self.batch_size
        ):
            yield "there are not as many rows buffered as the number of rows leaves over"
