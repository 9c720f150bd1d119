"""Classifiers that the paper may have used, as scikit-learn had them then: columns as they are, no tuning."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import SVC

from studies._columns.classifiers import majority
from studies._columns.splits import Split

GUESSES = ("SVC", "SGD", "logistic")


def guessed(split: Split, chosen: Any) -> dict[str, float]:
    """Return the accuracy of each; the largest class if there are no columns."""
    if len(chosen) == 0:
        return dict.fromkeys(GUESSES, majority(split))
    train, test = split.X[:, chosen], split.test_X[:, chosen]
    models = {
        "SVC": SVC(gamma="auto"),  # a radial kernel of width 1 / number of columns
        "SGD": SGDClassifier(max_iter=5, tol=None, random_state=0),  # a linear machine, five passes
        "logistic": LogisticRegression(solver="liblinear", max_iter=1000),
    }
    return {
        name: float(np.mean(model.fit(train, split.y).predict(test) == split.test_y))
        for name, model in models.items()
    }
