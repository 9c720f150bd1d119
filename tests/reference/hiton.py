"""Slow twin of ``streamsieve.offline.hiton``: every set, every test from the rows, and the final pass.

1. Candidates: features dependent on y given nothing, by falling correlation (its p-value is rounding near 1),
   or for tables by rising p-value, then falling statistic.
2. The next candidate Y joins PC.  For each X in PC, the latest first: if there is a Z among the others that
   are left, 1 <= |Z| <= k, and Y in Z unless X is Y, with Ind(X, y | Z), X leaves PC.
3. When all have come: each X in PC that any Z of the others, |Z| <= k, makes independent of y leaves PC.

A judge answers what depends on what; see ``osfs.py`` for its questions.

Source: Aliferis et al. (2003, 2010).
"""

from tests.reference.osfs import PartialCorrelations, separator


def hiton(judge, p, most=3):
    """Return the selected features, the most associated first, and the sets that separated others."""
    alone = {j: judge.relevance(j) for j in range(p)}
    relevant = [j for j in range(p) if alone[j][0] is None]
    by_statistic = isinstance(judge, PartialCorrelations)

    def association(j):
        statistic, p_value = (float(f"{number:.9e}") for number in alone[j][1:])
        return 0.0 if by_statistic else p_value, -statistic, j

    relevant.sort(key=association)
    kept, sets = [], {}
    for new in relevant:
        kept.append(new)
        for old in reversed(list(kept)):
            if new not in kept:
                break
            others = [k for k in kept if k != old]
            found = separator(judge, old, others, most, None if old == new else new)
            if found is not None:
                kept.remove(old)
                sets[old] = sorted(found[0])
    for old in kept:
        found = separator(judge, old, [k for k in kept if k != old], most)
        if found is not None:
            raise AssertionError(f"the final pass removes {old} by {found[0]}, which was tried before")
    return kept, sets
