"""Filters of rows: simple comparisons such as ``age>=18``, and rows whose target is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamsieve._advice import by_interface
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.sources.tables.files import TableFile, named, plain

if TYPE_CHECKING:
    from streamsieve.sources.tables.files import Table

_COMPARISON = re.compile(r"\s*(.+?)\s*(>=|<=|!=|==|=|<|>)\s*(.*?)\s*", re.DOTALL)
_FUNCTIONS = {
    ">=": "greater_equal",
    "<=": "less_equal",
    "!=": "not_equal",
    "==": "equal",
    "=": "equal",
    "<": "less",
    ">": "greater",
}


@dataclass(frozen=True)
class Condition:
    """A comparison of a column with a value; missing values never fulfill it."""

    column: str
    operator: str
    value: str

    def mask(self, batch: Any, file: Table) -> Any:
        """Return for each row whether it fulfills the condition."""
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.compute as pc  # noqa: PLC0415

        column = batch.column(self.column)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        scalar = self.scalar(column.type)
        with named(file.shown, advice=file.advice):
            return getattr(pc, _FUNCTIONS[self.operator])(column.cast(scalar.type), scalar)

    def scalar(self, type_: Any) -> Any:
        """Return the value in the type of the column; raise an error if they cannot be compared."""
        import pyarrow as pa  # noqa: PLC0415

        type_ = plain(type_)
        type_ = pa.float64() if _is_number(type_) else type_
        text = pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_)
        if text and self.operator not in ("=", "==", "!="):
            raise ParameterError(
                f"where={str(self)!r}: {self.column!r} holds text, which is compared by = and != only"
            )
        try:
            return pa.scalar(self.value).cast(type_)
        except pa.ArrowException as error:
            raise ParameterError(
                f"where={str(self)!r}: {self.value!r} cannot be compared with {self.column!r}, which holds "
                f"{type_}"
            ) from error

    def __str__(self) -> str:
        return f"{self.column}{self.operator}{self.value}"


def _is_number(type_: Any) -> bool:
    from pyarrow import types as t  # noqa: PLC0415

    return bool(t.is_integer(type_) or t.is_floating(type_) or t.is_decimal(type_) or t.is_null(type_))


def conditions(texts: Sequence[str]) -> tuple[Condition, ...]:
    """Return comparisons such as "age>=18", "city=Rome" as conditions."""
    found = []
    for text in texts:
        match = _COMPARISON.fullmatch(text)
        if match is None:
            raise ParameterError(
                f"where must compare a column with a value, such as 'age>=18' or 'city=Rome'; got {text!r}"
            )
        found.append(Condition(*match.groups()))
    return tuple(found)


def is_missing(column: Any) -> Any:
    """Return for each row whether a label is missing: null, NaN or the empty text of a CSV file."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    missing = pc.is_null(column, nan_is_null=True)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        missing = pc.or_(missing, pc.fill_null(pc.equal(column, ""), fill_value=False))
    return missing


def missing_labels(file: Table, target: str) -> SourceError:
    """Return the error for missing labels: how many, where, and what to do."""
    if not isinstance(file, TableFile):  # a stream may be readable once
        return SourceError(
            f"{file.shown}: the target column {target!r} has missing values: drop those rows or fill them in"
        )
    row, total, first = 0, 0, list[int]()
    for batch in file.batches([target]):
        missing = is_missing(batch.column(0)).to_numpy(zero_copy_only=False)
        first += (missing.nonzero()[0][: 3 - len(first)] + row + 1).tolist()
        row, total = row + batch.num_rows, total + int(missing.sum())
    where = ", ".join(f"{each:,}" for each in first)
    return SourceError(
        f"{file.shown}: the target column {target!r} has missing values ({total:,} of {row:,} rows, at row "
        f"{where}{', ...' * (total > len(first))}): leave those rows out with "
        f"{by_interface('drop_missing_target=True', '--drop-missing-target')}, or fill them in"
    )
