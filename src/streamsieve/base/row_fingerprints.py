"""Fingerprints by which rows are recognized: the same rows, in the same order, with the same target.

All columns of a stream have the same rows, even if the stream is resumed later in another process.  A
fingerprint of 64 bits per row is enough to find which rows differ, without storing identifiers.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any, Self

import narwhals as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._frames import array_of
from streamsieve.exceptions import InputError, SchemaError, TargetError
from streamsieve.protocols import IntArray
from streamsieve.state import Array, Int, Part, register

Fingerprints = npt.NDArray[np.uint64]


@register
class RowsIdentity(Part):
    """Fingerprints of the target and of the rows' identifiers, and how rows depend on each other.

    Parameters
    ----------
    n : number of rows
    y : fingerprints of the target, or None for states saved without them
    rows : fingerprints of the rows' identifiers, or None
    groups : code of each row's group, 0, 1, 2, ..., or None
    lag : largest lag at which rows in time order are correlated, or None
    """

    fields = {
        "n": Int(1, 2**31, size="rows"),
        "y": Array("u8", "rows", optional=True),
        "rows": Array("u8", "rows", optional=True),
        "groups": Array("i8", "rows", codes=True, optional=True),
        "lag": Int(1, 2**31, optional=True),
    }

    def __init__(
        self,
        n: int,
        y: Fingerprints | None,
        rows: Fingerprints | None,
        groups: IntArray | None = None,
        lag: int | None = None,
    ) -> None:
        self.n, self.y, self.rows, self.groups, self.lag = n, y, rows, groups, lag
        #: The pandas index compared last.  It cannot change, and blocks cut from one dataframe share it.
        self._seen: Any = None

    @classmethod
    def of(
        cls, y: npt.NDArray[Any], rows: Any, groups: IntArray | None = None, lag: int | None = None
    ) -> Self:
        """Return the identity of a target and, unless None, of row identifiers."""
        known = None if rows is None else _row_fingerprints(rows, len(y))
        return cls(len(y), fingerprints(y), known, groups, lag)

    def check_target(self, y: npt.NDArray[Any]) -> None:
        """Raise ``TargetError`` if the target differs."""
        if self.y is None:
            raise TargetError("this state was saved without its target: call begin(y) again")
        if len(y) != self.n:
            raise TargetError(f"y has {len(y)} rows, but begin(y) was given {self.n}: give the same rows")
        found = fingerprints(y)
        different = np.flatnonzero(found != self.y)
        if len(different):
            i = int(different[0])
            raise TargetError(
                f"y is not the one that begin(y) was given: {len(different)} of {self.n} rows differ, "
                f"the first is row {i} ({y[i]!s}){_way_out(found, self.y)}"
            )

    def check_rows(self, rows: Any) -> None:
        """Raise ``SchemaError`` if the rows or their order differ; accept any rows if none are known."""
        if self.rows is None or (hasattr(rows, "is_") and rows.is_(self._seen)):
            return
        found = _row_fingerprints(rows, self.n)
        different = np.flatnonzero(found != self.rows)
        if len(different):
            i = int(different[0])
            raise SchemaError(
                f"the rows differ from those of earlier columns: {len(different)} of {self.n} identifiers "
                f"differ, the first is that of row {i} ({_values(rows)[i]!s}){_way_out(found, self.rows)}"
            )
        self._seen = rows

    def check_groups(self, groups: IntArray) -> None:
        """Raise ``SchemaError`` if the groups of rows differ."""
        if self.groups is None:
            raise SchemaError("begin(y) was given no groups of rows, so there are none to compare with")
        different = np.flatnonzero(groups != self.groups)
        if len(different):
            raise SchemaError(
                f"groups are not those that begin(y, groups=...) was given: the first row that is in another "
                f"group is row {int(different[0])}"
            )

    def same_dependence(self, other: Self) -> bool:
        """Whether the rows of another identity depend on each other in the same way."""
        mine, theirs = self.groups, other.groups
        same = np.array_equal(mine, theirs) if mine is not None and theirs is not None else mine is theirs
        return same and self.lag == other.lag

    def matches(self, other: Self) -> bool:
        """Whether rows, target and dependence are the same; rows without identifiers match any."""
        mine, theirs = self.rows, other.rows
        if mine is not None and theirs is not None and not np.array_equal(mine, theirs):
            return False
        known = self.y is not None and other.y is not None and np.array_equal(self.y, other.y)
        return known and self.same_dependence(other)

    def learn_rows(self, rows: Any) -> None:
        """Store the identifiers of the rows, if none are known yet."""
        if self.rows is None:
            self.rows, self._seen = _row_fingerprints(rows, self.n), rows

    def over(self, rows: Any) -> Self:
        """Return the identity of the same target over rows with these identifiers."""
        return type(self)(self.n, self.y, _row_fingerprints(rows, self.n), self.groups, self.lag)

    @classmethod
    def _misfits(cls, record: Mapping[str, Any]) -> Iterator[str]:
        if record["lag"] is not None and (record["groups"] is not None or record["lag"] >= record["n"]):
            yield "the lag is not one of this number of rows, or there are groups as well"

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        return cls(**record)


def index_of(X: Any) -> Any:
    """Return the index of a pandas dataframe or series, or None.

    The default index 0, 1, 2, ... does not identify rows, and counts as none.
    """
    if isinstance(X, np.ndarray) or sp.issparse(X):
        return None
    pandas = nw.dependencies.is_pandas_dataframe(X) or nw.dependencies.is_pandas_series(X)
    if not pandas or (type(X.index).__name__ == "RangeIndex" and X.index.start == 0 and X.index.step == 1):
        return None
    return X.index


def fingerprints(values: npt.NDArray[Any]) -> Fingerprints:
    """Return a 64-bit hash of every value; equal numbers have equal hashes, whatever their type."""
    if values.dtype.kind in "Mm":
        values = values.astype(f"{values.dtype.kind}8[ns]").astype(np.int64)
    if values.dtype.kind in "biu":
        return values.astype(np.int64).view(np.uint64)
    if values.dtype.kind == "f":
        numbers_ = values.astype(np.float64)
        whole = (np.floor(numbers_) == numbers_) & (np.abs(numbers_) < 2.0**62)
        bits = numbers_.view(np.uint64).copy()
        bits[whole] = numbers_[whole].astype(np.int64).view(np.uint64)
        return bits
    known: dict[Any, int] = {}
    out = np.empty(len(values), np.uint64)
    for i, value in enumerate(values.tolist()):
        try:
            bits_ = known.get(value)
        except TypeError:  # a list, a dict
            raise SchemaError(
                f"rows and groups are known by text, numbers or dates; row {i} has {value!r}"
            ) from None
        if bits_ is None:
            bits_ = known[value] = _fingerprint(value)
        out[i] = bits_
    return out


def _fingerprint(value: Any) -> int:
    if isinstance(value, numbers.Real) and (found := np.array([value])).dtype.kind != "O":
        return int(fingerprints(found)[0])
    text = value if isinstance(value, str) else f"{type(value).__name__} {value!r}"
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _row_fingerprints(rows: Any, n: int) -> Fingerprints:
    values = _values(rows)
    if values.ndim != 1 or len(values) != n:
        raise SchemaError(
            f"rows must name {n} rows, one identifier for each row of y; got an array of shape {values.shape}"
        )
    return fingerprints(values)


def _values(rows: Any) -> npt.NDArray[Any]:
    return identifiers(rows, "rows must be one identifier for each row of y")


def identifiers(rows: Any, wanted: str) -> npt.NDArray[Any]:
    """Return identifiers of rows or groups, of any container, as an array."""
    try:
        return array_of(rows)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # libraries raise errors of their own
        raise SchemaError(f"{wanted}: {error}") from error


def _way_out(found: Fingerprints, wanted: Fingerprints) -> str:
    if np.array_equal(np.sort(found), np.sort(wanted)):
        return "; they are the same in another order: sort the rows as they were at begin"
    return "; columns of one stream stand over the same rows: give those, or begin(y) a new stream"
