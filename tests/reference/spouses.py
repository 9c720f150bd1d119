"""Slow twin of ``streamsieve.columns.redundancy.markov_blanket.spouses``: everything again at every question.

What OSFS or Fast-OSFS decided is given, line by line.  The kept columns and a pool of rejected ones are in
memory; a rejected column has a set S, the columns that made it redundant (none if it is irrelevant).  After
each column, a column that was evicted as redundant joins the pool, then the column itself if it was rejected
as irrelevant or redundant.  If there are more than ``pool``, the first one that is no candidate is forgotten,
or the first one if all are.  What is not in memory belongs to no S.

s in the pool is a candidate through a kept c, not in S, if s and c are dependent and s and y are dependent
given S and c; the c with the smallest p-value counts, then the first.  Candidates are examined from the
largest p-value to the smallest (later ones first among equals): s is out if a Z of kept columns and
candidates that are left, |Z| < most, makes s independent of y given Z and c.

With ``final``, inter-IAMB over the kept columns and all candidates says instead which are selected; if it
selects none, the kept columns are.  A kept column that is not was rejected as redundant given those that are.

A judge answers: ``judge.associated(s, c)`` is a p-value, ``judge.dependence(s, Z)`` a statistic and a
p-value.

Source: Tsamardinos, Aliferis, Statnikov (2003), for inter-IAMB; the pool and its order are ours.
"""

from itertools import combinations

from tests.reference.iamb import iamb
from tests.reference.lines import Line


def with_spouses(lines, judge, alpha, most, pool, *, final=False):
    """Return selected columns and lines with the spouses in, the spouses, and the number forgotten."""
    memory = Memory(judge, alpha, most)
    left, forgotten = [], 0
    for line in lines:
        if line.event == "evicted":
            left.append(line)
            continue
        if line.event == "kept":
            memory.kept.append(line.feature)
        for gone in left:
            memory.kept.remove(gone.feature)
        for out in [*left, line]:
            if out.event != "kept" and out.reason in ("irrelevant", "redundant"):
                memory.pool[out.feature] = out.by
        left = []
        while len(memory.pool) > pool:
            oldest = next((s for s in memory.pool if memory.candidate(s) is None), next(iter(memory.pool)))
            del memory.pool[oldest]
            forgotten += 1
    if final:
        found = memory.candidates()
        among, test = sorted([*memory.kept, *found]), judge.dependence
        joined = iamb(test, len(lines), alpha, interleaved=True, by_statistic=False, among=among)
        selected = sorted(joined) or memory.kept
    else:
        found = memory.spouses()
        selected = sorted([*memory.kept, *found])
    return (selected, revised(lines, memory, found, selected)), sorted({*found} & {*selected}), forgotten


def revised(lines, memory, found, selected):
    """Return the lines with the verdicts that hold at the end."""
    new = {s: Line(s, "kept", "spouse", (c,), *n) for s, (c, *n) in found.items() if s in selected}
    for j in set(memory.kept) - set(selected):
        numbers = memory.judge.dependence(j, selected)
        new[j] = Line(j, "rejected", "redundant", tuple(selected), *numbers)
    written = []
    for line in lines:
        if line.feature not in new:
            written.append(line)
        elif line.event != "evicted":
            written.append(new[line.feature])
    return written


class Memory:
    """The kept columns and the pool of rejected ones, each with its set."""

    def __init__(self, judge, alpha, most):
        self.judge, self.alpha, self.most = judge, alpha, most
        self.kept, self.pool = [], {}

    def candidate(self, s):
        """Return the kept column through which s may be a spouse, the statistic and the p-value, or None."""
        given = [j for j in self.pool[s] if j in self.kept or j in self.pool]
        found = []
        for c in self.kept:
            if c not in given and self.judge.associated(s, c) <= self.alpha:
                statistic, p_value = self.judge.dependence(s, [*given, c])
                if p_value <= self.alpha:
                    found.append((float(f"{p_value:.9e}"), c, statistic))
        if not found:
            return None
        p_value, c, statistic = min(found)
        return c, statistic, p_value

    def candidates(self):
        """Return (child, statistic, p-value) of the candidates, in order of arrival."""
        return {s: self.candidate(s) for s in sorted(self.pool) if self.candidate(s) is not None}

    def spouses(self):
        """Return those of the candidates that no set makes independent of the target."""
        found = self.candidates()
        for s in sorted(found, key=lambda s: (-found[s][2], -s)):
            c = found[s][0]
            others = sorted({*self.kept, *found} - {s, c})
            sets = [Z for size in range(self.most) for Z in combinations(others, size)]
            if any(self.judge.dependence(s, [*Z, c])[1] > self.alpha for Z in sets):
                del found[s]
        return found
