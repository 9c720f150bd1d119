"""Nemenyi's test: which of several methods differ, all pairs at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_number
from streamsieve.evaluation.significance.scores import check_scores, p_text, ranks, text_table
from streamsieve.protocols import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Nemenyi:
    """What Nemenyi's test says.

    Attributes
    ----------
    methods : names, in the order of the columns given
    mean_ranks : float64 array, one per method: 1 is best
    n_datasets : number of data sets
    alpha : level of the test, for all pairs together
    critical_difference : mean ranks that differ by at least this are significantly different
    p_values : (method, method) array, adjusted for all pairs; 1 on the diagonal
    """

    methods: tuple[str, ...]
    mean_ranks: FloatArray
    n_datasets: int
    alpha: float
    critical_difference: float
    p_values: FloatArray

    @property
    def different(self) -> BoolArray:
        """(method, method) array: whether two methods differ significantly."""
        return np.abs(self.mean_ranks[:, None] - self.mean_ranks) >= self.critical_difference

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The largest sets of methods without significant differences, best first; they may overlap."""
        order = np.argsort(self.mean_ranks, kind="stable")
        return tuple(
            tuple(self.methods[i] for i in order[first:last])
            for first, last in together(self.mean_ranks[order], self.critical_difference)
        )

    def __str__(self) -> str:
        order = np.argsort(self.mean_ranks, kind="stable").tolist()
        headings = ("method", "mean rank", *(f"p vs {self.methods[i]}" for i in order[:-1]))
        rows = []
        for place, i in enumerate(order):
            p = [p_text(self.p_values[i, j]) if there < place else "" for there, j in enumerate(order[:-1])]
            rows.append((self.methods[i], f"{self.mean_ranks[i]:.3f}", *p))
        return (
            f"{text_table(headings, rows)}\n"
            f"Nemenyi over {self.n_datasets} data sets: critical difference "
            f"{self.critical_difference:.4f} at {self.alpha:g}"
        )


def nemenyi(
    scores: npt.ArrayLike, methods: Sequence[str], *, alpha: float = 0.05, higher_is_better: bool = True
) -> Nemenyi:
    """Test all pairs of methods over data sets by their mean ranks.

    Meant for after :func:`friedman` has found that there is a difference at all.

    Parameters
    ----------
    scores : (data set, method) array of one finite score each, at least 2 by 2
    methods : names of the methods
    alpha : float, default=0.05
        Level of the test for all pairs together, 0 < alpha < 1.
    higher_is_better : bool, default=True
        Whether a high score is good; False for errors and times.

    Notes
    -----
    A p-value is the probability that the range of k independent normal variables is at least the difference
    of two mean ranks over its standard error (the survival function; printed comparisons in this field have
    taken the density for it).

    References
    ----------
    Demsar, Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning
    Research 7, 2006.

    Examples
    --------
    >>> from streamsieve.evaluation.significance import nemenyi
    >>> accuracy = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.7], [0.7, 0.8, 0.6], [0.9, 0.8, 0.6]]
    >>> print(nemenyi(accuracy, ["SAOLA", "OSFS", "OFS"]))
    method  mean rank  p vs SAOLA  p vs OSFS
    SAOLA       1.250
    OSFS        1.875      0.6505
    OFS         2.875      0.0561     0.3335
    Nemenyi over 4 data sets: critical difference 1.6572 at 0.05
    """
    table, names = check_scores(scores, methods)
    n, k = table.shape
    limit = critical_difference(k, n, alpha)
    means = ranks(table, higher_is_better=higher_is_better).mean(axis=0)
    return Nemenyi(names, means, n, float(alpha), limit, _p_values(means, n))


def critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return by how much mean ranks must differ to be significantly different under Nemenyi's test.

    Parameters
    ----------
    n_methods : int, at least 2
    n_datasets : int, at least 2
    alpha : float, default=0.05
        Level of the test for all pairs together, 0 < alpha < 1.

    Examples
    --------
    >>> from streamsieve.evaluation.significance import critical_difference
    >>> round(critical_difference(4, 14), 3)
    1.254
    """
    from scipy.stats import studentized_range  # noqa: PLC0415 - takes long to import

    check_number("n_methods", n_methods, low=2, integer=True)
    check_number("n_datasets", n_datasets, low=2, integer=True)
    check_number("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
    span = float(studentized_range.ppf(1 - alpha, n_methods, np.inf))
    return span * _unit(n_methods, n_datasets)


def _unit(n_methods: int, n_datasets: int) -> float:
    """Return the standard deviation of a mean rank, as if ranks of different methods were independent.

    They add up to a constant, but their differences vary as those of independent variables of this deviation.
    """
    return math.sqrt(n_methods * (n_methods + 1) / (12 * n_datasets))


def _p_values(means: FloatArray, n_datasets: int) -> FloatArray:
    from scipy.stats import studentized_range  # noqa: PLC0415 - takes long to import

    k = len(means)
    first, second = np.triu_indices(k, 1)
    spans = np.abs(means[first] - means[second]) / _unit(k, n_datasets)
    # many pairs have the same difference, and each costs an integral
    different, places = np.unique(np.round(spans, 12), return_inverse=True)
    found = np.clip(studentized_range.sf(different, k, np.inf), 0.0, 1.0)
    p_values = np.ones((k, k))
    p_values[first, second] = p_values[second, first] = found[places]
    return p_values


def together(ordered: FloatArray, limit: float) -> list[tuple[int, int]]:
    """Return the largest runs, (first, last + 1), of sorted mean ranks that differ by less than a limit."""
    runs: list[tuple[int, int]] = []
    covered = 0
    for first in range(len(ordered)):
        last = first + int(np.searchsorted(ordered[first:] - ordered[first], limit, side="left"))
        if last - first > 1 and last > covered:
            runs.append((first, last))
            covered = last
    return runs
