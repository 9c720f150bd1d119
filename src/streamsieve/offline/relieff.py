"""ReliefF: feature weights from the nearest hits and misses of each row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.base import OfflineSelector
from streamsieve.base.seeded import Seeded
from streamsieve.exceptions import TargetError
from streamsieve.offline.shared.neighbors import NEIGHBOR_PARAMETERS, Neighbors, nominal_mask, sampled_rows
from streamsieve.offline.shared.ranking import best_first
from streamsieve.protocols import CLASSIFICATION, FloatArray, IntArray, Matrix, Statistic, Traits
from streamsieve.state import Array, Int


class ReliefF(Seeded, OfflineSelector):
    """ReliefF: feature weights from nearest neighbors of the same and of other classes; detects interactions.

    For each row, the nearest rows of its own class (hits) and of every other class (misses) are found.  The
    weight of a feature increases with its differences to the misses and decreases with those to the hits.
    Neighbors are near in all features, so a feature is evaluated in the context of the others: both parts of
    an exclusive or are found, which univariate scores cannot detect.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all if there are fewer.
    n_neighbors : int, default=10
        Number of hits, and of misses per class, for each row, at least 1; of a smaller class all rows are
        used.
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
    task_ : "binary" or "multiclass"

    Notes
    -----
    **Formula.** ``W_j = mean over rows i of [ sum over classes c other than y_i of P(c) / (1 - P(y_i)) times
    the mean difference to the misses of class c, minus the mean difference to the hits ]``. Of equally near
    rows the first ones are taken. Cost: rows^2 x features, once; distances are made for some rows at a time,
    so that memory stays small. A class needs two rows: a single one has no hit.

    The papers sum differences ("manhattan"); squares choose nearly the same neighbors and are a matrix
    product.  scikit-feature's ``reliefF`` divides by the ratio of class shares where the paper multiplies,
    does not scale by the range, and may take a row for its own neighbor.  skrebate with "manhattan" and the
    same number of neighbors gives the same scores of continuous features for two classes.

    **When it fails.** Distances are over all features: among hundreds of irrelevant ones, neighbors are near
    by chance. Redundant features are all kept, and cost grows with the square of the rows.

    References
    ----------
    Kononenko, Estimating attributes: analysis and extensions of RELIEF, ECML 1994; Robnik-Sikonja and
    Kononenko, Machine Learning 53, 2003.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (300, 8)).astype(float)
    >>> y = np.logical_xor(X[:, 2], X[:, 5])  # no feature says anything on its own
    >>> ss.ReliefF(k=2, nominal="all").fit(X, y).get_support(indices=True)
    array([2, 5])
    """

    _traits = Traits(tasks=CLASSIFICATION, size_parameter="k", nested_sizes=True)

    _statistic = Statistic("ReliefF weight")
    parameters = {
        "k": Int(1, optional=True),
        "n_neighbors": Int(1),
        **NEIGHBOR_PARAMETERS,
        **OfflineSelector.parameters,
    }
    fields = {**OfflineSelector.fields, "scores_": Array("f8", "features", finite=True)}

    def __init__(
        self,
        k: int | None = None,
        *,
        n_neighbors: int = 10,
        metric: str = "euclidean",
        nominal: str | Sequence[int | str] | None = None,
        n_rows_sampled: int | None = None,
        random_state: int | None = 0,
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.nominal = nominal
        self.n_rows_sampled = n_rows_sampled
        self.random_state = random_state
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Both metrics, and a sample of rows; nominal features are those of Relief."""
        yield cls()
        yield cls(k=1, n_neighbors=3, metric="manhattan", n_rows_sampled=40, random_state=1)

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        rows = sampled_rows(X.shape[0], self.n_rows_sampled, self._seed)
        self.scores_ = hit_and_miss(X, y, self.n_neighbors, self.metric, nominal_mask(self), rows)
        return best_first(self.scores_, wanted)


def hit_and_miss(
    X: Matrix, y: npt.NDArray[Any], k: int, metric: str, nominal: Any, rows: IntArray
) -> FloatArray:
    """Return the weight of every feature, from the nearest hits and misses of some rows."""
    labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if counts.min() < 2:
        alone = labels[int(np.argmin(counts))].item()
        raise TargetError(
            f"class {alone!r} has one row only, which has no neighbor of its own class: give at least two "
            "rows of every class, or drop it"
        )
    # rows of a class side by side, in their order; neighbors of a class are then a range of columns
    order = np.argsort(codes, kind="stable")
    codes, starts = codes[order], np.concatenate([[0], np.cumsum(counts)])
    chosen = np.zeros(len(y), bool)
    chosen[rows] = True
    data = Neighbors(X[order], nominal, metric)
    share = counts / len(y)
    scores = np.zeros(data.p)
    for some, nearest in data.nearest(np.flatnonzero(chosen[order]), starts, k):
        for c, found in enumerate(nearest):
            own = codes[some]
            # the share of a class among the classes that the row is not of
            weight = np.where(own == c, -1.0, share[c] / (1.0 - share[own])) / (found.shape[1] * len(rows))
            pairs = np.repeat(some, found.shape[1]), found.reshape(-1)
            scores += data.weighed(*pairs, np.repeat(weight, found.shape[1]))
    return scores
