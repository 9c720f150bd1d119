"""Scores of several methods on several data sets: checked, freed of rounding, ranked; results as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from streamsieve._parameters import did_you_mean
from streamsieve.exceptions import InputError, ParameterError
from streamsieve.protocols import FloatArray

#: Differences below this share of the larger of two scores are rounding.  Without it 0.9 - 0.8 and 0.8 - 0.7
#: would not tie, and two methods with the same folds in another order would not be equal.
ROUNDING = 1e-12


def as_floats(values: Any, what: str) -> FloatArray:
    """Return numbers as an array, or say that they are none."""
    try:
        found: FloatArray = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{what} must be numbers, and as many in each row as in the others: {error}"
        ) from error
    return found


def check_scores(scores: Any, methods: Sequence[str]) -> tuple[FloatArray, tuple[str, ...]]:
    """Return a (data set, method) table and the names of its columns, or say what is wrong with them."""
    names = check_methods(methods)
    table = as_floats(scores, "scores")
    if table.ndim != 2 or table.shape[1] != len(names):
        shape = " x ".join(map(str, table.shape)) or "a single number"
        raise InputError(
            f"scores must have a row for each data set and a column for each of {len(names)} methods; "
            f"they are {shape}"
        )
    if len(table) < 2:
        raise InputError(
            f"methods are compared across at least 2 data sets; got {len(table)}: within one data set, "
            "compare runs with paired_t"
        )
    if not np.isfinite(table).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(table))[0])
        raise InputError(
            f"scores must be finite; data set {row} has {table[row, column]} for {names[column]!r}: leave "
            "out the data set or the method"
        )
    return table, names


def check_methods(methods: Sequence[str]) -> tuple[str, ...]:
    """Return the names of at least two methods that all differ."""
    if isinstance(methods, str):
        raise ParameterError(f"methods must be a list of names; got the one name {methods!r}")
    if not isinstance(methods, Iterable):
        raise ParameterError(f"methods must be a list of names; got {methods!r}")
    names = tuple(map(str, methods))
    if len(names) < 2:
        raise ParameterError(f"there must be at least 2 methods to compare; got {len(names)}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"methods must have different names; {twice!r} is there twice: rename one")
    return names


def check_member(name: str, names: Sequence[str]) -> int:
    """Return the place of a method among the others, or suggest the nearest name."""
    if name not in names:
        known = ", ".join(map(repr, names))
        raise ParameterError(f"there is no method {name!r}{did_you_mean(name, names)}; there is {known}")
    return list(names).index(name)


def rounding(*values: FloatArray) -> FloatArray:
    """Return by how much results of these values may differ and still be equal."""
    noise: FloatArray = ROUNDING * np.max(np.abs(np.stack(values)), axis=0)
    return noise


def order_of_pairs(values: FloatArray, noise: FloatArray | None = None) -> FloatArray:
    """Return for all pairs along the last axis whether the first is higher (1), equal (0) or lower (-1)."""
    off = rounding(values) if noise is None else noise
    differences = values[..., :, None] - values[..., None, :]
    differences[np.abs(differences) <= np.maximum(off[..., :, None], off[..., None, :])] = 0.0
    return np.sign(differences)


def ranks(
    values: FloatArray, *, higher_is_better: bool = True, noise: FloatArray | None = None
) -> FloatArray:
    """Return the rank of every value along the last axis: 1 is best, equal ones share their mean."""
    order = order_of_pairs(values, noise)
    # half a place for everyone that is equal, a whole one for everyone ahead; itself is equal
    behind = (1 - order if higher_is_better else 1 + order).sum(axis=-1) / 2
    shared: FloatArray = behind + 0.5
    return shared


def text_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return lines of equal columns: the first is text and stands left, the others are numbers, right."""
    lines = [list(headings), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def p_text(p: float, equal: str = "") -> str:
    """Return a p-value in four decimals, after a sign of equality if one is given, or that it is smaller."""
    return "< 0.0001" if p < 0.0001 else f"{equal}{p:.4f}"
