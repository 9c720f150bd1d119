"""``--engine``: rows learned in parts by workers of this machine, or by a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from streamsieve._extras import needs
from streamsieve._parameters import check_choice
from streamsieve.base import RowSelector
from streamsieve.cli.options import Engine, Output
from streamsieve.cli.reading import KAFKA
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError

#: Seconds to wait for a scheduler that does not answer.
PATIENCE = 10


def check_engine(asked: Engine, selector: Any, output: Output, data: list[str]) -> None:
    """Refuse options that cannot be combined, before any work."""
    if asked.engine is None:
        about = {
            "--workers": asked.workers,
            "--scheduler": asked.scheduler,
            "--rows-per-task": asked.rows_per_task,
        }
        for option, given in about.items():
            if given is not None:
                raise ParameterError(f"{option} is about an engine: say which, --engine local or dask")
        return
    check_choice("--engine", asked.engine, ("local", "dask"))
    if asked.scheduler is not None and asked.engine != "dask":
        raise ParameterError("--scheduler is the address of a Dask cluster: say --engine dask")
    if asked.scheduler is not None and asked.workers is not None:
        raise ParameterError("a cluster has the workers that it has: leave out --workers or --scheduler")
    if not isinstance(selector, RowSelector):
        raise CapabilityError(
            f"{type(selector).method_name()} does not stream rows, and an engine learns rows: leave out "
            "--engine, or choose a method over rows, --method screen"
        )
    if any(path.startswith(KAFKA) for path in data):
        raise CapabilityError(
            "an engine learns parts of files at once, and a Kafka topic has no parts: leave out --engine, or "
            "save the topic as Parquet files"
        )
    if output.checkpoint is not None:
        raise ParameterError("an engine learns all parts at once: leave out --checkpoint or --engine")


@contextmanager
def connected(asked: Engine) -> Iterator[Any]:
    """Context manager with the engine for :func:`streamsieve.run`; closes the connection to a cluster."""
    if asked.scheduler is None:
        yield asked.engine
        return
    distributed = needs("distributed", "--scheduler")
    try:
        client = distributed.Client(asked.scheduler, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise SourceError(
            f"there is no Dask scheduler at {asked.scheduler}: {str(error) or type(error).__name__}; start "
            "one with `dask scheduler`, or correct --scheduler"
        ) from error
    with client:
        yield client
