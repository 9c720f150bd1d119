"""Slow twin of ``streamsieve.evaluation.stability``: Nogueira, Sechidis and Brown 2018, feature by feature.

Value: one minus the mean unbiased variance of a feature's selection over that of random selections of the
mean size.  Variance: four over M squared times the sum of squares of phi_i about their mean, with
phi_i = [1/d sum_f z_if p_f - k_i k/d^2 + value/2 (2 k_i k/d^2 - k_i/d - k/d + 1)] / [k/d (1 - k/d)].
"""

from itertools import combinations


def nogueira(selections, d):
    """Return the value and its variance."""
    m = len(selections)
    z = [[1 if f in set(chosen) else 0 for f in range(d)] for chosen in selections]
    p = [sum(run[f] for run in z) / m for f in range(d)]
    sizes = [sum(run) for run in z]
    k = sum(sizes) / m
    denominator = k / d * (1 - k / d)
    value = 1 - sum(m / (m - 1) * q * (1 - q) for q in p) / d / denominator
    phi = [
        (
            sum(run[f] * p[f] for f in range(d)) / d
            - size * k / d**2
            + value / 2 * (2 * size * k / d**2 - size / d - k / d + 1)
        )
        / denominator
        for run, size in zip(z, sizes, strict=True)
    ]
    mean = sum(phi) / m
    return value, 4 / m**2 * sum((each - mean) ** 2 for each in phi)


def kuncheva(selections, d):
    """Return the mean over pairs of (r - k^2/d) / (k - k^2/d), r the number of features in both."""
    found = []
    for a, b in combinations(map(set, selections), 2):
        k = len(a)
        found.append((len(a & b) - k * k / d) / (k - k * k / d))
    return sum(found) / len(found)


def jaccard(selections):
    """Return the mean over pairs of the size of the intersection over that of the union."""
    found = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(map(set, selections), 2)]
    return sum(found) / len(found)
