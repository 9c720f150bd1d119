"""Engine on Spark, classic and Connect: executors learn partitions and merge states, sent as bytes.

``into`` is for streaming queries: it returns a function for ``foreachBatch``.

Only ``mapInArrow`` and ``applyInArrow`` are used: there is no RDD on Spark Connect, and accumulators would
count retried tasks twice.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from streamsieve import registry
from streamsieve._extras import needs
from streamsieve.base import RowSelector
from streamsieve.base.covered import CoveredParts
from streamsieve.engines.checks import check_order, check_selector
from streamsieve.engines.declared import Declared, declared_of
from streamsieve.engines.plan import FAN, Plan
from streamsieve.engines.task import Failure, build, merge_all, rows_of
from streamsieve.exceptions import ParameterError, SourceError, StateError
from streamsieve.running.lock import exclusive_lock
from streamsieve.sources.spark_frame import SparkSource, spark_errors_named

State = RowSelector | Failure
#: Columns of a record: the node of the tree that merges a state, its first part, its rows, and the state.
SCHEMA = "node int, part int, rows long, state binary, failure string"
#: Maximum number of bytes of a cell, which Spark and Arrow count by 32 bits.
LARGEST = 2**31 - 1
#: Maximum number of merging tasks: merging is quick, and each task starts Python, even without a state.
REDUCERS = 2
#: Blocks of columns per job; after a stop, at most these were computed in vain.
BLOCKS = 16
#: Prefix of the names of runs of streaming queries, whose parts are micro-batches.
PREFIX = "spark stream "


def run_spark(
    session: Any,
    plan: Plan,
    declared: Declared,
    workers: int | None,
    retries: int,
    notify: Callable[[int], Any],
) -> State:
    """Learn the parts of files or arrays on the executors of a session, one task each."""
    del retries  # Spark has a limit of its own, spark.task.maxFailures
    if workers is not None:
        raise ParameterError("executors are those of the Spark session: leave out workers=")
    numbers = (session or _active()).range(0, len(plan.parts), 1, len(plan.parts))
    return _merged(numbers.mapInArrow(_learning(plan, declared), SCHEMA), notify, len(plan.parts))


def run_frame(source: Any, declared: Declared, notify: Callable[[int], Any]) -> State:
    """Learn the partitions of a Spark frame where they are."""
    return _merged(source.frame.mapInArrow(_partition(source.reader, declared), SCHEMA), notify)


def in_jobs(session: Any, function: Callable[..., Any], shared: bytes, tasks: Iterator[Any]) -> Iterator[Any]:
    """Yield what executors return for tasks, in order, some of them per job."""
    session = session or _active()
    while some := list(islice(tasks, BLOCKS)):
        numbers = session.range(0, len(some), 1, len(some))
        with spark_errors_named():
            rows = numbers.mapInArrow(_working(function, shared, some), "block int, found binary").collect()
        for row in sorted(rows, key=lambda row: int(row["block"])):
            yield pickle.loads(bytes(row["found"]))  # noqa: S301 - from our own process


def _active() -> Any:
    session = needs("pyspark.sql", "engine='spark'").SparkSession.getActiveSession()
    if session is None:
        raise ParameterError("engine='spark' needs a running session: give it, engine=spark")
    return session


# ------------------------------------------------------------------------------------ streaming queries


def into(
    path: str | os.PathLike[str],
    selector: RowSelector,
    *,
    target: str,
    query: str | None = None,
    batch_size: int = 4096,
    **options: Any,
) -> Callable[[Any, int], None]:
    """Return a function for ``foreachBatch`` that learns every micro-batch into a state file, exactly once.

    The state and the number of its last micro-batch are saved together, atomically: a batch that Spark gives
    again after a crash is in the state already, and is skipped.

    Parameters
    ----------
    path : the state file; :func:`streamsieve.load` reads it.  If it exists, learning goes on from there
    selector : selector over rows that merges, with the parameters of the state
    target : the column that holds the target
    query : str or None, default=None
        Name of the streaming query, the same after each restart with the same checkpoint location, and
        another one for another location.  None: the id that Spark keeps in the checkpoint location, which
        Spark Connect does not tell.
    batch_size : int, default=4096
        Rows that an executor learns at a time.
    **options
        Those of :class:`streamsieve.sources.SparkSource`: ``features``, ``exclude``, ``order_by`` and others.

    Returns
    -------
    callable
        Function of a frame and the number of its batch.

    Raises
    ------
    StateError : from the function: the state follows another query, whose batches have the same numbers

    Examples
    --------
    >>> from streamsieve.engines.spark import into  # doctest: +SKIP
    >>> step = into("clicks.sieve", ss.Screen("f", k=100), target="bought")  # doctest: +SKIP
    >>> clicks.writeStream.foreachBatch(step).option("checkpointLocation", folder).start()  # doctest: +SKIP
    """
    check_selector(selector)
    place = Path(path)

    def step(frame: Any, batch: int) -> None:
        run = PREFIX + (query or _query_of(frame))
        with exclusive_lock(place):
            held = _held(place, run)
            if held is not None and _has(held, run, batch):
                return  # Spark repeats the last batch after a crash, but it has been saved
            learned = _learned(frame, selector, held, run, batch_size, {"target": target, **options})
            if learned is None:
                return  # a batch without rows
            learned._covered_ = CoveredParts.of(run, batch)
            (learned if held is None else held.merge(learned)).save(place)

    return step


def _query_of(frame: Any) -> str:
    """Return the id of the streaming query that is calling, which Spark keeps in the checkpoint location."""
    context = getattr(frame.sparkSession, "_sc", None)
    found = None if context is None else context.getLocalProperty("sql.streaming.queryId")
    if not found:
        raise ParameterError(
            "the id of the streaming query is not known here: give it a name of its own, "
            "into(path, selector, target=..., query='clicks'), and the same after each restart"
        )
    return str(found)


def _held(place: Path, run: str) -> RowSelector | None:
    """Return the state so far; one of another query, whose batches have the same numbers, is refused."""
    if not place.exists():
        return None
    held: RowSelector = registry.load(place)
    spans = held._covered_.spans if hasattr(held, "_covered_") else []
    if any(span.run.startswith(PREFIX) and span.run != run for span in spans):
        raise StateError(
            f"{place} follows another streaming query: a new checkpoint location begins again with batch 0; "
            "use the old one, or another state file"
        )
    return held


def _has(held: RowSelector, run: str, batch: int) -> bool:
    spans = held._covered_.spans if hasattr(held, "_covered_") else []
    return any(span.run == run and span.low <= batch < span.high for span in spans)


def _learned(
    frame: Any,
    selector: RowSelector,
    held: RowSelector | None,
    run: str,
    batch_size: int,
    options: dict[str, Any],
) -> RowSelector | None:
    """Learn a micro-batch on the executors; None if it has no rows."""
    source = SparkSource(frame, **options)
    check_order(source, selector)
    if frame.isEmpty():
        return None
    declared = declared_of(source, selector, run, batch_size)
    if getattr(held, "task_", None) == "regression" and declared.head.y is not None:
        # whole numbers in this batch are numeric if the first batch was
        declared = replace(declared, head=replace(declared.head, y=np.floor(declared.head.y) + 0.5))
    found = run_frame(source, declared, lambda _: None)
    if isinstance(found, Failure):
        raise found.error()
    return found


# ------------------------------------------------------------------------------------ on executors


def _learning(plan: Plan, declared: Declared) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def learn(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _row(number, number // FAN, build(plan.parts[number], number, declared, 1))

    return learn


def _partition(reader: Any, declared: Declared) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def learn(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext  # noqa: PLC0415

        number = TaskContext.get().partitionId()
        part = reader.stream(f"partition {number} of the Spark frame", batches)
        # empty partitions have a state, too: each one must be accounted for
        yield _row(number, number // FAN, build(part, number, declared, 1))

    return learn


def _working(
    function: Callable[..., Any], shared: bytes, tasks: Sequence[Any]
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # noqa: PLC0415

        held = pickle.loads(shared)  # noqa: S301 - from our own process
        for batch in batches:
            for number in batch.column(0).to_pylist():
                found = pickle.dumps(function(held, *tasks[number]))
                cells = {"block": pa.array([number], pa.int32()), "found": pa.array([found], pa.binary())}
                yield pa.record_batch(cells)

    return run


def _merge_node(table: Any) -> Any:
    """Merge the states of a node, which arrive in any order."""
    import pyarrow as pa  # noqa: PLC0415

    rows = table.sort_by("part").to_pylist()
    merged = merge_all(*map(_state, rows))
    return pa.Table.from_batches([_row(rows[0]["part"], rows[0]["node"], merged)])


def _row(part: int, node: int, found: State) -> Any:
    """Return a state as a record batch of one row."""
    import pyarrow as pa  # noqa: PLC0415

    data = None if isinstance(found, Failure) else found.to_bytes()
    if data is not None and len(data) > LARGEST:
        text = f"its state has {len(data):,} bytes, and a cell of Spark holds {LARGEST:,}: give fewer columns"
        found, data = Failure(part, "", "SourceError", text, ""), None
    said = json.dumps(asdict(found)) if isinstance(found, Failure) else None
    return pa.record_batch(
        {
            "node": pa.array([node], pa.int32()),
            "part": pa.array([part], pa.int32()),
            "rows": pa.array([rows_of(found)], pa.int64()),
            "state": pa.array([data], pa.binary()),
            "failure": pa.array([said], pa.string()),
        }
    )


def _state(row: Any) -> State:
    if row["failure"] is not None:
        return Failure(**json.loads(row["failure"]))
    found: RowSelector = registry.from_bytes(bytes(row["state"]))
    return found


# ------------------------------------------------------------------------------------ on the driver


def _merged(states: Any, notify: Callable[[int], Any], n_parts: int | None = None) -> State:
    """Merge the lowest level of the tree on executors, and the other levels here."""
    with spark_errors_named():
        reducers = REDUCERS if n_parts is None else min(REDUCERS, -(-n_parts // FAN))
        nodes = states.repartition(reducers, "node").groupBy("node")
        rows = nodes.applyInArrow(_merge_node, SCHEMA).collect()
    rows.sort(key=lambda row: row["node"])
    if not rows:
        raise SourceError("the Spark frame has no partitions: there is nothing to learn")
    found = [_state(row) for row in rows]
    for row in rows:
        notify(row["rows"])
    while len(found) > 1:
        found = [merge_all(*found[low : low + FAN]) for low in range(0, len(found), FAN)]
    return found[0]
