"""What the stored runs say: peaks, groups and counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from streamsieve.evaluation.significance import Counts, Groups, count_groups, table_of_groups
from studies._desk import Desk
from studies.screens_and_learners._cases import FOLDS
from studies.screens_and_learners._methods import NONE
from studies.screens_and_learners._runs import RIGHT

Pair = tuple[str, str]


class Found:
    """One data set, gone through in one way.

    Attributes
    ----------
    screens, learners : their names, no screening last
    """

    def __init__(self, desk: Desk, name: str, way: str) -> None:
        stored = desk.part.result(f"{name}: {way}")
        self.name, self.way, self.stored = name, way, stored
        self.sizes: list[int] = stored["sizes"]
        self.by_pair: dict[Pair, dict[str, Any]] = {
            _pair(text): found for text, found in sorted(stored["combinations"].items())
        }
        self.screens = [*dict.fromkeys(s for s, _ in sorted(self.by_pair) if s != NONE), NONE]
        self.learners = [*dict.fromkeys(learner for _, learner in sorted(self.by_pair))]

    def peak(self, pair: Pair) -> float:
        """Return the mean at the best size."""
        return float(np.mean(self.by_pair[pair]["values"]))

    def best(self, screen: str) -> str:
        """Return the learner that does best behind a screen."""
        return max(self.learners, key=lambda learner: self.peak((screen, learner)))

    def top(self, screen: str) -> float:
        """Return the peak behind a screen with its best learner."""
        return self.peak((screen, self.best(screen)))

    def groups(self) -> Groups:
        """Return the table of groups.

        Done right, every fold is a value, and the test knows that folds share their training rows.  The
        thesis's values are runs, and its test takes them for independent.
        """
        pairs = list(self.by_pair)
        values = np.array([self.by_pair[pair]["values"] for pair in pairs])
        return table_of_groups(values, pairs, test_over_train=1 / (FOLDS - 1) if self.way == RIGHT else 0.0)


def _pair(text: str) -> Pair:
    screen, learner = text.split(" + ")
    return screen, learner


def counts(desk: Desk, names: Sequence[str], way: str) -> Counts:
    """Return the three counts over data sets."""
    return count_groups({name: Found(desk, name, way).groups() for name in names}, none=NONE)
