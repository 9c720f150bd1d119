"""From what a user calls files (a path, a pattern, a list of either) to files that are there."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from streamsieve._parameters import did_you_mean
from streamsieve.exceptions import SourceError

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

#: How a table is stored, by suffix.
TABLES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}
SVMLIGHT = (".svm", ".svmlight", ".libsvm")


def is_paths(data: Any) -> bool:
    """Whether something names files: a path, or a list of nothing but paths."""
    if isinstance(data, (str, os.PathLike)):
        return True
    return isinstance(data, (list, tuple)) and all(isinstance(item, (str, os.PathLike)) for item in data)


class Resolved(list[Path]):
    """Files that :func:`resolve` has found; it takes them as they are."""


def resolve(paths: Paths) -> Resolved:
    """Return the files meant, in the order given; those of a pattern in natural order (2 before 10).

    Every file is there and not empty, or a ``SourceError`` says which is not.
    """
    if isinstance(paths, Resolved):
        return paths
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given:
        raise SourceError("no file was given: pass a path, a pattern such as 'data/*.parquet', or a list")
    files = Resolved(file for path in given for file in _expand(path))
    for file in files:
        _check(file)
    return files


def suffix_of(file: Path) -> str:
    """Return the suffix that determines the format, or raise an error that lists the known ones."""
    suffix = file.suffix.lower()
    if suffix in TABLES or suffix in SVMLIGHT:
        return suffix
    known = " ".join((*TABLES, *SVMLIGHT))
    raise SourceError(
        f"cannot tell the format of {file} by its suffix {suffix!r}: rename it to end in one of {known}, "
        "or, for svmlight text of any name, use SvmlightSource"
    )


def _expand(path: Any) -> list[Path]:
    if not isinstance(path, (str, os.PathLike)):
        raise SourceError(f"a path must be text or a Path; got {type(path).__name__}")
    file = Path(path).expanduser()
    # A file whose very name holds a bracket or a star is meant literally.
    if file.exists() or not glob.has_magic(str(file)):
        return [file]
    found = [Path(name) for name in glob.glob(str(file), recursive=True)]  # noqa: PTH207 - takes any pattern
    found = sorted((name for name in found if name.is_file()), key=_natural)
    if not found:
        raise SourceError(
            f"no file matches the pattern {str(path)!r} (looked from {Path.cwd()}): check folder and suffix"
        )
    return found


def _natural(file: Path) -> list[tuple[int, str]]:
    """Sort Day2 before Day10: the order of a stream matters."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", str(file))]


def _check(file: Path) -> None:
    if file.is_dir():
        raise SourceError(f"{file} is a folder: name its files, for example {str(file / '*.parquet')!r}")
    if not file.exists():
        folder = file.parent
        siblings = os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208 - names, not paths
        where = "" if folder.is_dir() else f", nor a folder {folder}"
        raise SourceError(
            f"there is no file {file}{where}{did_you_mean(file.name, siblings)} "
            f"(the current folder is {Path.cwd()})"
        )
    if not file.is_file():
        raise SourceError(f"{file} is not a regular file, so it cannot be read twice: copy it to a file")
    if file.stat().st_size == 0:
        raise SourceError(f"{file} is empty (0 bytes): write it again, or leave it out")
