"""How a text file is written: separator, decimal mark and encoding, given or sniffed from its beginning."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from streamsieve.exceptions import ParameterError, SourceError

#: Separators that are looked for, the likeliest first.
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
#: Characters and lines at the beginning of a file from which its dialect is sniffed.
SAMPLE, LINES = 2**16, 100
_DECIMAL = {mark: re.compile(rf"[+-]?\d*{re.escape(mark)}\d+([eE][+-]?\d+)?") for mark in ".,"}
#: Groups of three digits: a number with thousands separators, or one with three decimals.
GROUPED = re.compile(r"[+-]?\d{1,3}([.,' \u00a0\u202f]\d{3})+([.,]\d+)?")
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8"}


@dataclass(frozen=True)
class Dialect:
    """How text is written; what is None or empty is sniffed, or the default.

    ``na`` are texts that mean a missing value, besides the usual ones ("", "NA", "NaN", "null" and the like).
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse what cannot be a dialect."""
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
    """Return the encoding of text that begins so: the one given, or that of its byte order mark, or UTF-8."""
    if given is not None:
        return codecs.lookup(given).name
    return next((name for mark, name in _MARKS.items() if head.startswith(mark)), "utf-8")


def is_ascii_based(encoding: str) -> bool:
    """Whether line ends are single bytes that mean nothing else, so that bytes can be cut into lines."""
    return encoding == "utf-8" or encoding.startswith(("iso8859", "cp125", "ascii", "latin"))


def sniffed(head: bytes, given: Dialect, default: str | None) -> Dialect:
    """Return the dialect of text that begins so; ``default`` is the separator if none is found."""
    encoding = encoding_of(head, given.encoding)
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(head).removeprefix("\ufeff")
    sep = given.sep or _separator(text) or default
    if sep is None:
        names = ", ".join(SEPARATORS.values())
        raise SourceError(
            f"no separator was found in it ({names}): say which, sep=' ' (--sep ' '); svmlight text is "
            "recognized by the suffix .svm"
        )
    decimal = given.decimal or (_decimal_mark(text, sep) if sep != "," else ".")
    return replace(given, sep=sep, decimal=decimal, encoding=encoding)


def cells(text: str, sep: str) -> list[list[str]]:
    """Return the first lines of a text as cells; a last line that may have been cut is left out."""
    lines = text.splitlines(keepends=True)
    if len(text) >= SAMPLE or not text.endswith(("\n", "\r")):
        lines = lines[:-1] if len(lines) > 1 else lines
    try:
        return [row for row in csv.reader(lines[:LINES], delimiter=sep) if row]
    except csv.Error:
        return []


def _separator(text: str) -> str | None:
    """Return the separator that gives most columns, the same number in every line if there is such a one."""
    widths = {}
    for place, sep in enumerate(SEPARATORS):
        rows = cells(text, sep)
        if rows and len(rows[0]) > 1:
            even = all(len(row) == len(rows[0]) for row in rows)
            widths[sep] = (even, len(rows[0]), -place)
    return max(widths, key=lambda sep: widths[sep]) if widths else None


def _decimal_mark(text: str, sep: str) -> str:
    """Return the comma if numbers have one, and none has a point; groups of three digits prove nothing."""
    values = [cell.strip() for row in cells(text, sep)[1:] for cell in row]
    commas = [value for value in values if _DECIMAL[","].fullmatch(value)]
    points = any(_DECIMAL["."].fullmatch(value) for value in values)
    return "," if not points and any(not GROUPED.fullmatch(value) for value in commas) else "."


def why_not_numbers(values: Sequence[str], decimal: str = ".") -> str | None:
    """Return why text that was meant as numbers is none, and what to do about it; None if it is just text."""
    values = [value.strip() for value in values if value and value.strip()]
    if not values:
        return None
    grouped = [value for value in values if GROUPED.fullmatch(value)]
    commas = [value for value in values if _DECIMAL[","].fullmatch(value)]
    plain = [value for value in values if _is_number(value)]
    if len(grouped) + len(commas) + len(plain) < 0.8 * len(values) or len(plain) == len(values):
        return None
    if grouped and len(commas) + len(plain) < len(values):
        return (
            f"holds numbers with thousands separators, such as {grouped[0]!r}: write them without separators"
        )
    if commas:
        if decimal == "," or plain != [v for v in plain if "." not in v]:
            return f"mixes decimal commas ({commas[0]!r}) and points: write all numbers with a point"
        either = ", or write them without if they separate thousands" if grouped else ""
        return f"holds numbers with commas, such as {commas[0]!r}: say decimal=',' (--decimal ,){either}"
    odd = sorted({value for value in values if not _is_number(value)})
    given = " ".join(f"--na {value!r}" for value in odd[:3])
    return (
        f"holds numbers, and {len(odd)} other texts such as {odd[0]!r}: if they mean missing values, say "
        f"na={odd[:3]} ({given})"
    )


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value
