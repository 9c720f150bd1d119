"""Selectors that learn from rows: how good are the features they choose, and do they find planted ones?"""

from __future__ import annotations

from studies import _report
from studies._desk import Desk
from studies.learning import auc, recovery


def run(desk: Desk) -> str | None:
    """Compute, and return the page."""
    return _report.page(
        desk, "Row selectors that learn", _INTRODUCTION, auc.section(desk), recovery.section(desk)
    )


_INTRODUCTION = """\
One pass over the rows, a budget of k features, and then two questions. How well does a logistic regression do
on the features chosen? And where the relevant features are known because we planted them, are they found?
"""
