"""Source of columns that Python functions compute on demand."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import count
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy.typing as npt

from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.protocols import ColumnBlock, Position
from streamsieve.sources.checks import as_target, beyond, check_size, check_start, no_axis
from streamsieve.sources.computed.blocks import Candidate, Growing, error_of
from streamsieve.sources.computed.compute import (
    Computed,
    Failed,
    Item,
    Items,
    Maker,
    One,
    error_line,
    outcome,
)
from streamsieve.sources.computed.workers import in_order, parcel
from streamsieve.sources.shown import ShownSource

#: A feature, computed or not yet.
F = TypeVar("F", Computed, Candidate)


class Features(ShownSource):
    """Stream columns that are computed on demand, in this process or by worker processes.

    Only one block of columns exists at a time, and a selector that stops early leaves the rest uncomputed.

    Parameters
    ----------
    factory : callable returning an iterator, or iterable
        Yields the features in order: each a column of one value per row, or a function without arguments that
        returns one; alone or as a pair ``(name, ...)``; a pandas or polars series has its own name.  A
        callable can be restarted, to stream twice or to resume; an iterator can be used once.
    y : array of one value per row, default=None
        The target.  If None, the selector must have it already or need none, and the first column determines
        the number of rows.
    names : sequence of str, default=None
        Names in order of arrival, for columns without a name.  If None, x0, x1, ...
    compute : callable or None, default=None
        Function that computes a column from an item of ``factory``: an item, or a pair ``(name, item)``.  An
        item that is text is its own name.
    workers : int, default=0
        Number of worker processes; 0 to compute in this process.  Results come in order, whatever their
        number.
        What is computed must be functions (``compute``, or functions as features); ``compute`` with
        all it refers to is sent to each worker once, a function that is a feature whenever it is computed.

    Attributes
    ----------
    on_demand : True; blocks are computed when they are requested
    n_columns : number of names, if names were given, else None

    Notes
    -----
    Blocks include the computing time of each column (``ColumnBlock.seconds``), and the ledger of a selector
    records it.  For a column yielded by the factory it is the time the factory took, for a function the time
    of the call.

    If a feature cannot be computed, those before it are delivered first, whatever the block size, and the
    error names it.  ``columns(start=...)`` resumes with it, or after it, without computing earlier ones
    again, unless the columns are computed by the generator itself, which must be restarted.

    Workers are separate processes: they do not share memory and ignore Ctrl-C.  Each worker has up to two
    features in progress; when the run stops these are discarded, so a few may be computed unnecessarily.
    Functions defined in scripts and notebooks, lambdas and closures are supported: a function is called, or
    serialized for a worker, before the next item of the factory is requested, so that it may use the
    generator's variables.

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.sources import Features
    >>> t, y = np.arange(4.0), np.array([0, 0, 1, 1])
    >>> def powers():
    ...     for k in range(1, 4):
    ...         yield f"t^{k}", t**k
    >>> for block in Features(powers, y).columns(2):
    ...     print(block.names, block.X.shape, block.position)
    ['t^1', 't^2'] (4, 2) {'column': 2}
    ['t^3'] (4, 1) {'column': 3}
    """

    on_demand: ClassVar[bool] = True

    def __init__(
        self,
        factory: Callable[[], Iterable[Any]] | Iterable[Any],
        y: Any = None,
        names: Sequence[str] | None = None,
        *,
        compute: Callable[..., Any] | None = None,
        workers: int = 0,
    ) -> None:
        if compute is not None and not callable(compute):
            raise ParameterError(
                f"compute must be a function that makes a column of an item; got {compute!r}"
            )
        self._workers = check_size("workers", workers, low=0)
        self._factory, self._compute = factory, compute
        self._y = as_target(y, None)
        self._given = None if names is None else [str(name) for name in names]
        #: The items of an iterator, which cannot be restarted.
        self._live: Items | None = None
        self.names: list[str] | None = self._given
        self.n_columns: int | None = None if names is None else len(names)
        self.n_rows: int | None = None if self._y is None else len(self._y)

    @property
    def y(self) -> npt.NDArray[Any] | None:
        """The target, one value per row."""
        return self._y

    def rows(self, batch_size: int = 4096, start: Mapping[str, int] | None = None) -> NoReturn:
        """Refuse: a row is complete only after the last column."""
        del batch_size, start
        raise no_axis(
            self, "rows", "it computes columns one after the other; use columns() and a column selector"
        )

    def columns(
        self, block_size: int = 1024, start: Mapping[str, int] | None = None
    ) -> Iterator[ColumnBlock]:
        """Yield the columns in blocks, computing them on demand.

        If a column cannot be computed, those before it are delivered first, whatever the block size.

        Parameters
        ----------
        block_size : int, default=1024
            Columns in a block; the last may be smaller.  All of them are computed before any is seen.
        start : position of a block, default=None
            Begin just after that block.  Features before are not computed, unless by the generator itself.
        """
        size = check_size("block_size", block_size)
        check_start(self, start, ("column",))
        return self._columns(size, start or {"column": 0})

    def _columns(self, size: int, start: Mapping[str, int]) -> Iterator[ColumnBlock]:
        n, at = self.n_rows, start["column"]
        number, dropped = self.place_of(start)
        items = self._items(number, packed=self._workers > 0)
        self._skip(items, number)
        going, position = True, dict(start)
        with closing(self._results(items, number, dropped, at)) as results:
            while going:
                block = Growing(n)
                while going and len(block.columns) < size:
                    found = next(results, None)
                    going = found is not None and block.add(self._named(at + len(block.columns), found[0]))
                    if found is not None and going:
                        position = self.position_after(at + len(block.columns), *found[1:])
                if block.columns:
                    yield block.whole(at, position)
                    n, at = block.n, at + len(block.columns)
                    items.release_before(self.place_of(position)[0])
                if block.failure is not None:
                    raise error_of(at, block.failure)

    def candidates(self, start: Mapping[str, int] | None = None) -> Iterator[Candidate | Failed]:
        """Return the features from a position on, serialized to be computed by workers of an engine.

        If one cannot be serialized, the last entry is that failure.
        """
        if self._workers:
            raise ParameterError(
                "on an engine its workers compute the features: leave out workers= of the source"
            )
        if isinstance(self._factory, Iterator):
            raise SourceError(
                "an iterator cannot start again, as a run on an engine may have to: pass the function that "
                "makes it, as in features(make_columns, y)"
            )
        number = self.place_of(start or {"column": 0})[0]
        items = self._items(number, packed=True)
        self._skip(items, number)
        return self._candidates(items, number)

    def _candidates(self, items: Items, number: int) -> Iterator[Candidate | Failed]:
        for candidate in self._packed_items(items, number):
            named = self._named(items.first, candidate)
            yield named
            if isinstance(named, Failed):
                return
            items.release_before(items.first + 1)

    def _packed_items(self, items: Items, number: int) -> Iterator[Candidate | Failed]:
        for at in count(number):
            item = self._read(items, at)
            if item is None:
                return
            if isinstance(item, Failed) or isinstance(item.content, Failed):
                failed = item if isinstance(item, Failed) else item.content
                yield failed
                return
            yield Candidate(item.name, item.content)

    def place_of(self, start: Mapping[str, int]) -> tuple[int, int]:
        """Return the item to begin with, and how many of its first columns to drop."""
        return start["column"], 0

    def position_after(self, at: int, number: int, inside: int) -> Position:
        """Return the position after ``at`` columns, the last of which was number ``inside`` of an item."""
        del number, inside
        return {"column": at}

    @property
    def maker(self) -> Maker:
        """Computes columns from an item."""
        return One(self._compute)

    def _named(self, at: int, result: F | Failed) -> F | Failed:
        """Return a feature with its own name, or else that from ``names``."""
        if result.name is not None or self._given is None:
            return result
        if at < len(self._given):
            return result._replace(name=self._given[at])
        text = f"has no name: names has {len(self._given)} entries; give one name per column"
        return result if isinstance(result, Failed) else Failed(None, text, None)

    def _items(self, number: int, *, packed: bool) -> Items:
        """Return the items from ``number`` on."""
        items = self._live
        if items is None:
            try:
                made = self._factory() if callable(self._factory) else self._factory
            except Exception as error:
                failed = Failed(None, f"could not be computed: the factory raised {error_line(error)}", error)
                raise error_of(0, failed) from error
            if not isinstance(made, Iterable):
                raise SourceError(
                    "factory must be a function that returns an iterator of columns, or an iterable of "
                    f"columns; got {type(made).__name__}"
                )
            items = Items(iter(made), packed=self._packed if packed else None)
            if items.iterates(self._factory):
                self._live = items
        if number < items.first:
            raise SourceError(
                "this iterator has been used and cannot start again: pass the function that makes it, "
                "as in features(make_columns, y)"
            )
        return items

    def _skip(self, items: Items, number: int) -> None:
        """Skip the items before a number."""
        while items.first < number:
            at = items.first
            item = self._read(items, at)
            if item is None:
                raise beyond(self, "columns", number, at)
            if isinstance(item, Failed):
                raise error_of(at, item)
            items.release_before(at + 1)

    def _results(
        self, items: Items, number: int, dropped: int, at: int
    ) -> Generator[tuple[Computed | Failed, int, int]]:
        """Yield columns and failures, with the number of their item and their position in it.

        The first ``dropped`` are left out; ``at`` is the number of columns before.
        """
        left = dropped
        results = self._in_workers(items, number) if self._workers else self._here(items, number)
        with closing(results):
            for item, lot in zip(count(number), results, strict=False):
                for inside, result in enumerate(lot, 1):
                    if left:
                        left -= 1
                    else:
                        yield result, item, inside
        if left:
            raise beyond(self, "columns", at, at - left)

    def _here(self, items: Items, number: int) -> Generator[Iterable[Computed | Failed]]:
        """Yield the outcomes of each item, computed in this process."""
        for at in count(number):
            item = self._read(items, at)
            if item is None:
                return
            if isinstance(item, Failed):
                yield [item]
                return
            lazy = self._compute is not None or callable(item.content)
            yield self.maker(self._own_name(item), item.content) if lazy else [outcome(*item)]

    def _in_workers(self, items: Items, number: int) -> Generator[Iterable[Computed | Failed]]:
        """Yield the outcomes of each item, computed by worker processes."""
        trouble: list[Failed] = []

        def tasks() -> Iterator[Candidate]:
            for item in self._packed_items(items, number):
                if isinstance(item, Failed):
                    trouble.append(item)
                else:
                    yield item

        with closing(in_order(self.maker, tasks(), self._workers)) as results:
            yield from results
        if trouble:
            yield trouble

    def _packed(self, item: Item) -> Item:
        """Serialize an item for a worker process, or return a failure that says why it cannot be."""
        if self._compute is None and not callable(item.content):
            text = "was computed by the factory, where no worker can help: yield a function, or give compute="
            return item._replace(content=Failed(item.name, text, None))
        try:
            return item._replace(name=self._own_name(item), content=parcel(item.content))
        except Exception as error:  # noqa: BLE001 - whatever a user's function refers to
            text = f"could not be sent to a worker process: {error_line(error)}"
            return item._replace(content=Failed(item.name, text, error))

    def _own_name(self, item: Item) -> str | None:
        is_name = self._compute is not None and isinstance(item.content, str)
        return item.content if item.name is None and is_name else item.name

    def _read(self, items: Items, number: int) -> Item | Failed | None:
        """Return an item, None after the last, or the failure of the factory."""
        try:
            item = items.get(number)
        except SourceError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a user's generator raises names its feature
            return Failed(None, f"could not be computed: the generator raised {error_line(error)}", error)
        return item
