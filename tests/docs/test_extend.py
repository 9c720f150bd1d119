"""The pages on extending the library run as they stand, without a private name."""

import ast
import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs" / "extend").glob("*.md"))
#: Hooks that a subclass writes, and calls of the base class in them.
HOOKS = {
    "_begin", "_compose", "_learn", "_merge", "_offer", "_selected", "_scores", "_start",
}  # fmt: skip
#: Longest example, without its demonstration.
LINES = 85


def examples(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.stem)
def test_the_examples_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": f"extend_{page.stem}"}
    for code in examples(page):
        exec(compile(code, page.name, "exec"), scope)  # noqa: S102 - our own text
        assert capsys.readouterr().out
        assert len(code.splitlines()) <= LINES


def private(tree):
    """Yield every private name that is imported, or read from something other than ``self``."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module = getattr(node, "module", None) or ""
            names = [*module.split("."), *(part for a in node.names for part in a.name.split("."))]
            yield from (name for name in names if name.startswith("_"))
        elif isinstance(node, ast.Attribute) and node.attr not in HOOKS and re.match("_[^_]", node.attr):
            if not (isinstance(node.value, ast.Name) and node.value.id == "self"):
                yield node.attr
        elif isinstance(node, ast.FunctionDef) and node.name not in HOOKS and re.match("_[^_]", node.name):
            yield node.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_example_uses_a_private_name(page):
    for code in examples(page):
        assert not list(private(ast.parse(code)))


def test_private_names_would_be_found():
    found = private(ast.parse("from a._b import c\nx._y\nself._z\nclass A:\n    def _hidden(self): ..."))
    assert sorted(found) == ["_b", "_hidden", "_y"]


def test_every_page_is_in_the_table():
    table = (PAGES[0].parent / "README.md").read_text()
    for page in PAGES:
        assert page.name == "README.md" or f"({page.name})" in table
