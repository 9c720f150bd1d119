"""Base class of annealed classifiers and regressors: parameters, learning, selection."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from streamsieve._caller import warn
from streamsieve._validation import matrix
from streamsieve._values import refuse_non_finite
from streamsieve.base import Selector
from streamsieve.base.fitted import fitted_property
from streamsieve.base.ranking import DEFAULT_K
from streamsieve.base.seeded import Seeded
from streamsieve.exceptions import ParameterError
from streamsieve.learners.fsa.model import MOST_FEATURES, AnnealedModel, FSAConfig
from streamsieve.learners.fsa.rows import Rows
from streamsieve.protocols import BoolArray, FloatArray, IntArray
from streamsieve.state import Array, Bool, Field, Float, FloatOr, Int, Nested, Texts, untouched_on_error

#: Final slope of the loss, as a share of the initial slope, up to which the fit has converged.
SETTLED = 0.25
#: Mean loss of an epoch, as a multiple of that without weights, above which learning has diverged.
ASTRAY = 10.0
#: Share of the safe learning rate below which a given rate is considered too small.
SLOW = 0.1


class AnnealedLearner(Seeded, Selector):
    """A linear model that drops features by a schedule while it learns.

    A subclass has the parameters below, declares its losses, and implements :meth:`_targets`.
    """

    parameters: ClassVar[Mapping[str, Any]] = {
        "k": Int(1, optional=True),
        "epochs": Int(1, 1_000_000),
        "annealing": Float(0, 1e6),
        "learning_rate": FloatOr("auto", 0, 1e3, open_low=True),
        "momentum": Float(0, 1, open_high=True),
        "l2": Float(0, 1e6),
        "batch_size": Int(1),
        "standardize": Bool(),
    }
    fields: ClassVar[Mapping[str, Field]] = {
        "n_features_in_": Int(1, MOST_FEATURES),
        "feature_names_in_": Texts("features", optional=True),
        "loss_curve_": Array("f8", "epochs", finite=True),
        "_model_": Nested(AnnealedModel),
    }
    #: Number in the kernel and largest second derivative of every loss.
    _losses: ClassVar[dict[str, tuple[int, float]]]

    k: int | None
    loss: str
    epochs: int
    annealing: float
    learning_rate: float | str
    momentum: float
    l2: float
    batch_size: int
    standardize: bool

    @abstractmethod
    def _targets(self, y: Any, n: int) -> tuple[FloatArray, FloatArray]:
        """Return the values to be predicted for n rows, and the weights of the rows (1 on average)."""

    @property
    @abstractmethod
    def _outputs(self) -> int:
        """Number of linear functions."""

    @property
    def _units(self) -> FloatArray:
        """Center and spread of the target, in whose units it is learned."""
        return np.array([0.0, 1.0])

    def _config(self, p: int) -> FSAConfig:
        """Check the parameters for p features."""
        self._check_parameters()
        if self.k is not None and self.k > p:
            raise ParameterError(f"k={self.k}, but the rows have {p} feature(s): choose at most {p}")
        loss, curvature = self._losses[self.loss]
        return FSAConfig(
            k=min(p, DEFAULT_K if self.k is None else int(self.k)),
            loss=loss,
            curvature=curvature,
            epochs=int(self.epochs),
            annealing=float(self.annealing),
            learning_rate=None if self.learning_rate == "auto" else float(self.learning_rate),
            momentum=float(self.momentum),
            l2=float(self.l2),
            batch_size=int(self.batch_size),
            random_state=self._seed,
        )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Discard everything learned, and learn from these rows in ``epochs`` passes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            The target: one label or number per row.

        Returns
        -------
        self
        """
        with untouched_on_error(self):
            self._forget()
            X = matrix(self, X, reset=True, sparse="csr")
            refuse_non_finite(X, getattr(self, "feature_names_in_", None))
            config = self._config(X.shape[1])
            target, weight = self._targets(y, X.shape[0])
            model = self._new_model(X.shape[1])
            rows = model.rows(X)
            self.loss_curve_ = np.array(
                [self._step(model, rows, target, weight, config) for _ in range(config.epochs)]
            )
            self._model_ = model
        self._warn_unless_settled(model, rows, target, weight, config)
        self._look_back(rows, target)
        return self

    def _look_back(self, rows: Rows, target: FloatArray) -> None:
        """Warn about problems of the fitted model, if any."""

    def _partial_fit(self, X: Any, y: Any) -> Self:
        with untouched_on_error(self):
            first = not hasattr(self, "_model_")
            X = matrix(self, X, reset=first, sparse="csr")
            refuse_non_finite(X, getattr(self, "feature_names_in_", None))
            config = self._config(X.shape[1])
            units = self._units
            target, weight = self._targets(y, X.shape[0])
            if first:
                model = self._new_model(X.shape[1])
            else:
                model = self._model_.copy()
                model.change_units(units, self._units)
            rows = model.rows(X)
            loss = self._step(model, rows, target, weight, config)
            self.loss_curve_ = np.append(getattr(self, "loss_curve_", ()), loss)
            self._model_ = model
        return self

    def _new_model(self, p: int) -> AnnealedModel:
        return AnnealedModel(p, self._outputs, standardize=bool(self.standardize))

    def _step(
        self, model: AnnealedModel, rows: Rows, target: FloatArray, weight: FloatArray, config: FSAConfig
    ) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            loss = model.step(rows, target, weight, config)
        if not (np.isfinite(loss) and np.all(np.isfinite(model.beta))):
            raise ParameterError(
                f"with learning_rate={self.learning_rate!r} the weights grew without bound in epoch "
                f"{model.epoch}: {self._shorter_steps}"
            )
        return loss

    @property
    def _shorter_steps(self) -> str:
        """Advice on shorter steps, for warnings."""
        calmer = "a loss whose slope is bounded, such as 'lorenz'"
        if self.learning_rate == "auto":
            return f"a few rows outweigh all others: clip or transform large values, or choose {calmer}"
        return f"lower learning_rate, or say 'auto', or choose {calmer}"

    def _warn_unless_settled(
        self, model: AnnealedModel, rows: Rows, target: FloatArray, weight: FloatArray, config: FSAConfig
    ) -> None:
        """Warn, with advice, if the loss has not converged or has diverged."""
        share, start = model.unsettled(rows, target, weight, config)
        curve, rate = self.loss_curve_, config.learning_rate
        worst = int(np.argmax(curve))
        if curve[worst] > ASTRAY * start:
            warn(
                f"the features left may be the wrong ones: in epoch {worst + 1} the mean loss was "
                f"{curve[worst]:.3g}, but {start:.3g} without any weights; {self._shorter_steps}",
                ConvergenceWarning,
            )
        elif share > SETTLED:
            remedy = "raise epochs"
            if rate is not None and curve[-1] > 1.1 * curve.min():
                remedy = "lower learning_rate, or say 'auto'"
            elif rate is not None:
                safe = model.copy().safe_rate(rows, np.arange(rows.n), weight, config)
                remedy = "raise learning_rate, or say 'auto'" if rate < SLOW * safe else remedy
            warn(
                f"the weights have not settled after {self.epochs} epochs: the loss is still {share:.0%} as "
                f"steep as at the start; {remedy}",
                ConvergenceWarning,
            )

    @fitted_property
    def scores_(self) -> FloatArray:
        """Size of every feature's weight, in units of its standard deviation; 0 for dropped features."""
        model = self._model_
        scores = np.zeros(self.n_features_in_)
        scores[model.columns] = model.strength
        return scores

    @fitted_property
    def selected_(self) -> IntArray:
        """Columns of the selected features, in column order."""
        return np.sort(self._model_.columns)

    @fitted_property
    def ranked_(self) -> IntArray:
        """Columns of the selected features, largest weight first."""
        model = self._model_
        return model.columns[np.argsort(-model.strength, kind="stable")]

    def _support(self) -> BoolArray:
        mask = np.zeros(self.n_features_in_, bool)
        mask[self._model_.columns] = True
        return mask

    def _linear_function(self) -> tuple[FloatArray, FloatArray]:
        """Return weights (outputs, features) and intercepts in the units of the data."""
        model = self._model_
        weights = np.zeros((model.outputs, self.n_features_in_))
        own = model.beta * model.scale
        weights[:, model.columns] = own
        return weights, model.intercept[0] - own @ model.mean

    def _outputs_of(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = matrix(self, X, reset=False, sparse="csr")
        refuse_non_finite(X, getattr(self, "feature_names_in_", None))
        return self._model_.outputs_of(X)

    def _consistent(self) -> Iterator[str]:
        self._config(self.n_features_in_)
        model = self._model_
        if model.outputs != self._outputs or model.n_features != self.n_features_in_:
            yield "the model is one of other features or classes"
        if len(getattr(self, "feature_names_in_", range(model.n_features))) != model.n_features:
            yield "there is not one name per feature"
        if len(self.loss_curve_) != model.epoch:
            yield "there is not one loss per epoch"
