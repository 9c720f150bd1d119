"""Pairs and symmetric shapes: Passemiers' RING and XOR, by width; and noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold

import streamsieve as ss
from studies import _report
from studies._columns import cells
from studies._desk import Desk

ROWS, FOLDS, SEEDS = 1000, 6, 3
WIDTHS = (8, 32, 128, 512, 2048)
#: Streams of noise for the family-wise error rate, and their width.
NOISE, NOISE_WIDTH = 100, 128
#: Share of the relevant features among the best two, as published for the same generator, by width.
PUBLISHED = {
    "ring": {
        "random forest": (1, 1, 1, 1, 1),
        "mRMR": (1, 1, 1, 1, 1),
        "Relief": (1, 0.667, 0, 0, 0),
        "LassoNet": (1, 0.083, 0, 0, 0),
    },
    "xor": {
        "random forest": (1, 1, 0.167, 0.167, 0),
        "mRMR": (0.167, 0, 0, 0, 0),
        "Relief": (1, 1, 0.833, 0.167, 0),
        "LassoNet": (1, 1, 1, 1, 0),
    },
}
SELECTORS: dict[str, Callable[[], Any]] = {
    "InteractionScan()": ss.InteractionScan,
    "InteractionScan(bins=2, pool=500)": lambda: ss.InteractionScan(pool=500, bins=2),
}


def data(shape: str, p: int, seed: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return uniform columns on [0, 1], of which the first two make up the label, or none does ("noise")."""
    rng = np.random.default_rng([seed, p])
    X = rng.random((ROWS, p))
    a, b = X[:, 0] - 0.5, X[:, 1] - 0.5
    if shape == "ring":
        y = np.abs(np.hypot(a, b) - 0.35) <= 0.1151
    else:
        y = a * -b >= 0 if shape == "xor" else rng.random(ROWS) < 0.5
    return X, y.astype(np.int64)


def one_width(shape: str, p: int, seeds: int) -> dict[str, list[float]]:
    """Return by selector the share of the two relevant features kept, and the number of others kept.

    As published: means over the training parts of six folds, with the columns shuffled in each.
    """
    found: dict[str, list[list[float]]] = {name: [] for name in SELECTORS}
    for seed in range(seeds):
        X, y = data(shape, p, seed)
        rng = np.random.default_rng(seed)
        for rows, _ in KFold(FOLDS).split(X):
            order = rng.permutation(p)
            for name, make in SELECTORS.items():
                kept = order[make().fit(X[np.ix_(rows, order)], y[rows]).selected_]
                right = int(np.sum(kept < 2))
                found[name].append([right / 2, float(len(kept) - right)])
    return {name: np.mean(trials, axis=0).tolist() for name, trials in found.items()}


def noise(streams: int, p: int) -> dict[str, float]:
    """Return by selector the share of streams of noise of which anything is kept."""
    kept = dict.fromkeys(SELECTORS, 0)
    for seed in range(streams):
        X, y = data("noise", p, seed)
        for name, make in SELECTORS.items():
            kept[name] += int(len(make().fit(X, y).selected_) > 0)
    return {name: count / streams for name, count in kept.items()}


def run(desk: Desk) -> str:
    """Compute, and return the page."""
    widths, seeds = ((8,), 1) if desk.quick else (WIDTHS, SEEDS)
    streams, p = (2, 8) if desk.quick else (NOISE, NOISE_WIDTH)
    settings = {"form": 1, "rows": ROWS, "folds": FOLDS, "seeds": seeds, "selectors": [*SELECTORS]}
    parts = {
        (shape, width): (f"{shape} {width}", settings, one_width, shape, width, seeds)
        for shape in PUBLISHED
        for width in widths
    }
    results = dict(zip(parts, desk.together([*parts.values()]), strict=True))
    wrong = desk.part("noise", {**settings, "streams": streams, "width": p}, noise, streams, p)
    sections = [_shape(shape, widths, results) for shape in PUBLISHED]
    rows = {name: [f"{share:.2f}"] for name, share in wrong.items()}
    return _report.page(
        desk,
        "Pairs and symmetric shapes",
        _INTRODUCTION,
        *sections,
        f"## Noise\n\nShare of {streams} streams of {p} columns of noise, {ROWS:,} rows, of which anything "
        f"is kept; `alpha` is 0.05.\n\n{cells.table('selector', ['kept anything'], rows)}",
    )


def _shape(shape: str, widths: tuple[int, ...], results: dict[tuple[str, int], Any]) -> str:
    rows = {}
    for name in SELECTORS:
        both = [results[shape, width][name] for width in widths]
        rows[name] = [f"{right:.2f} ({others:.2f})" for right, others in both]
    for name, shares in PUBLISHED[shape].items():
        rows[f"{name}, published"] = [f"{share:.2f}" for share in shares[: len(widths)]]
    return f"## {shape.upper()}\n\n{cells.table('selector', [f'p = {w:,}' for w in widths], rows)}"


_INTRODUCTION = f"""\
The generator and protocol of Passemiers, Folco, Raimondi, Birolo, Moreau and Fariselli, *A quantitative
benchmark of neural network feature selection methods for detecting nonlinear signals*, 2024: {ROWS:,} rows of
columns uniform on [0, 1], of which two make up the label. RING is 1 within 0.1151 of a circle of radius 0.35
around the center, XOR in two opposite quarters of the square. Each cell is the share of the two that is kept,
a mean over the training parts of {FOLDS} folds of {SEEDS} data sets; in brackets, the mean number of other
columns kept. Published figures are the share of the two among a method's best two, from the authors'
repository (Feature-Selection-Benchmark), for one data set.
"""
