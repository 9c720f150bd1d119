"""Write what follows from the re-exports: ``streamsieve/_exports.py`` and the table of ``docs/methods.md``.

Run ``python -m tools.exports`` after adding a class to a folder; tests hold both equal to the folders.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import streamsieve
from streamsieve.cli import methods

#: Folders whose re-exports are public names of the package.
FOLDERS = ("rows", "columns", "offline", "learners", "sources", "base")
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
TARGET = Path(streamsieve.__file__).with_name("_exports.py")


def rendered() -> str:
    """Return the text of the file."""
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
        "",
    ]
    return "\n".join(lines)


def methods_page(page: str) -> str:
    """Return the page on methods with a new table."""
    head, rest = page.split("-->\n", 1)
    return f"{head}-->\n{methods.markdown()}\n<!-- end of methods{rest.split('<!-- end of methods', 1)[1]}"


if __name__ == "__main__":
    TARGET.write_text(rendered())
    page = Path(__file__).parents[1] / "docs" / "methods.md"
    page.write_text(methods_page(page.read_text()))
