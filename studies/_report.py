"""Markdown that all studies share."""

from __future__ import annotations

import os
import platform
import textwrap
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib import metadata

from studies._desk import Desk

PACKAGES = ("streamsieve", "numpy", "scipy", "numba", "scikit-learn")
WIDTH = 110


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the first column is text, the others are numbers."""
    lines = [_line(headings), _line(["---", *["---:"] * (len(headings) - 1)]), *map(_line, rows)]
    return "\n".join(lines) + "\n"


def _line(row: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def page(desk: Desk, title: str, *sections: str) -> str:
    """Return a whole page: what was found, what is missing, how to get it again."""
    tiny = "*Made with --quick: the sizes are tiny and the figures mean nothing.*\n"
    absent = "".join(f"- {what}\n" for what in desk.missing)
    parts = [f"# {title}\n", *([tiny] if desk.quick else []), *sections]
    if absent:
        parts.append(f"## Not done\n\n{absent}")
    return "\n".join([*map(wrapped, parts), again(desk.study)])


def wrapped(text: str) -> str:
    """Return Markdown with its paragraphs and list items filled to equal lines, all else as it is."""
    return "\n\n".join(_filled(paragraph) for paragraph in text.strip("\n").split("\n\n")) + "\n"


def _filled(paragraph: str) -> str:
    if paragraph.startswith(("#", "|", "!")):
        return paragraph
    if paragraph.startswith("- "):
        items = paragraph[2:].split("\n- ")
        return "\n".join(_filled_lines(f"- {item}", "  ") for item in items)
    return _filled_lines(paragraph, "")


def _filled_lines(text: str, indent: str) -> str:
    return textwrap.fill(
        " ".join(text.split()),
        WIDTH,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def again(study: str) -> str:
    """Return how to reproduce a study, and with what it was made."""
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return f"""\
## Reproduce this page

```
python -m studies {study}            # goes on where it stopped; computes only what is missing
python -m studies {study} --fresh    # computes everything again
```

Written {datetime.now(UTC):%Y-%m-%d} with Python {platform.python_version()}, {versions}, on {cores} cores \
({platform.machine()}). Stored results: `studies/results/{study}.json`.
"""


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(absent)"
