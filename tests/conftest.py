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
    """Order files so that two processes, which take them in turn, seldom compile the same kernel at a time.

    Neighbours in the alphabet need the same kernels, so the second half is shuffled among the first as cards
    are.  What goes over all selectors comes last, when most is in the cache; there every second file goes
    from the last selector to the first, so that two processes meet half way.
    """
    by_file = {}
    for item in items:
        by_file.setdefault(item.nodeid.partition("::")[0], []).append(item)
    late = [name for name in by_file if "contract" in name]
    files = [some for name, some in by_file.items() if name not in late]
    half = (len(files) + 1) // 2
    pairs = itertools.zip_longest(files[:half], files[half:], fillvalue=[])
    last = [by_file[name][:: -1 if place % 2 else 1] for place, name in enumerate(late)]
    ordered = [*itertools.chain.from_iterable(pairs), *last]
    items[:] = itertools.chain.from_iterable(ordered)


@pytest.fixture(scope="session")
def data_dir():
    """Folder of real data sets; a test that asks for it is skipped, aloud, where there is none."""
    return real_data.folder()
