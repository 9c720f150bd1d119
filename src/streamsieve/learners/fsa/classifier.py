"""Linear classifier that drops features by an annealing schedule while it is fitted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from streamsieve._caller import warn
from streamsieve._one_thread import reads
from streamsieve.base.fitted import fitted_property
from streamsieve.exceptions import TargetError
from streamsieve.learners.fsa.annealed import AnnealedLearner
from streamsieve.learners.fsa.rows import Rows
from streamsieve.learners.inputs import ClassLabels, check_labels
from streamsieve.protocols import CLASSIFICATION, FloatArray, Traits
from streamsieve.state import Array, Bool, Choice, Nested, untouched_on_error


def _has_probabilities(learner: Any) -> bool:
    if learner.loss != "logistic":
        raise AttributeError(f"loss={learner.loss!r} gives no probabilities: use loss='logistic'")
    return True


class FSAClassifier(ClassifierMixin, AnnealedLearner):
    """Linear classifier with k features, selected by annealing while it is fitted.

    Feature selection with annealing (FSA): training starts with all features, and after every pass over the
    rows those with the smallest weights are dropped, many at first and then fewer, until ``k`` are left.  The
    total cost is that of a few passes over all features.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all features if there are fewer.
    loss : {"logistic", "lorenz", "hinge", "squared"}, default="logistic"
        Loss of a margin u: ``log(1 + exp(-u))``; ``log(1 + (u - 1)^2)`` below 1 and 0 above, which is robust
        to wrong labels; the hinge ``1 - u``, smoothed between 0.9 and 1.1; ``(u - 1)^2 /
        2``.
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
    balanced : bool, default=False
        Whether all classes have the same weight, whatever their number of rows.
    standardize : bool, default=True
        Whether features are scaled to unit variance.  If False, they are only centered, which favors large or
        frequent ones; this may suit text, with its many rare words.
    random_state : int or None, default=0
        Seed of the order of rows, in [0, 2^32).  If None, one is drawn by ``fit`` and saved.

    Attributes
    ----------
    selected_ : columns of the selected features, in column order
    ranked_ : columns of the features kept, largest weight first
    scores_ : float64 array, size of every feature's weight in units of its standard deviation; over several
        classes, the root of the sum of squares; 0 for dropped features
    coef_ : float64 array (1, features), or (classes, features) for more than two; in the units of the data
    intercept_ : float64 array, one per row of ``coef_``
    classes_ : the labels, in order
    loss_curve_ : float64 array, mean loss during every pass
    n_features_in_ : number of features seen

    Notes
    -----
    **Formula.** Minimizes ``mean loss(y, Xw) + l2 |w|^2 / 2`` with at most k non-zero weights.

    **When it fails.** The model is linear. With a fast schedule an informative feature may be dropped before
    its weight has grown, and a dropped feature does not return. k must be chosen.

    After pass e of N, ``k + (p - k) max(0, (N - 2 e) / (2 e mu + N))`` of p features are left.  Weights are
    compared in units of standard deviations, whatever ``standardize`` says; of equal ones those of the first
    columns stay.

    With a rate chosen by "auto", the gradient g of a minibatch with mean loss L is shortened until the step
    is no longer than ``2 L / |g|^2``.  That binds only where a minibatch is more curved than the one sampled,
    for example by a row of very large values or by rare words.

    ``partial_fit`` makes one pass over the rows it is given and drops features once: N calls are a whole run,
    with new rows each time or the same ones, which gives the result of ``fit``.  Scales are those of all rows
    seen.  Further calls continue training with the features that are left.

    Dense and sparse rows give the same result.  Sparse ones are never made dense nor centered in memory.

    More than two classes have a linear function each.  The loss of a row is the sum over the margins of its
    own class to the others; a feature is kept or dropped for all classes at once, by the norm of its weights.
    With the logistic loss ``predict_proba`` is the softmax of the functions.

    ``fit`` raises a ``ConvergenceWarning`` with advice if the loss diverged or has not converged, or if the
    classes are separable and ``l2`` is 0, so that weights grow without bound.

    Choices that the papers leave open: momentum is a moving average of gradients; the rate is chosen by
    default, because the authors' fixed one diverges for correlated features and the squared loss; minibatches
    are of equal size but for one row.  Deviations of the authors' programs that are not followed: one keeps
    all equal weights, and learns at a rate of 0.1 after the first pass; the other drops features from pass 10
    to 70 % of the passes, and always balances the logistic loss.

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
        """Make one pass over some rows, and drop features once.

        Parameters
        ----------
        X, y : as for :meth:`fit`
            The features must be those of the first call.
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
                    f"y holds one class only ({y[0].item()!r}): give rows of at least two classes, or name "
                    "all of them in the first call, as partial_fit(X, y, classes=...)"
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
            warn(
                "the features separate the classes, so that with l2=0 the best weights are infinite "
                "and these are as large as the epochs let them get: set l2 above 0, for example 0.001",
                ConvergenceWarning,
            )

    @fitted_property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in order."""
        return self._classes_.labels

    @fitted_property
    def coef_(self) -> FloatArray:
        """Coefficients in the units of the data; 0 for dropped features."""
        return self._linear_function()[0]

    @fitted_property
    def intercept_(self) -> FloatArray:
        """Intercept of the linear model."""
        return self._linear_function()[1]

    def decision_function(self, X: Any) -> FloatArray:
        """Return decision values: positive for ``classes_[1]``, or one column per class for more than two.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows with all features.
        """
        outputs = self._outputs_of(X)
        return outputs[:, 0] if self._outputs == 1 else outputs

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most likely class of every row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows with all features.
        """
        outputs = self._outputs_of(X)
        codes = (outputs[:, 0] > 0).astype(np.intp) if self._outputs == 1 else np.argmax(outputs, axis=1)
        return np.asarray(self.classes_[codes])

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @reads
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of every class, if the loss is logistic.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows with all features.
        """
        outputs = self._outputs_of(X)
        if self._outputs == 1:
            return np.column_stack([expit(-outputs[:, 0]), expit(outputs[:, 0])])
        return np.asarray(softmax(outputs, axis=1))
