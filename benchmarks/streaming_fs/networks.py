"""Part 1: columns with truth.  Parents, children and spouses in networks, and hubs of many levels."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.streaming_fs.bench import Bench
from benchmarks.streaming_fs.boards import Board, Cell, filled
from benchmarks.streaming_fs.entries import ENTRIES, Entry
from studies.networks import f1, graph, network, sample

NAMES = (
    "alarm", "barley", "child", "hailfinder", "hepar2", "insurance", "mildew", "pigs", "water", "win95pts",
)  # fmt: skip
QUICK = ("child", "insurance")
LEVELS = (8, 33, 60)
MEASURES = ("Parents and children", "Markov blanket", "Spouses found")


def run(bench: Bench) -> list[Board]:
    """Run all entries that decide themselves."""
    rows, targets, orders = ((500,), 3, 2) if bench.quick else ((500, 5000), 12, 3)
    cells: list[dict[str, dict[str, Cell]]] = [{name: {} for name in ENTRIES} for _ in MEASURES]
    settings = {"targets": targets, "orders": orders}
    for name in bench.cases("networks", QUICK if bench.quick else NAMES):
        nodes = bench.loaded(f"network {name}", network, name)
        for n in rows if nodes is not None else ():
            for entry in bench.able(f"{name}, {n:,}", n * len(nodes), decides=True, slow=False):
                part = f"network {name} {n} {entry.name}"
                found = bench.measure(part, settings, one, entry, nodes, n, targets, orders)
                for measure, (score, spread) in enumerate(found["scores"] if found else ()):
                    cell = Cell(score, found["size"], found["seconds"], spread)
                    cells[measure][entry.name][f"{name}, {n:,}"] = cell
    about = (
        f"Samples of Bayesian networks, {targets} targets each, drawn by a seed, columns in {orders} random "
        "orders. F1 of what is kept against the parents and children of the target, and against its Markov "
        "blanket; the share of its spouses that is kept. After ±, the standard deviation over orders."
    )
    boards = [
        Board(title, "share" if "Spouses" in title else "F1", about, _kinds(), filled(found))
        for title, found in zip(MEASURES, cells, strict=True)
    ]
    return [*boards, _hubs(bench)]


def _kinds() -> dict[str, str]:
    return {name: entry.kind for name, entry in ENTRIES.items()}


def one(entry: Entry, nodes: Any, n: int, targets: int, orders: int) -> dict[str, Any]:
    """Return the three measures with their spread over orders, and means of size and seconds."""
    edges, X = graph(nodes), sample(nodes, n, seed=0)
    p = len(edges)
    usable = [t for t in range(p) if np.ptp(X[:, t]) > 0 and (edges[t].any() or edges[:, t].any())]
    chosen = np.random.default_rng(0).choice(usable, min(targets, len(usable)), replace=False)
    trials, sizes, seconds = np.full((len(chosen), orders, 3), np.nan), [], []
    for i, target in enumerate(chosen.tolist()):
        near = {*np.flatnonzero(edges[target] | edges[:, target]).tolist()}
        spouses = {*np.flatnonzero(edges[:, edges[target]].any(axis=1)).tolist()} - near - {target}
        y = np.unique(X[:, target], return_inverse=True)[1]
        for order in range(orders):
            others = np.random.default_rng([target, order]).permutation(np.delete(np.arange(p), target))
            columns = np.asfortranarray(X[:, others])
            started = time.perf_counter()
            kept = {*others[entry.select(columns, y, None)].tolist()}
            seconds.append(time.perf_counter() - started)
            sizes.append(float(len(kept)))
            trials[i, order, :2] = f1(kept, near), f1(kept, near | spouses)
            if spouses:
                trials[i, order, 2] = len(kept & spouses) / len(spouses)
    return {
        "scores": [_over_orders(trials[:, :, measure]) for measure in range(3)],
        "size": float(np.mean(sizes)),
        "seconds": float(np.median(seconds)),
    }


def _over_orders(trials: Any) -> list[float]:
    """Return mean and standard deviation over orders of the mean over targets; 0 if nothing is known."""
    known = trials[~np.isnan(trials).any(axis=1)]
    by_order = known.mean(axis=0) if len(known) else np.zeros(trials.shape[1])
    return [float(by_order.mean()), float(by_order.std())]


def _hubs(bench: Bench) -> Board:
    runs = 2 if bench.quick else 10
    found: dict[str, dict[str, Cell]] = {name: {} for name in ENTRIES}
    for case in bench.cases("hubs", [f"{levels} levels" for levels in LEVELS]):
        for entry in bench.able(f"hub of {case}", 55_000, decides=True, slow=False):
            levels = int(case.split()[0])
            result = bench.measure(f"hub {case} {entry.name}", {"runs": runs}, hub, entry, levels, runs)
            if result:
                found[entry.name][case] = Cell(*result)
    about = (
        f"A nominal hub with 10 noisy children and a noisy target, 5,000 rows, {runs} samples: the hub alone "
        "makes the children independent of the target. F1 of what is kept against the hub."
    )
    return Board("Hubs of many levels", "F1", about, _kinds(), filled(found))


def hub(entry: Entry, levels: int, runs: int) -> list[float]:
    """Return the mean F1 of keeping the hub and nothing else, the size and the seconds."""
    trials = []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, levels, 5000)
        maps = rng.integers(0, 3, (11, levels))
        noisy = [np.where(rng.random(5000) < 0.1, rng.integers(0, 3, 5000), each[values]) for each in maps]
        order = rng.permutation(11)
        X = np.column_stack([values, *noisy[1:]])[:, order].astype(np.float64)
        started = time.perf_counter()
        kept = {*order[entry.select(X, noisy[0], None)].tolist()}
        trials.append([f1(kept, {0}), float(len(kept)), time.perf_counter() - started])
    return np.mean(trials, axis=0).tolist()
