"""What a drawn column must do in its group: share little with those kept, and tell classes apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from streamsieve._kernels import dofs as kernel
from streamsieve._kernels.ogfs import products
from streamsieve.protocols import FloatArray, IntArray

REDUNDANCY = ("spearman", "wilcoxon_literal", "wilcoxon_reversed")
SCATTER = ("moments", "pairwise", "moments_literal", "labels_literal")
#: Equal columns, summed in another order, differ by this much at most.
TIE = 1e-12


def pairing(redundancy: str, X: FloatArray) -> FloatArray:
    """Return what a column is compared by, a column a row: ranks of unit length, or the values themselves."""
    if redundancy != "spearman":
        return X
    ranks = rankdata(X, axis=1) - (X.shape[1] + 1) / 2
    unit: FloatArray = ranks / np.sqrt(np.einsum("ij,ij->i", ranks, ranks))[:, None]
    return unit


def shared(
    redundancy: str, table: FloatArray, some: IntArray, others: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return how much columns share, and the p-value of that; NaN if it is that of a correlation.

    The columns are rows of a table that :func:`pairing` made.

    Rank correlations; or p-values of Wilcoxon's test, large if the values lie at the same place; or, the
    other way round, 1 minus those.
    """
    if redundancy == "spearman":
        rank_correlation = np.minimum(np.abs(products(table, some, others)), 1.0)
        return rank_correlation, np.full_like(rank_correlation, np.nan)
    p_value = kernel.wilcoxon(table, some, others)
    return (p_value if redundancy == "wilcoxon_literal" else 1.0 - p_value), p_value


def limit(redundancy: str, threshold: float, alpha: float) -> float:
    """Return what sharing must not exceed."""
    limits = {"spearman": threshold - TIE, "wilcoxon_literal": alpha, "wilcoxon_reversed": 1.0 - alpha}
    return limits[redundancy]


def scatters(scatter: str, Z: FloatArray, classes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the variance of unit columns, one a row, between classes and within them.

    "moments": of the class means, weighted by the classes' shares, and of the values about them.
    "moments_literal": the paper's, whose class means all weigh the same.
    "pairwise": mean squared distance of two values of different classes, and of one class.
    "labels_literal": the paper's label graphs, which are swapped: the one called "between" measures within.
    """
    counts = np.bincount(classes).astype(np.float64)
    one_hot: npt.NDArray[Any] = (classes[:, None] == np.arange(len(counts))) / counts
    Z = Z * np.sqrt(Z.shape[1])  # of unit variance
    means = Z @ one_hot
    variances = np.maximum(Z**2 @ one_hot - means**2, 0.0)
    share = counts / len(classes)
    within = variances @ share
    if scatter == "pairwise":
        k = len(counts)
        distances = means[:, :, None] - means[:, None, :]
        between = np.einsum("fij,fij->f", distances, distances) / (k * (k - 1)) + 2.0 * variances.mean(axis=1)
        return between, 2.0 * variances.mean(axis=1)
    if scatter == "moments_literal":
        return np.einsum("fj,fj->f", means, means), within
    between = means**2 @ share
    return (within, between) if scatter == "labels_literal" else (between, within)
