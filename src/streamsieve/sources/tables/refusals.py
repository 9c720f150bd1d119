"""Columns that cannot be offered: the problem of each and its solution, in one error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streamsieve._advice import as_argument, by_interface
from streamsieve.exceptions import SourceError
from streamsieve.sources.checks import some
from streamsieve.sources.tables.dates import is_date
from streamsieve.sources.tables.dialect import is_number, why_not_numbers
from streamsieve.sources.tables.files import TableFile

if TYPE_CHECKING:
    from streamsieve.sources.tables.files import Table
    from streamsieve.sources.tables.layout import Choice

#: Number of columns whose problem is explained, and of rows examined in refused text.
EXPLAINED, LOOKED_AT = 8, 1000


@dataclass
class Refusals:
    """Problems of columns of ``file``, by name, and types of columns that are refused."""

    file: Table
    columns: dict[str, str] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)

    def look_at_text(self, name: str, values: Iterable[str], file: Table) -> None:
        """Note numbers that are written in a way that makes them text."""
        dialect = getattr(file, "dialect", None)
        why = why_not_numbers(sorted(values), getattr(dialect, "decimal", "."), getattr(dialect, "sep", ""))
        if why is not None and name not in self.columns:
            self.file = self.file if self.columns else file
            self.columns[name] = why

    def look_at_kinds(self, offered: dict[str, str], choice: Choice) -> None:
        """Note columns that do not hold numbers, unless an option decides on them."""
        odd = {name: kind for name, kind in offered.items() if kind != "numbers"}
        if not odd:
            return
        dates = [name for name, kind in odd.items() if is_date(kind) and choice.dates == "refuse"]
        others = [
            name
            for name, kind in odd.items()
            if choice.categories == "refuse"
            and not is_date(kind)
            and not (kind == "text" and name in choice.nominal)
        ]
        in_file = isinstance(self.file, TableFile)  # a stream may be readable once, and has no such options
        text = [name for name in others if offered[name] == "text"]
        if in_file and text:
            for batch in self.file.batches(text, LOOKED_AT):
                for name in text:
                    values = batch.column(name).unique().to_pylist()
                    self.look_at_text(name, [each for each in values if each], self.file)
                break
        others = [name for name in others if name not in self.columns]
        encode, convert = f"encode {{}} with {as_argument('categories', 'auto')}", "convert {} with "
        convert += by_interface("dates='number'", "--dates")
        for found, ways, leave in (
            (others, encode, by_interface("skip_text=True", "--skip-text")),
            (dates, convert, by_interface("dates='drop'", as_argument("exclude", dates))),
        ):
            if not found:
                continue
            if not in_file:
                ways, leave = "encode {} in what produces the rows", "skip_text=True"  # noqa: PLW2901
            one = len(found) == 1
            self.kinds.append(
                f"column{'s' * (not one)} {some(found)} hold{'s' * one} {offered[found[0]]}, not numbers: "
                f"{ways.format('it' if one else 'them')}, or leave such columns out with {leave}"
            )

    def check(self) -> None:
        """Raise one error about all problems found."""
        found = [*([self._wrong_columns()] if self.columns else []), *self.kinds]
        if found:
            raise SourceError(f"{self.file.shown}: {'; '.join(found)}")

    def _wrong_columns(self) -> str:
        units = self._units()
        if units:
            return units
        names, leave = list(self.columns), as_argument("exclude", list(self.columns))
        if len(names) == 1:
            leave = as_argument("exclude", names[0])
            return f"column {names[0]!r} {self.columns[names[0]]}, or leave it out ({leave})"
        explained = "; ".join(f"{name!r} {self.columns[name]}" for name in names[:EXPLAINED])
        more = f"; and {len(names) - EXPLAINED} more" if len(names) > EXPLAINED else ""
        return f"{len(names)} columns cannot be offered: {explained}{more}; or leave them out ({leave})"

    def _units(self) -> str:
        """Return a hint if only the first row has texts in place of numbers: it may hold units.

        Some columns may have further texts, such as marks of missing values.
        """
        dialect: Any = getattr(self.file, "dialect", None)
        names = list(self.columns)
        head = next(iter(self.file.batches(names, LOOKED_AT)), None) if dialect is not None else None
        if head is None or head.num_rows < 3 or len(names) < 2:  # in one column, a mark such as "?"
            return ""
        clean = 0
        for name in names:
            first, *rest = head.column(name).to_pylist()
            if not first or is_number(first, dialect.decimal):
                return ""
            clean += all(is_number(value, dialect.decimal) for value in rest if value)
        if 2 * clean < len(names) or clean < 2:
            return ""
        units = some((head.column(name)[0].as_py() for name in names), 3)
        return (
            f"line {dialect.skip_rows + 2} holds texts ({units}) where the lines below hold numbers: if "
            "these are units, delete that line"
        )
