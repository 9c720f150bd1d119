"""Fields of a declaration: arrays, scalars, texts, labels.  See :mod:`streamsieve.state.part`."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import brief, check_choice, check_number
from streamsieve.exceptions import ParameterError, StateError
from streamsieve.protocols import Arrays
from streamsieve.state.registry import decode, encode
from streamsieve.state.tree import Node, Place, leaf, pack_texts, text, unpack_texts, untext

#: Largest whole number in a state; sums of a few of them still fit into 64 bits.
LARGEST_INT = 2**60


class Field(ABC):
    """One field of a part: how it is written, what is accepted, and how it is read."""

    optional: bool = False
    #: Node that an absent field stands for, if not None: an empty list has no arrays.
    absent: ClassVar[dict[str, Any] | None] = None

    @abstractmethod
    def write(self, value: Any) -> Node:
        """Return the field as arrays."""

    @abstractmethod
    def check(self, node: Node, place: Place) -> None:
        """Raise ``StateError`` unless the arrays are a legal value; keeps no memory."""

    @abstractmethod
    def read(self, node: Any, path: str) -> Any:
        """Return the value; the arrays have been checked."""


class Array(Field):
    """An array.

    Parameters
    ----------
    dtype : its type, or a tuple of the types allowed
    *shape : for every dimension a symbol, a symbol plus a number ("classes+1"), or a number
    low, high : smallest and largest value allowed
    below : symbol of a dimension that the values index: 0 <= value < its size
    finite : whether infinite values are refused, and NaN with them
    missing : whether NaN is allowed in spite of bounds
    order : "rising" or "sorted" along the last axis
    unique : whether all values differ
    codes : whether the values are codes 0, 1, 2, ... each of which occurs
    nonempty : whether it has at least one entry
    copy : whether to read a copy; False where :meth:`Part._rebuilt` copies it to its place anyway
    optional : whether the array may be absent; it is then None
    """

    def __init__(
        self, dtype: str | tuple[str, ...], *shape: int | str,
        low: float | None = None, high: float | None = None, below: str | None = None,
        finite: bool = False, missing: bool = False, order: str | None = None, unique: bool = False,
        codes: bool = False, nonempty: bool = False, copy: bool = True, optional: bool = False,
    ) -> None:  # fmt: skip
        self.dtypes = tuple(np.dtype(d) for d in ((dtype,) if isinstance(dtype, str) else dtype))
        self.shape, self.below, self.missing, self.order = shape, below, missing, order
        self.unique, self.codes, self.nonempty = unique, codes, nonempty
        self.low = 0 if below is not None else -np.finfo(np.float64).max if finite and low is None else low
        self.high = np.finfo(np.float64).max if finite and high is None else high
        self.copy, self.optional = copy, optional

    def write(self, value: npt.NDArray[Any]) -> Node:
        return np.asarray(value)

    def check(self, node: Node, place: Place) -> None:
        a = leaf(node, place)
        proven = a.size > 0
        fits = a.dtype in self.dtypes and a.ndim == len(self.shape)
        if not fits or not all(
            place.fits(dimension, size, proven=proven)
            for dimension, size in zip(self.shape, a.shape, strict=True)
        ):
            place.refuse(f"should be {self.describe(place)}, but is {a.dtype} of shape {a.shape}")
        if proven:
            self._check_values(a, place)
        elif self.nonempty:
            place.refuse("should not be empty")

    def _check_values(self, a: npt.NDArray[Any], place: Place) -> None:
        if a.dtype.kind == "b":
            a = a.view(np.uint8)  # a byte from a file may have any value
            if a.max() > 1:
                place.refuse("should be true or false, but holds other bytes")
        if self.order is not None and a.shape[-1] > 1:
            left, right = a[..., :-1], a[..., 1:]
            if not (np.all(left < right) if self.order == "rising" else np.all(left <= right)):
                place.refuse(f"should be {self.order}, but is not in order")
        self._check_bounds(
            a if self.order is None else a[..., [0, -1]], place
        )  # in order, so the ends are enough
        if self.unique and len(np.unique(a)) < a.size:
            place.refuse("should hold different values, but one is there twice")
        # no more codes than values: counting them takes no more memory than the array itself
        if self.codes and (a.min() < 0 or a.max() >= a.size or np.any(np.bincount(a.ravel()) == 0)):
            place.refuse("should be codes 0, 1, 2, ... each of which occurs")

    def _check_bounds(self, a: npt.NDArray[Any], place: Place) -> None:
        high = self.high if self.below is None else place.size(self.below).value - 1
        if self.low is None and high is None:
            return
        # smallest and largest without a temporary array; NaN shows up in both
        ends = (np.fmin.reduce(a, None), np.fmax.reduce(a, None)) if self.missing else (a.min(), a.max())
        least, most = (end.item() for end in ends)
        inside = (self.low is None or least >= self.low) and (high is None or most <= high)
        if not inside and not (self.missing and np.isnan(least)):  # only NaN
            bounds = "-inf" if self.low is None else self.low, "inf" if high is None else high
            place.refuse(f"should be within {bounds[0]} and {bounds[1]}, but has {least} and {most}")

    def read(self, node: Any, path: str) -> npt.NDArray[Any]:  # noqa: ARG002
        # arrays from a file may be read-only or unaligned, and states share no memory
        return np.array(node) if self.copy else node

    def describe(self, place: Place | None = None) -> str:
        """Return the declared type and shape as text."""
        sizes = {} if place is None else place.sizes
        shape = [
            f"{d}={sizes[d].value}" if isinstance(d, str) and d in sizes and sizes[d].value >= 0 else str(d)
            for d in self.shape
        ]
        return f"{' or '.join(map(str, self.dtypes))} of shape ({', '.join(shape)})"


class Scalar(Field):
    """One value, checked by :meth:`check_value` both as a parameter and in a state."""

    dtype: ClassVar[str]

    @abstractmethod
    def check_value(self, name: str, value: Any) -> None:
        """Raise ``ParameterError`` unless the value is legal."""

    def write(self, value: Any) -> Node:
        a = np.array(value, self.dtype)
        if a.item() != value:  # never write a value that could not be read
            raise StateError(f"{value!r} cannot be saved as {a.dtype}")
        return a

    def check(self, node: Node, place: Place) -> None:
        a = leaf(node, place)
        if a.dtype != np.dtype(self.dtype) or a.shape != ():
            place.refuse(f"should be one {np.dtype(self.dtype)}, but is {a.dtype} of shape {a.shape}")
        if a.dtype.kind == "b" and a.view(np.uint8) > 1:
            place.refuse("should be true or false, but is another byte")
        try:
            self.check_value(place.path, a.item())
        except ParameterError as error:
            raise StateError(f"the state's {error}") from error

    def read(self, node: Any, path: str) -> Any:  # noqa: ARG002
        return node.item()


class Int(Scalar):
    """A whole number from ``low`` to ``high``; with ``size``, the size of that dimension."""

    dtype = "i8"

    def __init__(
        self, low: int = 0, high: int = LARGEST_INT, *, size: str | None = None, optional: bool = False
    ) -> None:
        self.low, self.high, self.size, self.optional = low, high, size, optional

    def check_value(self, name: str, value: Any) -> None:
        if value is not None or not self.optional:
            check_number(
                name, value, low=self.low, high=None if self.high == LARGEST_INT else self.high, integer=True
            )
            if value > self.high:
                raise ParameterError(f"{name} must be at most {self.high}; got {brief(value)}")

    def check(self, node: Node, place: Place) -> None:
        super().check(node, place)
        if self.size is not None and not place.fits(self.size, node.item(), proven=False):  # type: ignore[union-attr]
            place.refuse(f"should be {place.size(self.size).value}, the number of {self.size}")


class IntOr(Int):
    """A parameter that is a whole number or one word, such as ``"auto"``."""

    def __init__(self, word: str, low: int = 0, high: int = LARGEST_INT) -> None:
        super().__init__(low, high)
        self.word = word

    def check_value(self, name: str, value: Any) -> None:
        if isinstance(value, str):
            check_choice(name, value, (self.word, "a whole number"))
        else:
            super().check_value(name, value)


class Float(Scalar):
    """A finite number; ``open_low`` and ``open_high`` exclude the bounds."""

    dtype = "f8"

    def __init__(
        self, low: float | None = None, high: float | None = None,
        *, open_low: bool = False, open_high: bool = False, optional: bool = False,
    ) -> None:  # fmt: skip
        self.low, self.high, self.open_low, self.open_high = low, high, open_low, open_high
        self.optional = optional

    def check_value(self, name: str, value: Any) -> None:
        if value is not None or not self.optional:
            if isinstance(value, int) and abs(value) > LARGEST_INT:  # too large for a kernel's integers
                raise ParameterError(
                    f"{name} must be a float if it is so large; got the whole number {brief(value)}"
                )
            check_number(
                name, value, low=self.low, high=self.high, open_low=self.open_low, open_high=self.open_high
            )


class Bool(Scalar):
    """True or False."""

    dtype = "?"

    def check_value(self, name: str, value: Any) -> None:
        check_choice(name, value, (True, False))


class Choice(Field):
    """One of some texts; as a parameter, None may be among them."""

    def __init__(self, *options: str | None) -> None:
        self.options, self.optional = options, None in options

    def check_value(self, name: str, value: Any) -> None:
        """Raise ``ParameterError`` unless the value is one of the options."""
        if not isinstance(value, (str, type(None))):
            raise ParameterError(
                f"{name} must be one of {', '.join(map(repr, self.options))}; got {brief(value)}"
            )
        check_choice(name, value, self.options)

    def write(self, value: str) -> Node:
        return text(value)

    def check(self, node: Node, place: Place) -> None:
        value = untext(node, place)
        if value not in self.options:
            place.refuse(f"should be one of {', '.join(map(repr, self.options))}, but is {value[:40]!r}")

    def read(self, node: Any, path: str) -> str:
        return untext(node, Place(path))


class Texts(Field):
    """A list of texts; as arrays, the concatenated bytes and the end of each text."""

    def __init__(self, size: str, *, unique: bool = False, optional: bool = False) -> None:
        self.size, self.unique, self.optional = size, unique, optional

    def write(self, value: Iterable[str] | Arrays) -> Node:
        return dict(value if isinstance(value, dict) else pack_texts(list(value)))

    def check(self, node: Node, place: Place) -> None:
        if not isinstance(node, dict) or node.keys() != {"text", "ends"}:
            place.refuse("should be texts, as two arrays text and ends")
        Array("u1", "bytes").check(node["text"], Place(f"{place.path}/text"))
        Array("i8", self.size, low=0, order="sorted").check(node["ends"], place)
        try:
            texts = unpack_texts(node)
        except StateError as error:
            place.refuse(f"do not fit together: {error}")
        if self.unique and len({*texts}) < len(texts):
            place.refuse("should differ, but one is there twice")

    def read(self, node: Any, path: str) -> list[str]:  # noqa: ARG002
        return unpack_texts(node)


class Values(Field):
    """A list of different labels: all texts, or all whole numbers, or all floats."""

    def __init__(self, size: str) -> None:
        self.size = size

    def write(self, value: list[Any]) -> Node:
        if value and isinstance(value[0], str):
            return dict(pack_texts(value))
        whole = all(isinstance(v, (int, np.integer)) for v in value)
        return np.array(value, np.int64 if whole else np.float64)

    def check(self, node: Node, place: Place) -> None:
        field = (
            Texts(self.size, unique=True)
            if isinstance(node, dict)
            else Array(("i8", "f8"), self.size, unique=True)
        )
        field.check(node, place)
        if not isinstance(node, dict) and not np.all(np.isfinite(node)):
            place.refuse("should be labels, but holds NaN or infinity")

    def read(self, node: Any, path: str) -> list[Any]:  # noqa: ARG002
        return unpack_texts(node) if isinstance(node, dict) else node.tolist()


class Json(Field):
    """A value stored as JSON, for the few that are neither arrays nor parts; None is absent."""

    optional = True

    def write(self, value: Any) -> Node:
        return text(json.dumps(value))

    def check(self, node: Node, place: Place) -> None:
        self._parsed(node, place)

    def read(self, node: Any, path: str) -> Any:
        return self._parsed(node, Place(path))

    def _parsed(self, node: Node, place: Place) -> Any:
        try:
            return json.loads(untext(node, place))
        except (ValueError, RecursionError):
            place.refuse("should be JSON")


class Encoded(Field):
    """An object of a registered dataclass, or a plain value, written as parameters are.

    Parameters
    ----------
    *methods : names of methods that the object must have
    """

    def __init__(self, *methods: str) -> None:
        self.methods = methods

    def write(self, value: Any) -> Node:
        return text(json.dumps(encode(type(value).__name__, value)))

    def check(self, node: Node, place: Place) -> None:
        self.read(node, place.path)

    def read(self, node: Any, path: str) -> Any:
        place = Place(path)
        try:
            value = decode(json.loads(untext(node, place)))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            place.refuse(f"should be the parameters of a registered object: {error}")
        for method in self.methods:
            if not callable(getattr(value, method, None)):
                place.refuse(f"should be an object with a method {method}; got a {type(value).__name__}")
        return value


def mass(*shape: int | str, optional: bool = False) -> Array:
    """Declare sums of weights: finite and non-negative."""
    return Array("f8", *shape, low=0, finite=True, optional=optional)
