"""Which columns of some table files are features, which one is the target, and how they become arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from streamsieve._parameters import did_you_mean
from streamsieve.exceptions import SourceError
from streamsieve.sources.checks import some
from streamsieve.sources.tables.files import named

if TYPE_CHECKING:
    from streamsieve.protocols import FloatArray
    from streamsieve.sources.tables.files import Table

#: Row numbers, not features: what pandas writes for its index (to Parquet, to CSV).
_INDEX = re.compile(r"__index_level_\d+__|")


@dataclass(frozen=True)
class Layout:
    """The features in order, the target, and the Arrow type that the target has in all files."""

    features: list[str]
    target: str | None
    target_type: Any

    @property
    def columns(self) -> list[str]:
        """All columns that are read, the target last."""
        return self.features if self.target is None else [*self.features, self.target]

    @property
    def labels(self) -> str | None:
        """What the target holds: "numbers" or "text"."""
        return None if self.target is None else _kind(self.target_type)


def layout_of(
    files: Sequence[Table], target: str | None, *, skip_text: bool, exclude: Sequence[str] = ()
) -> Layout:
    """Settle the features and the target of files that form one stream; refuse files that differ."""
    first = files[0]
    kinds = kinds_of(first.shown, first.schema)
    if target is not None and target not in kinds:
        raise SourceError(
            f"{first.shown} has no column {target!r} to serve as target{did_you_mean(target, kinds)}; "
            f"its columns are {some(kinds)}"
        )
    check_names(first, exclude)
    for file in files[1:]:
        _refuse_difference(first, kinds, file, kinds_of(file.shown, file.schema))
    text = [name for name, kind in kinds.items() if kind != "numbers" and name not in {target, *exclude}]
    if text and not skip_text:
        raise SourceError(
            f"{first.shown}: column {some(text, 3)} holds {kinds[text[0]]}, not numbers: encode it (for "
            "example with OrdinalEncoder), or leave such columns out with skip_text=True (--skip-text)"
        )
    left_out = {target, *text, *exclude}
    features = [name for name in kinds if name not in left_out]
    if not features:
        raise SourceError(
            f"{first.shown} has no column of numbers besides the target: its columns are {some(kinds)}"
        )
    return Layout(features, target, _target_type(files, target))


def check_names(file: Table, names: Sequence[str]) -> None:
    """Refuse names of columns that a file does not have."""
    known = kinds_of(file.shown, file.schema)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise SourceError(f"{file.shown} has no column {name!r}{hint}; its columns are {some(known)}")


def plain(type_: Any) -> Any:
    """Return the type of the values of a column, whichever way they are encoded."""
    from pyarrow import types as t  # noqa: PLC0415

    return type_.value_type if t.is_dictionary(type_) or t.is_run_end_encoded(type_) else type_


def kinds_of(shown: str, schema: Any) -> dict[str, str]:
    """Return what each column of a table holds: "numbers", "text", or else the name of its type."""
    kinds: dict[str, str] = {}
    for name, type_ in zip(schema.names, schema.types, strict=True):
        if _INDEX.fullmatch(name):
            continue
        if name in kinds:
            raise SourceError(f"{shown} has two columns {name!r}: every column needs its own name")
        kinds[name] = _kind(type_)
    return kinds


def _kind(type_: Any) -> str:
    from pyarrow import types as t  # noqa: PLC0415

    type_ = plain(type_)
    if t.is_boolean(type_) or t.is_integer(type_) or t.is_floating(type_):
        return "numbers"
    if t.is_decimal(type_) or t.is_null(type_):
        return "numbers"
    if t.is_string(type_) or t.is_large_string(type_) or t.is_string_view(type_):
        return "text"
    return f"{type_}" if len(str(type_)) < 60 else "nested values"


def _refuse_difference(first: Table, kinds: dict[str, str], file: Table, others: dict[str, str]) -> None:
    for name in (*kinds, *others):
        one, other = kinds.get(name), others.get(name)
        if one == other:
            continue
        if other is None:
            what = f"lacks the column {name!r} of {first.shown}{did_you_mean(name, others)}"
        elif one is None:
            what = f"has a column {name!r}, which {first.shown} has not{did_you_mean(name, kinds)}"
        else:
            what = f"holds {other} in column {name!r}, but {first.shown} holds {one}"
        raise SourceError(f"{file.shown} {what}: all files of a stream must have the same columns")


def _target_type(files: Sequence[Table], target: str | None) -> Any:
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import types as t  # noqa: PLC0415

    if target is None:
        return None
    found = [file.schema.field(target).type for file in files]
    found = [plain(type_) for type_ in found]
    kind = _kind(found[0])
    if kind == "text":
        return pa.large_string()
    if kind != "numbers":
        raise SourceError(
            f"{files[0].shown}: the target column {target!r} holds {kind}: give a column of numbers or "
            "of text labels"
        )
    if any(t.is_decimal(type_) or t.is_null(type_) for type_ in found) or len(set(found)) > 1:
        whole = all(t.is_integer(type_) or t.is_boolean(type_) for type_ in found)
        return pa.int64() if whole else pa.float64()
    return found[0]


def matrix(batch: Any, features: Sequence[str], file: Table, *, row_major: bool) -> FloatArray:
    """Return the features in a record batch as float64; null becomes NaN."""
    with named(file.shown, advice=file.advice):
        return values_of(batch, features, row_major=row_major)


def values_of(batch: Any, features: Sequence[str], *, row_major: bool) -> FloatArray:
    """Return columns of a record batch as float64: the one conversion, for files, streams and tables."""
    import pyarrow as pa  # noqa: PLC0415

    batch = batch.select(list(features))
    schema = pa.schema([(name, pa.float64()) for name in features])
    if not batch.schema.equals(schema):
        batch = batch.cast(schema, safe=False)
    values: FloatArray = batch.to_tensor(null_to_nan=True, row_major=row_major).to_numpy()
    return values


def labels(column: Any, layout: Layout, file: Table) -> npt.NDArray[Any]:
    """Return a piece of the target as an array; a missing label is an error."""
    import pyarrow.compute as pc  # noqa: PLC0415
    from pyarrow import types as t  # noqa: PLC0415

    with named(file.shown, advice=file.advice):
        column = column.cast(layout.target_type, safe=False)
        missing = column.null_count
        if t.is_large_string(layout.target_type):
            # an empty cell of a CSV file
            missing += pc.sum(pc.equal(column, "")).as_py() or 0
    if missing:
        raise SourceError(
            f"{file.shown}: the target column {layout.target!r} has missing values: drop those rows or "
            "fill them in"
        )
    values: npt.NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values.astype(str) if values.dtype.kind == "O" else values
