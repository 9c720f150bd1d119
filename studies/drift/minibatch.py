"""Fading by row against fading by minibatch, on the same streams."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np

from streamsieve.protocols import FloatArray
from streamsieve.rows import Screen
from studies import _report
from studies._desk import Desk
from studies.drift._stream import ALPHAS, MINIBATCH, SHIFTS, FadedByMinibatch, Size, rates, screens

#: Differences on the same stream scatter little: a few streams do.
SEEDS = 4
FADING = ALPHAS[:-1]
_BY_ROW = math.log(0.5) / math.log(0.9)


def section(desk: Desk, size: Size) -> str:
    """Compute and compare."""
    differences = {shift: _differences(desk, size, shift) for shift in SHIFTS}
    lines = [
        [f"{shift:,}", *(f"{a:+.4f} / {b:+.4f}" for a, b in values.mean(axis=0))]
        for shift, values in differences.items()
    ]
    every = np.concatenate([values.ravel() for values in differences.values()])
    most, few = size.tops
    return f"""\
## Fading by row instead of by minibatch

Within a minibatch the thesis weighs all rows alike and then multiplies everything by alpha; a half-life lets
every row weigh a little more than the one before it, so that batches of any size give the same result. Both
on the same {min(SEEDS, size.seeds)} streams, the rate by row less the rate by minibatch, at {most} / {few}:

{_report.table(["l", *(f"alpha {alpha:g}" for alpha in FADING)], lines)}
Mean of all {every.mean():+.4f}, standard deviation {every.std():.4f}, largest
{every[np.argmax(np.abs(every))]:+.3f}. The two differ little because a row's two weights differ by a factor
of at most 1 / alpha: at alpha = .9, the newest of {MINIBATCH} rows weighs up to 11 % more than the oldest,
instead of as much.

The same factor a *row* is another matter: alpha = .9 a row is a half-life of {_BY_ROW:.1f} rows, and finds
{_by_row(desk, size):.2f} at {most} when a feature changes every {SHIFTS[-1]:,} rows; guessing finds
{most / size.n_features:.2f}.
"""


def _by_row(desk: Desk, size: Size) -> float:
    """Return the detection rate of a factor of .9 a row."""

    def compute() -> float:
        screen = Screen("t", k=size.tops[0], half_life=_BY_ROW, ledger="none")
        ((rate,),) = rates(size.stream(SHIFTS[-1], 0), {"row": screen}, size.tops[:1]).values()
        return rate

    return float(desk.part("a factor of .9 a row", {"size": asdict(size)}, compute))


def _differences(desk: Desk, size: Size, shift: int) -> FloatArray:
    """Return rates by row less those by minibatch, (seed, alpha, top)."""

    def compute(seed: int) -> list[list[float]]:
        k = size.tops[0]
        both = {f"row {name}": screen for name, screen in screens(FADING, k).items()}
        slow = {
            f"minibatch {alpha:g}": FadedByMinibatch(Screen("t", k=k, ledger="none"), alpha)
            for alpha in FADING
        }
        found = rates(size.stream(shift, seed), both | slow, size.tops)
        by_row, by_minibatch = (np.array([found[name] for name in kind]) for kind in (both, slow))
        differences: list[list[float]] = (by_row - by_minibatch).tolist()
        return differences

    settings = {"size": asdict(size), "alphas": FADING}
    names = [f"row or minibatch, a shift every {shift} rows, seed {s}" for s in range(min(SEEDS, size.seeds))]
    return np.array(desk.together([(name, settings, compute, seed) for seed, name in enumerate(names)]))
