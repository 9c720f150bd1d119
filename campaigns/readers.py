"""Damaged files of every format, and damaged messages: a clear error, or rows of numbers."""

from __future__ import annotations

import gzip
import json
import sqlite3
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import streamsieve as ss
from campaigns.outcome import Outcome
from streamsieve.exceptions import StreamSieveError
from streamsieve.sources.messages.parser import Parser, decode_json

GOAL = "0 signals, hangs, foreign errors"
PATIENCE = 20.0
Rng = np.random.Generator


class Case(NamedTuple):
    """A file of one format, damaged by one kind of damage."""

    kind: str
    damage: str
    by_columns: bool
    seed: int


def cases(rng: Rng) -> Iterator[Case]:
    """Yield every format with every damage, again and again."""
    while True:
        for kind in (*FILES, "json"):
            for damage in DAMAGES:
                yield Case(kind, damage, bool(rng.integers(2)), int(rng.integers(2**32)))


def attempt(case: Case) -> Outcome:
    """Read a damaged file."""
    rng = np.random.default_rng(case.seed)
    data = bytearray(_whole(case.kind))
    for _ in range(int(rng.integers(1, 4))):
        data = DAMAGES[case.damage](data, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            rows = _messages(bytes(data)) if case.kind == "json" else _read(bytes(data), case)
        except StreamSieveError as error:
            return Outcome("refused", str(error)[:200])
    return Outcome("held", f"{rows} rows")


def _read(data: bytes, case: Case) -> int:
    """Read a file by rows or by columns; return how many rows it had."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"damaged{case.kind}"
        path.write_bytes(data)
        options: dict[str, Any] = {} if case.kind == ".svmlight" else {"target": "y"}
        if case.kind == ".sqlite":
            options["sql"] = "select * from t"
        source = ss.open(path, **options)
        if case.by_columns:
            return max((block.X.shape[0] for block in source.columns(16)), default=0)
        return sum(batch.X.shape[0] for batch in source.rows(16))


def _messages(data: bytes) -> int:
    parser = Parser(decode_json, [f"f{j}" for j in range(5)], "y", text=False, extra="ignore")
    return len(parser.read(data.split(b"\n")).rows.y)


@cache
def _whole(kind: str) -> bytes:
    """Return a file as it should be."""
    rng = np.random.default_rng(0)
    X, y = np.round(rng.normal(size=(60, 5)), 3), rng.integers(0, 2, 60)
    if kind == "json":
        return "\n".join(map(json.dumps, _fields(X, y))).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "whole"
        FILES[kind](path, X, y)
        return path.read_bytes()


def _table(X: Any, y: Any) -> pa.Table:
    return pa.table({**{f"f{j}": x for j, x in enumerate(X.T)}, "y": y})


def _fields(X: Any, y: Any) -> list[dict[str, Any]]:
    return [
        {**{f"f{j}": x for j, x in enumerate(row)}, "y": int(label)} for row, label in zip(X, y, strict=True)
    ]


def _nested(X: Any, y: Any) -> list[dict[str, Any]]:
    """Return rows whose last columns are in an object."""
    return [{"f0": row.pop("f0"), "y": row.pop("y"), "of": row} for row in _fields(X, y)]


def _write_sqlite(path: Path, X: Any, y: Any) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("create table t (f0, f1, f2, f3, f4, y)")
        database.executemany("insert into t values (?, ?, ?, ?, ?, ?)", np.c_[X, y].tolist())


def _write_csv(path: Path, X: Any, y: Any) -> None:
    lines = [",".join([*map(str, row), str(label)]) for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join(["f0,f1,f2,f3,f4,y", *lines]) + "\n")


FILES: dict[str, Callable[[Path, Any, Any], Any]] = {
    ".csv": _write_csv,
    ".svmlight": lambda path, X, y: dump_svmlight_file(sp.csr_matrix(X), y, str(path)),
    ".parquet": lambda path, X, y: pa.parquet.write_table(_table(X, y), path),
    ".arrow": lambda path, X, y: pa.feather.write_feather(
        _table(X, y), str(path), compression="uncompressed"
    ),
    ".jsonl": lambda path, X, y: path.write_text("\n".join(map(json.dumps, _nested(X, y))) + "\n"),
    ".json": lambda path, X, y: path.write_text(json.dumps(_nested(X, y))),
    ".jsonl.gz": lambda path, X, y: path.write_bytes(
        gzip.compress("\n".join(map(json.dumps, _nested(X, y))).encode(), mtime=0)
    ),
    ".sqlite": _write_sqlite,
}


def _flipped(data: bytearray, rng: Rng) -> bytearray:
    for _ in range(int(rng.integers(1, 6))):
        data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    return data


def _cut(data: bytearray, rng: Rng) -> bytearray:
    low = int(rng.integers(len(data)))
    return data[:low] + data[low + int(rng.integers(1, 40)) :] or bytearray(b"\x00")


def _ended(data: bytearray, rng: Rng) -> bytearray:
    return data[: int(rng.integers(1, len(data) + 1))]


def _doubled(data: bytearray, rng: Rng) -> bytearray:
    low = int(rng.integers(len(data)))
    return data[: low + 30] + data[low:]


def _inserted(data: bytearray, rng: Rng) -> bytearray:
    at = int(rng.integers(len(data)))
    return data[:at] + bytearray(SCRAPS[rng.integers(len(SCRAPS))]) + data[at:]


def _zeroed(data: bytearray, rng: Rng) -> bytearray:
    at = int(rng.integers(len(data)))
    data[at : at + 8] = bytes(len(data[at : at + 8]))
    return data


SCRAPS = (
    b",", b"\n", b"\r\n", b'"', b"\x00", b"nan", b"inf", b"-", b"1e999", b":", b" ", b"#", b"\xff\xfe", b"{",
    b"}]",
    b"null\n", b"[" * 20_000, b'{"a":' * 5_000,
    b"9" * 400, b"qid:", b"\xf0\x9f\x98\x80", b"\x7f\xff\xff\xff", b",,,,,,,,,,",
)  # fmt: skip
DAMAGES: dict[str, Callable[[bytearray, Rng], bytearray]] = {
    "flipped bits": _flipped,
    "a piece cut out": _cut,
    "an early end": _ended,
    "a piece twice": _doubled,
    "a scrap put in": _inserted,
    "zeros": _zeroed,
}
