"""Scores of features over time, as curves and as a map."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_number
from streamsieve._text import plot_name
from streamsieve.evaluation.plots.style import (
    bare,
    check_places,
    count_rows,
    mark_shifts,
    new_figure,
    plain,
    style,
)
from streamsieve.evaluation.reports.track import ScreenTrack, Track
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import BoolArray, FloatArray, IntArray

#: More names than this would overlap; then only some are written.
MOST_NAMES = 40
#: The scale is logarithmic, but for its lowest part, where the median is below this share of the maximum.
LOW, LINEAR = 0.1, 0.02
#: Height of a name beside a curve, as a share of the picture.
NAME = 0.055


def scores(
    track: Track,
    screen: str | None = None,
    top: int = 10,
    names: Sequence[str] | None = None,
    shifts: Sequence[int] = (),
    title: str | None = None,
    measure: str = "score",
) -> Any:
    """Show how the scores of the best features rose and fell.

    Drawn are the features that were best over the whole track: at every look the first of n places gives n
    points, the second n - 1, and so on; the most points win.  So a feature that led for a while is there as
    well as one that was always fifth.  A curve begins when its feature was first selected.

    Parameters
    ----------
    track : what a screen showed, from :func:`streamsieve.evaluation.track`
    screen : str or None, default=None
        Which screen; None if there is only one.
    top : int, default=10
        Features to draw, at most.
    names : sequence of str or None, default=None
        Names of all features, where those of the stream will not do.
    shifts : sequence of int, default=()
        Rows at which something is known to have changed.
    title : str or None, default=None
        What the picture is about; None names the screen, if there are several.
    measure : str, default="score"
        What the scores are.
    """
    check_number("top", top, low=1, integer=True)
    name = _only(track) if screen is None else screen
    shown = track[name]
    figure = new_figure(9, 4.6)
    axes = figure.add_subplot()
    chosen = _best(shown, top)
    # in the order of the last scores, so that the legend reads like the right edge of the picture
    last = np.nan_to_num(shown.scores[-1, chosen], nan=-np.inf)
    curves = []
    for i, place in enumerate(chosen[np.argsort(-last, kind="stable")].tolist()):
        label = shown.names[place] if names is None else names[int(shown.columns[place])]
        curves += axes.plot(
            track.rows, shown.scores[:, place], label=plot_name(label), **style(i, len(track.rows))
        )
    mark_shifts(axes, shifts)
    count_rows(axes, int(track.rows[-1]))
    axes.set_ylabel(plain(measure))
    known = f"scores over time: {plot_name(name)}" if len(track.screens) > 1 else "scores over time"
    axes.set_title(known if title is None else plain(title))
    if not np.any(shown.scores[:, chosen] < 0):  # NaN is not
        axes.set_ylim(bottom=0)
        _spread(axes, shown.scores[:, chosen], measure)
    bare(axes)
    _name_ends(axes, curves)
    if len(shifts):
        axes.legend(handles=[line for line in axes.lines if line.get_label() == "shift"], frameon=False)
    return figure


def _spread(axes: Any, values: FloatArray, measure: str) -> None:
    """Draw small scores apart where a few are so large that the others would lie on zero."""
    high, middle = float(np.nanmax(values)), float(np.nanmedian(values))
    if high > 0 and middle < LOW * high:
        axes.set_yscale("symlog", linthresh=LINEAR * high)
        axes.yaxis.set_major_formatter("{x:,.6g}")
        axes.set_ylabel(f"{plain(measure)} (logarithmic above {LINEAR * high:.2g})")


def _name_ends(axes: Any, curves: Sequence[Any]) -> None:
    """Write the name of each curve at its right end, in the order of the ends, none over another."""
    scale = axes.transScale + axes.transLimits  # to shares of the picture
    ends = [(float(scale.transform((0, line.get_ydata()[-1]))[1]), line) for line in curves]
    known = sorted(
        ((max(end, 0.0), line) for end, line in ends if np.isfinite(end)), key=lambda each: each[0]
    )
    known = [(0.0, line) for end, line in ends if not np.isfinite(end)] + known
    at = -np.inf
    for place, (end, line) in enumerate(known):
        above = len(known) - 1 - place  # names that still need room
        at = min(max(end, at + NAME), max(1 - NAME * above, at + NAME))
        axes.annotate(
            line.get_label(), (1, end), (1.03, at), xycoords="axes fraction", textcoords="axes fraction",
            va="center", color=line.get_color(), annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": line.get_color(), "linewidth": 0.6},
        )  # fmt: skip


def _only(track: Track) -> str:
    if len(track.screens) != 1:
        known = ", ".join(map(repr, track.screens))
        raise ParameterError(f"several screens were tracked ({known}): say which, screen=...")
    return next(iter(track.screens))


def _best(shown: ScreenTrack, top: int) -> IntArray:
    """Return the places, among the columns stored, of those that were best over all looks."""
    if not len(shown.columns):
        raise ParameterError("no feature was ever selected: there is no score to draw, select more features")
    place_of = {column: place for place, column in enumerate(shown.columns.tolist())}
    points = np.zeros(len(shown.columns), np.int64)
    for selected in shown.selected:
        for lost, column in enumerate(selected[:top].tolist()):
            points[place_of[column]] += top - lost
    return np.argsort(-points, kind="stable")[:top].astype(np.int64)


def score_map(
    rows: Sequence[int] | npt.NDArray[Any],
    scores: npt.ArrayLike,
    names: Sequence[str],
    *,
    relevant: npt.ArrayLike | None = None,
    shifts: Sequence[int] = (),
    measure: str = "score",
    title: str = "",
) -> Any:
    """Show which features score high when: drift is a dark band that moves.

    Parameters
    ----------
    rows : rows seen at every look, ascending
    scores : (look, feature) array; NaN where a score is not known, left blank
    names : of the features, from the top of the map down
    relevant : (look, feature) array of booleans or None, default=None
        Which features are known to be relevant: framed.
    shifts : sequence of int, default=()
        Rows at which something is known to have changed.
    measure : str, default="score"
        What the scores are.
    title : str, default=""
        What the stream is.
    """
    at = check_places("rows", rows)
    values = np.asarray(scores, np.float64)
    if values.shape != (len(at), len(names)) or not values.size:
        raise ParameterError(
            f"scores must have a row for each of {len(at)} looks and a column for each of {len(names)} "
            f"features; they are {' x '.join(map(str, values.shape))}"
        )
    figure = new_figure(8.4, 1.6 + 0.2 * min(len(names), MOST_NAMES))
    axes = figure.add_subplot()
    edges = np.concatenate([[0.0], at])  # a look speaks for the rows since the last one
    low = min(0.0, float(np.nanmin(values, initial=0.0)))
    image = axes.pcolormesh(
        edges, np.arange(len(names) + 1) - 0.5, values.T, cmap="Greys", vmin=low, rasterized=True
    )
    blank: dict[str, Any] = {"facecolor": "white", "hatch": "////", "edgecolor": "#aaaaaa"}
    axes.patch.set(**blank)  # shows through where nothing is known, and is no low score
    if relevant is not None:
        _frame(axes, edges, np.asarray(relevant, bool), values.shape)
    if len(shifts):
        axes.plot(
            shifts, np.full(len(shifts), -0.5), linestyle="none", marker="v", markersize=6, color="black",
            clip_on=False, label="shift", zorder=5,
        )  # fmt: skip
    if np.isnan(values).any():
        axes.fill([], [], label="not known", **blank)
    count_rows(axes, int(at[-1]))
    every = -(-len(names) // MOST_NAMES)
    axes.set_yticks(range(0, len(names), every), [plot_name(name) for name in names[::every]], fontsize=8)
    axes.set(ylim=(len(names) - 0.5, -0.5))
    axes.set_title(plain(title), pad=10)
    axes.set_ylabel("feature" if every == 1 else f"feature (every {every}th is named)")
    figure.colorbar(image, ax=axes, label=plain(measure), fraction=0.04, pad=0.02, aspect=30)
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        figure.legend(handles, labels, loc="outside lower center", frameon=False, ncols=len(labels))
    return figure


def _frame(axes: Any, edges: FloatArray, relevant: BoolArray, shape: tuple[int, ...]) -> None:
    """Frame the stretches in which a feature is relevant: white round black shows on any gray."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - needs the cli extra
    from matplotlib.patheffects import withStroke  # noqa: PLC0415

    if relevant.shape != shape:
        raise ParameterError(f"relevant must have the shape of scores, {shape}; it has {relevant.shape}")
    for feature, known in enumerate(relevant.T):
        changes = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
        for first, last in list(pairwise(changes.tolist()))[::2]:
            corner, width = (edges[first], feature - 0.5), edges[last] - edges[first]
            halo = [withStroke(linewidth=2.6, foreground="white")]
            axes.add_patch(Rectangle(corner, width, 1, fill=False, linewidth=1, path_effects=halo))
    axes.plot([], [], color="black", linewidth=1, label="relevant")
