"""Producers of Arrow record batches: lazy frames, relations, datasets, readers, cursors, iterators."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from streamsieve.exceptions import SourceError
from streamsieve.sources.query import Query
from streamsieve.sources.statements import code_of

#: Number of rows per batch requested from producers.
READ_ROWS = 16_384
#: Number of rows given as dicts per record batch.
GATHERED = 4096
#: Steps of a polars plan after which the order of rows is undefined or unknown.
_UNORDERED = re.compile(r"JOIN|AGGREGATE|UNIQUE|PYTHON|SAMPLE|SHUFFLE")
_SORTED = re.compile(r"\bORDER\s+BY\b[^)]*$", re.IGNORECASE)
#: The end of the text of a DuckDB relation, and names in it that differ between processes.
_WRAPPED = re.compile(r"\)\s*AS\s*\"unnamed_relation_\w+\"\s*$")
_RANDOM = re.compile(r"(unnamed_relation|__duckdb_source)_[0-9a-f]+(_\d+)?")


@dataclass(frozen=True)
class Producer:
    """How to read the record batches of an object.

    Attributes
    ----------
    shown : its name in errors
    batches : function that starts reading, and returns batches of about the given number of rows
    once : whether it can be read only once
    ordered : whether reading again gives the rows in the same order
    evidence : texts by which it is recognized: the query, the plan, the files
    schema : the Arrow schema, if it is known without reading; otherwise that of the first batch
    query : the query that can be cut into ranges; None for anything else
    """

    shown: str
    batches: Callable[[int], Iterable[Any]]
    once: bool = False
    ordered: bool = False
    evidence: tuple[str, ...] = ()
    schema: Any = None
    query: Query | None = None


def producer_of(data: Any) -> Producer | None:
    """Return the producer of an object; None if it does not produce record batches."""
    package = type(data).__module__.partition(".")[0]
    if package == "narwhals" and type(data).__name__ == "LazyFrame":
        return producer_of(data.to_native())
    found = _BY_PACKAGE[package](data) if package in _BY_PACKAGE else None
    return found or _by_protocol(data) or _by_iteration(data)


# ------------------------------------------------------------------------------------ by library


def _polars(data: Any) -> Producer | None:
    if type(data).__name__ != "LazyFrame":
        return None
    import polars as pl  # noqa: PLC0415

    plan = data.explain(optimized=False)
    schema = pl.DataFrame(schema=data.collect_schema()).to_arrow().schema

    def batches(size: int) -> Iterator[Any]:
        for frame in data.collect_batches(chunk_size=size, maintain_order=True):
            yield from frame.to_arrow().to_batches()

    ordered = _UNORDERED.search(plan) is None
    return Producer("the polars LazyFrame", batches, ordered=ordered, evidence=(plan,), schema=schema)


def _duckdb(data: Any) -> Producer | None:
    if not hasattr(data, "sql_query"):  # a connection, which has the result of one query
        return Producer("the DuckDB result", data.to_arrow_reader, once=True)
    sql = data.sql_query()
    ordered, evidence = _is_sorted(_WRAPPED.sub("", sql)), (_RANDOM.sub(r"\1", sql),)
    schema = data.limit(0).to_arrow_table().schema
    return Producer(
        "the DuckDB relation", data.to_arrow_reader, ordered=ordered, evidence=evidence, schema=schema
    )


def _pyarrow(data: Any) -> Producer | None:
    import pyarrow.dataset as ds  # noqa: PLC0415

    if isinstance(data, ds.Dataset):
        files = tuple(getattr(data, "files", ()))  # a dataset over a reader has none

        # with threads or buffers, more and more batches would be read ahead of a slow consumer
        limits: dict[str, Any] = {"batch_readahead": 2, "fragment_readahead": 1, "use_threads": False}
        if isinstance(getattr(data, "format", None), getattr(ds, "ParquetFileFormat", ())):
            limits["fragment_scan_options"] = ds.ParquetFragmentScanOptions(pre_buffer=False)

        def batches(size: int) -> Any:
            return data.to_batches(batch_size=size, **limits)

        return Producer(
            "the Arrow dataset", batches, once=not files, ordered=True, evidence=files, schema=data.schema
        )
    if isinstance(data, ds.Scanner):
        return Producer("the Arrow scanner", lambda _: data.to_batches(), once=True)
    return None


def _query(data: Any) -> Producer | None:
    if not isinstance(data, Query):
        return None
    if data.partition_on is not None:
        evidence = (data.sql, data.partition_on)
        return Producer("the query", data.batches, ordered=True, evidence=evidence, query=data)
    return Producer("the query", data.batches, ordered=_is_sorted(data.sql), evidence=(data.sql,))


def _ibis(data: Any) -> Producer | None:
    if not hasattr(data, "to_pyarrow_batches"):
        return None
    return Producer("the ibis table", lambda size: data.to_pyarrow_batches(chunk_size=size))


_BY_PACKAGE: dict[str, Callable[[Any], Producer | None]] = {
    "polars": _polars,
    "duckdb": _duckdb,
    "_duckdb": _duckdb,
    "pyarrow": _pyarrow,
    "streamsieve": _query,
    "ibis": _ibis,
}


def _is_sorted(sql: str) -> bool:
    """Whether the outermost query has ORDER BY."""
    return _SORTED.search(code_of(sql)) is not None


# ------------------------------------------------------------------------------------ by protocol


def _by_protocol(data: Any) -> Producer | None:
    if isinstance(data, type) or _is_eager(data):
        return None
    shown = f"the {type(data).__name__}"
    if callable(getattr(data, "fetch_record_batch", None)):  # a cursor; its reader dies with it
        return Producer(shown, lambda _: data.fetch_record_batch(), once=True)
    if hasattr(data, "__arrow_c_stream__"):
        import pyarrow as pa  # noqa: PLC0415 - such an object implies that pyarrow is installed

        return Producer(shown, lambda _: pa.RecordBatchReader.from_stream(data), once=True)
    return None


def _is_eager(data: Any) -> bool:
    """Whether data are in memory already: a dataframe, a table, a series."""
    import narwhals as nw  # noqa: PLC0415

    found = nw.dependencies
    if found.is_into_dataframe(data) or found.is_into_series(data) or type(data).__name__ == "RecordBatch":
        return True
    return hasattr(data, "__arrow_c_array__") and not hasattr(data, "__arrow_c_stream__")


# ------------------------------------------------------------------------------------ by iteration


def _by_iteration(data: Any) -> Producer | None:
    if isinstance(data, (list, tuple)):
        if not data or not (isinstance(data[0], Mapping) or _is_eager(data[0])) or _is_series(data[0]):
            return None
        what = "rows" if isinstance(data[0], Mapping) else "tables"
        return Producer(f"the list of {what}", lambda _: chunks_of(data), ordered=True, evidence=(what,))
    if inspect.isroutine(data) or (
        callable(data) and not isinstance(data, type) and not hasattr(data, "rows")
    ):
        name = str(getattr(data, "__name__", type(data).__name__))
        return Producer(f"the iterator of {name}()", lambda _: chunks_of(_called(data)), evidence=(name,))
    if isinstance(data, Iterator) and not _has_axis(data):
        return Producer(f"the {type(data).__name__}", lambda _: chunks_of(data), once=True)
    return None


def _has_axis(data: Any) -> bool:
    """Whether something is a source already."""
    return any(callable(getattr(data, axis, None)) for axis in ("rows", "columns"))


def _called(make: Callable[[], Iterable[Any]]) -> Iterable[Any]:
    if any(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in _parameters(make)):
        raise SourceError(
            "a function that makes chunks of rows takes no arguments; for columns computed on the way, use "
            "features(factory, y)"
        )
    made = make()
    if not isinstance(made, Iterable):
        raise SourceError(
            f"got a function that returns a {type(made).__name__}, not chunks of rows; for columns computed "
            "on the way, use features(factory, y)"
        )
    return made


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # compiled functions may have none
        return []


def chunks_of(items: Iterable[Any]) -> Iterator[Any]:
    """Yield the record batches of dataframes, tables and rows given as dicts."""
    rows: list[Mapping[Any, Any]] = []
    for item in items:
        if isinstance(item, Mapping):
            rows.append(item)
            if len(rows) == GATHERED:
                yield _of_rows(rows)
                rows = []
            continue
        if rows:
            yield _of_rows(rows)
            rows = []
        yield from _batches_of(item)
    if rows:
        yield _of_rows(rows)


def _of_rows(rows: list[Mapping[Any, Any]]) -> Any:
    """Return rows as a record batch; absent fields are missing values."""
    import pyarrow as pa  # noqa: PLC0415

    names = dict.fromkeys(chain.from_iterable(rows))  # Arrow examines the first row only
    columns = []
    for name in names:
        if not isinstance(name, str):
            raise SourceError(f"the fields of a row are named by text; got {name!r}")
        try:
            columns.append(pa.array([row.get(name) for row in rows]))
        except (pa.ArrowException, TypeError, OverflowError) as error:
            raise SourceError(f"the field {name!r} holds values of different kinds: {error}") from error
    return pa.RecordBatch.from_arrays(columns, names=list(names))


def _batches_of(item: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    if type(item).__module__.partition(".")[0] == "pandas" and hasattr(item, "columns"):
        return pa.Table.from_pandas(item, preserve_index=False).to_batches()
    if isinstance(item, pa.RecordBatch):
        return [item]
    if hasattr(item, "__arrow_c_stream__") and not _is_series(item):
        return pa.RecordBatchReader.from_stream(item)
    if hasattr(item, "__arrow_c_array__") and not _is_series(item):
        return [pa.record_batch(item)]
    raise SourceError(
        f"got a {type(item).__name__} among chunks of rows, which are dataframes, Arrow tables or dicts; for "
        "columns computed on the way, use features(factory, y)"
    )


def _is_series(item: Any) -> bool:
    import narwhals as nw  # noqa: PLC0415

    return bool(nw.dependencies.is_into_series(item)) or type(item).__name__ in {"Array", "ChunkedArray"}
