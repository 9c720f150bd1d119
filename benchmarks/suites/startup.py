"""How long until it works: importing, the command line, and the first use of each selector.

Every figure comes from fresh processes.  A first use compiles kernels where Numba's cache is empty (once
a machine) and loads them where it is not (once a process).
"""

from __future__ import annotations

import atexit
import functools
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

import streamsieve as ss
from benchmarks._cases import Race, Size, SkipCase, case
from benchmarks._measure import Seconds, run_process, run_python
from streamsieve import choosing, registry
from streamsieve.cli import run

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


def _typos(_: Size) -> dict[str, tuple[str, ...]]:
    return {
        "path": ("no_such_file.csv", "--target", "y"),
        "option": ("README.md", "--targt", "y"),
        "choice": ("-", "--target", "y", "--missing", "drop"),
    }


@case("streamsieve select, a mistyped ", bar="ours <= 0.4 s", over=_typos)
def mistyped(_: Size, arguments: tuple[str, ...]) -> Race:
    refused = (
        "import sys\nfrom streamsieve.cli import run\n"
        f"sys.exit(run({['select', *arguments]!r}) != 2)"  # an error is the answer
    )
    return Race(
        lambda: run_python(refused),
        lambda: run_python("pass"),
        "python -c pass",
        note="the whole process, to the error",
        rounds=5,
    )


@case("streamsieve select, a CSV of 100 MB", bar="ours <= 1.5x")
def select_csv(size: Size) -> Race:
    """Select from a file as a newcomer does; the peer reads it with pyarrow and fits the same method."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(size(56_000, 500), 200)).round(6)
    y = np.where(X[:, 3] + X[:, 7] + rng.normal(size=len(X)) > 0, "yes", "no")
    path = Path(_warm_folder()) / "table.csv"
    csv.write_csv(pa.table({**{f"f{j}": x for j, x in enumerate(X.T)}, "label": y}), path)
    method = choosing.choose(choosing.Profile.of(X, y), "accurate")
    selector = registry.selector(method.method)

    def ours() -> Seconds:
        started = time.process_time()
        run(["select", str(path), "--target", "label", "--quiet"])
        return Seconds(time.process_time() - started)

    def peer() -> Seconds:
        started = time.process_time()
        csv.read_csv(path)
        read = time.process_time()
        selector(**method.parameters).fit(X, y)
        return Seconds(read - started + (time.process_time() - read) / 1.5)

    note = (
        f"{path.stat().st_size / 1e6:.0f} MB, 200 columns, processor time; of 1.5x the peer, reading counts "
        "1.5 times and the method once"
    )
    return Race(ours, peer, "pyarrow.csv.read_csv, and the method", note=note, rounds=5)


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
