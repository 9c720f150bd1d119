"""Method cards: one page per selector, learner, criterion and online FDR procedure, from what the code says.

A card draws on the docstring (rendered by numpydoc), the traits, the benchmarks' results and the studies'
pages, so that nothing on it is written twice.
"""

import html
import inspect
import re
from typing import Any

from _site import docstrings, evidence, procedures, steps
from streamsieve import registry
from streamsieve.protocols import Task, Traits

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
#: How a family is fed.
STREAMS = {
    "rows": "rows: `partial_fit(X, y)`, `learn(batch)`, `learn_one(dict, y)`",
    "columns": "columns: `begin(y)`, then `offer(block)`",
    "offline": "nothing: `fit(X, y)` needs the whole matrix",
    "learners": "see the methods below",
    "criteria": "rows, as the criterion of [Screen](screen.md)",
}
#: A card has the width of its table of contents, too.
NO_CONTENTS = "---\nhtml_theme.sidebar_secondary.remove: true\n---"
NO_MEMBERS = "\n   :no-members:"


def pages() -> dict[str, str]:
    """Return all cards and the page that lists them by family."""
    families = _families()
    cards = {
        f"methods/{name}.md": _card(name, cls, family)
        for family, members in families.items()
        for name, cls in members.items()
    }
    return {**cards, **procedures.pages(), "methods/index.md": _index(families)}


def card_names() -> list[tuple[str, str, type[Any]]]:
    """Return file name, title and class of every card."""
    return [(name, _title(cls), cls) for members in _families().values() for name, cls in members.items()]


def _families() -> dict[str, dict[str, Any]]:
    families: dict[str, dict[str, Any]] = {family: {} for family in FAMILIES}
    for name, cls in registry.selectors().items():
        families[registry.axis(cls)][name] = cls
    families["learners"] = {_file_name(cls): cls for cls in registry.learners()}
    families["criteria"] = {f"criterion_{name}": cls for name, cls in registry.criteria().items()}
    return {
        family: dict(sorted(members.items(), key=lambda member: _title(member[1]).lower()))
        for family, members in families.items()
    }


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
        lines += ["", "```{toctree}", ":hidden:", f":caption: {FAMILIES[family]}", "", *members, "```", ""]
    return "\n".join([*lines, procedures.index(), ""])


def _title(cls: type[Any]) -> str:
    return f'Screen("{cls.name}")' if hasattr(cls, "needs") and hasattr(cls, "name") else cls.__name__


def _card(name: str, cls: type[Any], family: str) -> str:
    module = "streamsieve.criteria" if family == "criteria" else "streamsieve"
    parts = [
        NO_CONTENTS,
        f"# {_title(cls)}",
        _badges(cls, family),
        f'<p class="card-lead">{html.escape(first_line(cls).replace("``", ""))}</p>',
        steps.figure(name),
        f"## Formula\n\n{_rst(docstrings.marked(cls, docstrings.FORMULA))}",
        f"## When it fails\n\n{_rst(docstrings.marked(cls, docstrings.LIMITS))}",
        _streaming(name, cls, family),
        f"## Parameters and details\n\n{_rst(f'.. autoclass:: {module}.{cls.__name__}{NO_MEMBERS}')}",
        evidence.benchmarks(cls),
        evidence.studies(cls),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _rst(text: str) -> str:
    return f"```{{eval-rst}}\n{text}\n```"


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


def _streaming(name: str, cls: type[Any], family: str) -> str:
    """Return how the method streams, and how its cost grows."""
    lines = [("what streams", STREAMS[family])]
    if hasattr(cls, "variants") and family != "learners":
        traits = next(iter(cls.variants())).traits
        lines += list(_by_traits(traits, family))
    lines += evidence.cost(cls.__name__ if family == "learners" else name)
    table = ["| what | how |", "|---|---|", *(f"| {what} | {text} |" for what, text in lines)]
    note = (
        "Exponents are fitted over a factor of four with one thread by `python -m benchmarks.slopes`; "
        "fixed costs flatten them."
    )
    return "\n".join(["## How it streams, and what it costs", "", *table, "", note])


def _by_traits(traits: Traits, family: str) -> list[tuple[str, str]]:
    if family == "offline":
        return []
    pieces = "batches" if family == "rows" else "blocks"
    never = f"never changes the result: {pieces} may be of any size"
    lines = [(f"size of {pieces}", never if traits.any_chunking else "changes the result")]
    merges = "two states combine into the state of both streams" if traits.merges else "states do not merge"
    lines.append(("parts of a stream", merges))
    if traits.defers:
        lines.append(("decisions", "some are deferred until later columns have come"))
    return lines
