"""Where the processor time of ``engine="local"`` goes, and the most that processes can give on this machine.

``python -m benchmarks._local_engine FILE...`` prints it for Parquet files whose target is the column y.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import streamsieve as ss
from streamsieve.engines import local
from streamsieve.engines.declared import declared_of
from streamsieve.engines.plan import plan_of
from streamsieve.engines.task import build, merge_all

BATCH = 16_384


@dataclass(frozen=True)
class Costs:
    """Processor seconds of the same work, done in three ways.

    Attributes
    ----------
    one_thread, one_process : one process of a single thread, and one with threads
    cores : how many cores the latter kept busy
    starting : of all workers, until the first part is read: starting Python, imports
    loading : of all workers: kernels, by how much the first part of a worker took longer than its others
    learning : of all workers: reading and learning parts
    sending : of all workers: the rest
    merging : of the driver
    """

    one_thread: float
    one_process: float
    cores: float
    starting: float
    loading: float
    learning: float
    sending: float
    merging: float

    @property
    def engine(self) -> float:
        """All that the engine takes."""
        return self.starting + self.loading + self.learning + self.sending + self.merging

    def bound(self, cores: int) -> float:
        """Return the largest speedup over one process, if workers started and loaded kernels in no time.

        They only learn then, at best spread evenly over the cores.
        """
        return self.one_process / self.cores / (self.learning / cores)

    def __str__(self) -> str:
        parts = ("starting", "loading", "learning", "sending", "merging")
        engine = ", ".join(f"{name} {getattr(self, name):.1f}" for name in parts)
        text = (
            f"processor seconds: one process {self.one_process:.1f} with threads, {self.one_thread:.1f} with "
            f"one; engine {self.engine:.1f}: {engine}"
        )
        if self.cores < 1:
            return f"{text}; other work kept the cores busy, so a bound on the speedup is not known"
        return (
            f"{text}; one process keeps {self.cores:.2f} cores busy, so 2 cores give {self.bound(2):.2f}x at "
            f"most, and {self.bound(2) * self.learning / self.engine:.2f}x with the time that workers take "
            "to start"
        )


def costs(source: Any, workers: int = 2) -> Costs:
    """Run ``Screen("mutual_info")`` in one process and in workers."""
    one_process, wall = _timed(lambda: _screened(source))
    with one_thread():
        alone, _ = _timed(lambda: _screened(source))
    plan = plan_of(source)
    declared = declared_of(source, ss.Screen("mutual_info", k=10), plan.run, BATCH)
    before, driver = _children(), time.process_time()
    workers = min(workers, len(plan.parts))
    with local._Pool(workers, max(1, local.cores() // workers)) as pool:  # noqa: SLF001 - the engine's own
        tasks = [pool._pool.submit(_built, part, k, declared) for k, part in enumerate(plan.parts)]  # noqa: SLF001
        found = [task.result() for task in tasks]
    total = _children() - before
    states = [state for state, *_ in found]
    for level in plan.tree:
        states = [merge_all(*(states[k] for k in node)) for node in level]
    by_worker: dict[int, list[tuple[float, float]]] = {}
    for _, process, start, end in found:
        by_worker.setdefault(process, []).append((start, end - start))
    ran = [sorted(each) for each in by_worker.values()]
    usual = median(seconds for each in ran for _, seconds in each[1:] or each)
    starting = sum(each[0][0] for each in ran)
    loading = sum(max(0.0, each[0][1] - usual) for each in ran)
    learning = sum(seconds for each in ran for _, seconds in each) - loading
    return Costs(
        alone, one_process, one_process / wall, starting, loading, learning,
        total - starting - loading - learning, time.process_time() - driver,
    )  # fmt: skip


def _screened(source: Any) -> Any:
    return ss.run(source, ss.Screen("mutual_info", k=10), batch_size=BATCH)


def _built(part: Any, number: int, declared: Any) -> tuple[Any, int, float, float]:
    """Learn a part in a worker; return its process, and its processor time before and after."""
    start = time.process_time()
    state = build(part, number, declared, 1)
    return state, os.getpid(), start, time.process_time()


def _timed(work: Callable[[], Any]) -> tuple[float, float]:
    began, computed = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - computed, time.perf_counter() - began


@contextmanager
def one_thread() -> Iterator[None]:
    """Context: neither kernels nor the decoding of files have threads."""
    import pyarrow as pa  # noqa: PLC0415

    before = pa.cpu_count()
    pa.set_cpu_count(1)
    try:
        with ss.threads(1):
            yield
    finally:
        pa.set_cpu_count(before)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(files: Sequence[str]) -> None:
    source = ss.open(list(files), target="y")
    _screened(ss.open(files[0], target="y"))  # kernels are loaded before anything is measured
    print(costs(source))


if __name__ == "__main__":
    main(sys.argv[1:])
