"""``streamsieve merge``: merge saved selectors of the parts of a stream."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

from streamsieve import registry, state
from streamsieve._files import same_file
from streamsieve.base import RowSelector
from streamsieve.cli.output import check_files, say, say_json
from streamsieve.exceptions import CapabilityError, MergeError, ParameterError, StateError, StreamSieveError


def merge(files: list[Path], out: Path, *, overwrite: bool, quiet: bool, as_json: bool) -> None:
    """Merge files in order and write the result."""
    _check_names(files, out, overwrite=overwrite)
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
    merged.save(out, overwrite=True)
    rows, features = merged.n_samples_seen_, merged.n_features_in_
    if as_json:
        say_json({"out": str(out), "files": len(files), "rows": rows, "features": features})
    elif not quiet:
        say(
            f"merged {len(files)} files   {rows:,} rows   {features:,} features",
            f"wrote {out}   (streamsieve show says what it holds)",
        )


def _check_names(files: list[Path], out: Path, *, overwrite: bool) -> None:
    """Refuse files that would count rows twice, and outputs that would overwrite the only copy of a state."""
    if len(files) < 2:
        raise ParameterError(f"merging takes two files or more, got {files[0]} alone")
    for a, b in combinations(files, 2):
        if same_file(a, b):
            raise ParameterError(f"{b} is given twice: its rows would count twice")
        for path, other in ((a, b), (b, a)):
            if same_file(path.with_name(f"{path.name}.previous"), other):
                raise ParameterError(
                    f"{path} and {other.name} are generations of one checkpoint: their rows are the same"
                )
    check_files({"--out": out}, {"FILES": files}, overwrite=overwrite)
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
