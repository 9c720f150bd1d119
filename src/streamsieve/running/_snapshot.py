"""What a selector knows at one moment, while the stream goes on."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve import state
from streamsieve.base import RowSelector
from streamsieve.protocols import Arrays


class Snapshots:
    """Takes the state of a selector again and again.

    Names of features are turned into bytes once: there may be millions of them, and they do not change.
    """

    def __init__(self, selector: RowSelector) -> None:
        self._selector = selector
        self._names: dict[str, tuple[Any, tuple[dict[str, Any], Arrays]]] = {}

    def take(self) -> tuple[dict[str, Any], Arrays]:
        """Return header and arrays as :meth:`Selector.save` writes them; the arrays may be live ones."""
        selector = self._selector
        plain: dict[str, Any] = {}
        arrays: Arrays = {}
        for name, value in selector._learnt().items():  # noqa: SLF001 - part of the same library
            some_plain, some_arrays = self._packed(name, value)
            plain |= some_plain
            arrays |= some_arrays
        parameters = selector.get_params(deep=False)
        header = {
            "class": type(selector).__name__,
            "parameters": {name: state.encode(name, value) for name, value in parameters.items()},
            "attributes": plain,
        }
        return header, arrays

    def _packed(self, name: str, value: Any) -> tuple[dict[str, Any], Arrays]:
        if not isinstance(value, np.ndarray) or value.dtype != object:
            return state.pack({name: value})
        known = self._names.get(name)
        if known is None or known[0] is not value:
            known = self._names[name] = value, state.pack({name: value})
        return known[1]


def copied(arrays: Arrays) -> Arrays:
    """Return copies, letting go of each array once it is copied: some were made for us alone."""
    copies: Arrays = {}
    while arrays:
        name, array = arrays.popitem()
        copies[name] = np.array(array, order="C")
    return copies
