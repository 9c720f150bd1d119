"""Dask dataframes and arrays: their partitions are the parts that an engine learns."""

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

#: Steps of a Dask expression after which partitions have no order, and steps that give them one again.
_SHUFFLES = ("RearrangeByColumn", "Shuffle", "Merge", "Join", "DropDuplicates", "Unique", "GroupBy", "Sample")
_SORTS = ("SetIndex", "SortValues", "SortIndex")


def is_dask(data: Any) -> bool:
    """Whether something is a Dask dataframe, series or array."""
    module = type(data).__module__
    return module.startswith(("dask.dataframe", "dask.array"))


@dataclass(frozen=True)
class LazyChunk:
    """A partition that Dask computes where the task runs; ``reader`` makes rows of its values there."""

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
    #: What an error says about giving rows an order.
    sorting = "sort them with sort_values or set_index"

    def __init__(
        self,
        data: Any,
        target: Any = None,
        *,
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
            self._of_frame(data, target, as_list("exclude", exclude), skip_text=skip_text)
        else:
            if exclude or skip_text:
                raise SourceError("exclude and skip_text are about columns of a frame, and this is an array")
            self._of_array(data, target, names)

    def _of_frame(self, data: Any, target: Any, exclude: tuple[str, ...], *, skip_text: bool) -> None:
        need_pyarrow()
        import pyarrow as pa  # noqa: PLC0415

        if target is not None and not isinstance(target, str):
            raise SourceError(
                "the target of a Dask frame is one of its columns, because X and y taken apart may have "
                f"other partitions: give its name, got {type(target).__name__}"
            )
        if data.ndim != 2:
            raise SourceError("a Dask series has one column: give a frame")
        meta = data._meta_nonempty  # noqa: SLF001 - where Dask keeps the types
        reader = TableChunks(pa.Schema.from_pandas(meta, preserve_index=False), target, exclude, skip_text)
        self._reader: TableChunks | ArrayChunks = reader
        self.names: list[str] | None = reader.source("the Dask frame", []).names
        self.n_columns: int | None = len(self.names or [])
        self._lazy = [(chunk,) for chunk in data.to_delayed()]
        self._what, self._name, self.ordered = "partition", data._name, _is_ordered(data.expr)  # noqa: SLF001

    def _of_array(self, data: Any, target: Any, names: Sequence[str] | None) -> None:
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
        pieces = [()] * len(chunks) if target is None else _target_pieces(target, sizes, known=known)
        self._name += "" if target is None else str(getattr(target, "name", ""))
        self._lazy = [(chunk, *piece) for chunk, piece in zip(chunks, pieces, strict=True)]

    def parts(self, rows: int) -> list[SourcePart]:
        """Return the partitions; Dask has cut the rows already."""
        del rows
        return [
            SourcePart(LazyChunk(self._reader, lazy), self._shown(k)) for k, lazy in enumerate(self._lazy)
        ]

    def first_rows(self, size: int) -> RowBatch | None:
        """Return the first rows; of a partition, no more than these leave the workers."""
        from dask import delayed  # noqa: PLC0415

        for number, lazy in enumerate(self._lazy):
            few = [delayed(_head, pure=True)(each, size) for each in lazy]
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
        """Return what makes this stream this stream: Dask's name, which depends on all that it is made of."""
        return {"kind": type(self).__name__, "names": names_identity(self.names), "dask": self._name}

    def _read(self, number: int, lazy: Sequence[Any], size: int) -> Iterator[RowBatch]:
        import dask  # noqa: PLC0415

        return self._reader.part(self._shown(number), *dask.compute(*lazy)).rows(size)

    def _shown(self, number: int) -> str:
        return f"{self._what} {number} of the Dask {'frame' if self._what == 'partition' else 'array'}"


def _head(values: Any, size: int) -> Any:
    return values.iloc[:size] if hasattr(values, "iloc") else values[:size]


def _is_ordered(expression: Any) -> bool:
    """Whether partitions are in the order of rows: no step since the last sort has shuffled them."""
    kind = type(expression).__name__
    if kind.startswith(_SORTS):
        return True
    if any(step in kind for step in _SHUFFLES):
        return False
    return all(map(_is_ordered, expression.dependencies()))


def _target_pieces(target: Any, sizes: Sequence[float], *, known: bool) -> list[tuple[Any]]:
    """Return the target of every chunk of X; one that is cut in another way is refused."""
    if not is_dask(target):
        if not known:
            raise SourceError(
                "the chunks of X have unknown sizes, so a target in memory cannot be cut like them: call "
                "X.compute_chunk_sizes() first, or give a Dask array"
            )
        values: Any = as_target(target, int(sum(sizes)))
        edges = np.cumsum([0, *sizes]).astype(int).tolist()
        return [(values[low:high],) for low, high in pairwise(edges)]
    theirs = target.chunks[0] if hasattr(target, "chunks") else (np.nan,) * target.npartitions
    if len(theirs) != len(sizes):
        raise SourceError(
            f"X has {len(sizes)} chunks of rows and the target {len(theirs)}: rechunk the target like X, "
            "y.rechunk(X.chunks[0])"
        )
    for number, (rows, labels) in enumerate(zip(sizes, theirs, strict=True)):
        if rows != labels and not np.isnan([rows, labels]).any():
            raise SourceError(
                f"chunk {number} of X has {rows:,} rows and that of the target {labels:,}: rechunk the "
                "target like X, y.rechunk(X.chunks[0])"
            )
    return [(piece,) for piece in np.ravel(target.to_delayed())]
