"""Scores of features over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from streamsieve._parameters import check_number
from streamsieve.evaluation.plots.style import bare, count_rows, mark_shifts, new_figure, plain, style
from streamsieve.evaluation.reports.track import ScreenTrack, Track
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import IntArray


def scores(
    track: Track,
    screen: str | None = None,
    top: int = 10,
    names: Sequence[str] | None = None,
    shifts: Sequence[int] = (),
) -> Any:
    """Show how the scores of the best features rose and fell.

    Drawn are the features that were best over the whole track: at every look the first of n places gives n
    points, the second n - 1, and so on; the most points win.  So a feature that led for a while is there as
    well as one that was always fifth.

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

    Returns
    -------
    matplotlib Figure; a curve begins when its feature was first selected
    """
    check_number("top", top, low=1, integer=True)
    name = _only(track) if screen is None else screen
    shown = track[name]
    figure = new_figure(9, 4.6)
    axes = figure.add_subplot()
    chosen = _best(shown, top)
    # in the order of the last scores, so that the legend reads like the right edge of the picture
    last = np.nan_to_num(shown.scores[-1, chosen], nan=-np.inf)
    for i, place in enumerate(chosen[np.argsort(-last, kind="stable")].tolist()):
        label = shown.names[place] if names is None else names[int(shown.columns[place])]
        axes.plot(track.rows, shown.scores[:, place], label=plain(label), **style(i, len(track.rows)))
    mark_shifts(axes, shifts)
    count_rows(axes, int(track.rows[-1]))
    axes.set_ylabel("score")
    axes.set_title(f"scores over time: {name}" if len(track.screens) > 1 else "scores over time")
    if not np.any(shown.scores[:, chosen] < 0):  # NaN is not
        axes.set_ylim(bottom=0)
    bare(axes)
    figure.legend(loc="outside right upper", frameon=False)
    return figure


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
