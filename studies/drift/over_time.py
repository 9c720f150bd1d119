"""Detection rate over time, for a few half-lives."""

from __future__ import annotations

from streamsieve.evaluation import plots, track
from streamsieve.rows import Screen
from studies._desk import Desk
from studies.drift._stream import Size, truths

SHIFT_EVERY = 250
LIVES = (800, 3200, 12_800)
LOOKS = 100


def section(desk: Desk, size: Size) -> str:
    """Draw; a few seconds, so nothing is stored."""
    k = size.tops[1]
    stream = size.stream(SHIFT_EVERY, seed=0)
    kinds = {f"half-life {life:,} rows": Screen("t", k=k, half_life=life, ledger="none") for life in LIVES}
    kinds["never forgets"] = Screen("t", k=k, ledger="none")
    seen = track(stream, kinds, every=max(1, size.n_rows // LOOKS))
    figure = plots.detection(
        seen.rows,
        {name: shown.selected for name, shown in seen.screens.items()},
        truths(stream, seen.rows),
        range(SHIFT_EVERY, size.n_rows, SHIFT_EVERY),
        n_features=size.n_features,
        title=f"T-score, the {k} best, a shift every {SHIFT_EVERY} rows",
    )
    caption = "Detection rate over time. After figure 3.2, top, of the thesis."
    return f"""\
## Over time

{desk.picture("drift_over_time", figure, caption)}
A long memory does as well as any at the start, when little has changed, and worst once most of what it
remembers is no longer true. A short one is the same all the time: it never sees enough rows.
"""
