"""What the tests of sources share."""

import sys

import pytest


@pytest.fixture(scope="session")
def broker():
    """One Kafka cluster for all tests that do not harm it."""
    if sys.platform != "linux":
        pytest.skip("the mock cluster is found through /proc")
    from tests.sources.mock_broker import MockBroker

    found = MockBroker()
    yield found
    found.close()
