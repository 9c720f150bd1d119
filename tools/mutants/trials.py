"""Run tests that may notice a mutant, in a copy of the tree that holds it."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numba
import pytest

from tools.mutants.children import pytest_in, run
from tools.mutants.planting import Planting
from tools.mutants.reach import Reach
from tools.mutants.sites import Mutant

_START = 20  # processor seconds that the last test may take
_COMPILE = 30  # and those in which the kernels of a file are compiled
_AT_IMPORT = 15  # tests for a mutant of what runs while a module is imported, in a new process


class Trials:
    """A pytest plugin that collects the tests of a tier once, and tries mutants on them in children."""

    def __init__(self, tree: Path, copy: Path, reach: Reach, *, jit: bool) -> None:
        self.tree, self.copy, self.reach, self.jit = tree, copy, reach, jit
        self.options: list[str] = []
        self.items: list[pytest.Item] = []
        self.failed = ""
        #: Whether tests pass on the unchanged tree.
        self.passes: dict[str, bool] = {}

    def work(self, options: list[str], todo: Callable[["Trials"], None]) -> None:
        """Collect the tests, then call ``todo``, in a child of this process."""
        if (child := os.fork()) == 0:
            try:
                numba.config.DISABLE_JIT = not self.jit
                os.environ["NUMBA_DISABLE_JIT"] = str(int(not self.jit))
                self.options, self.todo = options, todo
                folders = [] if self.jit else ["tests/kernels"]
                pytest_in(self.copy, [f"--basetemp={self.copy}.tmp", *options, *folders], self)
            finally:
                os._exit(0)
        os.waitpid(child, 0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:  # noqa: D102
        self.items = session.items
        gc.unfreeze()  # what is frozen cannot be found
        self.planting = Planting(self.copy, sys.modules)
        gc.collect()
        gc.freeze()
        self.todo(self)
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:  # noqa: D102
        self.failed = self.failed or (report.nodeid if report.failed else "")

    def verdict(self, mutant: Mutant, seconds: float) -> tuple[str, str]:
        """Return "caught", "timed out" or "survived", and the test that decided or that time ran out."""
        if self.jit:
            items = self.reach.chosen(mutant, self.items)
            seconds += _COMPILE * ("/_kernels/" in mutant.path)
        else:
            items = _turns([item for item in self.items if _names(item.path, mutant.path)])
        while True:
            work = partial(self._tested, mutant, items, seconds)
            said, how = self._with(mutant, partial(run, work, seconds + _START))
            if how != "done":
                late = run(partial(self._tested, None, items, seconds), seconds + _START)[1] != "done"
                if late:
                    return "survived", f"so far: {how} without it too"
                return "timed out" if how == "timed out" else "caught", how
            failed, over = said
            if failed is None:
                return self._at_import(mutant, items)
            if not failed:
                return "survived", "so far: the time was over" if over else ""
            if failed not in self.passes:
                only = [item for item in items if item.nodeid == failed]
                self.passes[failed] = run(partial(self._tested, None, only, 200), 200) == (
                    ["", False],
                    "done",
                )
            if self.passes[failed]:
                return "caught", failed
            items = [item for item in items if item.nodeid != failed]

    def _tested(
        self, mutant: Mutant | None, items: list[pytest.Item], seconds: float
    ) -> tuple[str | None, bool]:
        """Run tests in this process; return what failed, or None, and whether the time was over before."""
        if mutant and not self.planting.plant(mutant, (self.tree / mutant.path).read_bytes()):
            return None, False
        for item, following in zip_longest(items, items[1:]):
            if time.process_time() > seconds:
                return "", True
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return self.failed, False
        return "", False

    def _at_import(self, mutant: Mutant, items: list[pytest.Item]) -> tuple[str, str]:
        """Try a mutant on some tests in a new process."""
        tests = list(dict.fromkeys(item.nodeid.partition("[")[0] for item in items))[:_AT_IMPORT]
        key = " ".join(tests)
        code, how = self._with(mutant, partial(self._anew, tests))
        if code == 0 or not tests:
            return "survived", ""
        if key not in self.passes:
            self.passes[key] = self._anew(tests)[0] == 0
        return (
            ("timed out" if how else "caught", key) if self.passes[key] else ("survived", "so far: no test")
        )

    def _anew(self, tests: list[str]) -> tuple[int, str]:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            *self.options,
            *tests,
        ]
        with subprocess.Popen(  # noqa: S603
            command,
            cwd=self.copy,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                return process.wait(timeout=120), ""
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return -1, "timed out"

    def _with(self, mutant: Mutant, work: Callable[[], tuple[Any, str]]) -> tuple[Any, str]:
        """Return what work returns while the copy holds the mutant, for what is imported late."""
        file, original = self.copy / mutant.path, self.tree / mutant.path
        compiled = {path: path.read_bytes() for path in file.parent.glob(f"__pycache__/{file.stem}.*")}
        file.write_bytes(mutant.text(original.read_bytes()))
        try:
            return work()
        finally:
            shutil.copy2(original, file)
            for path in file.parent.glob(f"__pycache__/{file.stem}.*"):
                path.unlink()
            for path, content in compiled.items():
                path.write_bytes(content)


def _turns(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return items in another order: the first case of each test, then the second, and so on."""
    return [item for *_, item in sorted(_numbered(items), key=lambda row: row[:2])]


def _numbered(items: list[pytest.Item]) -> Iterator[tuple[int, int, pytest.Item]]:
    turns: dict[str, int] = {}
    for k, item in enumerate(items):
        function = item.nodeid.partition("[")[0]
        turns[function] = turns.get(function, -1) + 1
        yield turns[function], k, item


def _names(file: Path, kernels: str) -> bool:
    """Whether a file of tests names a file of kernels."""
    return Path(kernels).stem in file.read_text()
