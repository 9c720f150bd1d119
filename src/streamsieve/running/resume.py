"""Restoring of selector and position from a checkpoint."""

from __future__ import annotations

import json
from typing import Any

from streamsieve import state
from streamsieve._advice import as_argument
from streamsieve.base import RowSelector
from streamsieve.exceptions import ParameterError, SourceError, StateError
from streamsieve.protocols import RowSource
from streamsieve.running.checkpoint import Found, Stream
from streamsieve.running.verify import RowDigest, verified
from streamsieve.state.registry import name_of


def resumed(
    found: Found, source: RowSource, selector: RowSelector, batch_size: int, *, full: bool
) -> tuple[Stream, RowDigest | None]:
    """Restore the selector from a checkpoint; return the progress in the stream, and its digest.

    Nothing is changed if selector or source are not those of the checkpoint.
    """
    path, header, arrays = found
    stream = Stream.from_header(header, path)
    name = type(selector).__name__
    if header.get("class") != name_of(type(selector)):
        found_name = str(header.get("class")).rpartition(".")[2]
        raise StateError(
            f"{path} is the checkpoint of a {found_name}, not of a {name}: resume with the "
            "selector it was made with, or choose another checkpoint"
        )
    loaded = type(selector)._from_state(path, header, arrays)  # noqa: SLF001 - read once, not twice
    _check_parameters(found, loaded, selector)
    try:
        source.check_identity(stream.identity)
    except SourceError as error:
        raise SourceError(f"cannot resume from {path}: {error}") from error
    if batch_size != stream.batch_size and not selector.traits.any_chunking:
        raise ParameterError(
            f"the result of {name} depends on the size of batches, and {path} was made with "
            f"batch_size={stream.batch_size}: resume with that, not with {batch_size}"
        )
    if full is (stream.digest is None):
        made, asked = ("sample", "full") if full else ("full", "sample")
        raise ParameterError(
            f"{path} was made with {as_argument('verify', made)}: resume with that, not with {asked!r}"
        )
    digest = verified(found.path, source, stream) if full else None
    restore(selector, loaded)
    return stream, digest


def _check_parameters(found: Found, loaded: RowSelector, selector: RowSelector) -> None:
    there, here = _encoded(loaded), _encoded(selector)
    different = [name for name in here if here[name] != there[name]]
    if different:
        listed = ", ".join(f"{name} is {there[name]} there and {here[name]} here" for name in different)
        raise StateError(
            f"{found.path} is the checkpoint of another {type(selector).__name__} ({listed}): resume with "
            "the parameters it was made with, or choose another checkpoint"
        )


def _encoded(selector: RowSelector) -> dict[str, str]:
    """Return the parameters as stored in a file: without functions, which cannot be saved."""
    parameters: dict[str, Any] = selector.get_params(deep=False)
    return {name: json.dumps(state.encode(name, value)) for name, value in parameters.items()}


def restore(selector: RowSelector, loaded: RowSelector) -> None:
    """Give the caller's selector the loaded state; it keeps its parameters, which may hold functions."""
    parameters = selector.get_params(deep=False)
    selector._forget()  # noqa: SLF001 - part of the same library
    selector.__dict__.update({k: v for k, v in loaded.__dict__.items() if k not in parameters})
