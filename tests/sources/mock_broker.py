"""librdkafka's built-in mock cluster, with the switches that its Python package does not offer."""

import ctypes
import json
from pathlib import Path

import confluent_kafka
from confluent_kafka import Producer


def _library():
    """Return the librdkafka that confluent_kafka has loaded."""
    with Path("/proc/self/maps").open() as file:
        paths = {line.split()[-1] for line in file if "librdkafka" in line}
    library = ctypes.CDLL(paths.pop())
    for name in ("rd_kafka_new", "rd_kafka_conf_new", "rd_kafka_mock_cluster_new"):
        getattr(library, name).restype = ctypes.c_void_p
    library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    return library


class MockBroker:
    """A Kafka cluster of one broker, inside this process; other processes reach it by TCP.

    A partition keeps 5 MB, then the oldest rows go, as with retention.
    """

    def __init__(self):
        self._library = _library()
        text = ctypes.create_string_buffer(512)
        conf = ctypes.c_void_p(self._library.rd_kafka_conf_new())
        self._library.rd_kafka_conf_set(conf, b"log_level", b"0", text, 512)
        self._client = ctypes.c_void_p(self._library.rd_kafka_new(0, conf, text, 512))
        self._cluster = ctypes.c_void_p(self._library.rd_kafka_mock_cluster_new(self._client, 1))
        self.servers = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster).decode()
        # brokers answer with whole batches: small ones, so that a reader can be held up before the end
        self._producer = Producer(
            {
                "bootstrap.servers": self.servers,
                "log_level": 0,
                "linger.ms": 5,
                "batch.num.messages": 100,
                "acks": 1,
            }
        )

    def create(self, topic, partitions=1):
        failed = self._library.rd_kafka_mock_topic_create(self._cluster, topic.encode(), partitions, 1)
        assert not failed

    def send(self, topic, messages):
        """Write (partition, value) pairs; a dict becomes JSON."""
        for number, (partition, value) in enumerate(messages):
            content = json.dumps(value).encode() if isinstance(value, dict) else value
            self._producer.produce(topic, value=content, partition=partition)
            if number % 1000 == 0:
                self._producer.poll(0)
        assert self._producer.flush(30) == 0

    def down(self):
        """Close all connections, and refuse new ones."""
        assert not self._library.rd_kafka_mock_broker_set_down(self._cluster, 1)

    def up(self):
        assert not self._library.rd_kafka_mock_broker_set_up(self._cluster, 1)

    def fail(self, topic, error):
        """Answer every question about a topic with an error (0: no more)."""
        self._library.rd_kafka_mock_topic_set_error(self._cluster, topic.encode(), error)

    def close(self):
        self._library.rd_kafka_mock_cluster_destroy(self._cluster)
        self._library.rd_kafka_destroy(self._client)


def watermarks(servers, topic, partition=0):
    client = confluent_kafka.Consumer({"bootstrap.servers": servers, "group.id": "test", "log_level": 0})
    try:
        return client.get_watermark_offsets(confluent_kafka.TopicPartition(topic, partition), timeout=10)
    finally:
        client.close()
