"""Slow twin of ``learners.ensembles.super_learner``: predictions for rows held out, weights by trying all.

Rows are dealt out to the folds one by one, class after class, each class in a random order; the only row of a
class is never held out.  Weights b >= 0 minimize |y - Z b|^2: the best of the least-squares fits over all
subsets of members whose coefficients are not negative (the minimum has some support, and on it it is plain
least squares).  With weights that sum to 1, Z b - y = sum b_k (z_k - y), and least squares have that
constraint.  If no row may be held out, all weigh the same.  Numbers are predicted as deviations from their
mean, which is added at the end.

Source: van der Laan, Polley, Hubbard (2007); Siu's review.  The review's general loss lacks y, and
it does not say that Z must be out of fold.
"""

from itertools import combinations

import numpy as np
from sklearn.base import clone


def weights(Z, y, convex=False):
    """Z (members, values), y (values)."""
    members = len(Z)
    best, lowest = np.zeros(members), np.inf if convex else float(y @ y)
    for size in range(1, members + 1):
        for chosen in map(list, combinations(range(members), size)):
            b = constrained(Z[chosen], y) if convex else np.linalg.lstsq(Z[chosen].T, y, rcond=None)[0]
            error = float(np.sum((y - Z[chosen].T @ b) ** 2))
            if np.all(b >= -1e-12) and error < lowest - 1e-12 * max(1.0, lowest if lowest < np.inf else 1.0):
                best, lowest = np.zeros(members), error
                best[chosen] = b
    return best


def constrained(Z, y):
    """Least squares with weights that sum to 1: the last weight is 1 minus the others."""
    others = np.linalg.lstsq((Z[:-1] - Z[-1]).T, y - Z[-1], rcond=None)[0] if len(Z) > 1 else np.zeros(0)
    return np.append(others, 1 - others.sum())


def folds(codes, n, many, seed):
    order = list(np.random.default_rng(seed).permutation(n))
    if codes is not None:
        order = [i for code in sorted(set(codes)) for i in order if codes[i] == code]
    fold = np.empty(n, int)
    for turn, i in enumerate(order):
        fold[i] = turn % min(many, n)
    if codes is not None:
        for i in range(n):
            if list(codes).count(codes[i]) == 1:
                fold[i] = -1
    return fold


def super_learner(members, blocks, y, classes=0, many=5, convex=False, seed=0):
    """Return the weights and a function that predicts from a list of blocks of other rows.

    y are numbers, or codes if there are classes.  Every block of columns has its own members.
    """
    fold = folds(y if classes else None, len(y), many, seed)
    judged = np.flatnonzero(fold >= 0)
    predictions = [(block, member) for block in range(len(blocks)) for member in members]
    Z = [[] for _ in predictions]
    for i in judged:
        rest = fold != fold[i]
        for k, (block, member) in enumerate(predictions):
            X = blocks[block]
            Z[k].extend(says(clone(member).fit(X[rest], y[rest]), X[[i]], classes)[0])
    target = np.array([value for i in judged for value in (np.eye(classes)[y[i]] if classes else [y[i]])])
    mean = 0.0 if classes else np.mean(y)
    b = np.full(len(predictions), 1 / len(predictions))
    if len(judged):
        b = weights(np.array(Z) - mean, target - mean, convex)
    fitted = [(block, clone(member).fit(blocks[block], y)) for block, member in predictions]

    def predict(others):
        deviations = (
            w * (says(m, others[block], classes) - mean) for w, (block, m) in zip(b, fitted, strict=True)
        )
        return mean + sum(deviations)

    return b, predict


def says(member, X, classes):
    if not classes:
        return member.predict(X)[:, None]
    out = np.zeros((len(X), classes))
    for i, row in enumerate(member.predict_proba(X)):
        for code, share in zip(member.classes_, row, strict=True):
            out[i, code] = share
    return out
