"""Toy tables and streams for the screen."""

import numpy as np


def table(target="classes", n=60, p=12, seed=0, classes=3):
    """Rows whose features tell more or less about the target; some columns are copies of others."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, p)) + np.outer(y, np.linspace(-1, 1, p)) * 0.7
    X[rng.random((n, p)) < 0.2] = 0.0
    X[:, p // 2] = X[:, 1]
    return X, y if target == "classes" else y + rng.normal(size=n)


def target_of(criterion):
    return "numeric" if criterion == "correlation" else "classes"


def table_for(criterion, **kwargs):
    """Return a table that suits a criterion by name."""
    return table(target_of(criterion), classes=2 if criterion == "t" else 3, **kwargs)


def drift(periods, rows=200, p=6, seed=0):
    """Yield (X, y) for each period, in which only the given columns follow the label."""
    rng = np.random.default_rng(seed)
    for columns in periods:
        y = rng.integers(0, 2, rows)
        X = rng.normal(size=(rows, p))
        X[:, columns] += 3 * y[:, None]
        yield X, y
