"""A run that is killed again and again, and has to come out as if nothing had happened.

``python -m tests.running.killing FOLDER SCENARIO KILLS`` prints what happened as JSON.  It is a program of
its own because it forks: one process imports everything, and every life of the run is a fork of it, so that
two hundred kills take a minute instead of ten.
"""

import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import streamsieve as ss
from streamsieve import state

#: More rows than are ever put off, so that checkpoints do not change how rows are added up.
BATCH = 70
#: A life lasts until it has made a random number of checkpoints and a random part of a second more.
CHECKPOINTS, MORE = (0, 12), 0.05
#: Seconds to rest after each batch, so that the stream needs many lives; rows there must be for each of them.
REST, ROWS_A_LIFE = 0.005, 8_000
#: Seconds in which a life must have made its checkpoints, on the slowest machine.
PATIENCE = 120.0


@dataclass
class Report:
    """What happened.

    Attributes
    ----------
    kills : lives that were ended by SIGKILL
    checkpoints : how many were completed in all lives
    resumed : kills after which the next life began with more rows than the one before
    while_writing : kills that left a half-written file behind
    rows, expected_rows : learnt in the end, and in the stream
    same : whether the final state is that of a run without checkpoints, bit for bit
    """

    kills: int
    checkpoints: int
    resumed: int
    while_writing: int
    rows: int
    expected_rows: int
    same: bool


def enduring(
    make_source: Callable[[], Any], make_selector: Callable[[], Any], folder: Path, kills: int, seed: int = 0
) -> Report:
    """Run a stream in forks of this process, kill a number of them, let the last one live, and compare."""
    path = folder / "run.sieve"
    draw = random.Random(seed)  # noqa: S311 - no secret
    resumed = while_writing = done = 0
    for _ in range(kills):
        life = os.fork()
        if life == 0:
            _live(lambda: _run(make_source(), make_selector(), path, rest=REST))
        _wait(path, draw.randint(*CHECKPOINTS))
        time.sleep(draw.uniform(0, MORE))
        os.kill(life, signal.SIGKILL)
        ended = os.waitpid(life, 0)[1]
        if not os.WIFSIGNALED(ended):
            code = os.waitstatus_to_exitcode(ended)
            raise RuntimeError(f"a run ended by itself, with exit code {code}, before it could be killed")
        while_writing += len(_leftovers(path)) > 0
        before, done = done, _rows_of(path)
        resumed += done > before
    last = os.fork()
    if last == 0:
        _live(lambda: _run(make_source(), make_selector(), path, rest=0))
    if os.waitpid(last, 0)[1] != 0:
        raise RuntimeError("the last life did not come to its end")
    header, arrays = state.read(path)
    reference = ss.run(make_source(), make_selector(), batch_size=BATCH)
    return Report(
        kills, header["stream"]["number"], resumed, while_writing,
        ss.load(path).n_samples_seen_, reference.n_samples_seen_, _same(header, arrays, reference, folder),
    )  # fmt: skip


def _run(source, selector, path, *, rest):
    ss.run(source, selector, checkpoint=path, every=BATCH, resume=True, batch_size=BATCH,
           progress=lambda _: time.sleep(rest))  # fmt: skip


def _live(work):
    """Do the work and end this process, whatever happens: a fork never returns."""
    try:
        work()
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _wait(path, checkpoints):
    """Wait until the file was replaced this often, or a little less often if that goes very fast."""
    until = time.monotonic() + PATIENCE
    known = _generation(path)
    while checkpoints:
        if time.monotonic() > until:
            raise RuntimeError(f"a run made no checkpoint in {PATIENCE:.0f} seconds")
        time.sleep(0.0005)
        now = _generation(path)
        checkpoints -= now != known
        known = now


def _generation(path):
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def _leftovers(path):
    names = {path.name, f"{path.name}.previous", f".{path.name}.lock"}
    return [p for p in path.parent.iterdir() if path.name in p.name and p.name not in names]


def _rows_of(path):
    """Read the checkpoint as a resumed run would: there is always a whole one."""
    there = path if path.exists() else path.with_name(f"{path.name}.previous")
    return state.read(there)[0]["stream"]["rows"] if there.exists() else 0


def _same(header, arrays, reference, folder):
    reference.save(folder / "reference.sieve")
    wanted, wanted_arrays = state.read(folder / "reference.sieve")
    equal = all(header[key] == wanted[key] for key in ("class", "parameters"))
    equal = equal and arrays.keys() == wanted_arrays.keys()
    return equal and all(
        (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
        for a, b in ((arrays[name], wanted_arrays[name]) for name in arrays)
    )


# ------------------------------------------------------------------------------------ a table in a file

SELECTORS = {
    "moments": lambda: ss.Screen("f", k=2, half_life=5_000),
    "quantiles": lambda: ss.Screen("mutual_info", k=2, review_every=1_000),
}


def write_table(path: Path, n: int) -> None:
    """Write rows whose relevant columns change half-way, so that the ledger has something to tell."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 4))
    X[: n // 2, 0] += y[: n // 2]
    X[n // 2 :, 1] += 2 * y[n // 2 :]
    X[:, 2] += 0.1 * y
    table = pa.table({**{f"c{j}": X[:, j] for j in range(4)}, "label": np.array(["no", "yes"])[y]})
    pq.write_table(table, path, row_group_size=10_000)


def main() -> None:
    """Run a scenario over a Parquet file and print the report."""
    folder, scenario, kills = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    file = folder / "table.parquet"
    write_table(file, kills * ROWS_A_LIFE + 17)
    make = SELECTORS[scenario]
    rng = np.random.default_rng(0)
    for n in (BATCH, 2 * BATCH):  # the kernels are loaded before the first fork
        make().partial_fit(rng.normal(size=(n, 4)), np.array(["no", "yes"])[np.arange(n) % 2]).get_support()
    print(json.dumps(asdict(enduring(lambda: ss.open(file, target="label"), make, folder, kills))))


if __name__ == "__main__":
    main()
