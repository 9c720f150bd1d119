"""Feature selection with annealing: linear models that drop features by a schedule while they are fitted."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from streamsieve.base.selector import fitted_property
from streamsieve.exceptions import TargetError
from streamsieve.learners.fsa.annealed import AnnealedLearner
from streamsieve.learners.fsa.rows import Rows
from streamsieve.learners.targets import ClassLabels, check_labels, check_numbers
from streamsieve.protocols import CLASSIFICATION, FloatArray, Task, Traits
from streamsieve.state import Array, Bool, Choice, Nested, untouched_on_error

#: Targets below which their spread is not taken for that of all.
FEW = 30


def _has_probabilities(learner: Any) -> bool:
    if learner.loss != "logistic":
        raise AttributeError(f"loss={learner.loss!r} gives no probabilities: use loss='logistic'")
    return True


class FSAClassifier(ClassifierMixin, AnnealedLearner):
    """Linear classifier with k features, selected by annealing while it is fitted.

    Learning starts with all features.  After every pass over the rows those with the smallest weights go,
    many at first and then fewer and fewer, until ``k`` are left.  What has gone costs nothing any
    more, so all passes together take the time of a few over all features.

    Parameters
    ----------
    k : int or None, default=None
        Features to keep, at least 1.  None: 10, or all features if there are fewer.
    loss : {"logistic", "lorenz", "hinge", "squared"}, default="logistic"
        Loss of a margin u: ``log(1 + exp(-u))``; ``log(1 + (u - 1)^2)`` below 1 and 0 above, which hardly
        minds wrong labels; the hinge ``1 - u`` with its corner rounded off between 0.9 and 1.1; ``(u - 1)^2 /
        2``.
    epochs : int, default=100
        Passes over the rows, at least 1.  The last feature goes after half of them.
    annealing : float, default=30.0
        How fast features go at first, 0 to 1e6; the papers' mu.  0: the same number after every pass.
    learning_rate : float or "auto", default="auto"
        Length of the steps, above 0 and at most 1000.  "auto": as long as is safe for a minibatch sampled in
        every pass, shortened for those that would overshoot, and shorter and shorter once the features are
        found.
    momentum : float, default=0.9
        Share of the last direction in the next, 0 <= momentum < 1.
    l2 : float, default=0.001
        How strongly weights are pulled to 0, 0 to 1e6: ``l2 |b|^2 / 2`` is added to the mean loss.
    batch_size : int, default=32
        Rows whose mean gradient makes a step, at least 1.
    balanced : bool, default=False
        Whether all classes count the same, however many rows they have.
    standardize : bool, default=True
        Whether features are learned in units of their standard deviation.  False: they are only centered, so
        the weights of large or frequent ones are learned sooner, and in doubt these are preferred.  That may
        suit text, whose rare words would otherwise count as much as frequent ones.
    random_state : int or None, default=0
        Seed of the order of rows, in [0, 2^32).  If None, a seed is drawn when a fit begins, and saved with
        the state.

    Attributes
    ----------
    selected_ : columns of the selected features, in column order
    ranked_ : columns of the features kept, largest weight first
    scores_ : float64 array, size of every feature's weight in units of its standard deviation; over several
        classes, the root of the sum of squares; 0 for features that went
    coef_ : float64 array (1, features), or (classes, features) for more than two; for values as they come
    intercept_ : float64 array, one per row of ``coef_``
    classes_ : the labels, in order
    loss_curve_ : float64 array, mean loss of every pass, on the way
    n_features_in_ : features seen

    Notes
    -----
    After pass e of N, ``k + (p - k) max(0, (N - 2 e) / (2 e mu + N))`` of p features are left.  Weights are
    compared in units of standard deviations, whatever ``standardize`` says; of equal ones those of the first
    columns stay.

    With a rate chosen by "auto", the gradient g of a minibatch with mean loss L is shortened until the step
    is no longer than ``2 L / |g|^2``.  That binds only where a minibatch is more curved than the one sampled,
    for example by a row of very large values or by rare words.

    ``partial_fit`` makes one pass over the rows it is given and drops features once, so N calls are a whole
    run, with new rows each time or with the same ones again and again.  Calling it N times with the rows of
    ``fit`` gives the result of ``fit``.  Scales are those of all rows seen.  Further calls go on learning
    with the features that are left.

    Dense and sparse rows give the same result.  Sparse ones are never made dense nor centered in memory:
    means are taken off in arithmetic, and a feature that is absent from a minibatch catches up with momentum
    and L2 penalty when it is met again.

    More than two classes have a linear function each.  The loss of a row is the sum over the margins of its
    own class to the others.  A feature is kept or dropped for all classes at once, by the length of its
    weights.  With the logistic loss the best functions are logarithms of probabilities (up to a common
    summand), so ``predict_proba`` is their softmax.

    If the classes can be separated, the logistic loss has no least value and without an L2 penalty weights
    only grow; with the default one they settle.  A ``ConvergenceWarning`` of ``fit`` says what to change if
    the loss exploded on the way or is still steep in the end, or if the classes are separated and ``l2`` is
    0.

    Where the papers leave things open or their programs differ from them: momentum is a moving average of
    gradients; the rate is chosen by default, because the programs' fixed one diverges for correlated features
    and the squared loss; minibatches are of equal size but for one row; exactly the scheduled number of
    features is left (one of the authors' programs keeps all equal weights, so that with weights of 0 nothing
    goes; and it learns at a rate of 0.1 after the first pass, whatever rate is given); features go from the
    first pass on and until half of the passes, as in the papers (the other program waits for ten passes and
    goes on until 70 % of them, and its logistic loss is always ``balanced``).

    References
    ----------
    Barbu, She, Ding, Gramajo, Feature Selection with Annealing for Computer Vision and Big Data Learning,
    IEEE TPAMI 39 (2017); Wang, Online and Offline Feature Screening and Applications, 2021, sections 2.5 and
    3.4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.learners.fsa import FSAClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 200)) + rng.normal(size=(500, 1))  # any two are correlated by 0.5
    >>> y = X[:, 3] + X[:, 50] - X[:, 120] > 0
    >>> model = FSAClassifier(k=3).fit(X, y)
    >>> sorted(model.selected_.tolist())
    [3, 50, 120]
    >>> model.score(X, y) > 0.95
    True
    """

    _traits: ClassVar[Traits] = Traits(tasks=CLASSIFICATION, any_chunking=False, size_parameter="k")
    _losses: ClassVar[dict[str, tuple[int, float]]] = {
        "logistic": (0, 0.25), "lorenz": (1, 2.0), "hinge": (2, 5.0), "squared": (3, 1.0),
    }  # fmt: skip
    parameters = {**AnnealedLearner.parameters, "loss": Choice(*_losses), "balanced": Bool()}
    fields = {
        **AnnealedLearner.fields,
        "_classes_": Nested(ClassLabels, shares=("classes",)),
        "_counts_": Array("i8", "classes", low=0),
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        loss: str = "logistic",
        epochs: int = 100,
        annealing: float = 30.0,
        learning_rate: float | str = "auto",
        momentum: float = 0.9,
        l2: float = 1e-3,
        batch_size: int = 32,
        balanced: bool = False,
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
        self.balanced = balanced
        self.standardize = standardize
        self.random_state = random_state

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield every loss, and the other ways of stepping and scaling."""
        yield cls()
        yield cls(loss="lorenz", balanced=True, epochs=50)
        yield cls(loss="hinge", annealing=0.0, epochs=60)
        squared = cls(k=2, loss="squared", momentum=0.0, epochs=50, random_state=1)
        yield squared.set_params(standardize=False, batch_size=8)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Pass once over some rows, and drop features once.

        Parameters
        ----------
        X, y : as for :meth:`fit`; the features must be those of the first call
        classes : all labels, needed in the first call if its rows do not have them all

        Returns
        -------
        self
        """
        with untouched_on_error(self):
            if classes is not None:
                named = ClassLabels.of(check_labels(classes, np.size(classes)))
                if hasattr(self, "_classes_") and not np.array_equal(named.labels, self.classes_):
                    raise TargetError(
                        f"classes={named.labels.tolist()}, but the first call had {self.classes_.tolist()}"
                    )
                self._classes_ = named
            return self._partial_fit(X, y)

    def _targets(self, y: Any, n: int) -> tuple[FloatArray, FloatArray]:
        y = check_labels(y, n)
        if not hasattr(self, "_classes_"):
            if np.all(y == y[0]):
                raise TargetError(
                    f"y holds one class only ({y[0].item()!r}), so there is nothing to tell apart: give rows "
                    "of at least two classes, or name all of them in the first call, as partial_fit(X, y, "
                    "classes=...)"
                )
            self._classes_ = ClassLabels.of(y)
        codes = self._classes_.encode(y)
        seen = np.bincount(codes, minlength=len(self._classes_))
        self._counts_ = getattr(self, "_counts_", 0) + seen
        weight = np.ones(n)
        if self.balanced:
            weight = (self._counts_.sum() / (len(seen) * np.maximum(self._counts_, 1)))[codes]
        target: FloatArray = codes.astype(np.float64)
        return 2.0 * target - 1.0 if self._outputs == 1 else target, weight

    @property
    def _outputs(self) -> int:
        return 1 if len(self._classes_) == 2 else len(self._classes_)

    def _look_back(self, rows: Rows, target: FloatArray) -> None:
        if self.loss != "logistic" or self.l2 > 0:
            return
        outputs = rows.products(self._model_.beta) + self._model_.intercept[0]
        right = np.sign(outputs[:, 0]) if self._outputs == 1 else np.argmax(outputs, axis=1)
        if np.array_equal(right, target):
            warnings.warn(
                "the features separate the classes, so that with l2=0 the best weights are infinite "
                "and these are as large as the epochs let them get: set l2 above 0, for example 0.001",
                ConvergenceWarning,
                stacklevel=3,
            )

    # ---------------------------------------------------------------- what was learned

    @fitted_property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in order."""
        return self._classes_.labels

    @fitted_property
    def coef_(self) -> FloatArray:
        """Weights for values as they come; 0 for features that went."""
        return self._linear_function()[0]

    @fitted_property
    def intercept_(self) -> FloatArray:
        """What is added to the products with the weights."""
        return self._linear_function()[1]

    def decision_function(self, X: Any) -> FloatArray:
        """Return how much speaks for ``classes_[1]``, or for every class where there are more than two.

        Parameters
        ----------
        X : rows with all features
        """
        outputs = self._outputs_of(X)
        return outputs[:, 0] if self._outputs == 1 else outputs

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most likely class of every row.

        Parameters
        ----------
        X : rows with all features
        """
        outputs = self._outputs_of(X)
        codes = (outputs[:, 0] > 0).astype(np.intp) if self._outputs == 1 else np.argmax(outputs, axis=1)
        labels: npt.NDArray[Any] = self.classes_[codes]
        return labels

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of every class, if the loss is logistic.

        Parameters
        ----------
        X : rows with all features
        """
        outputs = self._outputs_of(X)
        if self._outputs == 1:
            return np.column_stack([expit(-outputs[:, 0]), expit(outputs[:, 0])])
        likely: FloatArray = softmax(outputs, axis=1)
        return likely


class FSARegressor(RegressorMixin, AnnealedLearner):
    """Linear regression with k features, selected by annealing while it is fitted.

    Learning starts with all features.  After every pass over the rows those with the smallest weights go,
    many at first and then fewer and fewer, until ``k`` are left.

    Parameters
    ----------
    k : int or None, default=None
        Features to keep, at least 1.  None: 10, or all features if there are fewer.
    loss : {"squared", "lorenz"}, default="squared"
        Loss of a residual r in units of the target's spread: ``r^2 / 2``, or ``log(1 + r^2)``, which hardly
        minds outliers.
    epochs : int, default=100
        Passes over the rows, at least 1.  The last feature goes after half of them.
    annealing : float, default=30.0
        How fast features go at first, 0 to 1e6; the papers' mu.  0: the same number after every pass.
    learning_rate : float or "auto", default="auto"
        Length of the steps, above 0 and at most 1000.  "auto": as long as is safe for a minibatch sampled in
        every pass, shortened for those that would overshoot, and shorter and shorter once the features are
        found.
    momentum : float, default=0.9
        Share of the last direction in the next, 0 <= momentum < 1.
    l2 : float, default=0.001
        How strongly weights are pulled to 0, 0 to 1e6: ``l2 |b|^2 / 2`` is added to the mean loss.
    batch_size : int, default=32
        Rows whose mean gradient makes a step, at least 1.
    standardize : bool, default=True
        Whether features are learned in units of their standard deviation.  False: they are only centered, so
        the weights of large or frequent ones are learned sooner, and in doubt these are preferred.  That may
        suit text, whose rare words would otherwise count as much as frequent ones.
    random_state : int or None, default=0
        Seed of the order of rows, in [0, 2^32).  If None, a seed is drawn when a fit begins, and saved with
        the state.

    Attributes
    ----------
    selected_ : columns of the selected features, in column order
    ranked_ : columns of the features kept, largest weight first
    scores_ : float64 array, size of every feature's weight, feature in units of its standard
        deviation and target in units of its spread; 0 for features that went
    coef_ : float64 array, one weight per feature, for values as they come
    intercept_ : float
    loss_curve_ : float64 array, mean loss of every pass, on the way
    n_features_in_ : features seen

    Notes
    -----
    As for :class:`FSAClassifier`.  The target is learned in units of its spread about its centre: standard
    deviation and mean, or for "lorenz", which would otherwise take the outliers' measure, 1.4826 times the
    median distance from the median.  Both are those of the first call; if it has fewer than 30 rows, or its
    target does not vary, those of the first calls up to and with the one that makes good for it.

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
        """Pass once over some rows, and drop features once.

        Parameters
        ----------
        X, y : as for :meth:`fit`; the features must be those of the first call

        Returns
        -------
        self
        """
        return self._partial_fit(X, y)

    def _targets(self, y: Any, n: int) -> tuple[FloatArray, FloatArray]:
        y = check_numbers(y, n)
        if not hasattr(self, "_target_") or len(self._first_targets_):
            seen: FloatArray = np.concatenate([getattr(self, "_first_targets_", ()), y])
            centre, spread = float(np.mean(seen)), float(np.std(seen))
            if self.loss == "lorenz":
                centre = float(np.median(seen))
                spread = 1.4826 * float(np.median(np.abs(seen - centre))) or spread
            self._target_ = np.array([centre, spread or 1.0])
            # a target that does not vary says as much in a few rows as in many
            self._first_targets_ = seen[: FEW if len(seen) < FEW or not spread else 0]
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

    # ---------------------------------------------------------------- what was learned

    @fitted_property
    def coef_(self) -> FloatArray:
        """Weights for values as they come; 0 for features that went."""
        weights: FloatArray = self._linear_function()[0][0] * self._target_[1]
        return weights

    @fitted_property
    def intercept_(self) -> float:
        """What is added to the products with the weights."""
        return float(self._linear_function()[1][0] * self._target_[1] + self._target_[0])

    def predict(self, X: Any) -> FloatArray:
        """Return the number predicted for every row.

        Parameters
        ----------
        X : rows with all features
        """
        predicted: FloatArray = self._outputs_of(X)[:, 0] * self._target_[1] + self._target_[0]
        return predicted

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        if self._target_[1] <= 0 or len(self._first_targets_) > FEW:
            yield "the target has no scale, or too many first values"
