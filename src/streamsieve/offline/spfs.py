"""SPFS: similarity preserving feature selection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._validation import TASKS
from streamsieve.base import OfflineSelector
from streamsieve.exceptions import ParameterError
from streamsieve.offline.shared.eigenvectors import leading
from streamsieve.offline.shared.row_similarity import ELEMENTWISE, gaussian, row_pieces
from streamsieve.offline.shared.standardized import CorrelatedFeatures, StandardFeatures
from streamsieve.offline.shared.stepwise_regression import entering
from streamsieve.protocols import ANY_TASK, FloatArray, IntArray, Matrix, Task, Traits
from streamsieve.state import Array, Bool, Choice, Float, Int

STEPS = ("lars", "omp")


class SPFS(OfflineSelector):
    """Similarity preserving feature selection: features that together preserve the similarity of rows.

    The similarities of the rows are written as products of a few response columns.  Features enter a
    multi-response regression on these columns one by one, each when it explains as much of the residual as
    those already in the model.  A feature that repeats others explains nothing new, so redundancy is avoided.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all if there are fewer.  Fewer are kept
        where those chosen explain the similarities, or every other feature.
    method : {"lars", "omp"}, default="lars"
        "lars": least angle regression with several responses; after each entrance it moves on only until
        another feature explains as much.  "omp": each entrance is followed by a full regression.
    supervised : bool, default=True
        True: rows of the same class are similar; for a numeric target, similarity is the product of
        deviations from the mean.  False: y is ignored, and similarity is a Gaussian kernel of the distance.
    gamma : float or None, default=None
        If not supervised: ``exp(-gamma distance^2)``, gamma > 0; None: 1 over the mean squared distance.
    rank : int, default=5
        If not supervised: how many leading eigenvectors of the similarities are the responses, at least 1
        and below the number of rows.
    task : {"auto", "classification", "regression"}, default="auto"
        If supervised: type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole
        numbers with fewer than 10 rows each, mean regression, anything else classification.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record: on all features, on the selected ones, or none.

    Attributes
    ----------
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, in the order they entered
    explained_ : float64 array, one per feature of ``ranked_``: the share of the responses' squares that a
        regression on it and those before it explains
    ledger_ : one decision per feature: why it was kept or rejected
    task_ : if supervised, "binary", "multiclass" or "regression"

    Notes
    -----
    **Formula.** Features enter ``min |Y - XB|`` over the responses Y with ``Y Y' = K``, the centered
    similarities of the rows.

    **When it fails.** The similarity decides: with labels it is linear separation of classes, without labels
    it preserves whatever structure the irrelevant features make.

    The responses Y have ``Y Y'`` = the centered similarities K of the rows (1 / n_c for two rows of a class
    of n_c): C - 1 orthonormal contrasts for labels, scaled eigenvectors otherwise.  Features are
    standardized.  With R what is left of Y, "lars" keeps ``|x_j'R|`` equal for all features inside and
    moves toward their regression until another feature has as much: the multiple response sparse
    regression of Simila and Tikka, which for one response is least angle regression.  SPFS's program is not
    public, and whether it lets features leave again is not said; here none does.

    References
    ----------
    Zhao, Wang, Liu and Ye, On similarity preserving feature selection, TKDE 25, 2013 (Yu et al. 2014 call it
    SPSF); Simila and Tikka, Multiresponse sparse regression, ICANN 2005.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, 300)
    >>> one, two = (y == [[1], [2]]) + 0.3 * rng.normal(size=(2, 300))
    >>> X = np.c_[rng.normal(size=(300, 3)), one, one + 0.1 * rng.normal(size=300), two]
    >>> ss.SPFS(k=2).fit(X, y).get_support(indices=True)  # not column 4, which repeats column 3
    array([3, 5])
    """

    parameters = {
        "k": Int(1, optional=True),
        "method": Choice(*STEPS),
        "supervised": Bool(),
        "gamma": Float(0, open_low=True, optional=True),
        "rank": Int(1),
        "task": Choice(*TASKS),
        **OfflineSelector.parameters,
    }
    fields = {**OfflineSelector.narrow_fields, "explained_": Array("f8", "selected", finite=True)}

    def __init__(
        self,
        k: int | None = None,
        *,
        method: str = "lars",
        supervised: bool = True,
        gamma: float | None = None,
        rank: int = 5,
        task: str = "auto",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.method = method
        self.supervised = supervised
        self.gamma = gamma
        self.rank = rank
        self.task = task
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Both steps, labels, numbers, and no target."""
        yield cls()
        yield cls(method="omp", task="regression")
        yield cls(supervised=False, rank=1)

    @property
    def traits(self) -> Traits:
        """Capabilities with the current parameters."""
        return Traits(tasks=ANY_TASK if bool(self.supervised) else frozenset(), size_parameter="k")

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        by_lars = self.method == "lars"
        if self.supervised:
            correlated = CorrelatedFeatures(X, y, Task(self.task_))
            path = entering(correlated, correlated.basis, wanted, by_lars=by_lars)
        else:
            path = entering(StandardFeatures(X), self._eigenvectors(X), wanted, by_lars=by_lars)
        self.explained_ = path.explained
        return path.order

    def _eigenvectors(self, X: Matrix) -> FloatArray:
        """Return the leading eigenvectors of the centered similarities, scaled by root eigenvalues."""
        n = X.shape[0]
        if self.rank >= n:
            raise ParameterError(f"rank={self.rank}, but X has {n} rows: choose rank < {n}")
        K = gaussian(X, self.gamma)
        mean = K.mean(axis=0)
        for rows in row_pieces(n, ELEMENTWISE * n):
            K[rows] -= mean
            K[rows] -= mean[rows, None] - mean.mean()
        values, vectors = leading(K, self.rank)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
