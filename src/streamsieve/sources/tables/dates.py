"""Dates as days since 1970: columns of dates, and text such as 31.12.2024, 12/31/2024 or 2024-12-31 23:59."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from streamsieve._advice import as_argument
from streamsieve.protocols import FloatArray

#: Kind of a column of text that holds dates only.
DATES = "dates"
#: Proportion of dates among the distinct texts from which on a column is meant to hold dates.
MEANT = 0.8
_DAY = 86_400 * 10**6  # in microseconds
_TIME = r"(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<fraction>\.\d+)?)?Z?)?"
_YEAR_LAST = rf"^(?P<one>\d{{1,2}})(?P<a>[-/.])(?P<two>\d{{1,2}})(?P<b>[-/.])(?P<year>\d{{4}}){_TIME}$"
_YEAR_FIRST = rf"^(?P<year>\d{{4}})(?P<a>[-/.])(?P<one>\d{{1,2}})(?P<b>[-/.])(?P<two>\d{{1,2}}){_TIME}$"


@dataclass(frozen=True)
class DateOrder:
    """How dates are written in a column of text.

    ``form`` is their strptime format, empty if there are several; ``ambiguous`` dates are also valid with day
    and month exchanged.
    """

    month_first: bool
    ambiguous: bool
    form: str

    @property
    def words(self) -> str:
        """The order in words, such as day.month.year."""
        usual = "%m/%d/%Y" if self.month_first else "%d/%m/%Y"
        date = (self.form or usual).partition(" ")[0].partition("T")[0]
        return date.replace("%d", "day").replace("%m", "month").replace("%Y", "year")

    def days(self, column: Any) -> Any:
        """Return part of the column as days since 1970; NaN for texts that are not dates."""
        import pyarrow as pa  # noqa: PLC0415

        codes = _plain(column).dictionary_encode()
        known = pa.array(_days(codes.dictionary, month_first=self.month_first), from_pandas=True)
        return known.take(codes.indices)

    def days_of(self, texts: Any) -> FloatArray:
        """Return texts as days since 1970; NaN where one is missing."""
        import pyarrow as pa  # noqa: PLC0415

        found: FloatArray = self.days(pa.array(texts, pa.large_string())).to_numpy(zero_copy_only=False)
        return found


@dataclass
class WrittenDates:
    """Inference of whether the texts of a column are dates, and in which order, from its distinct values."""

    texts: int = 0
    dates: int = 0
    day_first: bool = True
    month_first: bool = True
    others: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    forms: set[str] = field(default_factory=set)

    def look(self, values: Any) -> None:
        """Examine some distinct values of the column; missing and blank ones are ignored."""
        import pyarrow.compute as pc  # noqa: PLC0415

        texts = _plain(values).drop_null()
        texts = texts.filter(pc.not_equal(texts, ""))
        day_first = np.isfinite(_days(texts, month_first=False))
        month_first = np.isfinite(_days(texts, month_first=True))
        dates = day_first | month_first
        self.texts, self.dates = self.texts + len(texts), self.dates + int(dates.sum())
        self.others += texts.filter(~dates).to_pylist()[: 3 - len(self.others)]
        self.examples += texts.filter(dates & ~month_first).to_pylist()[: 1 - len(self.examples)]
        if dates.any():
            self.day_first &= bool(day_first[dates].all())
            self.month_first &= bool(month_first[dates].all())
            self.forms.update(_forms(texts.filter(dates)))

    @property
    def meant(self) -> bool:
        """Whether the column is meant to hold dates, although some of its texts may not be dates."""
        return self.dates > 0 and self.dates >= MEANT * self.texts

    def order(self, *, month_first: bool) -> DateOrder | None:
        """Return the order common to all texts; ``month_first`` decides if both are possible."""
        if not self.dates or self.dates < self.texts or not (self.day_first or self.month_first):
            return None
        months = month_first if self.day_first and self.month_first else self.month_first
        form = next(iter(self.forms)) if len(self.forms) == 1 else ""
        both = self.day_first and self.month_first and not all(f.startswith("%Y") for f in self.forms)
        return DateOrder(months, both, _exchanged(form) if months else form)

    def problem(self) -> str:
        """Return why texts that are meant as dates cannot be read as such, and what to do."""
        if self.others:
            return (
                f"holds dates, and other texts such as {self.others[0]!r}: if they mean missing values, say "
                f"{as_argument('na', self.others)}"
            )
        return (
            f"holds dates with the day first, such as {self.examples[0]!r}, and others with the month first: "
            "write all of them as 2024-12-31"
        )


def is_date(kind: str) -> bool:
    """Whether values of a kind are dates or timestamps."""
    return kind.startswith(("timestamp", "date32", "date64", DATES))


def days(column: Any) -> Any:
    """Return values of a date type as days since 1970, with fractions."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    moments = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    return pc.divide(moments.cast(pa.float64()), float(_DAY))


def order_of(texts: Any, *, month_first: bool = False) -> DateOrder | None:
    """Return how dates are written in some texts, or None if a text is not a date."""
    import pyarrow as pa  # noqa: PLC0415

    found = WrittenDates()
    found.look(pa.array(texts, pa.large_string()).unique())
    return found.order(month_first=month_first)


def _plain(column: Any) -> Any:
    """Return texts without blanks around them, as one array."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return pc.utf8_trim_whitespace(column.cast(pa.large_string()))


def _days(texts: Any, *, month_first: bool) -> FloatArray:
    """Return texts as days since 1970; NaN where a text is missing or not a date."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    found = np.full(len(texts), np.nan)
    for pattern in (_YEAR_LAST, _YEAR_FIRST):
        parts = pc.extract_regex(texts, pattern)
        there = np.flatnonzero(parts.is_valid().to_numpy(zero_copy_only=False))
        if not len(there):
            continue
        parts = parts.take(there)
        number = {name: _numbers(pc.struct_field(parts, name), pa.int64()) for name in _NUMBERS}
        day_first = pattern is _YEAR_LAST and not month_first
        month, day = (number["two"], number["one"]) if day_first else (number["one"], number["two"])
        months = 12 * (number["year"] - 1970) + month - 1
        date = months.astype("M8[M]").astype("M8[D]") + (day - 1)
        fraction = _numbers(pc.struct_field(parts, "fraction"), pa.float64())
        seconds = 3600 * number["hour"] + 60 * number["minute"] + number["second"] + fraction
        valid = (month >= 1) & (month <= 12) & (day >= 1) & (date.astype("M8[M]").astype(int) == months)
        valid &= (number["hour"] < 24) & (number["minute"] < 60) & (number["second"] < 60)
        valid &= pc.equal(pc.struct_field(parts, "a"), pc.struct_field(parts, "b")).to_numpy(
            zero_copy_only=False
        )
        found[there] = np.where(valid, date.astype(int) + seconds / 86_400, np.nan)
    return found


_NUMBERS = ("one", "two", "year", "hour", "minute", "second")


def _numbers(digits: Any, type_: Any) -> Any:
    """Return digits as numbers; 0 where there are none."""
    import pyarrow.compute as pc  # noqa: PLC0415

    return pc.if_else(pc.equal(digits, ""), "0", digits).cast(type_).to_numpy()


def _forms(dates: Any) -> set[str]:
    """Return the strptime formats of some dates, as if the day came first."""
    import pyarrow.compute as pc  # noqa: PLC0415

    shapes = pc.replace_substring_regex(dates, r"(:\d{2}:\d{2})\.\d+", r"\1.%f")
    shapes = pc.replace_substring_regex(pc.replace_substring_regex(shapes, r"\d{4}", "%Y"), r"\d+", "0")
    found = set()
    for shape in shapes.unique().to_pylist():
        date = ("%m", "%d") if shape.startswith("%Y") else ("%d", "%m")
        for part in (*date, "%H", "%M", "%S"):
            shape = shape.replace("0", part, 1)  # noqa: PLW2901 - filled in step by step
        found.add(shape)
    return found


def _exchanged(form: str) -> str:
    """Return a format with the month first; formats with the year first are unchanged."""
    if form.startswith("%Y"):
        return form
    return form.replace("%d", "%-").replace("%m", "%d").replace("%-", "%m")
