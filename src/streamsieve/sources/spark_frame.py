"""Source of Spark frames, classic and Connect, whose partitions are learned by the executors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from streamsieve._parameters import did_you_mean
from streamsieve.exceptions import SourceError
from streamsieve.protocols import RowBatch
from streamsieve.sources.checks import some
from streamsieve.sources.chunks import TableChunks
from streamsieve.sources.identity import names_identity
from streamsieve.sources.shown import ShownSource
from streamsieve.sources.tables.files import need_pyarrow
from streamsieve.sources.tables.layout import target_type_of
from streamsieve.sources.tables.producers import Producer
from streamsieve.sources.tables.reading import as_list
from streamsieve.sources.tables.streams import StreamTable
from streamsieve.sources.vectors import VectorChunks


def is_spark(data: Any) -> bool:
    """Whether something is a Spark frame, classic or Connect."""
    return type(data).__module__.startswith("pyspark.sql") and hasattr(data, "mapInArrow")


@contextmanager
def spark_errors_named() -> Iterator[None]:
    """Context manager that turns errors of Spark into a ``SourceError`` of one sentence."""
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield
    except PySparkException as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        if any("No module named 'streamsieve" in line for line in lines):
            raise SourceError(
                "the Python of the executors has no streamsieve: install there the version that is installed "
                "here"
            ) from error
        raised = [line for line in lines if "Error: " in line and not line.startswith(("at ", "File "))]
        text = (raised or lines or [type(error).__name__])[0]
        raise SourceError(f"Spark gave up: {text[:500]}") from error


class SparkSource(ShownSource):
    """Stream the partitions of a Spark frame by rows, learned by its executors in :func:`streamsieve.run`.

    Parameters
    ----------
    data : pyspark.sql.DataFrame, classic or Connect; batch, not streaming
    target : str, default=None
        The column that holds the target.
    weight : str, default=None
        The column that holds the weights of rows; it is not a feature.
    features : str or sequence of str, default=()
        Columns that are features; by default all but the target.  One column of vectors stands for its
        elements, named by the attributes that VectorAssembler gave it.
    exclude : str or sequence of str, default=()
        Columns that are not features.
    skip_text : bool, default=False
        Whether to leave out columns that do not hold numbers instead of refusing them.
    order_by : str, default=None
        Sort the rows by this column, which is then no feature.  Partitions of a Spark frame have no order
        otherwise, and a half-life or a window needs one.

    Attributes
    ----------
    names : names of the features; None for vectors without attributes
    n_rows : None; counting them is a job of its own
    n_columns : number of features
    ordered : whether partitions are in the order of rows, which is so with ``order_by``
    engine : "spark"; a run over this source needs no ``engine=``

    Notes
    -----
    A partition is a task: ``repartition`` the frame to change that.  Executors need streamsieve installed, in
    the version of this process.
    """

    engine = "spark"
    #: Advice in errors on how to order the rows.
    sorting = "sort them, streamsieve.open(frame, order_by='time')"

    def __init__(
        self,
        data: Any,
        target: str | None = None,
        *,
        weight: str | None = None,
        features: str | Sequence[str] = (),
        exclude: str | Sequence[str] = (),
        skip_text: bool = False,
        order_by: str | None = None,
    ) -> None:
        need_pyarrow()
        if getattr(data, "isStreaming", False):
            raise SourceError(
                "a streaming frame has no end: write it with foreachBatch(streamsieve.engines.spark.into("
                "'state.sieve', selector, target=...))"
            )
        if target is not None and not isinstance(target, str):
            raise SourceError(
                "the target of a Spark frame is one of its columns: give its name, got "
                f"{type(target).__name__}"
            )
        chosen, left_out = as_list("features", features), set(as_list("exclude", exclude))
        beside = [name for name in (weight, target) if name is not None]
        _check_columns(data, [*chosen, *left_out, *beside, *([] if order_by is None else [order_by])])
        asked = [n for n in chosen or data.columns if n not in {target, weight, order_by, *left_out}]
        vectors = [name for name in asked if _is_vector(data.schema[name])]
        if vectors and asked != vectors[:1] and not skip_text:
            raise SourceError(
                f"column {vectors[0]!r} holds vectors, which are features on their own: give "
                f"features={vectors[0]!r}, or leave the column out with exclude={vectors[0]!r}"
            )
        self.n_rows: int | None = None
        self.ordered = order_by is not None
        if order_by is not None:
            data = data.repartitionByRange(order_by).sortWithinPartitions(order_by)
        wanted = [*(n for n in asked if n not in vectors or asked == vectors), *beside]
        #: The columns that executors read.
        self.frame = data.select(_quoted(wanted))
        self._target, self._weight = target, weight
        self.reader = self._reader(data, vectors if asked == vectors else [], skip_text=skip_text)
        self.names: list[str] | None = self._names()
        self.n_columns: int | None = (
            self.reader.n_columns if isinstance(self.reader, VectorChunks) else len(self.names or [])
        )

    def first_rows(self, size: int, *, values: bool = True) -> RowBatch | None:
        """Return the first rows; only these leave the executors.

        Without ``values`` the features are 0: reading a hundred columns takes Spark several times as long as
        reading the target, and their names are known.
        """
        reader, names = self.reader, self.names or []
        # the fields of a nested column are features, but no columns of the frame
        if values or not isinstance(reader, TableChunks) or not {*names[:1]} & {*self.frame.columns}:
            return _first_rows(self.frame, reader, size)
        few = [name for name in (names[0], self._weight, self._target) if name is not None]
        short = replace(reader, schema=reader.schema.empty_table().select(few).schema)
        batch = _first_rows(self.frame.select(_quoted(few)), short, size)
        return batch and replace(batch, X=np.zeros((batch.X.shape[0], len(names))), names=names)

    def rows(self, batch_size: int = 4096, start: Mapping[str, int] | None = None) -> Iterator[RowBatch]:
        """Refuse to collect all rows in this process."""
        del batch_size, start
        raise SourceError(
            "a Spark frame is learned by its executors, streamsieve.run(frame, selector, target=...), and "
            "its rows stay there: for one process, write it to Parquet files and open those"
        )

    def identity(self) -> dict[str, Any]:
        """Return a JSON description that identifies the stream: columns, plan, and files read."""
        plan = {"plan": self.frame.semanticHash(), "files": sorted(self.frame.inputFiles())}
        names = names_identity(self.names)
        columns = {"target": self._target, "weight": self._weight}
        return {"kind": type(self).__name__, "names": names, **columns, **plan}

    def _reader(self, data: Any, vectors: list[str], *, skip_text: bool) -> TableChunks | VectorChunks:
        target, weight = self._target, self._weight
        with spark_errors_named():
            schema = self.frame.limit(0).toArrow().schema
        if not vectors:
            return TableChunks(schema, target, (), skip_text, weight)
        names, width = _attributes(data.schema[vectors[0]])
        table = StreamTable(Producer("the Spark frame", lambda _: [], schema=schema), target)
        if width is None:
            first = self.frame.first()
            if first is None:
                raise SourceError("the Spark frame holds no rows: there is nothing to stream")
            width = len(first[vectors[0]])
        return VectorChunks(vectors[0], names, width, target, target_type_of([table], target), weight)

    def _names(self) -> list[str] | None:
        if isinstance(self.reader, VectorChunks):
            return self.reader.names
        return self.reader.source("the Spark frame", []).names


def _check_columns(data: Any, names: Sequence[str]) -> None:
    for name in names:
        if name not in data.columns:
            raise SourceError(
                f"the Spark frame has no column {name!r}{did_you_mean(name, data.columns)}; its columns are "
                f"{some(data.columns)}"
            )


def _first_rows(frame: Any, reader: TableChunks | VectorChunks, size: int) -> RowBatch | None:
    with spark_errors_named():
        batches = frame.limit(size).toArrow().to_batches()
    return next(reader.stream("the Spark frame", batches).rows(size), None)


def _quoted(names: Sequence[str]) -> list[str]:
    return [f"`{name.replace('`', '``')}`" for name in names]


def _is_vector(field: Any) -> bool:
    return type(field.dataType).__name__ == "VectorUDT"


def _attributes(field: Any) -> tuple[list[str] | None, int | None]:
    """Return names and number of the elements of a vector, if its attributes hold them."""
    known = (field.metadata or {}).get("ml_attr", {})
    found = [each for group in known.get("attrs", {}).values() for each in group]
    width = known.get("num_attrs", len(found) or None)
    names = {int(each["idx"]): str(each["name"]) for each in found if "name" in each}
    complete = width is not None and len(set(names.values())) == width and set(names) == set(range(width))
    return ([names[k] for k in range(width)] if complete else None), width
