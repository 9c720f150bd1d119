"""What all tests share."""

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


@pytest.fixture(scope="session")
def data_dir():
    """Folder of real data sets; a test that asks for it is skipped, aloud, where there is none."""
    return real_data.folder()
