"""Every example of the gallery runs to its picture."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
EXAMPLES = sorted(GALLERY.glob("plot_*.py"))
RUN = """
import runpy, sys
import matplotlib.pyplot as plt
shown = []
plt.show = lambda: shown.append(plt.gcf().axes)
runpy.run_path(sys.argv[1])
assert shown and all(shown), "the example shows no picture"
"""


def test_there_are_enough():
    assert len(EXAMPLES) >= 12
    assert (GALLERY.parents[1] / "docs" / "index.md").read_text().count("Fourteen worked examples") == 1
    assert len(EXAMPLES) == 14


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_to_its_picture(example):
    quiet = {**os.environ, "MPLBACKEND": "agg"}
    command = [sys.executable, "-c", RUN, str(example)]
    done = subprocess.run(
        command, cwd=GALLERY, env=quiet, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
