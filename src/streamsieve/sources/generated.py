"""Columns that Python functions compute one after the other, on demand."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import count
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.protocols import ColumnBlock, Position
from streamsieve.sources.checks import as_target, beyond, check_size, check_start, no_axis
from streamsieve.sources.computed.compute import Computed, Failed, Item, Items, Maker, One, outcome, said
from streamsieve.sources.computed.workers import in_order, parcel
from streamsieve.sources.shown import ShownSource


class Features(ShownSource):
    """Stream columns that are computed on demand, in this process or by worker processes.

    Only one block of columns exists at a time, and a selector that stops early leaves the rest uncomputed.

    Parameters
    ----------
    factory : callable returning an iterator, or iterable
        Gives the features in order: each a column of one value per row, or a function without arguments that
        returns one; alone or as a pair ``(name, ...)``; a pandas or polars series brings its name.  A
        callable can be started again, to stream twice or to resume; an iterator serves once.
    y : array of one value per row, default=None
        The target that the columns are judged by.  None if the selector knows it already, or needs none;
        then the first column says how many rows there are.
    names : sequence of str, default=None
        Names in order of arrival, for columns that come without; else they are called x0, x1, ...
    compute : callable or None, default=None
        Makes a column of whatever ``factory`` gives: ``compute(item)``, or ``compute(item)`` of a pair
        ``(name, item)``.  An item that is text is its own name.
    workers : int, default=0
        Number of worker processes; 0 computes in this one.  Results come in order, whatever their number.
        What is computed must be functions (``compute``, or functions as features); ``compute`` with
        all it refers to is sent to each worker once, a function that is a feature whenever it is computed.

    Attributes
    ----------
    on_demand : True; blocks are computed when they are requested
    n_columns : number of names, if names were given, else None

    Notes
    -----
    Blocks tell how long each column took (``ColumnBlock.seconds``), and the ledger of a selector remembers
    it.  For a column that the factory yields it is the time that the factory took, for a function the time
    of the call.

    If a feature cannot be computed, those before it are delivered first, whatever the block size, and the
    error names it.  ``columns(start=...)`` goes on with it, or after it, without computing those before
    again; only a generator that computes the columns it yields must start from its beginning for that.

    Workers are processes of their own: they neither share memory nor see Ctrl-C.  Two features for each
    worker are under way at a time.  When the run stops they are abandoned, so a few may be computed in vain.
    Functions from scripts and notebooks are fine, lambdas and closures too: a function is called, or packed
    for a worker, before the factory is asked for the next one, so that it may use the generator's variables.

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
        #: The items of an iterator, which cannot start again.
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
        """Yield the columns in blocks, computing them on the way.

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
        number, dropped = self._place(start)
        items = self._items(number)
        self._skip(items, number)
        going, position = True, dict(start)
        with closing(self._results(items, number, dropped, at)) as results:
            while going:
                block = _Block(at, n)
                while going and len(block.columns) < size:
                    found = next(results, None)
                    going = found is not None and block.add(self._named(at + len(block.columns), found[0]))
                    if found is not None and going:
                        position = self._position(at + len(block.columns), *found[1:])
                if block.columns:
                    n, at = block.n, at + len(block.columns)
                    yield block.whole(position)
                    items.let_go(self._place(position)[0])
                if block.failure is not None:
                    raise block.failure[0] from block.failure[1]

    def _place(self, start: Mapping[str, int]) -> tuple[int, int]:
        """Return the item to begin with, and how many of the columns from there on to drop."""
        return start["column"], 0

    def _position(self, at: int, number: int, inside: int) -> Position:
        """Return the position after ``at`` columns, the last of which was number ``inside`` of an item."""
        del number, inside
        return {"column": at}

    @property
    def _maker(self) -> Maker:
        return One(self._compute)

    def _named(self, at: int, result: Computed | Failed) -> Computed | Failed:
        """Return a feature with its name: its own, or one of those that were given."""
        if result.name is not None or self._given is None:
            return result
        if at < len(self._given):
            return result._replace(name=self._given[at])
        text = f"has no name: names has {len(self._given)} entries; give one name per column"
        return result if isinstance(result, Failed) else Failed(None, text, None)

    def _items(self, number: int) -> Items:
        """Return the items, those before ``number`` let go."""
        items = self._live
        if items is None:
            try:
                made = self._factory() if callable(self._factory) else self._factory
            except Exception as error:
                raise SourceError(
                    f"{_label(0, None)} could not be computed: the factory raised {said(error)}"
                ) from error
            if not isinstance(made, Iterable):
                raise SourceError(
                    "factory must be a function that returns an iterator of columns, or an iterable of "
                    f"columns; got {type(made).__name__}"
                )
            items = Items(iter(made), packed=self._packed if self._workers else None)
            if items.iterates(self._factory):
                self._live = items
        if number < items.first:
            raise SourceError(
                "this iterator has been used and cannot start again: pass the function that makes it, "
                "as in features(make_columns, y)"
            )
        return items

    def _skip(self, items: Items, number: int) -> None:
        """Let go of the items before a number, as far as there are any."""
        while items.first < number:
            at = items.first
            item = self._read(items, at)
            if item is None:
                raise beyond(self, "columns", number, at)
            if isinstance(item, Failed):
                raise SourceError(f"{_label(at, None)} {item.text}") from item.error
            items.let_go(at + 1)

    def _results(
        self, items: Items, number: int, dropped: int, at: int
    ) -> Generator[tuple[Computed | Failed, int, int]]:
        """Yield columns and failures, with the number of their item and their place among what came of it.

        The first ``dropped`` are left out; ``at`` is how many columns there were before.
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
        """Yield what comes of each item, computed as it is looked at."""
        for at in count(number):
            item = self._read(items, at)
            if item is None:
                return
            if isinstance(item, Failed):
                yield [item]
                return
            lazy = self._compute is not None or callable(item.content)
            yield self._maker(self._own_name(item), item.content) if lazy else [outcome(*item)]

    def _in_workers(self, items: Items, number: int) -> Generator[Iterable[Computed | Failed]]:
        """Yield what comes of each item, computed by worker processes."""
        trouble: list[Failed] = []

        def tasks() -> Iterator[tuple[str | None, bytes]]:
            for at in count(number):
                item = self._read(items, at)
                if item is None:
                    return
                if isinstance(item, Failed) or isinstance(item.content, Failed):
                    trouble.append(item if isinstance(item, Failed) else item.content)
                    return
                yield item.name, item.content

        with closing(in_order(self._maker, tasks(), self._workers)) as results:
            yield from results
        if trouble:
            yield trouble

    def _packed(self, item: Item) -> Item:
        """Return an item that can be sent to a worker process, or why it cannot."""
        if self._compute is None and not callable(item.content):
            text = "was computed by the factory, where no worker can help: yield a function, or give compute="
            return item._replace(content=Failed(item.name, text, None))
        try:
            return item._replace(name=self._own_name(item), content=parcel(item.content))
        except Exception as error:  # noqa: BLE001 - whatever a user's function refers to
            text = f"could not be sent to a worker process: {said(error)}"
            return item._replace(content=Failed(item.name, text, error))

    def _own_name(self, item: Item) -> str | None:
        is_name = self._compute is not None and isinstance(item.content, str)
        return item.content if item.name is None and is_name else item.name

    def _read(self, items: Items, number: int) -> Item | Failed | None:
        """Return an item, None after the last, or what is wrong with the factory."""
        try:
            item = items.get(number)
        except SourceError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a user's generator raises names its feature
            return Failed(None, f"could not be computed: the generator raised {said(error)}", error)
        return item


class _Block:
    """Columns on their way into a block, up to the first that is none."""

    def __init__(self, at: int, n: int | None) -> None:
        self.at, self.n = at, n
        self.columns: list[npt.NDArray[np.float64]] = []
        self.names: list[str | None] = []
        self.seconds: list[float] = []
        self.failure: tuple[SourceError, BaseException | None] | None = None

    def add(self, result: Computed | Failed) -> bool:
        """Take a column, or note why there is none and return False."""
        label = _label(self.at + len(self.columns), result.name)
        if isinstance(result, Failed):
            self.failure = SourceError(f"{label} {result.text}"), result.error
            return False
        n = self.n = len(result.column) if self.n is None else self.n
        if len(result.column) != n:
            text = (
                f"{label} has {len(result.column)} values, but there are {n} rows: "
                "every column stands over the same rows"
            )
            self.failure = SourceError(text), None
            return False
        self.columns.append(result.column)
        self.names.append(result.name)
        self.seconds.append(result.seconds)
        return True

    def whole(self, position: Position) -> ColumnBlock:
        """Return the block."""
        names = [f"x{self.at + k}" if name is None else name for k, name in enumerate(self.names)]
        given = None if all(name is None for name in self.names) else names
        # the transpose of stacked rows: every column is contiguous
        return ColumnBlock(np.array(self.columns).T, given, position, np.array(self.seconds))


def _label(at: int, name: str | None) -> str:
    return f"feature {at} (counting from 0)" + ("" if name is None else f", {name!r},")
