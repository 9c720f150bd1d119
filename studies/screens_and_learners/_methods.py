"""Screens and learners, by the name they have in tables."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline

import streamsieve as ss
from streamsieve.learners import FSAClassifier, FSARegressor

NONE = "none"
FSA = "fsa"
#: Features that FSA keeps, or all if a screen leaves fewer; and its passes over rows with classes or numbers.
FSA_KEEPS, FSA_EPOCHS = 100, (50, 30)
#: Rows of each side of a split.
LEAF = 20
TREES = {"max_iter": 20, "max_leaf_nodes": 15, "max_bins": 63, "learning_rate": 0.3, "early_stopping": False}
#: Rows whose neighbours RReliefF looks at.
SAMPLED = 500


class Splittable(TransformerMixin, BaseEstimator):
    """Drop columns that no tree can split, because one side would have fewer rows than a leaf.

    What is learnt stays the same; it takes less time where most values are 0.
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - the target has no say
        """Find the columns."""
        n = len(X)
        self.n_features_in_ = X.shape[1]
        self.columns_ = np.arange(X.shape[1])
        if n >= 2 * LEAF:
            low, high = np.partition(X, (LEAF - 1, n - LEAF), axis=0)[[LEAF - 1, n - LEAF]]
            # without any, a single column stays: trees need one to say nothing
            self.columns_ = np.flatnonzero(low < high) if np.any(low < high) else self.columns_[:1]
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns that can be split."""
        return X if len(self.columns_) == X.shape[1] else X[:, self.columns_]


def screens(*, numeric: bool, few: bool) -> dict[str, Any]:
    """Return the screens by name, no screening among them; a few of them for a quick look."""
    if numeric:
        chosen: dict[str, Any] = {
            "correlation": ss.Screen("correlation", ledger="none"),
            "mutual_info": ss.Screen("mutual_info", ledger="none"),
            "rrelieff": ss.RReliefF(n_rows_sampled=SAMPLED),
        }
    else:
        chosen = {name: ss.Screen(name, ledger="none") for name in ("t", "fisher", "chi2")}
        chosen["gini"] = ss.Screen("gini", exact=True, ledger="none")
        chosen |= {
            "mutual_info": ss.Screen("mutual_info", ledger="none"),
            "relief": ss.ReliefF(),
            "mrmr": ss.MRMR(),
        }
    if few:
        chosen = {name: chosen[name] for name in list(chosen)[-2:]}
    return {NONE: None, **chosen}


def learners(*, numeric: bool, few: bool) -> dict[str, Any]:
    """Return the learners by name; a few of them for a quick look."""
    trees = (HistGradientBoostingRegressor if numeric else HistGradientBoostingClassifier)(
        **TREES | ({"max_iter": 2} if few else {})
    )
    boosting = Pipeline([("splittable", Splittable()), ("trees", trees)])
    chosen: dict[str, Any] = {"boosting": boosting, FSA: fsa(FSA_KEEPS, numeric=numeric)}
    others = ("ridge",) if numeric else ("nb",) if few else ("svm", "nb", "logistic")
    return chosen | {name: name for name in others}


def fsa(n_features: int, *, numeric: bool) -> Any:
    """Return feature selection with annealing."""
    if numeric:  # the rate it would choose is not safe where a feature is almost always the same
        return FSARegressor(n_features, epochs=FSA_EPOCHS[1], learning_rate=0.001)
    return FSAClassifier(n_features, epochs=FSA_EPOCHS[0])
