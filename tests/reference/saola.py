"""Slow twin of ``streamsieve.columns.saola``: one column at a time, one pair at a time.

For a new column F, with dep(., .) the measure and d_F = dep(F, y):

1. constant, or not dependent on y: rejected.
2. for each kept Y in order of arrival, with bound = min (or max) of d_F and d_Y: if dep(F, Y) reaches the
   bound, the weaker of the two goes.  If that is F, it is rejected and the scan ends.  If it is Y, Y is
   evicted: at once (variant "paper", so that Y is lost even if F falls to a later Y'), or only if F survives
   the whole scan (variant "corrected").
3. F is kept if it survived.

"fisher_z": dep is |correlation|, with y the correlation ratio for more than two classes; "reaches" is >=,
and of two equals the newcomer goes.  "su", "mutual_info": dep is over codes, in nats; "reaches" is >, and
equals leave each other alone.  "Equal" is up to 1e-12, since sums in another order differ in the last bits.

Columns whose values are no levels (levels.py) are cut: cut_i is the (i floor(n / K))-th smallest value, and a
value's code is the number of cuts below it.  A numeric target is cut so with K = 5.

Source: Yu, Wu, Ding, Pei (2014), Algorithm 1.
"""

import numpy as np

from tests.reference import fisher_z
from tests.reference.levels import are_levels
from tests.reference.lines import Line

TIE = 1e-12
TARGET_BINS = 5


def saola(X, y, task, *, alpha=0.01, measure="fisher_z", delta=0.0, bound="min", variant="paper", bins=5):
    """Return the selected columns and every decision, in order."""
    judge = Correlations(y, task, alpha) if measure == "fisher_z" else Codes(y, task, measure, delta, bins)
    limit = {"min": min, "max": max}[bound]
    columns = [judge.prepare(X[:, j]) for j in range(X.shape[1])]
    relevance = [judge.relevance(column) for column in columns]
    kept, lines = [], []
    for new, column in enumerate(columns):
        d_new = abs(relevance[new])
        reason = judge.unfit(column, relevance[new])
        if reason:
            p = judge.p_value(relevance[new])
            lines.append(Line(new, "rejected", reason, (), relevance[new], p))
            continue
        fallen, victims = None, []
        for old in kept:
            d_old = abs(relevance[old])
            pair = judge.pair(column, columns[old])
            loser = judge.loser(d_new, d_old, pair, limit(d_new, d_old))
            if loser == "new":
                p = judge.pair_p_value(pair)
                fallen = Line(new, "rejected", "redundant", (old,), pair, p)
                break
            if loser == "old":
                victims.append((old, pair))
        if fallen is None or variant == "paper":
            for old, pair in victims:
                kept.remove(old)
                lines.append(Line(old, "evicted", "redundant", (new,), pair, judge.pair_p_value(pair)))
        if fallen is None:
            kept.append(new)
            fallen = Line(new, "kept", "relevant", (), relevance[new], judge.p_value(relevance[new]))
        lines.append(fallen)
    return kept, lines


class Correlations:
    """Dependence as |correlation|."""

    def __init__(self, y, task, alpha):
        self.y, self.n, self.many = np.asarray(y), len(y), task == "multiclass"
        self.labels = np.unique(y)
        if task == "binary":
            self.y = self.y == self.labels[1]
        classes = len(self.labels)
        self.critical = (
            fisher_z.ratio_critical(alpha, self.n, classes) if self.many else fisher_z.critical(alpha, self.n)
        )

    def prepare(self, x):
        return x

    def relevance(self, x):
        if self.many:
            return fisher_z.correlation_ratio(x, self.y)
        return fisher_z.correlation(x, self.y.astype(np.float64))

    def unfit(self, x, relevance):
        if np.all(x == x[0]):
            return "constant"
        if self.critical == np.inf:  # too few rows for any test
            return "unreliable test"
        return None if abs(relevance) >= self.critical else "irrelevant"

    def pair(self, a, b):
        return abs(fisher_z.correlation(a, b))

    def loser(self, d_new, d_old, pair, bound):
        if pair < bound - TIE:
            return None
        return "new" if d_old >= d_new - TIE else "old"

    def p_value(self, r):
        if self.many:
            return fisher_z.ratio_p_value(r, self.n, len(self.labels))
        return fisher_z.p_value(r, self.n)

    def pair_p_value(self, pair):
        return fisher_z.p_value(pair, self.n)


class Codes:
    """Dependence as mutual information of codes, plain or as symmetric uncertainty."""

    def __init__(self, y, task, measure, delta, bins):
        self.y = cut(y, TARGET_BINS) if task == "regression" else np.asarray(y)
        self.measure, self.delta, self.bins = measure, delta, bins

    def prepare(self, x):
        return x if are_levels(x) else cut(x, self.bins)

    def relevance(self, x):
        return self.pair(x, self.y)

    def unfit(self, x, relevance):
        if np.all(x == x[0]):
            return "constant"
        return None if relevance > self.delta + TIE else "irrelevant"

    def pair(self, a, b):
        h_a, h_b, information = entropies(a, b)
        if self.measure == "mutual_info":
            return information
        return 2 * information / (h_a + h_b) if h_a + h_b > 0 else 0.0

    def loser(self, d_new, d_old, pair, bound):
        if pair <= bound + TIE or pair <= self.delta + TIE or abs(d_new - d_old) <= TIE:
            return None
        return "new" if d_old > d_new else "old"

    def p_value(self, statistic):
        return np.nan

    def pair_p_value(self, pair):
        return np.nan


def cut(x, bins):
    """Return the code of every value: how many of the cuts lie below it."""
    ordered, size = sorted(x), len(x) // bins
    # fewer values than bins: every value is a bin of its own
    cuts = [ordered[i * size - 1] for i in range(1, bins)] if size else sorted(set(x))[:-1]
    return np.array([sum(c < value for c in cuts) for value in x])


def entropies(a, b):
    """Return H(a), H(b) and I(a; b) in nats, by an explicit contingency table."""
    (rows, a), (columns, b) = (np.unique(x, return_inverse=True) for x in (a, b))
    table = np.zeros((len(rows), len(columns)))
    np.add.at(table, (a, b), 1)
    h_a, h_b, h_ab = (entropy(c) for c in (table.sum(axis=1), table.sum(axis=0), table.ravel()))
    return h_a, h_b, max(h_a + h_b - h_ab, 0.0)


def entropy(counts):
    share = counts[counts > 0] / counts.sum()
    return float(-np.sum(share * np.log(share)))
