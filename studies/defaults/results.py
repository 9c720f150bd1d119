"""Scores as arrays: ranks, means and differences over sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from streamsieve.evaluation.significance import Friedman, critical_difference, friedman
from studies.defaults.runs import LEARNERS

#: Name of the mean over learners, beside the learners.
ALL = "all learners"


class Difference(NamedTuple):
    """Mean difference of balanced accuracy over sets, and its 95 % interval by Student's t."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} (95 % interval {self.low:+.3f} to {self.high:+.3f})"


class Results:
    """What was measured on some sets, for the methods that take all of them.

    Parameters
    ----------
    found : by set, what `runs.compute` returned
    names : the sets
    """

    def __init__(self, found: Mapping[str, Any], names: Sequence[str]) -> None:
        self.names = [name for name in names if name in found]
        self._found = found
        first = found[self.names[0]]["methods"]
        self.methods = [m for m in first if all(m in found[name]["methods"] for name in self.names)]

    def score(self, name: str, method: str, learner: str = ALL) -> float:
        """Return the mean balanced accuracy over the folds of a set."""
        measured = self._found[name]["methods"][method]
        learners = [*LEARNERS] if learner == ALL else [learner]
        return float(np.mean([measured[each] for each in learners]))

    def scores(self, learner: str = ALL) -> Any:
        """Return a (set, method) array of balanced accuracies."""
        return np.array([[self.score(name, m, learner) for m in self.methods] for name in self.names])

    def mean(self, method: str, learner: str = ALL) -> float:
        """Return the mean balanced accuracy over sets."""
        return float(np.mean([self.score(name, method, learner) for name in self.names]))

    def friedman(self, learner: str = ALL) -> Friedman:
        """Test whether the methods differ over the sets."""
        return friedman(self.scores(learner), self.methods)

    def ranks(self, learner: str = ALL) -> dict[str, float]:
        """Return the mean rank of every method over the sets, 1 for the best."""
        return dict(zip(self.methods, self.friedman(learner).mean_ranks.tolist(), strict=True))

    def critical_difference(self) -> float:
        """Return the difference of mean ranks that is significant at 0.05 (Nemenyi)."""
        return critical_difference(len(self.methods), len(self.names))

    def median(self, method: str, what: str) -> float:
        """Return the median over sets of "size" or "seconds"."""
        return float(np.median([self._found[name]["methods"][method][what] for name in self.names]))

    def size(self, name: str, method: str) -> float:
        """Return the mean number of columns that are kept of a set."""
        return float(self._found[name]["methods"][method]["size"])

    def about(self, name: str) -> Mapping[str, int]:
        """Return rows, columns and classes of a set."""
        return dict(self._found[name]["about"])

    def difference(self, method: str, rival: str, learner: str = ALL) -> Difference:
        """Return by how much a method is better than another, over the sets."""
        gains = [self.score(n, method, learner) - self.score(n, rival, learner) for n in self.names]
        mean = float(np.mean(gains))
        reach = float(stats.t.ppf(0.975, len(gains) - 1) * stats.sem(gains)) if len(gains) > 1 else np.inf
        return Difference(mean, mean - reach, mean + reach)

    def best(self, methods: Sequence[str], learner: str = ALL) -> str:
        """Return the one of some methods with the best mean rank."""
        ranks = self.ranks(learner)
        return min((m for m in methods if m in ranks), key=ranks.__getitem__)
