"""The rule of ``tests/reference/saola.py`` by correlation, where columns have missing values.

NaN is a missing value.  dep(F, y) is over the rows where F is seen, dep(F, Y) over those where both are, and
so are the degrees of freedom.  Which columns are relevant, and what two of them share, is as for a buffer of
the k best columns: ``tests/reference/top_k.py``.

Source: Yu, Wu, Ding, Pei (2014); test-wise deletion.
"""

import numpy as np

from tests.reference import fisher_z
from tests.reference.lines import Line
from tests.reference.saola import TIE
from tests.reference.top_k import Correlations


def paired_saola(X, y, task, *, alpha=0.01, bound="min", variant="paper"):
    """Return the selected columns and every decision, in order."""
    judge, limit = Correlations(y, task), {"min": min, "max": max}[bound]
    relevance = [judge.relevance(X[:, j], alpha) for j in range(X.shape[1])]

    def against(new, old):
        """Return |correlation| of two columns, and its p-value."""
        rows = np.sum(~np.isnan(X[:, new]) & ~np.isnan(X[:, old]))
        pair = judge.pair(X[:, new], X[:, old])
        return pair, fisher_z.p_value(pair, rows)

    kept, lines = [], []
    for new, (reason, *numbers) in enumerate(relevance):
        if reason:
            lines.append(Line(new, "rejected", reason, (), *numbers))
            continue
        d_new, fallen, victims = abs(numbers[0]), None, []
        for old in kept:
            d_old = abs(relevance[old][1])
            pair = against(new, old)
            if pair[0] < limit(d_new, d_old) - TIE:
                continue
            if d_old >= d_new - TIE:
                fallen = Line(new, "rejected", "redundant", (old,), *pair)
                break
            victims.append(Line(old, "evicted", "redundant", (new,), *pair))
        if fallen is None or variant == "paper":
            kept = [old for old in kept if old not in {line.feature for line in victims}]
            lines += victims
        if fallen is None:
            kept.append(new)
        lines.append(fallen or Line(new, "kept", "relevant", (), *numbers))
    return kept, lines
