"""What the tests of runs share."""

import pytest


@pytest.fixture
def path(tmp_path):
    """Where a run keeps its checkpoint."""
    return tmp_path / "run.sieve"
