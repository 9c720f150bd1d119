"""Text as numbers: indicators or codes of categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from streamsieve.sources.tables.dates import DateOrder, days

if TYPE_CHECKING:
    from streamsieve.protocols import FloatArray
    from streamsieve.sources.tables.files import Table
    from streamsieve.sources.tables.refusals import Refusals

#: Categories up to which a text column is encoded.
MOST_CATEGORIES = 50
#: Rows from which on text that differs in all of them is not encoded.
FEWEST_ROWS = 20
#: Name of the category for missing texts; a category of its own, as in scikit-learn.
MISSING = "missing"


@dataclass(frozen=True)
class Categories:
    """The indicator columns of a text column, as scikit-learn's OneHotEncoder makes them."""

    column: str
    encoder: Any

    @property
    def names(self) -> list[str]:
        """Names such as ``city=Rome``; of two categories, the second alone."""
        return [str(name) for name in self.encoder.get_feature_names_out([self.column])]

    def encode(self, column: Any) -> FloatArray:
        """Return the indicators of part of the column."""
        if not len(column):  # scikit-learn refuses empty input
            return np.empty((0, len(self.names)))
        encoded: FloatArray = self.encoder.transform(_texts(column)[:, None])
        return encoded


@dataclass(frozen=True)
class Codes:
    """A text column as one column of codes 0, 1, 2, ..., in the order of the sorted texts."""

    column: str
    levels: Sequence[str]

    @property
    def names(self) -> list[str]:
        """The name of the column, in a list."""
        return [self.column]

    def encode(self, column: Any) -> FloatArray:
        """Return the codes of part of the column."""
        codes: FloatArray = np.searchsorted(np.array(self.levels, object), _texts(column)).astype(np.float64)
        return codes[:, None]


def categories_of(
    columns: Sequence[str],
    batches: Iterable[tuple[Table, Any]],
    refusals: Refusals,
    nominal: Sequence[str] = (),
) -> tuple[dict[str, Categories | Codes], dict[str, list[str]], dict[str, Choices]]:
    """Return encoders of text columns, found in one pass, columns without one, and lists of choices.

    The ``nominal`` columns become codes, with any number of levels; text that was meant as numbers is
    reported to ``refusals``.
    """
    from sklearn.preprocessing import OneHotEncoder  # noqa: PLC0415 - the sources are cheap to import

    levels: dict[str, set[str]] = {name: set() for name in columns}
    rows = 0
    for file, batch in batches:
        rows += batch.num_rows
        for name, known in levels.items():
            if len(known) <= MOST_CATEGORIES or name in nominal:
                seen = set(_texts(batch.column(name).unique()).tolist())
                refusals.look_at_text(name, seen - {MISSING}, file)
                known.update(seen)
    encoders, left_out = dict[str, Categories | Codes](), dict[str, list[str]]()
    choices = {name: found for name, known in levels.items() if (found := choices_of(known))}
    for name, known in levels.items():
        if len(known) < 2:
            left_out.setdefault("constant text", []).append(name)
        elif name in nominal:
            encoders[name] = Codes(name, sorted(known))
        elif len(known) > MOST_CATEGORIES:
            left_out.setdefault(f"text of more than {MOST_CATEGORIES} values", []).append(name)
        elif len(known) == rows >= FEWEST_ROWS:  # it identifies rows
            left_out.setdefault("text that differs in every row", []).append(name)
        else:
            encoder = OneHotEncoder(
                categories=[sorted(known)],
                drop="if_binary",
                sparse_output=False,
                feature_name_combiner=_named,
            )
            encoders[name] = Categories(name, encoder.fit(np.array([[min(known)]], object)))
    return encoders, left_out, choices


class Choices(NamedTuple):
    """Choices of which each text of a column lists some, with separators between them."""

    sep: str
    names: list[str]


def choices_of(values: Iterable[str]) -> Choices | None:
    """Return the choices if texts are lists of some, as surveys export them; else None.

    They are if there are fewer choices than different lists, and each stands in several of them.
    """
    values = [value for value in values if value != MISSING]
    for sep in (", ", ";", "|", ","):
        lists = [value.split(sep) for value in values]
        counts = Counter(choice.strip() for each in lists for choice in each if choice.strip())
        several = sum(len(each) > 1 for each in lists)
        if 2 * several > len(lists) and 1 < len(counts) < len(values) and min(counts.values()) > 1:
            return Choices(sep, sorted(counts))
    return None


def _named(column: str, value: str) -> str:
    return f"{column}={value}"


def encoded(
    batch: Any,
    features: Iterable[str],
    encoders: Mapping[str, Categories | Codes],
    dates: Mapping[str, DateOrder | None],
) -> Any:
    """Return a record batch in which text and dates are numbers; other columns stay as they are."""
    import pyarrow as pa  # noqa: PLC0415

    def columns() -> Iterator[tuple[str, Any]]:
        for name in features:
            if name in encoders:
                values = encoders[name].encode(batch.column(name))
                yield from zip(encoders[name].names, map(pa.array, values.T), strict=True)
            elif name in dates:
                order = dates[name]
                yield name, days(batch.column(name)) if order is None else order.days(batch.column(name))
            else:
                yield name, batch.column(name)

    names, arrays = zip(*columns(), strict=True)
    return pa.record_batch(list(arrays), names=list(names))


def _texts(column: Any) -> Any:
    """Return text as an array of objects; missing values become a text, too."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    column = column.cast(pa.large_string())
    return pc.fill_null(column, MISSING).to_numpy(zero_copy_only=False).astype(object)
