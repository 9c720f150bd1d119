"""Half-life against rate of drift, as a heat map."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from streamsieve.evaluation import plots
from streamsieve.protocols import FloatArray
from streamsieve.rows import Screen
from studies._desk import Desk
from studies.drift._stream import Size, rates

SHIFTS = (125, 250, 500, 1000, 2000, 4000)
LIVES = (400, 800, 1600, 3200, 6400, 12_800, 25_600, None)
SEEDS = 3


def section(desk: Desk, size: Size) -> str:
    """Compute and draw."""
    grid = np.array([_row(desk, size, shift) for shift in SHIFTS])
    k = size.tops[1]
    figure = plots.heat_map(grid, LIVES, SHIFTS, title=f"relevant features among the {k} best")
    caption = (
        f"T-score, detection rate at {k}, mean of {min(SEEDS, size.seeds)} streams. The best half-life for "
        "each rate of drift is framed. After figure 3.2, bottom right, of the thesis."
    )
    best = [_words(LIVES[j]) for j in grid.argmax(axis=1).tolist()]
    words = ", ".join(f"{life} at l = {shift:,}" for shift, life in zip(SHIFTS, best, strict=True))
    short = grid[:, LIVES.index(1600)]
    wins = [f"{shift:,}" for shift, a, b in zip(SHIFTS, short, grid[:, -1], strict=True) if a > b]
    losses = [f"{shift:,}" for shift, a, b in zip(SHIFTS, short, grid[:, -1], strict=True) if a <= b]
    return f"""\
## Which half-life for which drift

{desk.picture("drift_heat_map", figure, caption)}
Best half-life: {words}. The slower the drift, the longer the memory should be.

The thesis reports that screens that forget win at every rate of drift. That holds if the factor is tuned to
the rate. A half-life of 1,600 rows (alpha = .9 a minibatch, the factor its text names) beats no forgetting at
l = {", ".join(wins) or "none"}, and loses at l = {", ".join(losses) or "none"}.
"""


def _words(life: float | None) -> str:
    return "no forgetting" if life is None else f"{life:,}"


def _row(desk: Desk, size: Size, shift: int) -> FloatArray:
    """Return the detection rates at one rate of drift, one a half-life."""
    k = size.tops[1]

    def compute(seed: int) -> list[float]:
        kinds = {str(life): Screen("t", k=k, half_life=life, ledger="none") for life in LIVES}
        return [rate for (rate,) in rates(size.stream(shift, seed), kinds, (k,)).values()]

    settings = {"size": asdict(size), "lives": LIVES}
    names = [f"heat map, a shift every {shift} rows, seed {seed}" for seed in range(min(SEEDS, size.seeds))]
    found = desk.together([(name, settings, compute, seed) for seed, name in enumerate(names)])
    mean: FloatArray = np.mean(found, axis=0)
    return mean
