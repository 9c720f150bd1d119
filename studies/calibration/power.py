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
from streamsieve.protocols import FloatArray, IntArray, Task
from studies._desk import HERE
from studies._report import table, wrapped
from studies.calibration import families

RESULTS = HERE / "results" / "power.json"
PAGE = HERE.parent / "docs" / "evidence" / "power.md"
ROWS, LEVELS = (20, 100, 400), (0.05, 0.01, 0.001)
#: Effect, in standard errors.
SIGNAL = 3.0
WAYS = ("t", "normal scores", "confirmed")
#: Statistics of permutation tests: that of t, the larger of those of t and of normal scores, and that of t
#: divided by a standard error that holds if variances differ between rows (DiCiccio, Romano 2017).
PERMUTED = ("permutation t", "larger of both", "studentized")
#: Share of the power of the better test that may be lost.
ALLOWED = 0.03
#: Random permutations of the target, and the values of a product that are computed at a time: 8 MB.
PERMUTATIONS, VALUES = 9_999, 2**20

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


def permutation_p_values(X: FloatArray, y: Any, task: Task, orders: IntArray) -> FloatArray:
    """Return the p-values of the permutation tests, a row for each statistic.

    The squared correlations (ratios) with values and with scores have the same mean over all permutations, so
    that the larger one favors neither.  With more than two classes there is no studentized one: NaN.
    """
    ranked = scores(y) if task is Task.REGRESSION else y
    bases = [FisherZ(target, task, 0.05, p_value="t").basis for target in (y, ranked)]
    columns = [_unit(X), _unit(scores(X))]

    def statistics(some: IntArray) -> FloatArray:
        squares = [
            sum((contrast[some] @ Z) ** 2 for contrast in basis.T)
            for basis, Z in zip(bases, columns, strict=True)
        ]
        studentized = np.full_like(squares[0], np.nan)
        if bases[0].shape[1] == 1:
            studentized = squares[0] / (bases[0][:, 0][some] ** 2 @ columns[0] ** 2)
        return np.stack([squares[0], np.maximum(*squares), studentized])

    observed = statistics(np.arange(len(X))[None]) * (1 - 1e-12)
    extreme = np.where(np.isnan(observed[:, 0]), np.nan, 1.0)
    for low in range(0, len(orders), step := max(1, VALUES // X.shape[1])):
        extreme += np.sum(statistics(orders[low : low + step]) >= observed, axis=1)
    return extreme / (1 + len(orders))


def _unit(X: FloatArray) -> FloatArray:
    """Return columns centered and of unit length."""
    centered = X - X.mean(axis=0)
    unit: FloatArray = centered / np.linalg.norm(centered, axis=0)
    return unit


def counted(name: str, n: int, draws: int) -> dict[str, Any]:
    """Return the power of the three tests at all levels."""
    rng = np.random.default_rng([n, list(FAMILIES).index(name)])
    drawn = FAMILIES[name](rng, n, draws)
    found = [p_values(*each) for each in drawn]
    p = [np.concatenate(some) for some in zip(*found, strict=True)]
    power = {
        way: [float(np.mean(each <= level)) for level in LEVELS] for way, each in zip(WAYS, p, strict=True)
    }
    cell = {"family": name, "rows": n, "draws": draws, **power}
    if max(lost(cell)) > ALLOWED:  # what a test that is exact for any distribution has
        orders = np.argsort(np.random.default_rng(n).random((PERMUTATIONS, n)), axis=1)
        permuted = np.concatenate([permutation_p_values(*each, orders) for each in drawn], axis=1)
        for way, found in zip(PERMUTED, permuted, strict=True):
            if not np.isnan(found).any():
                cell[way] = [float(np.mean(found <= level)) for level in LEVELS]
    return cell


def lost(cell: dict[str, Any]) -> list[float]:
    """Return the share of the power of the better test that the default loses, at all levels."""
    both = zip(cell["t"], cell["normal scores"], cell["confirmed"], strict=True)
    return [1 - ours / max(t, ranked, 1e-9) for t, ranked, ours in both]


def unavoidable(cell: dict[str, Any]) -> list[bool]:
    """Return the levels at which the permutation test of t loses as much as is allowed, or more."""
    both = zip(cell["t"], cell["normal scores"], cell["permutation t"], strict=True)
    return [1 - exact / max(t, ranked, 1e-9) > ALLOWED for t, ranked, exact in both]


def page(cells: list[dict[str, Any]]) -> str:
    """Return the page."""
    shares = [share for cell in cells for share in lost(cell)]
    worst, above = max(shares), sum(share > ALLOWED for share in shares)
    forced = sum(
        bad and ours > ALLOWED
        for cell in cells
        if "permutation t" in cell
        for bad, ours in zip(unavoidable(cell), lost(cell), strict=True)
    )
    head = f"""\
# Power of the default test where t is exact

Written by `python -m studies.calibration.power`; do not edit. Where the target is normal given the column,
or the column normal in every class, Student's t is exact and hard to beat. Effects of {SIGNAL:g} standard
errors, {cells[0]["draws"]:,} columns per line; power at the levels {
        ", ".join(f"{level:g}" for level in LEVELS)
    }, and the share of the power of the better of t and the test of normal scores that the default
(`p_value="confirmed"`) loses. Bold: above {ALLOWED:.0%}.

The largest loss is {worst:.1%}; {above} of {len(shares)} are above {ALLOWED:.0%}. For lines with such a
loss the power of the permutation test of t is shown as well ({PERMUTATIONS:,} random permutations, the same
ones for all columns). A test that is unbiased and holds its level for all continuous distributions holds it
given the observed values, over all permutations of the target (Lehmann and Stein, Annals of Mathematical
Statistics 20, 1949), and of these tests the one that orders permutations by t is the natural benchmark
against normal errors. At {forced} of the {above} levels it loses more than {ALLOWED:.0%} too: that is the
price of not knowing that errors are normal, and where few rows have few distinct orders, the price is high
(over 20 rows, two of which are in a class, one of 190 orders is the most extreme, so that no such test
rejects at a level of .001). {_rest(above - forced)}{_others(cells)} Where rows are few, the default has
permutation p-values itself (`PermutedTargets`), so both differ by the noise of random permutations only: a
few percent at .001, and more where orders are few and one of their p-values is just above a level (2 of 190
orders are .0105, which random permutations put below .01 three times in ten). Where errors are known to be
normal, `p_value="t"` has the power of t.
"""
    rows = [
        [
            cell["family"],
            f"{cell['rows']}",
            *(_powers(cell[way]) for way in WAYS),
            _losses(cell),
            _permuted(cell),
            *(_powers(cell.get(way, [])) for way in PERMUTED[1:]),
        ]
        for cell in cells
    ]
    return (
        wrapped(head)
        + "\n"
        + table(["columns and target", "rows", *WAYS[:2], "confirmed (default)", "loss", *PERMUTED], rows)
    )


def _rest(number: int) -> str:
    """Return what is said of the levels at which the permutation test of t loses less."""
    if not number:
        return ""
    return f"At the other {number} (permutation test in bold) the loss is that of the default alone. "


def _others(cells: list[dict[str, Any]]) -> str:
    """Return what is said of permutation tests with other statistics."""
    known = [
        (cell[way][i], cell["permutation t"][i])
        for cell in cells
        for way in PERMUTED[1:]
        if way in cell
        for i, share in enumerate(lost(cell))
        if share > ALLOWED
    ]
    more = sum(other > t for other, t in known)
    return f"""\
Two other permutation tests are as valid: one takes the larger of the statistics of t and of normal
scores, the other (shown as studentized) divides by a standard error that allows for variances that differ
between rows (DiCiccio, Romano, Journal of the American Statistical Association 112, 2017). They have more
power than the permutation test of t in {more} of {len(known)} comparisons at those levels. Saddlepoint
approximations are of the same permutation distributions. """


def _powers(found: list[float]) -> str:
    return " ".join(f"{share:.3f}".lstrip("0") for share in found)


def _losses(cell: dict[str, Any]) -> str:
    return " ".join(f"**{share:.1%}**" if share > ALLOWED else f"{share:.1%}" for share in lost(cell))


def _permuted(cell: dict[str, Any]) -> str:
    """Return the power of the permutation test, bold where it has what the default loses."""
    if "permutation t" not in cell:
        return ""
    all_ = zip(cell["permutation t"], unavoidable(cell), lost(cell), strict=True)
    texts = [(_powers([power]), ours > ALLOWED and not forced) for power, forced, ours in all_]
    return " ".join(f"**{text}**" if bold else text for text, bold in texts)


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
