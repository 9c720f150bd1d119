"""The picture of the terminal shows what the command prints today."""

import pytest

from tools import pictures

pytestmark = pytest.mark.full


def without_times(picture):
    return [line for line in picture.splitlines() if " columns in " not in line]


def test_the_terminal_is_that_of_today():
    written = (pictures.IMAGES / "terminal.svg").read_text()
    assert without_times(pictures.terminal()) == without_times(written), "run: make docs-images"
