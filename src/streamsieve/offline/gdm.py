"""GDM: the features of FGM, each with those correlated with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.base import OfflineSelector
from streamsieve.offline.shared.feature_generation import Machine, generate
from streamsieve.offline.shared.standardized import StandardFeatures
from streamsieve.protocols import FloatArray, IntArray, Matrix, Task, Traits
from streamsieve.state import Array, Float, Int


class GDM(OfflineSelector):
    """Group discovery machine: features of a sparse SVM, and all features correlated with them.

    Where features come in correlated groups, a sparse method keeps one of each group.  Here the
    others of the group are kept as well, so that the whole group can be looked at.

    Parameters
    ----------
    k : int or None, default=None
        Maximum number of supporting features, those of the first groups, at least 1; affiliated ones are
        added.  If None, those of all groups.
    tau : float, default=0.9
        A feature is affiliated with a supporting one if their absolute correlation is above it, 0 <= tau < 1.
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
    ranked_ : the same columns: supporting ones in the order they joined, then affiliated
        ones by falling correlation
    supporting_ : columns of the supporting features
    affiliated_ : int64 array, one per feature: the supporting feature it is most correlated with, or -1
    n_iter_ : int, number of groups
    ledger_ : one decision per feature: why it was kept or rejected
    task_ : "binary"

    Notes
    -----
    **Formula.** The features of :class:`FGM`, and every feature whose absolute correlation with one of them
    is above ``tau``.

    **When it fails.** Where nearly all features are correlated, nearly all are kept. What FGM misses, its
    groups miss.

    The authors' program is not public.  This is FGM with groups of correlation around its features, which is
    what their text says the result is; they find both together.

    References
    ----------
    Zhai, Tan, Tsang and Ong, Discovering support and affiliated features from very high dimensions, ICML
    2012.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 30))
    >>> X[:, 11] = X[:, 4] + 0.1 * rng.normal(size=300)
    >>> y = X[:, 4] + X[:, 21] > 0
    >>> found = ss.GDM(k=2, group_size=2).fit(X, y)
    >>> sorted(found.supporting_), found.get_support(indices=True)
    ([np.int64(4), np.int64(21)], array([ 4, 11, 21]))
    """

    _traits = Traits(tasks=frozenset({Task.BINARY}), size_parameter="k")

    parameters = {
        "k": Int(1, optional=True),
        "tau": Float(0, 1, open_high=True),
        "group_size": Int(1),
        "C": Float(0, open_low=True),
        "tol": Float(0),
        "max_rounds": Int(1),
        **OfflineSelector.parameters,
    }
    fields = {
        **OfflineSelector.fields,
        "n_iter_": Int(),
        "supporting_": Array("i8", "supporting", below="features"),
        "affiliated_": Array("i8", "features", low=-1),
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        tau: float = 0.9,
        group_size: int = 10,
        C: float = 1.0,
        tol: float = 0.05,
        max_rounds: int = 30,
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.tau = tau
        self.group_size = group_size
        self.C = C
        self.tol = tol
        self.max_rounds = max_rounds
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """All that groups bring, and a few with more around them."""
        yield cls()
        yield cls(k=1, tau=0.5, group_size=2)

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        features = StandardFeatures(X)
        machine = Machine(features, y, self.group_size, self.C)
        most = features.p if self.k is None else wanted
        self.supporting_, self.n_iter_ = generate(
            machine, tol=float(self.tol), rounds=self.max_rounds, wanted=most
        )
        best, self.affiliated_ = affiliated(features, self.supporting_, float(self.tau))
        others = np.flatnonzero(self.affiliated_ >= 0)
        others = others[np.lexsort((others, -best[others].round(9)))]
        return np.concatenate([self.supporting_, others])

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        if not np.array_equal(self.supporting_, self.ranked_[: len(self.supporting_)]):
            yield "the supporting features are not the first of the ranked ones"
        if np.any(self.affiliated_ >= self.n_features_in_):
            yield "a feature is affiliated with none of the features"


def affiliated(features: StandardFeatures, supporting: IntArray, tau: float) -> tuple[FloatArray, IntArray]:
    """Return the largest correlation of each feature with a supporting one, and which that is (-1: none)."""
    best, which = np.full(features.p, tau + 1e-12), np.full(features.p, -1)
    for j in supporting.tolist():
        r = np.abs(features.products(features.column(j)))
        nearer = r > best + 1e-12
        best[nearer], which[nearer] = r[nearer], j
    which[supporting] = -1
    return best, which
