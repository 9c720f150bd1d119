"""Seeds: given, or drawn once, saved and forgotten by a new fit."""

import inspect
import warnings

import numpy as np
import pytest

import streamsieve as ss
import streamsieve.columns
import streamsieve.learners
import streamsieve.offline
import streamsieve.rows  # all classes are registered
from streamsieve.base.seeded import Seeded
from streamsieve.exceptions import MergeError, ParameterError
from streamsieve.learners import FSAClassifier
from streamsieve.state.registry import registered

SEEDED = sorted(
    (
        cls
        for name, cls in registered().items()
        if name.startswith("streamsieve.") and "random_state" in inspect.signature(cls).parameters
    ),
    key=lambda cls: cls.__name__,
)


def rows(n=80, p=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


def test_there_are_twelve_of_them():
    assert len(SEEDED) == 12


@pytest.mark.parametrize("cls", SEEDED, ids=lambda cls: cls.__name__)
def test_all_estimators_with_a_seed_share_one_checker(cls):
    assert issubclass(cls, Seeded)
    X, y = rows()
    for wrong in (-1, 2**32, 0.5, "one"):
        with pytest.raises(ParameterError, match="random_state must be"):
            cls(random_state=wrong).fit(X, y)


def test_a_drawn_seed_is_saved_so_that_resuming_changes_nothing():
    X, y = rows(200)
    for make in (lambda: ss.PartialOFS(5, random_state=None), lambda: ss.Bootstrap(random_state=None)):
        whole = make().partial_fit(X[:100], y[:100])
        again = type(whole).from_bytes(whole.to_bytes())
        whole.partial_fit(X[100:], y[100:])
        again.partial_fit(X[100:], y[100:])
        assert np.array_equal(whole.scores_, again.scores_)


def test_every_fit_without_a_seed_draws_another():
    X, y = rows()
    model = FSAClassifier(3, epochs=2, random_state=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two epochs are few
        curves = {tuple(model.fit(X, y).loss_curve_.tolist()) for _ in range(5)}
    assert len(curves) == 5
    assert model.get_params()["random_state"] is None


def test_sketches_of_other_seeds_do_not_merge():
    X, y = rows()
    one, two = (ss.MISSION(3, width=64, random_state=None).fit(X, y) for _ in range(2))
    with pytest.raises(MergeError, match="give both the same seed"):
        one.merge(two)
