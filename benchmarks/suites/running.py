"""Streams with checkpoints: how long they stall, and what share of the time they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks._cases import Race, Size, case
from benchmarks._checkpoint import Figures, dense_quantiles, measure, sparse_moments

#: Seconds between two checkpoints.
EVERY = 10.0

_measured: dict[str, Figures] = {}


def _states(_: Size) -> dict[str, str]:
    return {"quantiles": "quantiles", "moments of 2 million sparse features": "moments"}


@case("a checkpoint stalls the stream, ", over=_states, bar="ours <= 0.5 s")
def stall(size: Size, kind: str) -> Race:
    figures = _figures(size, kind)
    note = (
        f"{figures.state_bytes / 1e6:.0f} MB of state; the longest time between two batches in which it was "
        f"copied; written beside the stream in {figures.write:.2f} s"
    )
    return Race(lambda: None, note=note, measured=lambda: (figures.stall, None))


@case("a checkpoint every 10 s, ", over=_states, bar="ours <= 1.05x")
def cost(size: Size, kind: str) -> Race:
    figures = _figures(size, kind)
    note = (
        f"{figures.plain:.2f} s of the stream take {figures.kept:.2f} s if a checkpoint falls into them; the "
        f"difference, on top of {EVERY:.0f} s"
    )
    return Race(
        lambda: None, None, "without checkpoints", note=note,
        measured=lambda: (EVERY * (1 + figures.cost(EVERY)), EVERY),
    )  # fmt: skip


def _figures(size: Size, kind: str) -> Figures:
    """Measure once for both cases."""
    if kind not in _measured:
        make: Callable[..., Any] = dense_quantiles if kind == "quantiles" else sparse_moments
        maker, batches = make(p=size(2_000, 50) if kind == "quantiles" else size(2_000_000, 5_000))
        _measured[kind] = measure(maker, batches, grown=size(60, 3), rounds=size(10, 2))
    return _measured[kind]
