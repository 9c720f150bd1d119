"""The chain visits models as often as they are probable, however columns arrive."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from streamsieve.exceptions import NotBegunError
from streamsieve.learners.rjmcmc import RJMCMC
from streamsieve.learners.rjmcmc.model_sampler import ModelSampler, Prior
from tests.helpers.tier import cases
from tests.reference import rjmcmc as twin


def a_case(rng, p, n, noise=1.0):
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    return X, X[:, : max(p // 2, 1)].sum(axis=1) * 0.5 + noise * rng.normal(size=n)


def walking(X, y):
    walk = ModelSampler(y)
    for x in X.T:
        walk.arrive(np.ascontiguousarray(x))
    return walk


def models(history, start=()):
    """The models after every move."""
    now, out = set(start), []
    for what in history.tolist():
        if what:
            (now.add if what > 0 else now.remove)(abs(what) - 1)
        out.append(tuple(sorted(now)))
    return out


def test_equals_the_twin_move_by_move():
    rng = np.random.default_rng(0)
    for case in range(cases(60)):
        p, n = int(rng.integers(1, 8)), int(rng.integers(3, 30))
        X, y = a_case(rng, p, n)
        if p > 2 and case % 3 == 0:
            X[:, 1] = 4.0  # never born
            X[:, 2] = 2 * X[:, 0] - 1  # never beside column 0
        pi, g = float(rng.choice([0.1, 0.5, 0.8])), float(rng.choice([3.0, max(n, p**2)]))
        walk = walking(X, y)
        prior = Prior(g, np.log(pi / (1 - pi)), min(p, n - 2))
        found = models(walk.walk(80, prior, np.random.default_rng(case), count=True))
        expected, order, q = twin.walk(X, y, range(p), 0, np.random.default_rng(case).random((80, 3)), pi, g)
        assert found == expected
        assert walk._order[:p].tolist() == order
        assert walk.q == q
        shares = [sum(j in model for model in expected) / 80 for j in range(p)]
        np.testing.assert_allclose(walk.inclusion, shares)


@pytest.mark.parametrize(
    ("p", "n", "noise", "prior"), [(3, 12, 2.0, 0.5), (5, 30, 3.0, 0.3), (8, 40, 4.0, 0.5)]
)
def test_models_are_visited_as_often_as_they_are_probable(p, n, noise, prior):
    rng = np.random.default_rng(p)
    X, y = a_case(rng, p, n, noise)
    posterior, mean = twin.enumerate_models(X, y, prior)
    walk = walking(X, y)
    settings = Prior(float(max(n, p**2)), np.log(prior / (1 - prior)), min(p, n - 2))
    moves = 400_000
    history = walk.walk(moves, settings, np.random.default_rng(1), count=True)
    visits = dict.fromkeys(posterior, 0)
    for model in models(history):
        visits[model] += 1
    distance = 0.5 * sum(abs(visits[s] / moves - share) for s, share in posterior.items())
    assert distance < 0.02
    np.testing.assert_allclose(walk.inclusion, twin.inclusion(posterior, p), atol=0.015)
    np.testing.assert_allclose(walk.linear_function[0], mean, atol=0.02 * max(1.0, np.abs(mean).max()))


def test_ten_columns_that_arrive_one_by_one_end_at_the_posterior_of_all():
    rng = np.random.default_rng(3)
    X, y = a_case(rng, 10, 60, 4.0)
    posterior, mean = twin.enumerate_models(X, y)
    chain = RJMCMC(moves=300_000).begin(y)
    for x in X.T:
        chain.offer(x)
    chain.sample()
    np.testing.assert_allclose(chain.inclusion_, twin.inclusion(posterior, 10), atol=0.02)
    np.testing.assert_allclose(chain.coef_, mean, atol=0.02)


def test_the_size_of_blocks_does_not_matter():
    rng = np.random.default_rng(4)
    X, y = a_case(rng, 40, 50)
    X *= rng.random((50, 40)) < 0.7
    expected = RJMCMC(moves=2000).fit(X, y)
    for size in (1, 7, 40):
        for form in (np.asarray, np.asfortranarray, sp.csc_array):
            chain = RJMCMC(moves=2000).begin(y)
            for low in range(0, 40, size):
                chain.offer(form(X[:, low : low + size]))
            assert np.array_equal(chain.sample().inclusion_, expected.inclusion_)
            assert np.array_equal(chain.model_, expected.model_)
    np.testing.assert_allclose(expected.predict(X), X @ expected.coef_ + expected.intercept_)


def test_counting_begins_anew_when_columns_come():
    rng = np.random.default_rng(5)
    X, y = a_case(rng, 6, 40)
    chain = RJMCMC(moves=500).begin(y).offer(X[:, :3]).sample()
    assert len(chain.inclusion_) == 3
    assert chain._sampler_.moves == 500
    chain.sample(100)
    assert chain._sampler_.moves == 600
    chain.offer(X[:, 3:])
    with pytest.raises(AttributeError, match="after sample"):
        _ = chain.inclusion_
    assert len(chain.sample().inclusion_) == 6
    assert 0 < chain.acceptance_ < 1


def test_counting_begins_anew_when_the_prior_is_another_one(tmp_path):
    rng = np.random.default_rng(13)
    X = rng.normal(size=(60, 5))
    y = 0.35 * X[:, 0] + rng.normal(size=60)
    chain = RJMCMC(moves=4000, burn_in=500).fit(X, y)
    chain.save(tmp_path / "state.sieve")
    for change in ({"prior": 0.001}, {"g": 3.0}):
        for walked in (clone(chain).fit(X, y), RJMCMC.load(tmp_path / "state.sieve")):
            walked.set_params(**change).sample()
            assert walked._sampler_.moves == 4000
            expected = RJMCMC(moves=4000, burn_in=500, **change).fit(X, y).inclusion_
            np.testing.assert_allclose(walked.inclusion_, expected, atol=0.1)
            walked.set_params(min_inclusion=0.9).sample()  # the same posterior
            assert walked._sampler_.moves == 8000
    full = RJMCMC(moves=4000, prior=0.9999).fit(X, y)
    assert len(full.model_) > 0
    assert full.set_params(prior=1e-9).sample().inclusion_.max() == 0  # it burnt in again


def test_columns_without_moves_counted_say_what_is_missing():
    rng = np.random.default_rng(14)
    X, y = a_case(rng, 3, 20)
    calls = ("predict", "transform", "get_support", "get_feature_names_out", "inverse_transform")
    for name in calls:
        arguments = () if name.startswith("get") else (X,)
        with pytest.raises(NotFittedError):
            getattr(RJMCMC(), name)(*arguments)
        with pytest.raises(NotBegunError, match="no columns were offered yet: offer some, and call sample"):
            getattr(RJMCMC().begin(y), name)(*arguments)
        with pytest.raises(NotBegunError, match=r"no moves were counted .*: call sample first"):
            getattr(RJMCMC().begin(y).offer(X), name)(*arguments)


def test_a_chain_that_has_not_settled_is_named_with_the_remedy():
    rng = np.random.default_rng(12)
    one = rng.normal(size=300)
    X = one[:, None] + 1e-4 * rng.normal(size=(300, 2))  # one or the other, and hardly ever exchanged
    chain = RJMCMC(moves=300, g=1e4).begin(one + 0.1 * rng.normal(size=300)).offer(X)
    with pytest.warns(ConvergenceWarning, match=r"has not settled: column [01] .* raise moves"):
        [chain.sample() for _ in range(20)]
    y = one + 0.1 * rng.normal(size=300)
    with pytest.warns(ConvergenceWarning) as caught:  # it points to the caller
        [RJMCMC(moves=300, g=1e4, random_state=seed).fit(X, y) for seed in range(20)]
    assert {warning.filename for warning in caught} == {__file__}


def test_planted_columns_are_found_among_many():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 600))
    planted = [7, 150, 333, 590]
    y = X[:, planted] @ [1.0, -1.0, 0.7, 0.7] + rng.normal(size=200)
    chain = RJMCMC().fit(X, y)
    assert sorted(chain.selected_) == planted
    assert chain.inclusion_[planted].min() > 0.9
    assert np.delete(chain.inclusion_, planted).mean() < 0.01


def test_more_columns_than_memory_was_made_for():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 40))
    y = X.sum(axis=1) + 0.1 * rng.normal(size=200)
    chain = RJMCMC(moves=2000, moves_per_column=0, burn_in=3000, g=1e4).fit(X, y)
    assert len(chain.model_) > 35
    assert chain.score(X, y) > 0.99


def test_a_model_has_two_columns_fewer_than_rows():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(6, 20)), rng.normal(size=6)
    chain = RJMCMC(moves=50_000, prior=0.9, g=2.0).fit(X, y)
    assert len(chain.model_) <= 4
    assert chain.inclusion_.sum() <= 4


def test_a_target_that_fits_exactly():
    X = np.random.default_rng(9).normal(size=(30, 5))
    chain = RJMCMC(moves=5000).fit(X, X[:, 2] * 3 + 1)
    assert chain.inclusion_[2] == 1.0
    np.testing.assert_allclose(chain.predict(X), X[:, 2] * 3 + 1, atol=0.3)


def test_a_state_comes_back_and_goes_on_bit_for_bit(tmp_path):
    rng = np.random.default_rng(10)
    X, y = a_case(rng, 60, 80, 0.3)
    chain = RJMCMC(moves=1000).begin(y).offer(X[:, :40]).sample()
    chain.save(tmp_path / "state.sieve")
    again = RJMCMC.load(tmp_path / "state.sieve")
    assert np.array_equal(chain.inclusion_, again.inclusion_)
    assert np.array_equal(chain.coef_, again.coef_)
    for either in (chain, again):
        either.sample(500)
        either.offer(X[:, 40:]).sample()
    assert np.array_equal(chain.inclusion_, again.inclusion_)
    assert np.array_equal(chain.coef_, again.coef_)
