"""Which files can be read, by suffix, and what to do with those that cannot."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

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
#: Suffixes whose text is read only if a separator is found in it: it may be anything.
UNCERTAIN = (".txt", ".dat", ".data")
SVMLIGHT = (".svm", ".svmlight", ".libsvm")
#: Compressed text, and the program that decompresses it.
COMPRESSED = {".gz": "gunzip", ".bz2": "bunzip2", ".xz": "unxz", ".zst": "unzstd"}
#: Standard input, as the name of a file.
STDIN = Path("-")

#: Readers of pandas for what is not read here.
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
    """Return how a file is stored, or raise an error that says how to get it into a format that is read."""
    if file == STDIN:
        return Format("stdin", "")
    outer = file.suffix.lower()
    inner = Path(file.stem).suffix.lower() if outer in COMPRESSED else outer
    compression = outer if outer in COMPRESSED else ""
    kind = "svmlight" if inner in SVMLIGHT else TABLES.get(inner)
    if kind is None or (compression and kind not in ("csv", "json")):
        raise _unknown(file, outer, inner)
    return Format(kind, inner, compression)


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
