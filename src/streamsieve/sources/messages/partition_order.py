"""The order of messages of several partitions, whatever the timing.

Partitions take turns.  A turn covers the offsets up to the next multiple of ``TURN``, so that the offsets
and the number of the partition whose turn it is say everything about where a reader stands.
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

#: Offsets in a turn.  Another number would make another order.
TURN = 1024
#: Messages asked for at a time, at least and at most, and seconds until fewer will do.
FEW, MANY, POLL = 256, 4096, 0.1
#: Bytes of messages that wait for their turn, of all partitions together; beyond, a partition pauses.
WAITING_BYTES = 2**26
#: What Python needs for a message beside its text.
MESSAGE_BYTES = 200
#: Seconds between two questions whether a silent cluster is still there.
PROBE = 1.0

#: Offset and value.
Message: TypeAlias = tuple[int, bytes | None]


class PartitionOrder:
    """Read the partitions of a topic in a fixed order, from the offsets ``at`` on, beginning with ``turn``.

    ``ends`` is where every partition ends; with None nowhere, and an empty one is passed over.
    """

    def __init__(self, client: Client, at: Sequence[int], turn: int, ends: Sequence[int] | None) -> None:
        self._client, self._ends = client, ends
        self.at, self.turn = list(at), turn
        self._waiting: list[deque[Message]] = [deque() for _ in at]
        self._bytes = [0] * len(at)
        self._fetched = list(at)  # nothing below is still to come
        self._exhausted = set[int]()  # partitions that have nothing more at present
        self._paused = set[int]()
        self._lost: SourceError | None = None  # raised once nothing is left to deliver
        self._alive = self._probed = time.monotonic()
        client.assign(at)

    @property
    def ended(self) -> bool:
        """Whether everything up to the ends has been taken."""
        return self._ends is not None and all(at >= end for at, end in zip(self.at, self._ends, strict=True))

    def position(self) -> Position:
        """Return where the reader stands after what was taken."""
        return {**{str(p): offset for p, offset in enumerate(self.at)}, "next": self.turn}

    def messages(self, at_most: int, until: float | None) -> list[Message]:
        """Return the next messages, all of the partition ``turn``; they come again until they are taken.

        There are none at the end, or when ``until`` (a moment of the monotonic clock) has come.
        """
        self._alive = time.monotonic()  # the time that others spent with earlier messages does not count
        while True:
            found = self._due(at_most)
            if not found and self._lost is not None:
                raise self._lost
            if found or self.ended or (until is not None and time.monotonic() >= until):
                return found
            self._fetch(at_most)

    def take(self, count: int) -> None:
        """Pass the first of the messages that were returned last."""
        p = self.turn
        limit = self._limit(p)
        for _ in range(count):
            offset, value = self._waiting[p].popleft()
            self._bytes[p] -= MESSAGE_BYTES + len(value or b"")
            self.at[p] = offset + 1
        if self.at[p] >= limit:
            self._pass_on()

    def _due(self, at_most: int) -> list[Message]:
        """Pass on turns that are over, and return messages of the one that is not."""
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
        wanted = min(max(at_most, FEW), MANY)
        if self._ends is not None:
            # asked for more than there is, the client would wait in vain
            missing = sum(max(0, end - at) for end, at in zip(self._ends, self._fetched, strict=True))
            wanted = max(1, min(MANY, missing))
        events = self._client.fetch(wanted, POLL)
        news = [self._noted(event) if event.error() is not None else self._keep(event) for event in events]
        if any(news):
            self._client.trouble, self._alive = "", time.monotonic()
        else:
            self._silence()

    def _keep(self, event: Any) -> bool:
        """Let a message wait for its turn."""
        p, offset = event.partition(), event.offset()
        if offset >= self._fetched[p]:  # else it has come before
            self._fetched[p] = offset + 1
            self._exhausted.discard(p)
            if self._ends is None or offset < self._ends[p]:
                value = event.value()
                self._waiting[p].append((offset, value))
                self._bytes[p] += MESSAGE_BYTES + len(value or b"")
        return True

    def _noted(self, event: Any) -> bool:
        """Take note of an end that was reached, or of a trouble; return whether it is a sign of life."""
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
        """Pause partitions that are far ahead or finished, and let the others come."""
        room = WAITING_BYTES // len(self.at)
        ahead = {p for p, held in enumerate(self._bytes) if held > (room // 2 if p in self._paused else room)}
        ahead.discard(self.turn)
        if self._ends is not None:
            ahead |= {p for p, end in enumerate(self._ends) if self._fetched[p] >= end}
        if ahead - self._paused:
            self._client.pause(sorted(ahead - self._paused))
        if self._paused - ahead:
            self._client.resume(sorted(self._paused - ahead))
        self._paused = ahead

    def _silence(self) -> None:
        """Judge a moment without anything: up to the ends there is more, afterwards perhaps not."""
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
    """Return the error about rows that were deleted before they were read."""
    return SourceError(
        f"{topic}, partition {p}: rows from offset {offset:,} on are lost, Kafka deleted them before they "
        "were read (retention): keep rows for longer, and start again with another checkpoint"
    )
