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
    """A computed value is not a column; the text continues a sentence after the feature's name."""


def column_of(value: Any) -> FloatArray:
    """Return a column as float64; text that looks like numbers is still text."""
    try:
        if isinstance(value, np.ma.MaskedArray):  # np.asarray would expose the masked values
            value = np.ma.filled(value.astype(np.float64), np.nan)
        values = _dense(value) if sp.issparse(value) else array_of(value)
        if values.dtype.kind not in "fiubO" or (
            values.dtype.kind == "O" and any(isinstance(cell, (str, bytes)) for cell in values.flat)
        ):
            raise NotAColumnError(
                f"holds {_KINDS.get(values.dtype.kind, 'text')}, not numbers: encode it (for example with "
                "OrdinalEncoder) or leave it out"
            )
        # a copy even of float64: a generator may reuse one buffer
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
    """Return a sparse column as an array, after checking its indices."""
    from streamsieve._validation import clean_sparse  # noqa: PLC0415 - imports scikit-learn

    if X.ndim == 1:  # as one column
        X = X.tocoo()
        X = sp.coo_array((X.data, (X.coords[0], np.zeros(X.data.shape, np.int32))), shape=(*X.shape, 1))
    return clean_sparse(X, "csc").toarray()


class Computed(NamedTuple):
    """A computed column, and its computing time."""

    name: str | None
    column: FloatArray
    seconds: float


class Failed(NamedTuple):
    """A feature that could not be computed: the error text, to follow its name, and the cause."""

    name: str | None
    text: str
    error: BaseException | None


class Maker(Protocol):
    """Computes columns from an item."""

    def __call__(self, name: str | None, item: Any) -> Iterator[Computed | Failed]:
        """Yield the columns and failures of an item, each when it is computed."""
        ...


class One:
    """Computes one column from an item: ``compute(item)``, or without that function ``item()``."""

    def __init__(self, compute: Callable[[Any], Any] | None) -> None:
        self._compute = compute

    def __call__(self, name: str | None, item: Any) -> Iterator[Computed | Failed]:
        """Yield one outcome."""
        started = perf_counter()
        try:
            value = item() if self._compute is None else self._compute(item)
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises names its feature
            yield Failed(name, f"could not be computed: {error_line(error)}", error)
        else:
            yield outcome(name, value, perf_counter() - started)


class Several:
    """Computes columns from a named column: those that ``transform(name, column)`` returns or yields."""

    def __init__(self, transform: Callable[[str, FloatArray], Any]) -> None:
        self._transform = transform

    def __call__(self, name: str | None, item: Any) -> Iterator[Computed | Failed]:
        """Yield an outcome for each column, up to the first failure."""
        started = perf_counter()
        try:
            made = self._transform(str(name), item)
            items = made if isinstance(made, Iterator) else iter([made])
            for value in items:
                own, column = split_name(value)
                yield outcome(own or name, column, perf_counter() - started)
                started = perf_counter()
        except Exception as error:  # noqa: BLE001 - likewise
            yield Failed(None, f"made from {name!r} could not be computed: {error_line(error)}", error)


def outcome(name: str | None, value: Any, seconds: float) -> Computed | Failed:
    """Return a value as a column, or as a failure that says why it is not one."""
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


def error_line(error: BaseException) -> str:
    """Return an error as one line of text."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def portable(result: Computed | Failed) -> Computed | Failed:
    """Return an outcome that can be pickled: an error has its traceback as text."""
    if isinstance(result, Computed) or result.error is None:
        return result
    cause = RuntimeError(error_line(result.error))
    cause.add_note("".join(traceback.format_exception(result.error)))
    return result._replace(error=cause)


class Item(NamedTuple):
    """An item of a factory, and the time it took to produce."""

    name: str | None
    content: Any
    seconds: float


class Items:
    """Items by number, from ``first`` on, each kept until it is released.

    So a stream that was interrupted or failed can resume at its item, even if the factory is an iterator,
    which cannot be restarted.  ``packed``, if given, replaces an item before the iterator advances.
    """

    def __init__(
        self, iterator: Iterator[Any], first: int = 0, packed: Callable[[Item], Item] | None = None
    ) -> None:
        self._iterator, self._packed = iterator, packed
        self._waiting: deque[Item] = deque()
        self._broken: str | None = None
        #: Number of the first item that is still available.
        self.first = first

    def get(self, number: int) -> Item | None:
        """Return an item, or None after the last."""
        while self.first + len(self._waiting) <= number:
            item = self._next()
            if item is None:
                return None
            self._waiting.append(item)
        return self._waiting[number - self.first]

    def release_before(self, number: int) -> None:
        """Drop the items before this number, all of which have been read."""
        while self.first < number:
            self._waiting.popleft()
            self.first += 1

    def iterates(self, factory: Any) -> bool:
        """Whether the factory is itself an iterator, which cannot be restarted."""
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
            if inspect.isgenerator(self._iterator):  # otherwise it would seem exhausted
                self._broken = error_line(error)
            raise
        item = Item(*split_name(given), perf_counter() - started)
        return item if self._packed is None else self._packed(item)
