"""Errors of a stream block by block: their share, and the difference of two with its uncertainty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from studies._desk import Desk
from studies.adaptation._methods import CRITERIA, named
from studies.adaptation._streams import LIVES


class Change(NamedTuple):
    """By how much one way errs more often than another, and two standard errors of that."""

    difference: float
    doubt: float

    @property
    def text(self) -> str:
        """The change, with a star if it is beyond doubt."""
        return f"{self.difference:+.4f} ± {self.doubt:.4f}{'*' * self.certain}"

    @property
    def certain(self) -> bool:
        """Whether the change is beyond two standard errors."""
        return abs(self.difference) > self.doubt


class Errors:
    """Wrong predictions of a stream.

    Attributes
    ----------
    predicted : rows of each block
    """

    def __init__(self, desk: Desk, name: str) -> None:
        stored: dict[str, Any] = desk.part.result(name)
        self.name, self.stored = name, stored
        self.predicted = np.array(stored["predicted"], np.float64)
        self.lives = [*LIVES]  # slow ones first, whatever the order of the file

    def wrong(self, screen: str, learner: str) -> npt.NDArray[np.float64]:
        """Return the wrong predictions of each block."""
        return np.array(self.stored["errors"][screen][learner].split(), np.float64)

    def over_criteria(self, life: str | None, learner: str) -> npt.NDArray[np.float64]:
        """Return the same as a mean over all screens that forget so."""
        return np.mean([self.wrong(named(criterion, life), learner) for criterion in CRITERIA], axis=0)

    def share(self, wrong: npt.NDArray[np.float64]) -> float:
        """Return the error rate over the whole stream."""
        return float(wrong.sum() / self.predicted.sum())

    def change(self, of: npt.NDArray[np.float64], against: npt.NDArray[np.float64]) -> Change:
        """Return by how much the first errs more often."""
        return change(of, against, self.predicted)


def change(of: Sequence[float] | Any, against: Sequence[float] | Any, rows: Sequence[float] | Any) -> Change:
    """Return a difference of error rates on the same rows, and two standard errors.

    The standard error is that of a ratio over blocks.  Blocks next to each other may resemble each other; if
    they do, it is widened by their correlation.

    Parameters
    ----------
    of, against : wrong predictions in each block
    rows : rows of each block
    """
    apart, n = np.subtract(of, against, dtype=np.float64), np.asarray(rows, np.float64)
    ratio = apart.sum() / n.sum()
    rest = apart - ratio * n
    squares = float(rest @ rest)
    blocks = len(n)
    if blocks == 1:
        return Change(float(ratio), math.inf)  # one block says nothing about the next
    if squares == 0:
        return Change(float(ratio), 0.0)
    alike = max(0.0, float(rest[1:] @ rest[:-1]) / squares)
    return Change(
        float(ratio), 2 * math.sqrt(squares * blocks / (blocks - 1) * (1 + 2 * alike)) / float(n.sum())
    )
