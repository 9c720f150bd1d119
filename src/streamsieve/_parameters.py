"""Checks of constructor parameters, with errors that name the parameter, its range and the value."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable
from typing import Any, TypeVar

from streamsieve.exceptions import ParameterError

V = TypeVar("V")


def check_choice(name: str, value: V, choices: Iterable[V]) -> V:
    """Return a parameter that is one of the choices; otherwise raise with the choices and the nearest one."""
    choices = tuple(choices)
    try:
        if hash(value) is not None and value in choices:  # an array has no hash, and more than one truth
            return value
    except TypeError:
        pass
    raise ParameterError(
        f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}{did_you_mean(value, choices)}"
    )


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
    is_number: bool = isinstance(value, kind) and not isinstance(value, bool)
    is_number = is_number and math.isfinite(value)
    inside = (
        is_number
        and (low is None or (value > low if open_low else value >= low))
        and (high is None or (value < high if open_high else value <= high))
    )
    if not inside:
        left = "" if low is None else f" {'above' if open_low else 'at least'} {low:g}"
        right = "" if high is None else f" {'below' if open_high else 'at most'} {high:g}"
        joint = " and" if left and right else ""
        what = "a whole number" if integer else "a number"
        raise ParameterError(f"{name} must be {what}{left}{joint}{right}; got {value!r}")


def did_you_mean(value: Any, known: Iterable[Any]) -> str:
    """Return "; did you mean 'x'?" if a known name has a similar spelling, else ""."""
    near = difflib.get_close_matches(str(value), [str(k) for k in known], n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
