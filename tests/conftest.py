"""What all tests share."""

import atexit
import gc
import signal
import sys
from importlib.util import find_spec

import pytest
from hypothesis import settings

from streamsieve import registry
from tests import real_data
from tests.helpers import tier
from tests.helpers.spark import classic, connect, connect_address, spark  # noqa: F401 - fixtures

# A job in the background of a shell ignores Ctrl-C, and so do its children: then nothing tests it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: river needs a newer SciPy than the oldest that is supported (`make test-lowest`).
collect_ignore = (
    [] if find_spec("river") else ["adapters/test_river.py", "evaluation/test_wrong_arguments.py"]
)

#: Folders that test what is outside of the package; they belong to the full tier.
OUTSIDE = ("tests/benchmarks", "tests/studies", "tests/examples")

#: Two minutes in all, and late in the order: they begin, so that no worker waits for another at the end.
LONG = "tests/studies/test_calibration.py"

#: Contracts choose among variants themselves.
CONTRACTS = ("tests/contract/test_contracts.py::", "tests/learners/test_contracts.py::test_contract")
#: Checks of scikit-learn look at the face of an estimator, which the classes of an axis inherit.
FACES = ("tests/contract/test_sklearn.py::", "tests/learners/test_contracts.py::test_estimator")
#: Checks of scikit-learn that compile the kernels of every selector again, for read-only arrays.
COMPILES_AGAIN = "readonly_memmap"
#: Cases of one test in the quick tier, and classes of an axis on which each check of scikit-learn runs.
MOST_CASES, MOST_CLASSES = 2, 3


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="all variants, all seeds, all folders")


def pytest_configure(config):
    config.addinivalue_line("markers", "full: costs more than a contributor should wait for; needs --full")
    tier.FULL = config.getoption("--full")
    # Machines differ in speed and a failure must come back: no deadline, no randomness from run to run.
    settings.register_profile("streamsieve", deadline=None, derandomize=True, max_examples=tier.cases(100))
    settings.load_profile("streamsieve")
    # Numba allocates millions of objects per kernel: at the default, every fifth second of compiling is spent
    # looking for garbage among them.
    gc.set_threshold(100_000, 20, 100)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect with the garbage collector at rest, and spare it the many items, which live to the end."""
    atexit.register(gc.unfreeze)  # libraries that count their objects would report the frozen ones as leaks
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path, config):
    """Import no test of what is outside of the package in the quick tier."""
    outside = collection_path.is_relative_to
    return True if not tier.FULL and any(outside(config.rootpath / folder) for folder in OUTSIDE) else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for examples in docstrings of the package, not of its tests."""
    return [each for each in (yield) if type(each) is pytest.Module]


@pytest.hookimpl(tryfirst=True)  # what is left out need not be put in order
def pytest_collection_modifyitems(config, items):
    """Leave out what belongs to the full tier, and of large products of parameters all but some."""
    if used := sorted(_used_kernels()):
        raise pytest.UsageError(f"kernels ran while tests were collected, in every worker: {', '.join(used)}")
    if tier.FULL:
        items.sort(key=lambda item: not item.nodeid.startswith(LONG))
        return
    left_out = {id(item) for item in items if item.get_closest_marker("full")} | set(_thinned(items))
    config.hook.pytest_deselected(items=[item for item in items if id(item) in left_out])
    items[:] = [item for item in items if id(item) not in left_out]


def _used_kernels():
    """Yield the compiled functions that have run so far."""
    for name, module in [*sys.modules.items()]:
        if name.startswith("streamsieve._kernels."):
            yield from (f"{name}.{own}" for own, it in vars(module).items() if getattr(it, "signatures", ()))


def _thinned(items):
    """Yield the ids of items to leave out: the first and the last case of each test stay.

    Checks of scikit-learn stay on some classes of each axis, those that compile again on some of all.
    """
    by_test, by_check = {}, {}
    for item in items:
        test, _, case = item.nodeid.partition("[")
        if test.startswith(FACES):
            check = case.rpartition("-check_")[2]
            axis = None if COMPILES_AGAIN in check else registry.axis(type(item.callspec.params["estimator"]))
            by_check.setdefault((test, axis, check), []).append(item)
        elif not item.nodeid.startswith(CONTRACTS):
            by_test.setdefault(test, []).append(item)
    for groups, most in ((by_test, MOST_CASES), (by_check, MOST_CLASSES)):
        for cases in groups.values():
            stay = set(map(id, tier.spread(cases, most)))
            yield from (id(item) for item in cases if id(item) not in stay)


@pytest.fixture(scope="session")
def data_dir():
    """Folder of real data sets; a test that asks for it is skipped, aloud, where there is none."""
    return real_data.folder()
