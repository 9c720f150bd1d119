"""``kill -9`` at random moments costs nothing: no row is lost, none is counted twice.

A short version runs always.  The full one, 200 kills, is asked for by
``STREAMSIEVE_FAULTS=full pytest tests/running/test_kill.py``.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running.killing import SELECTORS

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]
FULL = os.environ.get("STREAMSIEVE_FAULTS") == "full"
KILLS, CHECKPOINTS = (200, 1_000) if FULL else (6, 25)


@pytest.mark.parametrize("scenario", SELECTORS)
def test_a_run_that_is_killed_again_and_again_equals_one_that_is_not(tmp_path, scenario):
    command = [sys.executable, "-m", "tests.running.killing", str(tmp_path), scenario, str(KILLS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=3_600)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    print(report)
    assert report["kills"] == KILLS
    assert report["checkpoints"] >= CHECKPOINTS
    assert report["resumed"] >= KILLS // 2
    assert report["rows"] == report["expected_rows"] > 0
    assert report["same"]
