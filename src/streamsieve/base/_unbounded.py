"""Names of features of which only a few are ever remembered, so that memory does not grow with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from streamsieve._kernels.sketch import hash_names
from streamsieve.base._vocabulary import Arrival, Vocabulary
from streamsieve.protocols import IntArray
from streamsieve.state import pack_strings


class UnboundedVocabulary(Vocabulary):
    """A vocabulary that is told again and again which names to keep.

    While rows are learnt, their names have columns like those of any vocabulary.  What lasts of a name that
    is not kept is its id, a hash of 62 bits: the same in every process, and hardly ever that of another.

    Parameters
    ----------
    names : those known from the beginning
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        super().__init__(names)
        self._hashes = np.zeros(0, np.int64)

    @property
    def hashes(self) -> IntArray:
        """The ids of all names there are now."""
        newcomers = self.names[len(self._hashes) :]
        if newcomers:
            self._hashes = np.concatenate([self._hashes, hashed(newcomers)])
        return self._hashes

    def remove(self, arrival: Arrival) -> None:
        """Undo the adding of names, which were the last ones."""
        super().remove(arrival)
        self._hashes = self._hashes[: len(self._ids)]

    def keep(self, kept: IntArray) -> None:
        """Keep the names with some of the ids, in their order, and forget the others.

        If two names have one id, the first stands for it.
        """
        hashes, names = self.hashes, self.names
        order = np.argsort(hashes, kind="stable")
        columns = order[np.searchsorted(hashes, kept, sorter=order)]
        self._ids = {names[column]: i for i, column in enumerate(columns.tolist())}
        self._hashes = kept.copy()
        self._last = None


def hashed(names: Sequence[str]) -> IntArray:
    """Return the ids of names."""
    joined = "".join(names)
    if joined.isascii():  # a shortcut: characters are bytes
        text = np.frombuffer(joined.encode("ascii"), np.uint8)
        ends = np.cumsum(np.fromiter(map(len, names), np.int64, len(names)))
    else:
        packed = pack_strings(list(names))
        text, ends = packed["text"], packed["ends"]
    ids: IntArray = hash_names(text, ends)
    return ids
