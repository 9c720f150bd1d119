"""Tests that a table names, as ``file.py::name``: they must exist."""

import ast
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]


@cache
def names_in(path):
    """Return the names of the functions of a test file."""
    tree = ast.parse((TESTS / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def assert_exist(held):
    """Refuse an empty list, and tests that are gone."""
    assert held
    for each in held:
        path, _, name = each.partition("::")
        assert name in names_in(path), each
