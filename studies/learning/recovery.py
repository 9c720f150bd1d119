"""Are planted features found?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import streamsieve as ss
from studies import _report
from studies._desk import Desk

RATES = (0.005, 0.02, 0.05, 0.2, 1.0)
#: Support recovery from running averages: what the earlier study printed for 500 and 2,000 rows.
PRINTED = {
    "ofsa": (1.00, 1.00), "omcp": (1.00, 1.00), "olsth": (0.99, 1.00), "omp": (0.97, 1.00),
    "olasso": (0.81, 1.00), "screen": (0.56, 0.90),
}  # fmt: skip
#: What the library calls these models.
MODELS = {"ofsa": "fsa", "omcp": "mcp", "olsth": "ols_threshold", "olasso": "lasso"}
SEEDS = 10


def section(desk: Desk) -> str:
    """Return both tables."""
    quick = {"quick": desk.quick, "form": 1}
    planted = desk.part("planted", quick, classes, desk.quick)
    support = desk.part("support", {**quick, "seeds": SEEDS}, factor_design, desk.quick)
    return _planted(planted) + _support(support)


# ------------------------------------------------------------------------------------ classes


def _two_classes(n: int, p: int, true: int, seed: int) -> tuple[Any, Any]:
    """Return rows in which the first features add up to the log-odds of the class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    odds = X[:, :true].sum(axis=1)
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(np.int64)


def classes(quick: bool) -> dict[str, list[float]]:  # noqa: FBT001 - a stored part is called with its settings
    """Return how many of ten planted features are among the twenty chosen, by method and learning rate."""
    n, p, true, k = (400, 60, 10, 20) if quick else (5000, 1000, 10, 20)
    X, y = _two_classes(n, p, true, 0)
    makers: dict[str, Callable[[float], Any]] = {
        "BARDA": lambda rate: ss.BARDA(k, learning_rate=rate),
        "OFS": lambda rate: ss.OFS(k, learning_rate=rate),
        "MISSION": lambda rate: ss.MISSION(k, learning_rate=rate, width=4096),
        "FIRES": lambda rate: ss.FIRES(k, learning_rate_mean=rate),
    }
    found = {
        name: [float(np.sum(make(rate).fit(X, y).selected_ < true)) for rate in RATES]
        for name, make in makers.items()
    }
    for name, selector in (("Screen", ss.Screen("f", k=k)), ("SOFS", ss.SOFS(k))):
        found[name] = [float(np.sum(selector.fit(X, y).selected_ < true))] * len(RATES)
    return found


def _planted(found: dict[str, list[float]]) -> str:
    rows = [[name, *(f"{hits:.0f}" for hits in by_rate)] for name, by_rate in found.items()]
    return f"""
## Planted features

5,000 rows, 1,000 standard normal features of which 10 make up the log-odds of the class; how many of them are
among the 20 chosen, by learning rate (`Screen` and `SOFS` have none). Dual averaging forgets no gradient of a
feature that was dropped, so BARDA does not depend on the rate; OFS starts anew with every feature it drops.

{_report.table(["method", *(f"rate {rate:g}" for rate in RATES)], rows)}
"""


# ------------------------------------------------------------------------------------ regression


def factor_design(quick: bool) -> dict[str, list[float]]:  # noqa: FBT001
    """Return the share of true features among as many chosen, for 500 and 2,000 rows."""
    found: dict[str, list[float]] = {name: [] for name in PRINTED}
    for n in (100, 200) if quick else (500, 2000):
        for name, total in _hits(n, 2 if quick else SEEDS).items():
            found[name].append(total)
    return found


def _hits(n: int, seeds: int, p: int = 200, true: int = 20) -> dict[str, float]:
    shares: dict[str, list[float]] = {name: [] for name in PRINTED}
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
        support = np.arange(0, p, p // true)
        y = X[:, support].sum(axis=1) + 3 * rng.normal(size=n)
        for name, by_seed in shares.items():
            selector: Any = (
                ss.Screen("correlation", k=true)
                if name == "screen"
                else ss.RunningAverages(true, model=MODELS.get(name, name))
            )
            by_seed.append(float(np.isin(selector.fit(X, y).selected_, support).mean()))
    return {name: float(np.mean(by_seed)) for name, by_seed in shares.items()}


def _support(found: dict[str, list[float]]) -> str:
    rows = [
        [name, *(f"{ours:.2f}" for ours in found[name]), *(f"{theirs:.2f}" for theirs in PRINTED[name])]
        for name in PRINTED
    ]
    return f"""
## Support recovery from running averages

200 features that share a common factor, 20 of them with weight 1, noise of standard deviation 3; share of the
true ones among 20 chosen, mean of {SEEDS} streams, beside the figures of an earlier prototype.

{_report.table(["model", "500 rows", "2,000 rows", "earlier, 500", "earlier, 2,000"], rows)}
"""
