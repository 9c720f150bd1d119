"""Rows from a Kafka topic: content, order, resuming, names, and what is refused."""

import itertools
import json
import pickle
import sys
import threading
import time

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.sources import KafkaSource
from streamsieve.sources.messages import partition_order
from tests.sources.kinds import NAMES, N, numbers
from tests.sources.mock_broker import watermarks

_number = itertools.count()
#: Tests whose partitions must lose their oldest rows at 5 MB, as those of the mock do.
forgetful = pytest.mark.parametrize("broker", ["mock"], indirect=True)


@pytest.fixture
def topic(broker):
    """A function that makes a topic from messages, partition by partition."""

    def make(*partitions):
        name = f"topic{next(_number)}"
        broker.create(name, len(partitions))
        broker.send(name, [(p, value) for p, values in enumerate(partitions) for value in values])
        return name

    return make


@pytest.fixture
def source(broker):
    def make(topic, **options):
        return KafkaSource(topic, **{"servers": broker.servers, "target": "y", "patience": 10, **options})

    return make


def record(k):
    return {"a": k, "b": -k, "y": k % 2}


def rows_of(batches):
    return [row for batch in batches for row in batch.X[:, 0].tolist()]


@pytest.fixture(params=["three partitions", "short turns"])
def table(request, topic, source, monkeypatch):
    """The small table of all sources as a topic, and the order in which its rows come."""
    X, y = numbers()
    records = [
        {**dict(zip(NAMES, row, strict=True)), "y": int(label)} for row, label in zip(X, y, strict=True)
    ]
    cuts, turn = (0, 5, 5, 16, N), 1024
    if request.param == "short turns":
        turn = 4
        monkeypatch.setattr(partition_order, "TURN", turn)
    partitions = [range(low, high) for low, high in itertools.pairwise(cuts)]
    name = topic(*([records[k] for k in rows] for rows in partitions))
    order = sorted((at // turn, p, at, k) for p, rows in enumerate(partitions) for at, k in enumerate(rows))
    order = [k for *_, k in order]
    return source(name), X[order], y[order]


@pytest.mark.parametrize("size", [1, 3, 7, N, 1000])
def test_rows_are_the_same_whatever_the_batch_size(table, size):
    stream, X, y = table
    batches = list(stream.rows(size))
    assert [len(b.X) for b in batches[:-1]] == [size] * (len(batches) - 1)
    np.testing.assert_array_equal(np.vstack([b.X for b in batches]), X)
    np.testing.assert_array_equal(np.concatenate([b.y for b in batches]), y)
    for batch in batches:
        assert batch.X.dtype == np.float64
        assert batch.X.flags.c_contiguous
        assert batch.names == NAMES
        assert batch.weight is None
    assert [b.position["row"] for b in batches] == np.cumsum([len(b.X) for b in batches]).tolist()
    ends = {"0": 5, "1": 0, "2": 11, "3": N - 16, "row": N, "skipped": 0}
    assert {**batches[-1].position, "next": 0} == {**ends, "next": 0}


@pytest.mark.parametrize("size", [1, 4])
def test_resuming_from_any_position_gives_the_rest(table, size):
    stream, X, _ = table
    for batch in list(stream.rows(size)):
        rest = list(stream.rows(5, start=json.loads(json.dumps(batch.position))))
        done = batch.position["row"]
        np.testing.assert_array_equal(np.vstack([np.empty((0, len(NAMES))), *(b.X for b in rest)]), X[done:])
        assert not rest or rest[-1].position["row"] == N


def test_two_readers_do_not_disturb_each_other(table):
    stream, *_ = table
    one, two = stream.rows(4), stream.rows(4)
    next(one)
    np.testing.assert_array_equal(next(one).X, [b.X for b in two][1])
    one.close()


def test_partitions_that_pause_lose_nothing(topic, source, monkeypatch):
    monkeypatch.setattr(partition_order, "TURN", 16)
    monkeypatch.setattr(partition_order, "MOST_MESSAGES", 50)
    monkeypatch.setattr(partition_order, "WAITING_BYTES", 4 * 100 * 220)
    paused = []
    pause = partition_order.Client.pause
    monkeypatch.setattr(
        partition_order.Client, "pause", lambda self, ps: paused.append(ps) or pause(self, ps)
    )
    stream = source(topic(*([record(4 * k + p) for k in range(1000)] for p in range(4))))
    expected = [4 * (16 * turn + k) + p for turn in range(63) for p in range(4) for k in range(16)]
    assert rows_of(stream.rows(100)) == [k for k in expected if k < 4000]
    assert len(paused) > 5


def test_rows_that_come_after_the_beginning_are_not_awaited(topic, source, broker):
    name = topic([record(k) for k in range(10)])
    stream = source(name)
    batches = stream.rows(4)
    first = next(batches)
    broker.send(name, [(0, record(k)) for k in range(10, 15)])
    rest = list(batches)
    assert rows_of([first, *rest]) == list(range(10))
    # resumed, the end is a new one
    assert rows_of(stream.rows(4, start=rest[-1].position)) == list(range(10, 15))
    assert rows_of(stream.rows(4, start=first.position)) == list(range(4, 15))
    assert list(stream.rows(start=list(stream.rows())[-1].position)) == []


def follow(stream, size, count, start=None):
    batches, found = stream.rows(size, start), []
    while sum(len(b.X) for b in found) < count:
        found.append(next(batches))
    batches.close()
    return found


def test_following_delivers_what_has_come_after_a_while(topic, source, broker):
    name = topic([record(0), record(1)], [])
    stream = source(name, stop=None, linger=0.2)

    def send():
        for k in range(2, 30):
            broker.send(name, [(k % 2, record(k))])
            time.sleep(0.02)

    sender = threading.Thread(target=send)
    sender.start()
    started = time.monotonic()
    found = follow(stream, 1000, 30)
    sender.join()
    assert 1 < len(found) < 30
    assert sorted(rows_of(found)) == list(range(30))
    for parity in (0, 1):
        mine = [k for k in rows_of(found) if k % 2 == parity and k > 1]
        assert mine == sorted(mine)
    assert time.monotonic() - started < 10
    # wherever it is resumed, every other row comes once
    for batch in found[:-1]:
        done = batch.position["row"]
        rest = rows_of(follow(stream, 7, 30 - done, batch.position))
        assert sorted(rows_of(found)[:done] + rest) == list(range(30))


def test_lag_is_what_comes_after_a_position(topic, source, broker):
    name = topic([record(k) for k in range(5)], [record(k) for k in range(3)])
    stream = source(name)
    assert stream.lag() == {0: 5, 1: 3}
    first = next(stream.rows(4))
    assert sum(stream.lag(first.position).values()) == 4
    last = list(stream.rows())[-1]
    broker.send(name, [(1, record(9))])
    assert stream.lag(last.position) == {0: 0, 1: 1}


def test_full_batches_do_not_wait(topic, source):
    stream = source(topic([record(k) for k in range(100)]), stop=None, linger=1000)
    started = time.monotonic()
    assert [len(b.X) for b in follow(stream, 20, 100)] == [20] * 5
    assert time.monotonic() - started < 10


def test_following_an_empty_topic_waits_for_its_first_message(topic, source, broker):
    name = topic([], [])
    stream = source(name, stop=None, linger=0)
    threading.Timer(0.5, broker.send, (name, [(1, record(7))])).start()
    (batch,) = follow(stream, 10, 1)
    assert (batch.names, batch.X.tolist()) == (["a", "b"], [[7, -7]])


def test_names_are_those_of_the_first_message_or_given(topic, source):
    name = topic([], [{"b": 1, "y": 0, "a": None}, {"a": 2, "y": 1}])
    stream = source(name)
    assert stream.names == ["b", "a"]
    np.testing.assert_array_equal(next(stream.rows()).X, [[1, np.nan], [np.nan, 2]])
    given = source(name, names=["a", "c", "b"])
    assert given.names == ["a", "c", "b"]
    np.testing.assert_array_equal(next(given.rows()).X, [[np.nan, np.nan, 1], [2, np.nan, np.nan]])
    assert next(source(name, names=["a"], extra="ignore").rows()).X.shape == (2, 1)


def test_text_labels(topic, source):
    stream = source(topic([{"a": 1, "y": "no"}, {"a": 2, "y": "perhaps"}]))
    assert [b.y.tolist() for b in stream.rows(1)] == [["no"], ["perhaps"]]


def test_a_function_may_read_the_messages(topic, source):
    stream = source(topic([b"1,0", b"2,1"]), value=lambda text: dict(zip("ay", eval(text), strict=True)))  # noqa: S307
    assert rows_of(stream.rows()) == [1, 2]


def until_failure(batches):
    """Return what comes before an error, and its text."""
    found = []
    with pytest.raises(SourceError) as caught:  # noqa: PT012
        for batch in batches:
            found.append(batch)  # noqa: PERF402
    return found, str(caught.value)


BAD = [b"{", None, {"a": 1, "b": 1}, {"a": "x", "b": 1, "y": 0}, {"a": 1, "b": 1, "c": 1, "y": 0}]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("bad", BAD)
def test_a_bad_message_is_named_after_the_rows_before_it(bad, size, topic, source):
    name = topic([record(0), record(1), record(2), bad, record(4)])
    found, failure = until_failure(source(name).rows(size))
    assert f"{name}, partition 0, offset 3: " in failure
    assert "on_bad='skip' passes over such messages" in failure
    assert rows_of(found) == [0, 1, 2]
    assert found[-1].position == {"0": 3, "next": 0, "row": 3, "skipped": 0}
    rest = list(source(name, on_bad="skip").rows(size, start=found[-1].position))
    assert rows_of(rest) == [4]
    assert rest[-1].position == {"0": 5, "next": 0, "row": 4, "skipped": 1}


@pytest.mark.parametrize("size", [1, 2, 100])
def test_bad_messages_may_be_skipped_and_are_counted(size, topic, source, monkeypatch):
    monkeypatch.setattr(partition_order, "TURN", 3)
    values = [[b"{", record(0), *BAD, record(3), b"{"], [record(1), b"", record(2)], BAD]
    batches = list(source(topic(*values), on_bad="skip").rows(size))
    assert rows_of(batches) == [0, 1, 2, 3]
    # what comes after the last row of a batch belongs to no batch
    assert batches[-1].position["skipped"] == (13 if size == 100 else 12)
    for batch in batches:
        rest = source(topic(*values), on_bad="skip").rows(2, start=batch.position)
        assert rows_of(rest) == [0, 1, 2, 3][batch.position["row"] :]


def test_a_topic_of_nothing_but_bad_messages_has_no_rows(topic, source):
    for options in ({}, {"names": ["a", "b"]}):
        with pytest.raises(SourceError, match=r"topic .* holds no rows"):
            list(source(topic(BAD[:4], BAD[:4]), on_bad="skip", **options).rows())


def known_of(stream):
    return json.loads(json.dumps(stream.identity()))


def test_identity(topic, source, broker):
    name = topic([record(0)], [])
    known = known_of(source(name))
    assert known["names"] == ["a", "b"]
    assert known["partitions"] == 2
    assert known["cluster"]
    source(name).check_identity(known)
    broker.send(name, [(0, record(1))])
    source(name).check_identity(known)
    source(name, names=["a", "b"]).check_identity(known)
    other = topic([record(0)], [])
    for stream, message in (
        (source(other), f"the topic was '{name}' and is '{other}' now"),
        (source(name, names=["b", "a"]), "column 1 was 'a' and is 'b' now"),
        (source(name, names=["a"], extra="ignore"), "it lacks the column 'b'"),
        (source(name, target="b"), "the target was 'y' and is 'b' now"),
    ):
        with pytest.raises(SourceError, match=message):
            stream.check_identity(known)
    for change, message in (
        ({"partitions": 3}, "it had 3 partitions and has 2 now"),
        ({"cluster": "other"}, "the cluster was 'other' and is '"),
        ({"kind": "ArrowSource"}, "it came from ArrowSource, but this is KafkaSource"),
    ):
        with pytest.raises(SourceError, match=message):
            source(name).check_identity({**known, **change})
    source(name).check_identity({**known, "partitions": 1, "cluster": None})
    for hostile in ({}, {**known, "names": 3}, {**known, "names": [1]}, {**known, "partitions": "x"}):
        with pytest.raises(SourceError):
            source(name).check_identity(hostile)


def test_names_that_were_not_given_are_those_of_the_checkpoint(topic, source):
    name = topic([{"b": 1, "a": 2, "y": 0}])
    stream = source(name)
    stream.check_identity({**known_of(stream), "names": ["a", "b"]})
    assert stream.names == ["a", "b"]
    assert known_of(stream)["names"] == ["a", "b"]
    assert next(stream.rows()).X.tolist() == [[2, 1]]


def test_with_names_given_an_empty_topic_has_an_identity(topic, source):
    assert known_of(source(topic([]), names=["a"]))["names"] == ["a"]
    for stop in ("end", None):
        with pytest.raises(SourceError, match=r"holds no rows yet.*unless names are given"):
            source(topic([]), stop=stop, patience=0.3).identity()


def test_a_source_travels_to_other_processes(topic, source):
    stream = source(topic([record(0)]))
    list(stream.rows())
    copy = pickle.loads(pickle.dumps(stream))  # noqa: S301
    assert rows_of(copy.rows()) == [0]


@forgetful
def test_rows_that_were_deleted_before_they_were_read_are_lost(broker, topic, source):
    name = topic([record(k) for k in range(10)])
    position = next(source(name).rows(4)).position
    broker.send(name, [(0, {**record(k), "pad": "x" * 100_000}) for k in range(10, 80)])
    assert watermarks(broker.servers, name)[0] > 4
    with pytest.raises(SourceError, match=rf"{name}, partition 0: rows from offset 4 on are lost"):
        list(source(name, extra="ignore", names=["a", "b"]).rows(start=position))


@forgetful
def test_rows_that_are_deleted_while_they_are_read_are_lost(broker, topic, source):
    options = {"fetch.message.max.bytes": 1000, "queued.max.messages.kbytes": 1, "fetch.max.bytes": 1_000_000}
    pads = [(0, {**record(k), "pad": "x" * 100_000}) for k in range(50)]
    for _ in range(20):
        name = topic([pad for _, pad in pads])
        batches = source(name, extra="ignore", names=["a", "b"], options=options).rows(1)
        found = [next(batches)]
        broker.send(name, pads)
        try:
            for batch in batches:
                found.append(batch)  # noqa: PERF402 - what came before the error counts
        except SourceError as error:
            assert f"rows from offset {len(found)} on are lost, Kafka deleted them" in str(error)  # noqa: PT017
            break
        assert rows_of(found) == list(range(50))  # all were fetched before they were deleted
    else:
        pytest.fail("nothing was ever lost")
    assert rows_of(found) == list(range(len(found)))


def test_positions_of_another_topic_are_refused(topic, source):
    stream = source(topic([record(0)], [record(1)]))
    at = {"0": 0, "1": 0, "next": 0, "row": 0, "skipped": 0}
    assert rows_of(stream.rows(start=at)) == [0, 1]
    for change, message in (
        ({"1": 5}, "partition 1: 5 messages were read, but there are 1 now: the topic was made again, or"),
        ({"2": 0}, "had 3 partitions and has 2 now"),
        ({"next": 2}, "had 3 partitions and has 2 now"),
    ):
        with pytest.raises(SourceError, match=message):
            list(stream.rows(start={**at, **change}))
    for start in ({}, {**at, "0": -1}, {**at, "row": "1"}, 7, {"file": 0}, {**at, "5": 0}):
        with pytest.raises(SourceError, match="start must be the position of a batch"):
            stream.rows(start=start)
    # a partition that came later begins at its start
    del at["1"]
    assert rows_of(stream.rows(start={**at, "0": 1, "row": 1})) == [1]


def test_sizes_columns_and_empty_topics(topic, source):
    stream = source(topic([]))
    for size in (0, 2.5, None, True):
        with pytest.raises(ParameterError, match="batch_size must be a whole number at least 1"):
            stream.rows(size)
    with pytest.raises(SourceError, match=r"KafkaSource has no columns: .*use rows\(\)"):
        stream.columns()
    with pytest.raises(SourceError, match="holds no rows"):
        list(stream.rows())
    with pytest.raises(SourceError, match="holds no rows"):
        list(source(topic([], []), names=["a"]).rows())
    assert stream.n_rows is None


def test_an_unknown_topic_gets_a_suggestion(topic, source):
    name = topic([record(0)])
    with pytest.raises(SourceError, match=rf"there is no topic '{name}x' at .*; did you mean 'topic"):
        list(source(name + "x").rows())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"stop": "never"}, ParameterError, "stop must be one of 'end', None; got 'never'"),
        ({"on_bad": "ignore"}, ParameterError, "on_bad must be one of 'refuse', 'skip'"),
        ({"extra": "skip"}, ParameterError, "extra must be one of 'refuse', 'ignore'"),
        ({"value": "avro"}, ParameterError, "value must be one of 'json'"),
        ({"linger": -1}, ParameterError, "linger must be a number at least 0"),
        ({"patience": 0}, ParameterError, "patience must be a number above 0"),
        ({"options": {"enable.auto.commit": True}}, ParameterError, "options may not hold 'enable.auto"),
        ({"names": ["a", "a"]}, SourceError, "the name 'a' occurs twice"),
        ({"names": ["a", "y"]}, SourceError, "the target 'y' is among the names"),
        ({"names": []}, SourceError, "names is empty"),
        ({"target": None}, SourceError, "target must be text; got None"),
        ({"servers": 9092}, SourceError, "servers must be text or a list of it; got 9092"),
        ({"servers": []}, SourceError, "servers must be text or a list of it"),
        ({"topic": ""}, SourceError, "topic must be text; got ''"),
    ],
)  # fmt: skip
def test_parameters_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        KafkaSource(**{"topic": "t", "servers": "localhost:1", "target": "y", **options})


def test_settings_that_the_client_does_not_know_are_named():
    stream = KafkaSource("t", servers="localhost:1", target="y", options={"no.such": 1})
    with pytest.raises(ParameterError, match=r"options or servers are not what .* property: \"no.such\""):
        stream.identity()


def test_without_the_client_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(SourceError, match=r"needs confluent-kafka: pip install 'streamsieve\[kafka\]'"):
        KafkaSource("t", servers="localhost:1", target="y")


def test_an_address_opens_a_topic(topic, broker):
    name = topic([record(0)])
    address = f"kafka://{broker.servers}/{name}"
    for data in (address, [address]):
        stream = ss.open(data, target="y", on_bad="skip")
        assert isinstance(stream, KafkaSource)
        assert rows_of(stream.rows()) == [0]
    assert ss.open("kafka://one:1,two:2/t", target="y")._servers == "one:1,two:2"


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ("kafka://host:1/t", {}, "say which field of the messages is the target"),
        ("kafka://host:1/t", {"target": [1]}, "say which field of the messages is the target"),
        ("kafka://host:1", {"target": "y"}, "wanted an address such as 'kafka://host:9092/topic'"),
        ("kafka:///t", {"target": "y"}, "wanted an address such as"),
        ("kafka://h/a/b", {"target": "y"}, "wanted an address such as"),
        (["kafka://h/a", "f.csv"], {"target": "y"}, "open it alone"),
    ],
)
def test_addresses_that_are_none(data, options, message):
    with pytest.raises(SourceError, match=message):
        ss.open(data, **options)


def test_unknown_options_are_named():
    with pytest.raises(ParameterError, match="KafkaSource has no option 'stopp'; did you mean 'stop'"):
        ss.open("kafka://h/t", target="y", stopp=None)
