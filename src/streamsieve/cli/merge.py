"""``streamsieve merge``: saved selectors of the parts of a stream become one of the whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from streamsieve import registry, state
from streamsieve.base import RowSelector
from streamsieve.exceptions import CapabilityError, MergeError, ParameterError, StateError, StreamSieveError


def merge(files: list[Path], out: Path, *, quiet: bool, as_json: bool) -> None:
    """Merge files in order and write the result."""
    _check_names(files, out)
    first = files[0]
    merged = _loaded(first)
    for path in files[1:]:
        other = _loaded(path)
        try:
            merged.merge(other)
        except CapabilityError as error:
            raise CapabilityError(f"{first}: {error}") from error
        except StreamSieveError as error:
            raise MergeError(f"{path} does not fit {first}: {error}") from error
    merged.save(out)
    if as_json:
        result = {"out": str(out), "files": len(files), "rows": merged.n_samples_seen_}
        print(json.dumps({**result, "features": merged.n_features_in_}, indent=2))  # noqa: T201
    elif not quiet:
        Console(highlight=False, soft_wrap=True).print(
            f"merged {len(files)} files   {merged.n_samples_seen_:,} rows   {merged.n_features_in_:,} "
            f"features\nwrote {escape(str(out))}   (streamsieve show says what it holds)"
        )


def _check_names(files: list[Path], out: Path) -> None:
    """Refuse what would count rows twice, or overwrite the only copy of something."""
    if len(files) < 2:
        raise ParameterError(f"merging takes two files or more, got {files[0]} alone")
    folder = out.absolute().parent
    if not folder.is_dir():
        raise ParameterError(f"the folder {folder} for {out.name} does not exist: make it first")
    seen: dict[Path, Path] = {}
    for path in files:
        real = path.resolve()
        if real in seen:
            raise ParameterError(f"{path} is given twice: its rows would count twice")
        seen[real] = path
    for real, path in seen.items():
        if real.with_name(f"{real.name}.previous") in seen:
            raise ParameterError(
                f"{path} and {path.name}.previous are generations of one checkpoint: their rows are the same"
            )
    if out.resolve() in seen:
        raise ParameterError(
            f"{out} is one of the files to merge: choose another name, or its rows count twice the next time"
        )
    if out.exists() and _is_checkpoint(out):
        raise ParameterError(f"{out} is the checkpoint of a run: choose another name, or delete it")


def _is_checkpoint(path: Path) -> bool:
    try:
        return "stream" in state.read_header(path)
    except StateError:
        return False


def _loaded(path: Path) -> Any:
    selector = registry.load(path)
    if not isinstance(selector, RowSelector):
        raise CapabilityError(
            f"{path} holds a {type(selector).__name__}, which cannot be merged: selectors of rows can"
        )
    return selector
