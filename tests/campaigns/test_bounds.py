"""Kernels that follow indices, compiled with bounds checks: no index is out of range, even under attack.

Compiling takes about a minute, so this is a slice: the kernels of sparse rows, of contingency tables and of
grafting.  All of them: ``python -m campaigns --bounds-check``.
"""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.full

KERNELS = [
    f"tests/kernels/test_{name}.py"
    for name in (
        "sparse_indices", "moments_sparse", "quantiles_sparse", "contingency", "grafting", "tables_search",
        "sketch",
    )
]  # fmt: skip
SUBJECTS = r"^(FastOSFS\(.*g2|Grafting\(\)|Screen\(.*(mutual_info|'f'))"
#: A kernel that is handed a column number beyond its columns, which the border would have refused.
BAD_INDEX = """
import numpy as np
from streamsieve._kernels.moments_sparse import update
column, table = np.array([10**6], np.int32), np.zeros((1, 2, 4))
update(np.array([0, 1]), column, np.ones(1), np.zeros(1, np.int64), np.ones(1), False, table)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Run Python with bounds checks, and with a cache of its own: Numba's would not tell the two apart."""
    folder = tmp_path_factory.mktemp("bounds-checked")
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(folder)}

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False
        )

    return run


def test_the_checks_are_on(python):
    assert "IndexError: index is out of bounds" in python("-c", BAD_INDEX).stderr


def test_the_kernels_own_tests_pass(python):
    done = python("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *KERNELS)
    assert done.returncode == 0, done.stdout[-2_000:]


@pytest.mark.parametrize("campaign", ["states", "sparse"])
def test_a_slice_of_a_campaign_finds_nothing(python, campaign):
    done = python(
        "-m", "campaigns", campaign, "--bounds-check", "--minutes", "10", "--cases", "200", "--only", SUBJECTS
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "200 tried" in done.stdout
