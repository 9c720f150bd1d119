"""Run one case: build it, race it, judge it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from benchmarks import _bars
from benchmarks._cases import Case, Race, Size
from benchmarks._measure import interleave, run_process

#: The figures that ``--json`` writes, in this order; the report adds the bar.
FIELDS = (
    "suite", "case", "ours_seconds", "peer", "peer_seconds", "speedup", "ours_peak_mb", "note",
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    """What came of a case."""

    suite: str
    case: str
    ours_seconds: float
    peer: str | None
    peer_seconds: float | None
    speedup: float | None
    ours_peak_mb: float | None
    note: str
    bar: str | None
    reached: bool | None
    quantity: str = "s"

    def figures(self) -> dict[str, Any]:
        """Return the public fields."""
        return {name: getattr(self, name) for name in FIELDS}


def run(case: Case, size: Size) -> Result:
    """Run a case; ``SkipCase`` goes through to the caller."""
    race = case.build(size)
    ours, peer = _raced(race, size) if race.measured is None else race.measured()
    note = _note(race, ours)
    reached = _bars.reached(case.bar, seconds=ours, peer_seconds=peer, work=race.work)
    peer_name, quantity = race.peer_name, race.quantity
    del race  # the data, before a second process builds its own
    return Result(
        suite=case.suite,
        case=case.name,
        ours_seconds=ours,
        peer=peer_name,
        peer_seconds=peer,
        speedup=None if peer is None else peer / ours,
        ours_peak_mb=_peak(case, size) if case.memory else None,
        note=note,
        bar=case.bar,
        reached=None if size.quick else reached,  # bars are about the real sizes
        quantity=quantity,
    )


def _raced(race: Race, size: Size) -> tuple[float, float | None]:
    if race.warm_up:
        race.ours()
    functions = [race.ours] if race.peer is None else [race.ours, race.peer]
    ours, *rest = interleave(*functions, rounds=size(race.rounds, min(race.rounds, 2)))
    return ours, rest[0] if rest else None


def _note(race: Race, seconds: float) -> str:
    text = race.note() if callable(race.note) else race.note
    rate = f"{_rate(race.work / seconds)} {race.unit}/s" if race.work else ""
    return "; ".join(part for part in (rate, text) if part)


def _rate(per_second: float) -> str:
    for word, size in (("billion", 1e9), ("million", 1e6)):
        if per_second >= size:
            return f"{per_second / size:.3g} {word}"
    return f"{per_second:,.0f}"


def _peak(case: Case, size: Size) -> float:
    command = [sys.executable, "-m", "benchmarks._peak", case.suite, case.name]
    return round(float(run_process([*command, *(["--quick"] if size.quick else [])])), 1)
