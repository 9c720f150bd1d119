"""A cluster that goes away: tried again, then a clear error; what was read is delivered, nothing is lost."""

import sys
import threading
import time

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.exceptions import SourceError
from streamsieve.sources import KafkaSource

if sys.platform != "linux":
    pytest.skip("the mock cluster is found through /proc", allow_module_level=True)

from tests.sources.mock_broker import MockBroker

pytestmark = pytest.mark.full

ROWS, PARTITIONS = 20_000, 3
#: When the cluster goes, little has been fetched ahead.
SLOWLY = {"queued.max.messages.kbytes": 16, "fetch.message.max.bytes": 16_000, "fetch.queue.backoff.ms": 5}


def record(k):
    return {"a": k, "b": (k * 7919) % 101, "y": k % 2}


@pytest.fixture(scope="module")
def topic():
    """A broker of its own with a topic; each test leaves it running."""
    broker = MockBroker()
    broker.create("clicks", PARTITIONS)
    broker.send("clicks", [(k % PARTITIONS, record(k)) for k in range(ROWS)])
    yield broker
    broker.close()


def source(broker, **options):
    return KafkaSource("clicks", servers=broker.servers, target="y", **options)


def rows_of(batches):
    return [row for batch in batches for row in batch.X[:, 0].tolist()]


@pytest.fixture(scope="module")
def whole(topic):
    """All rows in their order."""
    found = rows_of(source(topic).rows())
    assert sorted(found) == list(range(ROWS))
    return found


def interrupted(broker, patience, back_after=None):
    """Read with the cluster going away on the way; return the batches and the error, if there was one."""
    batches = source(broker, patience=patience, options=SLOWLY).rows(100)
    found = [next(batches) for _ in range(5)]
    broker.down()
    if back_after is not None:
        threading.Timer(back_after, broker.up).start()
    try:
        for batch in batches:
            found.append(batch)  # noqa: PERF402 - what came before an error counts
    except SourceError as error:
        return found, error
    return found, None


def test_a_cluster_that_comes_back_in_time_is_only_slower(topic, whole):
    found, error = interrupted(topic, patience=30, back_after=1.5)
    assert error is None
    assert rows_of(found) == whole


def test_a_cluster_that_stays_away_is_an_error_and_resuming_loses_nothing(topic, whole):
    started = time.monotonic()
    found, error = interrupted(topic, patience=1.5)
    waited = time.monotonic() - started
    topic.up()
    assert "has given nothing of 'clicks' for 1.5 s" in str(error)
    assert "resume from the last checkpoint when it is back; nothing that was read is lost" in str(error)
    assert 1.5 <= waited < 10
    done = rows_of(found)
    assert 500 <= len(done) < ROWS
    assert done == whole[: len(done)]
    assert len(done) == found[-1].position["row"]
    assert rows_of(source(topic).rows(start=found[-1].position)) == whole[len(done) :]


def test_beginning_while_the_cluster_is_away(topic, whole):
    topic.down()
    threading.Timer(1.0, topic.up).start()
    assert rows_of(source(topic, patience=30).rows()) == whole
    topic.down()
    for use in (lambda s: list(s.rows()), lambda s: s.identity(), lambda s: s.check_identity({})):
        with pytest.raises(SourceError, match=r"has given nothing of 'clicks' for 0.5 s .*check servers"):
            use(source(topic, patience=0.5))
    topic.up()


def test_an_address_without_an_answer():
    stream = KafkaSource("t", servers="localhost:1", target="y", patience=0.5)
    with pytest.raises(SourceError, match=r"Kafka at localhost:1 has given nothing of 't' for 0.5 s"):
        list(stream.rows())


def test_following_survives_an_outage_while_nothing_comes(topic):
    topic.create("quiet", 1)
    topic.send("quiet", [(0, record(0))])
    stream = KafkaSource(
        "quiet", servers=topic.servers, target="y", stop=None, linger=0.0, patience=2.0
    ).rows()
    assert rows_of([next(stream)]) == [0]

    def outage():
        topic.down()
        time.sleep(0.5)
        topic.up()
        time.sleep(2.5)  # longer than patience: silence is no fault once the cluster is back
        topic.send("quiet", [(0, record(1))])

    thread = threading.Thread(target=outage)
    thread.start()
    assert rows_of([next(stream)]) == [1]
    thread.join()
    topic.down()
    with pytest.raises(SourceError, match=r"has given nothing of 'quiet' for 2 s \("):
        next(stream)
    topic.up()


def test_a_refusal_is_reported_at_once(topic):
    topic.create("secret", 1)
    topic.fail("secret", 29)
    started = time.monotonic()
    stream = KafkaSource("secret", servers=topic.servers, target="y", patience=60)
    with pytest.raises(
        SourceError, match=r"refuses to give 'secret': .*[Aa]uthorization failed; check the user"
    ):
        list(stream.rows())
    assert time.monotonic() - started < 20


def test_a_run_keeps_its_state_when_the_cluster_goes(topic, tmp_path):
    path = tmp_path / "clicks.sieve"

    class Failing:
        """The source, whose cluster goes away after some rows."""

        def __init__(self):
            self._source = source(topic, patience=1.0, options=SLOWLY)

        def __getattr__(self, name):
            return getattr(self._source, name)

        def rows(self, size, start=None):
            for number, batch in enumerate(self._source.rows(size, start)):
                yield batch
                if number == 10:
                    topic.down()

    with pytest.raises(SourceError, match="has given nothing of 'clicks'"):
        ss.run(Failing(), ss.Screen("f", k=1), checkpoint=path, every=300, batch_size=100)
    topic.up()
    saved = ss.load(path)
    assert 0 < saved.n_samples_seen_ < ROWS
    again = ss.run(source(topic), ss.Screen("f", k=1), checkpoint=path, resume=True, batch_size=1000)
    straight = ss.run(source(topic), ss.Screen("f", k=1))
    assert again.n_samples_seen_ == straight.n_samples_seen_ == ROWS
    # batches were cut elsewhere, so sums are rounded elsewhere
    np.testing.assert_allclose(again.scores_, straight.scores_, rtol=1e-9)
