"""Workers of a Dask cluster that are killed in the middle of runs, whose results must have the same bits."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import streamsieve as ss
from campaigns.outcome import Outcome

GOAL = (
    "at least 50 kills of a worker in mid-run (steps), 0 rows lost, 0 counted twice; states equal bit for bit"
)
PATIENCE = 1800.0
#: Runs on a cluster, each with one kill, and its workers.
RUNS, WORKERS = 20, 2
#: Seconds that killed workers may take to be replaced, on a busy machine.
REPLACED = 300
FILES, ROWS, FEATURES = 12, 2_000, 5
SCREENS = {
    "f": lambda: ss.Screen("f", k=2),
    "mutual_info": lambda: ss.Screen("mutual_info", k=2, max_rank_error=0.02),
    "half_life": lambda: ss.Screen("f", k=2, half_life=700),
}


class Case(NamedTuple):
    """The seed of the rows and of the moments at which workers are killed."""

    seed: int


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield streams with their moments."""
    while True:
        yield Case(int(rng.integers(2**32)))


def attempt(case: Case) -> Outcome:
    """Run a stream on a cluster many times, and kill a worker after a random number of parts."""
    import dask  # noqa: PLC0415
    from distributed import Client, LocalCluster  # noqa: PLC0415

    rng, kills = np.random.default_rng(case.seed), 0
    options: dict[str, Any] = {"rows_per_task": ROWS, "batch_size": 256}
    with tempfile.TemporaryDirectory() as name:
        source = _written(Path(name), rng)
        by_threads = {
            s: _bits(ss.run(source, make(), engine="dask", **options)) for s, make in SCREENS.items()
        }
        # a worker that replaces a killed one is forked from a process that has imported everything already
        multiprocessing.set_forkserver_preload(
            ["distributed.nanny", "streamsieve.engines", "streamsieve.rows"]
        )
        dask.config.set(
            {
                "distributed.scheduler.allowed-failures": 50,
                "distributed.worker.multiprocessing-method": "forkserver",
            }
        )
        cluster = LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None)
        with cluster, Client(cluster) as client:
            for run in range(RUNS):
                screen = list(SCREENS)[run % len(SCREENS)]
                try:
                    client.wait_for_workers(WORKERS, timeout=REPLACED)
                except TimeoutError:  # Dask has not replaced them: what was seen so far counts
                    break
                killing = _Killing(cluster, int(rng.integers(1, FILES)))
                found = ss.run(
                    source, SCREENS[screen](), engine=client, retries=50, progress=killing, **options
                )
                kills += killing.done
                if found.n_samples_seen_ != FILES * ROWS:
                    text = f"{found.n_samples_seen_} of {FILES * ROWS} rows after {kills} kills"
                    return Outcome("lost", text, amount=kills)
                if _bits(found) != by_threads[screen]:
                    return Outcome("lost", f"other bits after {kills} kills", amount=kills)
    return Outcome("held", progress=kills > 0, amount=kills)


class _Killing:
    """Kills a worker when the given number of parts have been learned, and others have not."""

    def __init__(self, cluster: Any, parts: int) -> None:
        self._cluster, self._left = cluster, parts
        self.done = False

    def __call__(self, _: int) -> None:
        self._left -= 1
        if self._left > 0 or self.done:
            return
        for nanny in self._cluster.workers.values():
            if nanny.pid is not None and nanny.status.name == "running":
                with suppress(ProcessLookupError):  # the last one that was killed
                    os.kill(nanny.pid, signal.SIGKILL)
                    self.done = True
                    return


def _written(folder: Path, rng: np.random.Generator) -> Any:
    """Write a stream of several files."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    for k in range(FILES):
        y = rng.integers(0, 2, ROWS)
        columns = {f"c{j}": rng.normal(size=ROWS) + 0.2 * j * y for j in range(FEATURES)}
        pq.write_table(pa.table({**columns, "y": y}), folder / f"{k:02}.parquet")
    return ss.open(str(folder / "*.parquet"), target="y")


def _bits(selector: Any) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in ss.state.from_bytes(selector.to_bytes())[1].items()}
