"""The picture of the terminal shows what the command prints today."""

import pytest

from tools import pictures

pytestmark = pytest.mark.full


def without_times(picture):
    """Return the lines but the one with the time, and the first, which says how wide that one is."""
    return [line for line in picture.splitlines()[1:] if " columns in " not in line]


def test_the_terminal_is_that_of_today():
    written = (pictures.IMAGES / "terminal.svg").read_text()
    assert without_times(pictures.terminal()) == without_times(written), "run: make docs-images"
