"""Scores of many features over time, as a map."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from streamsieve.evaluation.plots.curves import check_places
from streamsieve.evaluation.plots.style import count_rows, new_figure, plain
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import BoolArray, FloatArray

#: More names than this would overlap; then only some are written.
MOST_NAMES = 40


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

    Returns
    -------
    matplotlib Figure
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
    axes.set_yticks(range(0, len(names), every), [plain(name) for name in names[::every]], fontsize=8)
    axes.set(ylim=(len(names) - 0.5, -0.5))
    axes.set_title(title, pad=10)
    axes.set_ylabel("feature" if every == 1 else f"feature (every {every}th is named)")
    figure.colorbar(image, ax=axes, label=measure, fraction=0.04, pad=0.02, aspect=30)
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        figure.legend(handles, labels, loc="outside lower center", frameon=False, ncols=len(labels))
    return figure


def _frame(axes: Any, edges: FloatArray, relevant: BoolArray, shape: tuple[int, ...]) -> None:
    """Frame the stretches in which a feature is relevant: white round black shows on any grey."""
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
