"""Types of columns: numeric, ordinal, nominal or binary; declared by the caller, or guessed from the values.

The guess is made in one place, `guessed_types`: a column of two distinct values is binary; whole numbers that
repeat, with at most ``few_levels(n)`` distinct values over n rows, are ordinal; everything else is numeric.
Text and categories of a dataframe are nominal, which is never guessed from numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from streamsieve._caller import warn
from streamsieve._kernels import column_levels as kernel
from streamsieve._parameters import did_you_mean
from streamsieve.exceptions import ManyLevelsWarning, ParameterError
from streamsieve.protocols import FloatArray, IntArray, Matrix

#: Minimum average number of rows per distinct value for whole numbers to count as levels.
ROWS_PER_LEVEL = 20
#: Maximum number of levels of a column, unless it is declared nominal.
MOST_LEVELS = 256
#: Number of rows that are examined first.
FIRST_ROWS = 64
#: Columns that are copied together, so that they stay in cache.
COLUMNS = 64
#: Maximum number of levels in contingency tables, whatever the number of rows.
TABLE_LEVELS = 32
#: Number of distinct values up to which whole numbers are levels over any number of rows.
ALWAYS_FEW = 4


class ColumnType(StrEnum):
    """Type of the values of a column."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"
    BINARY = "binary"


#: The parameter ``types`` of selectors: the type of each column by name, one type for all, or None.
ColumnTypes: TypeAlias = Mapping[str, str] | str | None
TYPES = tuple(str(kind) for kind in ColumnType)
NUMERIC, ORDINAL, NOMINAL, BINARY = range(len(TYPES))


@lru_cache(maxsize=16)
def few_levels(n: int) -> int:
    """Return the number of distinct values up to which whole numbers over n rows are levels."""
    return min(MOST_LEVELS, max(ALWAYS_FEW, n // ROWS_PER_LEVEL))


def guessed_types(X: Matrix) -> IntArray:
    """Return the type of every column of a float matrix, dense or CSC, as its position in `TYPES`.

    NaN does not count as a value.  A column with fewer than two distinct values is numeric.
    """
    n, m = X.shape
    most, out = few_levels(n), np.zeros(m, np.int64)
    if sp.issparse(X):
        X = sp.csc_array(X)
        kernel.levels_csc(X.indptr, X.data, n, most, out)
    else:
        kernel.levels_dense(X[:FIRST_ROWS], most, out)
        some = np.flatnonzero(
            out >= 0
        )  # a few rows usually contain a fraction, and then the rest of the column need not be read
        for low in range(0, len(some), COLUMNS):
            part = some[low : low + COLUMNS]
            found = np.zeros(len(part), np.int64)
            kernel.levels_dense(np.asfortranarray(X[:, part]), most, found)
            out[part] = found
    return np.where(out == 2, BINARY, np.where(out > 2, ORDINAL, NUMERIC))


def guessed_levels(x: FloatArray) -> int:
    """Return the number of distinct values of a single column, or -1 if they are not levels."""
    return int(kernel.levels_of_one(x, few_levels(len(x))))


def guessed_type(x: FloatArray) -> int:
    """Return the guessed type of a single column; see `guessed_types`."""
    levels = guessed_levels(x)
    return BINARY if levels == 2 else ORDINAL if levels > 2 else NUMERIC


def type_names(codes: Iterable[int]) -> list[str]:
    """Return types by their positions in `TYPES`."""
    return [TYPES[code] for code in codes]


class TypesParameter:
    """A parameter that declares types of columns: a mapping from names, one type for all columns, or None.

    ``other`` words may be allowed as well.
    """

    def __init__(self, *other: str) -> None:
        self.other = other

    def check_value(self, name: str, value: Any) -> None:
        """Raise ``ParameterError`` unless the value declares types."""
        if value is None or (isinstance(value, str) and value in self.other):
            return
        declared = value if isinstance(value, Mapping) else {"": value}
        for column, kind in declared.items():
            if not isinstance(column, str) or not isinstance(kind, str) or kind not in TYPES:
                at = f"{name}[{column!r}]" if isinstance(value, Mapping) else name
                also = "".join(f", or {word!r}" for word in self.other)
                raise ParameterError(
                    f"{at} must be one of {', '.join(map(repr, TYPES))}, by names of columns or for all of "
                    f"them{also}; got {kind!r}{did_you_mean(kind, TYPES)}"
                )


def declared_type(types: ColumnTypes, name: str) -> int | None:
    """Return the type that is declared for a column, as its position in `TYPES`, or None."""
    kind = types.get(name) if isinstance(types, Mapping) else types
    return None if kind is None else TYPES.index(kind)


def known_types(X: Matrix, names: Sequence[str], types: ColumnTypes, found: Mapping[str, int]) -> IntArray:
    """Return the types of a float matrix: declared, else ``found`` by their dtypes, else guessed."""
    out = guessed_types(X)
    for j, name in enumerate(names):
        kind = declared_type(types, name)
        kind = found.get(name) if kind is None else kind
        out[j] = out[j] if kind is None else kind
    return out


def as_levels(x: FloatArray, name: str, most: int | None = None) -> FloatArray:
    """Return a nominal column as codes 0, 1, 2, ...; NaN stays NaN.

    If there are more than ``most`` levels, the rarest are pooled, with a warning; None means the limit of
    tables.
    """
    present = ~np.isnan(x)
    levels, codes, counts = np.unique(x[present], return_inverse=True, return_counts=True)
    most = max(TABLE_LEVELS, few_levels(len(x))) if most is None else most
    if len(levels) > most:
        warn(
            f"column {name!r} has {len(levels):,} levels over {len(x):,} rows; the "
            f"{len(levels) - most + 1:,} rarest are pooled into one, because tables take {most:,}: group the "
            "levels by meaning, or leave the column out",
            ManyLevelsWarning,
        )
        rank = np.empty(len(levels), np.int64)
        rank[np.argsort(-counts, kind="stable")] = np.arange(len(levels))
        codes = np.minimum(rank[codes], most - 1)
    out = np.full(len(x), np.nan)
    out[present] = codes
    return out


def as_quantity(x: FloatArray) -> FloatArray:
    """Return a column scaled so that tables cut it into bins, as they do with fractions.

    Tables treat repeated whole numbers as levels, and fractions as quantities to be binned.  Binning does not
    depend on the unit, so whole numbers are rescaled such that the smallest nonzero magnitude becomes 0.5.
    """
    present = x[~np.isnan(x)]
    size = np.abs(present[present != 0])
    whole = len(size) > 0 and bool(np.all(size == np.floor(size)))
    return x * (0.5 / size.min()) if whole else x
