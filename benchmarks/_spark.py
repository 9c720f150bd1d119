"""A Spark session of this machine, and the processor time of all its processes."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from benchmarks._cases import SkipCase


def started() -> Any:
    """Start Spark."""
    if shutil.which("java") is None:
        raise SkipCase("there is no java on the PATH")
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError as error:
        raise SkipCase("pyspark is not installed") from error
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "3g").config("spark.log.level", "OFF")
    builder = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "16384")
    made = builder.getOrCreate()
    atexit.register(made.stop)
    return made


def bare(frame: Any) -> None:
    """Send all rows through Python, and count them."""

    def count(batches: Any) -> Any:
        import pyarrow as pa  # noqa: PLC0415

        yield pa.record_batch({"n": pa.array([sum(batch.num_rows for batch in batches)], pa.int64())})

    frame.mapInArrow(count, "n long").collect()


def processor_seconds(ours: Callable[[], Any], peer: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Run both in turn after a warm-up; return the least processor time of each, of all processes."""
    best = [float("inf")] * 2
    for turn in range(rounds + 1):
        for place, work in enumerate((ours, peer)):
            before = _used()
            work()
            if turn:
                best[place] = min(best[place], _used() - before)
    return best[0], best[1]


def _used() -> float:
    """Return the processor seconds of this process and of all below it, ended ones included."""
    import psutil  # noqa: PLC0415

    me, total = psutil.Process(), 0.0
    for process in (me, *me.children(recursive=True)):
        with suppress(psutil.Error):  # a process that has just ended; its parent counts it
            total += sum(process.cpu_times()[:4])
    return total
