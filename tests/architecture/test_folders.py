"""A folder says what is in it: the docstring of its ``__init__`` names every file and folder beside it."""

import ast
import re

from tools.shape.tree import PACKAGE, ROOT

SOURCE = ROOT / "src" / PACKAGE
#: Lines of a table that a reader takes in at a glance.
MOST_LINES = 15


def docstrings():
    """Yield every folder below the package, and the docstring of its ``__init__``."""
    for init in sorted(SOURCE.glob("*/**/__init__.py")):
        yield init.parent, ast.get_docstring(ast.parse(init.read_text())) or ""


def test_folders_name_what_they_hold():
    unnamed = []
    for folder, text in docstrings():
        words = set(re.findall(r"\w+", text))
        files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
        inside = {path.parent.name for path in folder.glob("*/__init__.py")}
        unnamed += [f"{folder.relative_to(SOURCE)}/{name}" for name in sorted((files | inside) - words)]
    assert not unnamed, f"not named in the docstring of their folder: {', '.join(unnamed)}"


def test_tables_of_folders_are_short():
    long = []
    for folder, text in docstrings():
        rules = [n for n, line in enumerate(text.splitlines()) if re.fullmatch(r"=+( +=+)+", line)]
        if rules and rules[-1] - rules[0] - len(rules) + 1 > MOST_LINES:
            long.append(str(folder.relative_to(SOURCE)))
    assert not long, f"tables of more than {MOST_LINES} lines: {', '.join(long)}"
