"""Power of the default test where Student's t is exact: ``python -m studies.calibration.power``.

Writes docs/evidence/power.md, and stores its numbers.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from streamsieve.independence import FisherZ
from streamsieve.protocols import FloatArray, Task
from studies._desk import HERE
from studies._report import table, wrapped
from studies.calibration import families

RESULTS = HERE / "results" / "power.json"
PAGE = HERE.parent / "docs" / "evidence" / "power.md"
ROWS, LEVELS = (20, 100, 400), (0.05, 0.01, 0.001)
#: Effect, in standard errors.
SIGNAL = 3.0
WAYS = ("t", "normal scores", "confirmed")
#: Share of the power of the better test that may be lost.
ALLOWED = 0.03

Generator = np.random.Generator
#: Columns, target and task; with a numeric target one column, because it depends on the column.
Drawn = tuple[FloatArray, Any, Task]


def linear(x: families.Marginal) -> Callable[[Generator, int, int], list[Drawn]]:
    """Return a draw of columns, each with a target that is linear in it with normal errors."""

    def draw(rng: Generator, n: int, m: int) -> list[Drawn]:
        found: list[Drawn] = []
        for _ in range(m):
            column = families.varied(x, rng, n)
            unit = (column - column.mean()) / column.std()
            y = SIGNAL / np.sqrt(n) * unit + rng.standard_normal(n)
            found.append((column[:, None], y, Task.REGRESSION))
        return found

    return draw


def shifted(*shares: float) -> Callable[[Generator, int, int], list[Drawn]]:
    """Return a draw of normal columns whose mean differs between classes of these shares."""

    def draw(rng: Generator, n: int, m: int) -> list[Drawn]:
        y = rng.permutation(families.exact_labels(n, shares))
        unit = (y - y.mean()) / y.std()
        X = rng.standard_normal((n, m)) + SIGNAL / np.sqrt(n) * unit[:, None]
        return [(X, y, Task.BINARY if len(shares) == 2 else Task.MULTICLASS)]

    return draw


FAMILIES = {
    "y linear in Gaussian x": linear(families.gaussian),
    "y linear in lognormal x": linear(families.lognormal),
    "y linear in rare ones (10 %)": linear(families.bernoulli(0.1)),
    "Gaussian x, two equal classes": shifted(0.5, 0.5),
    "Gaussian x, class of 10 %": shifted(0.9, 0.1),
    "Gaussian x, three classes": shifted(0.5, 0.3, 0.2),
}


def scores(x: FloatArray) -> FloatArray:
    """Return the normal scores of every column, or of a target."""
    found: FloatArray = ndtri(rankdata(x, axis=0) / (len(x) + 1))
    return found


def p_values(X: FloatArray, y: Any, task: Task) -> list[FloatArray]:
    """Return the p-values of the three tests."""
    ranked = scores(y) if task is Task.REGRESSION else y
    return [
        np.asarray(FisherZ(y, task, 0.05, p_value="t").measure(X).p_value),
        np.asarray(FisherZ(ranked, task, 0.05, p_value="t").measure(scores(X)).p_value),
        np.asarray(FisherZ(y, task, 0.05, online=True).measure(X).p_value),
    ]


def counted(name: str, n: int, draws: int) -> dict[str, Any]:
    """Return the power of the three tests at all levels."""
    rng = np.random.default_rng([n, list(FAMILIES).index(name)])
    found = [p_values(*drawn) for drawn in FAMILIES[name](rng, n, draws)]
    p = [np.concatenate(some) for some in zip(*found, strict=True)]
    power = {
        way: [float(np.mean(each <= level)) for level in LEVELS] for way, each in zip(WAYS, p, strict=True)
    }
    return {"family": name, "rows": n, "draws": draws, **power}


def lost(cell: dict[str, Any]) -> list[float]:
    """Return the share of the power of the better test that the default loses, at all levels."""
    both = zip(cell["t"], cell["normal scores"], cell["confirmed"], strict=True)
    return [1 - ours / max(t, ranked, 1e-9) for t, ranked, ours in both]


def page(cells: list[dict[str, Any]]) -> str:
    """Return the page."""
    shares = [share for cell in cells for share in lost(cell)]
    worst, above = max(shares), sum(share > ALLOWED for share in shares)
    head = f"""\
# Power of the default test where t is exact

Written by `python -m studies.calibration.power`; do not edit. Where the target is normal given the column, or
the column normal in every class, Student's t is exact and hard to beat. Effects of {SIGNAL:g} standard
errors, {cells[0]["draws"]:,} columns per line; power at the levels
{", ".join(f"{level:g}" for level in LEVELS)},
and the share of the power of the better of t and the test of normal scores that the default
(`p_value="confirmed"`) loses. Bold: above {ALLOWED:.0%}.

The largest loss is {worst:.1%}; {above} of {len(shares)} are above {ALLOWED:.0%}. A test that holds its level
for any distribution does not know that errors are normal. Over 20 rows, two of which are in a class, one of
190 arrangements is the most extreme, so that no such test rejects at a level of .001. Where errors are known
to be normal, `p_value="t"` has the power of t.
"""
    rows = [
        [cell["family"], f"{cell['rows']}", *(_powers(cell[way]) for way in WAYS), _losses(cell)]
        for cell in cells
    ]
    return (
        wrapped(head)
        + "\n"
        + table(["columns and target", "rows", *WAYS[:2], "confirmed (default)", "loss"], rows)
    )


def _powers(found: list[float]) -> str:
    return " ".join(f"{share:.3f}".lstrip("0") for share in found)


def _losses(cell: dict[str, Any]) -> str:
    return " ".join(f"**{share:.1%}**" if share > ALLOWED else f"{share:.1%}" for share in lost(cell))


def main(arguments: list[str] | None = None) -> int:
    """Simulate, store the numbers and write the page."""
    parser = argparse.ArgumentParser(prog="python -m studies.calibration.power", description=__doc__)
    parser.add_argument(
        "--draws", type=int, default=4000, help="columns per family and number of rows (4000)"
    )
    options = parser.parse_args(arguments)
    cells = [counted(name, n, options.draws) for name in FAMILIES for n in ROWS]
    RESULTS.write_text(json.dumps(cells, indent=0) + "\n")
    PAGE.write_text(page(cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
