"""Paths of data files: formats by suffix, and the files that a pattern or a folder matches.

No heavy imports, so that a mistyped name fails at once.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

from streamsieve._parameters import did_you_mean
from streamsieve.exceptions import SourceError

#: How a table is stored, by suffix.
TABLES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".dat": "csv",
    ".data": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".duckdb": "duckdb",
}
#: Ambiguous suffixes: such a file is read only if a separator is found in its text.
UNCERTAIN = (".txt", ".dat", ".data")
SVMLIGHT = (".svm", ".svmlight", ".libsvm")
#: Compressed text, and the program that decompresses it.
COMPRESSED = {".gz": "gunzip", ".bz2": "bunzip2", ".xz": "unxz", ".zst": "unzstd"}
#: Standard input, as the name of a file.
STDIN = Path("-")

#: pandas readers for formats that are not supported here, for error messages.
_PANDAS = {
    ".dta": "read_stata",
    ".sas7bdat": "read_sas",
    ".xpt": "read_sas",
    ".sav": "read_spss",
    ".orc": "read_orc",
    ".h5": "read_hdf",
    ".hdf5": "read_hdf",
    ".xml": "read_xml",
    ".pkl": "read_pickle",
    ".pickle": "read_pickle",
}


class Format(NamedTuple):
    """How a file is stored: a value of ``TABLES`` or "svmlight"; ``compression`` is a suffix or nothing."""

    kind: str
    suffix: str
    compression: str = ""


def format_of(file: Path) -> Format:
    """Return the format of a file; otherwise raise an error that says how to convert it."""
    if file == STDIN:
        return Format("stdin", "")
    outer = file.suffix.lower()
    inner = Path(file.stem).suffix.lower() if outer in COMPRESSED else outer
    compression = outer if outer in COMPRESSED else ""
    kind = "svmlight" if inner in SVMLIGHT else TABLES.get(inner)
    if kind is None or (compression and kind not in ("csv", "json")):
        raise _unknown(file, outer, inner)
    return Format(kind, inner, compression)


def is_table(file: Path) -> bool:
    """Whether a file of a folder is read with the folder: a table by its suffix, and not hidden."""
    return file.name.lower().endswith(_SUFFIXES) and not file.name.startswith((".", "_"))


def is_svmlight(path: str) -> bool:
    """Whether a path names svmlight text."""
    return path.lower().endswith(SVMLIGHT)


def _unknown(file: Path, outer: str, inner: str) -> SourceError:
    cannot = f"{file} cannot be read: its suffix {outer!r} is not known"
    if outer in COMPRESSED and inner:
        return SourceError(
            f"{file} cannot be read: only CSV and JSON lines are read compressed, not {inner}: decompress it "
            f"first ({COMPRESSED[outer]} {file.name})"
        )
    if outer in COMPRESSED:
        return SourceError(
            f"{file} cannot be read: its name does not say what is compressed: rename it, for example to "
            f"{file.stem}.csv{outer}"
        )
    if outer == ".zip":
        return SourceError(f"{file} cannot be read: it is an archive: unzip it, and name the files in it")
    if outer in _PANDAS:
        return SourceError(
            f'{cannot}: convert it with pandas, for example python -c "import pandas; '
            f"pandas.{_PANDAS[outer]}('{file}').to_parquet('{file.with_suffix('.parquet')}')\""
        )
    known = " ".join((*TABLES, *SVMLIGHT))
    return SourceError(
        f"{cannot}; known are {known}, and text with {' '.join(COMPRESSED)} after it. If it holds text with "
        f"separators, rename it to {file.stem or file.name}.csv; if svmlight text, to "
        f"{file.stem or file.name}.svm"
    )


#: Suffixes of the files that are read from a folder.
_SUFFIXES = tuple(
    suffix + more
    for suffix in (*(s for s in TABLES if s not in UNCERTAIN), *SVMLIGHT)
    for more in ("", *COMPRESSED)
)

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def is_paths(data: Any) -> bool:
    """Whether something names files: a path, or a list of nothing but paths."""
    if isinstance(data, (str, os.PathLike)):
        return True
    return isinstance(data, (list, tuple)) and all(isinstance(item, (str, os.PathLike)) for item in data)


class Resolved(list[Path]):
    """Files found by :func:`resolve`, which accepts them again without a search.

    ``ignored`` are the files of a folder that are not tables, and ``partitions`` what the folders that a
    pattern found say of their files: {"year": 2024.0, "region": "eu"} of year=2024/region=eu.
    """

    ignored: tuple[Path, ...] = ()
    partitions: Mapping[Path, Mapping[str, float | str | None]] = MappingProxyType({})


def resolve(paths: Paths) -> Resolved:
    """Return the files in the order given; those of a pattern or a folder in natural order (2 before 10).

    Raises ``SourceError`` if a file is missing or empty.
    """
    if isinstance(paths, Resolved):
        return paths
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given:
        raise SourceError("no file was given: pass a path, a pattern such as 'data/*.parquet', or a list")
    files, ignored, said = Resolved(), list[Path](), dict[Path, Mapping[str, str | None]]()
    for path in given:
        found = _expand(path, ignored)
        files += found
        parts = Path(path).expanduser().parts
        steady = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts))
        said |= {file: some for file in found if (some := _said_by_folders(file, steady))}
    files.partitions = _typed(said)
    files.ignored = tuple(ignored)
    for file in files:
        _check(file)
    return files


def _said_by_folders(file: Path, steady: int) -> dict[str, str | None]:
    """Return columns and values from names of folders, after the first ``steady`` parts of the path.

    Hive writes ``__HIVE_DEFAULT_PARTITION__`` for a missing value.
    """
    named = (part.partition("=") for part in file.parts[steady:-1])
    return {
        unquote(name): None if value == "__HIVE_DEFAULT_PARTITION__" else unquote(value)
        for name, equals, value in named
        if name and equals
    }


def _typed(said: Mapping[Path, Mapping[str, str | None]]) -> Mapping[Path, Mapping[str, float | str | None]]:
    """Return values of folders as numbers where those of all files are whole numbers, or missing."""
    values = [each for some in said.values() for each in some.items()]
    texts = {name for name, value in values if not (value is None or re.fullmatch(r"-?[0-9]{1,15}", value))}
    return {
        file: {
            name: value if value is None or name in texts else float(value) for name, value in some.items()
        }
        for file, some in said.items()
    }


def _expand(path: Any, ignored: list[Path]) -> list[Path]:
    if not isinstance(path, (str, os.PathLike)):
        raise SourceError(f"a path must be text or a Path; got {type(path).__name__}")
    if isinstance(path, str) and "://" in path:
        raise SourceError(
            f"{path!r} is an address, and paths of files are read: give a pyarrow.dataset of it (s3, gs, "
            "hdfs), an ss.query (databases), or a copy in a file"
        )
    file = Path(path).expanduser()
    if file.is_dir():
        return _inside(file, ignored)
    # A file whose very name holds a bracket or a star is meant literally.
    if file.exists() or not glob.has_magic(str(file)):
        return [file]
    found = sorted((name for name in _matching(file) if name.is_file()), key=_natural)
    if "**" in file.parts:  # links may lead to a file twice
        first = dict[str, Path]()
        for name in found:
            first.setdefault(os.path.realpath(name), name)
        found = [*first.values()]
    if not found:
        raise SourceError(
            f"no file matches the pattern {str(path)!r} (looked from {Path.cwd()}): check folder and suffix"
        )
    return found


def _matching(pattern: Path) -> Iterator[Path]:
    """Yield what a pattern matches; ``**`` enters every folder once, even where links form a circle."""
    parts = pattern.parts
    if "**" not in parts:
        yield from map(Path, glob.iglob(str(pattern)))  # noqa: PTH207 - takes any pattern
        return
    at = parts.index("**")
    after = parts[at + 1 :] or ("*",)
    for start in _matching(Path(*parts[:at])) if at else [Path()]:
        for folder in _folders(start):
            yield from _matching(Path(glob.escape(folder), *after))


def _folders(start: Path) -> Iterator[str]:
    """Yield a folder and those within; no hidden ones, and none again to which a link leads back."""
    seen = set[str]()
    for folder, inner, _ in os.walk(start, followlinks=True):
        real = os.path.realpath(folder)
        inner[:] = [] if real in seen else sorted(name for name in inner if not name.startswith("."))
        if real not in seen:
            yield folder
        seen.add(real)


def _inside(folder: Path, ignored: list[Path]) -> list[Path]:
    """Return the tables of a folder; hidden files and those of another kind are ignored."""
    inner = [*folder.iterdir()]
    if any("=" in each.name and each.is_dir() for each in inner):  # partitions, such as year=2024/month=1
        inner += [file for each in inner if "=" in each.name for file in each.rglob("*")]
    there = sorted((file for file in inner if file.is_file()), key=_natural)
    there = [f for f in there if not any(p.startswith((".", "_")) for p in f.relative_to(folder).parts)]
    known = [file for file in there if is_table(file)]
    if not known:
        raise SourceError(
            f"the folder {folder} holds no table: name its files, for example "
            f"{str(folder / '**' / '*.parquet')!r} for those of its folders"
        )
    ignored += [file for file in there if file not in known]
    return known


def _natural(file: Path) -> list[tuple[int, str]]:
    """Sort key of the natural order (Day2 before Day10): the order of a stream matters."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", str(file))]


def _check(file: Path) -> None:
    if file == STDIN:
        return
    if not file.exists():
        if file.is_symlink():
            raise SourceError(f"{file} is a link to {os.readlink(file)}, which does not exist: restore it")  # noqa: PTH115
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
