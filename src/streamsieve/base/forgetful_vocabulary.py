"""A vocabulary that remembers few of its names, so that memory does not grow with the number of features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np

from streamsieve._kernels.sketch import hash_names
from streamsieve.base.vocabulary import Arrival, HashedVocabulary, Vocabulary, unlike
from streamsieve.protocols import IntArray
from streamsieve.state import register
from streamsieve.state.tree import pack_texts


@register
class ForgetfulVocabulary(Vocabulary):
    """Vocabulary that keeps only the names its owner selects after each batch.

    While rows are learned, their names have column numbers as in any vocabulary.  The permanent id of a name,
    kept or not, is a 62-bit hash: the same in every process, with a negligible probability of a collision.

    Parameters
    ----------
    names : names known from the beginning
    """

    forgets: ClassVar[bool] = True

    def __init__(self, names: Iterable[str] = ()) -> None:
        super().__init__(names)
        self._hashes = np.zeros(0, np.int64)
        self._n_kept = len(self._ids)
        self._full = False

    @property
    def n_features(self) -> int:
        """Number of names kept, without those of rows still in a buffer."""
        return self._n_kept

    @property
    def accepts_buffering(self) -> bool:
        """Whether rows may be buffered: new names can no longer change the number of features."""
        return self._full

    @property
    def hashes(self) -> IntArray:
        """The lasting ids of all names known now."""
        newcomers = self.names[len(self._hashes) :]
        if newcomers:
            self._hashes = np.concatenate([self._hashes, hashed(newcomers)])
        return self._hashes

    def lasting_ids(self, names: Sequence[str]) -> list[int | None]:
        """Return the hash of every name, known or not."""
        return [*hashed(names).tolist()]

    def remove(self, arrival: Arrival) -> None:
        """Undo the addition of the most recent names."""
        super().remove(arrival)
        self._hashes = self._hashes[: len(self._ids)]

    def keep(self, kept: IntArray, *, full: bool) -> None:
        """Keep the names with the given lasting ids, in their order, and forget the others.

        If two names share an id, it belongs to the first.  ``full`` means that the number of names will not
        grow.
        """
        hashes, names = self.hashes, self.names
        order = np.argsort(hashes, kind="stable")
        columns = order[np.searchsorted(hashes, kept, sorter=order)]
        self._ids = {names[column]: i for i, column in enumerate(columns.tolist())}
        self._hashes = kept.copy()
        self._n_kept, self._full = len(kept), full
        self._last = None

    def joined(self, other: Vocabulary | HashedVocabulary) -> tuple[Vocabulary, None]:
        """Return a vocabulary with the names of both; the owner then selects which to keep."""
        if not isinstance(other, ForgetfulVocabulary):
            raise unlike(self, other)
        return ForgetfulVocabulary(dict.fromkeys([*self, *other])), None


def hashed(names: Sequence[str]) -> IntArray:
    """Return the lasting ids of names."""
    joined = "".join(names)
    if joined.isascii():  # fast path: one byte per character
        text = np.frombuffer(joined.encode("ascii"), np.uint8)
        ends = np.cumsum(np.fromiter(map(len, names), np.int64, len(names)))
    else:
        packed = pack_texts(list(names))
        text, ends = packed["text"], packed["ends"]
    ids: IntArray = hash_names(text, ends)
    return ids
