"""A source through a selector on an engine."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from streamsieve._parameters import check_number
from streamsieve.base import RowSelector
from streamsieve.engines.checks import check_frame, check_order, check_selector, kind_of
from streamsieve.engines.declared import declared_of
from streamsieve.engines.local import run_local
from streamsieve.engines.plan import plan_of, run_of
from streamsieve.engines.task import Failure
from streamsieve.exceptions import SourceError
from streamsieve.running.resume import restore

S = TypeVar("S", bound=RowSelector)


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
    check_selector(selector)
    check_frame(source, kind_of(engine), rows_per_task)
    check_order(source, selector)
    notify = progress or (lambda _: None)
    if getattr(source, "engine", None) == "spark":
        declared = declared_of(source, selector, run_of(source.identity()), batch_size)
        root = importlib.import_module("streamsieve.engines.spark").run_frame(source, declared, notify)
        n_parts = 0 if isinstance(root, Failure) else root._covered_.spans[-1].high
    else:
        plan = plan_of(source, rows_per_task)
        declared = declared_of(source, selector, plan.run, batch_size)
        root, n_parts = start(plan, declared, workers, retries, notify), len(plan.parts)
    if isinstance(root, Failure):
        raise root.error()
    missing = root._covered_.missing(declared.run, n_parts)
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
    kind = kind_of(engine)
    if kind == "local":
        return run_local
    start = getattr(importlib.import_module(f"streamsieve.engines.{kind}"), f"run_{kind}")
    return lambda *args: start(None if isinstance(engine, str) else engine, *args)
