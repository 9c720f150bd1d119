"""Half-life against the rate of drift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from streamsieve.evaluation.plots.style import new_figure
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import FloatArray

#: Shares above this are written in white: the cell below them is dark.
DARK = 0.6


def heat_map(
    grid: FloatArray,
    half_lives: Sequence[float | None],
    rates: Sequence[int],
    *,
    title: str = "relevant features found",
) -> Any:
    """Show what is found at each half-life and rate of drift; the best half-life of each rate is framed.

    Parameters
    ----------
    grid : (rate, half-life) shares found
    half_lives : rows after which a row weighs half; None never forgets
    rates : rows between two shifts
    title : str, default="relevant features found"
        What the shares are.

    Returns
    -------
    matplotlib Figure, in the manner of Wang 2021, figure 3.2
    """
    values = np.asarray(grid, np.float64)
    if values.shape != (len(rates), len(half_lives)):
        raise ParameterError(
            f"grid must have a row for each of {len(rates)} rates and a column for each of "
            f"{len(half_lives)} half-lives; it is {' x '.join(map(str, values.shape))}"
        )
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - needs the cli extra

    figure = new_figure(2.2 + 0.8 * len(half_lives), 1.6 + 0.55 * len(rates))
    axes = figure.add_subplot()
    image = axes.imshow(values, cmap="Greys", vmin=0, vmax=1, aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        ink = "white" if value > DARK else "black"
        axes.text(j, i, f"{value:.2f}", ha="center", va="center", color=ink, fontsize=9)
    for i, j in enumerate(np.nanargmax(values, axis=1).tolist()):
        axes.add_patch(Rectangle((j - 0.46, i - 0.44), 0.92, 0.88, fill=False, edgecolor="#d95f02", lw=2))
    lives = ["never\nforgets" if life is None else f"{life:,.0f}" for life in half_lives]
    axes.set_xticks(range(len(half_lives)), lives)
    axes.set_yticks(range(len(rates)), [f"{rate:,}" for rate in rates])
    axes.set(xlabel="half-life (rows)", ylabel="rows between shifts", title=title)
    figure.colorbar(image, ax=axes, label="share", fraction=0.04)
    return figure
