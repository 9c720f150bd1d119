"""Source of rows from messages of a Kafka topic."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn

from streamsieve.exceptions import SourceError
from streamsieve.protocols import Position, RowBatch
from streamsieve.sources.checks import check_names, check_size, check_start, no_axis
from streamsieve.sources.identity import (
    another_stream,
    comparing,
    names_identity,
    not_fewer,
    same,
    same_names,
)
from streamsieve.sources.messages.client import Client, check_options, need_kafka
from streamsieve.sources.messages.parser import (
    BadMessageError,
    MessageBuffer,
    Parsed,
    Parser,
    decode_by,
    decode_json,
    names_of,
)
from streamsieve.sources.messages.partition_order import Message, PartitionOrder, lost
from streamsieve.sources.shown import ShownSource

_POSITION = ("next", "row", "skipped")


class KafkaSource(ShownSource):
    """Stream rows from a Kafka topic, each message a JSON object such as ``{"age": 31, "bought": "no"}``.

    The position in the stream is stored with the batches, and so in the checkpoint of a run: nothing is
    committed to Kafka, there is no consumer group, and a run that is killed and resumed processes every
    message exactly once.

    Parameters
    ----------
    topic : str
        The topic to read, from its oldest message on.
    servers : str or list of str
        Addresses of the cluster, as ``"host:port"``.
    target : str
        The field that holds the target: numbers, or text for class labels, as determined by the first row.
    weight : str, default=None
        The field that holds the weight of a row, a number of at least 0 that every message needs.
    names : sequence of str, default=None
        The features, in order.  If None, the fields of the first message; a resumed run uses those of its
        checkpoint.  A feature that a message lacks, or that is null, is missing (NaN).
    value : "json" or callable, default="json"
        How a message is read: as JSON, or by a function from bytes to a dict.
    extra : {"refuse", "ignore"}, default="refuse"
        What to do about fields that are not among the features.
    on_bad : {"refuse", "skip"}, default="refuse"
        What to do about invalid messages: invalid JSON, text instead of a number, no target, no value.
        "refuse" delivers the rows before such a message, then raises ``SourceError`` with its
        partition and offset.  "skip" passes over it; positions count such messages as ``"skipped"``.
    stop : "end" or None, default="end"
        Where to stop: at the end of the topic at the time reading starts, or never (None).
    linger : float, default=1.0
        With stop=None: seconds after which a batch is delivered although it is not full.
    patience : float, default=60.0
        Seconds for which an unreachable cluster is retried before a ``SourceError`` is raised.
    options : dict, default=None
        Further settings of librdkafka, for example ``{"security.protocol": "SASL_SSL", ...}``.

    Attributes
    ----------
    names : names of the features; unless given, asking for them reads the first message
    n_rows : None, as it is not known

    Notes
    -----
    Partitions are read in turns of 1024 offsets.  With stop="end" the order of rows depends only on the
    topic, not on the batch size or on where a run was resumed.  With stop=None, a partition without new
    messages is skipped, so that the order between partitions depends on arrival times;
    within a partition it is always that of the offsets.

    Booleans are 0 and 1.  Partitions that are added to a topic are read when reading starts again.
    Messages of transactions are read when these are committed.

    Examples
    --------
    A cluster for trying out is built into Kafka's client, and lives as long as the producer that hosts it:

    >>> from confluent_kafka import Producer
    >>> from streamsieve.sources import KafkaSource
    >>> host = Producer({"bootstrap.servers": "", "test.mock.num.brokers": 1, "log_level": 0})
    >>> for message in ('{"age": 31, "visits": 2, "bought": "no"}', '{"visits": 7, "bought": "yes"}'):
    ...     host.produce("clicks", message, partition=0)
    >>> host.flush(10)
    0
    >>> (broker,) = host.list_topics().brokers.values()
    >>> source = KafkaSource("clicks", servers=f"{broker.host}:{broker.port}", target="bought")
    >>> for batch in source.rows():
    ...     print(batch.names, batch.X.tolist(), batch.y.tolist())
    ['age', 'visits'] [[31.0, 2.0], [nan, 7.0]] ['no', 'yes']
    """

    n_rows: int | None = None

    def __init__(
        self,
        topic: str,
        *,
        servers: str | Sequence[str],
        target: str,
        weight: str | None = None,
        names: Sequence[str] | None = None,
        value: Literal["json"] | Callable[[bytes], Any] = "json",
        extra: Literal["refuse", "ignore"] = "refuse",
        on_bad: Literal["refuse", "skip"] = "refuse",
        stop: Literal["end"] | None = "end",
        linger: float = 1.0,
        patience: float = 60.0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        from streamsieve._parameters import check_choice, check_number  # noqa: PLC0415

        need_kafka()
        if not callable(value):
            check_choice("value", value, ("json",))
        self._extra = check_choice("extra", extra, ("refuse", "ignore"))
        self._on_bad = check_choice("on_bad", on_bad, ("refuse", "skip"))
        self._stop = check_choice("stop", stop, ("end", None))
        check_number("linger", linger, low=0)
        check_number("patience", patience, low=0, open_low=True)
        self._linger, self._patience = float(linger), float(patience)
        self._options = check_options(options)
        self._topic, self._target = _text("topic", topic), _text("target", target)
        self._weight = None if weight is None else _text("weight", weight)
        if weight == target:
            raise SourceError(f"{target!r} is the target, so it cannot be the weight")
        self._servers = _joined(servers)
        self._value = value
        self._names = self._features(names)
        self._given = names is not None
        self._is_text: bool | None = None

    @property
    def names(self) -> list[str]:
        """The features, in order; those of the first message unless they were given."""
        if self._names is None:
            self._names = self._first_names(wait=False)
        return self._names

    def identity(self) -> dict[str, Any]:
        """Return a JSON description that identifies the stream: cluster, topic, partitions and fields."""
        names = self.names
        with self._client() as client:
            found = client.describe()
        return {
            "kind": type(self).__name__,
            "topic": self._topic,
            "cluster": found.cluster,
            "partitions": found.n_partitions,
            "target": self._target,
            "weight": self._weight,
            "names": list(names),
        }

    def check_identity(self, known: Mapping[str, Any]) -> None:
        """Refuse a stream that differs from an earlier identity; messages may have been appended.

        Names that were not given become those of the earlier identity.
        """
        with self._client() as client:
            found = client.describe()
        with comparing(self, known):
            same("the topic", known["topic"], self._topic)
            if known["cluster"] is not None and found.cluster is not None:
                same("the cluster", known["cluster"], found.cluster)
            not_fewer("partitions", known["partitions"], found.n_partitions)
            same("the target", known["target"], self._target)
            same("the weights", known.get("weight"), self._weight)
            names = self._features(known["names"])
            if self._given:
                same_names(names_identity(names), self._names)
            self._names = names

    def rows(self, batch_size: int = 4096, start: Mapping[str, int] | None = None) -> Iterator[RowBatch]:
        """Yield the rows in batches; begin just after ``start``.

        Only the last batch may be smaller than ``batch_size``; with stop=None, any batch that had to wait.
        """
        size = check_size("batch_size", batch_size)
        return self._rows(size, check_start(self, start, _POSITION), self._offsets(start))

    def lag(self, position: Mapping[str, int] | None = None) -> dict[int, int]:
        """Return the number of offsets after a position, such as that of a batch, for each partition.

        Without a position, all offsets are counted.  ``sum(source.lag(batch.position).values())`` is the lag
        of a reader that follows a topic.  Offsets without a message, which compaction and transactions leave,
        count as well.
        """
        offsets = self._offsets(position)
        with self._client() as client:
            marks = client.watermarks(client.describe().n_partitions)
        at = dict(enumerate(offsets))
        return {p: max(0, high - at.get(p, low)) for p, (low, high) in enumerate(marks)}

    def columns(self, block_size: int = 1024, start: Mapping[str, int] | None = None) -> NoReturn:
        """Refuse: a stream of messages has no last row, so it has no columns."""
        del block_size, start
        raise no_axis(self, "columns", "messages arrive row by row; use rows() and a row selector")

    def _offsets(self, start: Mapping[str, int] | None) -> list[int]:
        """Return the offsets in a position."""
        if start is None:
            return []
        count = sum(isinstance(key, str) and key.isdecimal() for key in start)
        at = check_start(self, start, ["0", *map(str, range(1, count))])
        return list(at.values())

    def _rows(self, size: int, start: Position, offsets: list[int]) -> Iterator[RowBatch]:
        if self._names is None:
            self._names = self._first_names(wait=True)
        parser = Parser(
            self._decoder, self._names, self._target, self._weight, text=self._is_text, extra=self._extra
        )
        gathered = MessageBuffer(size, self._names, start["row"], start["skipped"])
        with self._client() as client:
            turns = self._begin(client, offsets, start["next"])
            while not turns.ended:
                failure = self._gather(turns, parser, gathered)
                # rows read before a failure are delivered first, whatever the batch size
                if gathered.count:
                    yield gathered.batch(turns.position())
                if failure is not None:
                    raise failure
        if gathered.row == 0:
            raise self._no_rows()

    def _gather(self, turns: PartitionOrder, parser: Parser, gathered: MessageBuffer) -> SourceError | None:
        """Fill a batch with the rows that arrive; return the error that ended it early, if any."""
        until: float | None = None
        try:
            while gathered.room and not turns.ended:
                messages = turns.messages(gathered.room, until)
                if not messages:
                    break
                self._add(turns, messages, parser.read([value for _, value in messages]), gathered)
                self._is_text = parser.text
                if self._stop is None and until is None and gathered.count:
                    until = time.monotonic() + self._linger
        except SourceError as error:
            return error
        return None

    def _add(
        self, turns: PartitionOrder, messages: list[Message], parsed: Parsed, gathered: MessageBuffer
    ) -> None:
        """Add the rows of messages to the batch, up to the first message that is refused."""
        bad = parsed.bad
        if not bad or self._on_bad == "skip":
            turns.take(len(messages))
            gathered.add(parsed.rows, skipped=len(bad))
            return
        first = min(bad)
        turns.take(first)
        gathered.add(parsed.rows.head(first))
        raise self._bad(turns.turn, messages[first][0], bad[first])

    def _begin(self, client: Client, offsets: Sequence[int], turn: int) -> PartitionOrder:
        """Begin at the given offsets, if messages after them still exist; new partitions at their start."""
        topic = client.describe()
        if max(len(offsets) - 1, turn) >= topic.n_partitions:
            raise another_stream(
                f"topic {self._topic!r} had {max(len(offsets), turn + 1)} partitions and has "
                f"{topic.n_partitions} now: it was made again"
            )
        marks = client.watermarks(topic.n_partitions)
        at = [low for low, _ in marks]
        for p, offset in enumerate(offsets):
            low, high = marks[p]
            if offset < low:
                raise lost(self._topic, p, offset)
            if offset > high:
                raise another_stream(
                    f"{self._topic}, partition {p}: {offset:,} messages were read, but there are {high:,} "
                    "now: the topic was made again, or has lost some"
                )
            at[p] = offset
        ends = [high for _, high in marks] if self._stop == "end" else None
        return PartitionOrder(client, at, turn, ends)

    def _first_names(self, *, wait: bool) -> list[str]:
        """Return the fields of the first message; without ``wait``, waiting for it has a time limit."""
        until = None if wait else time.monotonic() + self._patience
        with self._client() as client:
            turns = self._begin(client, [], 0)
            while not turns.ended:
                found = turns.messages(1, until)
                if not found:
                    break
                ((offset, value),) = found
                try:
                    return names_of(self._decoder, value, self._target, self._weight)
                except BadMessageError as error:
                    if self._on_bad == "refuse":
                        raise self._bad(turns.turn, offset, str(error)) from error
                turns.take(1)
        raise self._no_rows()

    def _features(self, names: Sequence[str] | None) -> list[str] | None:
        if names is None:
            return None
        names = [names] if isinstance(names, str) else list(names)
        for what, field in (("target", self._target), ("weight", self._weight)):
            if field in names:
                raise SourceError(f"the {what} {field!r} is among the names: name the features only")
        if not names:
            raise SourceError(
                "names is empty: name the features, or leave it out to take the first message's"
            )
        return check_names(names, len(names))

    def _client(self) -> Client:
        return Client(self._servers, self._topic, self._options, self._patience)

    @property
    def _decoder(self) -> Callable[[bytes], Mapping[str, Any]]:
        return decode_by(self._value) if callable(self._value) else decode_json

    def _bad(self, partition: int, offset: int, why: str) -> SourceError:
        return SourceError(
            f"{self._topic}, partition {partition}, offset {offset}: {why}; on_bad='skip' passes over such "
            "messages"
        )

    def _no_rows(self) -> SourceError:
        return SourceError(
            f"topic {self._topic!r} at {self._servers} holds no rows yet: there is nothing to stream, and "
            "nothing to tell the features by (unless names are given)"
        )


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise SourceError(f"{name} must be text; got {value!r}")
    return value


def _joined(servers: Any) -> str:
    listed = [servers] if isinstance(servers, str) else servers
    if not isinstance(listed, (list, tuple)) or not listed:
        raise SourceError(f"servers must be text or a list of it; got {servers!r}")
    return ",".join(_text("servers", server) for server in listed)
