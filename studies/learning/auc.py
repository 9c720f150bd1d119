"""How well a logistic regression does on the features that each selector chose in one pass."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from studies import _report
from studies._data import MissingDataError, RealData
from studies._desk import HERE, Desk
from studies.learning._methods import METHODS, SHORT_ROWS

DATA = ("spambase", "madelon", "hiva_train", "usenet1", "emailing_list")
BUDGETS = (5, 15, 40)
SEEDS = (0, 1)
MOST_ROWS = 5000
BATCH = 100


def section(desk: Desk) -> str:
    """Return the tables."""
    done = []
    for name in DATA:
        data = RealData(name, *((150, 60) if desk.quick else (None, None)))
        try:
            settings = {"budgets": BUDGETS, "seeds": SEEDS, "rows": MOST_ROWS, "batch": BATCH, "form": 2}
            desk.part(
                f"{name}: AUC", {**settings, "quick": desk.quick}, compute, data, SEEDS[: 2 - desk.quick]
            )
        except MissingDataError as error:
            desk.skip(name, str(error))
        else:
            done.append(name)
    if not done:
        return "## The features chosen\n\nNo data set is at hand.\n"
    return _INTRODUCTION + _by_data(desk, done) + _by_budget(desk, done)


def compute(data: RealData, seeds: Sequence[int]) -> dict[str, dict[str, float]]:
    """Return the mean AUC over the seeds, by method and budget."""
    X, y = data.matrices
    X = np.asarray(X.todense()) if sp.issparse(X) else X
    found: dict[str, dict[str, list[float]]] = {}
    for seed in seeds:
        train, test, labels, truth = _split(X, y, seed)
        for k in (min(k, X.shape[1]) for k in BUDGETS):
            for name, make in METHODS.items():
                chosen = _chosen(
                    make(k), train / np.sqrt(X.shape[1]) if name in SHORT_ROWS else train, labels
                )
                found.setdefault(name, {}).setdefault(str(k), []).append(
                    _auc(train, labels, test, truth, chosen)
                )
            chosen = np.random.default_rng(seed).choice(X.shape[1], k, replace=False)
            found.setdefault("random", {}).setdefault(str(k), []).append(
                _auc(train, labels, test, truth, chosen)
            )
    return {name: {k: float(np.mean(v)) for k, v in by_k.items()} for name, by_k in found.items()}


def _split(X: Any, y: Any, seed: int) -> tuple[Any, Any, Any, Any]:
    order = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
    train, test, labels, truth = train_test_split(
        X[order], y[order], test_size=0.3, random_state=seed, stratify=y[order]
    )
    mean, spread = train.mean(axis=0), train.std(axis=0)
    spread[spread == 0] = 1.0
    return (train - mean) / spread, (test - mean) / spread, labels, truth


def _chosen(selector: Any, X: Any, y: Any) -> Any:
    for low in range(0, len(y), BATCH):
        selector.partial_fit(X[low : low + BATCH], y[low : low + BATCH])
    return selector.ranked_


def _auc(train: Any, labels: Any, test: Any, truth: Any, chosen: Any) -> float:
    if len(chosen) == 0:
        return 0.5
    model = LogisticRegression(max_iter=2000).fit(train[:, chosen], labels)
    return float(roc_auc_score(truth, model.decision_function(test[:, chosen])))


_INTRODUCTION = f"""\
## The features chosen

AUC of a logistic regression on the chosen features, for rows that the selector did not see. {MOST_ROWS:,}
rows at most, 70 % of them to learn from in batches of {BATCH}, columns standardised, mean over budgets of 5,
15 and 40 features and {len(SEEDS)} random splits; parameters as they come, but for MISSION a sketch of 3 x
4,096 and a learning rate of 0.01, which suits standardised columns, and for OFS and SOFS rows divided by the
square root of the number of columns.

"""


def published() -> dict[str, float]:
    """Return the figures of the earlier study, by method."""
    with (HERE / "published" / "row_streams_auc.csv").open(encoding="utf-8") as file:
        return {row["method"]: float(row["auc"]) for row in csv.DictReader(file)}


def _mean(by_budget: dict[str, float]) -> float:
    return float(np.mean(list(by_budget.values())))


def _by_data(desk: Desk, names: Sequence[str]) -> str:
    results = {name: desk.part.result(f"{name}: AUC") for name in names}
    methods = list(results[names[0]])
    means = {m: float(np.mean([_mean(results[name][m]) for name in names])) for m in methods}
    known = published()
    rows = [
        [m, *(f"{_mean(results[name][m]):.3f}" for name in names), f"{means[m]:.3f}",
         f"{known[m]:.3f}" if m in known else ""]
        for m in sorted(methods, key=lambda m: -means[m])
    ]  # fmt: skip
    pairs = [(means[m] - means["screen"], known[m] - known["screen"]) for m in methods if m in known]
    order = np.corrcoef(*np.array(pairs).T)[0, 1] if len(pairs) > 2 else float("nan")
    return (
        _report.table(["method", *names, "mean", "earlier"], rows)
        + f"""
The last column is an earlier comparison of prototypes under this protocol on spambase, madelon, cina0, sylva
and har. It gives means only, and three of its five sets are not at hand, so the two columns of means cannot
be equal; what can be compared is which method is better by how much. Over the methods in both, the distances
to plain screening correlate by {order:.2f}.

"""
    )


def _by_budget(desk: Desk, names: Sequence[str]) -> str:
    results = {name: desk.part.result(f"{name}: AUC") for name in names}
    rows = []
    for method in results[names[0]]:
        cells = [np.mean([results[name][method][str(k)] for name in names]) for k in BUDGETS]
        rows.append([method, *(f"{cell:.3f}" for cell in cells)])
    rows.sort(key=lambda row: row[1], reverse=True)
    return "By budget, mean over the data sets:\n\n" + _report.table(
        ["method", *(f"k = {k}" for k in BUDGETS)], rows
    )
