"""What is compared: the rule for every goal, every fixed choice, all features, and the lasso's penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import streamsieve as ss
from streamsieve.choosing import GOALS

#: Number of features for selectors that need one.
K = 20
#: Columns beyond which a method takes minutes per fold, and is left out.
WIDEST = {"interaction_scan": 2000, "auto, explain": 2000}


class Auto(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The method that ``ss.select`` chooses from the training rows, for a goal."""

    def __init__(self, goal: str = "accurate") -> None:
        self.goal = goal

    def fit(self, X: Any, y: Any) -> Self:
        """Choose and fit."""
        self.chosen_ = ss.select(X, y, goal=self.goal, task="classification")
        self.selected_ = self.chosen_.selected_
        return self


class Lasso(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Features with a weight in an L1-penalized linear support vector machine, C chosen by inner folds."""

    def __init__(self, inner_folds: int = 3) -> None:
        self.inner_folds = inner_folds

    def fit(self, X: Any, y: Any) -> Self:
        """Choose C by balanced accuracy within the training rows, and fit all of them."""
        machine = LinearSVC(penalty="l1", dual=False, tol=1e-3, class_weight="balanced", random_state=0)
        model = make_pipeline(StandardScaler(with_mean=not sp.issparse(X)), machine)
        inner = StratifiedKFold(self.inner_folds, shuffle=True, random_state=0)
        grid = {"linearsvc__C": [0.01, 0.03, 0.1, 0.3]}
        search = GridSearchCV(model, grid, scoring="balanced_accuracy", cv=inner).fit(X, y)
        self.selected_ = np.flatnonzero(np.any(search.best_estimator_[-1].coef_ != 0, axis=0))
        return self


RULE = {f"auto, {goal}": (lambda goal=goal: Auto(goal)) for goal in GOALS}
#: Always there: no selection, and a penalty that selects.
ALWAYS: dict[str, Callable[[], Any]] = {"none": lambda: None, "L1": Lasso}
FIXED: dict[str, Callable[[], Any]] = {
    "alpha_investing": ss.AlphaInvesting,
    "fast_osfs": ss.FastOSFS,
    "fcbf": ss.FCBF,
    "grafting": ss.Grafting,
    "interaction_scan": ss.InteractionScan,
    "mrmr": lambda: ss.MRMR(K),
    "online_fdr": ss.OnlineFDR,
    "osfs": ss.OSFS,
    "ossfs_dd": ss.OSSFSDD,
    "relieff": lambda: ss.ReliefF(K),
    "saola": ss.SAOLA,
    "screen": lambda: ss.Screen("f", k=K),
    # by correlation: the measure for mixed types runs in plain Python, and takes seconds on wide sets
    "top_k": lambda: ss.TopK(K, measure="fisher_z"),
    "top_k, 50": lambda: ss.TopK(50, redundancy_weight=0.5, measure="fisher_z"),
}
METHODS: dict[str, Callable[[], Any]] = {**RULE, **ALWAYS, **FIXED}
