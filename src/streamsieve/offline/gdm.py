"""GDM: the features that FGM asks for, each with those that go along with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_number
from streamsieve.offline._standard import StandardFeatures
from streamsieve.offline.fgm import FGM
from streamsieve.protocols import FloatArray, IntArray, Matrix


class GDM(FGM):
    """Keep the features that a sparse support vector machine asks for, and all that are correlated with them.

    Where features come in groups that tell the same, a sparse method keeps one of each group.  Here the
    others of the group are kept as well, so that the whole group can be looked at.

    Parameters
    ----------
    n_features : int or None, default=None
        Supporting features at most, those of the first groups, at least 1; affiliated ones come on top.
        None: all that the groups bring.
    tau : float, default=0.9
        A feature is affiliated with a supporting one if their absolute correlation is above it, 0 <= tau < 1.
    group_size : int, default=10
        Features in a group, at least 1; the sparsity that the machine is asked for.
    C : float, default=1.0
        What rows on the wrong side of the margin cost on average, C > 0.  A larger one brings more groups.
    tol : float, default=0.05
        A group joins if it exceeds the bound that the others keep by more than this share, tol >= 0.
    max_rounds : int, default=30
        Groups at most, at least 1.

    Attributes
    ----------
    selected_ : columns of the selected features: supporting ones in the order they joined, then affiliated
        ones by falling correlation
    supporting_ : columns of the supporting features
    affiliated_ : int64 array, one a feature: the supporting feature it is most correlated with, or -1
    n_iter_ : int, how many groups joined
    task_ : "binary"

    Notes
    -----
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
    >>> found = ss.GDM(n_features=2, group_size=2).fit(X, y)
    >>> sorted(found.supporting_), found.get_support(indices=True)
    ([np.int64(4), np.int64(21)], array([ 4, 11, 21]))
    """

    def __init__(
        self,
        n_features: int | None = None,
        tau: float = 0.9,
        group_size: int = 10,
        C: float = 1.0,
        tol: float = 0.05,
        max_rounds: int = 30,
    ) -> None:
        super().__init__(n_features, group_size, C, tol, max_rounds)
        self.tau = tau

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """All that groups bring, and a few with more around them."""
        yield cls()
        yield cls(n_features=1, tau=0.5, group_size=2)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("tau", self.tau, low=0, high=1, open_high=True)

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        features = StandardFeatures(X)
        self.supporting_ = self._generate(features, y, wanted)
        best, self.affiliated_ = affiliated(features, self.supporting_, float(self.tau))
        others = np.flatnonzero(self.affiliated_ >= 0)
        others = others[np.lexsort((others, -best[others].round(9)))]
        return np.concatenate([self.supporting_, others])

    def _restored(self) -> None:
        super()._restored()
        self._check_columns("affiliated_", (self.n_features_in_,))
        self._check_columns("supporting_", (len(self.supporting_),))
        if not np.array_equal(self.supporting_, self.selected_[: len(self.supporting_)]):
            raise ValueError("the supporting features are not the first of the selected ones")


def affiliated(features: StandardFeatures, supporting: IntArray, tau: float) -> tuple[FloatArray, IntArray]:
    """Return the largest correlation of each feature with a supporting one, and which that is (-1: none)."""
    best, which = np.full(features.p, tau + 1e-12), np.full(features.p, -1)
    for j in supporting.tolist():
        r = np.abs(features.products(features.column(j)))
        nearer = r > best + 1e-12
        best[nearer], which[nearer] = r[nearer], j
    which[supporting] = -1
    return best, which
