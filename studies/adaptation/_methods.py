"""Screens that forget or do not, and learners that forget or do not."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.linear_model import SGDClassifier

import streamsieve as ss
from streamsieve.learners import FSAClassifier

CRITERIA = ("t", "fisher", "mutual_info", "chi2", "gini")
NONE, RANDOM = "none", "random"
#: Learners: one that weighs all rows alike, and one that forgets.
KINDS = {"sgd": ("sgd", "sgd, forgets"), "fsa": ("fsa", "fsa, forgets")}
BASELINES = ("majority", "no_change")
#: Steps of the gradient: this long for good, or so long after 625 rows and ever shorter, 5 / sqrt(rows).
STEP, FIRST_STEP = 0.2, 5.0
EPOCHS = 20


def named(criterion: str, life: str | None) -> str:
    """Return the name of a screen."""
    return criterion if life is None else f"{criterion}, forgets {life}"


def selectors(k: int, lives: dict[str, float]) -> dict[str, Any]:
    """Return all screens by name, with half-lives in rows; no screening, and features drawn by lot."""
    found: dict[str, Any] = {NONE: None, RANDOM: RandomFeatures(k)}
    for criterion in CRITERIA:
        found[named(criterion, None)] = ss.Screen(criterion, k=k, ledger="none")
        for life, rows in lives.items():
            found[named(criterion, life)] = ss.Screen(criterion, k=k, half_life=rows, ledger="none")
    return found


def learners(n_features: int, every: int, window: int) -> dict[str, Any]:
    """Return all learners by name.

    Parameters
    ----------
    n_features : what annealing keeps
    every : rows after which it learns anew
    window : rows that it then remembers, if it forgets
    """
    plain, forgets = KINDS["sgd"], KINDS["fsa"]
    return {
        plain[0]: SGDClassifier(loss="log_loss", learning_rate="invscaling", eta0=FIRST_STEP, power_t=0.5),
        plain[1]: SGDClassifier(loss="log_loss", learning_rate="constant", eta0=STEP),
        forgets[0]: Relearnt(n_features, every),
        forgets[1]: Relearnt(n_features, every, window),
        **{name: name for name in BASELINES},
    }


class RandomFeatures(BaseEstimator):
    """Features drawn by lot, once for all."""

    def __init__(self, k: int = 10, random_state: int | None = None) -> None:
        self.k = k
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw, if that has not been done."""
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - the target has no say
        """Draw, if that has not been done."""
        if not hasattr(self, "mask_"):
            p = X.shape[1]
            self.mask_ = np.zeros(p, bool)
            self.mask_[np.random.default_rng(self.random_state).permutation(p)[: self.k]] = True
        return self

    def get_support(self) -> npt.NDArray[np.bool_]:
        """Return what was drawn."""
        return self.mask_


class Relearnt(BaseEstimator):
    """Feature selection with annealing for a stream: rows are kept, and now and then it learns them anew.

    What annealing has dropped never comes back, so a model that only goes on could not follow a screen that
    changes its mind.

    Parameters
    ----------
    n_features : features it keeps
    every : rows after which it learns anew
    window : rows that it learns then, the last ones; None for all
    """

    def __init__(self, n_features: int = 10, every: int = 100, window: int | None = None) -> None:
        self.n_features = n_features
        self.every = every
        self.window = window

    def fit(self, X: Any, y: Any) -> Self:
        """Learn rows, and nothing before them."""
        for name in ("rows_", "targets_", "new_", "model_"):
            self.__dict__.pop(name, None)
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:  # noqa: ARG002 - it asks the rows
        """Keep rows, and learn all that are kept if it is time."""
        if not hasattr(self, "rows_"):
            self.rows_, self.targets_, self.new_ = sp.csr_array((0, X.shape[1])), np.zeros(0, np.int64), 0
        keep = slice(None) if self.window is None else slice(-self.window, None)
        self.rows_ = sp.csr_array(sp.vstack([self.rows_, sp.csr_array(X)], format="csr")[keep])
        self.targets_ = np.concatenate([self.targets_, y])[keep]
        self.new_ += len(y)
        if not hasattr(self, "model_") or self.new_ >= self.every:
            self._learn()
            self.new_ = 0
        return self

    def _learn(self) -> None:
        used = np.unique(self.rows_.indices)
        if len(used) == 0 or len(np.unique(self.targets_)) == 1:
            self.model_, self.used_ = None, used
            return
        model = FSAClassifier(min(self.n_features, len(used)), epochs=EPOCHS)
        X: Any = self.rows_[:, used]
        dense = X.nnz > 0.3 * X.shape[0] * X.shape[1]
        self.model_, self.used_ = model.fit(X.toarray() if dense else X, self.targets_), used

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """Predict rows; the more frequent class where there is nothing to tell them by."""
        if self.model_ is None:
            return np.full(X.shape[0], int(np.bincount(self.targets_).argmax()))
        return np.asarray(self.model_.predict(X[:, self.used_]), np.int64)
