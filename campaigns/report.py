"""The page of evidence, written by the campaigns themselves."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from campaigns.outcome import KINDS, Tally

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "evidence"
HEAD = """# Reliability: what was tried to break it

Written by `python -m campaigns --write`; do not edit. Each row is the last run of a campaign. *Progressed*
counts the cases that came far enough for their outcome to mean something: a kill after a checkpoint, a forged
file that was read past its checksum, a program of several operations. *Held* and *refused* are what must
happen; all columns after them must be 0.

| campaign | goal | tried | steps | progressed | {kinds} | seconds | command | run on |
| --- | --- | ---: | ---: | ---: | {dashes} | ---: | --- | --- |
"""


def store(tally: Tally) -> None:
    """Keep the counts of a campaign and write the page."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / "reliability.json"
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    known[tally.campaign] = {
        "goal": tally.goal,
        "tried": tally.tried,
        "steps": tally.amount,
        "progressed": tally.progressed,
        "counts": {kind: tally.counts[kind] for kind in KINDS},
        "seconds": round(tally.seconds),
        "seed": tally.seed,
        "minutes": tally.minutes,
        "on": f"{datetime.now(UTC):%Y-%m-%d}, {_versions()}",
    }
    path.write_text(json.dumps(known, indent=1) + "\n")
    rows = [_row(name, facts) for name, facts in known.items()]
    head = HEAD.format(kinds=" | ".join(KINDS), dashes=" | ".join("---:" for _ in KINDS))
    (FOLDER / "reliability.md").write_text(head + "\n".join(rows) + "\n")


def _row(name: str, facts: dict[str, Any]) -> str:
    counts = " | ".join(f"{facts['counts'][kind]:,}" for kind in KINDS)
    minutes = f" --minutes {facts['minutes']:g}" if "minutes" in facts else ""
    command = f"`python -m campaigns {name} --seed {facts['seed']}{minutes}`"
    return (
        f"| {name} | {facts['goal']} | {facts['tried']:,} | {facts['steps']:,} | {facts['progressed']:,} "
        f"| {counts} | {facts['seconds']:,} | {command} | {facts['on']} |"
    )


def _versions() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    return f"Python {platform.python_version()}, {packages}"
