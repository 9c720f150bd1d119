"""Tables with a rare class: below how many rows the gamma distribution is confirmed.

``python -m studies.calibration.rare_levels`` prints what the page of the study shows.
"""

from __future__ import annotations

import sys

import numpy as np

from streamsieve.independence import table_p_values
from studies._report import table
from studies.calibration.sizes import LIBERAL

#: Random tables per cell.
DRAWS = 100_000
#: Rows of the rare class; all rows; equally frequent levels.
RARE = (4, 5, 6, 8, 12, 16, 20, 30, 40, 60)
ROWS, LEVELS = 600, (3, 5, 10, 20)
#: Levels of the tests.
ALPHAS = (0.05, 0.01, 0.001)
#: Standard errors that a size may be above what is called liberal.
ERRORS = 3


def sizes(rare: int, levels: int) -> list[float]:
    """Return the sizes of the gamma distribution with permutation moments, not confirmed."""
    rng = np.random.default_rng([rare, levels])
    ones = rng.multivariate_hypergeometric([ROWS // levels] * levels, rare, DRAWS)
    found = table_p_values.moments(np.stack([ROWS // levels - ones, ones], axis=2))
    scale = 2 * found.mean / found.variance
    p = table_p_values.p_value(found.statistic * scale, found.mean * scale)
    return [float(np.mean(p <= alpha * (1 + 1e-9))) for alpha in ALPHAS]


def section() -> str:
    """Return the section of the page."""
    rows = [[f"{rare}", *(_cell(rare, levels) for levels in LEVELS)] for rare in RARE]
    bound = f"{table_p_values.RARE_LEVEL} rows, or than {table_p_values.RARE_PER_CLASS} per class or level"
    return f"""\
## Tables with a rare class, before they are confirmed

Pearson's statistic of a rare class has few values, and a gamma distribution is continuous. Size at .05, .01
and .001 of the gamma distribution alone: {ROWS} rows, two classes, equally frequent levels, {DRAWS:,} tables
each; bold: above {LIBERAL:g} times the level by {ERRORS} standard errors. Tables with a level or class of
fewer than {bound} on the other side, are confirmed, and so hold their level (*tables* above): they are in
brackets. The others have the p-value of the gamma distribution.

{table(["rows of the rare class", *(f"{levels} levels" for levels in LEVELS)], rows)}"""


def _cell(rare: int, levels: int) -> str:
    found = sizes(rare, levels)
    bounds = [LIBERAL * alpha + ERRORS * np.sqrt(alpha / DRAWS) for alpha in ALPHAS]
    shown = [f"{size:.2g}".lstrip("0") or "0" for size in found]
    text = " ".join(f"**{s}**" if f > b else s for s, f, b in zip(shown, found, bounds, strict=True))
    return f"({text})" if table_p_values.is_rare(rare, levels) else text


if __name__ == "__main__":
    sys.stdout.write(section() + "\n")
