"""Learners by name or as objects, and their predictions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import is_classifier, is_regressor

from streamsieve._parameters import did_you_mean
from streamsieve.evaluation.engine.copies import seeds_for, unfitted
from streamsieve.evaluation.measures.accuracy import BY_NUMBERS, BY_PROBABILITIES, BY_SCORES
from streamsieve.exceptions import CapabilityError, ParameterError
from streamsieve.learners.fsa.annealed import AnnealedLearner
from streamsieve.protocols import FloatArray, Matrix

#: Sparse rows are made dense up to this number of values (64 MB): most learners are then faster, and some
#: do not support sparse rows.
DENSE_VALUES = 2**23


BOOSTING = {
    "max_iter": 40, "max_leaf_nodes": 15, "max_bins": 63, "learning_rate": 0.2, "early_stopping": False
}  # fmt: skip
#: Classes of learners by name, for classes and for numbers, and parameters that are not the defaults.
CLASSIFIERS: dict[str, tuple[str, dict[str, Any]]] = {
    "nearest": ("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 1}),
    "knn": ("sklearn.neighbors.KNeighborsClassifier", {}),
    "tree": ("sklearn.tree.DecisionTreeClassifier", {"min_samples_leaf": 5}),
    "logistic": ("sklearn.linear_model.LogisticRegression", {"max_iter": 300}),
    "nb": ("sklearn.naive_bayes.GaussianNB", {}),
    "svm": ("sklearn.svm.LinearSVC", {"C": 0.01}),
    "forest": ("sklearn.ensemble.RandomForestClassifier", {}),
    "boosting": ("sklearn.ensemble.HistGradientBoostingClassifier", BOOSTING),
    "fsa": ("streamsieve.learners.FSAClassifier", {}),
    "sgd": ("sklearn.linear_model.SGDClassifier", {"loss": "log_loss"}),
}
REGRESSORS: dict[str, tuple[str, dict[str, Any]]] = {
    "nearest": ("sklearn.neighbors.KNeighborsRegressor", {"n_neighbors": 1}),
    "knn": ("sklearn.neighbors.KNeighborsRegressor", {}),
    "tree": ("sklearn.tree.DecisionTreeRegressor", {"min_samples_leaf": 5}),
    "ridge": ("sklearn.linear_model.Ridge", {}),
    "svm": ("sklearn.svm.LinearSVR", {}),
    "forest": ("sklearn.ensemble.RandomForestRegressor", {}),
    "boosting": ("sklearn.ensemble.HistGradientBoostingRegressor", BOOSTING),
    "fsa": ("streamsieve.learners.FSARegressor", {}),
    "sgd": ("sklearn.linear_model.SGDRegressor", {}),
}


def learner_names(*, regression: bool = False) -> list[str]:
    """Return the names of the learners for classes, or for a numeric target."""
    return [*(REGRESSORS if regression else CLASSIFIERS)]


def as_learners(learners: Any, *, regression: bool) -> dict[str, Any]:
    """Return learners by name, of a name or an estimator, several, or estimators by name."""
    named = by_name(
        learners, learner_label, "learners is empty: give a name such as 'logistic', or an estimator"
    )
    return {name: learner_of(learner, regression=regression) for name, learner in named.items()}


def by_name(given: Any, label: Callable[[Any], str], if_empty: str) -> dict[str, Any]:
    """Return one or several selectors or learners by name; equal labels are numbered."""
    if isinstance(given, Mapping):
        found = {str(name): each for name, each in given.items()}
    else:
        # ensembles of river are sequences of their members
        single = isinstance(given, str) or not isinstance(given, Sequence) or hasattr(given, "learn_one")
        found = {}
        for each in [given] if single else given:
            name = label(each)
            names = (name, *(f"{name} {i}" for i in range(2, len(found) + 3)))
            found[next(free for free in names if free not in found)] = each
    if not found:
        raise ParameterError(if_empty)
    return found


def learner_label(learner: Any) -> str:
    """Return the name by which a learner was given, or that of its class."""
    return learner if isinstance(learner, str) else type(learner).__name__


def learner_of(learner: Any, *, regression: bool) -> Any:
    """Return a learner given by name, or as an estimator."""
    if isinstance(learner, str):
        return _by_name(learner, regression=regression)
    if isinstance(learner, type) or not (hasattr(learner, "fit") and hasattr(learner, "predict")):
        raise ParameterError(
            f"a learner is a name ({', '.join(learner_names(regression=regression))}) or an estimator with "
            f"fit and predict; got {learner!r}"
        )
    if (is_classifier if regression else is_regressor)(learner):
        kind, other = ("numbers", "classes") if regression else ("classes", "numbers")
        raise CapabilityError(
            f"learner {type(learner).__name__} predicts {other}, but the target is made of {kind}: use "
            f"{'a regressor' if regression else 'a classifier'}, or say what the target is with task="
        )
    return learner


def _by_name(name: str, *, regression: bool) -> Any:
    known, other = (REGRESSORS, CLASSIFIERS) if regression else (CLASSIFIERS, REGRESSORS)
    if name not in known:
        kind = "a numeric target" if regression else "classes"
        why = f"{name!r} is not made for {kind}" if name in other else f"there is no learner {name!r}"
        raise ParameterError(
            f"{why}{did_you_mean(name, known)}; there is {', '.join(known)}, or any estimator of scikit-learn"
        )
    path, parameters = known[name]
    module, _, kind = path.rpartition(".")
    return getattr(importlib.import_module(module), kind)(**parameters)


def check_scores(learners: Mapping[str, Any], metric: str) -> None:
    """Refuse learners without scores if the metric needs them, before anything is computed."""
    for name, learner in learners.items() if metric in BY_PROBABILITIES else ():
        if not hasattr(learner, "predict_proba"):
            raise CapabilityError(
                f"metric={metric!r} needs probabilities, and learner {name!r} ({type(learner).__name__}) has "
                "no predict_proba: use metric='accuracy', or wrap it in "
                "sklearn.calibration.CalibratedClassifierCV"
            )
    for name, learner in learners.items() if metric in BY_SCORES else ():
        if not hasattr(learner, "decision_function") and not hasattr(learner, "predict_proba"):
            raise CapabilityError(
                f"AUC ranks rows by scores, and learner {name!r} ({type(learner).__name__}) gives none "
                "(decision_function or predict_proba): use metric='accuracy', or wrap it in "
                "sklearn.calibration.CalibratedClassifierCV"
            )


def fresh(learner: Any, seed: int, width: int | None = None) -> Any:
    """Return an unfitted copy, seeded where it is randomized, for a number of features."""
    changed = seeds_for(learner, seed)
    wanted = learner.k if isinstance(learner, AnnealedLearner) else None  # it selects further
    if width is not None and wanted is not None and wanted > width:
        changed["k"] = width
    return unfitted(learner, changed)


def predicted(
    learner: Any, train: Matrix, y: npt.NDArray[Any], test: Matrix, metric: str, n_classes: int
) -> npt.NDArray[Any]:
    """Fit a learner, and return the predictions that the metric needs: scores, codes or numbers.

    Without any feature, these are the majority class or the mean.
    """
    if train.shape[1] == 0:
        return _uninformed(y, test.shape[0], metric, n_classes)
    learner.fit(train, y)
    if metric in BY_SCORES:
        return scores_of(learner, test, n_classes)
    if metric in BY_PROBABILITIES:
        out = np.zeros((test.shape[0], n_classes))
        out[:, np.asarray(learner.classes_)] = learner.predict_proba(test)
        return out
    return np.asarray(learner.predict(test))


def scores_of(learner: Any, X: Matrix, n_classes: int) -> FloatArray:
    """Return one score per row for two classes, and one per row and class for more."""
    if hasattr(learner, "decision_function"):
        scores = np.asarray(learner.decision_function(X), np.float64)
    else:
        scores = np.asarray(learner.predict_proba(X), np.float64)
    known = np.asarray(learner.classes_)
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if n_classes == 2:
        return scores if scores.ndim == 1 else scores[:, int(np.searchsorted(known, 1))]
    if scores.ndim == 1:  # it saw two classes only
        scores = np.column_stack([-scores, scores])
    if scores.shape[1] != len(known):
        raise CapabilityError(
            f"{type(learner).__name__} gives {scores.shape[1]} scores per row for {len(known)} classes: let "
            "it compare each class with the rest (decision_function_shape='ovr')"
        )
    out = np.full((len(scores), n_classes), -np.inf)
    out[:, known] = scores
    return out


def _uninformed(y: npt.NDArray[Any], n: int, metric: str, n_classes: int) -> npt.NDArray[Any]:
    if metric in BY_SCORES:
        return np.zeros(n) if n_classes == 2 else np.zeros((n, n_classes))
    if metric in BY_PROBABILITIES:
        return np.tile(np.bincount(y, minlength=n_classes) / len(y), (n, 1))
    if metric in BY_NUMBERS:
        return np.full(n, y.mean())
    return np.full(n, np.bincount(y).argmax())


def taken(X: Matrix, columns: npt.NDArray[np.int64] | None) -> Matrix:
    """Return some columns for a learner, in their order in X; dense if that is small enough."""
    if not sp.issparse(X):
        return np.ascontiguousarray(X) if columns is None else X.take(np.sort(columns), axis=1)
    part = X if columns is None else X[:, np.sort(columns)]
    return part.toarray() if part.shape[0] * part.shape[1] <= DENSE_VALUES else sp.csr_array(part)
