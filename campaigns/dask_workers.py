"""Workers of a Dask cluster that are killed in the middle of runs, whose results must have the same bits."""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import streamsieve as ss
from campaigns.outcome import Outcome

GOAL = (
    "at least 50 kills of a worker in mid-run (steps), 0 rows lost, 0 counted twice; states equal bit for bit"
)
PATIENCE = 1800.0
#: Runs on a cluster, kills in each of them, and workers.
RUNS, KILLS, WORKERS = 6, 3, 2
#: Seconds that killed workers may take to be replaced, on a busy machine.
REPLACED = 600
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
    """Run a stream on a cluster many times, and kill workers after random numbers of parts."""
    import dask  # noqa: PLC0415
    from distributed import Client, LocalCluster  # noqa: PLC0415

    rng, kills = np.random.default_rng(case.seed), 0
    dask.config.set({"distributed.scheduler.allowed-failures": 50})
    options: dict[str, Any] = {"rows_per_task": ROWS, "batch_size": 256}
    with tempfile.TemporaryDirectory() as name:
        source = _written(Path(name), rng)
        by_threads = {
            s: _bits(ss.run(source, make(), engine="dask", **options)) for s, make in SCREENS.items()
        }
        with LocalCluster(n_workers=0, dashboard_address=None) as cluster, Client(cluster) as client:
            workers = _Workers(cluster.scheduler_address, name)
            for run in range(RUNS):
                screen = list(SCREENS)[run % len(SCREENS)]
                client.wait_for_workers(WORKERS, timeout=REPLACED)
                killing = _Killing(workers, rng.choice(np.arange(1, FILES), KILLS, replace=False).tolist())
                found = ss.run(
                    source, SCREENS[screen](), engine=client, retries=50, progress=killing, **options
                )
                kills += killing.kills
                if found.n_samples_seen_ != FILES * ROWS:
                    text = f"{found.n_samples_seen_} of {FILES * ROWS} rows after {kills} kills"
                    return Outcome("lost", text, amount=kills)
                if _bits(found) != by_threads[screen]:
                    return Outcome("lost", f"other bits after {kills} kills", amount=kills)
            workers.close()
    return Outcome("held", progress=kills > 0, amount=kills)


class _Workers:
    """Worker processes of a cluster, each replaced when it is killed.

    Dask's own nannies give up a worker that is killed soon after another one.
    """

    def __init__(self, scheduler: str, folder: str) -> None:
        # a worker is forked from a process that has imported everything already
        multiprocessing.set_forkserver_preload(["distributed", "streamsieve.engines", "streamsieve.rows"])
        self._arguments = (scheduler, folder)
        self._context = multiprocessing.get_context("forkserver")
        self._running = [self._started() for _ in range(WORKERS)]

    def _started(self) -> Any:
        process = self._context.Process(target=_live, args=self._arguments, daemon=True)
        process.start()
        return process

    def kill(self) -> None:
        """Kill the worker that has lived longest, and start another one."""
        process = self._running.pop(0)
        process.kill()
        process.join()
        self._running.append(self._started())

    def close(self) -> None:
        """Kill all workers."""
        for process in self._running:
            process.kill()
            process.join()


def _live(scheduler: str, folder: str) -> None:
    """Work for a scheduler until this process is killed."""
    from distributed import Worker  # noqa: PLC0415

    async def live() -> None:
        async with Worker(scheduler, nthreads=1, dashboard=False, local_directory=folder) as worker:
            await worker.finished()

    asyncio.run(live())


class _Killing:
    """Kills a worker whenever one of the given numbers of parts has been learned, and others have not."""

    def __init__(self, workers: _Workers, moments: list[int]) -> None:
        self._workers, self._moments = workers, moments
        self._parts = self.kills = 0

    def __call__(self, _: int) -> None:
        self._parts += 1
        if self._parts in self._moments:
            self._workers.kill()
            self.kills += 1


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
