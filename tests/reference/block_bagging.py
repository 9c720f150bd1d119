"""Slow twin of ``learners.ensembles.block_bagging``: a bag of learners per block, then votes or weights.

For every bag the rows are drawn with repetition, as many as there are, class by class.  Every block has a
learner a bag, learnt from the block's columns of the rows drawn.  A row is judged by the learners whose bags
lack it.  Weights are those of ``tests.reference.super_learner`` over these judgments, or equal; numbers are
deviations from their mean, which is added at the end.  A vote counts the predictions of all learners of all
blocks (Breiman's F_T, the most often predicted label).

Source: Siu's review, Bagging Predictors.
"""

import numpy as np
from sklearn.base import clone

from tests.reference.super_learner import says, weights


def draws(y, n, classes, bags, seed):
    groups = [np.flatnonzero(y == code) for code in range(classes)] if classes else [np.arange(n)]
    chosen = []
    for bag in range(bags):
        rng = np.random.default_rng([seed, bag])
        chosen.append(sorted(i for group in groups for i in rng.choice(group, len(group))))
    return chosen


def block_bagging(learner, blocks, y, classes=0, bags=5, combine="stack", convex=False, seed=0):
    """Return weights, and a function that predicts from a list of blocks of other rows."""
    n = len(y)
    bag_rows = draws(y, n, classes, bags, seed)
    fitted = [[clone(learner).fit(X[rows], y[rows]) for rows in bag_rows] for X in blocks]
    mean = 0.0 if classes else np.mean(y)
    judged = [i for i in range(n) if any(i not in rows for rows in bag_rows)]
    if combine == "vote" or not judged:
        b = np.full(len(blocks), 1 / len(blocks))
    else:
        Z = []
        for X, own in zip(blocks, fitted, strict=True):
            said = []
            for i in judged:
                absent = [m for m, rows in zip(own, bag_rows, strict=True) if i not in rows]
                said.extend(np.mean([says(m, X[[i]], classes)[0] for m in absent], axis=0))
            Z.append(said)
        target = [value for i in judged for value in (np.eye(classes)[y[i]] if classes else [y[i]])]
        b = weights(np.array(Z) - mean, np.array(target) - mean, convex)

    def predict(others):
        total = mean
        for w, X, own in zip(b, others, fitted, strict=True):
            for m in own:
                said = says(m, X, classes)
                if combine == "vote" and classes:
                    said = np.eye(classes)[said.argmax(axis=1)]
                total = total + w / bags * (said - mean)
        return total

    return b, predict
