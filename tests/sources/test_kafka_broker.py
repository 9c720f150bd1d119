"""Apache Kafka itself: killed brokers, added partitions, rebalances, compaction, deletion, transactions.

``STREAMSIEVE_FAULTS=full pytest --full tests/sources/test_kafka_broker.py`` kills the broker 50 times.
"""

import itertools
import json
import os
import threading
import time

import numpy as np
import pytest
from confluent_kafka import Consumer, TopicPartition

import streamsieve as ss
from streamsieve.exceptions import SourceError
from streamsieve.sources import KafkaSource
from tests.sources.mock_broker import watermarks
from tests.sources.real_broker import START

pytestmark = pytest.mark.full

KILLS = 50 if os.environ.get("STREAMSIEVE_FAULTS") == "full" else 2
#: Little is fetched ahead, so that a broker that goes is missed.
SLOWLY = {"queued.max.messages.kbytes": 16, "fetch.message.max.bytes": 16_000, "fetch.queue.backoff.ms": 5}
_number = itertools.count()


def record(k):
    return {"a": k, "b": (k * 7919) % 101, "y": k % 2}


@pytest.fixture
def topic(real_broker):
    """A function that makes a topic with some partitions and records 0, 1, ... in turn."""

    def make(rows=0, partitions=1, **settings):
        name = f"real{next(_number)}"
        real_broker.create(name, partitions, **settings)
        real_broker.send(name, [(k % partitions, record(k)) for k in range(rows)])
        return name

    return make


@pytest.fixture
def source(real_broker):
    def make(name, **options):
        # as patient as the broker may take to come back
        given = {"servers": real_broker.servers, "target": "y", "patience": START, **options}
        return KafkaSource(name, **given)

    return make


def first_of(batches):
    return [int(value) for batch in batches for value in batch.X[:, 0]]


def test_a_broker_that_is_killed_and_restarted_costs_nothing(topic, source, real_broker):
    rows, cut = 20_000, 100
    name = topic(rows, 3)
    expected = ss.run(source(name), ss.Screen("f"), batch_size=cut)
    places = np.linspace(0.05, 0.95, KILLS) * (rows / cut)
    dies = {int(place) for place in places}
    selector = ss.Screen("f")
    seen, returning = [], None
    for number, batch in enumerate(source(name, options=SLOWLY).rows(cut)):
        selector.learn(batch)
        seen += batch.X[:, 0].tolist()
        if number in dies:
            real_broker.down()
            returning = threading.Thread(target=real_broker.up)
            returning.start()
        elif returning is not None and KILLS > 2:
            returning.join()  # one death at a time
    returning.join()
    assert sorted(seen) == list(range(rows))
    np.testing.assert_array_equal(selector.scores_, expected.scores_)


def test_a_run_with_checkpoints_goes_on_when_the_broker_is_back(topic, source, real_broker, tmp_path):
    name = topic(20_000, 2)
    options = {"checkpoint": tmp_path / "run.sieve", "every": 500, "batch_size": 500}
    expected = ss.run(source(name), ss.Screen("f"), batch_size=500)
    rows = itertools.count(0, 500)

    def kill(_):
        if next(rows) == 2_000:
            real_broker.down()

    with pytest.raises(SourceError, match="has given nothing"):
        ss.run(source(name, patience=1, options=SLOWLY), ss.Screen("f"), progress=kill, **options)
    real_broker.up()
    resumed = ss.run(source(name), ss.Screen("f"), resume=True, **options)
    assert resumed.n_samples_seen_ == expected.n_samples_seen_ == 20_000
    # what had come was learnt as a smaller batch before the error, which moves the roundings
    np.testing.assert_allclose(resumed.scores_, expected.scores_, rtol=1e-9)


def test_partitions_that_are_added_are_read_by_the_next_run(topic, source, real_broker):
    name = topic(100, 2)
    first = list(source(name).rows(30))
    position = first[-1].position
    known = source(name).identity()
    real_broker.more_partitions(name, 4)
    real_broker.send(name, [(k % 4, record(k)) for k in range(100, 140)])
    later = source(name)
    later.check_identity(known)
    rest = list(later.rows(30, start=position))
    assert sorted(first_of(first) + first_of(rest)) == list(range(140))


def test_consumers_that_come_and_go_in_a_group_do_not_disturb_a_reader(topic, source, real_broker):
    """The source belongs to no group: there is nothing to rebalance."""
    name = topic(4_000, 4)
    settings = {"bootstrap.servers": real_broker.servers, "group.id": "others", "log_level": 0}
    settings["auto.offset.reset"] = "earliest"
    batches, others, found = source(name, options=SLOWLY).rows(200), [], []
    for number, batch in enumerate(batches):
        found.append(batch)
        if number in {2, 5, 8}:
            others.append(Consumer(settings))
            others[-1].subscribe([name])
        for other in others:
            other.poll(0.05)
        if number == 11:
            others.pop(0).close()
    for other in others:
        other.close()
    assert first_of(found) == first_of(source(name).rows(1_000))
    assert sorted(first_of(found)) == list(range(4_000))


def test_a_compacted_topic_is_read_over_its_gaps(topic, source, real_broker):
    settings = {"cleanup_policy": "compact", "segment_ms": 100, "min_cleanable_dirty_ratio": 0.01}
    name = topic(**settings, delete_retention_ms=100)
    producer = real_broker.producer()
    for k in range(3_000):
        producer.produce(name, key=str(k % 50), value=json.dumps(record(k)), partition=0)
        if k % 1_000 == 999:
            assert producer.flush(30) == 0
            time.sleep(0.3)  # the segment closes with the next message
    assert producer.flush(30) == 0
    found = _until_compacted(lambda: list(source(name).rows(7)), 3_000)
    rows = first_of(found)
    assert rows == sorted(set(rows))
    assert set(range(2_950, 3_000)) <= set(rows)
    for batch in found[:: max(1, len(found) // 5)]:
        rest = first_of(source(name).rows(11, start=batch.position))
        assert rest == rows[batch.position["row"] :]


def _until_compacted(read, whole):
    until = time.monotonic() + 60
    while True:
        before = sum(len(batch.X) for batch in read())
        time.sleep(1)
        found = read()
        if sum(len(batch.X) for batch in found) == before < whole:
            return found
        if time.monotonic() > until:
            pytest.skip("the broker did not compact the topic within a minute")


def test_rows_that_were_deleted_before_they_were_read_are_lost(topic, source, real_broker):
    name = topic(1_000)
    position = next(source(name).rows(100)).position
    real_broker.delete_before(TopicPartition(name, 0, 500))
    assert watermarks(real_broker.servers, name) == (500, 1_000)
    with pytest.raises(SourceError, match=rf"{name}, partition 0: rows from offset 100 on are lost"):
        list(source(name).rows(start=position))
    assert first_of(source(name).rows()) == list(range(500, 1_000))


def test_rows_that_are_deleted_while_they_are_read_are_lost(topic, source, real_broker):
    pad = "x" * 20_000
    for _ in range(20):
        name = topic()
        for low in range(0, 1_000, 100):  # in batches of their own: a reader fetches whole ones
            real_broker.send(name, [(0, {**record(k), "pad": pad}) for k in range(low, low + 100)])
        options = SLOWLY | {
            "fetch.queue.backoff.ms": 300
        }  # longer than it takes to delete, even on a busy machine
        batches = source(name, names=["a", "b"], extra="ignore", options=options).rows(1)
        found = [next(batches)]
        real_broker.delete_before(TopicPartition(name, 0, 1_000))
        try:
            for batch in batches:
                found.append(batch)  # noqa: PERF402 - what came before the error counts
        except SourceError as error:
            assert f"rows from offset {len(found)} on are lost" in str(error)  # noqa: PT017
            break
        assert first_of(found) == list(range(1_000))  # all were fetched before they were deleted
    else:
        pytest.fail("nothing was ever lost")
    assert first_of(found) == list(range(len(found)))


def test_only_committed_transactions_are_read(topic, source, real_broker):
    name = topic(partitions=2)
    producer = real_broker.producer(transactional_id=f"writer-{name}")
    producer.init_transactions(30)
    committed = []
    for turn in range(20):
        producer.begin_transaction()
        rows = range(50 * turn, 50 * turn + 50)
        for k in rows:
            producer.produce(name, value=json.dumps(record(k)), partition=k % 2)
        if turn % 3 == 1:
            assert producer.flush(30) == 0  # what is aborted is in the log
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
            committed += rows
    whole = list(source(name).rows(17))
    assert sorted(first_of(whole)) == committed
    for batch in whole[::7]:
        rest = first_of(source(name).rows(13, start=batch.position))
        assert rest == first_of(whole)[batch.position["row"] :]


def test_a_transaction_that_is_open_does_not_hold_up_a_run_to_the_end(topic, source, real_broker):
    name = topic(100)
    producer = real_broker.producer(transactional_id=f"writer-{name}")
    producer.init_transactions(30)
    producer.begin_transaction()
    for k in range(100, 120):
        producer.produce(name, value=json.dumps(record(k)), partition=0)
    assert producer.flush(30) == 0
    first = list(source(name, patience=5).rows())
    assert first_of(first) == list(range(100))
    producer.commit_transaction(30)
    until = time.monotonic() + 30
    while watermarks(real_broker.servers, name)[1] < 121:  # the broker marks the end of a transaction later
        assert time.monotonic() < until
        time.sleep(0.1)
    assert first_of(source(name).rows(start=first[-1].position)) == list(range(100, 120))
