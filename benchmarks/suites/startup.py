"""How long until it works: importing, the command line, and the first use of each selector.

Every figure comes from fresh processes.  A first use compiles kernels where Numba's cache is empty (once
a machine) and loads them where it is not (once a process).
"""

from __future__ import annotations

import atexit
import functools
import sys
import tempfile
from pathlib import Path

import streamsieve as ss
from benchmarks._cases import Race, Size, SkipCase, case
from benchmarks._measure import Seconds, run_process, run_python

_TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
#: NumPy first: whoever has data to select from has it already.
_SKLEARN = "import numpy; " + _TIMED.format("import sklearn.base, sklearn.feature_selection")
_FIRST_USE = """
import time
import numpy as np
import streamsieve as ss

rng = np.random.default_rng(0)
X = rng.random((200, 20))  # some take no negative values
y = (X[:, 0] + rng.random(200) > 1).astype(int)
X = {data}
start = time.perf_counter()
ss.{make}.fit(X, y).get_support()
print(time.perf_counter() - start)
"""


@functools.cache
def _warm_folder() -> str:
    """Return a cache for compiled kernels that lives as long as this run."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return folder.name


def _seconds(code: str, **environment: str) -> Seconds:
    return Seconds(run_python(code, **environment))


@case("import streamsieve", bar="ours <= 0.2 s")
def import_package(_: Size) -> Race:
    return Race(
        lambda: _seconds(_TIMED.format("import streamsieve")),
        lambda: _seconds(_TIMED.format("import sklearn")),
        "import sklearn",
        note="inside the process, without starting Python",
        rounds=5,
    )


@case("streamsieve --help", bar="ours <= 0.5 s")
def command_line(_: Size) -> Race:
    command = Path(sys.executable).with_name("streamsieve")
    if not command.exists():
        raise SkipCase(f"{command} is not there: install the package with its cli extra")
    return Race(
        lambda: run_process([str(command), "--help"]),
        lambda: run_process([sys.executable, "-c", "pass"]),
        "python -c pass",
        note="the whole process",
        rounds=5,
    )


def _first_uses(_: Size) -> dict[str, tuple[str, str]]:
    """Return how to make each selector, and its data: as it comes, and what takes longest to compile."""
    plain = {cls.__name__: (f"{cls.__name__}()", "X") for cls in ss.registry.selectors().values()}
    return plain | {
        "FastOSFS, g2 of bits": ('FastOSFS(test="g2")', "np.floor(2 * X)"),
        "FastOSFS, g2 of five levels": ('FastOSFS(test="g2")', "np.floor(5 * X)"),
        "OSFS, missing values": ('OSFS(missing="omit")', "X"),
    }


@case("first use, nothing compiled: ", bar="ours <= 12 s", over=_first_uses)
def first_use_cold(_: Size, which: tuple[str, str]) -> Race:
    make, data = which

    def ours() -> Seconds:
        with tempfile.TemporaryDirectory() as empty:
            return _seconds(_FIRST_USE.format(make=make, data=data), NUMBA_CACHE_DIR=empty)

    note = "after import streamsieve, to the first selection; empty NUMBA_CACHE_DIR"
    return Race(ours, note=note, rounds=1, warm_up=False)


def _one_of_each_axis(_: Size) -> dict[str, str]:
    return {name: name for name in ("Screen", "SAOLA")}


@case("first use, compiled before: ", bar="ours <= 0.8 s", over=_one_of_each_axis)
def first_use_warm(_: Size, name: str) -> Race:
    code = _FIRST_USE.format(make=f"{name}()", data="X")
    best = {"ours": float("inf"), "sklearn": float("inf")}

    def ours() -> Seconds:
        taken = _seconds(code, NUMBA_CACHE_DIR=_warm_folder())
        best["ours"] = min(best["ours"], taken)
        return taken

    def sklearn() -> Seconds:
        taken = _seconds(_SKLEARN)
        best["sklearn"] = min(best["sklearn"], taken)
        return taken

    def note() -> str:
        rest = best["ours"] - best["sklearn"]
        return (
            f"of it {best['sklearn']:.2f} s import scikit-learn, {rest:.2f} s are the rest (Numba, own code)"
        )

    # the untimed first run is what fills the cache
    return Race(ours, sklearn, "importing scikit-learn alone", note=note, rounds=5)
