"""Random and nasty rows of two classes, for the selectors by a linear model."""

import numpy as np
import scipy.sparse as sp

from tests.helpers import tier

KINDS = ("normal", "sparse", "whole", "binary", "twins", "scales", "one class", "contrary", "zeros")


def cases(count, seed=0):
    """Yield (rows, labels -1/+1, k, generator), every kind of rows in turn; a fifth in the quick tier."""
    rng = np.random.default_rng(seed)
    for turn in range(tier.cases(count)):
        n, p = int(rng.integers(1, 30)), int(rng.integers(1, 12))
        yield *rows(KINDS[turn % len(KINDS)], n, p, rng), int(rng.integers(1, p + 1)), rng


def rows(kind, n, p, rng):
    """Return rows of a kind, and labels that a few of the features explain."""
    X = rng.normal(size=(n, p))
    if kind == "sparse":
        X *= rng.random((n, p)) < 0.3
    elif kind == "whole":
        X = rng.integers(-2, 3, (n, p)).astype(float)
    elif kind == "binary":
        X = rng.integers(0, 2, (n, p)).astype(float)
    elif kind == "twins":
        X[:, p // 2 :] = X[:, : p - p // 2]
    elif kind == "scales":
        X *= 10.0 ** rng.integers(-6, 7, p)
    elif kind == "zeros":
        X[rng.random(n) < 0.5] = 0.0
    y = np.where(X[:, 0] - X[:, -1] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    if kind == "one class":
        y[:] = y[0]
    elif kind == "contrary":  # what was learnt is always wrong
        X[:] = X[0]
        y = np.resize([1.0, -1.0], n)
    return X, y


def constant(X):
    """Return a mask of the columns that are never selected: constant in two rows or more."""
    return (np.ptp(X, axis=0) == 0) & (len(X) > 1)


def assert_mistakes(selector, margins):
    """Assert that as many signs were wrong as in the twin; 0 but for rounding may count either way."""
    doubtful = np.count_nonzero(np.abs(margins) < 1e-12) - np.count_nonzero(margins == 0.0)
    assert abs(selector.mistakes_ - np.count_nonzero(margins <= 0)) <= doubtful


def in_batches(selector, X, y, rng, largest):
    """Learn rows in batches of random sizes below ``largest``, at random dense or sparse."""
    low = 0
    while low < len(y):
        high = low + int(rng.integers(1, largest))
        rows = X[low:high]
        selector.partial_fit(sp.csr_array(rows) if rng.random() < 0.5 else rows, y[low:high])
        low = high
    return selector
