"""Declarations: what the state of a part consists of.

A :class:`Part` declares its fields once.  Writing, reading, the refusal of files that do not fit, and the
fuzzer of ``streamsieve.testing.states`` all follow from the declaration::

    class DenseMoments(Part):
        fields = {
            "mean": Array("f8", "classes", "features", finite=True),
            "m2": Array("f8", "classes", "features", low=0, finite=True),
            "weight": Array("f8", "classes", "features", low=0, finite=True, optional=True),
        }

Dimensions are symbols.  Equal symbols of one part have equal sizes; ``Nested(..., shares=("features",))``
ties a symbol of a nested part to the same symbol of its owner.  A size must be *proven*: some array that
holds at least one value has it as a dimension.  An empty array proves nothing (its shape may claim any size
at no cost), so sizes without proof are limited to ``UNPROVEN``.  All of this is checked for the whole state
before anything is built from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from streamsieve._one_thread import SLOTS, guard
from streamsieve.exceptions import StateError
from streamsieve.protocols import Arrays
from streamsieve.state.fields import Field
from streamsieve.state.registry import name_of, registered
from streamsieve.state.tree import Node, Place, check_sizes, flat, nested, text, untext

#: Names that are not fields begin with this.
KIND = "$kind"


class Part:
    """Base class of objects whose state is declared by ``fields``, by attribute name.

    A class whose attributes are laid out for speed (spare capacity, tiles, dicts) maps them to the fields in
    :meth:`_record` and :meth:`_rebuilt`.  Constraints that declarations cannot express go to :meth:`_misfits`
    (on the values, before anything is built) and :meth:`_consistent` (on the whole object).
    """

    __slots__ = SLOTS  # threads inside a summary; see _one_thread
    fields: ClassVar[Mapping[str, Field]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if all(
            hasattr(cls, name) for name in ("update", "merge", "forget", "reindexed", "n_rows")
        ):  # a summary
            guard(cls, ("update", "merge", "forget", "fade", "remove"), ("state", "copy", "reindexed"))

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def _record(self) -> Mapping[str, Any]:
        """Return the values of the fields; by default, the attributes of these names."""
        return {name: getattr(self, name) for name in self.fields}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        """Build an instance from checked values; by default, they become its attributes."""
        made = cls.__new__(cls)
        made.__dict__.update(record)
        return made

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:  # noqa: ARG003 - most have none
        """Yield a sentence for each inconsistency between values; called before rebuilding."""
        yield from ()

    def _consistent(self) -> Iterator[str]:
        """Yield a sentence for each inconsistency of the object; called after rebuilding."""
        yield from ()

    # ---------------------------------------------------------------- what follows from the declaration

    def state(self) -> Arrays:
        """Return a copy of everything as arrays, by names that may contain ``/``."""
        return {name: np.array(array) for name, array in flat(self.tree()).items()}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild from arrays, or raise ``StateError`` before anything large is allocated."""
        with Place(cls.__name__).loading():
            node, place = nested(arrays), Place()
            cls.check_tree(node, place)
            check_sizes(place)
            return cls.from_tree(node, "")

    def copy(self) -> Self:
        """Return a deep copy."""
        return self.from_state(flat(self.tree()))

    def tree(self, ready: Mapping[str, Any] | None = None) -> dict[str, Node]:
        """Return the fields that are present as a tree of arrays, some of them views of live state.

        ``ready`` holds values that replace those of the object, such as texts that are already packed.
        """
        return written(self.fields, {**self._record(), **(ready or {})})

    @classmethod
    def check_tree(cls, node: dict[str, Node], place: Place) -> None:
        """Check every field, and that there are no others."""
        check_fields(cls.fields, node, place)

    @classmethod
    def from_tree(cls, node: dict[str, Node], path: str) -> Self:
        """Build an instance from checked arrays."""
        place = Place(path or cls.__name__)
        with place.loading():
            record: dict[str, Any] = {}
            for name, field in cls.fields.items():
                saved = saved_name(name)
                found = node.get(saved, field.absent)
                record[name] = None if found is None else field.read(found, f"{path}/{saved}".strip("/"))
            for problem in cls._misfits(record):
                place.refuse(f"does not fit together: {problem}")
            made = cls._rebuilt(record)
            for problem in made._consistent():  # noqa: SLF001
                place.refuse(f"does not fit together: {problem}")
            return made


def written(fields: Mapping[str, Field], record: Mapping[str, Any]) -> dict[str, Node]:
    """Return the values that are present as a tree of arrays, by their names in a state."""
    return {
        saved_name(name): field.write(record[name])
        for name, field in fields.items()
        if record.get(name) is not None
    }


def check_fields(fields: Mapping[str, Field], node: dict[str, Node], place: Place) -> None:
    """Check every field of a part, and that there are no others."""
    known = {saved_name(name): field for name, field in fields.items()}
    for name in node:
        if name not in known:
            place.at(name).refuse("belongs to nothing")
    for name, field in known.items():
        found = node.get(name, field.absent)
        if found is not None:
            field.check(found, place.at(name))
        elif not field.optional:
            raise StateError(f"the state lacks {place.at(name).path!r}")


class Nested(Field):
    """A part within a part: one of some classes.

    Parameters
    ----------
    *kinds : the classes allowed; a file cannot name any other
    shares : symbols whose sizes are those of the owner
    derived : whether registered classes derived from these are allowed as well
    optional : whether it may be absent; it is then None
    """

    shares: tuple[str, ...] = ()
    derived: bool = False

    def __init__(
        self, *kinds: type[Any], shares: tuple[str, ...] = (), derived: bool = False, optional: bool = False
    ) -> None:
        self.kinds = {name_of(kind): kind for kind in kinds}
        self.shares, self.derived, self.optional = shares, derived, optional

    def write(self, value: Any) -> Node:
        name = name_of(type(value))
        if self._allowed(name) is not type(value):
            raise StateError(self._why_not(type(value)))
        if not hasattr(value, "fields"):
            raise StateError(f"a {type(value).__name__} cannot be saved: its class declares no `fields`")
        node: dict[str, Node] = value.tree()
        if len(self.kinds) > 1 or self.derived:
            node[KIND] = text(name)
        return node

    def _why_not(self, kind: type[Any]) -> str:
        """Return why a part of this class cannot be saved, and what the author of the class can do."""
        if self.derived and issubclass(kind, tuple(self.kinds.values())):
            return (
                f"a {kind.__name__} cannot be saved: decorate its class with streamsieve.state.register and "
                "declare its fields"
            )
        return f"a {kind.__name__} cannot be saved here; {', '.join(self.kinds)} can"

    def check(self, node: Node, place: Place) -> None:
        kind, own = self._kind(node, place)
        kind.check_tree(own, place.within(self.shares))

    def read(self, node: Any, path: str) -> Any:
        kind, own = self._kind(node, Place(path))
        return kind.from_tree(own, path)

    def _kind(self, node: Node, place: Place) -> tuple[type[Any], dict[str, Node]]:
        if not isinstance(node, dict):
            place.refuse("should be a part of several arrays, but is one array")
        if len(self.kinds) == 1 and not self.derived:
            return next(iter(self.kinds.values())), node
        name = untext(node[KIND], place.at(KIND)) if KIND in node else ""
        kind = self._allowed(name)
        if kind is None:
            own = "; if it is your own, import its module first" if self.derived else ""
            place.refuse(f"should be one of {', '.join(self.kinds)}, but is {name[:60]!r}{own}")
        return kind, {key: value for key, value in node.items() if key != KIND}

    def _allowed(self, name: str) -> type[Any] | None:
        """Return the class of a name if it is allowed here."""
        if not self.derived:
            return self.kinds.get(name)
        kind: Any = registered().get(name)
        allowed = kind is not None and issubclass(kind, tuple(self.kinds.values()))
        return kind if allowed else None


class ListOf(Field):
    """A list of parts, ``size`` of them; see :class:`Nested`."""

    absent: ClassVar[dict[str, Any] | None] = {}

    def __init__(self, *kinds: type[Any], size: str, shares: tuple[str, ...] = ()) -> None:
        self.item, self.size = Nested(*kinds, shares=shares), size

    def write(self, value: Iterable[Part]) -> Node:
        return {str(i): self.item.write(part) for i, part in enumerate(value)}

    def check(self, node: Node, place: Place) -> None:
        if not isinstance(node, dict) or node.keys() != {str(i) for i in range(len(node))}:
            place.refuse("should be a list of parts 0, 1, 2, ...")
        if not place.fits(self.size, len(node), proven=True):
            place.refuse(f"should have {place.size(self.size).value} parts, but has {len(node)}")
        for i in range(len(node)):
            self.item.check(node[str(i)], place.at(str(i)))

    def read(self, node: Any, path: str) -> list[Any]:
        return [self.item.read(node[str(i)], f"{path}/{i}") for i in range(len(node))]


def saved_name(name: str) -> str:
    """Return the name of an attribute in a state: without leading underscores."""
    return name.lstrip("_")


@contextmanager
def untouched_on_error(*instances: Any) -> Iterator[None]:
    """Context manager that restores the attributes of objects if the body raises."""
    before = [(instance, dict(instance.__dict__)) for instance in instances if instance is not None]
    try:
        yield
    except BaseException:
        for instance, attributes in before:
            instance.__dict__.clear()
            instance.__dict__.update(attributes)
        raise
