"""RReliefF: Relief for a numeric target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.base import OfflineSelector
from streamsieve.base.seeded import Seeded
from streamsieve.offline.shared.neighbors import NEIGHBOR_PARAMETERS, Neighbors, nominal_mask, sampled_rows
from streamsieve.offline.shared.ranking import best_first
from streamsieve.protocols import FloatArray, IntArray, Matrix, Statistic, Task, Traits
from streamsieve.state import Array, Float, Int


class RReliefF(Seeded, OfflineSelector):
    """RReliefF: feature weights from nearest neighbors, for regression.

    The variant of :class:`ReliefF` for a numeric target.  Without classes there are no hits and misses, so
    each neighbor is a miss to the degree that its
    target differs.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all if there are fewer.
    n_neighbors : int, default=10
        Number of neighbors of each row, at least 1; all others if there are fewer.
    sigma : float or None, default=50.0
        Scale of the weights of neighbors, above 0: the r-th nearest row has weight ``exp(-(r / sigma)^2)``.
        If None, all neighbors have the same weight.
    metric : {"euclidean", "manhattan"}, default="euclidean"
        Distance of two rows: by squared differences (computed by matrix products), or by absolute
        differences.
    nominal : None, "all" or list, default=None
        Categorical features, whose values differ by 0 or 1: a list of column numbers, or of names if X has
        names.  All others are numeric, and differ by their distance divided by the range of the feature.
    n_rows_sampled : int or None, default=None
        Number of rows drawn at random whose neighbors are examined, at least 1.  If None, all rows.
    random_state : int or None, default=0
        Seed of that draw, in [0, 2^32).  If None, one is drawn by ``fit`` and saved.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record: on all features, on the selected ones, or none.

    Attributes
    ----------
    scores_ : float64 array, one per feature, between -1 and 1; larger is better, 0 for a constant feature
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    ledger_ : one decision per feature: why it was kept or rejected
    task_ : "regression"

    Notes
    -----
    **Formula.** With d the weights of a row's neighbors, which sum to 1, and m rows looked at, over all
    pairs::

        dP   = sum d * diff(y)      dA = sum d * diff(x_j)      dPdA = sum d * diff(y) * diff(x_j)
        W_j  = dPdA / dP - (dA - dPdA) / (m - dP)

    where diff(y) is the difference over the range of y.  A part that divides by 0 is 0.  Of equally near rows
    the first comes first.

    **When it fails.** Distances are over all features: among hundreds of irrelevant ones, neighbors are near
    by chance. Redundant features are all kept, and cost grows with the square of the rows.

    References
    ----------
    Robnik-Sikonja and Kononenko, An adaptation of Relief for attribute estimation in regression, ICML 1997.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 6))
    >>> y = np.abs(X[:, 1] - 0.5) + 0.2 * X[:, 4]
    >>> ss.RReliefF(k=2).fit(X, y).selected_
    array([1, 4])
    """

    _traits = Traits(tasks=frozenset({Task.REGRESSION}), size_parameter="k", nested_sizes=True)

    _statistic = Statistic("RReliefF weight")
    parameters = {
        "k": Int(1, optional=True),
        "n_neighbors": Int(1),
        "sigma": Float(0, open_low=True, optional=True),
        **NEIGHBOR_PARAMETERS,
        **OfflineSelector.parameters,
    }
    fields = {**OfflineSelector.fields, "scores_": Array("f8", "features", finite=True)}

    def __init__(
        self,
        k: int | None = None,
        *,
        n_neighbors: int = 10,
        sigma: float | None = 50.0,
        metric: str = "euclidean",
        nominal: str | Sequence[int | str] | None = None,
        n_rows_sampled: int | None = None,
        random_state: int | None = 0,
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.metric = metric
        self.nominal = nominal
        self.n_rows_sampled = n_rows_sampled
        self.random_state = random_state
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Both metrics, equal weights, and a sample of rows."""
        yield cls()
        yield cls(n_neighbors=5, sigma=None, metric="manhattan", n_rows_sampled=80)

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        n = X.shape[0]
        rows = sampled_rows(n, self.n_rows_sampled, self._seed)
        data = Neighbors(X, nominal_mask(self), self.metric)
        weight = self._weights(min(self.n_neighbors, n - 1))
        span = float(y.max() - y.min())
        apart, both, p_apart = np.zeros(data.p), np.zeros(data.p), 0.0
        for some, (found,) in data.nearest(rows, np.array([0, n]), self.n_neighbors):
            ranked = data.by_rank(some, found)
            one, other = np.repeat(some, ranked.shape[1]), ranked.reshape(-1)
            d = np.tile(weight, len(some))
            target_apart = d * (np.abs(y[one] - y[other]) / span)
            p_apart += float(target_apart.sum())
            apart += data.weighed(one, other, d)
            both += data.weighed(one, other, target_apart)
        alike = len(rows) - p_apart
        # a smaller part of the sum of all weights is rounding
        least = 1e-12 * len(rows)
        scores = both / p_apart if p_apart > least else np.zeros(data.p)
        if alike > least:
            scores = scores - (apart - both) / alike
        self.scores_ = scores
        return best_first(scores, wanted)

    def _weights(self, k: int) -> FloatArray:
        """Return how much the nearest, the second nearest, ... counts; they sum to 1."""
        rank = np.arange(1.0, k + 1)
        exponent = np.zeros(k)
        if self.sigma is not None:
            # less the first exponent, so that a small sigma leaves the nearest row and not nothing; below
            # 0.001 it leaves nothing else, and beyond 1e100 all neighbors count alike
            exponent = (rank**2 - 1) / min(max(float(self.sigma), 1e-3), 1e100) ** 2
        weight = np.exp(-np.minimum(exponent, 700.0))
        return np.asarray(weight / weight.sum())
