"""Types of the columns of a stream of rows, fixed before the first row is learned."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._frames import categories_in
from streamsieve.base.fitted import fitted_property
from streamsieve.base.typed_columns import check_declared
from streamsieve.column_types import (
    NOMINAL,
    NUMERIC,
    ORDINAL,
    TYPES,
    ColumnTypes,
    TypesParameter,
    guessed_types,
)
from streamsieve.criteria import Criterion, Needs
from streamsieve.criteria.by_type import by_type
from streamsieve.criteria.criterion import AUTO, serves
from streamsieve.criteria.tables import TableCriterion
from streamsieve.exceptions import CapabilityError, InputTypeError, MergeError, SchemaError
from streamsieve.protocols import BoolArray, IntArray
from streamsieve.state import Array
from streamsieve.summaries import ByType
from streamsieve.summaries.nesting import innermost

if TYPE_CHECKING:
    from streamsieve.base import RowSelector

    MixinBase = RowSelector
else:
    MixinBase = object

#: The word for types that are guessed from the first batch.
GUESSED = "auto"


class TypedRows(MixinBase):
    """Mixin of ``Screen`` for ``types``; precedes `RowSelector` in the bases."""

    parameters = {"types": TypesParameter(GUESSED)}
    fields = {"_types_": Array("u1", "typed", high=len(TYPES) - 1, nonempty=True, optional=True)}

    types: ColumnTypes
    criterion: str | Criterion
    exact: bool
    _regression_: bool
    _summary_: Any
    _types_: npt.NDArray[np.uint8]
    #: Names of columns of text and categories in the first dataframe, and whether these are ordered.
    _categories: Mapping[str, bool] = {}

    def _take(self, X: Any, y: Any, weight: Any, *, first: bool) -> Self:
        if first:
            self._categories = categories_in(X)
        return super()._take(X, y, weight, first=first)

    @property
    @abstractmethod
    def _plain_criterion(self) -> Criterion:
        """The criterion of columns that are quantities."""

    @property
    def _criterion(self) -> Criterion:
        plain = self._plain_criterion
        at = self._level_columns(plain)
        return by_type(plain, at, comparable=self.criterion == AUTO, exact=self.exact) if at else plain

    def _level_columns(self, plain: Criterion) -> tuple[int, ...]:
        """Return the columns whose levels are counted, where other columns are quantities."""
        if not hasattr(self, "_types_") or plain.needs is Needs.COUNTS:
            return ()
        # with a numeric target, ordinal columns are treated as numbers
        levels = (NOMINAL,) if self.criterion == AUTO and self._regression_ else (NOMINAL, ORDINAL)
        return tuple(self._columns_of(*levels).tolist())

    def _settle_types(self, X: Any) -> None:
        """Fix the types of all columns, if any type is declared, categorical, or to be guessed."""
        text = text_columns(X)
        if self.types in (None, GUESSED) and not self._fixed_:
            return  # features that appear later would have no types
        if self.types is None and not self._categories and not text.any():
            return
        if not self._fixed_:
            raise CapabilityError(
                "types are fixed before the first row, and with learn_one and learn_many columns may appear "
                "later: use partial_fit or learn, or declare no types"
            )
        kinds = _guessed(X) if self.types == GUESSED else np.full(self.n_features_in_, NUMERIC)
        kinds[text] = NOMINAL
        by_name = {name: ORDINAL if rising else NOMINAL for name, rising in self._categories.items()}
        if isinstance(self.types, Mapping):
            check_declared(self.types, self._column_names(), self.n_features_in_)
            by_name |= {name: TYPES.index(kind) for name, kind in self.types.items()}
        if by_name:
            place = {name: j for j, name in enumerate(self._column_names())}
            kinds[[place[name] for name in by_name]] = [*by_name.values()]
        if self.types in TYPES:
            kinds[:] = TYPES.index(str(self.types))
        self._types_ = kinds.astype(np.uint8)
        self._check_types()

    def _check_types(self) -> None:
        """Refuse names for a criterion that compares numbers."""
        names, plain = self._columns_of(NOMINAL), self._plain_criterion
        if len(names) and self.criterion != AUTO and not isinstance(plain, TableCriterion):
            name = self._column_names()[int(names[0])]
            raise CapabilityError(
                f"column {name!r} is nominal, and criterion={plain.name!r} compares numbers: use "
                "criterion='auto', or one over levels such as 'mutual_info'"
            )

    def _column_names(self) -> list[str]:
        known = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if known is None else list(map(str, known))

    def _columns_of(self, *types: int) -> IntArray:
        """Return the columns of some types."""
        return np.flatnonzero(np.isin(self._types_, types))

    def _checked_cells(self, X: Any) -> Any:
        """Return rows whose quantities are numbers; refuse text and dates in a column of quantities."""
        if X.dtype != object or (plain := self._plain_criterion).needs is Needs.COUNTS:
            return X
        levels = list(self._level_columns(plain))
        text = text_columns(X)
        text[levels] = False
        if text.any():
            name = self._column_names()[int(text.argmax())]
            raise SchemaError(
                f"column {name!r} holds text, but is a quantity by its declared type or by the first batch: "
                f"declare it, types={{{name!r}: 'nominal'}}"
            )
        for j in np.setdiff1d(np.arange(X.shape[1]), levels).tolist():
            try:
                X[:, j].astype(np.float64)
            except (TypeError, ValueError) as error:
                raise InputTypeError(
                    f"column {self._column_names()[j]!r} holds {type(X[0, j]).__name__} cells, not numbers: "
                    "convert them (for example dates to days since a fixed date), or leave the column out"
                ) from error
        return X if levels else X.astype(np.float64)

    def _check_same_types(self, other: Any) -> None:
        mine, theirs = (getattr(each, "_types_", None) for each in (self, other))
        if mine is None and theirs is None:
            return
        if mine is None or theirs is None or not np.array_equal(mine, theirs):
            raise MergeError(
                "the two parts took different types for some column: declare the types of both alike, "
                'types={"zip": "nominal"}, or let both begin with the same `declare`'
            )

    def _merge(self, other: Any, columns: IntArray | None = None) -> None:
        self._check_same_types(other)
        super()._merge(other, columns)

    @fitted_property
    def column_types_(self) -> dict[str, str]:
        """Types of the columns by name, declared, inferred from dtypes, or guessed."""
        if not hasattr(self, "_types_"):
            raise AttributeError(
                f"{type(self).__name__} has column_types_ where types are declared, a column holds text or "
                'categories, or types="auto"; here all columns are quantities'
            )
        return {name: TYPES[kind] for name, kind in zip(self._column_names(), self._types_, strict=True)}

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        types = getattr(self, "_types_", None)
        if types is not None and (len(types) != self.n_features_in_ or not self._fixed_):
            yield f"there are {len(types)} types of {self.n_features_in_} features"
            return
        plain, summary = self._plain_criterion, innermost(self._summary_)
        if not isinstance(summary, ByType):
            return
        if summary.at.tolist() != [*self._level_columns(plain)]:
            yield "the summary counts the levels of other columns than the types say"
            return
        criterion: Any = self._criterion
        for part in ("numbers", "levels"):
            if not serves(getattr(criterion, part), innermost(getattr(summary, part)), exact=self.exact):
                yield f"the summary of {part} does not serve criterion={criterion.name!r}"


def text_columns(X: Any) -> BoolArray:
    """Return which columns of rows have cells of text."""
    if sp.issparse(X) or X.dtype.kind not in "OUT":
        return np.zeros(X.shape[1], bool)
    return np.array([any(isinstance(cell, str) for cell in column) for column in X.T.tolist()], bool)


def _guessed(X: Any) -> IntArray:
    """Return the types that the values of the first batch suggest; those of text do not matter."""
    if sp.issparse(X) or X.dtype.kind not in "OUT":
        return guessed_types(sp.csc_array(X) if sp.issparse(X) else X)
    numbers = np.full(X.shape, np.nan)
    rest = np.flatnonzero(~text_columns(X))
    for j in rest.tolist():
        try:
            numbers[:, j] = X[:, j].astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputTypeError(
                f"column {j} holds neither numbers nor text ({error}): convert it, or leave it out"
            ) from error
    return guessed_types(numbers)
