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

#: Confidence of the intervals.
CONFIDENCE = 0.99
#: A test is called liberal if its size is surely larger than this many times its level, and conservative if it
#: is surely smaller than the other.
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
    """Return a Clopper-Pearson interval for clustered counts.

    Columns that share a target are dependent.  The variance between targets divided by that of independent
    tests is the design effect; count and tests are divided by it where it is above 1.

    References
    ----------
    Korn, Graubard: Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data, Survey Methodology 1998.
    """
    share, effect = count / tests, 1.0
    if 0 < count < tests and targets > 1:
        between = (square - count**2 / targets) / (targets - 1) * targets
        effect = max(1.0, between / (tests * share * (1 - share)))
    x, n, tail = count / effect, tests / effect, (1 - CONFIDENCE) / 2
    low = float(betaincinv(x, n - x + 1, tail)) if x > 0 else 0.0
    return low, float(betaincinv(x + 1, n - x, 1 - tail)) if x < n else 1.0
