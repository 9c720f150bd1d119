"""Access of protocols to a source of rows: its target, its identity, and batches that end at looks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._validation import clean, task_of
from streamsieve.evaluation.engine.jobs import RunConfig
from streamsieve.evaluation.engine.settings import plain
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.protocols import RowBatch, Task


def target_of(
    source: Any, classes: Sequence[Any] | None, task: str, batch_size: int
) -> tuple[Task, tuple[Any, ...]]:
    """Return the kind of target, and the labels in order."""
    if classes is not None:
        if task == "regression":
            raise ParameterError("classes are labels, and task='regression' has none: leave one of them out")
        labels = np.unique(np.asarray(classes))
        if np.ndim(classes) != 1 or len(labels) < 2:
            raise ParameterError(f"classes must name two labels at least; got {classes!r}")
        return (Task.BINARY if len(labels) == 2 else Task.MULTICLASS), tuple(labels.tolist())
    known = getattr(source, "y", None)
    if known is None:
        parts = list(_targets(source, batch_size))
        if not parts:
            raise SourceError("the source has no rows: there is nothing to follow")
        known = np.concatenate(parts)
    y, kind = task_of(known, task)
    return kind, () if kind is Task.REGRESSION else tuple(np.unique(y).tolist())


def identity_of(source: Any, running: RunConfig) -> Any:
    """Return identity and width of a source; without an identity, a run cannot be resumed."""
    features = getattr(source, "n_columns", None)
    if hasattr(source, "identity"):
        return {**plain(source.identity()), "features": features}
    if running.folder is not None:
        raise SourceError(
            f"{type(source).__name__} has no identity(), so it is not known whether a run is resumed with "
            "the same data: leave out folder=, or use streamsieve.open(data, target=...)"
        )
    return {"kind": type(source).__name__, "features": features}


def _targets(source: Any, batch_size: int) -> Iterator[npt.NDArray[Any]]:
    for batch in source.rows(max(batch_size, 4096)):
        if batch.y is None:
            raise SourceError("the source has no target: open it with target=...")
        yield np.asarray(batch.y)


def cut(batches: Iterator[RowBatch], every: int) -> Iterator[RowBatch]:
    """Cut batches at the looks, so that the size of batches does not matter."""
    seen = 0
    for batch in batches:
        batch = replace(batch, X=clean(batch.X, "csr"))  # noqa: PLW2901 - before rows are cut out of it
        n, low = batch.X.shape[0], 0
        while low < n:
            high = min(n, low + every - seen % every)
            yield batch if high - low == n else _piece(batch, slice(low, high))
            seen += high - low
            low = high


def _piece(batch: RowBatch, part: slice) -> RowBatch:
    y = None if batch.y is None else batch.y[part]
    weight = None if batch.weight is None else batch.weight[part]
    return RowBatch(batch.X[part], y, weight, batch.names, batch.position)
