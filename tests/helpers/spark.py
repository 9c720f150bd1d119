"""Real Spark sessions, started once: classic in this process, Connect beside it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "300",
    "spark.log.level": "OFF",
}


def spark_is_there():
    """Skip, aloud, where Spark cannot run."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'streamsieve[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17, and there is no java on the PATH")


@pytest.fixture(scope="session")
def classic():
    """A classic session."""
    spark_is_there()
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    for name, value in OPTIONS.items():
        builder = builder.config(name, value)
    on_interrupt = signal.getsignal(signal.SIGINT)
    session = builder.getOrCreate()
    signal.signal(signal.SIGINT, on_interrupt)  # Spark's would outlive it, in other tests
    yield session
    session.stop()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


@pytest.fixture(scope="session")
def connect_address():
    """Address of a server of Spark Connect, a process of its own."""
    spark_is_there()
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio: pip install 'pyspark[connect]'")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {**OPTIONS, "spark.connect.grpc.binding.port": (port := free_port())}
    conf = [part for item in options.items() for part in ("--conf", "=".join(item))]
    submit = str(Path(sys.modules["pyspark"].__file__).parent / "bin" / "spark-submit")
    kind = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([submit, "--master", "local[2]", *conf, *kind], **quiet)
    yield f"sc://localhost:{port}"
    server.terminate()
    server.wait(60)


@pytest.fixture(scope="session")
def connect(connect_address):
    """A session of Spark Connect."""
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(connect_address).getOrCreate()
    yield session
    with suppress(Exception):
        session.stop()


@pytest.fixture(params=["classic", "connect"])
def spark(request):
    """Both kinds of sessions."""
    return request.getfixturevalue(request.param)
