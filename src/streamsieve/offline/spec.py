"""SPEC: spectral feature selection on the similarity graph of the rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve.base import OfflineSelector
from streamsieve.exceptions import ParameterError
from streamsieve.offline.shared.eigenvectors import leading
from streamsieve.offline.shared.ranking import best_first
from streamsieve.offline.shared.row_similarity import ELEMENTWISE, dense_blocks, gaussian, row_pieces
from streamsieve.protocols import CLASSIFICATION, FloatArray, IntArray, Matrix, Traits
from streamsieve.state import Array, Bool, Float, Int

#: A feature whose variance is this small a share of its size is constant.
ROUNDING = 1e-24


class SPEC(OfflineSelector):
    """Spectral feature selection: features that vary little between similar rows.

    A graph connects similar rows.  A feature is scored by the energy of its values on that graph, which is
    small if similar rows have similar values.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all if there are fewer.
    variant : {1, 2, 3}, default=2
        1: the energy. 2: the energy normalized without the trivial constant direction, the usual choice. 3:
        the weight of the feature in the smoothest directions.
    supervised : bool, default=False
        False: y is ignored, and similarity is a Gaussian kernel of the distance.  True: rows of the same
        class are similar, others are not.
    gamma : float or None, default=None
        If not supervised: ``exp(-gamma distance^2)``, gamma > 0; None: 1 over the mean squared distance.
    clusters : int or None, default=None
        For variant 3, if not supervised: the directions looked at, at least 2 and at most the rows; the
        number of clusters, if it is known.  None: all of them.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record: on all features, on the selected ones, or none.

    Attributes
    ----------
    scores_ : float64 array, one per feature, larger is better: minus the energy for variants 1 and 2; a
        constant feature has the worst
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    ledger_ : one decision per feature: why it was kept or rejected
    task_ : if supervised, "binary" or "multiclass"

    Notes
    -----
    **Formula.** With W the similarities, D their row sums, ``L = D^-1/2 (D - W) D^-1/2`` with eigenvalues
    lambda and eigenvectors xi, and f the feature as ``D^1/2 x / |D^1/2 x|``::

        phi1 = f'L f    phi2 = phi1 / (1 - (f'xi_1)^2)    phi3 = sum over 2..k of (2 - lambda_i) (f'xi_i)^2

    Of phi1 and phi2 less is better, of phi3 more; **scikit-feature sorts all three the wrong way round**.
    phi1 favors features far from 0; phi2 does not depend on the mean.  With labels, phi2 is the sum of
    squares within classes over the total, which ranks as Fisher's score without comparing rows.  All
    directions of phi3 together need no eigenvectors: they sum to ``2 (1 - (f'xi_1)^2) - phi1``.

    Without labels memory is rows^2 numbers, so at most 20,000 rows.

    **When it fails.** Without labels features are scored by the clusters of the rows, which need not be
    predictive; many irrelevant features make all rows equally similar. Redundant features are all kept.

    References
    ----------
    Zhao and Liu, Spectral feature selection for supervised and unsupervised learning, ICML 2007.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(0, 3, 200)
    >>> noise = rng.normal(size=(200, 5))
    >>> X = noise + np.outer(group, [0, 0, 0, 6, -5])
    >>> ss.SPEC(k=2).fit(X).get_support(indices=True)
    array([3, 4])
    """

    parameters = {
        "k": Int(1, optional=True),
        "variant": Int(1, 3),
        "supervised": Bool(),
        "gamma": Float(0, open_low=True, optional=True),
        "clusters": Int(2, optional=True),
        **OfflineSelector.parameters,
    }
    fields = {**OfflineSelector.fields, "scores_": Array("f8", "features", finite=True)}

    def __init__(
        self,
        k: int | None = None,
        *,
        variant: int = 2,
        supervised: bool = False,
        gamma: float | None = None,
        clusters: int | None = None,
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.variant = variant
        self.supervised = supervised
        self.gamma = gamma
        self.clusters = clusters
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Each variant, with labels and without, and over a few directions."""
        yield cls()
        yield cls(variant=1, supervised=True)
        yield cls(variant=3)
        yield cls(variant=3, supervised=True)
        yield cls(k=1, variant=3, clusters=2)

    @property
    def traits(self) -> Traits:
        """Capabilities with the current parameters."""
        tasks = CLASSIFICATION if bool(self.supervised) else frozenset()
        return Traits(tasks=tasks, size_parameter="k", nested_sizes=True)

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        n = X.shape[0]
        if self.clusters is not None and self.clusters > n:
            raise ParameterError(f"clusters={self.clusters}, but X has {n} rows: choose clusters <= {n}")
        graph = LabelGraph(y) if self.supervised else RowGraph(gaussian(X, self.gamma))
        directions = graph.smoothest(self.clusters) if self.variant == 3 else None
        self.scores_ = np.empty(X.shape[1])
        for part, block in dense_blocks(X):
            self.scores_[part] = self._score(block, graph, directions)
        return best_first(self.scores_, wanted)

    def _score(
        self, x: FloatArray, graph: LabelGraph | RowGraph, directions: tuple[FloatArray, FloatArray] | None
    ) -> FloatArray:
        """Score some features, dense."""
        degree = graph.degree
        scale = np.abs(x).max(axis=0)
        x = x / np.where(scale > 0, scale, 1.0)  # squares must neither vanish nor overflow
        whole = degree @ x**2
        # the graph does not see a constant, so the mean may go; what is left keeps its digits
        centered = x - x[0]
        centered -= degree @ centered / degree.sum()
        variance = degree @ centered**2
        varies = variance > ROUNDING * whole
        whole, variance = np.where(varies, whole, 1.0), np.where(varies, variance, 1.0)
        energy = np.maximum(graph.energy(centered), 0.0)
        if self.variant == 1:
            return np.where(varies, -energy / whole, -2.0)
        if self.variant == 2:
            return np.where(varies, -energy / variance, -2.0)
        if directions is None:
            return np.where(varies, (2.0 * variance - energy) / whole, 0.0)
        weights, vectors = directions
        along = vectors.T @ (np.sqrt(degree)[:, None] * centered)
        return np.where(varies, weights @ along**2 / whole, 0.0)


class LabelGraph:
    """Rows of a class are joined by 1 over their number; every row has degree 1."""

    def __init__(self, y: npt.NDArray[Any]) -> None:
        _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        self.degree = np.ones(len(y))
        self._means = np.zeros((len(counts), len(y)))
        self._means[codes, np.arange(len(y))] = 1.0 / counts[codes]
        self._codes = codes

    def energy(self, x: FloatArray) -> FloatArray:
        """Return the sum of squares within classes."""
        within = x - (self._means @ x)[self._codes]
        return np.asarray(np.einsum("ij,ij->j", within, within))

    def smoothest(self, clusters: int | None) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002 - the classes are
        """Return 2 - lambda = 2 for every contrast between classes, and the contrasts."""
        contrasts = (self._means / np.sqrt(self._means.max(axis=1, keepdims=True))).T
        # all but the direction that is constant over rows
        basis = np.linalg.svd(contrasts - contrasts.mean(axis=0), full_matrices=False)[0]
        vectors = basis[:, : contrasts.shape[1] - 1]
        return np.full(vectors.shape[1], 2.0), vectors


class RowGraph:
    """Rows are joined by their similarities."""

    def __init__(self, similarity: FloatArray) -> None:
        self._similarity = similarity
        self.degree: FloatArray = similarity.sum(axis=1)

    def energy(self, x: FloatArray) -> FloatArray:
        """Return ``x'(D - W) x`` of every column."""
        joined = np.empty(x.shape)
        for rows in row_pieces(len(x), x.size):
            np.matmul(self._similarity[rows], x, out=joined[rows])
        return np.asarray(self.degree @ x**2 - np.einsum("ij,ij->j", x, joined))

    def smoothest(self, clusters: int | None) -> tuple[FloatArray, FloatArray] | None:
        """Return 2 - lambda of the smoothest directions but the first, and these; None for all of them."""
        if clusters is None:
            return None
        root = np.sqrt(self.degree)
        first, n = root / np.sqrt(self.degree.sum()), len(root)
        # the largest eigenvalues of D^-1/2 W D^-1/2 are the smallest of L; the largest, 1, becomes -1 for the
        # constant direction alone: where clusters are far apart, others have it, too, and count
        normalized = np.empty((n, n))
        for rows in row_pieces(n, ELEMENTWISE * n):
            normalized[rows] = self._similarity[rows] / root / root[rows, None]
            normalized[rows] -= 2.0 * np.outer(first[rows], first)
        values, vectors = leading(normalized, clusters - 1)
        return values + 1.0, vectors
