"""Types of the columns of a block, declared or guessed, and their record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from streamsieve._frames import refuse_text, refuse_text_array, with_codes
from streamsieve._parameters import did_you_mean
from streamsieve.column_types import (
    BINARY,
    NOMINAL,
    NUMERIC,
    ORDINAL,
    TYPES,
    ColumnTypes,
    as_levels,
    as_quantity,
    declared_type,
    guessed_types,
    known_types,
)
from streamsieve.exceptions import CapabilityError, SchemaError
from streamsieve.feature_names import FeatureNames
from streamsieve.ledger import Ledger
from streamsieve.protocols import ColumnBlock, IntArray, Matrix
from streamsieve.state import Array, Part


class ColumnTypesRecord(Part):
    """The types of all columns offered, a byte each."""

    fields = {"codes": Array("u1", "offered", high=len(TYPES) - 1)}

    def __init__(self) -> None:
        self._bytes = bytearray()

    @property
    def codes(self) -> IntArray:
        """Positions in `TYPES`, by arrival number."""
        return np.frombuffer(bytes(self._bytes), np.uint8).astype(np.int64)

    def __getitem__(self, index: int) -> str:
        return TYPES[self._bytes[index]]

    def append_one(self, kind: int) -> None:
        """Add the type of a single column."""
        self._bytes.append(kind)

    def append(self, types: IntArray) -> None:
        """Add the types of a block."""
        self._bytes += types.astype(np.uint8).tobytes()

    def _record(self) -> Mapping[str, Any]:
        return {"codes": self.codes.astype(np.uint8)}

    @classmethod
    def _rebuilt(cls, record: dict[str, Any]) -> Self:
        made = cls()
        made.append(record["codes"])
        return made


def check_declared(types: ColumnTypes, names: Sequence[str] | None, width: int) -> None:
    """Raise ``SchemaError`` if a type is declared for an unknown column."""
    if isinstance(types, Mapping):
        known = names or [f"x{j}" for j in range(width)]
        for name in types:
            if name not in known:
                raise SchemaError(
                    f"types declares column {name!r}, which is not among the columns"
                    f"{did_you_mean(name, known)}"
                )


def coded(X: Any) -> tuple[Any, dict[str, bool]]:
    """Return X with codes for text and categories, their names, and whether the categories are ordered."""
    refuse_text_array(X)
    with_numbers, ordered = with_codes(X)
    refuse_text(with_numbers)
    return with_numbers, ordered


def typed(
    block: ColumnBlock, types: ColumnTypes, ordered: Mapping[str, bool], start: int, most: int | None = None
) -> ColumnBlock:
    """Return a block with its types; nominal columns become codes, declared numbers bins of tables.

    Parameters
    ----------
    block : float columns
    types : types declared by the user
    ordered : names of columns that were categories or text, and whether their levels are ordered
    start : arrival number of the first column, from which columns without names get theirs
    most : maximum number of levels of a nominal column, as for ``as_levels``
    """
    if types is None and not ordered:
        return replace(block, types=guessed_types(block.X))
    names = block.names or [f"x{start + j}" for j in range(block.X.shape[1])]
    found = {column: ORDINAL if rising else NOMINAL for column, rising in ordered.items()}
    kinds = known_types(block.X, names, types, found)
    X = block.X
    for j, column in enumerate(names):
        declared = declared_type(types, column)
        if kinds[j] == NOMINAL:
            X = _replaced(X, j, as_levels(_values(X, j), column, most), block.X)
        elif declared == NUMERIC:
            X = _replaced(X, j, as_quantity(_values(X, j)), block.X)
        elif declared == BINARY and len(np.unique(_values(X, j))) > 2:
            raise SchemaError(
                f"types declares column {column!r} binary, but it has more than two values: declare it "
                "nominal or ordinal"
            )
    return replace(block, X=X, types=kinds)


def _values(X: Matrix, j: int) -> Any:
    return X[:, [j]].toarray().ravel() if sp.issparse(X) else X[:, j]


def _replaced(X: Matrix, j: int, values: Any, original: Matrix) -> Matrix:
    """Return a matrix with column j replaced; the first replacement copies it."""
    if sp.issparse(X):
        X = sp.lil_array(X)
        X[:, j] = values[:, None]
        return sp.csc_array(X)
    X = X.copy() if X is original else X
    X[:, j] = values
    return X


if TYPE_CHECKING:
    from streamsieve.base.selector import Selector

    MixinBase = Selector
else:
    MixinBase = object


class TypedColumns(MixinBase):
    """Mixin for column selectors with column types; precedes `Selector` in the bases."""

    ledger_: Ledger
    names_: FeatureNames
    _types_: ColumnTypesRecord
    #: Maximum number of levels of a nominal column; None for the limit of the tables.
    _most_levels: ClassVar[int | None] = None

    @property
    def _knows_types(self) -> bool:
        """Whether the test depends on column types; if so, blocks carry types, and these are recorded."""
        return False

    def _coded(self, X: Any) -> tuple[Any, dict[str, bool]]:
        """Return X with codes for text and categories, and the names of such columns."""
        if self.traits.text:
            return coded(X)
        if getattr(self, "missing", None) == "omit":  # tests of categories need complete columns
            refuse_text(X, "fill in what is missing (SimpleImputer) and leave out missing='omit'")
        return X, {}

    def _typed(self, block: ColumnBlock, ordered: Mapping[str, bool] | None = None) -> ColumnBlock:
        """Return a block with the types of its columns, if the test depends on them."""
        if "_types_" in self.__dict__:
            types = getattr(self, "types", None)
            return typed(block, types, ordered or {}, self.n_features_in_, self._most_levels)
        if ordered or getattr(self, "types", None) is not None:
            what = f"column {min(ordered)!r} holds names" if ordered else "types are declared"
            raise CapabilityError(
                f"{what}, but {type(self).__name__} tests numbers only where rows depend on each other or "
                "values may be missing: leave such columns out, or encode them, and declare no types"
            )
        return block

    def _type_of(self, feature: str) -> str | None:
        """Return the type of a column by name; None if its name is not on record."""
        index = self.names_.index_of(feature)
        return None if index is None or index >= self.n_features_in_ else self._types_[index]

    @property
    def column_types_(self) -> dict[str, str]:
        """Types of the recorded columns by name: declared, inferred from dtypes, or guessed."""
        if "_types_" not in self.__dict__:
            raise AttributeError(
                f"{type(self).__name__} has column_types_ after begin or fit, where types choose the test"
            )
        known = range(self.n_features_in_) if self.ledger_.keep == "all" else self.selected_
        codes = self._types_.codes
        return {self.names_[int(j)]: TYPES[codes[int(j)]] for j in known}
