"""The items of a feature factory, in order, and the columns computed from each."""

from __future__ import annotations

import inspect
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from streamsieve._frames import array_of
from streamsieve.exceptions import SourceError
from streamsieve.protocols import FloatArray

_KINDS = {"c": "complex numbers", "M": "dates", "m": "durations", "V": "records"}


class NotAColumnError(ValueError):
    """What came cannot be a column; the text goes on after the name of the feature."""


def column_of(value: Any) -> FloatArray:
    """Return a column as float64; text that looks like numbers is still text."""
    try:
        if isinstance(value, np.ma.MaskedArray):  # np.asarray would lay open what the mask hides
            value = np.ma.filled(value.astype(np.float64), np.nan)
        values = _dense(value) if sp.issparse(value) else array_of(value)
        if values.dtype.kind not in "fiubO" or (
            values.dtype.kind == "O" and any(isinstance(cell, (str, bytes)) for cell in values.flat)
        ):
            raise NotAColumnError(
                f"holds {_KINDS.get(values.dtype.kind, 'text')}, not numbers: encode it (for example with "
                "OrdinalEncoder) or leave it out"
            )
        # a copy even of float64: a generator may fill one buffer again and again
        values = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, NotAColumnError):
            raise
        raise NotAColumnError(f"is not a column of numbers: {error}") from error
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1:
        raise NotAColumnError(
            f"has shape {values.shape}, but a column has one value per row: yield the columns one by one"
        )
    return values


def _dense(X: Any) -> Any:
    """Return a sparse column as an array, after a look at its indices."""
    from streamsieve._validation import clean_sparse  # noqa: PLC0415 - imports scikit-learn

    if X.ndim == 1:  # as one column
        X = X.tocoo()
        X = sp.coo_array((X.data, (X.coords[0], np.zeros(X.data.shape, np.int32))), shape=(*X.shape, 1))
    return clean_sparse(X, "csc").toarray()


class Computed(NamedTuple):
    """A column, and how long it took."""

    name: str | None
    column: FloatArray
    seconds: float


class Failed(NamedTuple):
    """What there is to say about a feature that is no column, after its name, and why."""

    name: str | None
    text: str
    error: BaseException | None


class Maker(Protocol):
    """Makes columns of an item."""

    def __call__(self, name: str | None, item: Any) -> Iterator[Computed | Failed]:
        """Yield what comes of an item, computing it on the way."""
        ...


class One:
    """Makes one column of an item: ``compute(item)``, or where there is no such function, ``item()``."""

    def __init__(self, compute: Callable[[Any], Any] | None) -> None:
        self._compute = compute

    def __call__(self, name: str | None, item: Any) -> Iterator[Computed | Failed]:
        """Yield one outcome."""
        started = perf_counter()
        try:
            value = item() if self._compute is None else self._compute(item)
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises names its feature
            yield Failed(name, f"could not be computed: {said(error)}", error)
        else:
            yield outcome(name, value, perf_counter() - started)


class Several:
    """Makes some columns of a named column: what ``transform(name, column)`` returns or yields."""

    def __init__(self, transform: Callable[[str, FloatArray], Any]) -> None:
        self._transform = transform

    def __call__(self, name: str | None, item: Any) -> Iterator[Computed | Failed]:
        """Yield an outcome for each column; after one that failed there are no more."""
        started = perf_counter()
        try:
            made = self._transform(str(name), item)
            items = made if isinstance(made, Iterator) else iter([made])
            for value in items:
                own, column = split_name(value)
                yield outcome(own or name, column, perf_counter() - started)
                started = perf_counter()
        except Exception as error:  # noqa: BLE001 - likewise
            yield Failed(None, f"made from {name!r} could not be computed: {said(error)}", error)


def outcome(name: str | None, value: Any, seconds: float) -> Computed | Failed:
    """Return a value as a column, or say why it is none."""
    try:
        return Computed(name, column_of(value), seconds)
    except NotAColumnError as error:
        return Failed(name, str(error), error)


def split_name(item: Any) -> tuple[str | None, Any]:
    """Return name and content of ``(name, content)``, of a named series, or of something without a name."""
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
        return item[0], item[1]
    name = getattr(item, "name", None)
    return (name or None) if isinstance(name, str) else None, item


def said(error: BaseException) -> str:
    """Return an error as one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def portable(result: Computed | Failed) -> Computed | Failed:
    """Return an outcome that can be sent to another process: an error with its traceback as text."""
    if isinstance(result, Computed) or result.error is None:
        return result
    cause = RuntimeError(said(result.error))
    cause.add_note("".join(traceback.format_exception(result.error)))
    return result._replace(error=cause)


class Item(NamedTuple):
    """What a factory gave, by number, and how long that took."""

    name: str | None
    content: Any
    seconds: float


class Items:
    """Items by number, the first of which is ``first``, each kept until it is let go.

    A stream that was interrupted or failed can so resume at its item, even if the factory is an iterator that
    cannot start again.  ``packed`` replaces an item, if given, before the iterator moves on.
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
