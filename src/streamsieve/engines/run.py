"""A source through a selector on an engine."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from streamsieve._parameters import check_number
from streamsieve.base import RowSelector
from streamsieve.engines.declared import declared_of
from streamsieve.engines.local import run_local
from streamsieve.engines.plan import plan_of
from streamsieve.engines.task import Failure
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError
from streamsieve.running.resume import restore

S = TypeVar("S", bound=RowSelector)
#: Engines by name.
NAMES = ("local", "dask")


def distribute(
    source: Any,
    selector: S,
    engine: Any,
    *,
    workers: int | None = None,
    rows_per_task: int | None = None,
    retries: int = 3,
    batch_size: int = 4096,
    progress: Callable[[int], Any] | None = None,
) -> S:
    """Learn a whole source on an engine; :func:`streamsieve.run` documents the parameters."""
    check_number("retries", retries, low=0, integer=True)
    if workers is not None:
        check_number("workers", workers, low=1, integer=True)
    start = _engine(engine)
    _check_selector(selector)
    _check_source(source, selector, engine)
    plan = plan_of(source, rows_per_task)
    declared = declared_of(source, selector, plan.run, batch_size)
    root = start(plan, declared, workers, retries, progress or (lambda _: None))
    if isinstance(root, Failure):
        raise root.error()
    missing = root._covered_.missing(plan.run, len(plan.parts))
    if missing:
        raise SourceError(f"{missing}: nothing is returned")
    if hasattr(selector, "n_features_in_"):
        return selector.merge(root)
    if "first_row" in selector.get_params(deep=False):
        root.set_params(first_row=selector.get_params(deep=False)["first_row"])
    restore(selector, root)
    return selector


def _engine(engine: Any) -> Callable[..., Any]:
    """Return the function that runs a plan."""
    if engine == "local":
        return run_local
    is_client = type(engine).__module__.partition(".")[0] == "distributed" and hasattr(engine, "submit")
    if engine == "dask" or is_client:
        dask = importlib.import_module("streamsieve.engines.dask")
        return lambda *args: dask.run_dask(engine if is_client else None, *args)
    raise ParameterError(
        f"engine must be one of {', '.join(map(repr, NAMES))}, or a dask.distributed.Client; got {engine!r}"
    )


def _check_source(source: Any, selector: RowSelector, engine: Any) -> None:
    """Refuse a frame of another engine, and one without order where the order of rows matters."""
    home = getattr(source, "engine", None)
    if home is not None and engine == "local":
        raise ParameterError(
            f"a {type(source).__name__} is computed by {home}, which learns it, too: leave out engine='local'"
        )
    if selector.traits.forgets and not getattr(source, "ordered", True):
        raise CapabilityError(
            f"{type(selector).__name__} with these parameters depends on the order of rows, and the "
            f"partitions of this frame have none: {source.sorting}, or leave out half_life and window"
        )


def _check_selector(selector: Any) -> None:
    name = type(selector).__name__
    if not isinstance(selector, RowSelector):
        raise CapabilityError(f"{name} streams columns, and engines learn rows: leave out engine=")
    if not selector.traits.merges:
        raise CapabilityError(
            f"{name} with these parameters depends on the order of rows and cannot be distributed; Screen "
            "without on_drift and looks='any' can"
        )
    if getattr(selector, "review_every", None) is not None:
        raise CapabilityError(
            "leave review_every out: the ledger of a distributed run is updated once, at the end"
        )
