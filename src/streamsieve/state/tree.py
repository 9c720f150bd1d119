"""A state as a tree of arrays, and places in it for error messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import StateError, StreamSieveError
from streamsieve.protocols import Arrays

#: Arrays at the leaves, one level of names per nested part.
Node: TypeAlias = "npt.NDArray[Any] | dict[str, Node]"

#: Largest size that a state may claim without an array of that size.
UNPROVEN = 2**16


class Size:
    """The size of a dimension: unknown, claimed by an empty array, or proven by values."""

    __slots__ = ("name", "proven", "value")

    def __init__(self, name: str) -> None:
        self.name, self.value, self.proven = name, -1, False


class Place:
    """A place in a state: its path, and the sizes of dimensions known there."""

    def __init__(
        self, path: str = "", sizes: dict[str, Size] | None = None, every: list[Size] | None = None
    ) -> None:
        self.path = path
        self.sizes: dict[str, Size] = {} if sizes is None else sizes
        self.every: list[Size] = [] if every is None else every

    def at(self, name: str) -> Place:
        """Return the place of a field of the same part."""
        return Place(f"{self.path}/{name}" if self.path else name, self.sizes, self.every)

    def within(self, shares: Iterable[str]) -> Place:
        """Return the same place as the root of a nested part that shares some sizes with its owner."""
        return Place(self.path, {symbol: self.size(symbol) for symbol in shares}, self.every)

    def size(self, symbol: str) -> Size:
        """Return the size of a symbol, unknown at first."""
        if symbol not in self.sizes:
            self.sizes[symbol] = Size(symbol)
            self.every.append(self.sizes[symbol])
        return self.sizes[symbol]

    def fits(self, dimension: int | str, value: int, *, proven: bool) -> bool:
        """Whether a dimension may have this size; a symbol of unknown size gets it."""
        if isinstance(dimension, int):
            return dimension == value
        symbol, _, more = dimension.partition("+")
        size, value = self.size(symbol), value - int(more or 0)
        if size.value < 0:
            size.value = value
        size.proven = size.proven or proven
        return size.value == value >= 0  # an empty array has no "classes+1"

    def refuse(self, why: str) -> NoReturn:
        """Raise the error that names this place."""
        raise StateError(f"the state's {self.path or 'arrays'} {why}")

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Turn any exception of the body into a ``StateError``: an invalid state may raise anything.

        Checks and declarations raise errors of their own; this is for the unforeseen, from the ``ValueError``
        of a constructor to an error of the compiler or a lack of memory.
        """
        try:
            yield
        except StateError:
            raise
        except Exception as error:
            named = isinstance(error, StreamSieveError)  # ours; others may be a single word
            raise StateError(
                f"the state's {self.path or 'arrays'} does not fit: "
                f"{error if named else f'{type(error).__name__}: {error}'}"
            ) from error


def check_sizes(place: Place) -> None:
    """Refuse sizes that no array proves, after the whole state has been read."""
    for size in place.every:
        if not size.proven and size.value > UNPROVEN:
            raise StateError(
                f"the state claims {size.value:,} {size.name}, but no array of that size: nothing is built"
            )


def nested(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, Node]:
    """Return flat names as a tree."""
    root: dict[str, Node] = {}
    for name, array in arrays.items():
        *folders, leaf = name.split("/")
        node: Any = root
        for folder in folders:
            node = node.setdefault(folder, {})
            if not isinstance(node, dict):
                raise StateError(f"the state's {name!r} is inside of an array")
        if leaf in node:
            raise StateError(f"the state holds {name!r} twice")
        node[leaf] = array
    return root


def flat(node: Mapping[str, Node], prefix: str = "") -> Arrays:
    """Undo :func:`nested`."""
    arrays: Arrays = {}
    for name, value in node.items():
        if isinstance(value, dict):
            arrays |= flat(value, f"{prefix}{name}/")
        else:
            arrays[f"{prefix}{name}"] = value
    return arrays


def text(value: str) -> npt.NDArray[np.uint8]:
    """Return a text as an array of bytes."""
    return np.frombuffer(value.encode("utf-8", "surrogatepass"), np.uint8)


def untext(node: Node, place: Place) -> str:
    """Undo :func:`text`."""
    a = leaf(node, place)
    if a.dtype != np.uint8 or a.ndim != 1:
        place.refuse(f"should be a text, but is {a.dtype} of shape {a.shape}")
    try:
        return a.tobytes().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        place.refuse("should be a text, but is not UTF-8")


def pack_texts(texts: list[str]) -> Arrays:
    """Return texts as two arrays: the concatenated bytes, and the end of each text."""
    encoded = [t.encode("utf-8", "surrogatepass") for t in texts]
    ends = np.cumsum([len(t) for t in encoded], dtype=np.int64)
    return {"text": np.frombuffer(b"".join(encoded), np.uint8), "ends": ends}


def unpack_texts(arrays: Mapping[str, Any]) -> list[str]:
    """Undo :func:`pack_texts`."""
    data, ends = arrays["text"].tobytes(), arrays["ends"]
    if (int(ends[-1]) if len(ends) else 0) != len(data):
        raise StateError("the texts end elsewhere than their bytes")
    starts = [0, *ends[:-1].tolist()]
    try:
        return [
            data[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends.tolist(), strict=False)
        ]
    except UnicodeDecodeError as error:
        raise StateError("the bytes are not UTF-8") from error


def leaf(node: Node, place: Place) -> npt.NDArray[Any]:
    """Return a node, which must be a single array."""
    if not isinstance(node, np.ndarray):
        place.refuse("should be one array, but is several")
    return node
