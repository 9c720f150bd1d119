"""Protection of files: results never overwrite an input, another output, or a file of another program."""

from __future__ import annotations

import fnmatch
import glob
import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from streamsieve._paths import is_table
from streamsieve.exceptions import ParameterError, StateError

AnyPath: TypeAlias = str | os.PathLike[str]
#: First lines of the CSV files that streamsieve writes.
CSV_HEADERS = frozenset(
    {
        "feature",
        "feature,statistic,p_value",
        "feature,score",
        "feature,score,p_value",
        "feature,type,statistic,p_value",
        "feature,type,score",
        "feature,type,score,p_value",
        "step,feature,event,reason,statistic,p_value,by",
        "step,feature,event,reason,statistic,p_value,by,seconds",
        "step,feature,event,reason,statistic,p_value,by,type",
        "step,feature,event,reason,statistic,p_value,by,type,seconds",
        "rows,screen,feature,column,score,place",
    }
)
#: Creator mark in the plots and HTML pages that streamsieve writes.
MAKER = "made by streamsieve"
#: Bytes at either end of a file that are searched for the creator mark.
_ENDS = 4096


def check_outputs(
    outputs: Mapping[str, Iterable[AnyPath]],
    inputs: Mapping[str, Iterable[AnyPath]] | None = None,
    *,
    folder: tuple[str, AnyPath] | None = None,
) -> None:
    """Refuse outputs that are also inputs or other outputs, under any name, before any work is done.

    Parameters
    ----------
    outputs : the files that each option writes, by the name of the option
    inputs : the files, or patterns of files, that each option reads
    folder : an option and its folder for outputs, where no input may lie
    """
    writes = [(option, Path(path)) for option, paths in outputs.items() for path in paths]
    reads = [(option, str(path)) for option, paths in (inputs or {}).items() for path in paths]
    for number, (option, path) in enumerate(writes):
        for other, again in writes[:number]:
            if other != option and same_file(path, again):
                raise _clash(option, path, "file", f"{other} writes ({again})")
        for other, given in reads:
            found = _read_by(path, given)
            if found is not None:
                raise _clash(option, path, "file", f"{other} reads ({found})")
    if folder is None:
        return
    for other, given in reads:
        for file in _matches(given):
            if any(same_file(folder[1], parent) for parent in Path(file).resolve().parents):
                raise _clash(*folder, "folder", f"{other} reads from ({file})")


def _clash(option: str, path: AnyPath, what: str, use: str) -> ParameterError:
    return ParameterError(f"{option} {path} is the {what} that {use}: choose another name for {option}")


def _read_by(path: Path, given: str) -> str | None:
    """Return the input file or pattern that a path matches, or would match once it exists."""
    for file in _matches(given):
        if same_file(path, file):
            return file
    folder = Path(given).expanduser()
    inside = folder.is_dir() and is_table(path) and same_file(path.absolute().parent, folder)
    return given if inside or would_match(path, given) else None


def same_file(a: AnyPath, b: AnyPath) -> bool:
    """Whether two names refer to the same file, through links or case-insensitive file systems.

    Names of files that do not exist yet are compared case-insensitively.
    """
    there = os.path.exists(a), os.path.exists(b)  # noqa: PTH110
    if all(there):
        return Path(a).samefile(b)
    return not any(there) and _folded(a) == _folded(b)


def _folded(path: AnyPath) -> str:
    return unicodedata.normalize("NFC", os.path.realpath(path)).casefold()


def _matches(given: str) -> Iterator[str]:
    """Yield the existing files that a path, a folder or a pattern matches."""
    given = os.path.expanduser(given)  # noqa: PTH111 - a pattern
    if os.path.isdir(given):  # noqa: PTH112
        return (str(file) for file in Path(given).iterdir() if is_table(file))
    if os.path.exists(given):  # noqa: PTH110
        return iter([given])
    return glob.iglob(given, recursive=True) if glob.has_magic(given) else iter(())  # noqa: PTH207


def would_match(path: AnyPath, pattern: str) -> bool:
    """Whether a pattern would match a file if it existed."""
    if not glob.has_magic(pattern) or Path(pattern).exists():
        return False
    parts = Path(pattern).expanduser().absolute().parts
    steady = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    begin = Path(os.path.realpath(Path(*parts[:steady])))
    real = Path(os.path.realpath(Path(path).absolute().parent)) / Path(path).name
    return real.is_relative_to(begin) and _fits(real.relative_to(begin).parts, parts[steady:])


def _fits(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[i:], pattern[1:]) for i in range(len(parts) + 1))
    return bool(parts) and fnmatch.fnmatch(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def refuse_special(path: AnyPath) -> None:
    """Refuse to write to a FIFO or to replace a device: what is there must be a regular file, if anything."""
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - as given
        what = "a folder" if os.path.isdir(path) else "a device, FIFO or socket"  # noqa: PTH112
        raise StateError(f"{path} is {what}, not a file: choose another name")


def refuse_foreign(paths: Iterable[AnyPath], *, how: str = "overwrite=True", overwrite: bool = False) -> None:
    """Refuse to replace what is no file and, unless ``overwrite``, a file that streamsieve did not write.

    ``how`` is the option that forces it.
    """
    for path in paths:
        refuse_special(path)
        if not overwrite and os.path.lexists(path) and not is_ours(path):
            raise StateError(f"{path} exists and streamsieve may not have written it; {how} replaces it")


def is_ours(path: AnyPath) -> bool:
    """Whether a file is empty, or a state, table or plot written by streamsieve."""
    try:
        with Path(path).open("rb") as file:
            begin = file.read(_ENDS)
            file.seek(max(_ENDS, file.seek(0, os.SEEK_END) - _ENDS))
            end = file.read()
    except OSError:
        return False
    state = begin[8:].startswith(b'{"__metadata__":{') and b'"sieve":' in begin
    line = begin.partition(b"\n")[0].rstrip(b"\r").decode("utf-8", "replace")
    return not begin or state or line in CSV_HEADERS or MAKER.encode() in begin + end
