"""Friedman's test: do several methods differ over several data sets at all?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, fdtrc

from streamsieve.evaluation.significance.scores import check_scores, p_text, ranks, text_table
from streamsieve.protocols import FloatArray


@dataclass(frozen=True, eq=False)
class Friedman:
    """What Friedman's test says.

    Attributes
    ----------
    methods : names, in the order of the columns given
    mean_ranks : float64 array, one per method: 1 is best
    n_datasets : number of data sets
    chi2, chi2_p_value : Friedman's statistic, corrected for ties, and its p-value; conservative
    f, p_value : the statistic of Iman and Davenport and its p-value: the one to use
    """

    methods: tuple[str, ...]
    mean_ranks: FloatArray
    n_datasets: int
    chi2: float
    chi2_p_value: float
    f: float
    p_value: float

    def __str__(self) -> str:
        order = np.argsort(self.mean_ranks, kind="stable").tolist()
        k, n = len(self.methods), self.n_datasets
        table = text_table(
            ("method", "mean rank"), [(self.methods[i], f"{self.mean_ranks[i]:.3f}") for i in order]
        )
        return (
            f"{table}\n"
            f"Friedman over {n} data sets: chi-square({k - 1}) = {self.chi2:.3f}, "
            f"p {p_text(self.chi2_p_value, equal='= ')}\n"
            f"Iman-Davenport: F({k - 1}, {(k - 1) * (n - 1)}) = {self.f:.3f}, "
            f"p {p_text(self.p_value, equal='= ')}"
        )


def friedman(scores: npt.ArrayLike, methods: Sequence[str], *, higher_is_better: bool = True) -> Friedman:
    """Test whether methods differ over data sets, by their ranks within each.

    Parameters
    ----------
    scores : (data set, method) array of one finite score each, at least 2 by 2
    methods : names of the methods
    higher_is_better : bool, default=True
        Whether a high score is good; False for errors and times.

    Notes
    -----
    Equal scores share the mean of their ranks, and chi-square is corrected for them.  F is
    (N - 1) chi2 / (N (k - 1) - chi2) for N data sets and k methods.  If all data sets agree it is infinite;
    its p-value is never below (1 / k!)^(N - 1), the probability that they agree by chance.

    References
    ----------
    Demsar, Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning
    Research 7, 2006.
    Iman and Davenport, Approximations of the critical region of the Friedman statistic, Communications in
    Statistics A 9, 1980.

    Examples
    --------
    >>> from streamsieve.evaluation.significance import friedman
    >>> accuracy = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.7], [0.7, 0.8, 0.6], [0.9, 0.8, 0.6]]
    >>> print(friedman(accuracy, ["SAOLA", "OSFS", "OFS"]))
    method  mean rank
    SAOLA       1.250
    OSFS        1.875
    OFS         2.875
    Friedman over 4 data sets: chi-square(2) = 5.733, p = 0.0569
    Iman-Davenport: F(2, 6) = 7.588, p = 0.0227
    """
    table, names = check_scores(scores, methods)
    n, k = table.shape
    ranked = ranks(table, higher_is_better=higher_is_better)
    chi2 = _chi_square(ranked)
    rest = n * (k - 1) - chi2
    # rest is 0 where all data sets agree, up to rounding
    f = (n - 1) * chi2 / rest if rest > 1e-9 * n else math.inf
    by_chance = math.exp(-(n - 1) * math.lgamma(k + 1))
    p_value = max(float(fdtrc(k - 1, (k - 1) * (n - 1), f)), by_chance)
    return Friedman(names, ranked.mean(axis=0), n, chi2, float(chdtrc(k - 1, chi2)), f, p_value)


def _chi_square(ranked: FloatArray) -> float:
    """Return n (k - 1) times the share of the ranks' variance that lies between methods: ties count."""
    n, k = ranked.shape
    middle = (k + 1) / 2
    between = n * float(((ranked.mean(axis=0) - middle) ** 2).sum())
    total = float(((ranked - middle) ** 2).sum())
    # total is 0 where all methods are equal everywhere
    return n * (k - 1) * between / total if total > 0 else 0.0
