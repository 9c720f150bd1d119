"""Time and memory, measured so that a busy machine disturbs the comparison as little as possible."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: A function that has used this many seconds already is not run again: its best is known well enough.
PATIENCE = 30.0
#: Bytes in a unit of ru_maxrss: kilobytes on Linux, bytes on macOS.
_RUSAGE_UNIT = 1 if sys.platform == "darwin" else 1024


class Seconds(float):
    """A time that a function measured itself, e.g. inside a process it started."""

    __slots__ = ()


def interleave(*functions: Callable[[], Any], rounds: int) -> list[float]:
    """Run functions in turn, several rounds, and return the best time of each.

    Taking turns gives all of them the same quiet and busy moments, and the minimum is the run that was
    disturbed least.  Each is the first of some rounds: the first finds the processor's caches full of other
    things.  A function that returns ``Seconds`` has timed itself.
    """
    _age_the_allocator()
    best = [float("inf")] * len(functions)
    spent = [0.0] * len(functions)
    for round_ in range(rounds):
        gc.collect()  # so that nobody pays for the garbage of long ago
        for turn in range(len(functions)):
            i = (round_ + turn) % len(functions)
            if spent[i] >= PATIENCE:
                continue
            start = time.perf_counter()
            result = functions[i]()
            wall = time.perf_counter() - start
            spent[i] += wall
            best[i] = min(best[i], float(result) if isinstance(result, Seconds) else wall)
            del result
    return best


def _age_the_allocator() -> None:
    """Free a large block once: the C library then keeps freed memory, as in a process that has lived a while.

    Until then it gives memory back after every run, and a run is charged for page faults or not depending on
    which case came before it.
    """
    bytearray(31 * 2**20)


def run_process(command: Sequence[str], **environment: str) -> str:
    """Run a command from the root of the repository and return what it prints.

    Raises
    ------
    RuntimeError : it failed; the message has the end of what it wrote to stderr
    """
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{Path(command[0]).name} {' '.join(command[1:])} failed: {done.stderr[-400:]}")
    return done.stdout


def run_python(code: str, **environment: str) -> str:
    """Run code in a fresh Python and return what it prints."""
    return run_process([sys.executable, "-c", code], **environment)


def peak_growth_mb(function: Callable[[], Any]) -> float:
    """Call a function and return by how many MB the resident memory of this process peaked above the start.

    Only true in a process that did little before: memory freed earlier may be used again unseen.
    """
    gc.collect()
    _forget_peak()
    before = _status_mb("VmRSS") or peak_mb()
    function()
    return max(0.0, peak_mb() - before)


def _forget_peak() -> None:
    """Make the kernel forget the highest memory so far: building the data may have been above it."""
    refs = Path("/proc/self/clear_refs")
    if refs.exists():
        refs.write_text("5", encoding="ascii")


def peak_mb() -> float:
    # ru_maxrss survives exec, so a child begins with its parent's figure: VmHWM is this program's own
    own = _status_mb("VmHWM")
    return own or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RUSAGE_UNIT / 1e6


def _status_mb(key: str) -> float:
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    line = next(line for line in status.read_text("ascii").splitlines() if line.startswith(key))
    return int(line.split()[1]) * 1024 / 1e6
