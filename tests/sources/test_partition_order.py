"""The order of messages depends on the topic alone: not on what arrives when, nor on where one resumed."""

import random
import time
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError

from streamsieve.exceptions import SourceError
from streamsieve.sources.messages import partition_order as module
from streamsieve.sources.messages.client import Client
from streamsieve.sources.messages.partition_order import PartitionOrder


class Event:
    def __init__(self, partition, offset, value=None, code=None):
        self._event = partition, offset, value, code

    def partition(self):
        return self._event[0]

    def offset(self):
        return self._event[1]

    def value(self):
        return self._event[2]

    def error(self):
        return None if self._event[3] is None else KafkaError(self._event[3])


class Broker:
    """A client over offsets that are given, whose messages arrive in random portions and sometimes twice."""

    topic, patience, trouble = "t", 0.05, ""

    def __init__(self, partitions, seed):
        self._partitions, self._random = partitions, random.Random(seed)  # noqa: S311
        self.paused = set()
        self.n_pauses = 0

    def assign(self, offsets):
        self._next = list(offsets)
        self._reported_end = [None] * len(offsets)

    def pause(self, partitions):
        self.paused |= set(partitions)
        self.n_pauses += 1

    def resume(self, partitions):
        assert set(partitions) <= self.paused
        self.paused -= set(partitions)

    def fetch(self, at_most, seconds):
        events = []
        while len(events) < at_most and self._random.random() < 0.9:
            p = self._random.randrange(len(self._next))
            if p in self.paused:
                continue
            if self._random.random() < 0.05:
                self._next[p] = max(0, self._next[p] - 2)  # fetched again
            events += self._some(p, at_most - len(events))
        return events

    def _some(self, p, at_most):
        offsets, end = self._partitions[p]
        coming = [offset for offset in offsets if offset >= self._next[p]]
        coming = coming[: min(at_most, self._random.randrange(1, 6))]
        if coming:
            self._next[p] = coming[-1] + 1
            return [Event(p, offset, b"%d:%d" % (p, offset)) for offset in coming]
        if self._reported_end[p] != end:
            self._reported_end[p] = end
            return [Event(p, end, code=KafkaError._PARTITION_EOF)]
        return []

    def gone(self):
        return SourceError("gone")


def topic(random_):
    """Return offsets and end of some partitions; offsets may be missing, also at the end."""
    partitions = []
    for _ in range(random_.randrange(1, 5)):
        end = random_.randrange(0, 60)
        density = random_.choice([0.1, 0.5, 1.0])
        partitions.append(([offset for offset in range(end) if random_.random() < density], end))
    return partitions


def in_order(partitions, turn):
    """Return what should come, in the words of the documentation: partitions take turns."""
    everything = [
        (offset // turn, p, offset) for p, (offsets, _) in enumerate(partitions) for offset in offsets
    ]
    return [(p, offset) for _, p, offset in sorted(everything)]


def read(turns, random_, at_most=1000):
    found = []
    while len(found) < at_most:
        messages = turns.messages(random_.randrange(1, 9), None)
        if not messages:
            break
        taken = random_.randrange(1, len(messages) + 1)
        found += [(turns.turn, offset) for offset, _ in messages[:taken]]
        assert [value for _, value in messages] == [b"%d:%d" % (turns.turn, o) for o, _ in messages]
        turns.take(taken)
    return found


@pytest.mark.parametrize("seed", range(200))
def test_order_never_depends_on_timing_or_resuming(seed, monkeypatch):
    random_ = random.Random(seed)  # noqa: S311
    turn = random_.choice([1, 4, 7])
    monkeypatch.setattr(module, "TURN", turn)
    monkeypatch.setattr(module, "WAITING_BYTES", random_.choice([10, 2000, 10**6]))
    partitions = topic(random_)
    ends = [end for _, end in partitions]
    found, at, next_ = [], [0] * len(ends), 0
    while True:
        turns = PartitionOrder(Broker(partitions, random_.random()), at, next_, ends)
        portion = random_.choice([3, 20, 1000])
        found += read(turns, random_, portion)
        if turns.ended:
            break
        position = turns.position()
        at, next_ = [position[str(p)] for p in range(len(ends))], position["next"]
    assert found == in_order(partitions, turn)


@pytest.mark.parametrize("seed", range(50))
def test_following_gives_every_message_once_in_the_order_of_its_partition(seed, monkeypatch):
    random_ = random.Random(seed)  # noqa: S311
    monkeypatch.setattr(module, "TURN", 4)
    monkeypatch.setattr(module, "POLL_SECONDS", 0)
    partitions = topic(random_)
    count = sum(len(offsets) for offsets, _ in partitions)
    turns = PartitionOrder(Broker(partitions, seed), [0] * len(partitions), 0, None)
    found = read(turns, random_, count) if count else []
    assert sorted(found) == sorted((p, o) for p, (offsets, _) in enumerate(partitions) for o in offsets)
    for p, (offsets, _) in enumerate(partitions):
        assert [o for q, o in found if q == p] == offsets
    assert turns.messages(5, until=0.0) == []
    assert not turns.ended


def test_partitions_that_are_far_ahead_pause(monkeypatch):
    monkeypatch.setattr(module, "WAITING_BYTES", 3 * 10 * module.MESSAGE_BYTES)
    monkeypatch.setattr(module, "TURN", 4)
    partitions = [(list(range(500)), 500)] * 3
    broker = Broker(partitions, 0)
    turns = PartitionOrder(broker, [0] * 3, 0, [500] * 3)
    most = 0
    found = []
    while not turns.ended:
        messages = turns.messages(4, None)
        most = max(most, *(len(waiting) for waiting in turns._waiting))
        found += [(turns.turn, offset) for offset, _ in messages]
        turns.take(len(messages))
    assert found == in_order(partitions, 4)
    assert broker.n_pauses > 10
    assert most < 500


def test_silence_before_the_end_is_an_error():
    broker = Broker([([], 10)], 0)
    broker.fetch = lambda *_: []
    turns = PartitionOrder(broker, [0], 0, [10])
    with pytest.raises(SourceError, match="gone"):
        turns.messages(5, None)


def test_a_silent_cluster_that_is_followed_is_asked_only_when_there_was_trouble(monkeypatch):
    monkeypatch.setattr(module, "PROBE", 0.0)
    asked = []

    def fetch(*_):
        if len(asked) < 3:
            broker.trouble = "down"
        return []

    broker = Broker([([], 0)], 0)
    broker.fetch, broker.answers = fetch, lambda: asked.append(1) or True
    turns = PartitionOrder(broker, [0], 0, None)
    assert turns.messages(5, time.monotonic() + 0.2) == []
    assert len(asked) == 3
    broker.answers = lambda: False
    broker.trouble = "down"
    with pytest.raises(SourceError, match="gone"):
        turns.messages(5, None)


@pytest.mark.parametrize(
    ("leaders", "answers"), [([0, 2], True), ([0, -1], False), ([-1, -1], False), ([], False)], ids=str
)
def test_a_cluster_answers_once_every_partition_has_a_leader(leaders, answers):
    partitions = {p: SimpleNamespace(leader=leader) for p, leader in enumerate(leaders)}
    topic = SimpleNamespace(error=None, partitions=partitions)
    client = object.__new__(Client)  # one that connects to nothing
    client.topic = "t"
    client._consumer = SimpleNamespace(list_topics=lambda *_, timeout: SimpleNamespace(topics={"t": topic}))
    assert client.answers() is answers
