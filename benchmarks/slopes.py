"""How the cost of every method grows with rows, columns and kept columns: ``python -m benchmarks.slopes``.

Each method learns generated data of three sizes along each axis, a factor of two apart, with one thread.  The
slope is the exponent of a power law fitted to processor time (the fastest of a few runs) and to the size of
the state.  Sizes are small, so that fixed costs flatten a slope: it is a check of the order of growth, not a
forecast.  The figures go to ``benchmarks/slopes.json``, which the method cards show.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import streamsieve as ss
from benchmarks._machine import machine
from streamsieve import registry
from streamsieve.protocols import Task

FILE = Path(__file__).parent / "slopes.json"
#: Steps along an axis, as factors of the middle size.
FACTORS = (0.5, 1.0, 2.0)
#: Fits of one size: at least three, and more while all together take less than a moment.
LEAST_RUNS, MOMENT = 3, 0.15


class Size(NamedTuple):
    """Rows, columns, and columns to keep."""

    rows: int
    columns: int
    kept: int = 10


#: The middle sizes: a fit of any method takes milliseconds to a second.
MIDDLE = {
    "rows": Size(8_000, 200),
    "columns": Size(1_000, 2_000),
    "offline": Size(400, 200),
    "learners": Size(800, 100),
    "criteria": Size(8_000, 200),
}
#: Methods that do not run as they are built by default.
BUILT: dict[str, Callable[[], Any]] = {
    "group_saola": lambda: ss.GroupSAOLA(group_size=10),
    "ogfs": lambda: ss.OGFS(group_size=10),
    "dofs": lambda: ss.DOFS(group_size=10),
    # the default members are scikit-learn's, whose states are not written
    "SuperLearner": lambda: ss.SuperLearner([ss.FSAClassifier(10), ss.FSAClassifier(20)]),
}


def methods() -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Yield family, name on the site, and a builder of every method that has a card."""
    for name, cls in registry.selectors().items():
        yield registry.axis(cls), name, BUILT.get(name, cls)
    for cls in registry.learners():
        yield "learners", cls.__name__, BUILT.get(cls.__name__, cls)
    for name in registry.criteria():
        yield "criteria", f"criterion_{name}", lambda name=name: ss.Screen(name, k=10)


def measure(family: str, build: Callable[[], Any], middle: Size) -> dict[str, Any]:
    """Return the time and the size of the state at the middle size, and their slopes along each axis."""
    size_parameter = build().traits.size_parameter if hasattr(build(), "traits") else None
    axes = ["rows", "columns", *(["kept"] if size_parameter == "k" and family != "criteria" else [])]
    found: dict[Size, tuple[float, int]] = {}
    slopes: dict[str, dict[str, float]] = {"time": {}, "state": {}}
    for axis in axes:
        sizes = [middle._replace(**{axis: int(getattr(middle, axis) * factor)}) for factor in FACTORS]
        for size in sizes:
            if size not in found:
                found[size] = _once(family, build, size, size_parameter)
        for place, what in enumerate(("time", "state")):
            figures = np.log([found[size][place] for size in sizes])
            slopes[what][axis] = round(float(np.polyfit(np.log(FACTORS), figures, 1)[0]), 2)
    seconds, state = found[middle]
    return {"size": middle._asdict(), "seconds": round(seconds, 6), "state_bytes": state, "slopes": slopes}


def _once(family: str, build: Callable[[], Any], size: Size, size_parameter: str | None) -> tuple[float, int]:
    """Return the processor seconds of the fastest of some fits, and the bytes of the state."""
    X, y = _data(build(), size)
    best, spent, runs = np.inf, 0.0, 0
    while runs < LEAST_RUNS or spent < MOMENT:
        selector = build()
        if size_parameter == "k" and family != "criteria":
            selector.set_params(k=size.kept)
        start = time.process_time()
        selector.fit(X) if y is None else selector.fit(X, y)
        getattr(selector, "scores_", None)  # computed on access
        took = time.process_time() - start
        best, spent, runs = min(best, took), spent + took, runs + 1
    return best, len(selector.to_bytes())


def _data(selector: Any, size: Size) -> tuple[np.ndarray, np.ndarray | None]:
    """Return rows of which ten columns are informative; values >= 0, which every method takes."""
    rng = np.random.default_rng(0)
    tasks = selector.traits.tasks if hasattr(selector, "traits") else frozenset(Task)
    X = rng.normal(size=(size.rows, size.columns))
    signal = X[:, : min(10, size.columns)].sum(axis=1) + rng.normal(size=size.rows)
    X -= X.min()
    if not tasks:
        return X, None
    return X, (signal > 0).astype(int) if Task.BINARY in tasks else signal


def main() -> int:
    """Measure the methods asked for, and write the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slopes", description=__doc__)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="method names; the others stay as they are")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run? writes nothing")
    options = parser.parse_args()
    written = json.loads(FILE.read_text()) if FILE.exists() else {"methods": {}}
    written["machine"] = machine()
    with ss.threads(1), threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some fits are stopped before they converge
        for family, name, build in methods():
            if options.only and name not in options.only:
                continue
            middle = Size(64, 16, 4) if options.quick else MIDDLE[family]
            figures = measure(family, build, middle)
            written["methods"][name] = figures
            sys.stdout.write(f"{name:24} {figures['seconds']:.4f} s {figures['slopes']}\n")
    if not options.quick:
        known = {name for _, name, _ in methods()}
        written["methods"] = {name: each for name, each in written["methods"].items() if name in known}
        FILE.write_text(json.dumps(written, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
