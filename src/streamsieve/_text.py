"""Sanitized output of untrusted text: names and labels may hold terminal escapes or spreadsheet formulas."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import IO, Any

#: Control characters, bidirectional marks, line separators, surrogates.
_ACTIVE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
#: What ends a line for one reader or another.
_ENDS = re.compile("[\n-\r\x1c-\x1e\x85\u2028\u2029]")
#: Beginnings of cells that a spreadsheet would evaluate, after any quotes put in front.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def shown(text: object) -> str:
    r"""Return text for a terminal, an HTML page or a plot, with control characters escaped as ``\x1b``."""
    return _ACTIVE.sub(_escaped, str(text))


def a_line_of(text: str) -> str:
    r"""Return text as a line of a file, with ends of lines escaped as ``\n``: one name may not become two."""
    return _ENDS.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def in_a_line(error: BaseException) -> str:
    """Return what another library says, which may show the data, in a line and escaped; at least its type."""
    return shown(" ".join(str(error).split())) or type(error).__name__


def shortened(name: object, longest: int = 60) -> str:
    """Return a name as `shown`, a long one without its middle: a question of a survey, for example."""
    text = shown(name)
    return text if len(text) <= longest else f"{text[: longest - 20]}...{text[-17:]}"


def plot_name(name: object, longest: int = 60) -> str:
    """Return a name as a plot draws it: never a formula between dollars, and shortened in the middle.

    A name of thousands of characters would leave no room for the axes.  Matplotlib leaves labels that begin
    with an underscore out of legends, hence the space before them.
    """
    text = shortened(name, longest).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def guarded(cell: Any) -> Any:
    """Return a cell of a CSV file with a quote before text that a spreadsheet would evaluate."""
    if not isinstance(cell, str) or not _FORMULA.match(cell):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def unguarded(cell: str) -> str:
    """Return the cell that :func:`guarded` was given."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def write_csv(file: IO[str], rows: Iterable[Iterable[Any]], *, raw: bool = False) -> None:
    """Write rows as CSV; unless ``raw``, no cell of text can become a formula of a spreadsheet."""
    csv.writer(file).writerows(rows if raw else (map(guarded, row) for row in rows))
