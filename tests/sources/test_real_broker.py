"""Where a real broker cannot be started, its tests are skipped, and say why."""

import tempfile

import pytest

from tests.sources.real_broker import missing


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A folder that alone holds programs, and one for what was fetched before, which is empty."""
    programs, fetched = tmp_path / "programs", tmp_path / "fetched"
    programs.mkdir()
    fetched.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(tempfile, "tempdir", str(fetched))
    return programs


def test_programs_that_are_not_there_are_named(path):
    assert missing() == "no real Kafka broker: java and mvn not found"


def test_libraries_that_cannot_be_fetched_are_no_error(path):
    for name in ("java", "mvn"):
        (path / name).write_text("#!/bin/sh\nexit 1\n")
        (path / name).chmod(0o755)
    assert missing().startswith("no real Kafka broker: its libraries could not be fetched: ")
