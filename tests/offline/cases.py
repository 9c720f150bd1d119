"""Small nasty data sets for offline selectors, and every form that data comes in."""

import numpy as np
import scipy.sparse as sp

#: From random numbers, target and the features before to a feature.
KINDS = {
    "noise": lambda rng, y, before: rng.normal(size=len(y)),
    "informative": lambda rng, y, before: y * rng.choice([-2.0, 0.5, 1.0]) + rng.normal(size=len(y)),
    "constant": lambda rng, y, before: np.full(len(y), rng.choice([0.0, 0.1, -7.0])),
    "codes": lambda rng, y, before: rng.integers(0, rng.integers(2, 6), len(y)).astype(float),
    "informative codes": lambda rng, y, before: np.round(np.clip(y + rng.normal(size=len(y)), -2, 4)),
    "sparse": lambda rng, y, before: rng.normal(size=len(y)) * (rng.random(len(y)) < 0.3),
    "copy": lambda rng, y, before: (
        before[rng.integers(len(before))].copy() if before else rng.normal(size=len(y))
    ),
    "far from 0": lambda rng, y, before: 1e6 + y + rng.normal(size=len(y)),
}


def features(rng, y, p):
    """Return p features over the rows of y, of random kinds."""
    made = []
    for _ in range(p):
        made.append(list(KINDS.values())[rng.integers(len(KINDS))](rng, y, made))
    return np.column_stack(made)


def labels(rng, n, classes, least=2):
    """Return n labels, at least ``least`` of each class."""
    y = np.concatenate([np.repeat(np.arange(classes), least), rng.integers(0, classes, n - least * classes)])
    return rng.permutation(y)


TASKS = ("binary", "multiclass", "regression")


def target(rng, task, n):
    """Return n labels of two or more classes, or n numbers."""
    if task == "regression":
        return np.round(rng.normal(size=n), 2) + 0.001
    return labels(rng, n, 2 if task == "binary" else int(rng.integers(3, 5)))


FORMS = {
    "row by row": np.ascontiguousarray,
    "column by column": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "all stored": lambda X: sp.csr_array(
        (np.ravel(X), np.tile(np.arange(X.shape[1]), len(X)), np.arange(len(X) + 1) * X.shape[1]), X.shape
    ),
}


def some_form(rng, X):
    """Return the same matrix in a form drawn at random."""
    return FORMS[list(FORMS)[rng.integers(len(FORMS))]](X)
