"""The ways to compute a p-value, and which of them a test has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamsieve._parameters import check_choice
from streamsieve.exceptions import ParameterError

#: What ``p_value`` of a selector may be.
CHOICES = ("auto", "confirmed", "t", "z", "moments", "chi2")
#: Ways of the tests of correlation; "auto" is the first.
OF_CORRELATIONS = ("confirmed", "t", "z")
#: Ways of the tests over contingency tables; "auto" is the first.
OF_TABLES = ("moments", "chi2")


def chosen(p_value: str, ways: Sequence[str]) -> str:
    """Return the way that a test takes: the given one, or for "auto" the first."""
    check_choice("p_value", p_value, ("auto", *ways))
    return ways[0] if p_value == "auto" else p_value


def check_p_value(p_value: str, name: str, part: Any, *, tables: bool = True) -> None:
    """Refuse a way that the measure or test of a selector (parameter ``name``) does not have.

    ``tables``: whether discretized columns are tested; objects and other measures have one way, their own.
    """
    ways: Sequence[str] = ()
    if part == "auto":
        ways = (*OF_CORRELATIONS, *OF_TABLES)
    elif part == "fisher_z":
        ways = OF_CORRELATIONS
    elif tables and isinstance(part, str) and part != "basis":
        ways = OF_TABLES
    if p_value not in ("auto", *ways):
        fitting = " or ".join(f"p_value={way!r}" for way in ("auto", *ways))
        raise ParameterError(f"p_value={p_value!r} is not available for {name}={part!r}: use {fitting}")
