"""``streamsieve methods``: the list of methods, and the details of one method."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from streamsieve import registry
from streamsieve._parameters import check_choice
from streamsieve.cli.output import say
from streamsieve.protocols import Task

#: Maximum number of characters per line.
WIDTH = 80
_HEADINGS = {
    "rows": "Rows stream in (select, screen)",
    "columns": "Columns stream in (select)",
    "offline": "The whole matrix (select)",
}
#: Types of target, one letter each.
_LETTERS = {Task.BINARY: "b", Task.MULTICLASS: "m", Task.REGRESSION: "r"}
#: Words before which a shortened sentence may end.
_JOINING = ("and", "by", "for", "from", "of", "or", "that", "with")
_SECTION = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)


def rows(axes: Sequence[str] = (), task: str | None = None) -> list[dict[str, Any]]:
    """Return one dict per method, from the registry alone; those of some axes, or for a task, if asked."""
    if task is not None:
        check_choice("--task", task, [str(each) for each in Task])
    found = []
    for name, cls in registry.selectors().items():
        traits = [variant.traits for variant in cls.variants()]
        tasks = {each for trait in traits for each in trait.tasks}
        if (axes and registry.axis(cls) not in axes) or (task is not None and task not in tasks):
            continue
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


def show(axes: Sequence[str], task: str | None, *, as_json: bool, as_markdown: bool) -> None:
    """Print the methods as a list, as JSON or as Markdown."""
    if as_json or as_markdown:
        print(json.dumps(rows(axes, task), indent=2) if as_json else markdown())  # noqa: T201
        return
    say(*_lines(rows(axes, task)))


def _lines(found: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a line per method, each within the width of a terminal."""
    wide = max((len(row["method"]) for row in found), default=0)
    for axis, heading in _HEADINGS.items():
        some = [row for row in found if row["streams"] == axis]
        if some:
            yield heading
        for row in some:
            letters = "".join(letter for task, letter in _LETTERS.items() if task in row["target"]) or "-"
            begin = f"  {row['method']:{wide}} {letters:3} {'n' if row['missing'] else ' '} "
            yield begin + _clause(row["what"], WIDTH - len(begin))
    yield "targets: b two classes, m several, r numbers; n: takes missing values"
    yield "streamsieve methods NAME shows parameters, defaults, paper and an example"


def _clause(text: str, room: int) -> str:
    """Return as much of a sentence as fits, up to the end of a clause, or of a phrase that needs no more."""
    text = text.rstrip(".")
    if len(text) <= room:
        return text
    head = text[: room + 1]
    cut = max(head.rfind(mark) for mark in (":", ",", ";", " ("))
    if head[:cut].count("(") > head[:cut].count(")"):  # not within parentheses
        cut = head.rfind(" (")
    if cut <= room // 3:
        cut = max(head.rfind(f" {word} ") for word in _JOINING)
    return head[:cut]


# ------------------------------------------------------------------------------------ one method


def explain(name: str, *, as_json: bool) -> None:
    """Print everything about a method: what it does, its parameters, its paper, an example."""
    cls = registry.selector(name)
    (facts,) = [row for row in rows() if row["method"] == cls.method_name()]
    parts = _sections(inspect.getdoc(cls) or "")
    parameters = cls().get_params(deep=False)
    if as_json:
        print(json.dumps({**facts, "parameters": {k: repr(v) for k, v in parameters.items()}}, indent=2))  # noqa: T201
        return
    takes = [trait for trait in ("sparse", "missing", "weights", "merges") if facts[trait]]
    say(
        f"{facts['method']} (ss.{facts['class']}), {facts['streams']}",
        *_wrapped(parts.pop("")),
        "",
        f"target    {facts['target'] or 'not needed'}",
        f"takes     {', '.join(takes) or 'dense values, none missing'}",
        "",
        "Parameters (--param NAME=VALUE)",
        *_reflowed(parts.pop("Parameters", "")),
    )
    for heading in ("Notes", "References"):
        if heading in parts:
            say("", heading, *_wrapped(parts[heading]))
    if "Examples" in parts:
        say("", "Examples", *parts["Examples"].splitlines(), whole=True)
    say(
        "",
        f"streamsieve select t.csv --target y --method {facts['method']}{_example(parameters)}",
        whole=True,
    )


def _sections(text: str) -> dict[str, str]:
    """Return the sections of a numpydoc text by heading; what comes before them has none."""
    pieces = _SECTION.split(text)
    return {"": pieces[0].strip(), **{h: t.strip() for h, t in zip(pieces[1::2], pieces[2::2], strict=True)}}


def _wrapped(text: str) -> list[str]:
    paragraphs = text.split("\n\n")
    return [line for p in paragraphs for line in ("", *textwrap.wrap(" ".join(p.split()), WIDTH))][1:]


def _reflowed(text: str) -> Iterator[str]:
    """Yield a list of parameters, wrapped to the width of a terminal."""
    for entry in re.split(r"\n(?=\S)", text):
        head, _, about = entry.partition("\n")
        yield from textwrap.wrap(head, WIDTH, subsequent_indent="    ")
        yield from textwrap.wrap(
            " ".join(about.split()), WIDTH, initial_indent="    ", subsequent_indent="    "
        )


def _example(parameters: dict[str, Any]) -> str:
    """Return a parameter to try."""
    if "k" in parameters:
        return " --param k=5"
    return " --param alpha=0.05" if "alpha" in parameters else ""
