"""Three classifiers on the standardised columns that were selected."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from studies._columns.classifiers import majority
from studies._columns.splits import Labels, Split

CLASSIFIERS = ("nearest", "logistic", "forest")
NEIGHBOURS = 3
TREES = 40


class Judge:
    """Tells how well three classifiers do on a selection; the same selection is judged once.

    Parameters
    ----------
    split : training rows and test rows
    trees : of the forest
    """

    def __init__(self, split: Split, trees: int = TREES) -> None:
        self.split, self.trees = split, trees
        self._known: dict[bytes, dict[str, float]] = {}

    def __call__(self, chosen: Labels) -> dict[str, float]:
        """Return accuracies on the test rows, by classifier.

        Parameters
        ----------
        chosen : numbers of the columns in rising order, so that only the set counts
        """
        key = chosen.tobytes()
        if key not in self._known:
            self._known[key] = self._accuracies(chosen)
        return self._known[key]

    def _accuracies(self, chosen: Labels) -> dict[str, float]:
        if len(chosen) == 0:
            return dict.fromkeys(CLASSIFIERS, majority(self.split))
        train, test = self._standardised(chosen)
        models: tuple[Any, ...] = (
            KNeighborsClassifier(NEIGHBOURS),
            LogisticRegression(max_iter=5000),
            RandomForestClassifier(self.trees, random_state=0),
        )
        # the columns were looked at when they were selected; with few rows looking again is half of the time
        with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
            guesses = [model.fit(train, self.split.y).predict(test) for model in models]
        return {
            name: float(np.mean(guess == self.split.test_y))
            for name, guess in zip(CLASSIFIERS, guesses, strict=True)
        }

    def _standardised(self, chosen: Labels) -> tuple[Any, Any]:
        train, test = self.split.X[:, chosen], self.split.test_X[:, chosen]
        mean, spread = train.mean(axis=0), train.std(axis=0)
        spread[spread == 0] = 1.0
        return np.ascontiguousarray((train - mean) / spread), np.ascontiguousarray((test - mean) / spread)
