"""``kill -9`` at random moments of a run over Kafka: no row is lost, none is counted twice.

A short version runs always.  The full one, 50 kills, is asked for by
``STREAMSIEVE_FAULTS=full pytest tests/sources/test_kafka_kill.py``.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sources.kafka_killing import PARTITIONS, ROWS_A_LIFE, messages

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]
FULL = os.environ.get("STREAMSIEVE_FAULTS") == "full"
KILLS, CHECKPOINTS = (50, 250) if FULL else (5, 20)


def test_a_run_that_is_killed_again_and_again_equals_one_that_is_not(broker, tmp_path):
    broker.create("kill", PARTITIONS)
    broker.send("kill", messages(KILLS))
    command = [
        sys.executable, "-m", "tests.sources.kafka_killing", str(tmp_path), broker.servers, "kill", str(KILLS)
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=3_600)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    print(report)
    assert report["kills"] == KILLS
    assert report["checkpoints"] >= CHECKPOINTS
    assert report["resumed"] >= KILLS // 2
    assert report["rows"] == report["expected_rows"] == KILLS * ROWS_A_LIFE + 17
    assert report["same"]
