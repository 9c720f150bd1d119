"""One Apache Kafka broker on this machine, started and killed at will; needs ``java`` and ``mvn``."""

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

VERSION = "4.1.0"
#: Seconds until a broker answers, on a busy machine.
START = 900
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>streamsieve</groupId><artifactId>broker</artifactId><version>1</version>
  <dependencies>{}</dependencies>
</project>
"""
DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{}</dependency>"
)
#: Only what is named: poms of some libraries name repositories of their own for what they depend on.
ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}/data
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
log.cleaner.backoff.ms=100
broker.heartbeat.interval.ms=200
broker.session.timeout.ms=1000
"""


def missing():
    """Return what prevents a broker from being started, or an empty text."""
    absent = [program for program in ("java", "mvn") if shutil.which(program) is None]
    if absent:
        return f"no real Kafka broker: {' and '.join(absent)} not found"
    try:
        libraries()
    except (subprocess.SubprocessError, OSError) as error:
        return f"no real Kafka broker: its libraries could not be fetched: {error}"
    return ""


def libraries():
    """Return the folder with Kafka's libraries."""
    return fetched(f"kafka-{VERSION}", ("org.apache.kafka", "kafka_2.13", VERSION, ""))


def fetched(name, *artifacts):
    """Return a folder with these artifacts; Maven fetches them once per machine."""
    folder = Path(tempfile.gettempdir()) / f"streamsieve-{name}-{os.getuid()}"
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            wanted = "".join(DEPENDENCY.format(*each) for each in artifacts)
            (Path(made) / "pom.xml").write_text(POM.format(wanted))
            command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={made}/jars"]
            subprocess.run(command, cwd=made, check=True, timeout=900, stdout=subprocess.DEVNULL)
            try:
                (Path(made) / "jars").rename(folder)
            except OSError:  # another process was quicker
                assert folder.is_dir()
    return folder


class RealBroker:
    """A Kafka cluster of one broker, in a process of its own; what it holds survives its being killed."""

    def __init__(self, folder):
        self._folder = Path(folder)
        # quickly up again after a kill: compiling well, and several collectors, take longer to start
        quick = ["-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
        self._java = ["java", *quick, "-cp", f"{libraries()}/*"]
        port, controller = _free_ports(2)
        self.servers = f"127.0.0.1:{port}"
        self._config = self._folder / "server.properties"
        self._config.write_text(PROPERTIES.format(port=port, controller=controller, folder=self._folder))
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        self._run("kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self._config))
        self.admin = AdminClient(self._settings())
        self.up()
        self._producer = Producer(self._settings({"linger.ms": 5, "acks": "all", "enable.idempotence": True}))

    def _settings(self, more=()):
        # by default a client waits up to 10 s before it tries again, long after the broker is back
        soon = {"reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 250}
        return {"bootstrap.servers": self.servers, "log_level": 0, **soon, **dict(more)}

    def _run(self, *arguments):
        subprocess.run([*self._java, *arguments], check=True, timeout=START, capture_output=True)

    def up(self):
        """Start the broker and wait until it answers."""
        with (self._folder / "broker.log").open("a") as log:
            self._process = subprocess.Popen(
                [*self._java, "kafka.Kafka", str(self._config)], stdout=log, stderr=log
            )
        until = time.monotonic() + START
        while True:
            try:
                assert self.admin.list_topics(timeout=2).brokers
            except (KafkaException, AssertionError):
                assert self._process.poll() is None, (self._folder / "broker.log").read_text()[-2000:]
                assert time.monotonic() < until, "the broker does not answer"
                time.sleep(0.2)
            else:
                return

    def down(self):
        """Kill the broker, as a machine that loses power would."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def create(self, topic, partitions=1, **settings):
        """Make a topic; settings such as ``cleanup_policy="compact"`` are those of Kafka."""
        config = {name.replace("_", "."): str(value) for name, value in settings.items()}
        _done(self.admin.create_topics([NewTopic(topic, partitions, 1, config=config)]))

    def more_partitions(self, topic, total):
        _done(self.admin.create_partitions([NewPartitions(topic, total)]))
        until = time.monotonic() + START
        while len(self._producer.list_topics(topic, timeout=5).topics[topic].partitions) < total:
            assert time.monotonic() < until, "the new partitions do not show"
            time.sleep(0.1)

    def delete_before(self, *at):
        """Delete what comes before some offsets, given as ``TopicPartition``."""
        _done(self.admin.delete_records(list(at)))

    def send(self, topic, messages):
        """Write (partition, value) pairs; a dict becomes JSON."""
        for number, (partition, value) in enumerate(messages):
            content = json.dumps(value).encode() if isinstance(value, dict) else value
            self._producer.produce(topic, value=content, partition=partition)
            if number % 10_000 == 9_999:
                assert self._producer.flush(START) == 0
        assert self._producer.flush(START) == 0

    def producer(self, **settings):
        """Return a producer with settings such as ``transactional_id="t"``."""
        return Producer(self._settings({name.replace("_", "."): value for name, value in settings.items()}))

    def close(self):
        self.down()


def _free_ports(count):
    found = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in found]
    for server in found:
        server.close()
    return ports


def _done(futures):
    for future in futures.values():
        future.result(timeout=START)
