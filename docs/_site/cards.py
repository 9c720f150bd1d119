"""Method cards: one page per selector, learner, criterion and online FDR procedure, from what the code says.

A card draws on the docstring (rendered by numpydoc), the traits, the benchmarks' results and the studies'
pages, so that nothing on it is written twice.
"""

import inspect
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from streamsieve import registry
from streamsieve.protocols import Task

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = {
    "rows": "Streaming rows",
    "columns": "Streaming columns",
    "offline": "Offline baselines",
    "learners": "Learners",
    "criteria": "Criteria of Screen",
}
TRAITS = {
    "sparse": "sparse input",
    "missing": "missing values",
    "text": "text as categories",
    "weights": "sample weights",
    "merges": "merges",
    "grouped_rows": "groups of rows",
    "dependent_rows": "time series",
}


def pages() -> dict[str, str]:
    """Return all cards and the page that lists them by family."""
    families: dict[str, dict[str, Any]] = {family: {} for family in FAMILIES}
    for name, cls in registry.selectors().items():
        families[registry.axis(cls)][name] = cls
    families["learners"] = {_file_name(cls): cls for cls in registry.learners()}
    families["criteria"] = {f"criterion_{name}": cls for name, cls in registry.criteria().items()}
    cards = {
        f"methods/{name}.md": _card(cls, family)
        for family, members in families.items()
        for name, cls in members.items()
    }
    return {**cards, "methods/index.md": _index(families)}


def first_line(cls: type[Any]) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(cls) or "").partition("\n")[0]


def _file_name(cls: type[Any]) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()


def _index(families: dict[str, dict[str, Any]]) -> str:
    lines = [
        "# Methods",
        "",
        "One card per method. [Choose a method](/choose.md) says which to start with.",
        "",
    ]
    for family, members in families.items():
        lines += [f"## {FAMILIES[family]}", "", "| method | what it is |", "|---|---|"]
        lines += [f"| [{_title(cls)}]({name}.md) | {first_line(cls)} |" for name, cls in members.items()]
        lines += ["", "```{toctree}", ":hidden:", "", *members, "```", ""]
    return "\n".join(lines)


def _title(cls: type[Any]) -> str:
    return f'Screen("{cls.name}")' if hasattr(cls, "needs") and hasattr(cls, "name") else cls.__name__


def _card(cls: type[Any], family: str) -> str:
    module = "streamsieve.criteria" if family == "criteria" else "streamsieve"
    parts = [
        f"# {_title(cls)}",
        _badges(cls, family),
        f"```{{eval-rst}}\n.. autoclass:: {module}.{cls.__name__}\n   :no-members:\n```",
        _benchmarks(cls),
        _studies(cls),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _badges(cls: type[Any], family: str) -> str:
    if not hasattr(cls, "variants"):
        return f"{{bdg-primary}}`{FAMILIES[family]}`"
    traits = [variant.traits for variant in cls.variants()]
    tasks = [task for task in Task if any(task in each.tasks for each in traits)]
    able = [word for trait, word in TRAITS.items() if any(getattr(each, trait) for each in traits)]
    badges = [f"{{bdg-primary}}`{FAMILIES[family]}`"]
    badges += [f"{{bdg-secondary}}`{task}`" for task in tasks]
    badges += [f"{{bdg-light}}`{word}`" for word in able]
    return " ".join(badges)


@cache
def _results() -> list[dict[str, Any]]:
    suites = json.loads((ROOT / "benchmarks" / "results.json").read_text())
    return [row for suite in suites.values() for row in suite["results"]]


def _benchmarks(cls: type[Any]) -> str:
    """Return the benchmark cases that name the class."""
    rows = [
        row
        for row in _results()
        if re.search(rf"\b{cls.__name__}\b", row["case"]) and row["suite"] != "scaling"
    ]
    if not rows:
        return ""
    lines = ["## Measured", "", "| case | time | peer | peer's time |", "|---|---|---|---|"]
    for row in rows:
        peer, theirs = row["peer"] or "", _time(row["peer_seconds"])
        lines.append(f"| {row['case']} | {_time(row['ours_seconds'])} | {peer} | {theirs} |")
    return "\n".join([*lines, "", "From [the benchmarks](/evidence/benchmarks.md), which name the machine."])


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


@cache
def _study_pages() -> dict[str, str]:
    return {page.name: page.read_text() for page in sorted((ROOT / "studies").glob("*.md"))}


def _studies(cls: type[Any]) -> str:
    """Return links to the studies that speak of the method."""
    names = {cls.__name__, getattr(cls, "method_name", lambda: cls.__name__)()}
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
    found = [name for name, text in _study_pages().items() if name != "RESULTS.md" and pattern.search(text)]
    if not found:
        return ""
    links = (
        f"- [{_study_pages()[name].partition(chr(10))[0].lstrip('# ')}](/evidence/studies/{name.lower()})"
        for name in found
    )
    return "\n".join(["## Studied", "", *links])
