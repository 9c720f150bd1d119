"""Known truth: parents and children, Markov blankets, and spouses in samples of six public networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import streamsieve as ss
from studies import _report
from studies._columns import cells
from studies._data import MissingDataError
from studies._desk import Desk
from studies.networks import _bif
from studies.networks._bif import graph, network, sample

__all__ = ["f1", "graph", "network", "run", "sample"]

NAMES = ("alarm", "child", "insurance", "mildew", "water", "pigs")
ROWS, TARGETS, LEVEL = (500, 5000), 12, 0.01
MEASURES = ("parents and children", "blanket", "spouses found")
SELECTORS: dict[str, Callable[[], Any]] = {
    'FastOSFS(test="g2")': lambda: ss.FastOSFS(LEVEL, test="g2"),
    'FastOSFS(test="g2", spouses="auto")': lambda: ss.FastOSFS(LEVEL, test="g2", spouses="auto"),
    'OSFS(test="g2", spouses="auto")': lambda: ss.OSFS(LEVEL, test="g2", spouses="auto"),
    'OSFS(test="g2")': lambda: ss.OSFS(LEVEL, test="g2"),
    'HITONPC(test="g2")': lambda: ss.HITONPC(LEVEL, test="g2"),
    'IAMB(test="g2")': lambda: ss.IAMB(LEVEL, test="g2"),
    'InterIAMB(test="g2")': lambda: ss.InterIAMB(LEVEL, test="g2"),
    "FastOSFS(), codes as numbers": lambda: ss.FastOSFS(LEVEL, test="fisher_z"),
}


def f1(kept: set[int], true: set[int]) -> float:
    """Return the F1 of a selection; 1 if there is nothing to find and nothing was kept."""
    return 2 * len(kept & true) / (len(kept) + len(true)) if kept or true else 1.0


def one_network(name: str, n: int, targets: int) -> dict[str, list[float]]:
    """Return by selector the mean F1 of both sets, and the spouses found and there, over the targets."""
    nodes = _bif.network(name)
    edges, X = _bif.graph(nodes), _bif.sample(nodes, n, seed=0)
    p = len(edges)
    usable = [t for t in range(p) if np.ptp(X[:, t]) > 0 and (edges[t].any() or edges[:, t].any())]
    chosen = np.random.default_rng(0).choice(usable, min(targets, len(usable)), replace=False)
    trials: dict[str, list[list[float]]] = {method: [] for method in SELECTORS}
    for target in chosen.tolist():
        others = np.delete(np.arange(p), target)
        near = {*np.flatnonzero(edges[target] | edges[:, target]).tolist()}
        spouses = {*np.flatnonzero(edges[:, edges[target]].any(axis=1)).tolist()} - near - {target}
        columns, y = np.asfortranarray(X[:, others]), X[:, target].astype(np.int64)
        for method, make in SELECTORS.items():
            selector = make().set_params(task="classification").fit(columns, y)
            kept = {*others[selector.selected_].tolist()}
            apart = {*others[getattr(selector, "spouses_", [])].tolist()}  # the selector tells them apart
            numbers = [f1(kept - apart, near), f1(kept, near | spouses), len(kept & spouses), len(spouses)]
            trials[method].append(numbers)
    return {
        method: [*np.mean(found, axis=0)[:2].tolist(), *np.sum(found, axis=0)[2:].tolist()]
        for method, found in trials.items()
    }


def run(desk: Desk) -> str | None:
    """Compute, and return the page; None if the networks are not there."""
    rows, targets = ((200,), 2) if desk.quick else (ROWS, TARGETS)
    settings = {"form": 2, "targets": targets, "level": LEVEL, "selectors": [*SELECTORS]}
    parts = {
        (name, n): (f"{name} {n}", settings, one_network, name, n, targets)
        for n in rows
        for name in NAMES[: 2 if desk.quick else None]
    }
    try:
        results = dict(zip(parts, desk.together([*parts.values()]), strict=True))
    except MissingDataError as error:
        desk.skip("networks", str(error))
        return None
    sections = [_section(n, {name: found for (name, m), found in results.items() if m == n}) for n in rows]
    return _report.page(desk, "Blankets of public networks", _INTRODUCTION, *sections)


def _section(n: int, found: dict[str, dict[str, list[float]]]) -> str:
    means, blankets = {}, {}
    for method in SELECTORS:
        numbers = np.array([found[name][method] for name in found])
        share = numbers[:, 2].sum() / max(numbers[:, 3].sum(), 1)
        means[method] = [f"{numbers[:, 0].mean():.3f}", f"{numbers[:, 1].mean():.3f}", f"{share:.2f}"]
        blankets[method] = [f"{value:.2f}" for value in numbers[:, 1]]
    return (
        f"## {n:,} rows\n\n{cells.table('selector', MEASURES, means)}\n"
        f"F1 of the blanket by network:\n\n{cells.table('selector', [*found], blankets)}"
    )


_INTRODUCTION = f"""\
One sample of each network, {TARGETS} targets drawn at random, the other variables in the order of the file,
level {LEVEL:g}. What is kept is compared with the parents and children of the target, and with its Markov
blanket, which has the children's other parents (spouses) too. F1, means over targets and then networks;
spouses found are a share of all of them. `OSFS`, `FastOSFS` and `HITONPC` look for parents and children:
a spouse that is independent of the target by itself fails their test of relevance. With `spouses`, the first
two remember rejected columns and look for spouses among them, which do not count as parents and children.
`IAMB` and `InterIAMB` look for the blanket, without telling spouses apart. Networks are read from pgmpy's
example models, or from the folder named by `STREAMSIEVE_NETWORKS`.
"""
