"""Linear regression that drops features by an annealing schedule while it is fitted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from streamsieve.base.fitted import fitted_property
from streamsieve.learners.fsa.annealed import AnnealedLearner
from streamsieve.learners.inputs import check_numbers
from streamsieve.protocols import FloatArray, Task, Traits
from streamsieve.state import Array, Choice

#: Minimum number of targets whose spread is taken as that of all.
LEAST_TARGETS = 30


class FSARegressor(RegressorMixin, AnnealedLearner):
    """Linear regression with k features, selected by annealing while it is fitted.

    Feature selection with annealing (FSA): training starts with all features, and after every pass over the
    rows those with the smallest weights are dropped, many at first and then fewer, until ``k`` are left.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all features if there are fewer.
    loss : {"squared", "lorenz"}, default="squared"
        Loss of a residual r in units of the target's spread: ``r^2 / 2``, or ``log(1 + r^2)``, which is
        robust to outliers.
    epochs : int, default=100
        Number of passes over the rows, at least 1.  The last feature is dropped after half of them.
    annealing : float, default=30.0
        Annealing rate, in [0, 1e6]; the paper's mu: larger values drop more features in the first passes.
        With 0 the same number is dropped after every pass.
    learning_rate : float or "auto", default="auto"
        Step size, in (0, 1000]. "auto" is the largest safe step for a minibatch sampled in every pass,
        reduced where it would overshoot, and decreasing once k features are left.
    momentum : float, default=0.9
        Momentum of the gradient steps, in [0, 1).
    l2 : float, default=0.001
        Strength of the L2 penalty, in [0, 1e6]: ``l2 |b|^2 / 2`` is added to the mean loss.
    batch_size : int, default=32
        Number of rows per minibatch, at least 1.
    standardize : bool, default=True
        Whether features are scaled to unit variance.  If False, they are only centered, which favors large or
        frequent ones; this may suit text, with its many rare words.
    random_state : int or None, default=0
        Seed of the order of rows, in [0, 2^32).  If None, one is drawn by ``fit`` and saved.

    Attributes
    ----------
    selected_ : columns of the selected features, in column order
    ranked_ : columns of the features kept, largest weight first
    scores_ : float64 array, size of every feature's weight, feature in units of its standard
        deviation and target in units of its spread; 0 for dropped features
    coef_ : float64 array, one weight per feature, in the units of the data
    intercept_ : float
    loss_curve_ : float64 array, mean loss during every pass
    n_features_in_ : number of features seen

    Notes
    -----
    **Formula.** Minimizes ``mean loss(y, Xw) + l2 |w|^2 / 2`` with at most k non-zero weights.

    **When it fails.** The model is linear, and a dropped feature does not return. Outliers of the target need
    ``loss="lorenz"``.

    As for :class:`FSAClassifier`.  The target is learned in units of its spread about its center: standard
    deviation and mean, or, for "lorenz", median and 1.4826 times the median absolute deviation, which are
    robust to outliers.  Both are estimated from the first call; if it has fewer than 30 rows, or a constant
    target, from the first calls until both conditions hold.

    References
    ----------
    Barbu, She, Ding, Gramajo, Feature Selection with Annealing for Computer Vision and Big Data Learning,
    IEEE TPAMI 39 (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.learners.fsa import FSARegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 200)) + rng.normal(size=(300, 1))  # any two are correlated by 0.5
    >>> y = 5 + X[:, 3] + X[:, 50] - 2 * X[:, 120] + rng.normal(size=300)
    >>> model = FSARegressor(k=3).fit(X, y)
    >>> sorted(model.selected_.tolist()), bool(abs(model.coef_[120] + 2) < 0.2)
    ([3, 50, 120], True)
    """

    _traits: ClassVar[Traits] = Traits(
        tasks=frozenset({Task.REGRESSION}), any_chunking=False, size_parameter="k"
    )
    _losses: ClassVar[dict[str, tuple[int, float]]] = {"squared": (4, 1.0), "lorenz": (5, 2.0)}
    parameters = {**AnnealedLearner.parameters, "loss": Choice(*_losses)}
    fields = {
        **AnnealedLearner.fields,
        "_target_": Array("f8", 2, finite=True),
        "_first_targets_": Array("f8", "first", finite=True),
    }
    _first_targets_: FloatArray

    def __init__(
        self,
        k: int | None = None,
        *,
        loss: str = "squared",
        epochs: int = 100,
        annealing: float = 30.0,
        learning_rate: float | str = "auto",
        momentum: float = 0.9,
        l2: float = 1e-3,
        batch_size: int = 32,
        standardize: bool = True,
        random_state: int | None = 0,
    ) -> None:
        self.k = k
        self.loss = loss
        self.epochs = epochs
        self.annealing = annealing
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.l2 = l2
        self.batch_size = batch_size
        self.standardize = standardize
        self.random_state = random_state

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield both losses, and the other ways of stepping and scaling."""
        yield cls()
        lorenz = cls(k=1, loss="lorenz", momentum=0.0, epochs=50, random_state=1)
        yield lorenz.set_params(standardize=False, annealing=0.0, batch_size=8)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Make one pass over some rows, and drop features once.

        Parameters
        ----------
        X, y : as for :meth:`fit`
            The features must be those of the first call.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y)

    def _targets(self, y: Any, n: int) -> tuple[FloatArray, FloatArray]:
        y = check_numbers(y, n)
        if not hasattr(self, "_target_") or len(self._first_targets_):
            seen: FloatArray = np.concatenate([getattr(self, "_first_targets_", ()), y])
            center, spread = float(np.mean(seen)), float(np.std(seen))
            if self.loss == "lorenz":
                center = float(np.median(seen))
                spread = 1.4826 * float(np.median(np.abs(seen - center))) or spread
            self._target_ = np.array([center, spread or 1.0])
            self._first_targets_ = seen[: LEAST_TARGETS if len(seen) < LEAST_TARGETS or not spread else 0]
        return (y - self._target_[0]) / self._target_[1], np.ones(n)

    @property
    def _units(self) -> FloatArray:
        return self._target_ if hasattr(self, "_target_") else super()._units

    @property
    def _outputs(self) -> int:
        return 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = None
        return tags

    @fitted_property
    def coef_(self) -> FloatArray:
        """Coefficients in the units of the data; 0 for dropped features."""
        return np.asarray(self._linear_function()[0][0] * self._target_[1])

    @fitted_property
    def intercept_(self) -> float:
        """Intercept of the linear model."""
        return float(self._linear_function()[1][0] * self._target_[1] + self._target_[0])

    def predict(self, X: Any) -> FloatArray:
        """Return the number predicted for every row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows with all features.
        """
        return np.asarray(self._outputs_of(X)[:, 0] * self._target_[1] + self._target_[0])

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        if self._target_[1] <= 0 or len(self._first_targets_) > LEAST_TARGETS:
            yield "the target has no scale, or too many first values"
