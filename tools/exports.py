"""Write what follows from the files of the folders, so that a new method is written down once: in its class.

Run ``python -m tools.exports`` (``make exports``) after adding a class or a file.  It writes

- into the ``__init__`` of each folder of methods the import of a new method and its name in ``__all__``;
- into the table of a folder's docstring a row for a new file, with the first line of its docstring;
- ``streamsieve/_exports.py``, the table of ``docs/methods.md`` and the lists of the README.

A method is a public class whose docstring has a paragraph **Formula.**  Rows of tables are only added: how
they are grouped is up to the reader's eye.  Tests hold all of it equal to the folders.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import streamsieve
from streamsieve import registry
from streamsieve.cli import methods
from streamsieve.protocols import Task

#: Folders whose re-exports are public names of the package.
FOLDERS = ("rows", "columns", "offline", "learners", "sources", "base")
#: Folders whose files hold methods, and the heading of their list in the README.
METHODS = {
    "rows": "**Rows:**",
    "columns": "**Columns:**",
    "offline": "**Offline baselines** (need the full data set):",
    "learners": "**Learners:**",
    "criteria": "",
}
#: Names of other modules that are public as well.
SINGLE = {
    "load": "registry",
    "from_bytes": "registry",
    "run": "running",
    "select": "selecting",
    "threads": "_threads",
    "Ledger": "ledger",
    "Decision": "protocols",
}
ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "streamsieve"
TARGET = PACKAGE / "_exports.py"
#: Words for the targets that a criterion takes.
TARGETS = {
    frozenset({Task.BINARY}): "for two classes",
    frozenset({Task.BINARY, Task.MULTICLASS}): "for any number of classes",
    frozenset({Task.REGRESSION}): "for a numeric target",
    frozenset({Task.BINARY, Task.REGRESSION}): "for two classes or a numeric target",
    frozenset(Task): "for any target",
}
#: A line of the README is at most this long.
WIDTH = 130
_RULE = re.compile(r"^=+(?: +=+)+$", re.MULTILINE)


def rendered() -> str:
    """Return the text of ``_exports.py``."""
    names = dict(SINGLE)
    for folder in FOLDERS:
        for name in importlib.import_module(f"streamsieve.{folder}").__all__:
            if names.setdefault(name, folder) != folder:
                raise SystemExit(f"{name} is exported by {names[name]} and by {folder}: rename one of them")
    modules = sorted(m.name for m in pkgutil.iter_modules(streamsieve.__path__) if not m.name.startswith("_"))
    lines = [
        '"""Public names and the modules that define them; written by ``tools/exports.py``."""',
        "",
        "EXPORTS = {",
        *(f'    "{name}": "{names[name]}",' for name in sorted(names)),
        "}",
        "MODULES = (",
        *(f'    "{name}",' for name in modules),
        ")",
        "#: Names of the built-in criteria.",
        "# fmt: off",
        "CRITERIA = (",
        *(f'    "{name}",' for name in sorted(registry.criteria())),
        ")",
        "",
    ]
    return "\n".join(lines)


def methods_page(page: str) -> str:
    """Return the page on methods with a new table."""
    head, rest = page.split("-->\n", 1)
    return f"{head}-->\n{methods.markdown()}\n<!-- end of methods{rest.split('<!-- end of methods', 1)[1]}"


def readme(page: str) -> str:
    """Return the README with new lists of methods and criteria."""
    for folder, heading in METHODS.items():
        if heading:
            names = ", ".join(f"`{name}`" for name in _public(folder))
            page = _replaced(page, heading, f"{heading} {names}.")
    heading = "Criteria of `Screen`:"
    return _replaced(page, heading, f"{heading} {_criteria_by_task()}.")


def _public(folder: str) -> list[str]:
    return list(importlib.import_module(f"streamsieve.{folder}").__all__)


def _criteria_by_task() -> str:
    found: dict[str, list[str]] = {kind: [] for kind in TARGETS.values()}
    for name, cls in sorted(registry.criteria().items()):
        found[TARGETS[frozenset(cls.tasks)]].append(f"`{name}`")
    return "; ".join(f"{kind} {', '.join(names)}" for kind, names in found.items() if names)


def _replaced(page: str, heading: str, text: str) -> str:
    """Return the page with another paragraph in place of the one that begins with a heading."""
    wrapped = "\n".join(textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False))
    before, after = page.split(f"\n{heading}", 1)
    return f"{before}\n{wrapped}\n\n" + after.split("\n\n", 1)[1]


# ------------------------------------------------------------------------------------ the __init__ of folders


def with_methods(folder: Path, text: str) -> str:
    """Return the ``__init__`` of a folder with the imports and names of all its methods, unsorted."""
    package = ".".join(("streamsieve", *folder.relative_to(PACKAGE).parts))
    for module, name in methods_in(folder):
        line = f"from {package}.{module} import {name} as {name}\n"
        if not re.search(
            rf"^from {re.escape(package)}\.{module}(\.\w+)? import {name} as {name}$", text, re.MULTILINE
        ):
            at = text.index("\n__all__")
            text = f"{text[:at].rstrip()}\n{line}\n{text[at + 1 :]}"
            text = text.replace("__all__ = [", f'__all__ = ["{name}", ', 1)
    return text


def methods_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield every method in a folder: the file or folder below it, and the class."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and "**Formula.**" in (ast.get_docstring(node) or ""):
                yield path.relative_to(folder).with_suffix("").parts[0], node.name


def with_files(folder: Path, text: str) -> str:
    """Return the ``__init__`` of a folder with a row of its table for each file that its docstring lacks."""
    docstring = ast.get_docstring(ast.parse(text), clean=False) or ""
    table = docstring
    for path in sorted(folder.glob("[!_]*.py")):
        if path.stem not in set(re.findall(r"\w+", table)):
            first = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0].rstrip(".")
            table = with_row(table, path.stem, first)
    return text.replace(docstring, table, 1)


def with_row(docstring: str, name: str, what: str) -> str:
    """Return a docstring with one more row in its last table; the first column grows if need be."""
    lines = docstring.splitlines(keepends=True)
    rules = [at for at, line in enumerate(lines) if _RULE.fullmatch(line.rstrip())]
    if not rules:
        return docstring
    (_, end), (second, right), *_ = (match.span() for match in re.finditer("=+", lines[rules[-1]]))
    more = max(0, len(name) - end)
    begin = rules[-3] if len(rules) % 3 == 0 else rules[-2]
    for at in range(begin, rules[-1] + 1):
        fill = "=" if lines[at][0] == "=" else " "
        lines[at] = lines[at][:end] + fill * more + lines[at][end:]
    cells = textwrap.wrap(what, right - second)  # a row with an empty first cell continues the one above
    rows = [
        f"{head:<{second + more}}{cell}\n"
        for head, cell in zip([name, *[""] * len(cells)], cells, strict=False)
    ]
    return "".join([*lines[: rules[-1]], *rows, *lines[rules[-1] :]])


def _write_sorted(init: Path, text: str) -> None:
    """Write an ``__init__``, have Ruff sort its imports and names, and import it again."""
    before = init.read_text()
    init.write_text(text)
    for task in (["check", "--select", "I001,RUF022", "--fix"], ["format"]):
        subprocess.run([sys.executable, "-m", "ruff", *task, "--quiet", str(init)], check=True)  # noqa: S603
    package = ".".join(("streamsieve", *init.parent.relative_to(PACKAGE).parts))
    try:
        importlib.reload(importlib.import_module(package))
    except ImportError as error:
        init.write_text(before)
        raise SystemExit(
            f"{package} cannot import a new file: {error}.\nImport each name from the file that defines it, "
            "as in `from streamsieve.criteria.criterion import Criterion`, not from its folder."
        ) from error


def main() -> None:
    """Write all of it."""
    if not Path(streamsieve.__file__).is_relative_to(PACKAGE):
        raise SystemExit(f"imported {streamsieve.__file__}, not the package in {PACKAGE}: set PYTHONPATH=src")
    for init in sorted(PACKAGE.glob("*/**/__init__.py")):
        text = init.read_text()
        new = with_files(init.parent, text)
        if init.parent.name in METHODS and init.parent.parent == PACKAGE:
            new = with_methods(init.parent, new)
        if new != text:
            _write_sorted(init, new)
    TARGET.write_text(rendered())
    for path, written in ((ROOT / "docs" / "methods.md", methods_page), (ROOT / "README.md", readme)):
        path.write_text(written(path.read_text()))


if __name__ == "__main__":
    main()
