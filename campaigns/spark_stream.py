"""Drivers of a Spark streaming query that are killed at the worst moments, restarted, and counted.

``python -m campaigns.spark_stream FOLDER MOMENT STEP [JAVA_OPTION]`` is one life of a driver.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import streamsieve as ss
from campaigns.outcome import Outcome
from streamsieve.base import RowSelector
from streamsieve.engines.spark import into

GOAL = "at least 50 kills of the driver (steps), 0 rows lost, 0 counted twice; scores equal to one process"
PATIENCE = 4 * 3600.0
#: Seconds that a life may take.
LIFE = 1800.0
FILES, ROWS, FEATURES = 8, 40, 4
#: A driver lives for seconds: compiling well would cost more than it saves.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
MOMENTS = ("begun", "learned", "saved")
#: Deaths after which something is wrong.
MOST_KILLS = 60
#: What a life's Java is given: the classes that `prepare` has archived, which take most of a start to load.
_java_option: list[str] = []


class Case(NamedTuple):
    """The seed of the rows and of the moments at which drivers are killed, and the most kills."""

    seed: int
    kills: int = MOST_KILLS


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield streams with their moments."""
    while True:
        yield Case(int(rng.integers(2**32)))


def prepare() -> None:
    """Run a driver to its end and keep the classes that it has loaded: each one after it starts sooner."""
    folder = Path(tempfile.mkdtemp(prefix="streamsieve-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _written(folder, np.random.default_rng(0), files=1)
    archive = folder / "classes.jsa"
    status, said = _life(folder, "never", 1, f"-XX:ArchiveClassesAtExit={archive}")
    if status:
        raise SystemExit(f"a driver that is not killed fails: {said}")
    if archive.exists():
        _java_option[:] = [f"-XX:SharedArchiveFile={archive}"]


def attempt(case: Case) -> Outcome:
    """Kill drivers of a query until one comes to the end of the stream."""
    rng = np.random.default_rng(case.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wanted = _written(folder, rng)
        kills = 0
        for life in range(MOST_KILLS):
            moment = str(rng.choice(MOMENTS)) if life < case.kills else "never"
            status, said = _life(folder, moment, int(rng.integers(1, 3)), *_java_option)
            if status == 0:
                break
            if status != -signal.SIGKILL:
                return Outcome("lost", f"after {kills} kills: {said}", amount=kills)
            kills += 1
        else:
            return Outcome("hung", f"{MOST_KILLS} kills, and no end", amount=kills)
        found = ss.load(folder / "state.sieve")
        if found.n_samples_seen_ != FILES * ROWS:
            return Outcome("lost", f"{found.n_samples_seen_} of {FILES * ROWS} rows", amount=kills)
        far = np.abs(found.scores_ - wanted.scores_).max()
        if not far <= 1e-12 * wanted.scores_.max():
            return Outcome("lost", f"a score is off by {far}", amount=kills)
    return Outcome("held", progress=kills > 0, amount=kills)


def _written(folder: Path, rng: np.random.Generator, files: int = FILES) -> Any:
    """Write the files of the stream; return what one process learns from them."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    (folder / "rows").mkdir()
    for k in range(files):
        y = rng.integers(0, 2, ROWS)
        columns = {f"c{j}": rng.normal(size=ROWS) + j * y for j in range(FEATURES)}
        pq.write_table(pa.table({**columns, "y": y}), folder / "rows" / f"{k}.parquet")
    return ss.run(ss.open(str(folder / "rows" / "*.parquet"), target="y"), ss.Screen("f", k=2))


def _life(folder: Path, moment: str, step: int, *java: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "campaigns.spark_stream", str(folder), moment, str(step), *java]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=LIFE, check=False)
    return done.returncode, " ".join(done.stderr.split())[-500:]


# ------------------------------------------------------------------------------------ a life


def main(folder: Path, moment: str, step: int, *java: str) -> None:
    """Run the query to the end of the files there are, or be killed at a moment of a step."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", " ".join([SHORT_LIVED, *java]))
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.default.parallelism", "1")
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    schema = ", ".join([*(f"c{j} double" for j in range(FEATURES)), "y long"])
    stream = session.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    learn = _mortal(into(folder / "state.sieve", ss.Screen("f", k=2), target="y"), moment, step)
    query = (
        stream.parquet(str(folder / "rows"))
        .writeStream.foreachBatch(learn)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    session.stop()


def _mortal(learn: Any, moment: str, step: int) -> Any:
    """Return a step that ends the process at its moment, the given number of steps after the start."""
    save, count = RowSelector.save, [0]

    def die(now: str) -> None:
        # at least: a batch that was saved before the last kill comes again, and is skipped without a save
        if now == moment and count[0] >= step:
            os.kill(os.getpid(), signal.SIGKILL)

    def saving(self: Any, *arguments: Any, **options: Any) -> None:
        die("learned")
        save(self, *arguments, **options)
        die("saved")

    def mortal(frame: Any, batch: int) -> None:
        count[0] += 1
        die("begun")
        learn(frame, batch)

    RowSelector.save = saving  # type: ignore[method-assign]
    return mortal


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
