"""Rows whose features are known by name, on their way into a selector."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._validation import bad_value, check_target, refuse_infinite
from streamsieve.exceptions import BadValueError, InputTypeError, TargetError
from streamsieve.protocols import FloatArray, Matrix, Traits


class Anyone:
    """Stands in for a selector where scikit-learn's validation wants one but must not remember names."""

    traits = Traits(missing=True, weights=True)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags  # noqa: PLC0415

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))


def dict_row(x: Any) -> tuple[list[str], FloatArray]:
    """Return the names and values of a row given as ``{feature: value}``."""
    if not isinstance(x, Mapping):
        raise InputTypeError(
            f"learn_one takes a row as {{feature: value}}, got a {type(x).__name__}: "
            "use partial_fit for arrays"
        )
    return [str(name) for name in x], np.array(
        [_number(name, value) for name, value in x.items()], np.float64
    )


def _number(name: Any, value: Any) -> float:
    """Return a value of a dict row as a number; None is a missing one."""
    try:
        if not isinstance(value, str):
            return math.nan if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputTypeError(f"feature {name!r} holds {value!r}, but a number is wanted: encode text first")


def one_target(y: Any, kind: str) -> npt.NDArray[Any]:
    """Return the target of one row as an array of one."""
    # an array is known for what it is at once; anything else may be a series of any library
    if isinstance(y, (int, float, str, np.generic)):
        return check_target(np.array([y]), 1, kind)
    if y is None or np.ndim(y) != 0:
        raise TargetError(f"learn_one takes one label or number for y, got {y!r}")
    return check_target([y], 1, kind)


def refuse_infinite_named(X: Matrix, names: list[str]) -> None:
    """Refuse infinities under the name they came with, before they are added to another's value."""
    try:
        refuse_infinite(X)
    except BadValueError as error:
        raise bad_value(error.feature, error.value, names) from error
