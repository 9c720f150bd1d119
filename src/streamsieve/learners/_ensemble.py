"""What ensembles share: blocks of columns that become members, and the combination of what members say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from streamsieve._parameters import check_choice, check_number
from streamsieve._validation import check_block, matrix, refuse_non_finite
from streamsieve.base._saved import Saved
from streamsieve.exceptions import NotBegunError, StateError
from streamsieve.learners._block_names import check_names, names_with
from streamsieve.learners._members import Members, check_members, check_weights, opinion
from streamsieve.learners._stacking import stacking_weights
from streamsieve.learners._targets import Classes, check_labels, check_numbers, rows_of
from streamsieve.protocols import CLASSIFICATION, BoolArray, FloatArray, IntArray, Task, Traits
from streamsieve.state import untouched_on_error

TASKS = ("classification", "regression")


def _classifies(ensemble: Any) -> bool:
    if ensemble.task != "classification":
        raise AttributeError(f"task={ensemble.task!r} has no probabilities")
    return True


class Ensemble(Saved, ABC):
    """Voices that are weighted by what they say about rows they did not learn from.

    A voice is one learner, or a bag of learners that speak as one.  It knows one block of columns.  A
    subclass has the parameters below, and writes the methods that are abstract here.

    Attributes
    ----------
    _y_ : what is learnt, codes of classes or numbers
    _centre_ : mean of the numbers to learn, from which deviations are weighted; 0 for classes
    _bags_ : learners a voice
    _block_of_ : block of every voice
    _opinions_ : (voices, rows, classes), what each said about rows that it did not learn from
    _members_ : the learners, voice by voice
    """

    task: str
    convex: bool
    random_state: int

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""

    @abstractmethod
    def _plan(self) -> None:
        """Note what decides which rows are learnt from, so that it is the same for all blocks."""

    @abstractmethod
    def _judged(self) -> BoolArray:
        """Return which rows have been kept from some learner of every voice."""

    @abstractmethod
    def _voices(self, X: Any) -> Iterator[tuple[list[Any], FloatArray]]:
        """Learn a block; yield the learners of every voice, and its opinion on rows it did not learn from."""

    @property
    def traits(self) -> Traits:
        """What the learner can do with its present parameters."""
        tasks = frozenset({Task.REGRESSION}) if self.task == "regression" else CLASSIFICATION
        return Traits(tasks=tasks, any_chunking=False)

    # ---------------------------------------------------------------- learning

    def begin(self, y: Any = None) -> Self:
        """Start a stream of columns over the rows of y; whatever was learnt before is forgotten.

        Parameters
        ----------
        y : one label or number a row

        Returns
        -------
        self
        """
        with untouched_on_error(self):
            self._forget()
            self._begin(y, rows_of(y))
        return self

    def _begin(self, y: Any, n: int) -> None:
        check_choice("task", self.task, TASKS)
        check_choice("convex", self.convex, (False, True))
        check_number("random_state", self.random_state, low=0, high=2**32 - 1, integer=True)
        self._check_parameters()
        self._y_ = self._target(y, n)
        self._centre_ = 0.0 if self._n_classes else float(self._y_.mean())
        self.n_rows_, self.n_features_in_, self._bags_ = n, 0, 1
        self.edges_: IntArray = np.zeros(1, np.int64)
        self.weights_: FloatArray = np.zeros(0)
        self._block_of_: IntArray = np.zeros(0, np.int64)
        self._opinions_: FloatArray = np.zeros((0, n, max(self._n_classes, 1)))
        self._members_ = Members([])
        self._plan()

    def offer(self, X: Any, names: Sequence[str] | str | None = None) -> Self:
        """Learn a block of columns, which becomes a new member, and weigh all members anew.

        Parameters
        ----------
        X : columns (dense, sparse or dataframe) over the rows given to ``begin``
        names : their names, unlike any before; a dataframe brings its own

        Returns
        -------
        self
        """
        if not hasattr(self, "_y_"):
            raise NotBegunError(f"call {type(self).__name__}.begin(y) before offering columns")
        block = check_block(X, [names] if isinstance(names, str) else names, self.n_rows_)
        all_names = names_with(self, block)
        with untouched_on_error(self):
            self._check_parameters()
            self._learn(sp.csr_array(block.X) if sp.issparse(block.X) else np.ascontiguousarray(block.X))
            if all_names is not None:
                self.feature_names_in_ = all_names
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Begin, and offer the columns of X.

        Parameters
        ----------
        X : all columns (dense, sparse or dataframe)
        y : one label or number a row

        Returns
        -------
        self
        """
        with untouched_on_error(self):
            self._forget()
            X = matrix(self, X, reset=True, sparse="csr")
            refuse_non_finite(X, getattr(self, "feature_names_in_", None))
            p = X.shape[1]
            self._begin(y, X.shape[0])
            size = self._columns_a_block(p)
            for low in range(0, p, size):
                self._learn(X if size >= p else X[:, low : low + size])
        return self

    def _columns_a_block(self, p: int) -> int:
        """Return in how large blocks ``fit`` learns p columns."""
        return p

    def _learn(self, X: Any) -> None:
        learners, said = [], []
        for own, opinions in self._voices(X):
            learners += own
            said.append(opinions)
        self._opinions_ = np.concatenate([self._opinions_, np.stack(said)])
        self._members_ = Members([*self._members_.fitted, *learners])
        self._block_of_ = np.append(self._block_of_, np.full(len(said), len(self.edges_) - 1))
        self.n_features_in_ += X.shape[1]
        self.edges_ = np.append(self.edges_, self.n_features_in_)
        self.weights_ = self._weights()

    def _weights(self) -> FloatArray:
        voices, judged = len(self._opinions_), self._judged()
        if not judged.any():
            return np.full(voices, 1.0 / voices)
        return stacking_weights(
            self._opinions_[:, judged].reshape(voices, -1) - self._centre_,
            self._wanted(self._y_)[judged].ravel() - self._centre_,
            convex=self.convex,
        )

    # ---------------------------------------------------------------- targets

    @property
    def _n_classes(self) -> int:
        """How many classes there are; 0 in regression."""
        return len(self._classes_) if self.task == "classification" else 0

    def _target(self, y: Any, n: int) -> npt.NDArray[Any]:
        """Check the target and note its classes; return what members learn, codes or numbers."""
        if self.task == "regression":
            return check_numbers(y, n)
        y = check_labels(y, n)
        self._classes_ = Classes.of(y)
        return self._classes_.encode(y)

    def _wanted(self, target: npt.NDArray[Any]) -> FloatArray:
        """Return what opinions should come to: 1 for the own class, or the number."""
        if self.task == "regression":
            return np.asarray(target, np.float64).reshape(-1, 1)
        own: FloatArray = np.eye(self._n_classes)[target]
        return own

    # ---------------------------------------------------------------- predicting

    def _combined(self, X: Any) -> FloatArray:
        """Return the combined opinion on some rows: (rows, classes), or (rows, 1) for numbers."""
        combined = np.full((X.shape[0], max(self._n_classes, 1)), self._centre_)
        bags = self._bags_
        for voice, weight in enumerate(self.weights_):
            if weight > 0:
                low, high = self.edges_[self._block_of_[voice] :][:2]
                block = X if high - low == X.shape[1] else X[:, low:high]
                for learner in self._members_.fitted[voice * bags : (voice + 1) * bags]:
                    combined += weight / bags * (self._said(learner, block) - self._centre_)
        return combined

    def _said(self, learner: Any, X: Any) -> FloatArray:
        """Return what a learner says about rows."""
        return opinion(learner, X, self._n_classes)

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        if not len(self.weights_):
            raise NotBegunError("no columns were offered yet: offer a block before predicting")
        X = matrix(self, X, reset=False, sparse="csr")
        refuse_non_finite(X, getattr(self, "feature_names_in_", None))
        return X

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in order; there are none in regression."""
        if not hasattr(self, "_classes_"):
            raise AttributeError("classes_ is there once class labels have been learnt")
        return self._classes_.labels

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class or the number predicted for every row.

        Parameters
        ----------
        X : rows with all features
        """
        combined = self._combined(self._rows(X))
        if self.task == "regression":
            return combined[:, 0]
        labels: npt.NDArray[Any] = self.classes_[np.argmax(combined, axis=1)]
        return labels

    @available_if(_classifies)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of every class in the combined opinion.

        Parameters
        ----------
        X : rows with all features
        """
        combined = self._combined(self._rows(X))
        total = combined.sum(axis=1, keepdims=True)
        shares = np.where(total > 0, combined, 1.0)
        likely: FloatArray = shares / shares.sum(axis=1, keepdims=True)
        return likely

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of right predictions, or R^2 in regression.

        Parameters
        ----------
        X, y : rows and what they are
        sample_weight : how much each row counts; None for all the same
        """
        measure = r2_score if self.task == "regression" else accuracy_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    # ---------------------------------------------------------------- the scikit-learn face

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        if self.task == "regression":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    # ---------------------------------------------------------------- saving

    def _restored(self) -> None:
        check_choice("task", self.task, TASKS)
        self._check_parameters()
        if self.task == "classification" and not isinstance(self._classes_, Classes):
            raise StateError("the state lacks its classes")
        check_number("bags", self._bags_, low=1, integer=True)
        check_number("centre", self._centre_)
        check_names(self)
        edges, block_of = self.edges_, self._block_of_
        if edges.dtype != np.int64 or edges[0] != 0 or np.any(np.diff(edges) < 1):
            raise StateError("the state's blocks do not fit together")
        if block_of.dtype != np.int64 or block_of.ndim != 1 or not _covers(block_of, len(edges) - 1):
            raise StateError("the state's members do not fit its blocks")
        voices = len(block_of)
        if edges[-1] != self.n_features_in_ or len(self._members_) != voices * self._bags_:
            raise StateError("the state's members do not fit its blocks")
        check_weights(self.weights_, voices)
        expected = (voices, self.n_rows_, max(self._n_classes, 1))
        if np.shape(self._opinions_) != expected or not np.all(np.isfinite(self._opinions_)):
            raise StateError("the state's predictions do not fit its rows")
        self._check_target()
        check_members(self._members_, np.repeat(np.diff(edges)[block_of], self._bags_), self._n_classes)

    def _check_target(self) -> None:
        y = self._y_
        fits = np.shape(y) == (self.n_rows_,) and y.dtype == (np.int64 if self._n_classes else np.float64)
        if not fits or not np.all(np.isfinite(y)):
            raise StateError("the state's target does not fit its rows")
        if self._n_classes and (y.min() < 0 or y.max() >= self._n_classes):
            raise StateError("the state's target does not fit its classes")


def _covers(block_of: IntArray, blocks: int) -> bool:
    """Whether voices are numbered by their blocks in order, with one at least for every block."""
    return np.array_equal(np.unique(block_of), np.arange(blocks)) and bool(np.all(np.diff(block_of) >= 0))
