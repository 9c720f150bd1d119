"""One method on one set: balanced accuracy of three learners, features kept and seconds, by nested folds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from streamsieve.choosing import Profile, choose
from streamsieve.evaluation import screening_protocol
from streamsieve.exceptions import CapabilityError
from studies._data import MissingDataError
from studies._desk import Desk
from studies.defaults.methods import METHODS, WIDEST, K
from studies.defaults.sets import MOST_ROWS, NAMES, TOO_LONG, Sample, sample

LEARNERS: dict[str, Any] = {
    "5-NN": KNeighborsClassifier(5),
    "logistic": LogisticRegression(max_iter=300),
    "naive Bayes": GaussianNB(),
}
FOLDS = 5


def size_of(desk: Desk) -> tuple[int, int]:
    """Return how many rows of a set are used at most, and how many folds."""
    return (80, 2) if desk.quick else (MOST_ROWS, FOLDS)


def compute(
    desk: Desk, names: Sequence[str] = NAMES, methods: Sequence[str] = tuple(METHODS)
) -> dict[str, dict[str, Any]]:
    """Return by set and method what was measured; sets and methods that are left out are not there."""
    names = ("breast_cancer", "wine") if desk.quick else names
    rows, folds = size_of(desk)
    found: dict[str, dict[str, Any]] = {}
    for name in (name for name in names if name not in TOO_LONG):
        try:
            data = sample(name, rows)
        except MissingDataError as error:
            desk.skip(name, str(error))
            continue
        about = {"rows": data.X.shape[0], "columns": data.X.shape[1], "classes": len(np.unique(data.y))}
        found[name] = {"about": about, "methods": _methods(desk, name, data, folds, methods)}
    return found


def _methods(desk: Desk, name: str, data: Sample, folds: int, methods: Sequence[str]) -> dict[str, Any]:
    profile = Profile.of(data.X, data.y, task="classification")
    found = {}
    for method in methods:
        if data.X.shape[1] > WIDEST.get(method, data.X.shape[1]):
            continue
        # the rule is part of what a stored result depends on
        rule = _rule(profile, method.removeprefix("auto, ")) if method.startswith("auto") else ""
        settings = {"form": 1, "rows": data.X.shape[0], "folds": folds, "k": K, "rule": rule}
        try:
            found[method] = desk.part(f"{name}, {method}", settings, measured, METHODS[method](), data, folds)
        except CapabilityError:  # such as more than two classes
            continue
    return found


def _rule(profile: Profile, goal: str) -> str:
    choice = choose(profile, goal)
    return f"{choice.method} {choice.parameters}"


def measured(selector: Any, data: Sample, folds: int) -> dict[str, Any]:
    """Return the scores of every fold by learner, the features kept (mean) and the seconds (median).

    Parameters
    ----------
    selector : anything that `screening_protocol` takes; None for all features
    data : rows and classes
    folds : number of outer folds
    """
    sized = None if selector is None else getattr(selector, "k", None)
    # columns are scaled before the learners and not before the selectors, which guess types by raw values
    scaler = StandardScaler(with_mean=not sp.issparse(data.X))
    learners = {name: make_pipeline(scaler, learner) for name, learner in LEARNERS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a penalty that does not converge, or a fold without a rare class
        report = screening_protocol(
            data.X, data.y, {"selector": selector}, learners, sizes=[min(sized or 1, data.X.shape[1])],
            runs=1, folds=folds, metric="balanced_accuracy", task="classification", scale=False,
        )  # fmt: skip
    table = report.table
    first = table.where(learner=next(iter(LEARNERS)))
    return {
        **{learner: table.where(learner=learner)["score"].tolist() for learner in LEARNERS},
        "size": float(np.mean(first["n_selected"])),
        "seconds": float(np.median(first["select_seconds"])),
    }
