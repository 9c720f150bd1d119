"""What the tests of sources share."""

import sys

import pytest


@pytest.fixture(scope="session")
def real_broker(tmp_path_factory):
    """One Apache Kafka broker for all tests; those that harm it leave it running."""
    from tests.sources.real_broker import RealBroker, missing

    if missing():
        pytest.skip(missing())
    broker = RealBroker(tmp_path_factory.mktemp("kafka"))
    yield broker
    broker.close()


@pytest.fixture(scope="session")
def mock_broker():
    """One mock cluster of librdkafka for all tests that do not harm it."""
    if sys.platform != "linux":
        pytest.skip("the mock cluster is found through /proc")
    from tests.sources.mock_broker import MockBroker

    broker = MockBroker()
    yield broker
    broker.close()


@pytest.fixture(scope="session", params=["mock", pytest.param("real", marks=pytest.mark.full)])
def broker(request):
    """A Kafka cluster: librdkafka's mock, and in the full tier Apache Kafka itself."""
    return request.getfixturevalue(f"{request.param}_broker")
