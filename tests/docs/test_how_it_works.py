"""The walks of one batch and one block name real files, in an order in which each knows the next."""

import ast
import re
from pathlib import Path

import pytest

from tools.shape.tree import Tree
from tools.shape.walk import walks

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "streamsieve"
PAGE = (ROOT / "docs" / "how_it_works.md").read_text()
FILE = re.compile(r"`([\w/]+\.py)`")


def walk(heading):
    """Return the files that the numbered list under a heading names, in order."""
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    steps = re.findall(r"^\d\. .*?(?=^\d\. |^$)", section, re.MULTILINE | re.DOTALL)
    return [file for step in steps for file in FILE.findall(step)]


def imported(path):
    """Return the files of the package that a file imports, those behind a folder's re-exports included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        modules = []
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            if not module.startswith("streamsieve"):
                continue
            stem = PACKAGE.joinpath(*module.split(".")[1:])
            if stem.with_suffix(".py").exists():
                found.add(stem.with_suffix(".py"))
            elif (stem / "__init__.py").exists() and stem != PACKAGE and path.name != "__init__.py":
                found |= imported(stem / "__init__.py")
    folders = {file.parent / "__init__.py" for file in found if file.parent != PACKAGE}
    if path.name == "__init__.py":  # a folder may re-export a folder
        for folder in folders - {path}:
            found |= imported(folder)
    return found


@pytest.mark.parametrize("heading", ["A batch of rows", "A block of columns"])
def test_files_of_a_walk_exist_come_once_and_are_imported_by_one_before(heading):
    files = walk(heading)
    assert len(files) > 8
    known = set()
    for number, file in enumerate(files):
        assert (PACKAGE / file).exists(), f"{file} does not exist"
        starts = number == 0 or file.startswith(("rows/", "criteria/fisher"))  # the user brings them together
        assert starts or PACKAGE / file in known, f"nothing before {file} imports it"
        assert file not in files[:number], f"{file} is named twice"
        known |= imported(PACKAGE / file)


@pytest.mark.full  # kernels run as plain Python, in a process of their own
def test_every_file_in_which_something_runs_is_in_its_walk():
    taken = {figure.kind: figure.items for figure in walks(Tree())}
    for kind, heading in {"walk-rows": "A batch of rows", "walk-FastOSFS": "A block of columns"}.items():
        assert {file.removeprefix("streamsieve/") for file in taken[kind]} <= set(walk(heading))


def test_every_file_named_on_the_page_exists():
    for file in FILE.findall(PAGE):
        assert (PACKAGE / file).exists() or list(PACKAGE.rglob(file)), file
