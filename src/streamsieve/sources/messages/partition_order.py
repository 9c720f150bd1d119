"""A reproducible order of the messages of several partitions, independent of timing.

Partitions take turns.  A turn covers the offsets up to the next multiple of ``TURN``, so that the offsets
and the number of the partition whose turn it is determine the position of a reader.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, TypeAlias

from streamsieve.exceptions import SourceError
from streamsieve.protocols import Position
from streamsieve.sources.messages.client import Client

#: Offsets per turn.  Another number would give another order.
TURN = 1024
#: Minimum and maximum number of messages per request, and seconds after which fewer are accepted.
LEAST_MESSAGES, MOST_MESSAGES, POLL_SECONDS = 256, 4096, 0.1
#: Bytes of waiting messages of all partitions, beyond which partitions are paused.
WAITING_BYTES = 2**26
#: Bytes that Python needs for a message besides its text.
MESSAGE_BYTES = 200
#: Seconds between two checks whether a silent cluster is still available.
PROBE = 1.0

#: Offset and value.
Message: TypeAlias = tuple[int, bytes | None]


class PartitionOrder:
    """Reads the partitions of a topic in a fixed order, from the offsets ``at`` on, beginning with ``turn``.

    ``ends`` are the ends of the partitions.  None for streams without an end: empty partitions are skipped.
    """

    def __init__(self, client: Client, at: Sequence[int], turn: int, ends: Sequence[int] | None) -> None:
        self._client, self._ends = client, ends
        self.at, self.turn = list(at), turn
        self._waiting: list[deque[Message]] = [deque() for _ in at]
        self._bytes = [0] * len(at)
        self._fetched = list(at)  # offsets below these have been read
        self._exhausted = set[int]()  # partitions without further messages at present
        self._paused = set[int]()
        self._lost: SourceError | None = None  # raised once all messages are delivered
        self._alive = self._probed = time.monotonic()
        client.assign(at)

    @property
    def ended(self) -> bool:
        """Whether all messages up to the ends have been taken."""
        return self._ends is not None and all(at >= end for at, end in zip(self.at, self._ends, strict=True))

    def position(self) -> Position:
        """Return the position after the messages taken so far."""
        return {**{str(p): offset for p, offset in enumerate(self.at)}, "next": self.turn}

    def messages(self, at_most: int, until: float | None) -> list[Message]:
        """Return the next messages, all of the partition ``turn``; the same ones until they are taken.

        Returns none at the end, or once the monotonic clock has reached ``until``.
        """
        self._alive = time.monotonic()  # the time that the caller spent on earlier messages does not count
        while True:
            found = self._due(at_most)
            if not found and self._lost is not None:
                raise self._lost
            if found or self.ended or (until is not None and time.monotonic() >= until):
                return found
            self._fetch(at_most)

    def take(self, count: int) -> None:
        """Mark the first ``count`` of the messages returned last as taken."""
        p = self.turn
        limit = self._limit(p)
        for _ in range(count):
            offset, value = self._waiting[p].popleft()
            self._bytes[p] -= MESSAGE_BYTES + len(value or b"")
            self.at[p] = offset + 1
        if self.at[p] >= limit:
            self._pass_on()

    def _due(self, at_most: int) -> list[Message]:
        """End the turns that are over, and return messages of the current turn."""
        idle = 0
        while idle < len(self.at):
            p = self.turn
            limit, waiting = self._limit(p), self._waiting[p]
            first = itertools.islice(waiting, at_most)
            found = list(itertools.takewhile(lambda message: message[0] < limit, first))  # noqa: B023
            if found:
                return found
            over = self._fetched[p] >= limit
            if not over and (self._ends is not None or p not in self._exhausted):
                return []  # more will come
            # compaction and transactions leave offsets without a message
            idle = 0 if over and self.at[p] < limit else idle + 1
            self.at[p] = limit if over else self.at[p]
            self._pass_on()
        return []

    def _limit(self, p: int) -> int:
        limit = (self.at[p] // TURN + 1) * TURN
        return limit if self._ends is None else max(self.at[p], min(limit, self._ends[p]))

    def _pass_on(self) -> None:
        self.turn = (self.turn + 1) % len(self.at)

    def _fetch(self, at_most: int) -> None:
        self._balance()
        wanted = min(max(at_most, LEAST_MESSAGES), MOST_MESSAGES)
        if self._ends is not None:
            # if asked for more than there is, the client would wait in vain
            missing = sum(max(0, end - at) for end, at in zip(self._ends, self._fetched, strict=True))
            wanted = max(1, min(MOST_MESSAGES, missing))
        events = self._client.fetch(wanted, POLL_SECONDS)
        news = [self._noted(event) if event.error() is not None else self._keep(event) for event in events]
        if any(news):
            self._client.trouble, self._alive = "", time.monotonic()
        else:
            self._silence()

    def _keep(self, event: Any) -> bool:
        """Store a message until its turn."""
        p, offset = event.partition(), event.offset()
        if offset >= self._fetched[p]:  # otherwise a duplicate
            self._fetched[p] = offset + 1
            self._exhausted.discard(p)
            if self._ends is None or offset < self._ends[p]:
                value = event.value()
                self._waiting[p].append((offset, value))
                self._bytes[p] += MESSAGE_BYTES + len(value or b"")
        return True

    def _noted(self, event: Any) -> bool:
        """Process an end of a partition or an error; return whether the cluster is alive."""
        from confluent_kafka import KafkaError  # noqa: PLC0415

        error, p = event.error(), event.partition()
        if error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001 - a constant of librdkafka
            self._lost = self._lost or lost(self._client.topic, p, self._fetched[p])
            return False
        if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001
            self._client.note(error)
            return False
        self._exhausted.add(p)
        self._fetched[p] = max(self._fetched[p], event.offset())
        return True

    def _balance(self) -> None:
        """Pause partitions that are far ahead or finished, and resume the others.

        The partition whose turn it is holds nothing at that moment.
        """
        room = WAITING_BYTES // len(self.at)
        ahead = {p for p, held in enumerate(self._bytes) if held > (room // 2 if p in self._paused else room)}
        if self._ends is not None:
            ahead |= {p for p, end in enumerate(self._ends) if self._fetched[p] >= end}
        if ahead - self._paused:
            self._client.pause(sorted(ahead - self._paused))
        if self._paused - ahead:
            self._client.resume(sorted(self._paused - ahead))
        self._paused = ahead

    def _silence(self) -> None:
        """React when nothing arrives: before the ends, the cluster may be unavailable."""
        now = time.monotonic()
        if self._ends is None:
            if not self._client.trouble:
                self._alive = now
            elif now >= self._probed + PROBE:
                self._probed = now
                if self._client.answers():
                    self._client.trouble, self._alive = "", time.monotonic()
        if time.monotonic() - self._alive > self._client.patience:
            raise self._client.gone()


def lost(topic: str, p: int, offset: int) -> SourceError:
    """Return the error for rows that were deleted before they were read."""
    return SourceError(
        f"{topic}, partition {p}: rows from offset {offset:,} on are lost, Kafka deleted them before they "
        "were read (retention): keep rows for longer, and start again with another checkpoint"
    )
