"""How many of the columns kept are false discoveries: online FDR rules alone, and as gates of selectors."""

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
An online rule gives every column of a stream a level of its own, so that the *false discovery rate* (FDR),
the expected proportion of false discoveries among all discoveries, is at most alpha. *Power* is the
proportion of the true ones that are found. Both are simulated here, with alpha = 0.05: for bare p-values
beside the figures of an earlier simulation, then for columns through the selectors themselves.
"""
