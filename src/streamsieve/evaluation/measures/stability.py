"""Stability of selections over runs, folds or time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr, ndtri

from streamsieve._parameters import check_number
from streamsieve.exceptions import InputError
from streamsieve.protocols import BoolArray, FloatArray, IntArray

#: Sets of columns, one per run; or a (run, feature) array of booleans.
Selections: TypeAlias = Iterable[Iterable[int]] | BoolArray


@dataclass(frozen=True)
class Stability:
    """Nogueira's stability of a selector, with its confidence interval.

    Attributes
    ----------
    value : 1 if all selections are equal, about 0 if they are random; NaN for a single one
    variance : of the value, over other runs like these; NaN where it is not defined
    low, high : confidence interval
    confidence : its coverage
    n_runs : selections compared
    n_features : features they were chosen from
    mean_size : mean number of features selected
    """

    value: float
    variance: float
    low: float
    high: float
    confidence: float
    n_runs: int
    n_features: int
    mean_size: float

    def p_value(self, reference: float) -> float:
        """Return the two-sided p-value of the hypothesis that the true stability is ``reference``."""
        return _two_sided(self.value - reference, self.variance)

    def p_value_of_difference(self, other: Stability) -> float:
        """Return the two-sided p-value of equal stability of two selectors, each with its own runs."""
        return _two_sided(self.value - other.value, self.variance + other.variance)

    def __str__(self) -> str:
        interval = f" ({self.confidence:.0%} {self.low:.3f} to {self.high:.3f})"
        known = "" if math.isnan(self.low) else interval
        return (
            f"stability {self.value:.3f}{known} of {self.n_runs} selections of {self.mean_size:.1f} of "
            f"{self.n_features:,} features in the mean"
        )


def _two_sided(difference: float, variance: float) -> float:
    if math.isnan(difference) or math.isnan(variance):
        return math.nan
    if variance == 0:
        return 1.0 if difference == 0 else 0.0
    return float(2 * ndtr(-abs(difference) / math.sqrt(variance)))


def stability(
    selections: Selections, n_features: int | None = None, *, confidence: float = 0.95
) -> Stability:
    """Compute Nogueira's stability of selections, corrected for agreement by chance; sizes may differ.

    Parameters
    ----------
    selections : for each run, fold or point in time the columns selected; or a (run, feature) array of
        booleans
    n_features : int or None, default=None
        Total number of features; None if ``selections`` is an array of booleans.
    confidence : float, default=0.95
        Coverage of the interval, in (0, 1).

    Notes
    -----
    With M selections, frequencies p of d features and the mean size c, the value is
    1 - [M / (M - 1) mean p (1 - p)] / [c / d (1 - c / d)].  It is about 0 for random selections, 1 only if
    all are equal, and at least -1 / (M - 1).  For selections of one size it is the mean of Kuncheva's index
    over pairs.  If every run selects nothing, or everything, it is 1 by convention and has no variance.  The
    interval is asymptotic in M and assumes independent selections, as from bootstrap samples; for folds,
    which share training rows, and for points in time it is too narrow.  It is truncated at 1.

    References
    ----------
    Nogueira, Sechidis and Brown, On the stability of feature selection algorithms, Journal of Machine
    Learning Research 18, 2018.

    Examples
    --------
    >>> from streamsieve.evaluation.measures.stability import stability
    >>> found = stability([[0, 1, 2], [0, 1, 3], [0, 1, 2], [1, 0]], n_features=10)
    >>> print(found)
    stability 0.707 (95% 0.607 to 0.808) of 4 selections of 2.8 of 10 features in the mean
    """
    check_number("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    runs = _Runs(selections, n_features)
    m, d = runs.n_runs, runs.n_features
    share = runs.sizes.mean() / d
    known = {"confidence": float(confidence), "n_runs": m, "n_features": d, "mean_size": share * d}
    if m == 1:
        return Stability(math.nan, math.nan, math.nan, math.nan, **known)
    if share in (0.0, 1.0):
        return Stability(1.0, math.nan, math.nan, math.nan, **known)
    frequencies = runs.counts / m
    by_chance = share * (1 - share)
    value = float(1 - m / (m - 1) * (frequencies * (1 - frequencies)).sum() / d / by_chance)
    # what each run contributes (the closed form of the paper); the variance of these gives that of their mean
    own = runs.sizes / d
    agreed = runs.summed(frequencies) / d
    parts = (agreed - own * share + value / 2 * (2 * share * own - own - share + 1)) / by_chance
    variance = float(4 / m * parts.var())
    reach = float(ndtri(0.5 + confidence / 2)) * math.sqrt(variance)
    return Stability(value, variance, value - reach, min(1.0, value + reach), **known)


def kuncheva(selections: Selections, n_features: int | None = None) -> float:
    """Return the mean of Kuncheva's consistency index over all pairs of selections of one size.

    Parameters
    ----------
    selections, n_features : as for :func:`stability`; all selections must have the same size

    Returns
    -------
    float
        1 if all are equal, 0 as expected by chance; 1 where every run selects nothing, or everything; NaN
        for a single selection.

    References
    ----------
    Kuncheva, A stability index for feature selection, Artificial Intelligence and Applications 2007.

    Examples
    --------
    >>> from streamsieve.evaluation.measures.stability import kuncheva
    >>> kuncheva([[0, 1], [1, 2]], n_features=4)
    0.0
    """
    runs = _Runs(selections, n_features)
    sizes = np.unique(runs.sizes)
    if len(sizes) > 1:
        raise InputError(
            f"Kuncheva's index is for selections of one size; these have {sizes[0]} to {sizes[-1]} features: "
            "use stability(), which takes any"
        )
    k, d = int(sizes[0]), runs.n_features
    if k in (0, d):
        return math.nan if runs.n_runs == 1 else 1.0
    by_chance = k * k / d
    return runs.mean_over_pairs(lambda both, _a, _b: (both - by_chance) / (k - by_chance))


def jaccard(selections: Selections, n_features: int | None = None) -> float:
    """Return the mean Jaccard index over all pairs of selections.

    Not corrected for agreement by chance: large random selections look stable.

    Parameters
    ----------
    selections : as for :func:`stability`
    n_features : int or None, default=None
        Total number of features; not needed.

    Returns
    -------
    float from 0 to 1
        Two empty selections are equal; NaN for a single selection.

    Examples
    --------
    >>> from streamsieve.evaluation.measures.stability import jaccard
    >>> jaccard([[0, 1], [1, 2]])
    0.3333333333333333
    """
    if n_features is None and not _is_mask(selections):
        chosen = [_numbers(i, each) for i, each in enumerate(_each(selections))]
        n_features = 1 + max((int(each.max()) for each in chosen if len(each)), default=0)
    runs = _Runs(selections, n_features)
    return runs.mean_over_pairs(
        lambda both, a, b: np.where(a + b > 0, both / np.maximum(a + b - both, 1), 1.0)
    )


def _is_mask(selections: Selections) -> TypeGuard[BoolArray]:
    return isinstance(selections, np.ndarray) and selections.dtype == bool


class _Runs:
    """Selections as one list of columns, so that cost grows with what is selected, not with the features."""

    def __init__(self, selections: Selections, n_features: int | None) -> None:
        if _is_mask(selections):
            self.n_features = _width(selections, n_features)
            self.sizes: IntArray = np.asarray(selections.sum(axis=1), np.int64)
            self.columns: IntArray = np.nonzero(selections)[1].astype(np.int64)
        elif n_features is None:
            raise InputError("say how many features there were: n_features=...")
        else:
            check_number("n_features", n_features, low=1, integer=True)
            chosen = [_columns(i, each, n_features) for i, each in enumerate(_each(selections))]
            self.n_features = n_features
            self.sizes = np.array([len(each) for each in chosen], np.int64)
            self.columns = np.concatenate([np.zeros(0, np.int64), *chosen])
        self.n_runs = len(self.sizes)
        if not self.n_runs:
            raise InputError("there are no selections to compare")
        self.counts: IntArray = np.bincount(self.columns, minlength=self.n_features).astype(np.int64)

    def summed(self, values: FloatArray) -> FloatArray:
        """Return for every run the sum of a value over its features."""
        run = np.repeat(np.arange(self.n_runs), self.sizes)
        return np.bincount(run, values[self.columns], minlength=self.n_runs).astype(np.float64)

    def mean_over_pairs(self, index: Callable[[Any, Any, Any], Any]) -> float:
        """Return the mean of an index of (features in both, size of one, size of the other)."""
        if self.n_runs == 1:
            return math.nan
        edges = np.concatenate([[0], np.cumsum(self.sizes)])
        shape = (self.n_runs, self.n_features)
        chosen = sp.csr_array((np.ones(len(self.columns), np.int64), self.columns, edges), shape=shape)
        first, second = np.triu_indices(self.n_runs, 1)
        both = (chosen @ chosen.T).toarray()[first, second]
        return float(np.mean(index(both, self.sizes[first], self.sizes[second])))


def _width(mask: BoolArray, n_features: int | None) -> int:
    """Return the number of features of a mask."""
    if mask.ndim != 2 or not mask.shape[1]:
        raise InputError(f"a mask must be (run, feature); got an array of shape {mask.shape}")
    if n_features is not None and n_features != mask.shape[1]:
        raise InputError(f"n_features is {n_features}, but the mask has {mask.shape[1]} columns")
    return int(mask.shape[1])


def _each(selections: Any) -> list[Any]:
    if isinstance(selections, str) or not isinstance(selections, Iterable):
        raise InputError(f"selections are lists of columns, one per run, or a mask; got {selections!r}")
    return list(selections)


def _numbers(run: int, selection: Any) -> IntArray:
    columns = np.asarray(list(selection) if isinstance(selection, Iterable) else selection)
    if columns.ndim == 1 and not len(columns):
        return np.zeros(0, np.int64)
    if columns.ndim != 1 or columns.dtype.kind not in "iu":
        raise InputError(
            f"a selection must be columns, that is whole numbers; selection {run} is {columns.dtype} of "
            f"shape {columns.shape}: for masks, give a (run, feature) array of booleans"
        )
    return columns.astype(np.int64)


def _columns(run: int, selection: Iterable[int], n_features: int) -> IntArray:
    columns = _numbers(run, selection)
    if not len(columns):
        return columns
    if columns.min() < 0 or columns.max() >= n_features:
        wrong = columns.min() if columns.min() < 0 else columns.max()
        raise InputError(f"selection {run} has column {wrong}, but columns go from 0 to {n_features - 1}")
    ordered = np.sort(columns)
    if (ordered[1:] == ordered[:-1]).any():
        raise InputError(f"selection {run} holds a column twice: give every column once")
    return ordered
