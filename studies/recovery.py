"""Are planted features found among correlated ones, and from how many rows on?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, lars_path

import streamsieve as ss
from streamsieve.evaluation.plots.style import bare, new_figure, style
from streamsieve.learners import FSAClassifier, FSARegressor
from studies import _report
from studies._desk import Desk

MUS = (0.0, 3.0, 10.0, 30.0, 100.0, 300.0)
EPOCHS = (30, 100, 300)
#: The reference point: rows, columns, true features.
EASY = (1000, 100, 10)


@dataclass(frozen=True)
class Scope:
    """How much is computed.

    Attributes
    ----------
    rows : numbers of rows to learn from
    p, true : columns, and how many of them count
    seeds : data sets a point of a curve
    """

    rows: Sequence[int] = (100, 200, 300, 400, 500, 700, 1000, 1500)
    p: int = 1000
    true: int = 10
    seeds: int = 20

    @property
    def middle(self) -> int:
        """Rows of which about half of the features are found."""
        return self.rows[len(self.rows) // 2 - 1]


QUICK = Scope(rows=(60, 120), p=50, true=5, seeds=2)

Chooser = Callable[[Any, Any, int], npt.NDArray[Any]]


def run(desk: Desk) -> str:
    """Compute, draw, and return the page."""
    scope = QUICK if desk.quick else Scope()
    return _report.page(
        desk,
        "Planted features among correlated ones",
        _introduction(scope),
        _curves(desk, scope, "classes"),
        _curves(desk, scope, "numbers"),
        _schedule(desk, scope),
        _easy(desk),
    )


# ------------------------------------------------------------------------------------ the design


def design(n: int, p: int, true: int, seed: int) -> tuple[Any, Any, Any]:
    """Return columns that correlate by .5, the sum of every tenth until `true` are taken, and these."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    support = np.arange(9, p, 10)[:true]
    return X, X[:, support].sum(axis=1), support


def share_found(chosen: Any, support: Any) -> float:
    """Return the share of the true features among those chosen."""
    return float(np.isin(support, chosen).mean())


# ------------------------------------------------------------------------------------ the methods


def _l1_classes(X: Any, y: Any, k: int) -> npt.NDArray[Any]:
    """Choose the k largest weights of the sparsest L1 model that has as many."""
    low, high = 1e-4, 10.0
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    chosen = np.arange(0)
    for _ in range(12):
        middle = float(np.sqrt(low * high))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            weights = LogisticRegression(l1_ratio=1, C=middle, solver="liblinear").fit(Z, y).coef_[0]
        if np.count_nonzero(weights) >= k:
            high, chosen = middle, np.argsort(-np.abs(weights), kind="stable")[:k]
        else:
            low = middle
    return chosen


def _lasso_numbers(X: Any, y: Any, k: int) -> npt.NDArray[Any]:
    """Choose the first k columns on the path of the lasso."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    _, active, _ = lars_path(Z, y - y.mean(), method="lasso", max_iter=k)
    return np.asarray(active[:k])


METHODS: dict[str, dict[str, Chooser]] = {
    "classes": {
        "FSA, logistic": lambda X, y, k: FSAClassifier(k).fit(X, y).selected_,
        "FSA, Lorenz": lambda X, y, k: FSAClassifier(k, loss="lorenz").fit(X, y).selected_,
        "FSA, hinge": lambda X, y, k: FSAClassifier(k, loss="hinge").fit(X, y).selected_,
        "FSA, squared": lambda X, y, k: FSAClassifier(k, loss="squared").fit(X, y).selected_,
        "L1 logistic": _l1_classes,
        "T-score": lambda X, y, k: ss.Screen("t", k=k).fit(X, y).selected_,
    },
    "numbers": {
        "FSA, squared": lambda X, y, k: FSARegressor(k).fit(X, y).selected_,
        "FSA, Lorenz": lambda X, y, k: FSARegressor(k, loss="lorenz").fit(X, y).selected_,
        "lasso": _lasso_numbers,
        "correlation": lambda X, y, k: ss.Screen("correlation", k=k).fit(X, y).selected_,
    },
}


def _quietly(choose: Chooser, X: Any, y: Any, k: int) -> npt.NDArray[Any]:
    """Choose; that a hopeless problem has not settled is no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return choose(X, y, k)


# ------------------------------------------------------------------------------------ curves


def curve(kind: str, n: int, p: int, true: int, seeds: int) -> dict[str, float]:
    """Return the mean share of the true features that each method finds from n rows."""
    found: dict[str, list[float]] = {name: [] for name in METHODS[kind]}
    for seed in range(seeds):
        X, f, support = design(n, p, true, seed)
        y = f > 0 if kind == "classes" else f + np.random.default_rng([seed, 1]).normal(size=n)
        for name, choose in METHODS[kind].items():
            found[name].append(share_found(_quietly(choose, X, y, true), support))
    return {name: float(np.mean(shares)) for name, shares in found.items()}


def _curves(desk: Desk, scope: Scope, kind: str) -> str:
    settings = {"p": scope.p, "true": scope.true, "seeds": scope.seeds, "form": 1}
    found = [
        desk.part(f"{kind}, {n} rows", {**settings, "n": n}, curve, kind, n, scope.p, scope.true, scope.seeds)
        for n in scope.rows
    ]
    caption = f"Share of {scope.true} planted features found among {scope.p:,}, by rows; {_TITLES[kind]}."
    rows = [[name, *(f"{point[name]:.2f}" for point in found)] for name in METHODS[kind]]
    return f"""\
## {_TITLES[kind].capitalize()}

{desk.picture(f"recovery_{kind}", _figure(scope.rows, METHODS[kind], found), caption)}
{_report.table(["method", *(f"{n:,} rows" for n in scope.rows)], rows)}
{_COMMENTS[kind]}
"""


def _figure(rows: Sequence[int], names: Iterable[str], found: Sequence[dict[str, float]]) -> Any:
    figure = new_figure(7.0, 4.2)
    axes = figure.subplots()
    for i, name in enumerate(names):
        axes.plot(
            rows, [point[name] for point in found], **(style(i, len(rows)) | {"markevery": 1}), label=name
        )
    axes.set(xlabel="rows", ylabel="planted features found", xscale="log", ylim=(0, 1.03))
    axes.set_xticks(rows, [f"{n:,}" for n in rows])
    axes.minorticks_off()
    bare(axes)
    figure.legend(loc="outside right", frameon=False)
    return figure


# ------------------------------------------------------------------------------------ the schedule


def by_schedule(n: int, p: int, true: int, seeds: int) -> list[list[float]]:
    """Return the mean share found by annealing (rows) and epochs (columns)."""
    table = []
    for mu in MUS:
        row = []
        for epochs in EPOCHS:
            shares = []
            for seed in range(seeds):
                X, f, support = design(n, p, true, seed)
                learner = FSAClassifier(true, annealing=mu, epochs=epochs)
                chosen = _quietly(
                    lambda X, y, _, learner=learner: learner.fit(X, y).selected_, X, f > 0, true
                )
                shares.append(share_found(chosen, support))
            row.append(float(np.mean(shares)))
        table.append(row)
    return table


def _schedule(desk: Desk, scope: Scope) -> str:
    n = scope.middle
    settings = {
        "p": scope.p,
        "true": scope.true,
        "seeds": scope.seeds,
        "n": n,
        "mus": MUS,
        "epochs": EPOCHS,
        "form": 1,
    }
    found = desk.part("schedule", settings, by_schedule, n, scope.p, scope.true, scope.seeds)
    rows = [[f"mu = {mu:g}", *(f"{share:.2f}" for share in row)] for mu, row in zip(MUS, found, strict=True)]
    return f"""\
## How fast features may go

Share found from {n:,} rows with the logistic loss, by annealing parameter and epochs. With mu = 0 the same
number goes after every epoch; with mu = 300 most go after the first.

{_report.table(["", *(f"{epochs} epochs" for epochs in EPOCHS)], rows)}
"""


def _easy(desk: Desk) -> str:
    n, p, true = EASY
    seeds = 2 if desk.quick else 20
    found = desk.part(
        "reference", {"easy": EASY, "seeds": seeds, "form": 1}, curve, "classes", n, p, true, seeds
    )
    rows = [[name, f"{found[name]:.3f}"] for name in METHODS["classes"]]
    return f"""\
## The reference point

{n:,} rows, {p} columns, {true} of them planted: a detection rate of about 1 is to be expected of annealing.

{_report.table(["method", "share found"], rows)}
"""


def _introduction(scope: Scope) -> str:
    return f"""\
The design of Barbu, She, Ding and Gramajo, *Feature Selection with Annealing*, 2017: every column is a common
factor plus noise of its own, so that any two correlate by .5, and every tenth counts, with a weight of 1,
until {scope.true} do. A class is the sign of their sum; a number is the sum plus standard noise. Every method
is told how many features to choose. What counts is the share of the planted ones among them, as a mean over
{scope.seeds} data sets a point; choosing at random finds {scope.true / scope.p:.2f}.

Because of the common factor every column correlates with the target, planted or not, so that a column on its
own says little: methods that look at columns one by one need many more rows.
"""


_TITLES = {"classes": "two classes", "numbers": "a number to predict"}
_COMMENTS = {
    "classes": """\
L1 is the sparsest model with as many features, found by bisection of its penalty; it keeps features that
stand in for others. To the squared loss a row far on the right side is as wrong as one on the other side, so
that of the losses of annealing it is the one not to choose for classes.
""",
    "numbers": """\
The lasso's features are the first on its path.
""",
}
