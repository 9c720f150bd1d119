"""Connection to a Kafka cluster: requests with retries, and errors in plain words."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar

from streamsieve._parameters import did_you_mean
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.sources.checks import some

T = TypeVar("T")

#: Seconds that one request may take, and pauses before it is repeated.
ANSWER, FIRST_PAUSE, LONGEST_PAUSE = 2.0, 0.1, 2.0

#: Settings that make the offsets in checkpoints the only ones; users may not change them.
_OURS: dict[str, Any] = {
    "enable.auto.commit": False, "enable.partition.eof": True, "auto.offset.reset": "error"
}  # fmt: skip
#: Defaults that users may change.  The group is only a name: nothing is ever committed to it.
_USUAL: dict[str, Any] = {
    "group.id": "streamsieve",
    "log_level": 2,  # problems are reported as errors
    "fetch.wait.max.ms": 100,  # a partition that was paused waits for the request under way
    "reconnect.backoff.max.ms": 2000,
}


def need_kafka() -> None:
    """Raise an error that says how to install the Kafka client if it is missing."""
    try:
        import confluent_kafka  # noqa: F401, PLC0415
    except ImportError as error:
        raise SourceError("reading Kafka needs confluent-kafka: pip install 'streamsieve[kafka]'") from error


def check_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the user's settings of the client; refuse those that may not be changed."""
    for name in options or {}:
        if name in {*_OURS, "bootstrap.servers", "error_cb"}:
            raise ParameterError(f"options may not hold {name!r}: the source sets it; leave it out")
    return dict(options or {})


class Topic(NamedTuple):
    """Metadata of a topic."""

    cluster: str | None
    n_partitions: int


class Client:
    """A consumer of one topic, which belongs to no group and commits nothing.

    A cluster that has not answered for ``patience`` seconds counts as unavailable.
    """

    def __init__(self, servers: str, topic: str, options: Mapping[str, Any], patience: float) -> None:
        from confluent_kafka import Consumer, KafkaException  # noqa: PLC0415

        self.servers, self.topic, self.patience = servers, topic, patience
        #: Errors since the last answer of the cluster.
        self.trouble = ""
        self._final: SourceError | None = None
        ours = {**_OURS, "bootstrap.servers": servers, "error_cb": self._note}
        try:
            self._consumer = Consumer({**_USUAL, **options, **ours})
        except (KafkaException, TypeError, ValueError) as error:
            raise ParameterError(
                f"options or servers are not what Kafka's client takes ({_text(error)}): see the list of "
                "settings of librdkafka"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def describe(self) -> Topic:
        """Return the metadata of the topic; if it does not exist, the error lists those that do."""
        found = self._asked(self._metadata)
        n_partitions = len(found.topics[self.topic].partitions)
        if n_partitions == 0:
            all_topics = self._asked(lambda seconds: self._consumer.list_topics(timeout=seconds)).topics
            known = [name for name in all_topics if not name.startswith("__")]
            raise SourceError(
                f"there is no topic {self.topic!r} at {self.servers}{did_you_mean(self.topic, known)}; "
                f"there {f'are {some(known)}' if known else 'is none'}"
            )
        return Topic(found.cluster_id, n_partitions)

    def _metadata(self, seconds: float) -> Any:
        from confluent_kafka import KafkaError, KafkaException  # noqa: PLC0415

        found = self._consumer.list_topics(self.topic, timeout=seconds)
        error = found.topics[self.topic].error
        if error is not None and error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise KafkaException(error)
        return found

    def watermarks(self, n_partitions: int) -> list[tuple[int, int]]:
        """Return the first offset and the one after the last, for every partition."""
        from confluent_kafka import TopicPartition  # noqa: PLC0415

        return [
            self._asked(
                lambda seconds, p=p: self._consumer.get_watermark_offsets(  # type: ignore[misc]
                    TopicPartition(self.topic, p), timeout=seconds
                )
            )
            for p in range(n_partitions)
        ]

    def _asked(self, question: Callable[[float], T]) -> T:
        from confluent_kafka import KafkaException  # noqa: PLC0415

        until, pause = time.monotonic() + self.patience, FIRST_PAUSE
        while True:
            try:
                return question(max(0.1, min(ANSWER, until - time.monotonic())))
            except KafkaException as error:
                self._note(error.args[0])
                self._consumer.poll(0)  # nothing is assigned yet: this only collects errors
                self.raise_final()
                if time.monotonic() + pause > until:
                    raise self.gone() from error
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def assign(self, offsets: Sequence[int]) -> None:
        """Start to read every partition at its offset."""
        from confluent_kafka import TopicPartition  # noqa: PLC0415

        self._consumer.assign([TopicPartition(self.topic, p, offset) for p, offset in enumerate(offsets)])

    def fetch(self, at_most: int, seconds: float) -> list[Any]:
        """Return the messages and events that arrive."""
        from confluent_kafka import KafkaException  # noqa: PLC0415

        messages: list[Any] = []
        try:
            messages = self._consumer.consume(at_most, timeout=seconds)
        except KafkaException as error:
            self._note(error.args[0])
        self.raise_final()
        return messages

    def pause(self, partitions: Sequence[int]) -> None:
        """Pause these partitions."""
        self._consumer.pause(self._partitions(partitions))

    def resume(self, partitions: Sequence[int]) -> None:
        """Resume these partitions where they were paused."""
        self._consumer.resume(self._partitions(partitions))

    def _partitions(self, partitions: Sequence[int]) -> list[Any]:
        from confluent_kafka import TopicPartition  # noqa: PLC0415

        return [TopicPartition(self.topic, p) for p in partitions]

    def answers(self) -> bool:
        """Whether the cluster answers, and every partition has a broker that leads it."""
        from confluent_kafka import KafkaException  # noqa: PLC0415

        try:
            partitions = self._metadata(ANSWER).topics[self.topic].partitions
        except KafkaException as error:
            self.note(error.args[0])
            return False
        return bool(partitions) and all(p.leader >= 0 for p in partitions.values())

    def note(self, error: Any) -> None:
        """Note an error that may be temporary; raise any other."""
        self._note(error)
        self.raise_final()

    def _note(self, error: Any) -> None:
        # called by librdkafka: must not raise
        from confluent_kafka import KafkaError  # noqa: PLC0415

        self.trouble = error.str()
        final = (
            KafkaError._AUTHENTICATION,  # noqa: SLF001 - a constant of librdkafka
            KafkaError._SSL,  # noqa: SLF001
            KafkaError.SASL_AUTHENTICATION_FAILED,
            KafkaError.TOPIC_AUTHORIZATION_FAILED,
            KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        )
        if error.fatal() or error.code() in final:
            self._final = SourceError(
                f"Kafka at {self.servers} refuses to give {self.topic!r}: {self.trouble}; check the user's "
                "rights and the security settings in options"
            )

    def raise_final(self) -> None:
        """Raise the permanent error, if there was one."""
        if self._final is not None:
            raise self._final

    def gone(self) -> SourceError:
        """Return the error for a cluster that has stopped answering."""
        why = f" ({self.trouble})" if self.trouble else ""
        return SourceError(
            f"Kafka at {self.servers} has given nothing of {self.topic!r} for {self.patience:g} s{why}: "
            "check servers and network, and resume from the last checkpoint when it is back; nothing that "
            "was read is lost"
        )


def _text(error: BaseException) -> str:
    first = error.args[0] if error.args else error
    return str(first.str() if hasattr(first, "str") else first)
