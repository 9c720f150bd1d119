"""Offering of a stream of columns to a selector, to its end or until a stopping rule is met."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import Any

from streamsieve._parameters import check_number
from streamsieve._validation import clean
from streamsieve.base import ColumnSelector
from streamsieve.exceptions import InputError, SourceError
from streamsieve.protocols import ColumnBlock, ColumnSource, Position
from streamsieve.running.interrupts import Interrupts
from streamsieve.running.place import bad_values_placed
from streamsieve.state import untouched_on_error

#: Number of columns read at a time; columns on demand are requested one by one.
READ_COLUMNS = 1024
#: Maximum number of values offered at once.  Pieces are counted from the first column of the stream, so that
#: a resumed run cuts at the same places: the rounding of some methods depends on them.
PIECE_VALUES = 2**21
#: Pieces that take longer than this number of seconds are made smaller, so that Ctrl-C takes effect soon.
PIECE_SECONDS = 0.5


def offer_all(
    source: ColumnSource,
    selector: ColumnSelector,
    start: Position | None,
    block_size: int | None,
    notify: Callable[[int], Any],
) -> None:
    """Offer the columns of a source from a position on; see :func:`streamsieve.running.run`."""
    if block_size is None:
        block_size = 1 if getattr(source, "on_demand", False) else READ_COLUMNS
    check_number("block_size", block_size, low=1, integer=True)
    begun = hasattr(selector, "ledger_")
    if begun and source.y is not None:
        selector.same_rows(source.y)
    if begun and selector.stopped_ is not None:
        return
    blocks = source.columns(block_size, start)
    with _closed(blocks), Interrupts() as interrupts:
        with untouched_on_error(selector):
            if not begun:
                _begin(source, selector)
            first = next(blocks, None)
            if first is None and not start:
                raise SourceError(
                    f"the {type(source).__name__} has no columns: there is nothing to offer; does its "
                    "generator yield any?"
                )
        rows = 1 if first is None else first.X.shape[0]
        pieces = _Pieces(min(block_size, PIECE_VALUES // max(rows, 1)))
        for block in chain([] if first is None else [first], blocks):
            block = replace(block, X=clean(block.X, "csc"))  # noqa: PLW2901 - before columns are cut out of it
            low = 0
            while low < block.X.shape[1]:
                at = block.position["column"] - block.X.shape[1] + low
                piece = _part(block, slice(low, low + pieces.width - at % pieces.width))
                low, started = low + piece.X.shape[1], time.perf_counter()
                with interrupts.held():
                    offer_block(source, selector, piece)
                pieces.took(time.perf_counter() - started)
                notify(piece.X.shape[1])
            if selector.stopped_ is not None:
                return


def begin_with(source: ColumnSource, selector: ColumnSelector) -> None:
    """Begin with the target of a source; a selector that has begun must have the same target."""
    if not hasattr(selector, "ledger_"):
        with untouched_on_error(selector):
            _begin(source, selector)
    elif source.y is not None:
        selector.same_rows(source.y)


def _begin(source: ColumnSource, selector: ColumnSelector) -> None:
    if source.y is None and selector.traits.tasks:
        raise SourceError(
            f"the {type(source).__name__} has no target: give it one, as in features(make_columns, y) or "
            "open(data, target=...), or call begin(y) before"
        )
    selector.begin(source.y)


def offer_block(source: ColumnSource, selector: ColumnSelector, block: ColumnBlock) -> None:
    """Offer a block; if one of its columns is refused, those before it are still offered."""
    width = block.X.shape[1]
    if width == 1:
        with bad_values_placed(source, block):
            selector.offer(block)
        return
    try:
        selector.offer(block)
    except InputError:
        for j in range(width):
            offer_block(source, selector, _part(block, slice(j, j + 1)))


class _Pieces:
    """Number of columns offered at once: a power of two, as large as the limit and the time allow."""

    def __init__(self, limit: int) -> None:
        self.width = self._widest = _power_of_two(limit)
        self._first = True

    def took(self, seconds: float) -> None:
        """Adapt to the time of a piece; the first does not count, as it may have compiled kernels."""
        slower = seconds / PIECE_SECONDS
        if slower > 1 and not self._first:
            self.width = _power_of_two(int(self.width / slower))
        elif slower < 0.25:
            self.width = min(2 * self.width, self._widest)
        self._first = False


def _power_of_two(limit: int) -> int:
    """Return the largest power of two up to a limit, at least 1."""
    return int(2 ** (max(limit, 1).bit_length() - 1))


def _part(block: ColumnBlock, columns: slice) -> ColumnBlock:
    """Return some columns of a block as a block."""
    width = block.X.shape[1]
    if columns.start == 0 and columns.stop >= width:
        return block
    names = None if block.names is None else block.names[columns]
    seconds = None if block.seconds is None else block.seconds[columns]
    types = None if block.types is None else block.types[columns]
    at = {"column": block.position["column"] - width + min(columns.stop, width)}
    return ColumnBlock(block.X[:, columns], names, at, seconds, types)


@contextmanager
def _closed(blocks: Iterator[ColumnBlock]) -> Iterator[None]:
    """Context manager that closes the blocks at the end, so that their computation stops at once."""
    try:
        yield
    finally:
        close = getattr(blocks, "close", None)
        if close is not None:
            close()
