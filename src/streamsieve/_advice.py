"""Advice in errors, in the terms of the interface in use: Python or the command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_shell = False


@contextmanager
def command_line() -> Iterator[None]:
    """Context manager in which advice names options of the command line."""
    global _shell  # noqa: PLW0603 - a process has one command line
    before, _shell = _shell, True
    try:
        yield
    finally:
        _shell = before


def by_interface(python: str, option: str) -> str:
    """Return one of two texts: for Python, or for the command line."""
    return option if _shell else python


def as_argument(name: str, value: int | str | Sequence[str]) -> str:
    """Return a parameter as it is written: ``na=['?']`` in Python, ``--na '?'`` on the command line."""
    values = [value] if isinstance(value, int | str) else list(value)
    if name == "exclude":  # its value is a list with commas
        values = [",".join(f'"{each}"' if "," in str(each) else str(each) for each in values)]
    if name == "na":
        values = [f'"{each}"' if "," in str(each) else each for each in values]
    option = f"--{name.replace('_', '-')}"
    return by_interface(f"{name}={value!r}", " ".join(f"{option} {_quoted(str(each))}" for each in values))


def _quoted(value: str) -> str:
    """Quote a value for the shell; bare punctuation is quoted as well, to stand out in a sentence."""
    plain = any(map(str.isalnum, value)) or "'" in value
    return shlex.quote(value) if plain else f"'{value}'"
