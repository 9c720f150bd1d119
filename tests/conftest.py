"""What all tests share."""

import itertools
import signal

import pytest
from hypothesis import settings

from tests import real_data

# Machines differ in speed and a failure must come back: no deadline, no randomness from run to run.
settings.register_profile("streamsieve", deadline=None, derandomize=True)
settings.load_profile("streamsieve")


# A job in the background of a shell ignores Ctrl-C, and so do its children: then nothing tests it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Shuffle the files of the second half among those of the first, as cards are.

    Two processes take files in turn.  Neighbours in the alphabet need the same kernels, and both processes
    would compile them at the same time; from far apart, each finds in the cache what the other compiled.
    """
    by_file = {}
    for item in items:
        by_file.setdefault(item.nodeid.partition("::")[0], []).append(item)
    files = list(by_file.values())
    half = (len(files) + 1) // 2
    pairs = itertools.zip_longest(files[:half], files[half:], fillvalue=[])
    items[:] = [item for pair in pairs for file in pair for item in file]


@pytest.fixture(scope="session")
def data_dir():
    """Folder of real data sets; a test that asks for it is skipped, aloud, where there is none."""
    return real_data.folder()
