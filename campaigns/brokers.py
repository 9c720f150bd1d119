"""A Kafka broker that is killed and started again while a topic is read: every row counts once."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import streamsieve as ss
from campaigns.outcome import Outcome
from streamsieve.sources import KafkaSource

GOAL = "at least 50 kills of the broker in mid-run (steps), 0 rows lost, 0 doubled; scores equal bit for bit"
PATIENCE = 2 * 3600.0
#: Kills of a broker that holds one topic.
KILLS = 10
#: Seconds that a broker may take to come back, on a busy machine.
BACK = 900
ROWS, BATCH, PARTITIONS = 20_000, 100, 3
#: Little is fetched ahead, so that a broker that goes is missed.
SLOWLY = {"queued.max.messages.kbytes": 16, "fetch.message.max.bytes": 16_000, "fetch.queue.backoff.ms": 5}
#: Seldom more than a moment after the broker is back, it is found.
SOON = {"reconnect.backoff.max.ms": 500, "retry.backoff.max.ms": 500}


class Case(NamedTuple):
    """The seed of the moments at which the broker is killed."""

    seed: int


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield moments."""
    while True:
        yield Case(int(rng.integers(2**32)))


def prepare() -> None:
    """Refuse to begin where there is no broker to kill."""
    from tests.sources.real_broker import missing  # noqa: PLC0415

    if missing():
        raise SystemExit(missing())


def attempt(case: Case) -> Outcome:
    """Read a topic, and kill the broker after random batches."""
    from tests.sources.real_broker import RealBroker  # noqa: PLC0415

    rng = np.random.default_rng(case.seed)
    places = set(rng.choice(ROWS // BATCH - 20, KILLS, replace=False).tolist())
    with tempfile.TemporaryDirectory() as folder:
        broker = RealBroker(folder)
        try:
            return _read(broker, places)
        finally:
            broker.close()


def _read(broker: Any, places: set[int]) -> Outcome:
    broker.create("clicks", PARTITIONS)
    messages = ((k % PARTITIONS, {"a": k, "b": (k * 7919) % 101, "y": k % 2}) for k in range(ROWS))
    broker.send("clicks", messages)
    options: dict[str, Any] = {"servers": broker.servers, "target": "y", "patience": BACK}
    wanted = ss.run(KafkaSource("clicks", **options), ss.Screen("f"), batch_size=BATCH)
    selector, seen, kills = ss.Screen("f"), [], 0
    returning: threading.Thread | None = None
    for number, batch in enumerate(KafkaSource("clicks", options={**SLOWLY, **SOON}, **options).rows(BATCH)):
        selector.learn(batch)
        seen += batch.X[:, 0].tolist()
        if number in places:
            if returning is not None:  # one death at a time
                returning.join()
            broker.down()
            kills += 1
            returning = threading.Thread(target=broker.up)
            returning.start()
    if returning is not None:
        returning.join()
    if sorted(seen) != list(range(ROWS)):
        return Outcome("lost", f"{len(seen)} of {ROWS} rows after {kills} kills", amount=kills)
    if not np.array_equal(selector.scores_, wanted.scores_):
        return Outcome("lost", f"other scores after {kills} kills", amount=kills)
    return Outcome("held", progress=kills > 0, amount=kills)
