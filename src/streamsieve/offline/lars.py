"""LARS: features in the order in which they enter a least angle regression."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from streamsieve._caller import warn
from streamsieve._validation import TASKS
from streamsieve.base.offline import OfflineSelector, Why
from streamsieve.offline.shared.ranking import first_best
from streamsieve.offline.shared.standardized import CorrelatedFeatures, StandardFeatures
from streamsieve.offline.shared.stepwise_regression import ROUNDING, Inside, entering, ways
from streamsieve.protocols import FloatArray, IntArray, Matrix, Statistic, Task, Traits
from streamsieve.state import Array, Choice, Int

METHODS = ("lar", "lasso")
#: Maximum number of lasso steps per requested feature; features may leave and return.
STEPS_A_FEATURE = 8


class LARS(OfflineSelector):
    """The first features on a least angle or lasso path (LARS).

    The regression begins with the feature most correlated with y and moves its coefficient until another
    feature is correlated as much with what is left; then both move together, and so on.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all if there are fewer.  Fewer are kept if
        the active features explain y, or every other feature.
    method : {"lar", "lasso"}, default="lar"
        "lar": active features stay active. "lasso": a feature whose coefficient returns to 0 leaves, which
        gives the lasso path.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.  Classification is for two
        classes, coded as numbers.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record: on all features, on the selected ones, or none.

    Attributes
    ----------
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, in the order they entered (last, for one that left and came
        again)
    coef_ : float64 array, one per feature: coefficients of the standardized features where the path was left,
        in units of the length of y; 0 for features outside
    ledger_ : one decision per feature: why it was kept or rejected
    task_ : "binary" or "regression"

    Notes
    -----
    **Formula.** Active features A move along the direction that keeps ``|x_j'(y - Xb)|`` equal for all j in
    A, until a feature outside reaches the same correlation.

    **When it fails.** The model is linear: nonlinear effects are not detected, and of
    strongly correlated features which enters first depends on noise. It stops at k, not at a significance
    level.

    Features and y are centered and of length 1.  The papers that compare with LARS do not say where they
    stop; here it is the number of features.  A feature that is a combination of those inside never enters,
    and of copies the first one does.  A lasso that lets features leave and come again for 8 steps per feature
    wanted ends with a ``ConvergenceWarning``.

    The path equals that of scikit-learn's ``lars_path`` except in two places.  Where a coefficient passes
    through 0, its ``method="lar"`` flips the sign of that feature's correlation, and no longer ends at least
    squares.  And a feature dropped as collinear keeps a correlation of 0 that ends steps too early.

    References
    ----------
    Efron, Hastie, Johnstone and Tibshirani, Least angle regression, Annals of Statistics 32, 2004.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 6))
    >>> y = 3 * X[:, 4] - X[:, 1] + 0.1 * rng.normal(size=100)
    >>> ss.LARS(k=2).fit(X, y).ranked_
    array([4, 1])
    """

    _traits = Traits(tasks=frozenset({Task.BINARY, Task.REGRESSION}), size_parameter="k")

    _statistic = Statistic("absolute coefficient")
    parameters = {
        "k": Int(1, optional=True),
        "method": Choice(*METHODS),
        "task": Choice(*TASKS),
        **OfflineSelector.parameters,
    }
    fields = {**OfflineSelector.fields, "coef_": Array("f8", "features", finite=True)}

    def __init__(
        self, k: int | None = None, *, method: str = "lar", task: str = "auto", ledger: str = "all"
    ) -> None:
        self.k = k
        self.method = method
        self.task = task
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Both methods, labels and numbers."""
        yield cls()
        yield cls(k=1, method="lasso", task="regression")

    @property
    def _elsewhere(self) -> str:
        return "SPFS has any number of classes; if these are numbers to predict, say task='regression'"

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        features = CorrelatedFeatures(X, y, Task(self.task_))
        walk = lasso if self.method == "lasso" else least_angles
        order, coefficients = walk(features, features.basis[:, 0], wanted)
        self.coef_ = np.zeros(features.p)
        self.coef_[order] = coefficients
        return order

    def _why(self) -> Why:
        return super()._why()._replace(statistic=np.abs(self.coef_))


def least_angles(features: StandardFeatures, y: FloatArray, wanted: int) -> tuple[IntArray, FloatArray]:
    """Return the features in the order they entered, and their coefficients where the next one would."""
    path = entering(features, y[:, None], wanted, by_lars=True)
    return path.order, path.inside.coefficients(path.fitted[:, 0])


def lasso(features: StandardFeatures, y: FloatArray, wanted: int) -> tuple[IntArray, FloatArray]:
    """Return the same for the path on which a feature leaves where its coefficient comes back to 0."""
    inside, coefficients, fitted = Inside(features), np.zeros(features.p), np.zeros(features.n)
    pulls = features.products(y)
    new = first_best(np.where(inside.free, np.abs(pulls), -1.0), 1.0)
    left, steps = -1, STEPS_A_FEATURE * wanted
    for _ in range(steps if abs(pulls[new]) > ROUNDING else 0):
        if left < 0:
            inside.enter(new)
        # from here to the regression on those inside, or until a feature enters or leaves
        ahead = inside.regression(y) - fitted
        way = ways(features, pulls[:, None], ahead[:, None], inside)
        if left >= 0:
            alike = np.abs(features.products(features.column(left))) > 1.0 - ROUNDING  # with its copies
            way[alike] = _back(float(pulls[left]), float(features.column(left) @ ahead))
        new = first_best(-way, 1.0)
        part = float(way[new])
        now, change = coefficients[inside.order], inside.coefficients(ahead)
        zero = np.where(now * (now + change) < 0, -now / np.where(change == 0, 1.0, change), np.inf)
        left = inside.order[int(np.argmin(zero))] if zero.min() < part else -1
        part = min(part, float(zero.min()))
        coefficients[inside.order] += part * change
        fitted = fitted + part * ahead
        if left >= 0:
            coefficients[left] = 0.0
            inside.leave(left)
        elif len(inside.order) >= wanted or part >= 1.0 - ROUNDING:
            break
        pulls = features.products(y - fitted)
    else:
        if inside.order:
            warn(
                f"features entered and left again for {steps} steps, and {len(inside.order)} of k="
                f"{wanted} are selected: use a smaller k, or method='lar', in which none leaves",
                ConvergenceWarning,
            )  # fmt: skip
    return np.array(inside.order, np.int64), coefficients[inside.order]


def _back(pull: float, towards: float) -> float:
    """Return the part of the way after which a feature that has just left pulls as much the other way round.

    It pulls as much as those inside at once, and from then on less, until it may come again.
    """
    size = abs(pull)
    closing = size + float(np.sign(pull)) * towards
    return min(2.0 * size / closing, 1.0) if closing > 0 else 1.0
