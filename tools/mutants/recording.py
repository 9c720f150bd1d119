"""Which test executes which block of statements, and how long each test takes; measured once per tree."""

import ast
import base64
import builtins
import hashlib
import importlib.machinery as imports
import json
import os
import sys
import zlib
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from tools.mutants.children import pytest_in, run

_LIMIT = 400  # processor seconds for one test file


class Test(NamedTuple):
    """A test that passes on the unchanged tree, and which blocks it executes."""

    file: str
    name: str
    seconds: float
    executes: np.ndarray


class Blocks(ast.NodeTransformer):
    """Marks at the start of every block of statements, and where each block is: path, first and last line."""

    def __init__(self, tree: Path) -> None:
        self.spans: list[tuple[str, int, int]] = []
        self.codes: dict[str, CodeType] = {}
        for file in sorted((tree / "src").rglob("*.py")):
            self._path = str(file.relative_to(tree))
            if "/_kernels/" not in self._path:  # compiled code cannot leave marks
                marked = ast.fix_missing_locations(self.visit(ast.parse(file.read_bytes())))
                self.codes[str(file)] = compile(marked, str(file), "exec")

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Mark the blocks of a node and of the nodes within."""
        for name in () if isinstance(node, ast.ClassDef) else ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                whole = isinstance(node, ast.Module)
                mark = ast.parse(f"__marks__[{len(self.spans)}] = 1").body[0]
                span = (0, sys.maxsize) if whole else (body[0].lineno, body[-1].end_lineno)
                self.spans.append((self._path, *span))
                body.insert(sum(map(_stays_first, body)), ast.copy_location(mark, body[0]))
        return super().generic_visit(node)

    def around(self, path: str, line: int) -> set[int]:
        """Return the innermost block around a line, or all blocks of the file if it is executed on import."""
        file = {k: (first, last) for k, (where, first, last) in enumerate(self.spans) if where == path}
        inner = max((first, k) for k, (first, last) in file.items() if first <= line <= last)
        return {inner[1]} if inner[0] else {k for k, (first, _) in file.items() if first}


def _stays_first(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring or an import from the future."""
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return text or (isinstance(statement, ast.ImportFrom) and statement.module == "__future__")


class _Recorder:
    """A pytest plugin that reads the marks after every test."""

    def __init__(self, marks: bytearray) -> None:
        self.tests: dict[str, list[Any]] = {}
        self.marks = marks

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.marks[:] = bytes(len(self.marks))
        self.tests[nodeid] = [-sum(os.times()[:4]), True, ""]

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.tests[report.nodeid][1] &= report.passed

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.tests[nodeid][0] = round(self.tests[nodeid][0] + sum(os.times()[:4]), 2)
        packed = zlib.compress(np.packbits(np.frombuffer(self.marks, np.uint8)).tobytes())
        self.tests[nodeid][2] = base64.b64encode(packed).decode()


def _recorded(tree: Path, files: list[str], blocks: Blocks) -> dict[str, list[Any]]:
    """Run test files in this process, with marks in the package."""

    class Loader(imports.SourceFileLoader):
        def get_code(self, fullname: str) -> CodeType | None:
            return blocks.codes.get(self.path) or super().get_code(fullname)

    compiled = imports.ExtensionFileLoader, imports.EXTENSION_SUFFIXES
    sys.path_hooks.insert(0, imports.FileFinder.path_hook(compiled, (Loader, imports.SOURCE_SUFFIXES)))
    sys.path_importer_cache.clear()
    recorder = _Recorder(bytearray(len(blocks.spans)))
    builtins.__marks__ = recorder.marks  # type: ignore[attr-defined]
    pytest_in(tree, files, recorder)
    return recorder.tests


def record(tree: Path, cache: str) -> tuple[Blocks, list[Test]]:
    """Return the blocks of a tree and its tests; what ``cache`` holds is not run again."""
    blocks = Blocks(tree)
    path = Path(f"{cache}.{hashlib.sha256(''.join(map(str, blocks.spans)).encode()).hexdigest()[:8]}")
    known = path.read_text().splitlines() if path.exists() else []
    done = {json.loads(line)["file"] for line in known}
    own = [[str(file.relative_to(tree))] for file in sorted((tree / "tests").rglob("test_*.py"))]
    # Examples are quick, and importing the package for each file of them is not: they share a process.
    modules = [
        str(f.relative_to(tree)) for f in sorted((tree / "src").rglob("*.py")) if ">>> " in f.read_text()
    ]
    for files in [modules, *own]:
        if done.issuperset(files):
            continue
        found, how = run(lambda files=files: _recorded(tree, files, blocks), _LIMIT)  # type: ignore[misc]
        for file in files:
            tests = {name: test for name, test in (found or {}).items() if name.partition("::")[0] == file}
            known.append(json.dumps({"file": file, "how": how, "tests": tests}))
        path.write_text("\n".join(known) + "\n")
    recorded = []
    for row in map(json.loads, known):
        for name, (seconds, passed, packed) in row["tests"].items():
            if passed and packed:
                bits = np.unpackbits(np.frombuffer(zlib.decompress(base64.b64decode(packed)), np.uint8))
                recorded.append(Test(row["file"], name, seconds, bits))
    return blocks, recorded
