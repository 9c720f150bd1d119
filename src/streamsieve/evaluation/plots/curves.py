"""What pictures of several curves share: their checks, their bands, their legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import ParameterError
from streamsieve.protocols import FloatArray

#: Bands of more curves than this hide each other.
MOST_BANDS = 4
#: A legend of more names than this stands beside the picture, in one column.
MOST_BELOW = 4
#: Width of a letter of a legend, of what stands before its text, and height of a line, in inches.
LETTER, SAMPLE, LINE = 0.078, 0.75, 0.215
#: Logarithmic from this ratio of the largest to the smallest number on.
WIDE = 30


def curve(name: str, values: npt.ArrayLike, n_points: int, *, runs_first: bool = False) -> FloatArray:
    """Return (point, run) values of a curve that may be given without runs."""
    table = np.asarray(values, np.float64)
    table = table[:, None] if table.ndim == 1 else table.T if runs_first else table
    if table.ndim != 2 or len(table) != n_points or not table.shape[1]:
        shape = " x ".join(map(str, np.shape(values))) or "a single number"
        raise ParameterError(f"{name!r} must have a value for each of {n_points} points; it is {shape}")
    return table


def check_some(what: str, given: Mapping[str, Any]) -> None:
    """Refuse to draw nothing."""
    if not given:
        raise ParameterError(f"there is nothing to draw: {what} is empty")


def check_places(what: str, places: Sequence[float] | npt.NDArray[Any]) -> FloatArray:
    """Return where the points of curves stand: at least one, ascending."""
    at = np.asarray(places, np.float64)
    if at.ndim != 1 or not len(at) or not np.isfinite(at).all() or (np.diff(at) <= 0).any():
        raise ParameterError(f"{what} must be at least one number, ascending; got {places!r}")
    return at


def room_for(names: Iterable[str]) -> tuple[float, float]:
    """Return the width and the height, in inches, that a legend of these names takes beside a picture."""
    listed = list(names)
    if len(listed) <= MOST_BELOW:
        return 0.0, 0.0
    return SAMPLE + LETTER * max(map(len, listed)), LINE * len(listed) + 0.2


def add_title(figure: Any, title: str, beside: float) -> None:
    """Write a title over the panels, of which a legend of some width stands to the right."""
    if title:
        figure.suptitle(title, x=0.5 * (1 - beside / figure.get_size_inches()[0]))


def add_baseline(axes: Any, value: float, label: str) -> None:
    """Draw a line across that no curve can be taken for: solid, broad and pale."""
    axes.axhline(value, color="#b0b0b0", linewidth=3, zorder=1, label=label)


def add_legend(figure: Any) -> None:
    """Explain the curves of all panels once: below if they are few, beside the picture if many."""
    known: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    where: dict[str, Any] = {"loc": "outside right upper"}
    if len(known) <= MOST_BELOW:
        where = {"loc": "outside lower center", "ncols": len(known)}
    figure.legend(list(known.values()), list(known), frameon=False, handlelength=3, **where)


def count_axis(axis: Any, places: FloatArray) -> None:
    """Let an axis count things, with a scale for the numbers there are."""
    from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: PLC0415 - needs the cli extra

    if places[0] > 0 and places[-1] / places[0] >= WIDE:
        axis.axes.set_xscale("log")
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))


def short(value: float) -> str:
    """Return a count in few letters: 20, 1,500, 20k, 3M."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 10 * unit or (value >= unit and value % unit == 0):
            return f"{value / unit:,.4g}{letter}"
    return f"{value:,.6g}"
