"""Known truth: Markov blankets in samples of Bayesian networks, and what untestable sets should mean."""

from __future__ import annotations

from studies import _report
from studies._columns.methods import FDR
from studies._desk import Desk
from studies.markov_blankets import real, truth


def run(desk: Desk) -> str | None:
    """Compute, and return the page; None if the networks are not there."""
    done = truth.compute(desk)
    if not done:
        return None
    return _report.page(
        desk,
        "Markov blankets",
        _INTRODUCTION,
        truth.methods(desk, done),
        truth.readings(desk, done),
        real.section(desk, real.compute(desk)),
    )


_INTRODUCTION = f"""\
Samples of 500 rows from seven Bayesian networks whose graph is known. Each variable in turn is the target (of
networks with more than {truth.SMALL} variables {truth.TARGETS} at random), the others arrive in the order of
the file, and what is kept is compared with the target's Markov blanket: parents, children, and the children's
other parents. OSFS and Fast-OSFS use the G2 test, SAOLA and TopK symmetric uncertainty; "+ ADDIS" is
`fdr="addis"` at {FDR:g}. Means over targets; a selection of nothing has precision 0. A child's other parent
that by itself does not depend on the target fails the test of relevance, so that no method here can find it:
recall is bounded. `SAOLA(fdr=...)` and `OnlineFDR` treat levels as numbers, and are left out of the networks.
"""
