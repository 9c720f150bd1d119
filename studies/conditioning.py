"""What limiting the size of conditioning sets changes: networks with known graphs, and sets of many rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

import streamsieve as ss
from streamsieve.protocols import Event
from studies import _report
from studies._columns import cells
from studies._data import MissingDataError
from studies._desk import Desk
from studies.defaults.runs import LEARNERS
from studies.defaults.sets import loaded
from studies.networks import NAMES, TARGETS, _bif, f1

LEVEL = 0.01
METHODS: dict[str, Callable[..., Any]] = {"FastOSFS": ss.FastOSFS, "OSFS": ss.OSFS}
NETWORK_ROWS = (500, 5000)
#: Sets, and how many of their first rows and columns are used: all codes or mixed types.
SETS = {"spambase": (4600, 57), "usenet1": (1500, 99), "emailing_list": (1500, 913)}
LIMITS: tuple[int | str, ...] = ("auto", 3, 2, 1)
FOLDS = 3


def fitted(make: Callable[..., Any], limit: int | str, X: Any, y: Any, **options: Any) -> tuple[Any, bool]:
    """Return a fitted selector, and whether the size of conditioning sets was reduced."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        selector = make(LEVEL, max_conditioning=limit, task="classification", **options).fit(X, y)
    return selector, any("conditioning sets have at most" in str(each.message) for each in said)


def most_kept(selector: Any) -> int:
    """Return the largest number of columns that were kept at any time, by the ledger."""
    kept = most = 0
    for decision in selector.ledger_:
        kept += int(decision.event is Event.KEPT) - int(decision.event is Event.EVICTED)
        most = max(most, kept)
    return most


def one_network(name: str, n: int, targets: int) -> dict[str, list[float]]:
    """Return by method: fits, those with limited sets, most columns kept, F1 with and without the limit."""
    nodes = _bif.network(name)
    edges, X = _bif.graph(nodes), _bif.sample(nodes, n, seed=0)
    p = len(edges)
    usable = [t for t in range(p) if np.ptp(X[:, t]) > 0 and (edges[t].any() or edges[:, t].any())]
    chosen = np.random.default_rng(0).choice(usable, min(targets, len(usable)), replace=False)
    found: dict[str, list[list[float]]] = {method: [] for method in METHODS}
    for target in chosen.tolist():
        others = np.delete(np.arange(p), target)
        near = {*np.flatnonzero(edges[target] | edges[:, target]).tolist()}
        columns, y = np.asfortranarray(X[:, others]), X[:, target].astype(np.int64)
        for method, make in METHODS.items():
            limited, reduced = fitted(make, "auto", columns, y, test="g2")
            free = fitted(make, 3, columns, y, test="g2")[0] if reduced else limited
            scores = [f1({*others[each.selected_].tolist()}, near) for each in (limited, free)]
            found[method].append([1.0, float(reduced), most_kept(limited), *scores])
    return {
        method: [rows[:, 0].sum(), rows[:, 1].sum(), rows[:, 2].max(), *rows[:, 3:].mean(axis=0)]
        for method, rows in ((method, np.array(trials)) for method, trials in found.items())
    }


def rows_of(name: str, rows: int, columns: int) -> tuple[Any, npt.NDArray[Any]]:
    """Return rows drawn at random, and the first columns that are not constant over them."""
    data = loaded(name)
    X, y = data.X, np.asarray(data.y)
    chosen = np.sort(np.random.default_rng(0).choice(len(y), min(rows, len(y)), replace=False))
    X = X[chosen]
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
    return X[:, np.flatnonzero(np.ptp(X, axis=0) > 0)[:columns]], y[chosen]


def one_set(name: str, rows: int, columns: int, limit: int | str, folds: int) -> dict[str, Any]:
    """Return accuracy by learner, columns kept, most kept, folds with limited sets, and processor seconds."""
    X, y = rows_of(name, rows, columns)
    folded = StratifiedKFold(folds, shuffle=True, random_state=0)
    found = []
    for train, test in folded.split(X, y):
        start = time.process_time()
        selector, reduced = fitted(ss.FastOSFS, limit, X[train], y[train])
        seconds = time.process_time() - start
        kept = selector.selected_
        scale = X[train][:, kept].std(axis=0)
        Z = X[:, kept] / np.where(scale > 0, scale, 1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a penalty that does not converge
            scores = [
                learner.fit(Z[train], y[train]).score(Z[test], y[test]) for learner in LEARNERS.values()
            ]
        found.append([len(kept), most_kept(selector), float(reduced), seconds, *scores])
    table = np.array(found)
    return {
        "rows": len(train), "columns": X.shape[1], "kept": float(table[:, 0].mean()),
        "most": float(table[:, 1].max()), "limited": int(table[:, 2].sum()),
        "seconds": float(np.median(table[:, 3])), "scores": table[:, 4:].mean(axis=0).tolist(),
    }  # fmt: skip


def run(desk: Desk) -> str:
    """Compute, and return the page."""
    return _report.page(desk, "Limits on conditioning sets", _INTRODUCTION, _networks(desk), _sets(desk))


def _networks(desk: Desk) -> str:
    sizes, targets = ((200,), 2) if desk.quick else (NETWORK_ROWS, TARGETS)
    names = NAMES[:1] if desk.quick else NAMES
    rows: dict[str, list[str]] = {}
    try:
        for name in names:
            for n in sizes:
                settings = {"form": 1, "targets": targets, "level": LEVEL}
                found = desk.part(f"{name} {n}", settings, one_network, name, n, targets)
                for method, (fits, limited, most, auto, free) in found.items():
                    rows[f"{name}, {n:,} rows, {method}"] = [
                        f"{limited:.0f} of {fits:.0f}", f"{most:.0f}", f"{auto:.3f}", f"{free:.3f}",
                    ]  # fmt: skip
    except MissingDataError as error:
        desk.skip("networks", str(error))
        return ""
    headings = ["fits with limited sets", "most columns kept", 'F1, "auto"', "F1, 3"]
    return f"## Networks\n\n{cells.table('network', headings, rows)}"


def _sets(desk: Desk) -> str:
    names = {"breast_cancer": (100, 10)} if desk.quick else SETS
    rows: dict[str, list[str]] = {}
    for name, (n, p) in names.items():
        first: dict[str, Any] = {}
        for limit in LIMITS:
            if limit in (2, 1) and not first["limited"]:
                continue
            settings = {"form": 1, "rows": n, "columns": p, "folds": FOLDS}
            try:
                found = desk.part(f"{name}, {limit}", settings, one_set, name, n, p, limit, FOLDS)
            except MissingDataError as error:
                desk.skip(name, str(error))
                break
            first = first or found
            rows[f"{name}, {found['rows']:,} x {found['columns']:,}, {limit}"] = [
                f"{found['limited']} of {FOLDS}", f"{found['most']:.0f}", f"{found['kept']:.1f}",
                *(f"{score:.3f}" for score in found["scores"]), cells.seconds(found["seconds"]),
            ]  # fmt: skip
    headings = ["folds with limited sets", "most kept", "kept", *LEARNERS, "processor time"]
    return f"## Real sets\n\n{cells.table('set, max_conditioning', headings, rows)}"


_INTRODUCTION = f"""\
With `max_conditioning="auto"`, `FastOSFS` and `OSFS` try conditioning sets of up to three columns while few
columns are kept, of two beyond a limit, and of one beyond twice that. The limit is 200 kept columns for
correlations; for tables it falls with the number of rows, because a test reads all of them (54 at 5,000
rows). Where no fit reaches the limit, every decision is that of `max_conditioning=3`.

Networks: {TARGETS} targets each, `test="g2"`, F1 of parents and children. Real sets: `FastOSFS` with its
default test over {FOLDS} folds, accuracy of three learners behind it; rows drawn at random, constant columns
left out. No fit of this page reaches the limit, so what it costs where it is reached is not measured here:
covtype and ujiindoorloc, with more kept columns, had not ended after a minute of processor time.
"""
