"""Ten million messages of a real Kafka broker, against consuming and parsing the same messages alone."""

from __future__ import annotations

import atexit
import json
import tempfile

import numpy as np

import streamsieve as ss
from benchmarks._cases import Race, Size, SkipCase, case
from streamsieve.sources import KafkaSource

FIELDS, PARTITIONS = 50, 4
#: Different messages, sent again and again.
DISTINCT = 2_000


@case('Screen("f") over JSON messages of 50 fields', bar="ours <= 2x")
def messages(size: Size) -> Race:
    import orjson  # noqa: PLC0415
    from confluent_kafka import Consumer, TopicPartition  # noqa: PLC0415

    from tests.sources.real_broker import RealBroker, missing  # noqa: PLC0415

    if missing():
        raise SkipCase(missing())
    n = size(10_000_000, 2_000)
    broker = RealBroker(tempfile.mkdtemp(prefix="streamsieve-bench-"))
    atexit.register(broker.close)
    broker.create("clicks", PARTITIONS)
    values = _values()
    broker.send("clicks", ((k % PARTITIONS, values[k % DISTINCT]) for k in range(n)))

    source, lag = KafkaSource("clicks", servers=broker.servers, target="y"), [0, 0]

    def ours() -> None:
        lag[0] = sum(source.lag().values())
        lag[1] = lag[0] - ss.run(source, ss.Screen("f")).n_samples_seen_

    def consumed() -> None:
        consumer = Consumer({"bootstrap.servers": broker.servers, "group.id": "alone", "log_level": 0})
        consumer.assign([TopicPartition("clicks", p, 0) for p in range(PARTITIONS)])
        count = 0
        while count < n:
            found = consumer.consume(4096, timeout=1)
            for message in found:
                orjson.loads(message.value())
            count += len(found)
        consumer.close()

    return Race(
        ours, consumed, "confluent-kafka and orjson.loads alone",
        work=n, unit="messages", rounds=1, warm_up=False,
        note=lambda: f"lag {lag[0]:,} messages before, {lag[1]:,} after",
    )  # fmt: skip


def _values() -> list[bytes]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(DISTINCT, FIELDS)).round(4)
    names = [f"field_{j}" for j in range(FIELDS)]
    return [
        json.dumps({**dict(zip(names, row, strict=True)), "y": int(row[0] > 0)}).encode()
        for row in X.tolist()
    ]
