"""Every example of the gallery runs to its picture."""

import runpy
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
EXAMPLES = sorted(GALLERY.glob("plot_*.py"))


def test_there_are_enough():
    assert len(EXAMPLES) >= 12
    assert (GALLERY.parents[1] / "docs" / "index.md").read_text().count("Fourteen worked examples") == 1
    assert len(EXAMPLES) == 14


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_to_its_picture(example, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    shown = []
    plt.switch_backend("agg")
    monkeypatch.chdir(GALLERY)
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gcf().axes))
    try:
        with plt.rc_context():
            runpy.run_path(str(example))
    finally:
        plt.close("all")
    assert shown
    assert all(shown), "the example shows no picture"
