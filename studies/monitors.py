"""Drift monitors on streams whose relevant features are known: delay, false alarms, what is selected."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve.evaluation import plots
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.rows import Screen
from studies import _report
from studies._desk import Desk
from studies._parts import Part

FEATURES, RELEVANT = 20, 5
#: Difference of the class means of a relevant feature, in standard deviations.
EFFECT = 0.5
SCREENS: dict[str, dict[str, Any]] = {
    "never forgets": {},
    "half_life=200": {"half_life": 200},
    "half_life=2000": {"half_life": 2000},
    "on_drift (glr, 100 rows)": {"on_drift": "reset"},
    "glr, 50 rows": {"on_drift": "reset", "drift_every": 50},
    "glr, 1000 rows": {"on_drift": "reset", "drift_every": 1000},
    "page_hinkley, 50 rows": {"on_drift": "reset", "detector": "page_hinkley", "drift_every": 50},
    "page_hinkley, 1000 rows": {"on_drift": "reset", "detector": "page_hinkley"},
}
DRAWN = ("never forgets", "half_life=200", "on_drift (glr, 100 rows)", "page_hinkley, 1000 rows")
KINDS = {
    "abrupt, 5 of 5": (5, "abrupt"),
    "abrupt, 3 of 5": (3, "abrupt"),
    "abrupt, 1 of 5": (1, "abrupt"),
    "gradual, 5 of 5": (5, "gradual"),
    "recurring, 5 of 5": (5, "recurring"),
}
LOOKS = 100
#: Of longer streams there is one of each kind.
LONG = 100_000


def run(desk: Desk) -> str:
    """Compute, draw, and return the page."""
    lengths, seeds = ((400, 800), 1) if desk.quick else ((2_000, 20_000, 200_000), 5)
    still = 2_000 if desk.quick else 100_000
    parts: list[Part] = [
        (f"{kind}, {n} rows", {"n": n, "seeds": of, "form": 1}, swapped, *KINDS[kind], n, of)
        for n in lengths
        for of in [1 if n > LONG else seeds]
        for kind in KINDS
    ]
    parts.append((f"no drift, {still} rows", {"seeds": seeds, "form": 1}, stationary, still, seeds))
    found = dict(zip([str(part[0]) for part in parts], desk.together(parts), strict=True))
    return _report.page(
        desk,
        "Monitors of drift",
        _INTRODUCTION,
        *(_section({kind: found[f"{kind}, {n} rows"] for kind in KINDS}, n) for n in lengths),
        _stationary(found[f"no drift, {still} rows"], still, seeds),
        _curves(desk, lengths[1]),
    )


def stream(n: int, moved: int, how: str, seed: int) -> tuple[FloatArray, IntArray, list[list[int]]]:
    """Return rows, labels, and the relevant features of every row's concept: the first, then the second."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, FEATURES)), rng.integers(0, 2, n)
    concepts = [[*range(RELEVANT)], [*range(moved, RELEVANT), *range(RELEVANT, RELEVANT + moved)]]
    second = _second(n, how, rng)
    for which, relevant in enumerate(concepts):
        rows = np.flatnonzero(second == which)
        X[np.ix_(rows, relevant)] += EFFECT * y[rows, None]
    return X, y, concepts


def _second(n: int, how: str, rng: np.random.Generator) -> Any:
    """Whether each row is of the second concept; it is at the end."""
    share = np.arange(n) / n
    if how == "abrupt":
        return share >= 0.5
    if how == "recurring":  # first, second, first, second
        return (share * 4).astype(int) % 2 == 1
    return rng.random(n) < np.clip((share - 0.25) / 0.5, 0, 1)


def swapped(moved: int, how: str, n: int, seeds: int) -> dict[str, list[float]]:
    """Return, by screen, the mean number of features right at the end, alarms, and rows until the first."""
    out: dict[str, list[list[float]]] = {}
    begins = n // 4 if how != "abrupt" else n // 2
    for seed in range(seeds):
        X, y, concepts = stream(n, moved, how, seed)
        for name, parameters in SCREENS.items():
            screen = Screen("f", k=RELEVANT, ledger="none", **parameters).fit(X, y)
            rows = sorted({drift.row for drift in screen.drift_})
            late = next((float(row - begins) for row in rows if row > begins), np.nan)
            right = len({*screen.selected_.tolist()} & {*concepts[1]})
            out.setdefault(name, []).append([right, len(rows), late])
    return {name: _means(found) for name, found in out.items()}


def _means(found: list[list[float]]) -> list[float]:
    right, alarms, late = np.array(found).T
    noticed = late[np.isfinite(late)]
    return [float(right.mean()), float(alarms.mean()), float(np.median(noticed)) if len(noticed) else -1.0]


def stationary(n: int, seeds: int) -> dict[str, float]:
    """Return the mean number of alarms of each monitor in streams without drift."""
    alarms = dict.fromkeys((name for name, given in SCREENS.items() if "on_drift" in given), 0.0)
    for seed in range(seeds):
        X, y, _ = stream(n, 0, "abrupt", 1000 + seed)
        for name in alarms:
            drifts = Screen("f", k=RELEVANT, ledger="none", **SCREENS[name]).fit(X, y).drift_
            alarms[name] += len({drift.row for drift in drifts}) / seeds
    return alarms


# ------------------------------------------------------------------------------------ the page

_INTRODUCTION = f"""\
{RELEVANT} of {FEATURES} normal features differ between two classes by {EFFECT:g} standard deviations.
Others take their place half way (abrupt), row by row from a quarter to three quarters of the stream
(gradual), or in turns, four concepts of equal length (recurring); the first column has the
number of features replaced. `Screen("f", k={RELEVANT})` with the parameters named. A cell has the number of
selected features that are right at the end, mean of five streams (one of 200,000 rows); in parentheses the
alarms, and the median number of rows from the beginning of the drift to the first. An alarm is a row at
which one or more features were restarted.
"""


def _section(found: dict[str, dict[str, list[float]]], n: int) -> str:
    rows = [[kind, *(_cell(name, by_screen[name]) for name in SCREENS)] for kind, by_screen in found.items()]
    return f"## {n:,} rows\n\n{_report.table(['drift', *SCREENS], rows)}"


def _cell(name: str, found: list[float]) -> str:
    right, alarms, late = found
    if "on_drift" not in SCREENS[name]:
        return f"{right:.1f}"
    return f"{right:.1f} ({alarms:.1f}{f'; {late:,.0f}' if late >= 0 else ''})"


def _stationary(found: dict[str, float], n: int, seeds: int) -> str:
    rows = [[name, f"{alarms:.1f}"] for name, alarms in found.items()]
    table = _report.table(["monitor", "alarms"], rows)
    return f"## No drift\n\nAlarms in {n:,} rows without drift, mean of {seeds} streams.\n\n{table}"


def _curves(desk: Desk, n: int) -> str:
    """Draw what is selected over time; a few seconds, so nothing is stored."""
    X, y, concepts = stream(n, RELEVANT, "abrupt", seed=0)
    every = n // LOOKS
    rows = np.arange(every, n + 1, every)
    tops: dict[str, list[IntArray]] = {}
    for name in DRAWN:
        screen = Screen("f", k=RELEVANT, ledger="none", **SCREENS[name])
        tops[name] = [
            screen.partial_fit(X[row - every : row], y[row - every : row]).selected_ for row in rows.tolist()
        ]
    truths = [np.array(concepts[int(row > n // 2)]) for row in rows.tolist()]
    figure = plots.detection(
        rows, tops, truths, [n // 2], n_features=FEATURES, title="Total swap at half time"
    )
    caption = f"Share of the relevant features selected, {n:,} rows, all {RELEVANT} replaced at half time."
    return f"## Over time\n\n{desk.picture('monitors', figure, caption)}"
