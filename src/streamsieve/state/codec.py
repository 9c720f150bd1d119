"""Parameters as JSON: numbers, text, lists, registered value objects, and estimators by their parameters."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from streamsieve.exceptions import StateError
from streamsieve.state.registry import lookup, registered_name

#: Levels of objects within objects; honest parameters have three at most.
DEEPEST = 12


def encode(name: str, value: Any) -> Any:
    """Turn a parameter into JSON; a function is left out, and its owner says what that means."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [encode(name, item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        inside = {field.name: encode(field.name, getattr(value, field.name)) for field in fields(value)}
        return {"$object": _registered(name, value), "fields": inside}
    if hasattr(value, "get_params") and not isinstance(value, type):
        parameters = {key: encode(key, item) for key, item in value.get_params(deep=False).items()}
        return {"$estimator": _registered(name, value), "parameters": parameters}
    if inspect.isroutine(value):
        return None
    raise StateError(f"{name}={value!r} cannot be saved; numbers, text and registered objects can")


def decode(value: Any, depth: int = 0) -> Any:
    """Undo :func:`encode`; only registered classes are ever called."""
    if depth > DEEPEST:
        raise StateError("the state holds objects within objects, deeper than there are any")
    for tag, inside in (("$object", "fields"), ("$estimator", "parameters")):
        if isinstance(value, dict) and tag in value:
            kind = lookup(value[tag])
            if (tag == "$object") is not is_dataclass(kind):
                raise StateError(f"the state names {value[tag]} as a parameter, which it cannot be")
            arguments = {key: decode(item, depth + 1) for key, item in value[inside].items()}
            try:
                return kind(**arguments)
            except (TypeError, ValueError) as error:
                raise StateError(f"the state's {kind.__name__} does not fit this version") from error
    if isinstance(value, list):
        return [decode(item, depth + 1) for item in value]
    return value


def _registered(name: str, value: Any) -> str:
    try:
        return registered_name(value)
    except StateError as error:
        raise StateError(
            f"{name} is a {type(value).__name__}, which is not registered with streamsieve.state"
        ) from error
