"""Write ``streamsieve/_exports.py``: the public names of the package and where they are defined.

Run ``python -m tools.exports`` after adding a class to a folder; a test holds the file equal to the folders.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import streamsieve

#: Folders whose re-exports are public names of the package.
FOLDERS = ("rows", "columns", "offline", "learners", "sources", "base")
#: Names of other modules that are public as well.
SINGLE = {"load": "registry", "run": "running", "Ledger": "ledger", "Decision": "protocols"}
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


if __name__ == "__main__":
    TARGET.write_text(rendered())
