"""Small nasty data sets for offline selectors, and every form that data comes in."""

import numpy as np
import scipy.sparse as sp


def _noise(rng, y, before):
    return rng.normal(size=len(y))


def _informative(rng, y, before):
    return y * rng.choice([-2.0, 0.5, 1.0]) + rng.normal(size=len(y))


def _constant(rng, y, before):
    return np.full(len(y), rng.choice([0.0, 0.1, -7.0]))


def _codes(rng, y, before):
    return rng.integers(0, rng.integers(2, 6), len(y)).astype(float)


def _informative_codes(rng, y, before):
    return np.round(np.clip(y + rng.normal(size=len(y)), -2, 4))


def _sparse(rng, y, before):
    return rng.normal(size=len(y)) * (rng.random(len(y)) < 0.3)


def _copy(rng, y, before):
    return before[rng.integers(len(before))].copy() if before else _noise(rng, y, before)


def _far_away(rng, y, before):
    return 1e6 + y + rng.normal(size=len(y))


KINDS = (_noise, _informative, _constant, _codes, _informative_codes, _sparse, _copy, _far_away)


def features(rng, y, p, kinds=KINDS):
    """Return p features over the rows of y."""
    made = []
    for _ in range(p):
        made.append(kinds[rng.integers(len(kinds))](rng, y, made))
    return np.column_stack(made)


def labels(rng, n, classes, least=2):
    """Return n labels, at least so many of each class."""
    y = np.concatenate([np.repeat(np.arange(classes), least), rng.integers(0, classes, n - least * classes)])
    return rng.permutation(y)


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
