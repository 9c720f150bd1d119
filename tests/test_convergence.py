"""Iterative methods have a most number of steps, and say so when it was not enough."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import streamsieve as ss
from streamsieve.columns.groups import elastic_net
from streamsieve.learners.ensembles import stacking

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 12))
X[:, 6:] = X[:, :6] + 0.5 * rng.normal(size=(120, 6))  # correlated
Y = X[:, :6] @ [3, -2, 1, 1, -1, 2] + rng.normal(size=120)


@pytest.mark.parametrize("model", ["lasso", "adaptive_lasso", "mcp"])
def test_a_path_of_penalties(model, monkeypatch):
    selector = ss.RunningAverages(model=model, k=6, task="regression")
    selector.partial_fit(X, Y).get_support()
    monkeypatch.setattr("streamsieve.rows.covariance_models.path.MOST_SWEEPS", 1)
    with pytest.warns(ConvergenceWarning, match="coordinate descent ended .* short of the minimum after 1"):
        ss.RunningAverages(model=model, k=6, task="regression").partial_fit(X, Y).get_support()


def test_an_elastic_net_between_groups(monkeypatch):
    Z, t = X - X.mean(axis=0), Y - Y.mean()
    Z, t = Z / np.linalg.norm(Z, axis=0), t / np.linalg.norm(t)
    problem = Z.T @ Z, Z.T @ t[:, None], np.zeros((12, 1))
    elastic_net.ElasticNet(0.01, 0.1).refit(*problem)
    monkeypatch.setattr(elastic_net, "MOST_SWEEPS", 1)
    with pytest.warns(ConvergenceWarning, match="elastic net is .* short of its minimum after 1 sweeps"):
        elastic_net.ElasticNet(0.01, 0.1).refit(*problem)


def test_a_logistic_model(monkeypatch):
    def fit():
        return ss.AlphaInvesting(model="logistic").fit(X, Y + 3 * rng.normal(size=120) > 0)

    fit()
    monkeypatch.setattr("streamsieve.columns.models.logistic.MOST_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="has not settled after 1 steps of Newton's method"):
        fit()


def test_passes_over_the_columns(monkeypatch):
    monkeypatch.setattr("streamsieve.columns.models.multi_pass.MOST_PASSES", 2)
    monkeypatch.setattr("streamsieve.columns.models.multi_pass.MultiPass._another_pass", lambda *_: True)
    with pytest.warns(ConvergenceWarning, match="selection still changes after 2 passes"):
        ss.Grafting(l1=0.1, sweeps=None).fit(X, Y)


def test_weights_of_members(monkeypatch):
    def failing(*_args, **_kwargs):
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr(stacking, "nnls", failing)
    with pytest.warns(ConvergenceWarning, match="no weights were found in 300 steps, so all members weigh"):
        weights = stacking.stacking_weights(X.T[:2], Y, convex=False)
    assert weights.tolist() == [0.5, 0.5]
