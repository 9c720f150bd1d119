"""``streamsieve methods``."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.table import Table

from streamsieve import registry
from streamsieve.protocols import Task


def rows() -> list[dict[str, Any]]:
    """Return one dict a method, from the registry alone."""
    found = []
    for name, cls in registry.selectors().items():
        traits = [variant.traits for variant in cls.variants()]
        tasks = {task for each in traits for task in each.tasks}
        found.append(
            {
                "method": name,
                "class": cls.__name__,
                "streams": registry.axis(cls),
                "target": ", ".join(task for task in Task if task in tasks),
                "sparse": all(each.sparse for each in traits),
                "missing": any(each.missing for each in traits),
                "weights": any(each.weights for each in traits),
                "merges": any(each.merges for each in traits),
                "what": (cls.__doc__ or "").strip().splitlines()[0],
            }
        )
    return found


def markdown() -> str:
    """Return the methods as a Markdown table, as docs/methods.md shows it."""
    marks = {True: "yes", False: ""}
    lines = [
        "| method | streams | target | sparse | NaN | weights | merges | what it does |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows():
        traits = " | ".join(marks[row[trait]] for trait in ("sparse", "missing", "weights", "merges"))
        lines.append(f"| `{row['class']}` | {row['streams']} | {row['target']} | {traits} | {row['what']} |")
    return "\n".join(lines)


def show(*, as_json: bool, as_markdown: bool) -> None:
    """Print the methods as a table, as JSON or as Markdown."""
    if as_json or as_markdown:
        print(json.dumps(rows(), indent=2) if as_json else markdown())  # noqa: T201
        return
    table = Table(box=None, pad_edge=False)
    for column in ("method", "streams", "target", "takes", "what it does"):
        table.add_column(column, overflow="fold", no_wrap=column == "method")
    for row in rows():
        takes = ", ".join(trait for trait in ("sparse", "missing", "weights", "merges") if row[trait])
        table.add_row(row["method"], row["streams"], row["target"], takes, row["what"])
    console = Console()
    console.print(table)
    console.print(f"\ncriteria of screen: {', '.join(registry.criteria())}")
