"""OFS: how many weights to keep while learning, on real streams."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier

from streamsieve.rows import OFS, Screen
from studies import _report
from studies._data import MissingDataError, RealData
from studies._desk import Desk
from studies._parts import Part

REFRESH = 50
NOISE = 30
#: File, features selected, whether rows come in their own order, and whether columns are standardized.
STREAMS = {
    "usenet1": (20, True, False),
    "emailing_list": (50, True, False),
    "electricity": (8, True, True),
    "spambase": (15, False, True),
}
SEEDS = 5


def run(desk: Desk) -> str | None:
    """Compute, and return the page; None if no data set is there."""
    seeds, rows = (1, 300) if desk.quick else (SEEDS, 15_000)
    found = {}
    for name, (k, ordered, scaled) in STREAMS.items():
        settings = {"form": 1, "seeds": seeds, "rows": rows}
        part: Part = (name, settings, compute, name, k, ordered, scaled, seeds, rows)
        try:
            found[name] = desk.part(*part)
        except MissingDataError as error:
            desk.skip(name, str(error))
    if not found:
        return None
    methods = list(next(iter(found.values())))
    table = [[method, *(_cell(of[method]) for of in found.values())] for method in methods]
    heads = [f"{name} ({STREAMS[name][0]})" for name in found]
    return _report.page(
        desk, "OFS: how many weights", _INTRODUCTION, _report.table(["weights kept", *heads], table), _READING
    )


def compute(name: str, k: int, ordered: bool, scaled: bool, seeds: int, rows: int) -> dict[str, list[float]]:  # noqa: FBT001
    """Return mean and standard deviation of prequential accuracies by method."""
    X, y = RealData(name, rows).matrices
    X = np.asarray(X, np.float64)
    out: dict[str, list[float]] = {}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        Z = np.hstack([X, rng.normal(size=(len(y), NOISE))]) if name == "electricity" else X
        order = np.arange(len(y)) if ordered else rng.permutation(len(y))
        Z, labels = Z[order], y[order]
        if scaled:
            spread = Z[:500].std(axis=0)
            Z = np.clip((Z - Z[:500].mean(axis=0)) / np.where(spread > 0, spread, 1), -10, 10)
        for method, selector in _methods(k, Z.shape[1]).items():
            out.setdefault(method, []).append(_accuracy(Z, labels, selector, k, seed))
    return {method: [float(np.mean(found)), float(np.std(found))] for method, found in out.items()}


def _methods(k: int, p: int) -> dict[str, Any]:
    return {
        'k (`variant="paper"`)': OFS(k, variant="paper"),
        "2 k": OFS(min(2 * k, p), variant="paper"),
        '4 k (`variant="wide"`, the default)': OFS(k),
        "all": OFS(p, variant="paper"),
        "all features, no selection": None,
        "Screen": Screen("f", k=k),
    }


def _accuracy(X: Any, y: Any, selector: Any, k: int, seed: int) -> float:
    """Return the prequential accuracy of one SGD learner over the selected features."""
    learner = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.05, random_state=seed)
    right, mask = 0, np.ones(X.shape[1], bool)
    for low in range(0, len(y), REFRESH):
        rows, labels = X[low : low + REFRESH], y[low : low + REFRESH]
        if low:
            right += int(np.sum(learner.predict(rows * mask) == labels))
        if selector is not None:
            best = selector.partial_fit(rows, labels).ranked_[:k]
            mask = np.isin(np.arange(X.shape[1]), best)
        learner.partial_fit(rows * mask, labels, classes=np.unique(y))
    return right / (len(y) - REFRESH)


def _cell(found: list[float]) -> str:
    return f"{found[0]:.3f} ± {found[1]:.3f}"


_INTRODUCTION = f"""\
Prequential accuracy of one SGD learner (logistic loss, step 0.05) over the k features that OFS ranks best,
k in parentheses; the selection is refreshed every {REFRESH} rows. usenet1, emailing_list and electricity
(first 15,000 rows, {NOISE} columns of noise added) come in their own order, spambase in a random one;
electricity and spambase are standardized by their first 500 rows. Mean and standard deviation over {SEEDS}
seeds of the learner, the noise and the order.

The paper truncates to k weights after every step. The `float` package never truncates, which is the row
"all" but for the shrinking of weights that it leaves out, too.
"""

_READING = """\
A feature that loses its weight begins again at 0, so with k weights the selection depends on the latest
rows. Four times as many weights remove most of that and keep memory bounded.
"""
