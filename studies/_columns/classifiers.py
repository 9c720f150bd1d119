"""The classifiers of the papers: one nearest neighbour, and a decision tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.stats import norm
from sklearn.tree import DecisionTreeClassifier

from studies._columns.splits import Labels, Split

Chosen = Sequence[int] | npt.NDArray[np.int64]

#: C4.5's confidence: the error of a leaf is taken at the upper end of its interval at this level.
CONFIDENCE = 0.25


class Nearest(NamedTuple):
    """Accuracy of one nearest neighbour."""

    accuracy: float
    #: If of neighbours at the same distance the worst, or the best, were taken.
    low: float
    high: float


def nearest(split: Split, chosen: Chosen | None) -> Nearest:
    """Return how well the nearest training row predicts; of several, the first.

    Columns are taken as they are, unscaled, as in the papers.  None takes all columns.
    """
    if chosen is not None and len(chosen) == 0:
        share = majority(split)
        return Nearest(share, share, share)
    train, test = (_some(X, chosen) for X in (split.X, split.test_X))
    inner = test @ train.T
    inner = inner.toarray() if sp.issparse(inner) else inner
    distance = _squares(train)[None, :] - 2 * inner  # and the test row's own square, which changes nothing
    right = split.y[None, :] == split.test_y[:, None]
    closest = distance == distance.min(axis=1, keepdims=True)
    first = split.y[distance.argmin(axis=1)] == split.test_y
    return Nearest(
        float(first.mean()),
        float(np.mean(~(closest & ~right).any(axis=1))),
        float(np.mean((closest & right).any(axis=1))),
    )


def majority(split: Split) -> float:
    """Return how often the most frequent class of the training rows is right."""
    values, counts = np.unique(split.y, return_counts=True)
    return float(np.mean(split.test_y == values[counts.argmax()]))


def _some(X: Any, chosen: Any) -> Any:
    part = X if chosen is None else X[:, np.asarray(chosen)]
    return part.toarray() if sp.issparse(part) and chosen is not None else part


def _squares(X: Any) -> npt.NDArray[np.float64]:
    total = X.multiply(X).sum(axis=1) if sp.issparse(X) else (X * X).sum(axis=1)
    return np.asarray(total).ravel()


# ------------------------------------------------------------------------------------ the tree


def tree(split: Split, chosen: Chosen) -> float:
    """Return the accuracy of a scikit-learn tree with two rows a leaf, cut back as C4.5 (J48) does.

    C4.5 makes a node a leaf where its best cut gains less than it takes to write the cut down (Quinlan 1996:
    log2 of the number of cuts, by rows), and where the pessimistic error of a leaf is not larger than that of
    the subtree.  Not followed: the gain ratio, and raising of subtrees.
    """
    if len(chosen) == 0:
        return majority(split)
    train, test = (_some(X, chosen) for X in (split.X, split.test_X))
    grown = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)
    grown.fit(train, split.y)
    return float(np.mean(_predict_cut_back(grown, train, test) == split.test_y))


def plain_tree(split: Split, chosen: Chosen) -> float:
    """Return the accuracy of a scikit-learn tree as it comes."""
    train, test = (_some(X, chosen) for X in (split.X, split.test_X))
    return float(DecisionTreeClassifier(random_state=0).fit(train, split.y).score(test, split.test_y))


def _predict_cut_back(grown: Any, train: Any, test: Any) -> Labels:
    nodes = grown.tree_
    left, right, n = nodes.children_left, nodes.children_right, nodes.n_node_samples
    counts = nodes.value[:, 0, :] * n[:, None]
    errors = counts.sum(axis=1) - counts.max(axis=1)
    as_leaf = errors + _extra_errors(n.astype(np.float64), errors)
    best, is_leaf = as_leaf.copy(), _too_costly(grown, train)
    for i in range(nodes.node_count - 1, -1, -1):  # children have larger numbers than their parent
        if left[i] >= 0:
            below = best[left[i]] + best[right[i]]
            is_leaf[i] |= as_leaf[i] <= below + 0.1  # the tenth of an error that C4.5 allows
            best[i] = as_leaf[i] if is_leaf[i] else below
    end = np.arange(nodes.node_count)
    for i in range(nodes.node_count):
        if left[i] >= 0 and (end[i] != i or is_leaf[i]):
            end[[left[i], right[i]]] = end[i]
    label = grown.classes_[counts.argmax(axis=1)]
    return np.asarray(label[end[grown.apply(test)]])


def _too_costly(grown: Any, train: Any) -> npt.NDArray[np.bool_]:
    """Return the nodes whose cut gains fewer bits than it costs."""
    nodes = grown.tree_
    left, right, n = nodes.children_left, nodes.children_right, nodes.n_node_samples
    reached = grown.decision_path(train).tocsc()
    costly = np.zeros(nodes.node_count, bool)
    for i in np.flatnonzero(left >= 0):
        rows = reached.indices[reached.indptr[i] : reached.indptr[i + 1]]
        cuts = len(np.unique(train[rows, nodes.feature[i]])) - 1
        after = n[left[i]] * nodes.impurity[left[i]] + n[right[i]] * nodes.impurity[right[i]]
        costly[i] = n[i] * nodes.impurity[i] - after <= np.log2(cuts)
    return costly


def _extra_errors(n: npt.NDArray[np.float64], errors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return what C4.5 adds to a leaf's errors: the upper limit of a binomial share, minus the share seen."""
    z = norm.ppf(1 - CONFIDENCE)
    share = np.minimum((errors + 0.5) / n, 1.0)
    spread = z * np.sqrt(share / n - share**2 / n + (z / (2 * n)) ** 2)
    upper = (share + z * z / (2 * n) + spread) / (1 + z * z / n)
    extra = np.where(errors < 1, n * (1 - CONFIDENCE ** (1 / n)), upper * n - errors)
    return np.where(errors + 0.5 >= n, np.maximum(n - errors, 0), extra)
