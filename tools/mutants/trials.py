"""Run tests that are likely to notice a mutant, in a copy of the tree that holds it."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numba
import pytest

from tools.mutants.children import pytest_in, run
from tools.mutants.naming import Naming
from tools.mutants.sites import Mutant

_START = 20  # processor seconds in which a child begins and ends
_COMPILE = 40  # and those in which a file of kernels is compiled
_FILES = (2, 3)  # files of tests that share a child: the likeliest, then some more
_CLASSES = 3  # classes whose contracts are tried


class _Chosen:
    """A pytest plugin that leaves tests out, stops when the time is over, and notes the first failure."""

    def __init__(self, wanted: Callable[[str], bool], seconds: float) -> None:
        self.wanted, self.seconds, self.failed = wanted, seconds, ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if self.wanted(item.nodeid)]

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if time.process_time() > self.seconds:
            item.session.shouldstop = "enough"

    def pytest_collectreport(self, report: Any) -> None:
        self.failed = self.failed or (report.nodeid if report.failed else "")

    pytest_runtest_logreport = pytest_collectreport


class _Step(NamedTuple):
    """Files of tests to run, which of their tests, and whether kernels are compiled."""

    files: list[str]
    wanted: Callable[[str], bool]
    jit: bool


class Trials:
    """Trials of mutants of one tree."""

    def __init__(self, tree: Path, copy: Path) -> None:
        self.tree, self.copy, self.naming = tree, copy, Naming(tree)
        #: Whether a test passes on the unchanged tree, with some options, compiled or not.
        self.passes: dict[tuple[Any, ...], bool] = {}
        #: Whether files of tests end in time on the unchanged tree, with some options, compiled or not.
        self.ends: dict[tuple[Any, ...], bool] = {}
        #: Processor seconds of tests of mutants; those of the unchanged tree do not count.
        self.spent = 0.0

    def verdict(self, mutant: Mutant, seconds: float, *options: str) -> tuple[str, str]:
        """Return "caught", "timed out" or "survived", and the test that decided or that time ran out."""
        end, late = self.spent + seconds, False
        for step in self._plan(mutant):
            left = end - self.spent + _COMPILE * (step.jit and "/_kernels/" in mutant.path)
            if left <= 0:
                late = True
                break
            failed, how = self._tried(mutant, step, left, options)
            if how == "late":
                late = True
            elif how != "done" or failed:
                return "timed out" if how == "timed out" else "caught", failed or " ".join(step.files)
            late = late or self.spent > end
        return "survived", "so far: the time was over" if late else ""

    def _tried(
        self, mutant: Mutant, step: _Step, seconds: float, options: tuple[str, ...]
    ) -> tuple[str | None, str]:
        """Return what fails with the mutant and passes without it, and how the child ended.

        A child that timed out is "late" if it does so without the mutant too.
        """
        useless: set[str] = set()
        files = (*step.files, options, step.jit)
        while True:
            wanted = partial(_wanted, step.wanted, useless)
            work = partial(self._tested, [*options, *step.files], wanted, seconds, jit=step.jit)
            failed, how = self._with(mutant, partial(run, work, seconds + _START))
            if how == "timed out":
                if files in self.ends:
                    return failed, how if self.ends[files] else "late"
                run(work, 200)  # compiles what is not compiled yet, which may be why the time was over
                self.ends[files] = run(work, seconds + _START)[1] == "done"
                continue
            if how != "done" or not failed or "::" not in failed:
                return failed, how
            key = (failed, options, step.jit)
            if key not in self.passes:
                only = partial(self._tested, [*options, _file(failed)], failed.__eq__, 200, jit=step.jit)
                self.passes[key] = run(only, 200) == ("", "done")
            if self.passes[key]:
                return failed, how
            useless.add(failed)

    def _with(self, mutant: Mutant, work: Callable[[], tuple[Any, str]]) -> tuple[Any, str]:
        """Return what work returns while the copy holds the mutant."""
        file, original = self.copy / mutant.path, self.tree / mutant.path
        compiled = {path: path.read_bytes() for path in file.parent.glob(f"__pycache__/{file.stem}.*")}
        file.write_bytes(mutant.text(original.read_bytes()))
        before = _spent()
        try:
            return work()
        finally:
            self.spent += _spent() - before
            shutil.copy2(original, file)
            for path in file.parent.glob(f"__pycache__/{file.stem}.*"):
                path.unlink()
            for path, content in compiled.items():
                path.write_bytes(content)

    def _tested(
        self, arguments: list[str], wanted: Callable[[str], bool], seconds: float, *, jit: bool
    ) -> str:
        """Run pytest in this process; return what failed."""
        numba.config.DISABLE_JIT = not jit
        os.environ["NUMBA_DISABLE_JIT"] = str(int(not jit))
        plugin = _Chosen(wanted, seconds)
        code = pytest_in(self.copy, ["-x", *arguments], plugin)
        return plugin.failed or ("pytest" if code in {3, 4} else "")

    def _plan(self, mutant: Mutant) -> Iterator[_Step]:
        """Yield what to run, the likeliest to fail first."""
        files = self.naming.tests(mutant.path)
        if "/_kernels/" in mutant.path:
            own = [file for file in files if "/kernels/" in file and _names(self.copy / file, mutant.path)]
            if own:
                yield _Step(own, _any, jit=False)
            files = [file for file in files if "/kernels/" not in file]
        for size in _FILES:
            some, files = files[:size], files[size:]
            if some:
                yield _Step(some, _any, jit=True)
        classes = self.naming.selectors(mutant.path)[:_CLASSES]
        if classes and (self.copy / "tests/contract").exists():
            yield _Step(["tests/contract"], partial(_is_contract, classes), jit=True)


def _any(_name: str) -> bool:
    return True


def _wanted(wanted: Callable[[str], bool], useless: set[str], name: str) -> bool:
    return name not in useless and wanted(name)


def _is_contract(classes: list[str], name: str) -> bool:
    return name.partition("[")[2].startswith(tuple(f"{cls}(" for cls in classes))


def _names(file: Path, kernels: str) -> bool:
    """Whether a file of tests names a file of kernels."""
    return re.search(rf"\b{Path(kernels).stem}\b", file.read_text()) is not None


def _file(name: str) -> str:
    return name.partition("::")[0]


def _spent() -> float:
    """Return the processor seconds of all children so far."""
    return sum(os.times()[2:4])
