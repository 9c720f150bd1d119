"""Ordinal columns and classes, by table, by trend and by both: ``python -m studies.calibration.ordinal``.

Writes docs/evidence/ordinal_columns.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np

import streamsieve as ss
from studies._desk import HERE
from studies._report import table, wrapped

PAGE = HERE.parent / "docs" / "evidence" / "ordinal_columns.md"
LEVEL = 0.01
#: Rows and levels.
SIZES = ((300, 5), (400, 10), (1000, 20), (1000, 40), (2000, 72))
#: Types that choose a test: the default, the table of a nominal column, the correlation of a numeric one.
TESTS = {"both (default)": "ordinal", "table": "nominal", "trend": "numeric"}

Generator = np.random.Generator


def _unit(x: np.ndarray) -> np.ndarray:
    unit: np.ndarray = (x - x.mean()) / x.std()
    return unit


def trend(x: np.ndarray, levels: int, rng: Generator) -> np.ndarray:  # noqa: ARG001 - as the others
    """Log-odds that rise with the level."""
    return 4 / np.sqrt(len(x)) * 2 * _unit(x)


def bump(x: np.ndarray, levels: int, rng: Generator) -> np.ndarray:  # noqa: ARG001 - as the others
    """Log-odds that are largest in the middle."""
    return -8 / np.sqrt(len(x)) * 2 * _unit((x - (levels - 1) / 2) ** 2)


def names(x: np.ndarray, levels: int, rng: Generator) -> np.ndarray:
    """Log-odds in no order, as of codes of names."""
    return 8 / np.sqrt(len(x)) * 2 * rng.standard_normal(levels)[x]


def noise(x: np.ndarray, levels: int, rng: Generator) -> np.ndarray:  # noqa: ARG001 - as the others
    """No dependence: size."""
    return np.zeros(len(x))


SHAPES: dict[str, Callable[[np.ndarray, int, Generator], np.ndarray]] = {
    "trend": trend,
    "bump": bump,
    "names": names,
    "noise (size)": noise,
}


def found(shape: str, rows: int, levels: int, streams: int) -> list[float]:
    """Return the share of columns that `SAOLA` keeps at the level, by test."""
    rng = np.random.default_rng([rows, levels, [*SHAPES].index(shape)])
    hits = dict.fromkeys(TESTS, 0)
    for _ in range(streams):
        x = rng.integers(0, levels, rows)
        y = (rng.random(rows) < 1 / (1 + np.exp(-SHAPES[shape](x, levels, rng)))).astype(int)
        for name, kind in TESTS.items():
            hits[name] += len(ss.SAOLA(LEVEL, types=kind).fit(x[:, None].astype(float), y).selected_)
    return [hits[name] / streams for name in TESTS]


def page(streams: int) -> str:
    """Return the page."""
    head = f"""\
# Ordinal columns

Written by `python -m studies.calibration.ordinal`; do not edit.

An ordinal column of more than four levels and classes are tested twice, by the table of levels and classes
and by the trend, and the smaller p-value is doubled. Share of columns that `SAOLA(alpha={LEVEL:g})` keeps:
by both tests (`types="ordinal"`, also what is guessed), by the table alone ("nominal") and by the trend alone
("numeric"). Uniform levels, two classes, {streams:,} columns in each cell; log-odds that rise with the level,
are largest in the middle, have no order, or are constant. Standard errors are at most
{0.5 / np.sqrt(streams):.2f}, of sizes {np.sqrt(LEVEL * (1 - LEVEL) / streams):.3f}.

The table has a degree of freedom per level, so its power against a trend falls with their number; the trend
has little power against names, and none against a bump. Two tests instead of one double the p-value, no more.
"""
    rows = []
    for shape in SHAPES:
        for n, levels in SIZES:
            shares = [f"{share:.3f}".lstrip("0") for share in found(shape, n, levels, streams)]
            rows.append([shape, f"{n:,}", f"{levels}", *shares])
    return wrapped(head) + "\n" + table(["log-odds", "rows", "levels", *TESTS], rows)


def main(arguments: list[str] | None = None) -> int:
    """Simulate and write the page."""
    parser = argparse.ArgumentParser(prog="python -m studies.calibration.ordinal", description=__doc__)
    parser.add_argument("--streams", type=int, default=1000, help="columns in each cell (1000)")
    PAGE.write_text(page(parser.parse_args(arguments).streams))
    return 0


if __name__ == "__main__":
    sys.exit(main())
