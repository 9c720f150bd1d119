"""Engine on Dask: the workers of a cluster, or threads of this process if there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamsieve.engines.declared import Declared
from streamsieve.engines.plan import Plan
from streamsieve.engines.task import Failure, build, failure, merge_all, rows_of
from streamsieve.exceptions import SourceError, StreamSieveError
from streamsieve.sources.dask_frame import LazyChunk
from streamsieve.sources.parts import SourcePart


def run_dask(
    client: Any,
    plan: Plan,
    declared: Declared,
    workers: int | None,
    retries: int,
    notify: Callable[[int], Any],
) -> Any:
    """Learn all parts with Dask: on the given client, the running one, or by threads."""
    client = client or running_client()
    if client is None:
        return _by_threads(plan, declared, workers, notify)
    return _by_cluster(client, plan, declared, retries, notify)


def running_client() -> Any:
    """Return the client that Dask would use; None if there is none."""
    try:
        import dask  # noqa: F401, PLC0415
    except ImportError as error:
        raise SourceError("engine='dask' needs Dask: pip install 'streamsieve[dask]'") from error
    try:
        from distributed import default_client  # noqa: PLC0415

        return default_client()
    except (ImportError, ValueError):  # there is none
        return None


def _by_cluster(
    client: Any, plan: Plan, declared: Declared, retries: int, notify: Callable[[int], Any]
) -> Any:
    from distributed import KilledWorker, as_completed  # noqa: PLC0415

    options = {"pure": False, "retries": retries}
    nodes = _leaves(client, plan, declared, options)
    parts = [(f"part {k + 1} ({plan.parts[k].shown})", leaf) for k, leaf in enumerate(nodes)]
    counts = [client.submit(rows_of, leaf, **options) for leaf in nodes]
    every = [*nodes, *counts]
    for level in plan.tree:
        # merged states are not held by this process, so that workers may drop them
        nodes = [client.submit(merge_all, *(nodes[k] for k in node), **options) for node in level]
        every += nodes
    root = nodes[0]
    try:
        for count in as_completed(counts):
            notify(count.result())
        return root.result()
    except KilledWorker as error:
        # Dask blames all tasks that a worker had, and any of them may be the first that it reports
        blamed = " or ".join(shown for shown, leaf in parts if leaf.status == "error")
        raise SourceError(
            f"a worker died each time {blamed or 'a merge of several parts'} was under way: it may not fit "
            "into memory; give smaller parts with rows_per_task"
        ) from error
    finally:
        client.cancel(every)  # finished parts remain


def _leaves(client: Any, plan: Plan, declared: Declared, options: dict[str, Any]) -> list[Any]:
    """Start learning every part; partitions of Dask data are computed on the workers that learn them."""
    if _is_lazy(plan):
        lazy = [_lazy_leaf(part, number, declared) for number, part in enumerate(plan.parts)]
        return list(client.compute(lazy, retries=options["retries"]))
    return [
        client.submit(build, part, number, declared, 1, **options) for number, part in enumerate(plan.parts)
    ]


def _is_lazy(plan: Plan) -> bool:
    return isinstance(plan.parts[0].source, LazyChunk)


def _lazy_leaf(part: SourcePart, number: int, declared: Declared) -> Any:
    """Return the learning of a partition as a delayed object, which depends on the partition."""
    from dask import delayed  # noqa: PLC0415

    learn = _Chunk(part.source.reader, part.shown, number, declared)
    return delayed(learn, name=f"learn-{declared.run}-{number}", pure=False, traverse=False)(
        *part.source.lazy
    )


def _by_threads(plan: Plan, declared: Declared, workers: int | None, notify: Callable[[int], Any]) -> Any:
    from dask.callbacks import Callback  # noqa: PLC0415
    from dask.threaded import get  # noqa: PLC0415

    graph: dict[Any, Any] = {}
    keys: list[Any] = []
    for k, part in enumerate(plan.parts):
        if _is_lazy(plan):
            leaf = _lazy_leaf(part, k, declared)
            graph.update(leaf.__dask_graph__().to_dict())
            keys.append(leaf.key)
        else:
            graph["part", k] = (_Build(part, k, declared, 1),)
            keys.append(("part", k))
    leaves = set(keys)
    for height, level in enumerate(plan.tree):
        for k, node in enumerate(level):
            graph["merged", height, k] = (merge_all, *(keys[child] for child in node))
        keys = [("merged", height, k) for k in range(len(level))]

    def done(key: Any, result: Any, *_: Any) -> None:
        if key in leaves and not isinstance(result, Failure):
            notify(rows_of(result))

    with Callback(posttask=done):
        return get(graph, keys[0], num_workers=workers)


class _Chunk:
    """Callable that learns a partition passed by Dask."""

    def __init__(self, reader: Any, shown: str, number: int, declared: Declared) -> None:
        self._reader, self._shown, self._number, self._declared = reader, shown, number, declared

    def __call__(self, *values: Any) -> Any:
        try:
            part = self._reader.part(self._shown, *values)
        except StreamSieveError as error:
            return failure(error, self._number, self._shown)
        return build(part, self._number, self._declared, 1)


class _Build:
    """Callable without arguments, in which Dask would look for keys."""

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments

    def __call__(self) -> Any:
        return build(*self._arguments)
