"""Which files of the package data pass through, found by running it in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from tools.shape.figures import Figure
from tools.shape.tree import PACKAGE, ROOT, Tree

#: Column selectors with a rule of redundancy, as they are by default; the first are compared.
RULES = ("SAOLA", "FastOSFS", "TopK", "OSFS", "OSSFSDD", "InteractionScan", "GroupSAOLA")
COMPARED = RULES[:4]
ROWS = "rows"


class Walk(NamedTuple):
    """Files on the way, or what went wrong."""

    files: list[str]
    error: str = ""


def walks(tree: Tree) -> Iterator[Figure]:
    """Yield the figures of ``--trace``."""
    walk = _trace(tree.src)
    for name in RULES:
        goal = 14 if name in COMPARED else None
        begin = len(set(walk[name].files + walk[f"{name}.begin"].files))
        yield _figure(f"files for a block: {name}", goal, walk[name], f"walk-{name}", f", {begin} with begin")
    yield _difference({name: set(walk[name].files) for name in COMPARED if not walk[name].error})
    yield _figure("files from open to Screen.save", 22, walk[ROWS], "walk-rows")


def _difference(walks: dict[str, set[str]]) -> Figure:
    kind, what = "walk-different", "files in one walk and not in another, most"
    if len(walks) < len(COMPARED):
        return Figure(kind, what, 3, None, [], "not all walks succeeded")
    pairs = {(a, b): sorted(walks[a] - walks[b]) for a, b in permutations(walks, 2)}
    (first, second), worst = max(pairs.items(), key=lambda item: len(item[1]))
    items = [f"{a}, not {b}: {file}" for (a, b), own in pairs.items() for file in own]
    return Figure(kind, what, 3, len(worst), items, f"in {first}, not in {second}")


def _figure(what: str, goal: int | None, walk: Walk, kind: str, more: str = "") -> Figure:
    if walk.error:
        return Figure(kind, what, goal, None, [], walk.error)
    kernels = sum("/_kernels/" in file for file in walk.files)
    return Figure(kind, what, goal, len(walk.files), walk.files, f"{kernels} of them kernels{more}")


def _trace(src: Path) -> dict[str, Walk]:
    paths = os.pathsep.join([str(src), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "tools.shape.walk", str(src)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise RuntimeError(f"the walk failed:\n{done.stderr}")
    answer = json.loads(done.stdout.splitlines()[-1])
    return {name: Walk(*walk) for name, walk in answer.items()}


# ------------------------------------------------------------------------------------ inside that process


def files_run(work: Callable[[], object], src: Path) -> list[str]:
    """Return the files of the package in which a function runs during ``work``."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            seen.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    own = (Path(file) for file in seen if file.startswith(f"{src / PACKAGE}{os.sep}"))
    return sorted(file.relative_to(src).as_posix() for file in own)


def _blocks() -> tuple[Any, list[Any]]:
    """Return y and two blocks with relevant, redundant and irrelevant columns."""
    import numpy as np  # noqa: PLC0415 - only this process needs it

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    weak = y[:, None] + rng.normal(0, 1, (200, 8))
    strong = y[:, None] + rng.normal(0, 0.3, (200, 2))
    X = np.hstack([weak, weak + rng.normal(0, 0.1, weak.shape), strong, rng.normal(0, 1, (200, 8))])
    return y, [X[:, ::2].copy(), X[:, 1::2].copy()]


def _block(name: str, src: Path, *, begin: bool) -> list[str]:
    """Begin a selector, or offer a block to one that has seen another block."""
    import streamsieve as ss  # noqa: PLC0415

    y, (first, second) = _blocks()
    options = {"group_size": 4} if name == "GroupSAOLA" else {}
    selector = getattr(ss, name)(**options).begin(y)
    if begin:
        return files_run(lambda: selector.begin(y), src)
    selector.offer(first)
    return files_run(lambda: selector.offer(second), src)


def _rows(src: Path) -> list[str]:
    """Read a file of rows, screen them, and save the screen, twice."""
    import numpy as np  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    import streamsieve as ss  # noqa: PLC0415

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 128)
    columns = {f"x{j}": y * (j == 0) + rng.normal(size=128) for j in range(12)}
    with tempfile.TemporaryDirectory() as folder:
        parquet.write_table(pa.table({**columns, "y": y}), f"{folder}/data.parquet")

        def work() -> None:
            screen = ss.Screen("fisher")
            for batch in ss.open(f"{folder}/data.parquet", target="y").rows(32):
                screen.learn(batch)
            _ = screen.scores_
            screen.save(f"{folder}/screen.sieve")

        work()
        return files_run(work, src)


def _tried(work: Callable[[], list[str]]) -> Walk:
    try:
        return Walk(work())
    except Exception as error:  # noqa: BLE001 - a tree in the midst of a change still has its other figures
        return Walk([], f"{type(error).__name__}: {error}")


def _main(src: Path) -> None:
    import streamsieve  # noqa: PLC0415

    if not Path(str(streamsieve.__file__)).is_relative_to(src):
        raise RuntimeError(f"imported {streamsieve.__file__}, not the package in {src}")
    work: dict[str, Callable[[], list[str]]] = {ROWS: lambda: _rows(src)}
    for name in RULES:
        work[name] = partial(_block, name, src, begin=False)
        work[f"{name}.begin"] = partial(_block, name, src, begin=True)
    answer = {name: _tried(function) for name, function in work.items()}
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
