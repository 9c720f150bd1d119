"""Source of Dask dataframes and arrays, whose partitions are the parts that an engine learns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from streamsieve.exceptions import SourceError
from streamsieve.protocols import RowBatch
from streamsieve.sources.checks import as_target, check_names, check_size
from streamsieve.sources.chunks import ArrayChunks, TableChunks
from streamsieve.sources.identity import names_identity
from streamsieve.sources.parts import SourcePart
from streamsieve.sources.shown import ShownSource
from streamsieve.sources.tables.files import need_pyarrow
from streamsieve.sources.tables.reading import as_list
from streamsieve.sources.weights import weights_of

#: Steps of a Dask expression after which partitions have no order, and steps that give them one again.
_SHUFFLES = ("RearrangeByColumn", "Shuffle", "Merge", "Join", "DropDuplicates", "Unique", "GroupBy", "Sample")
_SORTS = ("SetIndex", "SortValues", "SortIndex")


def is_dask(data: Any) -> bool:
    """Whether something is a Dask dataframe, series or array."""
    module = type(data).__module__
    return module.startswith(("dask.dataframe", "dask.array"))


@dataclass(frozen=True)
class LazyChunk:
    """A partition that Dask computes where the task runs; ``reader`` converts its values to rows there."""

    reader: TableChunks | ArrayChunks
    lazy: tuple[Any, ...]


class DaskSource(ShownSource):
    """Stream the partitions of a Dask dataframe or array by rows, learned by Dask in :func:`streamsieve.run`.

    Parameters
    ----------
    data : dask.dataframe.DataFrame or dask.array.Array
    target : str, Dask array or array, default=None
        Of a frame: the column that holds the target.  Of an array: the target itself, in the chunks of the
        array's rows.
    weight : str, Dask array or array, default=None
        Weights of rows.  Of a frame: the column that holds them, which is not a feature.  Of an array: the
        weights themselves, in the chunks of the array's rows.
    exclude : str or sequence of str, default=()
        Columns of a frame that are not features.
    skip_text : bool, default=False
        Whether to leave out columns that do not hold numbers instead of refusing them.
    names : sequence of str, default=None
        Names of the features of an array.

    Attributes
    ----------
    names : names of the features; None for an array without
    n_rows : rows, where Dask knows the size of chunks; otherwise None
    n_columns : number of features
    ordered : whether the order of partitions is that of the rows: not after a shuffle, a join and the like
    engine : "dask"; a run over this source needs no ``engine=``

    Notes
    -----
    A partition is a task, whatever ``rows_per_task``: ``repartition`` or ``rechunk`` the data to change that.
    ``rows`` computes one partition after the other in this process, for selectors that cannot be distributed;
    a batch ends where a partition ends.

    Examples
    --------
    >>> import dask.array as da, streamsieve as ss
    >>> X, y = da.ones((10, 2), chunks=(4, 2)), da.arange(10, chunks=4) % 2
    >>> [batch.X.shape for batch in ss.open(X, target=y).rows(3)]
    [(3, 2), (1, 2), (3, 2), (1, 2), (2, 2)]
    """

    engine = "dask"
    #: Advice in errors on how to order the rows.
    sorting = "sort them with sort_values or set_index"

    def __init__(
        self,
        data: Any,
        target: Any = None,
        *,
        weight: Any = None,
        exclude: str | Sequence[str] = (),
        skip_text: bool = False,
        names: Sequence[str] | None = None,
    ) -> None:
        self.n_rows: int | None = None
        if hasattr(data, "to_delayed") and hasattr(data, "npartitions") and hasattr(data, "columns"):
            if names is not None:
                raise SourceError(
                    "a Dask frame has names of its own: rename its columns, or leave out names="
                )
            self._of_frame(data, target, weight, as_list("exclude", exclude), skip_text=skip_text)
        else:
            if exclude or skip_text:
                raise SourceError("exclude and skip_text are about columns of a frame, and this is an array")
            self._of_array(data, target, weight, names)

    def _of_frame(
        self, data: Any, target: Any, weight: Any, exclude: tuple[str, ...], *, skip_text: bool
    ) -> None:
        need_pyarrow()
        import pyarrow as pa  # noqa: PLC0415

        for what, given in (("target", target), ("weight", weight)):
            if given is not None and not isinstance(given, str):
                raise SourceError(
                    f"the {what} of a Dask frame is one of its columns, because X and y taken apart may have "
                    f"other partitions: give its name, got {type(given).__name__}"
                )
        if data.ndim != 2:
            raise SourceError("a Dask series has one column: give a frame")
        meta = data._meta_nonempty  # noqa: SLF001 - where Dask keeps the types
        schema = pa.Schema.from_pandas(meta, preserve_index=False)
        reader = TableChunks(schema, target, exclude, skip_text, weight)
        self._reader: TableChunks | ArrayChunks = reader
        self.names: list[str] | None = reader.source("the Dask frame", []).names
        self.n_columns: int | None = len(self.names or [])
        self._lazy = [(chunk,) for chunk in data.to_delayed()]
        self._what, self._name, self.ordered = "partition", data._name, _is_ordered(data.expr)  # noqa: SLF001

    def _of_array(self, data: Any, target: Any, weight: Any, names: Sequence[str] | None) -> None:
        if data.ndim != 2:
            raise SourceError(f"X needs rows and columns, and this Dask array has {data.ndim} dimensions")
        data = data.rechunk({1: -1})
        sizes, known = data.chunks[0], not np.isnan(data.chunks[0]).any()
        self.n_rows = int(sum(sizes)) if known else None
        self.names = check_names(names, data.shape[1]) if names is not None else None
        self.n_columns = int(data.shape[1])
        self._reader, self.ordered = ArrayChunks(self.names, self.n_columns), True
        self._what, self._name = "chunk", data.name
        chunks = data.to_delayed().ravel()
        beside = []
        for what, given in (("target", target), ("weight", weight)):
            none = [None] * len(chunks)
            beside.append(none if given is None else _pieces(given, sizes, what, known=known))
            self._name += "" if given is None else str(getattr(given, "name", ""))
        self._lazy = list(zip(chunks, *beside, strict=True))

    def parts(self, rows: int) -> list[SourcePart]:
        """Return the partitions, which are the parts."""
        del rows
        return [
            SourcePart(LazyChunk(self._reader, lazy), self._shown(k)) for k, lazy in enumerate(self._lazy)
        ]

    def first_rows(self, size: int, *, values: bool = True) -> RowBatch | None:
        """Return the first rows; only these leave the workers."""
        del values  # a partition is computed for its target alone, too
        from dask import delayed  # noqa: PLC0415

        for number, lazy in enumerate(self._lazy):
            few = [None if each is None else delayed(_head, pure=True)(each, size) for each in lazy]
            for batch in self._read(number, few, size):
                return batch
        return None

    def rows(self, batch_size: int = 4096, start: Mapping[str, int] | None = None) -> Iterator[RowBatch]:
        """Yield the rows in batches, partition by partition, each computed when its turn comes."""
        size = check_size("batch_size", batch_size)
        if start:
            raise SourceError(
                "a Dask frame has no place to resume from: run it on its engine, from the beginning"
            )
        for number, lazy in enumerate(self._lazy):
            yield from self._read(number, lazy, size)

    def identity(self) -> dict[str, Any]:
        """Return a JSON description that identifies the stream: Dask's name, a hash of how it is computed."""
        return {"kind": type(self).__name__, "names": names_identity(self.names), "dask": self._name}

    def _read(self, number: int, lazy: Sequence[Any], size: int) -> Iterator[RowBatch]:
        import dask  # noqa: PLC0415

        return self._reader.part(self._shown(number), *dask.compute(*lazy)).rows(size)

    def _shown(self, number: int) -> str:
        return f"{self._what} {number} of the Dask {'frame' if self._what == 'partition' else 'array'}"


def _head(values: Any, size: int) -> Any:
    return values.iloc[:size] if hasattr(values, "iloc") else values[:size]


def _is_ordered(expression: Any) -> bool:
    """Whether partitions are in row order: no step since the last sort has shuffled them."""
    kind = type(expression).__name__
    if kind.startswith(_SORTS):
        return True
    if any(step in kind for step in _SHUFFLES):
        return False
    return all(map(_is_ordered, expression.dependencies()))


def _pieces(given: Any, sizes: Sequence[float], what: str, *, known: bool) -> list[Any]:
    """Return the target or weights of every chunk of X; other chunk sizes are refused."""
    if not is_dask(given):
        if not known:
            raise SourceError(
                f"the chunks of X have unknown sizes, so a {what} in memory cannot be cut like them: call "
                "X.compute_chunk_sizes() first, or give a Dask array"
            )
        n = int(sum(sizes))
        values: Any = as_target(given, n) if what == "target" else weights_of(given, n)
        edges = np.cumsum([0, *sizes]).astype(int).tolist()
        return [values[low:high] for low, high in pairwise(edges)]
    short = "y" if what == "target" else what
    theirs = given.chunks[0] if hasattr(given, "chunks") else (np.nan,) * given.npartitions
    if len(theirs) != len(sizes):
        raise SourceError(
            f"X has {len(sizes)} chunks of rows and the {what} {len(theirs)}: rechunk the {what} like X, "
            f"{short}.rechunk(X.chunks[0])"
        )
    for number, (rows, found) in enumerate(zip(sizes, theirs, strict=True)):
        if rows != found and not np.isnan([rows, found]).any():
            raise SourceError(
                f"chunk {number} of X has {rows:,} rows and that of the {what} {found:,}: rechunk the "
                f"{what} like X, {short}.rechunk(X.chunks[0])"
            )
    return list(np.ravel(given.to_delayed()))
