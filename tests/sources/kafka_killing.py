"""``python -m tests.sources.kafka_killing FOLDER SERVERS TOPIC KILLS`` runs a topic through many short lives.

The cluster lives in the process that starts this one: a process that is going to fork may not have a client.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np

from streamsieve.sources import KafkaSource
from tests.running.killing import BATCH, ROWS_A_LIFE, SELECTORS, enduring

PARTITIONS = 16


def messages(kills):
    """Yield (partition, message) of a topic that is long enough for the given number of kills."""
    rng = np.random.default_rng(0)
    n = kills * ROWS_A_LIFE + 17
    y = rng.integers(0, 2, n)
    X = np.round(rng.normal(size=(n, 4)), 3)
    X[: n // 2, 0] += y[: n // 2]
    X[n // 2 :, 1] += 2 * y[n // 2 :]
    # partitions of different lengths, so that some end long before others
    homes = (PARTITIONS * rng.random(n) ** 1.2).astype(int)
    for row, label, home in zip(X.round(3).tolist(), y.tolist(), homes.tolist(), strict=True):
        fields = dict(zip("abcd", row, strict=True))
        yield home, {**fields, "y": "yes" if label else "no"}


def main():
    folder, servers, topic, kills = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    make = SELECTORS["moments"]
    rng = np.random.default_rng(0)
    for n in (BATCH, 2 * BATCH):  # the kernels are loaded before the first fork
        make().partial_fit(rng.normal(size=(n, 4)), np.array(["no", "yes"])[np.arange(n) % 2]).get_support()
    report = enduring(lambda: KafkaSource(topic, servers=servers, target="y"), make, folder, kills)
    print(json.dumps(asdict(report)))


if __name__ == "__main__":
    main()
