"""Slow twin of ``streamsieve.rows.winnow_efs``: the rule as in the paper, with plain weights.

u = 2, v = 1 for every feature and for a bias of value 1.  For each row x >= 0 with label y = -1 or +1:

    add the bias, divide by the sum
    score = u'x - v'x - theta;  if y score <= M, for the features with x > 0:
        y = +1:  u <- u alpha (1 + x)    v <- v beta (1 - x)
        y = -1:  u <- u beta (1 - x)     v <- v alpha (1 + x)

with 1 - x at least 1e-6.  Importance |u - v|, and 0 for features that were never updated.  Of k features,
those of the highest importance, and a share of those of the lowest.

Source: Carvalho, Cohen (2006).
"""

import numpy as np

from tests.reference.ofs import product


def winnow(X, y, *, promotion=1.5, demotion=0.5, theta=1.0, margin=1.0):
    """Return u and v after every row (the bias first), and y score of every row before it was learnt."""
    p = X.shape[1]
    u, v = np.full(p + 1, 2.0), np.full(p + 1, 1.0)
    history, margins = [], []
    for values, label in zip(X, y, strict=True):
        x = np.append(1.0, values)
        total = product(np.ones(p + 1), x)
        score = label * (product(u - v, x) - theta * total) / total
        x = x / total
        margins.append(score)
        u, v = u.copy(), v.copy()
        for i in np.flatnonzero(x > 0) if score <= margin else ():
            up, down = promotion * (1 + x[i]), demotion * max(1 - x[i], 1e-6)
            u[i] *= up if label > 0 else down
            v[i] *= down if label > 0 else up
        history.append((u, v))
    return history, np.array(margins)


def importance(u, v):
    """Return the importance of every feature, without the bias; -1 for those never updated."""
    same = (u == 2) & (v == 1)
    return np.where(same, -1.0, np.abs(u - v))[1:]


def chosen(u, v, k, extremes=0.0):
    """Return the k selected features in order of columns; of equals the first ones."""
    scores = importance(u, v)
    ranking = [j for j in np.argsort(-scores, kind="stable").tolist() if scores[j] >= 0]
    if len(ranking) <= k:
        return sorted(ranking)
    lowest = round(extremes * k)
    top, rest = ranking[: k - lowest], ranking[k - lowest :]
    return sorted(top + sorted(rest, key=lambda j: (scores[j], j))[:lowest])
