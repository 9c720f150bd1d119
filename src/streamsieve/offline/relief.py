"""Relief: feature weights from the nearest hit and the nearest miss of each row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy.typing as npt

from streamsieve.base import OfflineSelector
from streamsieve.base.seeded import Seeded
from streamsieve.offline.relieff import hit_and_miss
from streamsieve.offline.shared.neighbors import NEIGHBOR_PARAMETERS, nominal_mask, sampled_rows
from streamsieve.offline.shared.ranking import best_first
from streamsieve.protocols import IntArray, Matrix, Statistic, Task, Traits
from streamsieve.state import Array, Int


class Relief(Seeded, OfflineSelector):
    """Relief for two classes: weights from the nearest hit and the nearest miss of each row.

    For each row, the nearest row of its own class (hit) and of the other class (miss) are found.  A feature
    gains by its difference to the miss and loses by that to the hit.  This is the method as it was first
    published; :class:`ReliefF` averages over more neighbors and any number of classes.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all if there are fewer.
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
    task_ : "binary"

    Notes
    -----
    **Formula.** ``W_j = mean over rows of [ difference to the miss - difference to the hit ]``. The paper
    squares these differences; since Kononenko absolute differences are used, which rank nominal features the
    same way and is what :class:`ReliefF` does with ``k=1``. The paper draws rows at random with
    repetition; here every row counts once unless ``n_rows_sampled`` is given.

    **When it fails.** A single hit and a single miss make it sensitive to noise and outliers;
    :class:`ReliefF` averages. Many irrelevant features make neighbors meaningless, and redundant features are
    all kept.

    References
    ----------
    Kira and Rendell, A practical approach to feature selection, ICML 1992.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 5))
    >>> y = X[:, 3] > 0.5
    >>> ss.Relief(k=1).fit(X, y).get_feature_names_out()
    array(['x3'], dtype=object)
    """

    _traits = Traits(tasks=frozenset({Task.BINARY}), size_parameter="k", nested_sizes=True)

    _statistic = Statistic("Relief weight")
    parameters = {"k": Int(1, optional=True), **NEIGHBOR_PARAMETERS, **OfflineSelector.parameters}
    fields = {**OfflineSelector.fields, "scores_": Array("f8", "features", finite=True)}

    def __init__(
        self,
        k: int | None = None,
        *,
        metric: str = "euclidean",
        nominal: str | Sequence[int | str] | None = None,
        n_rows_sampled: int | None = None,
        random_state: int | None = 0,
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.metric = metric
        self.nominal = nominal
        self.n_rows_sampled = n_rows_sampled
        self.random_state = random_state
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Both metrics, nominal features, and a sample of rows."""
        yield cls()
        yield cls(k=1, metric="manhattan", nominal="all", n_rows_sampled=80)

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        rows = sampled_rows(X.shape[0], self.n_rows_sampled, self._seed)
        self.scores_ = hit_and_miss(X, y, 1, self.metric, nominal_mask(self), rows)
        return best_first(self.scores_, wanted)
