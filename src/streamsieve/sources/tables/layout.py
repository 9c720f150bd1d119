"""Layout of tables: which columns are features, which one is the target, and their conversion to arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from streamsieve._advice import as_argument
from streamsieve._parameters import did_you_mean
from streamsieve.exceptions import SourceError
from streamsieve.sources.checks import some
from streamsieve.sources.tables.conditions import Condition, is_missing, missing_labels
from streamsieve.sources.tables.dates import DATES, DateOrder, WrittenDates, is_date
from streamsieve.sources.tables.encoding import Categories, Choices, Codes, categories_of, encoded
from streamsieve.sources.tables.files import TableFile, named, plain
from streamsieve.sources.tables.refusals import Refusals
from streamsieve.sources.weights import as_weights

if TYPE_CHECKING:
    from streamsieve.protocols import FloatArray
    from streamsieve.sources.tables.files import Table

#: Number of rows examined for columns of text that may hold dates.
LOOKED_AT = 1000
#: Row numbers, not features: what pandas writes for its index (to Parquet, to CSV).
_INDEX = re.compile(r"__index_level_\d+__|")


@dataclass(frozen=True)
class Choice:
    """Options that select columns and rows, and decide on columns that do not hold numbers.

    ``features`` and ``exclude`` name columns, ``nominal`` those whose text becomes codes; ``categories`` and
    ``dates`` decide on other text and on dates: "refuse" or "drop" them, or convert them to numbers.
    ``month_first`` is how to read dates such as 03/04/2024.  ``weight`` is the column with row weights.
    """

    features: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    categories: str = "refuse"
    dates: str = "refuse"
    where: tuple[Condition, ...] = ()
    drop_missing_target: bool = False
    nominal: tuple[str, ...] = ()
    month_first: bool = False
    weight: str | None = None

    def options(self) -> dict[str, Any]:
        """Return the options that change values or rows, as JSON."""
        found = {
            "where": [str(each) for each in self.where],
            "drop_missing_target": self.drop_missing_target,
            "nominal": list(self.nominal),
            "weight": self.weight,
        }
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True)
class Layout:
    """The features in order, the target, and the Arrow type that the target has in all files.

    ``raw`` are the columns from which features are made: ``encoders`` turn a text column into several, and
    the columns in ``dates`` become days, for text by a known order of day and month.  ``left_out`` are the
    other columns, by the reason, and ``choices`` the text columns that list choices.
    """

    features: list[str]
    target: str | None
    target_type: Any
    raw: list[str]
    choice: Choice = Choice()
    encoders: dict[str, Categories | Codes] = field(default_factory=dict)
    dates: dict[str, DateOrder | None] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    choices: dict[str, Choices] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """All columns that are read, the target last."""
        asked = dict.fromkeys((*self.raw, *(each.column for each in self.choice.where)))
        return [*(name for name in asked if name not in self.beside), *self.beside]

    @property
    def beside(self) -> list[str]:
        """Columns read besides the features: the weight and the target, if there are any."""
        return [name for name in (self.choice.weight, self.target) if name is not None]

    @property
    def filter_columns(self) -> list[str]:
        """Columns that determine which rows are kept."""
        target = [self.target] if self.choice.drop_missing_target and self.target is not None else []
        return [*(each.column for each in self.choice.where), *target]

    @property
    def labels(self) -> str | None:
        """Kind of the target: "numbers" or "text"."""
        return None if self.target is None else _kind(self.target_type)

    @property
    def filters(self) -> bool:
        """Whether rows may be left out."""
        return bool(self.choice.where) or self.choice.drop_missing_target

    @property
    def prepares(self) -> bool:
        """Whether features or rows differ from those of the files."""
        return self.filters or bool(self.encoders) or bool(self.dates)

    def filtered(self, batch: Any, file: Table) -> Any:
        """Return the rows of a batch that fulfill the conditions."""
        import pyarrow.compute as pc  # noqa: PLC0415

        masks = [each.mask(batch, file) for each in self.choice.where]
        if self.choice.drop_missing_target and self.target is not None:
            masks.append(pc.invert(is_missing(batch.column(self.target))))
        for mask in masks:
            masks[0] = mask if mask is masks[0] else pc.and_kleene(masks[0], mask)
        return batch.filter(masks[0]) if masks else batch

    def prepared(self, batch: Any, file: Table) -> Any:
        """Return the rows that fulfill the conditions, with text and dates as numbers."""
        if not self.prepares:
            return batch
        batch = self.filtered(batch, file)
        with named(file.shown, advice=file.advice):
            ready = encoded(batch, self.raw, self.encoders, self.dates)
            for name in self.beside:
                ready = ready.append_column(name, batch.column(name))
            return ready


def layout_of(files: Sequence[Table], target: str | None, choice: Choice) -> Layout:
    """Return the layout of files that form one stream; refuse files that differ."""
    first = files[0]
    kinds = kinds_of(first.shown, first.schema)
    if target is not None and target not in kinds:
        raise SourceError(
            f"{first.shown} has no column {target!r} to serve as target{did_you_mean(target, kinds)}; "
            f"its columns are {some(kinds)}{_below(first, target)}"
        )
    _check_weight(first, kinds, target, choice)
    others = {name: kind for file in files[1:] for name, kind in kinds_of(file.shown, file.schema).items()}
    check_names(first, [name for name in choice.exclude if name not in others])
    check_names(first, [*choice.features, *choice.nominal, *(each.column for each in choice.where)])
    for condition in choice.where:
        condition.scalar(first.schema.field(condition.column).type)
    for file in files[1:]:
        _refuse_difference(first, kinds, file, target, choice)
    excluded = [name for name in choice.exclude if name != target]
    left_out = {**_index(first.schema), "excluded": excluded}
    offered = {n: k for n, k in kinds.items() if n not in {target, choice.weight, *choice.exclude}}
    if choice.features:
        left_out["not asked for"] = [name for name in offered if name not in choice.features]
        offered = {name: kind for name, kind in offered.items() if name in choice.features}
    if target in choice.features:
        raise SourceError(f"{target!r} is the target, so it cannot be a feature: leave it out of features")
    target_type = target_type_of(files, target)
    bare, refusals = Layout([], target, target_type, [], choice), Refusals(first)
    written = _dates_in_text(files, offered, bare, refusals)
    offered |= dict.fromkeys(written, DATES)
    refusals.look_at_kinds(offered, choice)
    encoders, unusable, choices = _encoders(files, offered, bare, refusals)
    refusals.check()
    typed = [name for name, kind in offered.items() if choice.dates == "number" and is_date(kind)]
    dates = {name: written.get(name) for name in typed}
    raw = [n for n, kind in offered.items() if kind == "numbers" or n in encoders or n in dates]
    features = [each for name in raw for each in (encoders[name].names if name in encoders else [name])]
    left_out = {why: names for why, names in (left_out | unusable).items() if names}
    if not features:
        raise SourceError(
            f"{first.shown} has no column of numbers besides the target: its columns are {some(kinds)}"
            f"{_reasons(left_out)}"
        )
    return Layout(features, target, target_type, raw, choice, encoders, dates, left_out, choices)


def _check_weight(first: Table, kinds: dict[str, str], target: str | None, choice: Choice) -> None:
    """Refuse a column of weights that does not exist, is not numeric, or has another role."""
    name = choice.weight
    if name is None:
        return
    check_names(first, [name])
    if kinds[name] != "numbers":
        raise SourceError(f"{first.shown}: the weight column {name!r} holds {kinds[name]}, not numbers")
    if name == target or name in choice.features:
        what = "the target" if name == target else "among the features"
        raise SourceError(f"{name!r} is the weight of rows and {what}: it can be one of them")


def _encoders(
    files: Sequence[Table], offered: dict[str, str], bare: Layout, refusals: Refusals
) -> tuple[dict[str, Categories | Codes], dict[str, list[str]], dict[str, Choices]]:
    """Return encoders of text, the columns that cannot be features, by the reason, and lists of choices."""
    choice = bare.choice
    text = [name for name, kind in offered.items() if kind == "text"]
    rest = {name: kind for name, kind in offered.items() if kind not in ("numbers", "text")}
    dates = [name for name, kind in rest.items() if is_date(kind)]
    lists = [name for name, kind in rest.items() if "list<" in kind]
    other = [name for name in rest if name not in {*dates, *lists}]
    unusable = {"lists": lists, "other types": other, "dates": [] if choice.dates == "number" else dates}
    wanted = [name for name in text if choice.categories == "auto" or name in choice.nominal]
    unusable["text"] = [name for name in text if name not in wanted]
    if not wanted:
        return {}, unusable, {}
    encoders, without, found = categories_of(wanted, _read(files, wanted, bare), refusals, choice.nominal)
    return encoders, {**unusable, **without}, found


def _read(files: Sequence[Table], columns: list[str], bare: Layout) -> Iterator[tuple[Table, Any]]:
    """Yield some columns of the rows that fulfill the conditions."""
    asked = replace(bare, raw=columns)
    return ((f, asked.filtered(b, f)) for f in files for b in f.batches(asked.columns))


def _dates_in_text(
    files: Sequence[Table], offered: dict[str, str], bare: Layout, refusals: Refusals
) -> dict[str, DateOrder]:
    """Return the columns of text that hold only dates; refuse exceptions if dates are to be converted."""
    choice, first = bare.choice, files[0]
    text = [name for name, kind in offered.items() if kind == "text" and name not in choice.nominal]
    if (
        not text
        or not isinstance(first, TableFile)
        or (choice.categories == "drop" and choice.dates != "number")
    ):
        return {}
    found = {name: WrittenDates() for name in text}
    for batch in islice(first.batches(text, LOOKED_AT), 1):
        for name, written in found.items():
            written.look(batch.column(name).unique())
    possible = {name: WrittenDates() for name, each in found.items() if each.meant or not each.texts}
    for _, batch in _read(files, list(possible), bare) if possible else ():
        for name, written in possible.items():
            written.look(batch.column(name).unique())
    orders = {name: each.order(month_first=choice.month_first) for name, each in possible.items()}
    for name, written in possible.items():
        if orders[name] is None and written.meant and choice.dates == "number":
            refusals.columns[name] = written.problem()
    return {name: order for name, order in orders.items() if order is not None}


def _reasons(left_out: dict[str, list[str]]) -> str:
    reasons = "; ".join(f"{why}: {some(names)}" for why, names in left_out.items())
    return f" (left out: {reasons})" if reasons else ""


def check_names(file: Table, names: Sequence[str]) -> None:
    """Refuse names that are not columns of a file."""
    known = kinds_of(file.shown, file.schema)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise SourceError(f"{file.shown} has no column {name!r}{hint}; its columns are {some(known)}")


def kinds_of(shown: str, schema: Any) -> dict[str, str]:
    """Return the kind of each column of a table: "numbers", "text", or else the name of its type."""
    kinds: dict[str, str] = {}
    for name, type_ in zip(schema.names, schema.types, strict=True):
        if _INDEX.fullmatch(name):
            continue
        if name in kinds:
            raise SourceError(f"{shown} has two columns {name!r}: every column needs its own name")
        kinds[name] = _kind(type_)
    return kinds


def _index(schema: Any) -> dict[str, list[str]]:
    """Return the columns that hold row numbers, or names of rows."""
    found: dict[str, list[str]] = {}
    for name, type_ in zip(schema.names, schema.types, strict=True):
        if _INDEX.fullmatch(name):
            what = "row names" if _kind(type_) == "text" else "row numbers"
            found.setdefault(what, []).append(name or "(no name)")
    return found


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


def _below(file: Table, target: str) -> str:
    """Return a hint if a later line names the columns, or none does."""
    lines = file.lines_before(target)
    if not lines:
        return file.no_names(target)
    return f"; line {lines + 1} names {target!r}: {as_argument('skip_rows', lines)} begins there"


def _refuse_difference(
    first: Table, kinds: dict[str, str], file: Table, target: str | None, choice: Choice
) -> None:
    """Refuse files that differ in the columns that are read."""
    others = kinds_of(file.shown, file.schema)
    needed = {
        target,
        choice.weight,
        *choice.features,
        *choice.nominal,
        *(each.column for each in choice.where),
    }
    for name in (*kinds, *others):
        one, other = kinds.get(name), others.get(name)
        unused = name in choice.exclude or (choice.features and name not in choice.features)
        if one == other or (unused and name not in needed - {*choice.exclude}):
            continue
        if other is None:
            what = f"lacks the column {name!r} of {first.shown}{did_you_mean(name, others)}"
        elif one is None:
            what = f"has a column {name!r}, which {first.shown} has not{did_you_mean(name, kinds)}"
        else:
            what = f"holds {other} in column {name!r}, but {first.shown} holds {one}"
        leave = "" if name in needed else f", or leave it out: {as_argument('exclude', name)}"
        raise SourceError(f"{file.shown} {what}: all files of a stream must have the same columns{leave}")


def target_type_of(files: Sequence[Table], target: str | None) -> Any:
    """Return the Arrow type that holds the target of all tables; it must hold labels or numbers."""
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
    """Return columns of a record batch as float64; the only conversion, for files, streams and tables."""
    import pyarrow as pa  # noqa: PLC0415

    batch = batch.select(list(features))
    schema = pa.schema([(name, pa.float64()) for name in features])
    if not batch.schema.equals(schema):
        batch = batch.cast(schema, safe=False)
    values: FloatArray = batch.to_tensor(null_to_nan=True, row_major=row_major).to_numpy()
    return values


def labels(column: Any, layout: Layout, file: Table) -> npt.NDArray[Any]:
    """Return part of the target as an array; a missing label is an error."""
    with named(file.shown, advice=file.advice):
        column = column.cast(layout.target_type, safe=False)
        missing = is_missing(column).true_count
    if missing and layout.target is not None:
        raise missing_labels(file, layout.target)
    values: npt.NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values.astype(str) if values.dtype.kind == "O" else values


def weights(column: Any, layout: Layout, file: Table) -> FloatArray:
    """Return part of the column of weights as an array; missing and negative ones are errors."""
    import pyarrow as pa  # noqa: PLC0415

    with named(file.shown, advice=file.advice):
        column = column.cast(pa.float64(), safe=False)
    values = column.to_numpy(zero_copy_only=False)  # null becomes NaN
    return as_weights(values, f"{file.shown}: the values of the weight column {layout.choice.weight!r}")
