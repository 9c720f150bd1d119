"""Sizes: how often tests reject true null hypotheses, with intervals that know about shared targets."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

from studies.calibration.families import Family
from studies.calibration.subjects import LEVELS, Subject

#: Confidence of the intervals: high, because there are thousands of cells.
CONFIDENCE = 0.999
#: A test is called liberal if the interval of its size is above the first of these times its level, and
#: conservative if it is below the second.
LIBERAL, CONSERVATIVE = 1.2, 0.8


def simulate(family: Family, n: int, subject: Subject, targets: int, seed: Sequence[int]) -> dict[str, Any]:
    """Return counts of rejections at each level over blocks of columns, each block with a target of its own.

    All subjects see the same data for one seed.
    """
    name = zlib.crc32(family.name.encode())
    counts = np.zeros((targets, len(LEVELS)), np.int64)
    for t in range(targets):
        data = family.draw(np.random.default_rng([*seed, name, n, t]), n, subject.columns)
        counts[t] = subject.rejections(data, LEVELS).sum(axis=1)
    return {
        "tests": targets * subject.columns,
        "targets": targets,
        "rejected": counts.sum(axis=0).tolist(),
        "squares": (counts**2).sum(axis=0).tolist(),
    }


@dataclass(frozen=True)
class Size:
    """A size and its interval, at one level."""

    level: float
    size: float
    low: float
    high: float
    tests: int

    @property
    def ratio(self) -> float:
        """Size divided by level."""
        return self.size / self.level

    @property
    def verdict(self) -> str:
        """Whether the test is "liberal", "conservative" or "right" as far as the interval says."""
        if self.low > LIBERAL * self.level:
            return "liberal"
        return "conservative" if self.high < CONSERVATIVE * self.level else "right"


def sizes(rounds: Iterable[dict[str, Any]]) -> list[Size]:
    """Return the sizes at all levels from the counts of some rounds."""
    several = list(rounds)
    tests, targets = (sum(one[key] for one in several) for key in ("tests", "targets"))
    rejected, squares = (np.sum([one[key] for one in several], axis=0) for key in ("rejected", "squares"))
    found = []
    for level, count, square in zip(LEVELS, rejected.tolist(), squares.tolist(), strict=True):
        low, high = interval(count, square, targets, tests)
        found.append(Size(level, count / tests, low, high, tests))
    return found


def interval(count: int, square: int, targets: int, tests: int) -> tuple[float, float]:
    """Return an interval for the share of rejections from its variance between targets.

    Columns that share a target are dependent.  No more information is claimed than independent tests have.
    """
    share = count / tests
    between = (square - count**2 / targets) / max(1, targets - 1) * targets / tests**2
    return proportion_interval(share, max(between, share * (1 - share) / tests), tests)


def proportion_interval(share: float, variance: float, n: int) -> tuple[float, float]:
    """Return a Clopper-Pearson interval with the number of trials that a proportion's variance stands for.

    References
    ----------
    Korn, Graubard: Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data, Survey Methodology 1998.
    """
    trials = share * (1 - share) / variance if variance > 0 else float(n)
    x, tail = share * trials, (1 - CONFIDENCE) / 2
    low = float(betaincinv(x, trials - x + 1, tail)) if share > 0 else 0.0
    return low, float(betaincinv(x + 1, trials - x, 1 - tail)) if share < 1 else 1.0
