"""Checks of constructor parameters, with errors that name the parameter, its range and the value."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable
from typing import Any, TypeVar

from streamsieve.exceptions import ParameterError

V = TypeVar("V")
#: Characters of a value that an error shows.
SHOWN = 200


def brief(value: Any) -> str:
    """Return a value as an error shows it, shortened where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write whole numbers of thousands of digits
        return f"a very large {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 20]}...{text[-17:]}"


def check_choice(name: str, value: V, choices: Iterable[V]) -> V:
    """Return a parameter that is one of the choices; otherwise raise with the choices and the nearest one."""
    choices = tuple(choices)
    try:
        if hash(value) is not None and value in choices:  # an array has no hash, and more than one truth
            return value
    except TypeError:
        pass
    got = f"got {brief(value)}{did_you_mean(value, choices)}"
    raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}; {got}")


def check_number(
    name: str,
    value: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    open_low: bool = False,
    open_high: bool = False,
    integer: bool = False,
) -> None:
    """Raise ``ParameterError`` unless a parameter is a number in its range."""
    kind = numbers.Integral if integer else numbers.Real
    # SciPy's functions take no fractions or longdoubles; importing NumPy would slow the command line's start
    usual = isinstance(value, (int, float)) or hasattr(value, "dtype")
    is_number: bool = isinstance(value, kind) and usual and type(value).__name__ not in ("bool", "longdouble")
    try:
        is_number = is_number and math.isfinite(value)
    except OverflowError:  # a whole number beyond any float
        is_number = False
    number = float(value) if is_number and not integer else value  # bounds may be infinite in few bits
    inside = (
        is_number
        and (low is None or (number > low if open_low else number >= low))
        and (high is None or (number < high if open_high else number <= high))
    )
    if not inside:
        left = "" if low is None else f" {'above' if open_low else 'at least'} {low:g}"
        right = "" if high is None else f" {'below' if open_high else 'at most'} {high:g}"
        joint = " and" if left and right else ""
        what = "a whole number" if integer else "a number"
        raise ParameterError(f"{name} must be {what}{left}{joint}{right}; got {brief(value)}")


def did_you_mean(value: Any, known: Iterable[Any]) -> str:
    """Return "; did you mean 'x'?" if a known name has a similar spelling, else ""."""
    given = str(value) if isinstance(value, str) else brief(value)
    names = [str(k) for k in known]
    near = [name for name in names if name.casefold() == given.casefold()]
    near = near or difflib.get_close_matches(given, names, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
