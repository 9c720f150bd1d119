"""The items of a feature factory, in order, each kept until what came of it has been delivered."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, NamedTuple

from streamsieve.exceptions import SourceError
from streamsieve.sources.computed.compute import said, split_name


class Item(NamedTuple):
    """What a factory gave, by number, and how long that took."""

    name: str | None
    content: Any
    seconds: float


class Items:
    """Items by number; those that were let go are gone.

    A stream that is interrupted or fails can so go on with the item at which it stood, also where the
    factory is an iterator that cannot start again.

    Parameters
    ----------
    iterator : gives the items
    first : number of the first one
    packed : what to keep of an item's content, made before the iterator moves on; None: the content itself
    """

    def __init__(
        self, iterator: Iterator[Any], first: int = 0, packed: Callable[[Item], Item] | None = None
    ) -> None:
        self._iterator, self._packed = iterator, packed
        self._waiting: deque[Item] = deque()
        self._broken: str | None = None
        #: Number of the first item that is still to be had.
        self.first = first

    def get(self, number: int) -> Item | None:
        """Return an item, or None after the last."""
        while self.first + len(self._waiting) <= number:
            item = self._next()
            if item is None:
                return None
            self._waiting.append(item)
        return self._waiting[number - self.first]

    def let_go(self, number: int) -> None:
        """Forget the items before this number, which were all had before."""
        while self.first < number:
            self._waiting.popleft()
            self.first += 1

    def iterates(self, factory: Any) -> bool:
        """Whether the items come from the factory itself, which therefore cannot start again."""
        return self._iterator is factory

    def _next(self) -> Item | None:
        if self._broken is not None:
            raise SourceError(
                f"the generator cannot go on after it raised {self._broken}: pass the function that makes "
                "it, as in features(make_columns, y)"
            )
        started = perf_counter()
        try:
            given = next(self._iterator)
        except StopIteration:
            return None
        except BaseException as error:
            if inspect.isgenerator(self._iterator):  # it would seem to have come to its end
                self._broken = said(error)
            raise
        item = Item(*split_name(given), perf_counter() - started)
        return item if self._packed is None else self._packed(item)
