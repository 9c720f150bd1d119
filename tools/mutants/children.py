"""Tests in a forked child of a process that has imported all libraries but not the package."""

import ast
import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest

#: Not imported ahead: the project itself, and what starts threads on import.
_LATE = {
    "streamsieve", "tests", "tools", "benchmarks", "campaigns", "studies", "examples",
    "polars", "confluent_kafka",
}  # fmt: skip

#: Seconds between two looks at a child.
_TICK = 0.02


def warm(tree: Path) -> None:
    """Import what the package and its tests import, so that no child has to."""
    for file in [*(tree / "src").rglob("*.py"), *(tree / "tests").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_bytes())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in names:
                if name.partition(".")[0] not in _LATE and name not in sys.modules:
                    with contextlib.suppress(Exception):
                        importlib.import_module(name)
    if "streamsieve" in sys.modules:
        raise RuntimeError("a library imported streamsieve: its faults would not be seen")
    numba.njit(lambda x: x + 1)(1)  # the compiler imports itself on first use


def pytest_in(tree: Path, arguments: list[str], plugin: object) -> int:
    """Run pytest in this process on the tests of a tree, and return its exit code."""
    os.chdir(tree)
    os.environ["PYTHONPATH"] = str(tree / "src")
    sys.path.insert(0, str(tree / "src"))
    sys.dont_write_bytecode = False
    quiet = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(pytest.main([*quiet, *arguments], plugins=[plugin]))


def run(work: Callable[[], Any], seconds: float) -> tuple[Any, str]:
    """Return what ``work`` returns in a child, and how it ended: "done", "timed out" or "crashed".

    The limit is on processor time, because others may use the machine; a child that waits in vain, for
    something other than a processor, ends after four times as long.
    """
    with tempfile.NamedTemporaryFile() as out:
        child = os.fork()
        if child == 0:
            try:
                os.setsid()
                resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
                for stream in range(3):
                    os.dup2(os.open(os.devnull, os.O_RDWR), stream)
                Path(out.name).write_text(json.dumps(work()))
            finally:
                os._exit(0)
        idle, ended, status = 0.0, 0, 0
        while not ended and idle < 4 * seconds:
            time.sleep(_TICK)
            idle += 0.0 if _wants_processor(child) else _TICK
            ended, status = os.waitpid(child, os.WNOHANG)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        if not ended or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in {signal.SIGXCPU, signal.SIGKILL}):
            return None, "timed out"
        text = out.read()
    return (json.loads(text), "done") if text else (None, "crashed")


def _wants_processor(child: int) -> bool:
    """Whether a process runs or could run, by Linux's account of it."""
    return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "R"
