"""Slow twin of ``streamsieve.columns.group_saola``: one group at a time, one pair at a time.

With dep(., .) the measure and d_F = dep(F, y), for each group:

1. inside: its columns compete as in SAOLA, in order, beginning with none: a column that is constant or does
   not depend on y is rejected; for each member Y so far with dep(F, Y) >= min(d_F, d_Y), the weaker one goes,
   and of two equals the newcomer F.  A column that fell drove others out for good.
2. between: for each earlier group of which something is kept, in order, for each member f that is left, for
   each of that group's kept columns g, if dep(f, g) > min(d_f, d_g): if d_g > d_f then f goes (and the next f
   is looked at), else g goes, also if they are equal.

"corrected": who has gone takes no part in later comparisons.  "paper": the lists are those of the beginning,
of the new group and of each earlier one, so that who has gone still drives others out.

A group is decided as a whole: its columns get one verdict each, when it is complete.  Columns of earlier
groups are evicted, in the order of the columns that drive them out.  "Equal" is up to 1e-12.

Source: Yu, Wu, Ding, Pei (2016).
"""

from tests.reference.lines import Line
from tests.reference.saola import TIE, Codes, Correlations


def group_saola(X, y, task, ends, *, alpha=0.01, measure="fisher_z", delta=0.0, variant="corrected", bins=5):
    """Return the selected columns, every decision in order, and the kept columns by number of the group.

    A group ends before each column of ``ends``; the last end is the number of columns.
    """
    judge = Correlations(y, task, alpha) if measure == "fisher_z" else Codes(y, task, measure, delta, bins)
    columns = Columns(judge, X)
    groups, lines = {}, []
    for number, (low, high) in enumerate(zip([0, *ends], ends, strict=False)):
        members, lost = inside(columns, range(low, high))
        left, fallen, evicted = between(columns, members, groups.values(), variant)
        lost |= fallen
        groups = {m: [g for g in kept if g not in evicted] for m, kept in groups.items()}
        groups = {m: kept for m, kept in [*groups.items(), (number, left)] if kept}
        for j in range(low, high):
            gone = sorted(g for g, by in evicted.items() if by == j)
            lines += [columns.redundant(g, "evicted", j) for g in gone]
            lines.append(columns.redundant(j, "rejected", lost[j]) if j in lost else columns.alone(j))
    return [j for kept in groups.values() for j in kept], lines, groups


class Columns:
    """Columns as a judge sees them: how they depend on y and on each other."""

    def __init__(self, judge, X):
        self.judge = judge
        self.columns = [judge.prepare(X[:, j]) for j in range(X.shape[1])]
        self.relevance = [judge.relevance(column) for column in self.columns]
        self.d = [abs(r) for r in self.relevance]
        self.pairs = {}

    def unfit(self, j):
        return self.judge.unfit(self.columns[j], self.relevance[j])

    def pair(self, a, b):
        if (a, b) not in self.pairs:
            self.pairs[a, b] = self.pairs[b, a] = self.judge.pair(self.columns[a], self.columns[b])
        return self.pairs[a, b]

    def alone(self, j):
        event, reason = ("rejected", self.unfit(j)) if self.unfit(j) else ("kept", "relevant")
        return Line(j, event, reason, (), self.relevance[j], self.judge.p_value(self.relevance[j]))

    def redundant(self, j, event, by):
        return Line(j, event, "redundant", (by,), self.pair(j, by), self.judge.pair_p_value(self.pair(j, by)))


def inside(columns, group):
    """Return the members that are left, and by whom the others fell."""
    d, members, lost = columns.d, [], {}
    for new in group:
        if columns.unfit(new):
            continue
        for old in list(members):
            if columns.pair(new, old) < min(d[new], d[old]) - TIE:
                continue
            if d[old] >= d[new] - TIE:
                lost[new] = old
                break
            lost[old] = new
            members.remove(old)
        if new not in lost:
            members.append(new)
    return members, lost


def between(columns, members, groups, variant):
    """Return the members that are left, by whom the others fell, and by whom earlier columns fell."""
    d, fallen, evicted = columns.d, {}, {}
    for kept in groups:
        for f in members:
            if variant == "corrected" and f in fallen:
                continue
            for g in kept:
                if variant == "corrected" and g in evicted:
                    continue
                if columns.pair(f, g) <= min(d[f], d[g]) + TIE:
                    continue
                if d[g] > d[f] + TIE:
                    fallen.setdefault(f, g)
                    break
                evicted.setdefault(g, f)
    return [f for f in members if f not in fallen], fallen, evicted
