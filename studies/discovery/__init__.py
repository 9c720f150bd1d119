"""How many of the columns kept are junk: online FDR rules by simulation, alone and as gates of selectors."""

from __future__ import annotations

from studies import _report
from studies._desk import Desk
from studies.discovery import chunks, columns, gates, levels


def run(desk: Desk) -> str:
    """Compute, and return the page."""
    return _report.page(
        desk,
        "False discoveries",
        _INTRODUCTION,
        levels.section(desk),
        columns.section(desk),
        chunks.section(desk),
        gates.section(desk),
    )


_INTRODUCTION = """\
An online rule gives every column of a stream a level of its own, so that of all columns kept an expected
share of at most alpha is junk: the *false discovery rate*, FDR. *Power* is the share of the true ones that
are found. Both are simulated here, with alpha = 0.05: for bare p-values beside the figures of an earlier
simulation, then for columns through the selectors themselves.
"""
