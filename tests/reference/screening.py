"""Slow twin of the screening protocol: the text of the thesis, section 2.6, one step after the other.

Only for selectors that rank by a score of their own over the training rows, and for two classes or numbers.
"""

import numpy as np


def scaled(train, test):
    """Bring every column to mean 0 and deviation 1 of the training rows."""
    A, B = np.zeros(train.shape), np.zeros(test.shape)
    for j in range(train.shape[1]):
        mean, deviation = np.mean(train[:, j]), np.std(train[:, j])
        if deviation <= 1e-14 * abs(mean):
            deviation = 1.0
        A[:, j], B[:, j] = (train[:, j] - mean) / deviation, (test[:, j] - mean) / deviation
    return A, B


def area(y, scores):
    """Count the pairs of a positive and a negative row that stand in the right order; a tie is a half."""
    pairs = [
        (s, t) for s, c in zip(scores, y, strict=True) if c for t, d in zip(scores, y, strict=True) if not d
    ]
    return sum(1.0 if s > t else 0.5 if s == t else 0.0 for s, t in pairs) / len(pairs)


def explained(y, predicted):
    """Share of the variance that is explained."""
    return 1 - sum((a - b) ** 2 for a, b in zip(y, predicted, strict=True)) / sum(
        (a - np.mean(y)) ** 2 for a in y
    )


def protocol(X, y, rank, learn, fold_of_run, sizes, *, numeric=False, literal=False):
    """Return scores by (size, run, fold), or by (size, run) for the literal way.

    ``rank(A, y)`` returns all columns, best first; ``learn(A, y, B)`` the scores of the rows of B.
    """
    measure = explained if numeric else area
    found = {}
    for run, fold_of in enumerate(fold_of_run):
        pooled = {size: {} for size in sizes}
        for fold in sorted(set(fold_of.tolist())):
            train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
            if literal:
                whole = scaled(X, X)[0]
                A, B = whole[train], whole[test]
            else:
                A, B = scaled(X[train], X[test])
            ranking = rank(A, y[train])
            for size in sizes:
                columns = sorted(ranking[:size])
                scores = learn(A[:, columns], y[train], B[:, columns])
                pooled[size].update(zip(test.tolist(), scores, strict=True))
                if not literal:
                    found[size, run, fold] = measure(y[test], scores)
        if literal:
            for size in sizes:
                found[size, run] = measure(y, [pooled[size][row] for row in range(len(y))])
    return found
