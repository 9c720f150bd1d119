"""What all tests share."""

import signal

import pytest
from hypothesis import settings

from tests import real_data
from tests.helpers import tier

# Machines differ in speed and a failure must come back: no deadline, no randomness from run to run.
settings.register_profile("streamsieve", deadline=None, derandomize=True)
settings.load_profile("streamsieve")


# A job in the background of a shell ignores Ctrl-C, and so do its children: then nothing tests it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


#: Folders that test what is outside of the package; they belong to the full tier.
OUTSIDE = ("tests/benchmarks/", "tests/studies/", "tests/examples/")


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="all variants, all seeds, all folders")


def pytest_configure(config):
    config.addinivalue_line("markers", "full: costs more than a contributor should wait for; needs --full")
    tier.FULL = config.getoption("--full")


def pytest_collection_modifyitems(config, items):
    """Leave out what belongs to the full tier."""
    if config.getoption("--full"):
        return
    late = [item for item in items if item.get_closest_marker("full") or item.nodeid.startswith(OUTSIDE)]
    if late:
        config.hook.pytest_deselected(items=late)
        left_out = {id(item) for item in late}
        items[:] = [item for item in items if id(item) not in left_out]


@pytest.fixture(scope="session")
def data_dir():
    """Folder of real data sets; a test that asks for it is skipped, aloud, where there is none."""
    return real_data.folder()
