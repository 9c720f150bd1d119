"""``results.json``, and ``RESULTS.md`` rendered from it.

The JSON is keyed by suite, so that running one suite again replaces its section and leaves the others,
each with the date and machine it was measured on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks._console import cells
from benchmarks._measure import PATIENCE
from benchmarks._run import Result

FOLDER = Path(__file__).resolve().parent
HEADINGS = ("case", "ours", "peer", "peer's", "speedup", "peak MB", "bar", "reached", "note")
_INTRODUCTION = f"""\
# Benchmarks

Written by `python -m benchmarks`; do not edit. Every case runs ours and its peer in one process, in turn,
several rounds, and the best of each counts (what has used {PATIENCE:.0f} s already is not run again). *Peak
MB* is the growth of resident memory while ours runs, in a fresh process, where memory matters. A case
without a bar is there to inform.
"""
_REPRODUCE = """\
## Reproduce

On a quiet machine, from the root of the repository:

```
make bench                                             # everything; rewrites this file
python -m benchmarks --suite rows columns              # only these sections
python -m benchmarks --quick                           # does it run? tiny sizes, writes nothing here
STREAMSIEVE_DATA=/path/to/npz python -m benchmarks     # with the cases on real data
```
"""


def section(
    results: Sequence[Result], missing: Mapping[str, str], *, machine: str, load: str
) -> dict[str, Any]:
    """Return one suite's part of ``results.json``.

    Parameters
    ----------
    results : what was measured
    missing : cases without figures, and why
    machine, load : what it was measured on, and how busy that was
    """
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine,
        "load": load,
        "results": [asdict(result) for result in results],
        "missing": dict(missing),
    }


def store(suite: str, part: Mapping[str, Any], folder: Path = FOLDER) -> None:
    """Replace one suite's section in ``results.json`` and render ``RESULTS.md`` anew."""
    path = folder / "results.json"
    sections = json.loads(path.read_text("utf-8")) if path.exists() else {}
    sections[suite] = part
    path.write_text(json.dumps(sections, indent=1, sort_keys=True) + "\n", "utf-8")
    (folder / "RESULTS.md").write_text(render(sections), "utf-8")


def render(sections: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the Markdown of all sections."""
    newest = max(sections.values(), key=lambda part: part["date"])
    parts = [_INTRODUCTION, f"Machine: {newest['machine']}. Last run: {newest['date']}.\n"]
    for suite, part in sorted(sections.items()):
        parts.append(_section(suite, part, newest["machine"]))
    return "\n".join([*parts, _REPRODUCE])


def _section(suite: str, part: Mapping[str, Any], machine: str) -> str:
    results = [Result(**row) for row in part["results"]]
    bars = [result.reached for result in results if result.reached is not None]
    reached = f" {sum(bars)} of {len(bars)} bars reached." if bars else ""
    elsewhere = "" if part["machine"] == machine else f" Machine: {part['machine']}."
    lines = [
        f"## {suite}",
        "",
        f"Measured {part['date']}, load average {part['load']} at the start.{elsewhere}{reached}",
        "",
        _line(HEADINGS),
        _line(["---"] * len(HEADINGS)),
        *(_line([*cells(result), result.note]) for result in results),
        "",
    ]
    lines += [f"- not measured: {name}: {why}" for name, why in part["missing"].items()]
    return "\n".join([*lines, ""] if part["missing"] else lines)


def _line(row: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
