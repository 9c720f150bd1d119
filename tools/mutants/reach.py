"""Which tests run which functions of the package: recorded once by the profiler."""

import ast
import cProfile
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.mutants.sites import Mutant

#: Folders in which a test that was not recorded may start a cluster, or run for minutes.
_COSTLY = ("benchmarks", "campaigns", "engines", "examples", "studies")


class Recorder:
    """A pytest plugin that writes, for each test, its processor seconds and the functions that it runs."""

    def __init__(self, tree: Path, file: Path) -> None:
        self.start, self.file, self.numbers = f"{tree}/", file, dict[str, int]()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:  # noqa: D102
        profile = cProfile.Profile(builtins=False, subcalls=False)
        begin = time.process_time()
        profile.enable()
        try:
            return (yield)
        finally:
            profile.disable()
            codes = [entry.code for entry in profile.getstats() if not isinstance(entry.code, str)]
            names = [f"{code.co_filename}:{code.co_firstlineno}" for code in codes]
            runs = {name.removeprefix(self.start) for name in names if name.startswith(f"{self.start}src/")}
            seconds = round(time.process_time() - begin, 4)
            new = {name: len(self.numbers) + k for k, name in enumerate(runs - self.numbers.keys())}
            self.numbers |= new
            row = {"test": item.nodeid, "seconds": seconds, "runs": [self.numbers[name] for name in runs]}
            with self.file.open("a") as stream:
                stream.write(json.dumps({**row, "new": new}) + "\n")


class Reach:
    """Tests of a tree by the functions that they run; kernels by the functions that call them."""

    def __init__(self, tree: Path, file: Path) -> None:
        self._tree = tree
        #: Processor seconds of the tests, and how many functions they run.
        self._cost: dict[str, tuple[float, int]] = {}
        self._tests: dict[str, list[str]] = defaultdict(list)
        names: dict[int, str] = {}
        for row in map(json.loads, file.read_text().splitlines()):
            names |= {number: name for name, number in row["new"].items()}
            self._cost[row["test"]] = (row["seconds"], len(row["runs"]))
            for number in row["runs"]:
                self._tests[names[number]].append(row["test"])
        self._bodies = {
            str(path.relative_to(tree)): ast.parse(path.read_bytes()) for path in (tree / "src").rglob("*.py")
        }

    def chosen(self, mutant: Mutant, items: list[pytest.Item]) -> list[pytest.Item]:
        """Return the items that may notice a mutant: cheap and special ones first, one of each test.

        An item that was not recorded is like the others of its test; a test that was not recorded is like
        the others of its file.
        """
        reached = {test for name in self._names(mutant) for test in self._tests.get(name, ())}
        functions: dict[str, list[float]] = defaultdict(list)
        for test in reached:
            seconds, runs = self._cost[test]
            for like in (test, _function(test), _file(test)):
                functions[like].append((0.005 + seconds) * runs)
        costs = {like: sum(some) / len(some) for like, some in functions.items()}
        known = {_function(test) for test in self._cost}
        ranked: dict[str, list[tuple[float, int, pytest.Item]]] = defaultdict(list)
        for k, item in enumerate(items):
            name, function = item.nodeid, _function(item.nodeid)
            if name in self._cost:
                cost = costs.get(name)
            elif function in known or name.split("/")[1:2] in [[folder] for folder in _COSTLY]:
                cost = costs.get(function)
            else:
                cost = costs.get(_file(name))
            if cost is not None:
                ranked[function].append((cost, k, item))
        order = []
        for some in ranked.values():
            order += [(turn, cost, k, item) for turn, (cost, k, item) in enumerate(sorted(some)[:40])]
        return [item for *_, item in sorted(order, key=lambda row: row[:3])]

    def _names(self, mutant: Mutant) -> list[str]:
        """Return the functions to look for: where the mutant is, all of its file, or callers of a kernel."""
        body = self._bodies[mutant.path]
        if "/_kernels/" in mutant.path:
            return self._callers(mutant.path, _compiled(body, mutant.line))
        inner = [node for node in _functions(body) if _start(node) <= mutant.line <= (node.end_lineno or 0)]
        near = [f"{mutant.path}:{_start(node)}" for node in inner[::-1]]
        found = next(([name] for name in near if name in self._tests), [])
        return found or [name for name in self._tests if name.startswith(f"{mutant.path}:")]

    def _callers(self, path: str, kernels: set[str]) -> list[str]:
        """Return the functions that name a kernel, in files that name its file."""
        return [
            f"{file}:{_start(node)}"
            for file, body in self._bodies.items()
            if Path(path).stem in _words(body)
            for node in _functions(body)
            if kernels & _words(node)
        ]


def _compiled(body: ast.Module, line: int) -> set[str]:
    """Return the function around a line of a file of kernels, and those that call it, directly or not."""
    tops = [node for node in body.body if isinstance(node, ast.FunctionDef)]
    names = {node.name for node in tops if _start(node) <= line <= (node.end_lineno or 0)}
    while more := {node.name for node in tops if names & _words(node)} - names:
        names |= more
    return names


def _functions(body: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(body) if isinstance(node, ast.FunctionDef)]


def _start(node: ast.FunctionDef) -> int:
    """Return the line at which the code of a function begins: that of its first decorator."""
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _words(body: Any) -> set[str]:
    """Return the names that occur in a syntax tree."""
    words = set()
    for node in ast.walk(body):
        words |= {node.id} if isinstance(node, ast.Name) else set()
        words |= {node.attr} if isinstance(node, ast.Attribute) else set()
        words |= {node.name.rpartition(".")[2]} if isinstance(node, ast.alias) else set()
        words |= {(node.module or "").rpartition(".")[2]} if isinstance(node, ast.ImportFrom) else set()
    return words


def _function(test: str) -> str:
    return test.partition("[")[0]


def _file(test: str) -> str:
    return test.partition("::")[0]
