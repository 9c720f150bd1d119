"""Slow twin of ``streamsieve.rows.screen``: score everything, sort, take the first ones.

``k`` takes the k largest scores, the lower column first among equals; ``percentile`` the rounded share of
the columns, at least one; ``alpha`` the p-values at most alpha (none), alpha / m (bonferroni), or those up
to the largest p_(i) <= i alpha / m (bh: Benjamini and Hochberg 1995).

Ties go to the lowest arrival number.
"""

from tests.reference import chi2, correlation, f, fisher, gini, mutual_info, su, t

CRITERIA = {
    "t": t, "fisher": fisher, "f": f, "correlation": correlation,
    "mutual_info": mutual_info, "chi2": chi2, "gini": gini, "su": su,
}  # fmt: skip


def best(scores, k):
    """Return the columns of the k largest scores, best first."""
    return sorted(range(len(scores)), key=lambda j: (-scores[j], j))[:k]


def significant(p_values, alpha, correction="none"):
    """Return the columns whose p-values pass, in order of columns."""
    m = len(p_values)
    limit = {"none": alpha, "bonferroni": alpha / max(m, 1)}.get(correction)
    if limit is None:
        ranked = sorted(p_values)
        limit = max((p for i, p in enumerate(ranked, 1) if p <= i * alpha / m), default=-1.0)
    return [j for j in range(m) if p_values[j] <= limit]


def screen(
    criterion, X, y, *, k=None, percentile=None, alpha=None, correction="none", weight=None, half_life=None
):
    """Return the selected columns in order of columns."""
    twin = CRITERIA[criterion]
    if alpha is not None:
        return significant(twin.p_value(X, y, weight, half_life), alpha, correction)
    scores = twin.score(X, y, weight, half_life)
    if percentile is not None:
        k = max(1, round(len(scores) * percentile / 100))
    return sorted(best(scores, 10 if k is None else k))
