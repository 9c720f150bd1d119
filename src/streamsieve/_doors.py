"""The door that a caller came by, Python or the command line, so that advice is given in its terms."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_shell = False


@contextmanager
def command_line() -> Iterator[None]:
    """Context: advice names options of the command line."""
    global _shell  # noqa: PLW0603 - a process has one command line
    before, _shell = _shell, True
    try:
        yield
    finally:
        _shell = before


def way(python: str, option: str) -> str:
    """Return the way out of an error, as written in Python or on the command line."""
    return option if _shell else python


def given(name: str, value: int | str | Sequence[str]) -> str:
    """Return how to give a parameter: ``na=['?']`` in Python, ``--na '?'`` on the command line."""
    values = [value] if isinstance(value, int | str) else list(value)
    if name == "exclude":  # its value is a list with commas
        values = [",".join(f'"{each}"' if "," in str(each) else str(each) for each in values)]
    option = f"--{name.replace('_', '-')}"
    return way(f"{name}={value!r}", " ".join(f"{option} {_quoted(str(each))}" for each in values))


def _quoted(value: str) -> str:
    """Return a value as the shell takes it; bare punctuation is quoted, to stand out in a sentence."""
    plain = any(map(str.isalnum, value)) or "'" in value
    return shlex.quote(value) if plain else f"'{value}'"
