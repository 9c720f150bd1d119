"""Names of features as small integers: each its own, in order of arrival, or hashed into slots.

Names are met first and then added, unless their row is refused: then they leave no trace.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import murmurhash3_32

from streamsieve._parameters import check_number
from streamsieve.exceptions import MergeError, SchemaError, StateError
from streamsieve.protocols import Arrays, IntArray, Matrix
from streamsieve.state import expect, pack_strings, register, unpack_strings


class Arrival(NamedTuple):
    """Names that came together, and what adding them would change."""

    #: One id a name.
    ids: npt.NDArray[np.int32]
    #: Features there are once the names are added.
    width: int
    #: Names to be remembered, with their ids.
    new: dict[str, int]
    #: Places of the names whose slot another name had taken before.
    foreign: list[int]
    #: Whether every id is larger than the one before, as CSR rows want them.
    ordered: bool


class _Names(Mapping[str, int]):
    """A mapping from names to ids, with a short memory: most rows have the names of the row before."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._last: tuple[Sequence[str], Arrival] | None = None

    def __getitem__(self, name: str) -> int:
        return self._ids[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the id of a name, or the default."""
        return self._ids.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    @property
    @abstractmethod
    def width(self) -> int:
        """Features there are."""

    def meet(self, names: Sequence[str]) -> Arrival:
        """Return the ids of names that came together; :meth:`add` makes the new ones known."""
        if self._last is not None and names == self._last[0]:
            return self._last[1]
        if len(set(names)) != len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise SchemaError(f"the feature {twice!r} came twice in one row; names must differ as text")
        try:
            ids = np.fromiter(map(self._ids.__getitem__, names), np.int32, len(names))
            arrival = Arrival(ids, self.width, {}, [], _increases(ids))
        except KeyError:
            arrival = self._meet_unknown(names)
        self._last = names, arrival
        return arrival

    @abstractmethod
    def _meet_unknown(self, names: Sequence[str]) -> Arrival:
        """As :meth:`meet`, where some names are not remembered."""

    def add(self, arrival: Arrival) -> None:
        """Make new names known."""
        self._ids.update(arrival.new)
        self._last = None

    def remove(self, arrival: Arrival) -> None:
        """Undo :meth:`add`."""
        for name in arrival.new:
            del self._ids[name]
        self._last = None

    @contextmanager
    def adding(self, arrival: Arrival) -> Iterator[None]:
        """Make new names known, unless the body raises."""
        if arrival.new:
            self.add(arrival)
        try:
            yield
        except BaseException:
            if arrival.new:
                self.remove(arrival)
            raise


@register
class Vocabulary(_Names):
    """Every name has an id of its own, 0, 1, 2, ... in order of arrival.

    Parameters
    ----------
    names : those known from the beginning
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        super().__init__()
        for name in names:
            if name in self._ids:
                raise SchemaError(f"two features are called {name!r}; names must differ as text")
            self._ids[name] = len(self._ids)

    @property
    def width(self) -> int:
        """Features there are."""
        return len(self._ids)

    @property
    def names(self) -> list[str]:
        """One name a feature."""
        return list(self._ids)

    def _meet_unknown(self, names: Sequence[str]) -> Arrival:
        new: dict[str, int] = {}
        known, width = self._ids, len(self._ids)
        for name in names:
            if name not in known:
                new[name] = width + len(new)
        ids = np.array([new[name] if name in new else known[name] for name in names], np.int32)
        return Arrival(ids, width + len(new), new, [], _increases(ids))

    def ids_of(self, names: Sequence[Any]) -> list[int] | None:
        """Return ids of different names and make those known that are new; None if some are not text."""
        known = self._ids
        ids = [known.get(name, -1) for name in names]
        if -1 in ids:
            new = [name for name, i in zip(names, ids, strict=True) if i < 0]
            if any(type(name) is not str for name in new):
                return None
            self._last = None
            for name in new:
                known[name] = len(known)
            ids = [known[name] for name in names]
        return ids

    def joined(self, other: Vocabulary | HashedVocabulary) -> tuple[Vocabulary, IntArray | None]:
        """Return the vocabulary of this stream followed by the other's, and the other's ids in it.

        The ids are None where they are the same there.
        """
        if not isinstance(other, Vocabulary):
            raise _unlike(self, other)
        joined = Vocabulary(self._ids)
        joined.add(joined.meet(other.names))
        columns = np.array([joined[name] for name in other], np.int64)
        return joined, None if np.array_equal(columns, np.arange(len(columns))) else columns

    def state(self) -> Arrays:
        """Return the names as arrays."""
        return pack_strings(self.names)

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild."""
        try:
            return cls(unpack_strings(arrays))
        except SchemaError as error:
            raise StateError(f"the names in the state do not fit together: {error}") from error


@register
class HashedVocabulary(_Names):
    """Names share a fixed number of slots, found by hashing; memory never grows beyond them.

    A slot remembers the first name it met and shows it.  Names that find their slot taken share it.

    Parameters
    ----------
    slots : int
        How many features there are, at least 1.

    Attributes
    ----------
    collided : values other than 0 that came under another name than their slot's first; after a merge,
        each part has counted by its own first names
    """

    def __init__(self, slots: int) -> None:
        super().__init__()
        most = int(np.iinfo(np.int32).max)
        check_number("hashed", slots, low=1, high=most, integer=True)
        self.slots = int(slots)
        self.collided = 0
        self._used = np.zeros(self.slots, bool)
        self._shared = np.zeros(self.slots, bool)

    def __getitem__(self, name: str) -> int:
        """Return the slot of a name, unless no name was ever met there."""
        slot = self._slot(name)
        if not self._used[slot]:
            raise KeyError(name)
        return slot

    def get(self, name: str, default: Any = None) -> Any:
        """Return the slot of a name, or the default where no name was ever met there."""
        slot = self._slot(name)
        return slot if self._used[slot] else default

    @property
    def width(self) -> int:
        """Features there are: all slots, from the beginning."""
        return self.slots

    @property
    def names(self) -> list[str]:
        """The first name of every slot; a slot without one is called by its number."""
        names = [f"slot {i}" for i in range(self.slots)]
        for name, slot in self._ids.items():
            names[slot] = name
        return names

    @property
    def collisions(self) -> int:
        """Slots that met two different names."""
        return int(np.count_nonzero(self._shared))

    def _slot(self, name: str) -> int:
        # murmur: the same on every machine and in every process, and near names fall far apart
        key = name.encode("utf-8", "surrogatepass")
        return int(murmurhash3_32(key, positive=True)) % self.slots

    def _meet_unknown(self, names: Sequence[str]) -> Arrival:
        ids, foreign = np.empty(len(names), np.int32), []
        new: dict[str, int] = {}
        taken: set[int] = set()
        for i, name in enumerate(names):
            slot = self._ids.get(name)
            if slot is None:
                slot = self._slot(name)
                if self._used[slot] or slot in taken:
                    foreign.append(i)
                else:
                    new[name] = slot
                    taken.add(slot)
            ids[i] = slot
        return Arrival(ids, self.slots, new, foreign, _increases(ids))

    def add(self, arrival: Arrival) -> None:
        """Make new names known."""
        super().add(arrival)
        self._used[list(arrival.new.values())] = True

    def remove(self, arrival: Arrival) -> None:
        """Undo :meth:`add`."""
        super().remove(arrival)
        self._used[list(arrival.new.values())] = False

    def share(self, arrival: Arrival, values: int) -> None:
        """Mark the slots of foreign names, under which so many values came."""
        if arrival.foreign:
            self._shared[arrival.ids[arrival.foreign]] = True
            self.collided += values

    def joined(self, other: Vocabulary | HashedVocabulary) -> tuple[HashedVocabulary, None]:
        """Return the vocabulary of this stream followed by the other's; slots are the same in both."""
        if not isinstance(other, HashedVocabulary) or other.slots != self.slots:
            raise _unlike(self, other)
        joined = HashedVocabulary(self.slots)
        joined.collided = self.collided + other.collided
        for part in (self, other):
            arrival = joined.meet(list(part))
            joined.add(arrival)
            joined.share(arrival, 0)
            joined._shared |= part._shared  # noqa: SLF001 - a twin's
        return joined, None

    def state(self) -> Arrays:
        """Return the first names, which slots are shared, and how many values that concerned."""
        return {
            **pack_strings(list(self)),
            "shared": self._shared,
            "collided": np.array([self.collided], np.int64),
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild; every name must hash into a slot of its own."""
        shared = expect(arrays, "shared", np.bool_, (None,))
        names = unpack_strings(arrays)
        if not len(shared):
            raise StateError("the state claims a vocabulary of no slots")
        vocabulary = cls(len(shared))
        arrival = vocabulary._meet_unknown(names)
        vocabulary.add(arrival)
        vocabulary._shared = np.array(shared)
        vocabulary.collided = int(expect(arrays, "collided", np.int64, (1,))[0])
        if arrival.foreign or np.any(shared & ~vocabulary._used) or vocabulary.collided < 0:
            raise StateError("the names in the state do not fit their slots")
        return vocabulary


def spread(X: npt.NDArray[Any], arrival: Arrival) -> npt.NDArray[Any]:
    """Put dense columns in their places among all features; values are missing in all others."""
    if arrival.ordered and arrival.width == X.shape[1]:
        return X
    wide = np.full((len(X), arrival.width), np.nan, X.dtype)
    wide[:, arrival.ids] = X
    return wide


def scattered(
    values: npt.NDArray[Any], ids: npt.NDArray[np.int32], indptr: npt.NDArray[Any], arrival: Arrival
) -> Matrix:
    """Return CSR rows over all features; values that came to one slot are added up."""
    n_rows = len(indptr) - 1
    if n_rows == 1 and not arrival.ordered:  # a shortcut: rows that come one by one are many
        order = np.argsort(ids, kind="stable")
        values, ids = values[order], ids[order]
        if arrival.foreign:
            starts = np.flatnonzero(np.diff(ids, prepend=-1))
            values, ids = np.add.reduceat(values, starts), ids[starts]
            indptr = np.array([0, len(ids)], np.int32)
    X = sp.csr_array((values, ids, indptr), shape=(n_rows, arrival.width))
    if n_rows > 1 and not arrival.ordered:
        X = X.copy()  # the values may be the user's own
        X.sum_duplicates()
    return X


def _increases(ids: npt.NDArray[np.int32]) -> bool:
    return bool((ids[1:] > ids[:-1]).all())


def _unlike(mine: Vocabulary | HashedVocabulary, theirs: Vocabulary | HashedVocabulary) -> MergeError:
    here, there = (
        f"hashed into {names.slots} slots" if isinstance(names, HashedVocabulary) else "known one by one"
        for names in (mine, theirs)
    )
    return MergeError(
        f"features are {here} here and {there} there: only vocabularies of one kind and size merge"
    )
