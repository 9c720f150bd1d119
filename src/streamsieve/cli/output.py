"""Output of the commands: text and JSON on the terminal, and checks of files to be written."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from streamsieve._files import check_outputs, refuse_foreign
from streamsieve._text import shown
from streamsieve.exceptions import ParameterError, TargetWarning


def say(*lines: str, style: str | None = None, whole: bool = False) -> None:
    """Print lines; names in them cannot act on the terminal, which wraps between words unless ``whole``."""
    out = console()
    out.print("\n".join(map(shown, lines)), style=style, soft_wrap=whole or not out.is_terminal)


def say_table(headings: Mapping[str, str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table; ``headings`` say for each column whether it is to the "left" or "right"."""
    table = Table(box=None, pad_edge=False)
    for heading, side in headings.items():
        table.add_column(heading, justify="left" if side == "left" else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(shown, row))
    console().print(table)


@contextmanager
def warnings_as_notes(*, quiet: bool, task: str | None = None, target: str | None = None) -> Iterator[None]:
    """Context: what the library warns its callers of is said as a note; a given ``task`` is no guess.

    ``target`` is the column that the library knows as y.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for each in {str(each.message): each for each in caught}.values():
        guessed = issubclass(each.category, TargetWarning)
        if not issubclass(each.category, UserWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        elif not quiet and not (guessed and task not in (None, "auto")):
            said = str(each.message)
            named = target is not None and guessed and said.startswith("y ")
            say(f"note: {target}{said[1:]}" if named else f"note: {said}")


def console(*, stderr: bool = False) -> Console:
    """Return a terminal that prints plain text: no markup, no colors for numbers."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)


def say_json(result: Any) -> None:
    """Print a result as strict JSON."""
    print(json.dumps(_finite(result), indent=2, allow_nan=False))  # noqa: T201


def _finite(value: Any) -> Any:
    """Replace NaN and infinity, which JSON does not have, by null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_files(
    outputs: Mapping[str, Path | None],
    inputs: Mapping[str, Iterable[str | Path]],
    *,
    overwrite: bool,
    suffixes: Mapping[str, tuple[str, ...]] | None = None,
    checkpoint: Iterable[Path] = (),
) -> None:
    """Refuse, before any work, outputs that cannot be written or would overwrite other files."""
    given = {option: path for option, path in outputs.items() if path is not None}
    for option, path in given.items():
        accepted = (suffixes or {}).get(option)
        if accepted is not None and path.suffix not in accepted:
            raise ParameterError(f"{option} writes {' or '.join(accepted)}, got {path.name}")
        if path.is_dir():
            raise ParameterError(f"{option} must be the name of a file; {path} is a folder")
        folder = path.absolute().parent
        if not folder.is_dir():
            raise ParameterError(f"the folder {folder} for {path.name} does not exist: make it first")
    files: dict[str, Iterable[Path]] = {option: [path] for option, path in given.items()}
    check_outputs({"--checkpoint": checkpoint, **files}, inputs)
    refuse_foreign(given.values(), how="--overwrite", overwrite=overwrite)
