"""Dialect of a text file: separator, decimal mark and encoding, given or sniffed from its beginning."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from streamsieve._advice import as_argument
from streamsieve.exceptions import ParameterError, SourceError

#: Separators that are recognized, the likeliest first.
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
#: Characters and lines at the beginning of a file from which its dialect is sniffed.
SAMPLE, LINES = 2**16, 100
_DECIMAL = {mark: re.compile(rf"[+-]?\d*{re.escape(mark)}\d+([eE][+-]?\d+)?") for mark in ".,"}
#: Groups of three digits: a number with thousands separators, or one with three decimals.
GROUPED = re.compile(r"[+-]?\d{1,3}([.,' \u00a0\u202f]\d{3})+([.,]\d+)?")
#: Units that make a number text, and number of values up to which such text may be categories.
_UNIT, FEW_UNITS = re.compile(r"^[$€£¥]\s*|\s*[%‰$€£¥]$"), 10
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8"}


@dataclass(frozen=True)
class Dialect:
    """Dialect of text; fields that are None or empty are sniffed, or have defaults.

    ``na`` are texts that mean a missing value, besides the usual ones ("", "NA", "NaN", "null" and the like),
    and ``skip_rows`` are lines before the one that names the columns.
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] = ()
    skip_rows: int = 0

    def check(self) -> None:
        """Raise ``ParameterError`` for an impossible dialect."""
        if self.sep is not None and (len(self.sep) != 1 or self.sep in '"\r\n' or ord(self.sep) > 127):
            raise ParameterError(f"sep must be one character, such as ';' or '\\t' (tab); got {self.sep!r}")
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"decimal must be '.' or ','; got {self.decimal!r}")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError as error:
                raise ParameterError(
                    "encoding must be a name that Python knows, such as 'latin-1', 'cp1252' or 'utf-16'; "
                    f"got {self.encoding!r}"
                ) from error


def encoding_of(head: bytes, given: str | None) -> str:
    """Return the encoding of a text by its beginning: given, by byte order mark, or UTF-8."""
    if given is not None:
        return codecs.lookup(given).name
    return next((name for mark, name in _MARKS.items() if head.startswith(mark)), "utf-8")


def is_ascii_based(encoding: str) -> bool:
    """Whether line ends are single bytes without another meaning, so that bytes can be cut into lines."""
    return encoding == "utf-8" or encoding.startswith(("iso8859", "cp125", "ascii", "latin"))


def sniffed(head: bytes, given: Dialect, default: str | None) -> Dialect:
    """Return the dialect of a text by its beginning; ``default`` is the separator if none is found."""
    encoding = encoding_of(head, given.encoding)
    text = "".join(decoded(head, encoding).splitlines(keepends=True)[given.skip_rows :])
    sep = given.sep or _separator(text) or default
    if sep is None:
        names = ", ".join(SEPARATORS.values())
        raise SourceError(
            f"no separator was found in it ({names}): say which, {as_argument('sep', ' ')}; svmlight text "
            "is recognized by the suffix .svm"
        )
    decimal = given.decimal or (_decimal_mark(text, sep) if sep != "," else ".")
    return replace(given, sep=sep, decimal=decimal, encoding=encoding)


def decoded(head: bytes, encoding: str) -> str:
    """Decode the beginning of a text, whose last character may be incomplete."""
    return codecs.getincrementaldecoder(encoding)(errors="replace").decode(head).removeprefix("\ufeff")


def lines_before(text: str, name: str | None = None) -> int:
    """Return the number of lines before the one that names the columns: the first with ``name``.

    Without a name, it is the first with as many cells as most lines have, if the very first has only one.
    A first line that is as wide as the others by any separator names the columns: by another separator, such
    as the decimal comma of numbers separated by semicolons, it may be a single cell.
    """
    found = 0
    lines = text.splitlines()[:LINES]
    for sep in SEPARATORS:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=sep)]
        if len(rows) != len(lines):  # a line end within quotes: rows are not lines
            continue
        filled = [sum(map(bool, row)) for row in rows]
        usual = max(filled, key=filled.count, default=0)
        if name is not None:
            found = found or header_line(rows, name)
        elif usual > 1 and filled[0] == usual:
            return 0
        elif usual > 1 and filled[0] == 1:
            found = max(found, filled.index(usual))
    return found


def header_line(rows: Sequence[Sequence[str]], name: str) -> int:
    """Return the position of the first row with ``name`` that can name columns: all its texts differ."""
    for place, row in enumerate(rows):
        filled = [cell for cell in row if cell]
        if (
            name in row
            and len(set(filled)) == len(filled)
            and not any(is_number(cell, ".") for cell in filled)
        ):
            return place
    return 0


def cells(text: str, sep: str) -> list[list[str]]:
    """Return the first lines of a text as cells, without the last line, which may be incomplete."""
    lines = text.splitlines(keepends=True)
    if len(text) >= SAMPLE or not text.endswith(("\n", "\r")):
        lines = lines[:-1] if len(lines) > 1 else lines
    try:
        return [row for row in csv.reader(lines[:LINES], delimiter=sep) if row]
    except csv.Error:
        return []


def _separator(text: str) -> str | None:
    """Return the separator that gives most columns, preferably the same number in every line."""
    widths = {}
    for place, sep in enumerate(SEPARATORS):
        rows = cells(text, sep)
        if rows and len(rows[0]) > 1:
            even = all(len(row) == len(rows[0]) for row in rows)
            widths[sep] = (even, len(rows[0]), -place)
    return max(widths, key=lambda sep: widths[sep]) if widths else None


def _decimal_mark(text: str, sep: str) -> str:
    """Return the comma if numbers have one and none has a point; groups of three digits do not count."""
    values = [cell.strip() for row in cells(text, sep)[1:] for cell in row]
    commas = [value for value in values if _DECIMAL[","].fullmatch(value)]
    points = any(_DECIMAL["."].fullmatch(value) for value in values)
    return "," if not points and any(not GROUPED.fullmatch(value) for value in commas) else "."


def why_not_numbers(values: Sequence[str], decimal: str = ".", sep: str = "") -> str | None:
    """Return why text that was meant as numbers is not numeric, and what to do; None for ordinary text."""
    values = [value.strip() for value in values if value and value.strip()]
    odd = [value for value in values if not is_number(value, decimal)]
    units = [value for value in odd if _UNIT.search(value) and is_number(_UNIT.sub("", value), decimal)]
    if len(set(units)) > FEW_UNITS and len(units) + len(values) - len(odd) >= 0.8 * len(values):
        sign = _UNIT.search(units[0])[0].strip()  # type: ignore[index]
        return f"holds numbers with the sign {sign}, such as {units[0]!r}: write them without it"
    commas = [value for value in odd if _DECIMAL[","].fullmatch(value)]
    grouped = [value for value in odd if GROUPED.fullmatch(value)]
    meant = len(values) - len(odd) + len({*commas, *grouped})
    if not odd or meant < 0.8 * len(values):
        return None
    points = any("." in value for value in values if value not in odd)
    zero = any(value.lstrip("+-").startswith("0") for value in grouped)  # unlike thousands
    quoted = sep == "," and commas and not set(commas) - set(grouped) and not zero
    if grouped and (not commas or points or quoted or set(grouped) - set(commas)):
        mark = re.sub(r"[-+\d]", "", grouped[0])[0]
        return (
            f"holds numbers with thousands separators, such as {grouped[0]!r}: write them without separators "
            f"(with pandas: read_csv with dtype=str, then frame[column].str.replace({mark!r}, ''))"
        )
    if commas and points:
        return f"mixes decimal commas ({commas[0]!r}) and points: write all numbers with a point"
    if commas:
        either = ", or write them without if they separate thousands" if grouped else ""
        return f"holds numbers with commas, such as {commas[0]!r}: say {as_argument('decimal', ',')}{either}"
    few = sorted(set(odd))[:3]
    return (
        f"holds numbers, and {len(set(odd))} other text{'s' * (len(set(odd)) > 1)} such as {few[0]!r}: if "
        "they mean missing values, "
        f"say {as_argument('na', few)}"
    )


def is_number(value: str, decimal: str) -> bool:
    """Whether a text is a number, without separators of thousands."""
    if "_" in value or (decimal == "," and "." in value):
        return False
    try:
        float(value.replace(decimal, "."))
    except ValueError:
        return False
    return True
