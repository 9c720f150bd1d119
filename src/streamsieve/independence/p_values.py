"""Methods of computing p-values, and which of them each test has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamsieve._parameters import check_choice
from streamsieve.exceptions import ParameterError

#: Values of the parameter ``p_value`` of selectors.
CHOICES = ("auto", "confirmed", "t", "z", "moments", "chi2")
#: Methods for tests of correlation; "auto" means the first.
OF_CORRELATIONS = ("confirmed", "t", "z")
#: Methods for tests over contingency tables; "auto" means the first.
OF_TABLES = ("moments", "chi2")


def resolve_auto(p_value: str, methods: Sequence[str]) -> str:
    """Return the method that a test uses: the given one, or the first if it is "auto"."""
    check_choice("p_value", p_value, ("auto", *methods))
    return methods[0] if p_value == "auto" else p_value


def p_value_methods(test: Any) -> tuple[str, ...]:
    """Return the methods that a test uses; a test by column type has one per type."""
    methods = getattr(test, "p_value", "auto")
    return methods if isinstance(methods, tuple) else (methods,)


def check_p_value(p_value: str, name: str, part: Any, *, tables: bool = True) -> None:
    """Refuse a method that the measure or test of a selector (parameter ``name``) does not have.

    ``tables``: whether discretized columns are tested.  Objects and other measures have only their own.
    """
    methods: Sequence[str] = ()
    if part == "auto":
        methods = (*OF_CORRELATIONS, *OF_TABLES)
    elif part == "fisher_z":
        methods = OF_CORRELATIONS
    elif tables and isinstance(part, str) and part != "basis":
        methods = OF_TABLES
    if p_value not in ("auto", *methods):
        fitting = " or ".join(f"p_value={method!r}" for method in ("auto", *methods))
        raise ParameterError(f"p_value={p_value!r} is not available for {name}={part!r}: use {fitting}")
