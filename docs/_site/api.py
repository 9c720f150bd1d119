"""The API by family: every public name, from docstrings."""

import importlib
import inspect

from streamsieve import _exports, registry

#: What each public module is for, in the order of the page.
MODULES = {
    "base": "base classes of selectors",
    "selecting": "the one-line door",
    "choosing": "a method by what the data look like",
    "column_types": "numeric, ordinal, nominal, binary",
    "sources": "where streams come from",
    "running": "a stream to its end, with checkpoints",
    "engines": "one stream learned in parts by processes, Dask or Spark",
    "adapters": "selectors as steps of river's and Spark's pipelines",
    "ledger": "why each feature was kept, rejected or evicted",
    "evaluation": "comparing selectors: protocols, tests, pictures, reports",
    "datasets": "data by name",
    "criteria": "scores over a summary",
    "summaries": "what is remembered of streaming rows",
    "dependence": "how strongly columns depend on each other",
    "independence": "tests of independence",
    "decisions": "what became of a block of columns",
    "lazy_p_values": "p-values that are computed on access",
    "feature_names": "the names of columns that arrive one after another",
    "state": "how states are declared, written and read",
    "protocols": "the vocabulary: batches, blocks, decisions, traits",
    "exceptions": "errors and warnings",
    "registry": "what there is, by name",
    "testing": "checks for parts of your own",
}
#: What is imported from a module below, because it needs a library of its own.
BELOW = {"adapters": ["river.RiverSelector", "spark.SparkSelector"], "engines": ["spark.into"]}
#: Of a class; scikit-learn documents the two that route metadata.
MEMBERS = "\n   :members:\n   :exclude-members: set_fit_request, set_partial_fit_request"
#: Families whose members have a card each.
CARDED = ("rows", "columns", "offline", "learners")


def pages() -> dict[str, str]:
    """Return a page per public module, and the page that lists all names."""
    listed = {name: names_of(name) + BELOW.get(name, []) for name in MODULES}
    listed["running"] += _from_private_modules()
    modules = {f"reference/api/{name}.md": _page(name, names) for name, names in listed.items() if names}
    return {**modules, "reference/api/index.md": _index(listed)}


def _from_private_modules() -> list[str]:
    """Return the functions at the top level that no public module defines; they concern how things run."""
    return [name for name, module in _exports.EXPORTS.items() if module.startswith("_")]


def names_of(module: str) -> list[str]:
    """Return the public names that a module defines or re-exports."""
    found = importlib.import_module(f"streamsieve.{module}")
    homes = {name: f"{getattr(value, '__module__', '')}." for name, value in vars(found).items()}
    own = [
        name
        for name, home in homes.items()
        if not name.startswith("_") and home.startswith(f"{found.__name__}.")
    ]
    names = dict.fromkeys([*getattr(found, "__all__", []), *own])
    return [name for name in names if callable(getattr(found, name))]


def _page(module: str, names: list[str]) -> str:
    found = importlib.import_module(f"streamsieve.{module}")
    top = importlib.import_module("streamsieve")
    lines = [f"# streamsieve.{module}", "", (found.__doc__ or "").partition("\n")[0], ""]
    for name in names:
        value = None if "." in name else getattr(found, name, None) or getattr(top, name)
        kind = "class" if inspect.isclass(value) or name.endswith("Selector") else "function"
        members = MEMBERS if kind == "class" else ""
        if module == "criteria" and name in found.__all__:  # each has a card
            members = "\n   :no-index:\n   :no-members:"
        lines += [
            f"## {name}",
            "",
            f"```{{eval-rst}}\n.. auto{kind}:: {_full_name(module, name)}{members}\n```",
            "",
        ]
    return "\n".join(lines)


def _full_name(module: str, name: str) -> str:
    """Return the shortest public name."""
    home = _exports.EXPORTS.get(name, "")
    return f"streamsieve.{name}" if home == module or home.startswith("_") else f"streamsieve.{module}.{name}"


def _index(listed: dict[str, list[str]]) -> str:
    lines = ["# API", "", "Every public name. `import streamsieve as ss` has the most used ones.", ""]
    lines += ["## At the top level", "", "| name | where |", "|---|---|"]
    carded = {cls.__name__: name for name, cls in registry.selectors().items()}
    for name, module in _exports.EXPORTS.items():
        if name in carded:
            link = f"[card](/methods/{carded[name]}.md)"
        elif module in CARDED:
            link = "[learners](/methods/index.md)"
        else:
            page = "running" if module.startswith("_") else module
            link = f"[streamsieve.{page}]({page}.md)"
        lines.append(f"| `ss.{name}` | {link} |")
    lines += ["", "## Modules", "", "| module | what it holds |", "|---|---|"]
    lines += [
        f"| [streamsieve.{name}]({name}.md) | {MODULES[name]} |" for name, names in listed.items() if names
    ]
    toctree = [name for name, names in listed.items() if names]
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *toctree, "```", ""])
