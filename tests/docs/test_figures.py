"""A figure in prose stands in a page of results that is linked, or beside the command that prints it."""

import pytest

from tools.figures import ROOT, pages, unheld


@pytest.mark.parametrize("name", pages())
def test_every_figure_is_held_by_a_file_or_a_command(name):
    assert unheld(ROOT / name) == []


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A function that writes a page beside a page of results, and returns the figures that nothing holds."""
    monkeypatch.setattr("tools.figures.ROOT", tmp_path)
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "SPEED.md").write_text("| ours | 0.8549 | 1,204.4 |\n")

    def written(text):
        (tmp_path / "page.md").write_text(text)
        return [found.figure for found in unheld(tmp_path / "page.md")]

    return written


LINK = "([speed](studies/SPEED.md))"


@pytest.mark.parametrize(
    "text",
    [
        f"It has 85.5 % {LINK}.",  # a rounded share
        f"It takes 1,204 ms {LINK}.",
        "It takes 7 ms (`python -m benchmarks`).",
        "Python 3.11 and 12 columns of `alpha=0.05`.",
        f"# Speed\n\nIt takes 1,204 ms.\n\nAll figures: {LINK}.",
        "```python\nx = 417.25\n```\n",
    ],
)
def test_a_figure_that_is_held(page, text):
    assert page(text) == []


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("It takes 417 ms.", "417 ms"),
        (f"It has 85.4 % {LINK}.", "85.4 %"),
        (f"- One, 85.5 % {LINK}.\n- Two, .33 {LINK}.", ".33"),
        (f"# One\n\nAll figures: {LINK}.\n\n# Two\n\nIt is 1,204.4 ms.", "1,204.4 ms"),
        ("It is 417x faster ([page](other.md)).", "417x"),
    ],
)
def test_a_figure_that_no_file_holds_is_found(page, text, figure):
    assert page(text) == [figure]
