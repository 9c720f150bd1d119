"""Sizes of the tests of correlation for pairs of families: ``python -m studies.calibration.pairs``.

Every family of columns meets every family of targets.  A pair counts as liberal if, at one of the levels, the
size is above 1.3 times the level by three standard errors, which allow for columns that share a target.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from streamsieve.independence import FisherZ
from streamsieve.protocols import Task
from studies._desk import HERE
from studies.calibration import families
from studies.calibration.subjects import LEVELS

RESULTS = HERE / "results" / "calibration_pairs.json"
PAGE = HERE.parent / "docs" / "evidence" / "calibration_pairs.md"
#: Numbers of rows, and columns with one target.
ROWS, COLUMNS = (12, 30, 100), 1000
WAYS = ("t", "confirmed")
ALLOWED = 1.3
#: Why the default may be liberal, and what to do.
FEW_VALUES = (
    "A column of two values and three classes of four rows has a handful of possible statistics, and F is "
    "continuous. Take a smaller level, or more rows."
)

Draw = Callable[[np.random.Generator, Any], Any]


def exponential(rng: np.random.Generator, shape: Any) -> Any:
    """Exponential."""
    return rng.exponential(size=shape)


def amounts(rng: np.random.Generator, shape: Any) -> Any:
    """Four zeros in five, else lognormal."""
    return np.where(rng.random(shape) < 0.2, np.exp(rng.standard_normal(shape)), 0.0)


def uniform(rng: np.random.Generator, shape: Any) -> Any:
    """Uniform."""
    return rng.random(shape)


MARGINALS: dict[str, Draw] = {
    "normal": families.gaussian,
    "lognormal": families.lognormal,
    "t3": families.student(3),
    "Cauchy": families.student(1),
    "Pareto": families.pareto,
    "contaminated": families.contaminated,
    "exponential": exponential,
    "uniform": uniform,
    "counts, mean 0.3": families.poisson(0.3),
    "counts, mean 3": families.poisson(3),
    "ones, 10 %": families.bernoulli(0.1),
    "ones, 50 %": families.bernoulli(0.5),
    "amounts": amounts,
    "five skewed levels": families.levels(*families.SKEWED5),
}
CLASSES = {
    "two equal classes": (0.5, 0.5),
    "a class of 30 %": (0.7, 0.3),
    "a class of 10 %": (0.9, 0.1),
    "a class of 4 %": (0.96, 0.04),
    "three classes": (0.4, 0.3, 0.3),
    "four skewed classes": (0.7, 0.1, 0.1, 0.1),
}
NUMBERS = ("normal", "lognormal", "t3", "Cauchy", "exponential", "uniform", "counts, mean 3", "amounts")
TARGETS = (*CLASSES, *(f"numeric, {name}" for name in NUMBERS))


def target(name: str, rng: np.random.Generator, n: int) -> tuple[Any, Task]:
    """Draw a target of a family that varies."""
    if name in CLASSES:
        shares = CLASSES[name]
        task = Task.BINARY if len(shares) == 2 else Task.MULTICLASS
        return rng.permutation(families.exact_labels(n, shares)), task
    return families.varied(MARGINALS[name.removeprefix("numeric, ")], rng, n), Task.REGRESSION


def counted(column: str, name: str, n: int, targets: int) -> dict[str, Any]:
    """Count rejections of both tests for one pair of families."""
    rng = np.random.default_rng([n, list(MARGINALS).index(column), TARGETS.index(name)])
    counts = {way: np.zeros((targets, len(LEVELS)), int) for way in WAYS}
    tests = 0
    for i in range(targets):
        y, task = target(name, rng, n)
        X = MARGINALS[column](rng, (n, COLUMNS))
        X = X[:, np.ptp(X, axis=0) > 0]
        tests += X.shape[1]
        for way in WAYS:
            p = np.asarray(FisherZ(y, task, 0.05, p_value=way, online=True).measure(X).p_value)
            counts[way][i] = [np.sum(p <= level * (1 + 1e-12)) for level in LEVELS]
    cell: dict[str, Any] = {"column": column, "target": name, "rows": n, "tests": tests, "targets": targets}
    for way in WAYS:
        spread = counts[way].std(axis=0) * np.sqrt(targets) / tests
        cell[way] = {"size": (counts[way].sum(axis=0) / tests).tolist(), "error": spread.tolist()}
    return cell


def liberal(cell: dict[str, Any], way: str) -> bool:
    """Whether a size is above its allowance by three standard errors."""
    level, size, error = np.array(LEVELS), np.array(cell[way]["size"]), np.array(cell[way]["error"])
    error = np.maximum(error, np.sqrt(level * (1 - level) / cell["tests"]))
    return bool(np.any(size > ALLOWED * level + 3 * error))


def page(cells: list[dict[str, Any]]) -> str:
    """Return the page: how many pairs are liberal, by rows, and which ones by the default test."""
    levels = ", ".join(f"{level:g}" for level in LEVELS)
    tests = sum(cell["tests"] for cell in cells)
    lines = [
        "# Sizes of correlation tests for pairs of families", "",
        "Written by `python -m studies.calibration.pairs`; do not edit. Independent columns and targets,",
        f"{tests:,} tests in {len(cells)} pairs of families. A pair is liberal if its size at one of the",
        f"levels {levels} is above {ALLOWED} times the level by three standard errors.", "",
        '| rows | pairs | liberal by `p_value="t"` | liberal by `p_value="confirmed"` (default) |',
        "| ---: | ---: | ---: | ---: |",
    ]  # fmt: skip
    for n in sorted({cell["rows"] for cell in cells}):
        some = [cell for cell in cells if cell["rows"] == n]
        t, confirmed = (sum(liberal(cell, way) for cell in some) for way in WAYS)
        lines.append(f"| {n} | {len(some)} | {t} | {confirmed} |")
    found = [cell for cell in cells if liberal(cell, "confirmed")]
    lines += ["", "Liberal by the default test (size divided by level):" if found else "None by the default."]
    for cell in found:
        ratio = " ".join(
            f"{size / level:.2f}" for size, level in zip(cell["confirmed"]["size"], LEVELS, strict=True)
        )
        lines += ["", f"- {cell['column']}; {cell['target']}; {cell['rows']} rows: {ratio}"]
    if found:
        lines += ["", FEW_VALUES]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Count what is missing, store it, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m studies.calibration.pairs", description=__doc__)
    parser.add_argument("--targets", type=int, default=20, help="draws of the target per pair (20)")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="numbers of rows (12 30 100)")
    options = parser.parse_args(arguments)
    cells = [
        counted(column, name, n, options.targets)
        for n in options.rows
        for column in MARGINALS
        for name in TARGETS
    ]
    RESULTS.write_text(json.dumps(cells, indent=0) + "\n")
    PAGE.write_text(page(cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
