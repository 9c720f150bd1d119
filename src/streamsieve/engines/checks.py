"""Checks before a run on an engine."""

from __future__ import annotations

from typing import Any

from streamsieve.base import RowSelector
from streamsieve.exceptions import CapabilityError, ParameterError

#: Engines by name; by the package of an engine object, its name and a method that identifies it.
NAMES = ("local", "dask", "spark")
_OBJECTS = {"distributed": ("dask", "submit"), "pyspark": ("spark", "range")}


def kind_of(engine: Any) -> str:
    """Return the name of an engine, which may be given as an object of its library."""
    if isinstance(engine, str) and engine in NAMES:
        return engine
    name, can = _OBJECTS.get(type(engine).__module__.partition(".")[0], ("", ""))
    if name and hasattr(engine, can):
        return name
    raise ParameterError(
        f"engine must be one of {', '.join(map(repr, NAMES))}, a dask.distributed.Client or a SparkSession; "
        f"got {engine!r}"
    )


def check_frame(source: Any, engine: str, rows_per_task: int | None) -> None:
    """Refuse a distributed frame on any engine but its own."""
    home = getattr(source, "engine", None)
    if home is None:
        return
    if engine != home:
        raise ParameterError(
            f"a {type(source).__name__} is computed by {home}, which learns it, too: leave out engine="
        )
    if rows_per_task is not None:
        raise ParameterError(
            "a partition of the frame is a task: repartition it, and leave out rows_per_task"
        )


def check_order(source: Any, selector: RowSelector) -> None:
    """Refuse partitions without order if the order of rows matters."""
    if selector.traits.forgets and not getattr(source, "ordered", True):
        raise CapabilityError(
            f"{type(selector).__name__} with these parameters depends on the order of rows, and the "
            f"partitions of this frame have none: {source.sorting}, or leave out half_life and window"
        )


def check_selector(selector: Any) -> None:
    """Refuse a selector whose states of parts do not merge into that of the whole."""
    name = type(selector).__name__
    if not isinstance(selector, RowSelector):
        raise CapabilityError(f"{name} streams columns, and this engine learns rows")
    if not selector.traits.merges:
        raise CapabilityError(
            f"{name} with these parameters depends on the order of rows and cannot be distributed; Screen "
            "without on_drift and looks='any' can"
        )
    if getattr(selector, "review_every", None) is not None:
        raise CapabilityError(
            "leave review_every out: the ledger of a distributed run is updated once, at the end"
        )
