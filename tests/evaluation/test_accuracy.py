"""Metrics of predictions: those of scikit-learn, where it has a value."""

import numpy as np
import pytest
from sklearn import metrics

from streamsieve.evaluation.measures.accuracy import LOWER_IS_BETTER, METRICS, measured, metric_for
from streamsieve.exceptions import ParameterError
from tests.helpers.tier import cases

OTHERS = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "r2": metrics.r2_score,
    "mae": metrics.mean_absolute_error,
    "rmse": metrics.root_mean_squared_error,
}


@pytest.mark.parametrize("seed", range(cases(100)))
def test_metrics_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(10, 60)), int(rng.integers(2, 5))
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n)])
    n = len(y)
    said = np.where(rng.random(n) < 0.6, y, rng.integers(0, classes, n))
    scores = np.round(rng.normal(size=(n, classes)) + 2 * (y[:, None] == np.arange(classes)), 1)  # ties
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    for name in ("accuracy", "balanced_accuracy"):
        assert measured(name, y, said) == pytest.approx(OTHERS[name](y, said))
    if classes == 2:
        assert measured("f1", y, said) == pytest.approx(metrics.f1_score(y, said))
        one = scores[:, 1]
        assert measured("average_precision", y, one) == pytest.approx(metrics.average_precision_score(y, one))
    else:
        assert measured("f1", y, said) == pytest.approx(metrics.f1_score(y, said, average="macro"))
        expected = metrics.average_precision_score(np.eye(classes)[y], scores)
        assert measured("average_precision", y, scores) == pytest.approx(expected)
    assert measured("log_loss", y, shares) == pytest.approx(metrics.log_loss(y, shares))
    for name in ("r2", "mae", "rmse"):
        assert measured(name, one_of(scores), scores[:, 1]) == pytest.approx(
            OTHERS[name](one_of(scores), scores[:, 1])
        )


def one_of(scores):
    return scores[:, 0] + 0.5


def test_certain_and_wrong_is_finite():
    assert np.isfinite(measured("log_loss", np.array([0, 1]), np.array([[0.0, 1.0], [0.0, 1.0]])))


def test_metrics_fit_the_target():
    for name in METRICS[1:]:
        numbers = name in ("r2", "mae", "rmse")
        assert metric_for(name, regression=numbers, otherwise="auc") == name
        message = f"metric='{name}' is not defined if the target is .*: use (.*)"
        with pytest.raises(ParameterError, match=message) as caught:
            metric_for(name, regression=not numbers, otherwise="auc")
        able = str(caught.value).rpartition(": use ")[2].split(", ")
        assert {*able} == {each for each in METRICS[1:] if (each in ("r2", "mae", "rmse")) != numbers}
    assert set(LOWER_IS_BETTER) < set(METRICS)
