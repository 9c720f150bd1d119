"""Wilcoxon's signed-rank test of methods over data sets, against a control or in all pairs, with Holm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from streamsieve._parameters import check_choice, check_number
from streamsieve.evaluation.significance.scores import (
    as_floats,
    check_member,
    check_scores,
    p_text,
    ranks,
    rounding,
    text_table,
)
from streamsieve.exceptions import InputError
from streamsieve.protocols import FloatArray

#: Up to this number of differences the distribution is exact; beyond, the normal one is as good.
EXACT = 100
ZEROS = ("drop", "pratt")


@dataclass(frozen=True)
class SignedRank:
    """What the signed-rank test says of two samples.

    Attributes
    ----------
    plus, minus : sums of the ranks of the differences in which the first, or the second, is higher
    n : number of differences that are not zero
    p_value : two-sided
    exact : whether the p-value is exact, ties included, rather than from the normal distribution
    """

    plus: float
    minus: float
    n: int
    p_value: float
    exact: bool

    def __str__(self) -> str:
        how = "exact" if self.exact else "normal"
        return (
            f"signed ranks + {self.plus:g}, - {self.minus:g} of {self.n} differences, "
            f"p {p_text(self.p_value)} ({how})"
        )


@dataclass(frozen=True)
class Comparison:
    """Two methods over data sets.

    Attributes
    ----------
    first, second : their names
    test : of first against second; in ``plus`` the first is better
    holm : p-value adjusted for all comparisons made (Holm)
    better : name of the one with the larger sum of ranks if the adjusted p-value is below alpha, else ""
    """

    first: str
    second: str
    test: SignedRank
    holm: float
    better: str


@dataclass(frozen=True)
class Wilcoxon:
    """What signed-rank tests of some pairs of methods say.

    Attributes
    ----------
    methods : names, in the order of the columns given
    control : the method all others were compared with, or None for all pairs
    n_datasets : number of data sets
    alpha : level for all comparisons together
    comparisons : one for each pair, in the order of the columns
    """

    methods: tuple[str, ...]
    control: str | None
    n_datasets: int
    alpha: float
    comparisons: tuple[Comparison, ...]

    def __str__(self) -> str:
        rows = [
            (
                f"{each.first} vs {each.second}",
                f"{each.test.plus:g}",
                f"{each.test.minus:g}",
                p_text(each.test.p_value),
                p_text(each.holm),
                each.better or "-",
            )
            for each in self.comparisons
        ]
        table = text_table(("pair", "R+", "R-", "p", "Holm", "better"), rows)
        return f"{table}\nWilcoxon signed ranks over {self.n_datasets} data sets, Holm at {self.alpha:g}"


def wilcoxon(
    scores: npt.ArrayLike,
    methods: Sequence[str],
    control: str | None = None,
    *,
    alpha: float = 0.05,
    higher_is_better: bool = True,
    zeros: str = "drop",
) -> Wilcoxon:
    """Test methods over data sets in pairs by signed ranks.

    Parameters
    ----------
    scores : (data set, method) array of one finite score each, at least 2 by 2
    methods : names of the methods
    control : str or None, default=None
        Compare this method with every other one; None compares all pairs.
    alpha : float, default=0.05
        Level for all comparisons together, 0 < alpha < 1.
    higher_is_better : bool, default=True
        Whether a high score is good; False for errors and times.
    zeros : {"drop", "pratt"}, default="drop"
        What becomes of data sets on which two methods are equal: see :func:`signed_rank`.

    References
    ----------
    Demsar, Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning
    Research 7, 2006.
    Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> from streamsieve.evaluation.significance import wilcoxon
    >>> errors = [[i, 2 * i, i + (-1) ** i] for i in range(1, 9)]
    >>> print(wilcoxon(errors, ["SAOLA", "OSFS", "OFS"], "SAOLA", higher_is_better=False))
    pair           R+  R-       p    Holm  better
    SAOLA vs OSFS  36   0  0.0078  0.0156   SAOLA
    SAOLA vs OFS   18  18  1.0000  1.0000       -
    Wilcoxon signed ranks over 8 data sets, Holm at 0.05
    """
    table, names = check_scores(scores, methods)
    check_number("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
    if control is None:
        pairs = list(combinations(range(len(names)), 2))
    else:
        at = check_member(control, names)
        pairs = [(at, other) for other in range(len(names)) if other != at]
    oriented = table if higher_is_better else -table
    tests = [signed_rank(oriented[:, i], oriented[:, j], zeros=zeros) for i, j in pairs]
    adjusted = holm([test.p_value for test in tests]).tolist()
    comparisons = []
    for (i, j), test, p in zip(pairs, tests, adjusted, strict=True):
        better = names[i] if test.plus > test.minus else names[j]
        comparisons.append(Comparison(names[i], names[j], test, p, better if p < alpha else ""))
    return Wilcoxon(names, control, len(table), float(alpha), tuple(comparisons))


def signed_rank(first: npt.ArrayLike, second: npt.ArrayLike, *, zeros: str = "drop") -> SignedRank:
    """Test whether paired values differ, by the ranks of their differences' sizes.

    Parameters
    ----------
    first, second : arrays of equal length, finite
    zeros : {"drop", "pratt"}, default="drop"
        Differences of zero: "drop" them before ranking (Wilcoxon), or rank them too and drop their ranks
        (Pratt), so that many zeros weigh against a few small differences.

    Notes
    -----
    Up to 100 differences the p-value is exact, given the ranks, ties or not: all assignments of signs
    are counted.  Beyond, it is that of the normal distribution of the same variance, without a correction for
    continuity.  If no values differ it is 1.

    Examples
    --------
    >>> from streamsieve.evaluation.significance import signed_rank
    >>> print(signed_rank([1, 2, 3, 4, 5], [0, 0, 0, 0, 6]))
    signed ranks + 13.5, - 1.5 of 5 differences, p 0.1875 (exact)
    """
    check_choice("zeros", zeros, ZEROS)
    a, b = (as_floats(values, "paired values") for values in (first, second))
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(f"paired values must be two rows of equal length; got {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise InputError("paired values must be finite; leave out the pairs that are not")
    noise = rounding(a, b)
    differences = np.where(np.abs(a - b) <= noise, 0.0, a - b)
    if zeros == "drop":
        noise, differences = noise[differences != 0], differences[differences != 0]
    if not differences.any():
        return SignedRank(0.0, 0.0, 0, 1.0, exact=True)
    signed = differences != 0
    ranked = ranks(np.abs(differences), higher_is_better=False, noise=noise)
    plus, minus = float(ranked[differences > 0].sum()), float(ranked[differences < 0].sum())
    n = int(signed.sum())
    exact = n <= EXACT
    tail = _exact_tail if exact else _normal_tail
    return SignedRank(plus, minus, n, min(1.0, 2 * tail(ranked[signed], min(plus, minus))), exact)


def _exact_tail(ranked: FloatArray, statistic: float) -> float:
    """Return the probability that the sum of ranks with random signs is at most the statistic."""
    doubled = np.rint(2 * ranked).astype(np.int64)  # ranks that are shared are halves
    probability = np.zeros(int(doubled.sum()) + 1)
    probability[0] = 1.0
    for rank in doubled.tolist():
        moved = np.zeros_like(probability)
        moved[rank:] = probability[: len(probability) - rank]
        probability = (probability + moved) / 2
    return float(probability[: round(2 * statistic) + 1].sum())


def _normal_tail(ranked: FloatArray, statistic: float) -> float:
    deviation = math.sqrt(float((ranked**2).sum())) / 2
    return float(ndtr((statistic - ranked.sum() / 2) / deviation))


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Adjust p-values so that comparing each with alpha errs anywhere with probability alpha at most.

    Parameters
    ----------
    p_values : array of p-values

    Returns
    -------
    float64 array
        Adjusted p-values, in the same order.

    Examples
    --------
    >>> from streamsieve.evaluation.significance import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("p-values must be a row of numbers from 0 to 1")
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted
