"""A fitted selector inside another one, on its way to a file and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from streamsieve.base import Selector
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays
from streamsieve.state import expect, pack, register, under, unpack

S = TypeVar("S", bound=Selector)


@register
class NestedSelector:
    """What a selector has learnt; its class and parameters are those of its owner.

    Parameters
    ----------
    learnt : attributes by name
    """

    def __init__(self, learnt: Mapping[str, Any]) -> None:
        self._learnt = learnt

    @classmethod
    def of(cls, selector: Selector) -> Self:
        """Take what a selector has learnt."""
        return cls(selector._learnt())  # noqa: SLF001 - part of the same library

    def revived(self, selector: S, what: str) -> S:
        """Return a fresh selector, which now knows what was learnt."""
        selector._restore(self._learnt, what)  # noqa: SLF001
        return selector

    def state(self) -> Arrays:
        """Return the attributes: those that are no arrays as text."""
        plain, arrays = pack(self._learnt)
        text = np.frombuffer(json.dumps(plain, sort_keys=True).encode(), np.uint8)
        return {"attributes": text, **{f"learnt/{name}": array for name, array in arrays.items()}}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Read the attributes; :meth:`revived` makes a selector of them."""
        text = expect(arrays, "attributes", np.uint8, (None,)).tobytes()
        if any(name != "attributes" and not name.startswith("learnt/") for name in arrays):
            raise StateError("the state of a selector inside another one holds more than it has learnt")
        try:
            return cls(unpack(json.loads(text), under("learnt", arrays)))
        except StateError:
            raise
        except (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError) as error:
            raise StateError(f"the state of a selector inside another one does not fit: {error}") from error
