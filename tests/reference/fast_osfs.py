"""Slow twin of ``streamsieve.columns.osfs``: one column at a time, every test from the rows.

For a new column X:

1. X is constant, or Ind(y, X | nothing): rejected.
2. If there is a Z in BCF, 1 <= |Z| <= k, with Ind(y, X | Z): rejected.
3. X joins BCF.  For each older Y in BCF, in order of arrival: if there is a Z among the others that are left,
   with X in it and |Z| <= k, such that Ind(y, Y | Z), Y leaves BCF.

Judges, sets and their order are those of ``tests/reference/osfs.py``.

Source: Wu, Yu, Ding, Wang, Zhu (2013), Algorithm 2.
"""

from tests.reference.lines import Line
from tests.reference.osfs import separator


def fast_osfs(judge, p, most=3, many_kept=None):
    """Return the columns selected among 0..p - 1, and every decision, in order.

    While at least ``many_kept`` columns are kept as a new one comes, sets have two columns at most, and
    while at least twice as many are, one.
    """
    largest = most
    kept, lines = [], []
    for new in range(p):
        most = largest
        if many_kept is not None and len(kept) >= many_kept:
            most = min(largest, 1 if len(kept) >= 2 * many_kept else 2)
        reason, *numbers = judge.relevance(new)
        if reason:
            lines.append(Line(new, "rejected", reason, (), *numbers))
            continue
        found = separator(judge, new, kept, most)
        if found is not None:
            by, reason, *numbers = found
            lines.append(Line(new, "rejected", reason, by, *numbers))
            continue
        verdict = Line(new, "kept", "relevant", (), *numbers)
        kept.append(new)
        for old in kept[:-1]:
            found = separator(judge, old, [k for k in kept if k != old], most, member=new)
            if found is not None:
                kept.remove(old)
                by, reason, *numbers = found
                lines.append(Line(old, "evicted", reason, by, *numbers))
        lines.append(verdict)
    return kept, lines
