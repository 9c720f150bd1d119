"""Inf-FS: features as nodes of a graph, ranked by the paths through them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, cg, eigsh
from scipy.stats import rankdata

from streamsieve._threads import answering
from streamsieve._validation import TASKS
from streamsieve.base import OfflineSelector
from streamsieve.exceptions import InputError, ParameterError
from streamsieve.offline.shared.discrete import CodedFeatures
from streamsieve.offline.shared.ranking import best_first
from streamsieve.offline.shared.row_similarity import dense_blocks, products_of_rows
from streamsieve.offline.shared.standardized import ROUNDING, CorrelatedFeatures
from streamsieve.protocols import ANY_TASK, FloatArray, IntArray, Matrix, Task, Traits
from streamsieve.state import Array, Bool, Choice, Float, Int

#: Components of the strength of a feature.
PARTS = ("information", "fisher", "deviation")
#: Damping of the series over paths; it would diverge at 1.
DAMPING = 0.9
#: Maximum number of features; all pairs are compared, and more would take gigabytes.
MOST_FEATURES = 20_000
#: Rows of the graph computed at a time.
ROWS = 16
#: Up to this number of features, an eigenvalue is found by the dense method.
DENSE_FEATURES = 32


class InfFS(OfflineSelector):
    """Infinite feature selection: features of high dispersion and low correlation, over paths of all lengths.

    Features are the nodes of a graph.  The weight of an edge is large if one of its features has a large
    variance and the two are not correlated.  The score of a feature is the sum over all paths of any length
    that begin in it, which is computed by one linear
    system, not as an infinite sum.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1.  If None, 10, or all if there are fewer.
    mixing : float, default=0.5
        Weight of the strength of the features in an edge, in [0, 1]; the rest is their dissimilarity.
    supervised : bool, default=False
        False: y is ignored, and the strength of a feature is its standard deviation.  True: it is a
        mixture of its mutual information with y, its Fisher score and its standard deviation.
    information : float, default=1.0
        If supervised: the part of the mutual information in that mixture, at least 0.
    fisher : float, default=1.0
        If supervised: the part of the Fisher score, at least 0.
    deviation : float, default=1.0
        If supervised: the part of the standard deviation, at least 0.  Not all three may be 0.
    bins : int, default=5
        If supervised: for the mutual information, number of equal-frequency bins for features with more than
        32 distinct values, in [2, 1024]. Whole numbers that repeat keep their levels, see
        docs/column_types.md.
    task : {"auto", "classification", "regression"}, default="auto"
        If supervised: type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole
        numbers with fewer than 10 rows each, mean regression, anything else classification.
    ledger : {"all", "kept", "none"}, default="all"
        Which decisions to record: on all features, on the selected ones, or none.

    Attributes
    ----------
    scores_ : float64 array, one per feature, larger is better; 0 for a constant feature
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    ledger_ : one decision per feature: why it was kept or rejected
    task_ : if supervised, "binary", "multiclass" or "regression"

    Notes
    -----
    **Formula.** ``A_ij = mixing max(s_i, s_j) + (1 - mixing) (1 - |Spearman_ij|)``, the strengths s scaled
    from 0 to 1; ``r = 0.9 / rho(A)`` with rho the largest eigenvalue. The scores are the row sums of ``(I - r
    A)^-1 - I``, found as the solution of ``(I - r A) x = 1`` by conjugate gradients: the eigenvalues of that
    matrix lie between 0.1 and 1.9, so some forty products with A suffice. Constant features are no nodes.
    Standard deviations depend on the units of the features: scale them first unless units are comparable.

    The authors' program of 2020 divides by row sums before it damps, which leaves little but the degree of a
    node.  Its supervised form is not printed in full; here each part of the mixture is scaled to [0, 1].

    Memory: features^2 numbers, so at most 20,000 features.  Sparse X becomes dense, as its ranks are.

    **When it fails.** Without a target the variance decides, so units do. Features of noise with a large
    variance and no correlation score best.

    References
    ----------
    Roffo, Melzi and Cristani, Infinite feature selection, ICCV 2015; Roffo, Melzi, Castellani, Vinciarelli
    and Cristani, Infinite feature selection: a graph-based feature filtering approach, TPAMI 2020.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6)) * [1, 1, 3, 1, 1, 1]
    >>> ss.InfFS(k=1).fit(X).selected_
    array([2])
    >>> y = X[:, 4] > 0
    >>> ss.InfFS(k=1, supervised=True, deviation=0).fit(X, y).selected_
    array([4])
    """

    parameters = {
        "k": Int(1, optional=True),
        "mixing": Float(0, 1),
        "supervised": Bool(),
        **{name: Float(0) for name in PARTS},
        "bins": Int(2, 1024),
        "task": Choice(*TASKS),
        **OfflineSelector.parameters,
    }
    fields = {**OfflineSelector.fields, "scores_": Array("f8", "features", finite=True)}

    def __init__(
        self,
        k: int | None = None,
        *,
        mixing: float = 0.5,
        supervised: bool = False,
        information: float = 1.0,
        fisher: float = 1.0,
        deviation: float = 1.0,
        bins: int = 5,
        task: str = "auto",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.mixing = mixing
        self.supervised = supervised
        self.information = information
        self.fisher = fisher
        self.deviation = deviation
        self.bins = bins
        self.task = task
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Without a target, and with one."""
        yield cls()
        yield cls(k=1, mixing=0.2, supervised=True)

    @property
    def traits(self) -> Traits:
        """Capabilities with the current parameters."""
        tasks = ANY_TASK if bool(self.supervised) else frozenset()
        return Traits(tasks=tasks, size_parameter="k", nested_sizes=True)

    def _check_together(self) -> None:
        if not any(getattr(self, name) for name in PARTS):
            raise ParameterError(
                f"{', '.join(PARTS)} are all 0, so there is nothing to mix: raise one of them"
            )

    def _shares(self) -> FloatArray:
        """Return the weights of information, Fisher score and deviation; they sum to 1."""
        weights = np.array([getattr(self, name) for name in PARTS], np.float64)
        weights /= weights.max()
        return np.asarray(weights / weights.sum())

    def _choose(self, X: Matrix, y: npt.NDArray[Any], wanted: int) -> IntArray:
        if X.shape[1] > MOST_FEATURES:
            raise InputError(
                f"InfFS compares all pairs of features, and X has {X.shape[1]:,}: at most {MOST_FEATURES:,} "
                "are supported; reduce them with Screen first"
            )
        ranks = _standard_ranks(X)
        nodes = np.flatnonzero(np.einsum("ij,ij->j", ranks, ranks) > 0)
        self.scores_ = np.zeros(X.shape[1])
        if len(nodes):
            strength = _unit(self._strength(X, y)[nodes])
            self.scores_[nodes] = path_sums(self._graph(ranks[:, nodes], strength))
        return best_first(self.scores_, wanted)

    def _strength(self, X: Matrix, y: npt.NDArray[Any]) -> FloatArray:
        deviation = _deviations(X)
        if not self.supervised:
            return deviation
        task = Task(self.task_)
        coded = CodedFeatures(X, y, task, self.bins)
        information = coded.information(coded.target, np.arange(X.shape[1]))
        parts = information, CorrelatedFeatures(X, y, task).f(), deviation
        return np.asarray(sum(w * _unit(part) for w, part in zip(self._shares(), parts, strict=True)))

    def _graph(self, ranks: FloatArray, strength: FloatArray) -> FloatArray:
        """Return the weights of all edges, in place of the correlations."""
        graph = products_of_rows(ranks.T)
        np.fill_diagonal(graph, 1.0)
        for low in range(0, len(graph), ROWS):  # a few rows at a time stay in cache over all steps
            some = graph[low : low + ROWS]
            np.abs(some, out=some)
            some[some > 1.0 - ROUNDING] = 1.0
            some -= 1.0
            some *= self.mixing - 1.0
            some += self.mixing * np.maximum(strength, strength[low : low + ROWS, None])
        return np.asarray(graph)


def path_sums(graph: FloatArray) -> FloatArray:
    """Return the sums over all paths from every node, damped so that they converge."""
    p = len(graph)
    radius = _radius(graph)
    if radius <= ROUNDING:
        return np.zeros(p)
    r = DAMPING / radius
    system = LinearOperator((p, p), matvec=lambda v: v - r * (graph @ v), dtype=np.float64)
    sums, left = cg(system, np.ones(p), rtol=1e-14, atol=0.0, maxiter=500)
    residual = np.abs(system.matvec(sums) - 1).max()
    if left and residual > 1e-9:  # the last digits may be out of reach
        raise InputError(
            f"the sums over paths did not converge (residual {residual:.2g}): the features are on too "
            "different scales; scale them first, for example with StandardScaler"
        )
    return np.asarray(sums - 1.0)


def _radius(graph: FloatArray) -> float:
    """Return the largest eigenvalue; no other is larger in size, as no weight is below 0."""
    if len(graph) > DENSE_FEATURES:
        with contextlib.suppress(ArpackNoConvergence):  # several that are equal
            start = np.ones(len(graph))
            return float(eigsh(graph, k=1, which="LA", v0=start, return_eigenvectors=False)[0])
    return float(answering(lambda: np.linalg.eigvalsh(graph))[-1])


def _standard_ranks(X: Matrix) -> FloatArray:
    """Return ranks without their mean, of length 1, whose products are Spearman's correlations."""
    ranks = np.empty(X.shape)
    for part, block in dense_blocks(X):
        ranks[:, part] = rankdata(block, axis=0)
    ranks -= (len(ranks) + 1) / 2
    length = np.sqrt(np.einsum("ij,ij->j", ranks, ranks))
    ranks /= np.where(length > 0, length, 1.0)
    return ranks


def _deviations(X: Matrix) -> FloatArray:
    """Return the standard deviation of every feature."""
    dense = X.toarray() if sp.issparse(X) else X
    shifted = dense - dense[0].astype(np.float64)
    largest = np.abs(shifted).max(axis=0, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)  # squares of small numbers would vanish
    return np.asarray((shifted / scale).std(axis=0) * scale)


def _unit(values: FloatArray) -> FloatArray:
    """Scale from 0 to 1; all 0 if they are equal."""
    span = float(values.max() - values.min())
    if span <= 1e-12 * float(np.abs(values).max()):
        return np.zeros(len(values))
    return np.asarray((values - values.min()) / span)
