"""Input of all models: correlations of features with each other and with the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from streamsieve.protocols import FloatArray, IntArray
from streamsieve.summaries.cross_products import JointMoments

#: Fraction of a variance that may be rounding; anything below it is 0.
ROUNDING = 1e-12
#: Smaller variances are close to underflow and have lost digits.
LEAST_VARIANCE = 1e-290
#: Absolute correlation from which on two columns are copies of each other.
COPY = 1.0 - 1e-10


@dataclass(frozen=True)
class Problem:
    """Standardized least squares over some features, with one or more targets.

    Attributes
    ----------
    R : correlations of the features, (p, p), contiguous
    c : correlations of every target with every feature, (m, p)
    n : effective number of rows
    k : number of features to select
    ridge, steps, annealing, gamma : parameters of the models
    """

    R: FloatArray
    c: FloatArray
    n: float
    k: int
    ridge: float
    steps: int
    annealing: float
    gamma: float


class Standardized(NamedTuple):
    """Standardized moments, with means and standard deviations to undo the standardization."""

    n: float
    mean: FloatArray
    #: Standard deviation; 0 for a constant feature.
    sd: FloatArray
    #: Features that vary and are not copies of earlier ones, to which ``R`` and ``c`` refer.
    live: IntArray
    R: FloatArray
    c: FloatArray
    #: Mean and standard deviation of every target.
    target_mean: FloatArray
    target_sd: FloatArray


def standardized(moments: JointMoments, *, balanced: bool) -> Standardized:
    """Return correlations.

    With two classes, the second one is the target.  ``balanced``: as if all classes had the same mass, and
    the average covariance within classes.
    """
    if balanced and len(moments.target_mean) > 1:
        moments = _balanced(moments)
    variance = np.diagonal(moments.covariance)
    sd = np.sqrt(np.where(variance > LEAST_VARIANCE, variance, 0.0))
    vary = np.flatnonzero(sd > 0)
    R = moments.covariance[np.ix_(vary, vary)] if len(vary) < len(sd) else moments.covariance
    R = R / sd[vary][:, None] / sd[vary]
    np.clip(R, -1.0, 1.0, out=R)
    np.fill_diagonal(R, 1.0)
    first = _originals(R)
    if len(first) < len(vary):
        R = np.ascontiguousarray(R[np.ix_(first, first)])
    live = vary[first]
    some = slice(None) if len(moments.target_mean) != 2 else slice(1, 2)
    target_sd = np.sqrt(moments.target_variance[some])
    scale = np.where(target_sd > 0, target_sd, np.inf)[:, None] * sd[live]
    c = np.clip(moments.target_covariance[some][:, live] / scale, -1.0, 1.0)
    return Standardized(moments.n, moments.mean, sd, live, R, c, moments.target_mean[some], target_sd)


def _originals(R: FloatArray) -> IntArray:
    """Return the columns that are not copies, up to sign and scale, of earlier ones."""
    keep = np.ones(len(R), bool)
    for j in range(len(R)):
        if keep[j]:
            keep[j + 1 :] &= np.abs(R[j, j + 1 :]) < COPY
    return np.flatnonzero(keep)


def _balanced(moments: JointMoments) -> JointMoments:
    """Return the moments as they would be if every class had the same mass."""
    shares = moments.target_mean
    there = np.flatnonzero(shares > 0)
    # mean of the class less the mean of all
    away = moments.target_covariance[there] / shares[there][:, None]
    middle = away.mean(axis=0)
    between = away * np.sqrt(shares[there])[:, None]
    within = moments.covariance - between.T @ between
    # the remainder of a feature that is constant within classes is rounding
    np.fill_diagonal(within, np.where(np.diagonal(within) > ROUNDING * np.diagonal(moments.covariance),
                                      np.diagonal(within), 0.0))  # fmt: skip
    spread = (away - middle) / np.sqrt(len(there))
    equal = np.where(shares > 0, 1.0 / len(there), 0.0)
    target_covariance = np.zeros_like(moments.target_covariance)
    target_covariance[there] = (away - middle) / len(there)
    return JointMoments(
        moments.n,
        moments.mean + middle,
        within + spread.T @ spread,
        equal,
        equal * (1 - equal),
        target_covariance,
    )


def strongest(per_target: list[FloatArray], n_features: int) -> FloatArray:
    """Return the largest absolute value of every feature over the targets."""
    if not per_target:
        return np.zeros(n_features)
    sizes: FloatArray = np.max(np.abs(per_target), axis=0)
    return sizes


def falling(values: list[float]) -> FloatArray:
    """Return strictly decreasing numbers, at most the given ones: scores in order of entry."""
    out: list[float] = []
    for value in values:
        out.append(value if not out else min(value, float(np.nextafter(out[-1], 0.0))))
    return np.array(out)
