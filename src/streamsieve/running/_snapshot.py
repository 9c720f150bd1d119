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


class Copies:
    """Room for one copy of a state, used again and again: memory is slow when it is touched first."""

    def __init__(self) -> None:
        self._room = np.empty(0, np.uint8)

    def of(self, arrays: Arrays) -> Arrays:
        """Return copies of all arrays, which are emptied out of the dictionary; earlier copies are lost.

        Each array is let go once it is copied: some were made for us alone, and are large.
        """
        need = sum(_aligned(array.nbytes) for array in arrays.values())
        if need > len(self._room):
            self._room = np.empty(0, np.uint8)  # lets go of the old room before there is a new one
            self._room = np.empty(need + need // 4, np.uint8)
        copies: Arrays = {}
        place = 0
        while arrays:
            name, array = arrays.popitem()
            room = self._room[place : place + array.nbytes]
            copies[name] = room.view(array.dtype).reshape(array.shape)
            copies[name][...] = array
            place += _aligned(array.nbytes)
        return copies


def _aligned(n_bytes: int) -> int:
    """Round up to whole cache lines, so that every copy begins where its type may begin."""
    return -(-n_bytes // 64) * 64
