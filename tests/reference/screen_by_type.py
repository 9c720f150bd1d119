"""Slow twin of a screen over quantities and levels, from the text of docs/column_types.md."""

import numpy as np


def strength(g, freedom, n):
    """Correlation of normal variables whose information is g / (2 n), less its mean under independence."""
    return np.sqrt(1 - np.exp(-max(g - max(freedom - 1, 0), 0) / n))


def score_of_numbers(x, y):
    """The correlation ratio of a quantity with classes, as a strength."""
    x, y = x[~np.isnan(x)], y[~np.isnan(x)]
    labels = np.unique(y)
    within = sum(np.sum((x[y == label] - x[y == label].mean()) ** 2) for label in labels)
    total = np.sum((x - x.mean()) ** 2)
    return strength(-len(x) * np.log(within / total), len(labels) - 1, len(x))


def information(x, y):
    """Mutual information of two columns of levels in nats, and the degrees of freedom of their table."""
    levels, labels = sorted({*x}), sorted({*y})
    total = 0.0
    for level in levels:
        for label in labels:
            both = np.mean([a == level and b == label for a, b in zip(x, y, strict=True)])
            if both:
                here, there = np.mean([a == level for a in x]), np.mean([b == label for b in y])
                total += both * np.log(both / (here * there))
    return total, (len(levels) - 1) * (len(labels) - 1)


def score_of_levels(x, y):
    """The table of a column of levels and classes, as a strength."""
    there = np.array([a is not None and a == a for a in x])  # noqa: PLR0124 - NaN
    x, y = [a for a in x if a is not None and a == a], y[there]  # noqa: PLR0124
    nats, freedom = information(x, y)
    return strength(2 * len(y) * nats, freedom, len(y))
