"""FGM: a feature generating machine, a sparse SVM that adds groups of features."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy.typing as npt

from streamsieve.base import OfflineSelector
from streamsieve.offline.shared.feature_generation import Machine, generate
from streamsieve.offline.shared.standardized import StandardFeatures
from streamsieve.protocols import IntArray, Matrix, Task, Traits
from streamsieve.state import Float, Int


class FGM(OfflineSelector):
    """Feature generating machine: groups of features selected by a sparse support vector machine.

    In each round the ``group_size`` features that most violate the optimality conditions of the SVM are added
    as a group, and the SVM is solved again over all groups, until no group would help.  A round costs one
    product with X, so the method scales to very many sparse features.

    Parameters
    ----------
    k : int or None, default=None
        Maximum number of features to keep, those of the first groups, at least 1.  If None, those of all
        groups.
    group_size : int, default=10
        Number of features per group, at least 1.
    C : float, default=1.0
        Weight of the mean squared hinge loss, above 0.  Larger values add more groups.
    tol : float, default=0.05
        Tolerance, at least 0: a group is added if it violates the optimality condition by more than this
        fraction.
    max_rounds : int, default=30
        Maximum number of groups, at least 1.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record: on all features, on the selected ones, or none.

    Attributes
    ----------
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, in the order they joined
    n_iter_ : int, number of groups
    ledger_ : one decision per feature: why it was kept or rejected
    task_ : "binary"

    Notes
    -----
    **Formula.** The machine minimizes ``1/2 (sum of |w_t|)^2 + C/2 mean of max(0, 1 - y f)^2`` over groups t,
    by accelerated proximal steps to a gap of 1e-6. The paper sums over rows where this takes the mean, so
    that C means the same for any number of them. Features are standardized, so units do not matter and there
    is no intercept. Ties go to the first feature.  A ``ConvergenceWarning`` with advice is raised if groups
    are left after ``max_rounds``, or if the SVM is not solved.

    **When it fails.** The kept features suit a linear model. ``C`` and
    ``group_size`` decide how many rounds there are, and of correlated features some are left out depending on
    their order.

    References
    ----------
    Tan, Wang and Tsang, Learning sparse SVM for feature selection on very high dimensional datasets, ICML
    2010.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 40))
    >>> y = X[:, 7] + X[:, 21] - X[:, 30] > 0
    >>> ss.FGM(k=3, group_size=3).fit(X, y).get_support(indices=True)
    array([ 7, 21, 30])
    """

    _traits = Traits(tasks=frozenset({Task.BINARY}), size_parameter="k")

    parameters = {
        "k": Int(1, optional=True),
        "group_size": Int(1),
        "C": Float(0, open_low=True),
        "tol": Float(0),
        "max_rounds": Int(1),
        **OfflineSelector.parameters,
    }
    fields = {**OfflineSelector.narrow_fields, "n_iter_": Int()}

    def __init__(
        self,
        k: int | None = None,
        *,
        group_size: int = 10,
        C: float = 1.0,
        tol: float = 0.05,
        max_rounds: int = 30,
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.group_size = group_size
        self.C = C
        self.tol = tol
        self.max_rounds = max_rounds
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """All that groups bring, and a few."""
        yield cls()
        yield cls(k=1, group_size=2, C=0.5)

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        features = StandardFeatures(X)
        machine = Machine(features, y, self.group_size, self.C)
        most = features.p if self.k is None else wanted
        order, self.n_iter_ = generate(machine, tol=float(self.tol), rounds=self.max_rounds, wanted=most)
        return order
