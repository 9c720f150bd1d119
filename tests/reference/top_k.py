"""Slow twin of ``streamsieve.columns.top_k``: one column at a time, every score from all pairs.

S is the buffer, dep(., .) the measure, w the redundancy.  For a new column F:

1. constant, or dep(F, y) is not significant at alpha: rejected.
2. w > 0 and F is a copy of a member: rejected, redundant.
3. F joins S.  If S now has k + 1 members, the one with the least

       score_s = dep(s, y) - w (1/k) sum over the others t of dep(s, t)

   leaves; of equals (up to 1e-12) the one that arrived last.
4. The word for it: a rejected F is redundant, by the member it depends on most, if dep(F, y) is above that of
   some member, so that it would have entered without redundancy; else outscored.  A member that leaves is
   outscored if none depends on y less, else redundant.

Missing values (NaN): dep is |r| over the rows where both columns are seen, with n their number.  Fewer than 4
rows, or y constant over them: the column is unreliable, two columns share nothing.  A copy has no row that
the member lacks.

Codes: the test of relevance is that of the table, ``table_moments.py``, or for "chi2" that of G = 2 n I with
(levels - 1)(classes - 1) degrees of freedom.

Source: the buffer of k best columns is ours; its redundancy rule is SAOLA's (Yu, Wu, Ding, Pei, 2014).
"""

import functools

import numpy as np
import scipy.stats

from tests.reference import fisher_z, g_squared
from tests.reference.levels import are_levels
from tests.reference.lines import Line
from tests.reference.saola import TARGET_BINS, TIE, cut, entropies

FEWEST = 4


def top_k(
    X, y, task, *, k=15, redundancy_weight=1.0, measure="fisher_z", alpha=0.05, missing="refuse", bins=5,
    p_value="auto",
):  # fmt: skip
    """Return the selected columns and every decision, in order."""
    judge = Correlations(y, task) if measure == "fisher_z" else Codes(y, task, measure, bins, p_value)
    columns = [judge.prepare(X[:, j]) for j in range(X.shape[1])]

    @functools.cache
    def shared(s, t):
        return judge.pair(columns[s], columns[t])

    members, lines, value, p = [], [], {}, {}
    for new, column in enumerate(columns):
        reason, value[new], p[new] = judge.relevance(column, alpha)
        numbers = value[new], p[new]
        if reason:
            lines.append(Line(new, "rejected", reason, (), *numbers))
            continue
        if redundancy_weight > 0:
            copied = [s for s in members if judge.is_copy(column, columns[s])]
            if copied:
                lines.append(Line(new, "rejected", "redundant", (copied[0],), *numbers))
                continue
        everybody = [*members, new]
        if len(everybody) > k:
            depends = {s: abs(value[s]) for s in everybody}
            score = {
                s: depends[s]
                - redundancy_weight * sum(shared(max(s, t), min(s, t)) for t in everybody if t != s) / k
                for s in everybody
            }
            leaver = max(s for s in everybody if score[s] <= min(score.values()) + TIE)
            everybody.remove(leaver)
            least = min(depends[s] for s in everybody)
            why = "outscored" if depends[leaver] <= least + TIE else "redundant"
            if leaver == new:
                by = nearest(members, [shared(new, s) for s in members]) if why == "redundant" else ()
                lines.append(Line(new, "rejected", why, by, *numbers))
                continue
            lines.append(Line(leaver, "evicted", why, (new,), value[leaver], p[leaver]))
        members = everybody
        lines.append(Line(new, "kept", "relevant", (), *numbers))
    return members, lines


def nearest(members, shared):
    """Return the member that shares most; of equals the first to arrive."""
    return (next(s for s, c in zip(members, shared, strict=True) if c >= max(shared) - TIE),)


class Correlations:
    """Dependence as |correlation|, over the rows where both columns are seen."""

    def __init__(self, y, task):
        self.labels, self.many = np.unique(y), task == "multiclass"
        self.y = y if task != "binary" else (y == self.labels[1]).astype(np.float64)

    def prepare(self, x):
        return x

    def relevance(self, x, alpha):
        """Return (reason to reject or None, statistic, p-value)."""
        seen = ~np.isnan(x)
        x, y, n = x[seen], self.y[seen], int(seen.sum())
        missing, values = n < len(seen), len(np.unique(y))
        if missing and (n < FEWEST or values < 2 or (self.many and n <= values)):
            return "unreliable test", self.r(x, y) if n and values > 1 else 0.0, 1.0
        if np.all(x == x[0]):
            return "constant", 0.0, 1.0
        r = self.r(x, y)
        # two classes left of many: their ratio is a correlation again
        ratio = self.many and not (missing and values == 2)
        freedom = n - values if ratio else n - 2
        p = (
            (fisher_z.ratio_p_value(r, n, values) if ratio else fisher_z.p_value(r, n))
            if freedom > 0
            else 1.0
        )
        if alpha is None:
            return None, r, p
        if freedom <= 0:
            return "unreliable test", r, p
        return (None if p <= alpha else "irrelevant"), r, p

    def r(self, x, y):
        return fisher_z.correlation_ratio(x, y) if self.many else fisher_z.correlation(x, y)

    def pair(self, a, b):
        both = ~np.isnan(a) & ~np.isnan(b)
        if both.sum() < FEWEST and not both.all():
            return 0.0
        return abs(fisher_z.correlation(a[both], b[both]))

    def is_copy(self, new, old):
        return self.pair(new, old) >= 1 - TIE and not np.any(np.isnan(old) & ~np.isnan(new))


class Codes:
    """Dependence as mutual information of codes, plain or as symmetric uncertainty."""

    def __init__(self, y, task, measure, bins, p_value="auto"):
        self.way = p_value
        self.y = cut(y, TARGET_BINS) if task == "regression" else np.asarray(y)
        self.measure, self.bins = measure, bins

    def prepare(self, x):
        return x if are_levels(x) else cut(x, self.bins)

    def relevance(self, x, alpha):
        """Return (reason to reject or None, statistic, p-value)."""
        if len(np.unique(x)) == 1:
            return "constant", 0.0, 1.0
        if self.way == "chi2":
            freedom = (len(np.unique(x)) - 1) * (len(np.unique(self.y)) - 1)
            p = float(scipy.stats.chi2.sf(2 * len(x) * entropies(x, self.y)[2], freedom)) if freedom else 1.0
            return (None if alpha is None or p <= alpha else "irrelevant"), self.pair(x, self.y), p
        x, y = (np.unique(codes, return_inverse=True)[1] for codes in (x, self.y))
        answer = g_squared.conditional(x, y, [], p_value="moments", alpha=0.05 if alpha is None else alpha)
        if not answer.reliable:
            return (None if alpha is None else "unreliable test"), self.pair(x, self.y), 1.0
        p = answer.p_value
        return (None if alpha is None or p <= alpha else "irrelevant"), self.pair(x, self.y), p

    def pair(self, a, b):
        h_a, h_b, information = entropies(a, b)
        return information if self.measure == "mutual_info" else 2 * information / (h_a + h_b)

    def is_copy(self, new, old):
        h_new, h_old, information = entropies(new, old)
        return 2 * information / (h_new + h_old) >= 1 - TIE
