"""What a gate changes in selectors that look at redundancy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import streamsieve as ss
from studies import _report
from studies._desk import Desk
from studies.discovery._simulation import ALPHA
from studies.discovery.columns import STRENGTHS, draw

METHODS: dict[str, Callable[[str | None], Any]] = {
    "SAOLA": lambda fdr: ss.SAOLA(ALPHA, fdr=fdr, p_value="z", measure="fisher_z"),
    "GroupSAOLA, groups of 10": lambda fdr: ss.GroupSAOLA(ALPHA, group_size=10, fdr=fdr, p_value="z"),
    "FastOSFS": lambda fdr: ss.FastOSFS(ALPHA, fdr=fdr, p_value="z", test="fisher_z"),
    "OSFS": lambda fdr: ss.OSFS(ALPHA, fdr=fdr, p_value="z", test="fisher_z"),
    "FastOSFS, g2": lambda fdr: ss.FastOSFS(ALPHA, test="g2", fdr=fdr, p_value="chi2"),
    "TopK, 50": lambda fdr: ss.TopK(50, alpha=ALPHA, fdr=fdr, p_value="z", measure="fisher_z"),
}
WAYS = (None, "addis", "lord")


def section(desk: Desk) -> str:
    """Compute and compare."""
    streams, data = (2, (300, 100, 4)) if desk.quick else (10, (600, 2000, 15))
    settings = {"streams": streams, "data": data, "methods": list(METHODS), "ways": WAYS, "form": 1}
    tables = []
    for strength in STRENGTHS:
        with_strength = {**settings, "strength": strength}
        found = desk.part(f"gates, {strength:g}", with_strength, _compute, streams, strength, *data)
        tables.append(f"Causes that correlate with y by {strength:g} standard errors:\n\n{_table(found)}")
    n, p, causes = data
    every_table = "\n".join(tables)
    return f"""\
## Gates

The relevance tests of other selectors at levels that a rule gives (`fdr="addis"`, `fdr="lord"`) instead of
at alpha. {p:,} columns over {n} rows: {causes} causes of y, two copies of each, and junk; {streams} streams.
*Kept* is the mean number of columns, *junk* the share of them that has nothing to do with y, and *found* the
share of causes of which the cause or a copy is kept.

{every_table}
Weak causes in so much junk are what a gate cannot have: it stays shut to nearly all of them, where a fixed
level lets them in with the junk. A gate bounds the share of junk among the columns found *relevant*.
Redundancy then takes away copies of what
is true, and hardly any junk, so that of what is left more than alpha can be junk; `TopK` has room for nearly
all that pass here, and shows the rate itself. What the stricter levels cost is in the columns *found*. With
five levels a column, "g2" sees little of a dependence that is linear.
"""


def _table(found: dict[str, dict[str, list[float]]]) -> str:
    rows = [
        [method, *(text for way in WAYS for text in _cells(found[method][str(way)]))] for method in METHODS
    ]
    heads = [f"{what}, {way or 'fixed level'}" for way in WAYS for what in ("kept", "junk", "found")]
    return _report.table(["method", *heads], rows)


def _cells(means: list[float]) -> tuple[str, str, str]:
    kept, junk, found = means
    return f"{kept:.1f}", f"{junk:.3f}", f"{found:.2f}"


def _compute(streams: int, strength: float, n: int, p: int, causes: int) -> dict[str, dict[str, list[float]]]:
    cells: dict[str, dict[str, list[tuple[float, float, float]]]] = {
        method: {str(way): [] for way in WAYS} for method in METHODS
    }
    for seed in range(streams):
        data = draw(seed, n, p, causes, 2, strength)
        for method, make in METHODS.items():
            for way in WAYS:
                origin = data.origin[make(way).fit(data.X, data.y).selected_]
                junk, found = float(np.mean(origin < 0)) if len(origin) else 0.0, {*origin.tolist()} - {-1}
                cells[method][str(way)].append((float(len(origin)), junk, len(found) / causes))
    return {
        method: {way: np.mean(some, axis=0).tolist() for way, some in by_way.items()}
        for method, by_way in cells.items()
    }
