"""A table that is a stream of record batches, read sequentially."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar

from streamsieve._text import in_a_line
from streamsieve.exceptions import SourceError, StreamSieveError
from streamsieve.sources.tables.files import Table, plain
from streamsieve.sources.tables.layout import kinds_of
from streamsieve.sources.tables.producers import READ_ROWS, Producer


class StreamTable(Table):
    """The record batches of a producer; all must have the columns of the first."""

    by_column: ClassVar[bool] = False
    advice = "correct what produces the rows, for example CAST a column in the query, and open it again"

    def __init__(self, producer: Producer, target: str | None) -> None:
        self.producer = producer
        self._target = target
        self._begun = False
        #: Batches whose reading has begun, to learn the schema.
        self._waiting: Iterator[Any] | None = None
        super().__init__(producer.shown)
        self._kinds = kinds_of(self.shown, self.schema)

    def _look(self) -> Any:
        if self.producer.schema is not None:
            return self.producer.schema
        stream = self._start()
        first = next(stream, None)
        if first is None:
            raise SourceError(f"{self.shown} holds no rows: there is nothing to stream")
        self._waiting = chain([first], stream)
        return first.schema

    def _read(self, columns: Sequence[str], size: int, skip: int) -> tuple[int, Iterable[Any]]:
        del columns, size, skip  # a stream is read sequentially, in batches as they arrive
        stream = self._waiting if self._waiting is not None else self._start()
        self._waiting = None
        return 0, self._alike(stream)

    def _start(self) -> Iterator[Any]:
        if self.producer.once and self._begun:
            raise SourceError(
                f"{self.shown} can be read once, and it has been: open the query or the files instead, which "
                "can be read again"
            )
        self._begun = True
        return self._failures_named(self.producer)

    def _failures_named(self, producer: Producer) -> Iterator[Any]:
        """Yield the batches; errors of other libraries become a ``SourceError`` with the place."""
        row = 0
        try:
            for batch in producer.batches(READ_ROWS):
                if batch.num_rows:
                    yield batch
                row += batch.num_rows
        except (StreamSieveError, GeneratorExit):
            raise
        except Exception as error:
            text = in_a_line(error)
            raise SourceError(
                f"{self.shown} failed after row {row:,}: {text[:500]}; {self.advice}"
            ) from error

    def _alike(self, batches: Iterable[Any]) -> Iterator[Any]:
        for number, batch in enumerate(batches, 1):
            yield batch if batch.schema.equals(self.schema) else self._fitted(batch, number)

    def _fitted(self, batch: Any, number: int) -> Any:
        """Convert a batch with other types or another order of columns; if that fails, name the column."""
        from pyarrow import types as t  # noqa: PLC0415

        where = f"batch {number} of {self.shown}"
        kinds = kinds_of(where, batch.schema)
        for name in (*self._kinds, *kinds):
            was, now = self._kinds.get(name), kinds.get(name)
            if was is None or now is None:
                what = "has a new column" if was is None else "lacks the column"
                raise SourceError(f"{where} {what} {name!r}: all batches must have the columns of the first")
            if was != now and not t.is_null(batch.schema.field(name).type):
                raise SourceError(
                    f"{where} holds {now} in column {name!r}, which held {was} before: CAST the column, or "
                    "leave it out"
                )
        if self._target in kinds:
            batch = self._with_target(batch, where)
        return batch

    def _with_target(self, batch: Any, where: str) -> Any:
        """Return a batch with the target in the type of the first batch, if that changes no label."""
        import pyarrow as pa  # noqa: PLC0415

        place = batch.schema.get_field_index(self._target)
        wanted, column = plain(self.schema.field(self._target).type), batch.column(place)
        try:
            return batch.set_column(place, self._target, column.cast(wanted))
        except pa.ArrowException as error:
            raise SourceError(
                f"{where} holds {column.type} in the target column {self._target!r}, which was {wanted} "
                f"before ({error}): give all batches one type"
            ) from error
