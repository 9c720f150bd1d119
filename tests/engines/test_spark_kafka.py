"""A Kafka topic through Spark Structured Streaming into a state file: real broker, real Spark.

Spark reads Kafka by a connector of its own version.  Maven's central repository lags behind Spark's releases,
so that a Spark that has one is fetched beside the installed one, once per machine.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.sources import KafkaSource
from tests.helpers.spark import spark_is_there
from tests.sources.conftest import real_broker  # noqa: F401 - a fixture
from tests.sources.real_broker import ALONE, fetched

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]

#: The newest release all of whose connector's libraries were found at Maven's central repository.
SPARK, PY4J = "4.0.0", "0.10.9.9"
CONNECTOR = (
    ("org.apache.spark", "spark-sql-kafka-0-10_2.13", SPARK, ALONE),
    ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", SPARK, ALONE),
    ("org.apache.kafka", "kafka-clients", "3.9.0", ALONE),
    ("org.apache.commons", "commons-pool2", "2.12.1", ALONE),
)
FIELDS = ("a", "b", "c")

QUERY = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from pyspark.sql.functions import from_json
import streamsieve as ss
from streamsieve.engines.spark import into

servers, jars, folder = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", ",".join(map(str, Path(jars).glob("*.jar"))))
    .config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "1g")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.log.level", "OFF")
    .getOrCreate()
)
clicks = spark.readStream.format("kafka").option("kafka.bootstrap.servers", servers)
clicks = clicks.option("subscribe", "clicks").option("startingOffsets", "earliest")
clicks = clicks.option("maxOffsetsPerTrigger", 400).load()
record = from_json(clicks.value.cast("string"), "a double, b double, c double, y long")
step = into(f"{folder}/clicks.sieve", ss.Screen("f", k=2), target="y")
query = clicks.select(record.alias("r")).select("r.*").writeStream.foreachBatch(step)
query = query.option("checkpointLocation", f"{folder}/checkpoint")
query.trigger(availableNow=True).start().awaitTermination()
spark.stop()
"""


@pytest.fixture(scope="module")
def spark_with_kafka():
    """Folders of a Spark that has a Kafka connector, and of the connector."""
    spark_is_there()
    home = Path(tempfile.gettempdir()) / f"streamsieve-pyspark-{SPARK}-{os.getuid()}"
    try:
        jars = fetched(f"spark-kafka-{SPARK}", *CONNECTOR)
        if not home.is_dir():
            with tempfile.TemporaryDirectory(dir=home.parent) as made:
                wanted = [f"pyspark=={SPARK}", f"py4j=={PY4J}"]
                command = [
                    sys.executable,
                    "-m",
                    "pip",
                    "install",
                    "-q",
                    "--no-deps",
                    "--target",
                    f"{made}/it",
                ]
                subprocess.run([*command, *wanted], check=True, capture_output=True, timeout=900)
                Path(made, "it").rename(home)
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"Spark {SPARK} with its Kafka connector could not be fetched: {error}")
    return home, jars


def send(broker, low, high):
    rng = np.random.default_rng(low)
    X = rng.normal(size=(high - low, len(FIELDS)))
    messages = [
        (k % 3, {**dict(zip(FIELDS, x.tolist(), strict=True)), "y": k % 2})
        for k, x in enumerate(X + np.outer(np.arange(high - low) % 2, [0.0, 1.0, 2.0]))
    ]
    broker.send("clicks", messages)


def test_a_topic_through_spark_equals_the_topic(real_broker, spark_with_kafka, tmp_path):  # noqa: F811
    home, jars = spark_with_kafka
    path = os.pathsep.join([str(home), *(each for each in sys.path if each)])
    environment = {**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable}
    real_broker.create("clicks", 3)
    for before, sent in ((0, 1_500), (1_500, 2_000)):  # the second life goes on where the first one ended
        send(real_broker, before, sent)
        command = [sys.executable, "-c", QUERY, real_broker.servers, str(jars), str(tmp_path)]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=500, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        found = ss.load(tmp_path / "clicks.sieve")
        assert found.n_samples_seen_ == sent
    one = ss.run(KafkaSource("clicks", servers=real_broker.servers, target="y"), ss.Screen("f", k=2))
    assert one.n_samples_seen_ == 2_000
    np.testing.assert_allclose(found.scores_, one.scores_, rtol=0, atol=1e-12 * one.scores_.max())
    assert found.get_feature_names_out().tolist() == ["b", "c"]
    (span,) = found._covered_.spans
    assert span.low == 0
    assert span.high >= 5  # micro-batches of at most 400 messages
