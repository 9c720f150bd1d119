"""Slow twin of ``streamsieve.columns.ogfs``: one group at a time, one column at a time.

With b_f and w_f the shares of a column's variance between and within classes (w_f is 1e-6 at least), and
s(f) = b_f / w_f its score, for each group:

1. inside, in order of arrival, U being what is accepted of this group so far and F(U) = sum b / sum w (0 for
   nothing): f is accepted if F(U + f) - F(U) > min_gain; or, U having two columns or more of different scores
   with mean m and standard deviation d, if (s(f) - m) / (d sqrt(1 + 1 / |U|)) is significant, one-sided, by
   Student's t with |U| - 1 degrees of freedom.
2. between: the lasso of the target on the kept columns and U, all of unit variance: columns of weight 0
   leave.

More than two classes: the target is one column for each contrast, and the weights of a column over contrasts
are penalized by their length.  The lasso is solved one column at a time, from the weights before the group
on; a column at the border of the penalty, up to 1e-9 of it, has weight 0.

A column that leaves though it would have a weight alone is redundant, by the column that takes most of its
product with the target: the largest r_jk (B_k . c_j).  Others are irrelevant.  An earlier column leaves at
the newcomer that replaces it, or at the last one accepted if an earlier one does.

Erratum: the paper's t is (m - s(f)) / (d / sqrt(|U|)): the wrong sign, and the error of a mean for one draw.

Source: Wang et al. (2013, 2015).
"""

import numpy as np
import scipy.stats

from tests.reference import fisher_z
from tests.reference.lines import Line

LEAST_WITHIN = 1e-6
BORDER = 1e-9


def ogfs(X, y, task, ends, *, min_gain=0.001, alpha=0.05, l1=0.15):
    """Return the selected columns, every decision in order, and the kept columns by number of the group."""
    columns = Columns(X, y, task)
    kept, weights, lines, group_of = [], {}, [], {}
    for number, (low, high) in enumerate(zip([0, *ends], ends, strict=False)):
        accepted = inside(columns, range(low, high), min_gain, alpha)
        fate = {j: columns.alone(j, "irrelevant") for j in range(low, high) if j not in accepted}
        gone = []
        if accepted:
            model = kept + accepted
            B = lasso(columns.Z[model], columns.C, weights, model, l1)
            gone, kept, weights = refitted(columns, model, B, l1)
        departures = []
        for j, by in gone:
            if j in accepted:
                fate[j] = (
                    columns.alone(j, "irrelevant") if by is None else columns.redundant(j, "rejected", by)
                )
            else:
                step = by if by in accepted else accepted[-1]
                line = columns.alone(j, "irrelevant", "evicted") if by is None else None
                departures.append((step, line or columns.redundant(j, "evicted", by)))
        for j in range(low, high):
            lines += [line for step, line in departures if step == j]
            lines.append(fate.get(j) or columns.alone(j, None))
        group_of |= dict.fromkeys(range(low, high), number)
    groups = {}
    for j in kept:
        groups.setdefault(group_of[j], []).append(j)
    return kept, lines, groups


class Columns:
    """Columns of unit length, their products with the target, and their lines in the ledger."""

    def __init__(self, X, y, task):
        self.X, self.y, self.n, self.many = X, y, len(y), task == "multiclass"
        self.Z = np.array([unit(X[:, j]) for j in range(X.shape[1])])
        self.labels = np.unique(y)
        if task == "regression":
            self.C = unit(y)[:, None]
        else:
            indicators = (np.asarray(y)[:, None] == self.labels[1:]).astype(float)
            self.C = np.linalg.qr(indicators - indicators.mean(axis=0))[0]
            if not self.many:
                self.C = unit(indicators[:, 0])[:, None]
        self.r = [self.relevance(j) for j in range(X.shape[1])]

    def relevance(self, j):
        if self.many:
            return fisher_z.correlation_ratio(self.X[:, j], self.y)
        return fisher_z.correlation(self.X[:, j], self.C[:, 0])

    def constant(self, j):
        return not self.Z[j].any()

    def p_value(self, r):
        if not self.many:
            return fisher_z.p_value(r, self.n)
        return fisher_z.ratio_p_value(r, self.n, len(self.labels)) if self.n > len(self.labels) else 1.0

    def alone(self, j, reason, event="rejected"):
        reason = "constant" if self.constant(j) else reason
        event, reason = (event, reason) if reason else ("kept", "relevant")
        statistic = abs(self.r[j]) if event == "evicted" else self.r[j]
        return Line(j, event, reason, (), statistic, self.p_value(self.r[j]))

    def redundant(self, j, event, by):
        pair = abs(self.Z[j] @ self.Z[by])
        return Line(j, event, "redundant", (by,), pair, fisher_z.p_value(pair, self.n))


def unit(x):
    """Return a column centered and of unit length; zeros for a constant one."""
    x = fisher_z.shifted(x)
    if not x.any():
        return x
    x = x - x.mean()
    return x / np.linalg.norm(x)


def inside(columns, group, min_gain, alpha):
    """Return the columns that are accepted, in order."""
    accepted, between, within = [], [], []
    for f in group:
        if columns.constant(f):
            continue
        b = columns.r[f] ** 2
        w = max(1 - b, LEAST_WITHIN)
        if raises(between, within, b, w, min_gain) or stands_out(between, within, b / w, alpha):
            accepted.append(f)
            between.append(b)
            within.append(w)
    return accepted


def raises(between, within, b, w, min_gain):
    """Whether the separability of a set grows with one more column."""
    now = sum(between) / sum(within) if between else 0.0
    return (sum(between) + b) / (sum(within) + w) - now > min_gain + 1e-12 * (1 + now)


def stands_out(between, within, score, alpha):
    scores = np.array(between) / np.array(within)
    if len(scores) < 2 or np.std(scores, ddof=1) <= 1e-9 * (1 + np.mean(scores)):
        return False
    t = (score - np.mean(scores)) / (np.std(scores, ddof=1) * np.sqrt(1 + 1 / len(scores)))
    return scipy.stats.t.sf(t, len(scores) - 1) < alpha


def lasso(Z, C, weights, model, penalty, ridge=0.0):
    """Return the weights of the columns of a model, a row each; ``weights`` are those to begin with."""
    B = np.array([weights.get(j, np.zeros(C.shape[1])) for j in model])
    correlations, products = Z @ Z.T, Z @ C
    for _ in range(10_000):
        before = B.copy()
        for j in range(len(B)):
            B[j] = 0.0
            z = products[j] - correlations[j] @ B
            length = np.linalg.norm(z)
            if length > penalty * (1 + BORDER) + 1e-12:
                B[j] = (1 - penalty / length) * z / (1 + ridge)
        if np.abs(B - before).max() <= 1e-12:
            break
    return B


def refitted(columns, model, B, penalty, ridge=0.0, least=0.0):
    """Return who leaves and by whom, who stays, and the weights of those."""
    stay = [i for i in range(len(model)) if np.linalg.norm(B[i]) > max(least - 1e-12, 0)]
    gone = []
    for i, j in enumerate(model):
        if i in stay:
            continue
        c = columns.Z[j] @ columns.C
        alone = (np.linalg.norm(c) - penalty) / (1 + ridge)
        by = None
        if alone > least + 1e-12 and stay:
            taken = [(columns.Z[j] @ columns.Z[model[k]]) * (B[k] @ c) for k in stay]
            by = model[stay[int(np.argmax(taken))]]
        gone.append((j, by))
    return gone, [model[i] for i in stay], {model[i]: B[i] for i in stay}
