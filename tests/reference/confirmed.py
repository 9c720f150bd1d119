"""Slow twin of confirmed p-values of correlations: one column at a time, by scipy.stats.

    doubt = (g_x g_y / sqrt(n) z^3 / 6)^2 / 2 + max(k_x k_y, 0) / n z^4 / 24, z = Phi^-1(1 - p / 2) up to 8,

g skewness and k excess kurtosis; of classes, the worst indicator.  From step 3 on, negative k count as 0.

1. Two values and two classes: Fisher's exact test if fewer than 5 rows are expected in a cell (or always, for
   an online procedure), else t.
2. p = t or F test.  doubt <= 0.1: that is it.  Else t is trusted down to the level at which the doubt is 0.1,
   and no step makes p larger than that level.
3. Numeric target: p = max(p, t test of x and the normal scores of y).  doubt with these <= 0.25: that is it.
4. p = max(p, t or F test of the normal scores of x).  doubt with these <= 0.25: that is it.
5. p = max(p, C min over classes of 2 min_s (E exp(s (a - m)))^c), a the scores of x, m their mean in the
   class (or, if that has fewer rows, outside of it) and c its size: Hoeffding's bound, times at most 1 and
   (1 / s + the largest gap of a) / sqrt(2 pi c v), v the variance of a with weights exp(s a).  Of two
   classes, one counts; a numeric target is split at its median.

Normal scores are Phi^-1(rank / (n + 1)), ties have their mean rank.
"""

import numpy as np
import scipy.optimize
import scipy.special
import scipy.stats

from tests.reference import fisher_z


def scores(x):
    return scipy.stats.norm.ppf(scipy.stats.rankdata(x) / (len(x) + 1))


def moments(x):
    if np.ptp(x) == 0:
        return 0.0, 0.0
    x = fisher_z.shifted(x)
    d = x - x.mean()
    variance = np.mean(d**2)
    return np.mean(d**3) / variance**1.5, np.mean(d**4) / variance**2 - 3


def doubt(p, of_column, targets, n, *, light=False):
    """Return the worst doubt over the moments of targets; light tails count only in the first step."""
    z = min(-scipy.special.ndtri(max(p, 1e-300) / 2), 8)
    g, k = of_column
    skewness = max(abs(g * target[0]) for target in targets)
    kurtosis = max(max(k * target[1], 0) if light else max(k, 0) * max(target[1], 0) for target in targets)
    return (skewness / n**0.5 * z**3 / 6) ** 2 / 2 + kurtosis / n * z**4 / 24


def bound(a, inside):
    """Return Hoeffding's bound of the mean of some rows of a, which are drawn without replacement.

    The other rows have one, too; that of fewer rows is smaller.
    """
    if 2 * inside.sum() == len(a):
        return min(one_bound(a, inside), one_bound(a, ~inside))
    return one_bound(a, ~inside if 2 * inside.sum() > len(a) else inside)


def one_bound(a, inside):
    d = a - a[inside].mean()
    d = d if d.mean() <= 0 else -d
    found = scipy.optimize.minimize_scalar(
        lambda s: scipy.special.logsumexp(s * d) - np.log(len(a)), bounds=(0, 100), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    s, c = found.x, inside.sum()
    weights = scipy.special.softmax(s * d)
    variance = weights @ d**2 - (weights @ d) ** 2
    within = 1e-6 < s < 99 and variance > 1e-12
    gap = np.diff(np.unique(a)).max()
    factor = min(1, (1 / s + gap) / np.sqrt(2 * np.pi * c * variance)) if within else 1
    return min(1.0, 2 * np.exp(c * found.fun) * factor)


def fisher(a, b):
    table = [[np.sum(a & b), np.sum(a & ~b)], [np.sum(~a & b), np.sum(~a & ~b)]]
    return scipy.stats.fisher_exact(table)[1]


def tested(x, y, *, many, given):
    if many:
        return fisher_z.ratio_p_value(fisher_z.correlation_ratio(x, y), len(y), len(np.unique(y)))
    return fisher_z.p_value(fisher_z.correlation(x, y), len(y), given)


def p_value(x, y, task, *, online=False):
    """Return the confirmed p-value of a column that varies, whatever the level."""
    x, n, many = np.asarray(x, float), len(y), task == "multiclass"
    labels = np.unique(y)
    two = len(labels) == 2
    y = np.searchsorted(labels, y).astype(float) if two or many else np.asarray(y, float)
    p = tested(x, y, many=many, given=0)
    indicators = [y == label for label in np.unique(y)] if two or many else []
    if two and len(np.unique(x)) == 2:
        a, b = x == x[0], indicators[1]
        expected = min(a.sum(), n - a.sum()) * min(b.sum(), n - b.sum()) / n
        return fisher(a, b) if online or expected < 5 else p
    targets = [moments(each.astype(float)) for each in indicators] or [moments(y)]
    if doubt(p, moments(x), targets, n, light=True) <= 0.1:
        return p
    return min(confirmed(x, y, p, targets, indicators, two, many), trusted(x, targets, n))


def of_residuals(x, y, p, given):
    """Return the confirmed p-value of a coefficient, whose t test has p, from what the model leaves."""
    targets = [moments(y)]
    if doubt(p, moments(x), targets, len(y), light=True) <= 0.1:
        return p
    found = confirmed(x, y, p, targets, [], two=False, many=False, given=given)
    return min(found, trusted(x, targets, len(y)))


def trusted(x, targets, n):
    """Return the level down to which t is trusted."""
    of_column = moments(x)
    z = scipy.optimize.brentq(
        lambda z: doubt(2 * scipy.special.ndtr(-z), of_column, targets, n, light=True) - 0.1,
        0,
        8,
        xtol=1e-14,
        rtol=1e-14,
    )
    return 2 * scipy.special.ndtr(-z)


def confirmed(x, y, p, targets, indicators, two, many, given=0):
    """Return the p-value by steps 3 to 5."""
    n = len(y)
    if not indicators:
        y_scores = scores(y)
        p = max(p, tested(x, y_scores, many=False, given=given))
        targets = [moments(y_scores)]
        if doubt(p, moments(x), targets, n) <= 0.25:
            return p
        above = y > np.median(y)
        indicators, y = [above if above.any() else y >= np.median(y)], y_scores
    x_scores = scores(x)
    p = max(p, tested(x_scores, y, many=many, given=given))
    if doubt(p, moments(x_scores), targets, n) <= 0.25:
        return p
    sets = indicators[:1] if two else indicators
    return max(p, min(1.0, len(sets) * min(bound(x_scores, each) for each in sets)))
