"""States of parts that have no declaration yet.  Each use of this file is a part still to be declared.

Delete it with the last of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays, Stateful
from streamsieve.state.codec import decode, encode
from streamsieve.state.fields import Field
from streamsieve.state.part import Part
from streamsieve.state.registry import lookup, name_of, registered_name
from streamsieve.state.tree import Node, Place, flat, nested, pack_texts, text, unpack_texts, untext

KIND = "$kind"


class Undeclared(Field):
    """A part that writes and checks its own arrays; ``kinds`` are the classes allowed."""

    def __init__(self, *kinds: type[Any], optional: bool = False) -> None:
        self.kinds, self.optional = {name_of(kind): kind for kind in kinds}, optional

    def write(self, value: Any) -> Node:
        return {**nested(value.state()), KIND: text(registered_name(value))}

    def check(self, node: Node, place: Place) -> None:
        if not isinstance(node, dict) or KIND not in node:
            place.refuse("should be a part with a class")
        name = untext(node[KIND], place.at(KIND))
        if self.kinds and name not in self.kinds:
            place.refuse(f"should be one of {', '.join(self.kinds)}, but is {name[:60]!r}")
        kind = lookup(name)
        if not hasattr(kind, "from_state"):
            place.refuse(f"names {name}, which is not a part of a state")
        if issubclass(kind, Part):
            kind.check_tree({key: value for key, value in node.items() if key != KIND}, place.within(()))

    def read(self, node: Any, path: str) -> Any:
        own = {key: value for key, value in node.items() if key != KIND}
        kind = lookup(untext(node[KIND], Place(path)))
        try:
            return kind.from_tree(own, path) if issubclass(kind, Part) else kind.from_state(flat(own))
        except StateError:
            raise
        except (
            KeyError,
            IndexError,
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
            MemoryError,
        ) as error:
            raise StateError(f"the state's {path} does not fit: {error}") from error


def pack(attributes: Mapping[str, Any]) -> tuple[dict[str, Any], Arrays]:
    """Split attributes into JSON and arrays; :func:`unpack` puts them together again."""
    plain: dict[str, Any] = {}
    arrays: Arrays = {}
    for name, value in attributes.items():
        if isinstance(value, np.ndarray) and value.dtype != object:
            arrays[name] = value
        elif isinstance(value, np.ndarray):
            plain[name] = {"$strings": name}
            arrays |= prefixed(name, pack_texts(value.tolist()))
        elif isinstance(value, Stateful):
            plain[name] = {"$part": registered_name(value)}
            arrays |= prefixed(name, value.state())
        else:
            plain[name] = encode(name, value)
    return plain, arrays


def unpack(plain: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Undo :func:`pack`."""
    attributes: dict[str, Any] = {}
    for name, value in plain.items():
        if isinstance(value, dict) and "$part" in value:
            part = lookup(value["$part"])
            if not hasattr(part, "from_state"):
                raise StateError(f"the state names {part.__name__}, which is not a part of a state")
            attributes[name] = part.from_state(under(name, arrays))
        elif isinstance(value, dict) and "$strings" in value:
            strings = unpack_strings(under(name, arrays))
            attributes[name] = np.array(strings, dtype=object)
        else:
            attributes[name] = decode(value)
    # np.array copies: what was read from a file may be read-only or unaligned
    unknown = [key for key in arrays if "/" in key and key.split("/")[0] not in attributes]
    if unknown:
        raise StateError(f"the state holds an array {unknown[0]!r} that belongs to nothing")
    attributes |= {name: np.array(a) for name, a in arrays.items() if "/" not in name}
    return attributes


def expect(
    arrays: Mapping[str, npt.NDArray[Any]], name: str, dtype: Any, shape: tuple[int | None, ...]
) -> npt.NDArray[Any]:
    """Return an array of a state if it has the type and shape it must have (None: any length)."""
    if name not in arrays:
        raise StateError(f"the state lacks the array {name!r}")
    array = arrays[name]
    fits = len(array.shape) == len(shape) and all(
        want is None or want == have for want, have in zip(shape, array.shape, strict=True)
    )
    if array.dtype != np.dtype(dtype) or not fits:
        raise StateError(
            f"the state's array {name!r} should be {np.dtype(dtype)} of shape {shape}, "
            f"but is {array.dtype} of shape {array.shape}"
        )
    return array


def prefixed(name: str, arrays: Arrays) -> Arrays:
    return {f"{name}/{key}": array for key, array in arrays.items()}


def under(name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    return {key[len(name) + 1 :]: a for key, a in arrays.items() if key.startswith(f"{name}/")}


def unpack_strings(arrays: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    """Texts of a part without a declaration."""
    ends = expect(arrays, "ends", np.int64, (None,))
    expect(arrays, "text", np.uint8, (None,))
    if len(ends) and (np.any(np.diff(ends) < 0) or ends[0] < 0):
        raise StateError("the names in the state do not fit together")
    try:
        return unpack_texts(arrays)
    except StateError as error:
        raise StateError(f"the names in the state do not fit together: {error}") from error


pack_strings = pack_texts
