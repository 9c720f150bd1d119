"""Data of ``streamsieve compare``: files, or a data set by its name, as one table in memory."""

from __future__ import annotations

import glob
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve import datasets
from streamsieve._parameters import did_you_mean
from streamsieve._paths import SVMLIGHT, TABLES
from streamsieve._validation import whole_labels
from streamsieve.cli.options import Reading
from streamsieve.cli.reading import declared_types, described, no_weights, opened, types_declared_of
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.protocols import Matrix, Task

ROWS = 65_536


@dataclass(frozen=True)
class Data:
    """A table in memory.

    ``name`` and ``origin`` are for reports, ``task`` is the type of target if known, and ``notes`` are
    remarks for the reader.
    """

    name: str
    origin: str
    target: str
    X: Matrix
    y: npt.NDArray[Any]
    names: list[str] | None
    task: str = "auto"
    notes: tuple[str, ...] = ()
    types: dict[str, str] = field(default_factory=dict)  #: declared types of columns
    encoded: dict[str, list[str]] = field(default_factory=dict)  #: features of columns of text
    rows: npt.NDArray[Any] | None = None  #: the column by which rows depend on each other


def read(given: list[str], reading: Reading, by: str | None = None, *, time: bool = False) -> Data:
    """Read files, or load a data set; the column ``by``, which may hold times, is not a feature."""
    no_weights(reading, "a comparison")
    if len(given) == 1 and is_name(given[0]):
        if by is not None:
            raise ParameterError(
                f"--groups and --time name a column of a table, and {given[0]} is a data set"
            )
        return _by_name(given[0], reading)
    if any(each.startswith("kafka://") for each in given):
        raise SourceError("a comparison goes over its data many times, and a Kafka topic has no end: save it")
    if reading.missing == "omit":
        raise ParameterError(
            "--missing omit is about one method, and a comparison has several: --missing impute"
        )
    source = opened(given, reading, exclude=() if by is None else (by,))
    types = types_declared_of(source, reading)
    batches = list(source.rows(ROWS))
    X = [batch.X for batch in batches]
    y = np.concatenate([batch.y for batch in batches])
    return Data(
        name=Path(given[0]).name if len(given) == 1 else f"{len(given)} files from {Path(given[0]).name} on",
        origin=", ".join(str(Path(each).absolute()) for each in given),
        target=reading.target or "",
        X=X[0] if len(X) == 1 else sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X),
        y=whole_labels(y),
        names=None if source.names is None else list(source.names),
        notes=tuple(described(source, reading, () if by is None else (by,))),
        types=types,
        encoded=getattr(source, "encoded", {}),
        rows=None if by is None else np.asarray(source.times(by) if time else source.column(by)),
    )


def is_name(given: str) -> bool:
    """Whether an argument can only be the name of a data set: not a file, and not like a path."""
    path = Path(given)
    plain = path.name == given and not glob.has_magic(given) and "://" not in given
    return plain and not path.exists() and path.suffix.lower() not in (*TABLES, *SVMLIGHT)


def _by_name(name: str, reading: Reading) -> Data:
    known, target = datasets.available(), reading.target
    if name not in known:
        raise ParameterError(
            f"there is no file and no data set {name!r}{did_you_mean(name, known)}; data sets: "
            f"{', '.join(each for each, about in known.items() if about['where'] in ('embedded', 'local'))}"
        )
    if target is not None:
        raise ParameterError(f"the data set {name} brings its own target: leave out --target {target}")
    found = datasets.load(name)
    y = found.y if found.classes is None else np.asarray(found.classes)[found.y]
    task = "regression" if found.task is Task.REGRESSION else "classification"
    return Data(
        name, f"{found.origin}: {found.description}", "", found.X, y, found.names, task,
        types=declared_types(reading),
    )  # fmt: skip
