"""Run the tests that execute a mutant's line, in a copy of the tree that holds the mutant."""

import ast
import os
import re
import shutil
import time
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numba
import pytest

from tools.mutants.children import pytest_in, run
from tools.mutants.recording import Blocks, Test
from tools.mutants.sites import Mutant

_START = 30  # processor seconds in which a child begins and ends
_COMPILE = 90  # and those in which a file of kernels is compiled


class _Chosen:
    """A pytest plugin that leaves out functions, stops when the time is over, and notes the first failure."""

    def __init__(self, left_out: set[str], seconds: float) -> None:
        self.left_out, self.seconds, self.failed = left_out, seconds, ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if _function(item.nodeid) not in self.left_out]

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if time.process_time() > self.seconds:
            item.session.shouldstop = "enough"

    def pytest_collectreport(self, report: Any) -> None:
        self.failed = self.failed or (report.nodeid if report.failed else "")

    pytest_runtest_logreport = pytest_collectreport


class Trials:
    """Trials of mutants of one tree."""

    def __init__(self, tree: Path, copy: Path, blocks: Blocks, tests: list[Test]) -> None:
        self.tree, self.copy, self.blocks, self.tests = tree, copy, blocks, tests

    def verdict(self, mutant: Mutant, seconds: float, *options: str) -> tuple[str, str]:
        """Return "caught", "timed out" or "survived", and the test that decided or that time ran out."""
        file, original = self.copy / mutant.path, self.tree / mutant.path
        file.write_bytes(mutant.text(original.read_bytes()))
        seconds += _COMPILE if "/_kernels/" in mutant.path else 0
        end = _spent() + seconds
        try:
            for files, left_out, jit in self._plan(mutant):
                if _spent() > end:
                    return "survived", "so far: the time was over"
                work = partial(self._tested, [*options, *files], left_out, seconds, jit=jit)
                for longer in (1, 3):
                    failed, how = run(work, longer * (seconds + _START))
                    if how != "timed out":
                        break
                if how != "done" or failed:
                    return "timed out" if how == "timed out" else "caught", failed or " ".join(files)
        finally:
            shutil.copy2(original, file)
            for cached in file.parent.glob(f"__pycache__/{file.stem}.*"):
                cached.unlink()
            for cached in original.parent.glob(f"__pycache__/{file.stem}.*"):
                shutil.copy2(cached, file.parent / "__pycache__")
        return "survived", ""

    def _tested(self, arguments: list[str], left_out: set[str], seconds: float, *, jit: bool) -> str:
        """Run pytest in this process; return what failed."""
        numba.config.DISABLE_JIT = not jit
        os.environ["NUMBA_DISABLE_JIT"] = str(int(not jit))
        plugin = _Chosen(left_out, seconds)
        code = pytest_in(self.copy, ["-x", *arguments], plugin)
        return plugin.failed or ("pytest" if code in {1, 3, 4} else "")

    def _plan(self, mutant: Mutant) -> Iterator[tuple[list[str], set[str], bool]]:
        """Yield test files, the functions to leave out of them, whether to compile; likeliest first."""
        kernel = "/_kernels/" in mutant.path
        blocks = self._callers(mutant) if kernel else self.blocks.around(mutant.path, mutant.line)
        tests = [test for test in self.tests if test.executes[list(blocks)].any()]
        # A line that no test is seen to execute may be executed in a process of its own.
        tests = tests or [test for test in self.tests if _folder(test.file) == _folder(mutant.path)]
        files: dict[str, list[Test]] = {}
        for test in tests:
            files.setdefault(test.file, []).append(test)
        functions = {file: {_function(test.name) for test in some} for file, some in files.items()}
        known, size = {_function(test.name) for test in self.tests}, 2
        if kernel:
            named = [
                file for file in (self.copy / "tests/kernels").glob("test_*.py") if _names(file, mutant.path)
            ]
            own = [str(file.relative_to(self.copy)) for file in named]
            most = sorted(functions.keys() - own, key=lambda file: len(functions[file]))[-2:]
            yield from ((own, set(), jit) for jit in (False, True) if own)
            yield from (([file], known - functions[file], True) for file in reversed(most))
            return
        cost = {
            file: (_folder(file) != _folder(mutant.path), sum(t.seconds for t in files[file]))
            for file in files
        }
        order = sorted(files, key=cost.__getitem__)
        while order:
            some, order, size = order[:size], order[size:], 2 * size
            yield some, known - set().union(*(functions[file] for file in some)), True

    @cached_property
    def _uses(self) -> list[tuple[str, str, int]]:
        """Every name that the package uses outside of kernels, with its path and line."""
        return [
            (getattr(node, "id", getattr(node, "attr", "")), path, node.lineno)
            for path in sorted({path for path, _, _ in self.blocks.spans})
            for node in ast.walk(ast.parse((self.tree / path).read_bytes()))
            if isinstance(node, ast.Name | ast.Attribute)
        ]

    def _callers(self, mutant: Mutant) -> set[int]:
        """Return the blocks that use a function of a file of kernels."""
        kernels = ast.parse((self.tree / mutant.path).read_bytes()).body
        names = {node.name for node in kernels if isinstance(node, ast.FunctionDef)}
        places = {(path, line) for name, path, line in self._uses if name in names}
        return {block for path, line in places for block in self.blocks.around(path, line)}


def _names(file: Path, kernels: str) -> bool:
    """Whether a file of tests names a file of kernels."""
    return re.search(rf"\b{Path(kernels).stem}\b", file.read_text()) is not None


def _folder(path: str) -> str:
    return path.removeprefix("src/streamsieve/").removeprefix("tests/").partition("/")[0].removeprefix("_")


def _function(name: str) -> str:
    return name.partition("[")[0]


def _spent() -> float:
    """Return the processor seconds of all children so far."""
    return sum(os.times()[2:4])
