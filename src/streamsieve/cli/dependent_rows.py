"""``--groups`` and ``--time``: the column by which the rows of a table depend on each other."""

from __future__ import annotations

import re
import shlex
import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from streamsieve._paths import is_svmlight
from streamsieve.base import ColumnSelector
from streamsieve.cli.output import say
from streamsieve.exceptions import DependentRowsWarning, ParameterError, SourceError

#: Names of columns that identify the subject of a row.
_IDENTIFIER = re.compile(
    r"(.*[_ .-])?(id|patient|subject|user|customer|site)([_ .-]?(id|no|number))?", re.IGNORECASE
)


class DependentRows(NamedTuple):
    """Columns by which rows depend on each other."""

    groups: str | None = None
    time: str | None = None

    @property
    def columns(self) -> list[str]:
        """Columns that are not features."""
        return [name for name in self if name is not None]

    def given(self, holdout: float | None) -> dict[str, str]:
        """Return the options of ``fit`` about the rows, as expressions over a dataframe ``data``."""
        known = {
            "groups": self.groups and f"data[{self.groups!r}]",
            "serial": self.time and "True",
            "holdout": holdout and repr(holdout),
        }
        return {name: text for name, text in known.items() if text}

    def check(self, selector: Any, data: list[str]) -> None:
        """Refuse options that cannot be used, before any work; the selector may not be known yet."""
        if len(self.columns) == len(self):
            raise ParameterError(
                "--groups and --time exclude each other: for time series of several subjects, give --groups"
            )
        option = "--groups" if self.groups else "--time"
        if self.columns and selector is not None and not isinstance(selector, ColumnSelector):
            name = type(selector).method_name()
            raise ParameterError(f"{option} is about methods that stream columns, and {name} does not")
        if self.columns and any(map(is_svmlight, data)):
            raise ParameterError(f"{option} names a column of a table, and svmlight text has no names")

    def begin(
        self, selector: ColumnSelector, source: Any, *, target: str | None, quiet: bool,
        holdout: float | None = None,
    ) -> None:  # fmt: skip
        """Begin with the target of a source and the values of the columns; print notes on suspicious ones."""
        if getattr(source, "y", None) is None:
            return
        begin = partial(selector.begin, source.y, **({} if holdout is None else {"holdout": holdout}))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DependentRowsWarning)
            if self.groups is not None:
                begin(groups=source.column(self.groups))
            elif self.time is not None:
                _check_sorted(self.time, source.times(self.time))
                begin(serial=True)
            else:
                begin()
        for each in caught:
            if not issubclass(each.category, DependentRowsWarning):
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
            elif not quiet:
                say(_in_options(str(each.message), target))
        if not quiet and not self.columns and not caught:
            _hint(source)


def _in_options(message: str, target: str | None) -> str:
    """Return a warning about rows in terms of command-line options and columns."""
    if not message.startswith("y is autocorrelated"):
        return f"note: {message}"
    what = f"{target or 'y'}{message.partition('.  If')[0][1:]}"
    return (
        f"note: {what}; if the rows are a time series, say --time COLUMN, and if several rows belong to one "
        "subject, --groups COLUMN"
    )


def _check_sorted(name: str, times: Any) -> None:
    missing = [v is None for v in times] if times.dtype.kind == "O" else times != times  # noqa: PLR0124 - NaN
    values = times.astype(str) if times.dtype.kind == "O" else times
    if np.any(missing):
        raise SourceError(f"column {name!r} has missing values: drop those rows or fill them in")
    back = np.flatnonzero(values[1:] < values[:-1])
    if len(back):
        raise SourceError(
            f"the rows are not sorted by {name!r}: row {int(back[0]) + 1} is earlier than the one before; "
            "sort the file by time"
        )


def _hint(source: Any) -> None:
    """Return a hint if a column looks like an identifier whose values repeat."""
    for name in getattr(source, "names", None) or []:
        if _IDENTIFIER.fullmatch(name) and hasattr(source, "column"):
            values = source.column(name)
            if 1 < len(np.unique(values)) < len(values) / 2:
                say(
                    f"note: {name!r} looks like an identifier, and its values repeat: if rows that share it "
                    f"depend on each other, say --groups {shlex.quote(name)}"
                )
                return
