"""Block bagging: a member a block of columns, votes or weights from rows that were not drawn."""

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

from streamsieve.learners.ensembles.block_bagging import BlockBagging
from streamsieve.learners.fsa import FSAClassifier, FSARegressor
from tests.reference import block_bagging as twin

KEEPS_ALL = FSAClassifier(1, epochs=5)


def test_equals_the_twin():
    rng = np.random.default_rng(0)
    for case in range(12):
        n = int(rng.integers(8, 25))
        blocks = [rng.normal(size=(n, 2)) for _ in range(3)]
        combine, convex = ("stack", "vote")[case % 2], bool(case % 3 == 0)
        codes = rng.integers(0, 3, n)
        codes[:3] = [0, 1, 2]
        for y, learner, classes in (
            (codes, GaussianNB(var_smoothing=0.5), 3),
            (blocks[0][:, 0] + rng.normal(size=n), Ridge(), 0),
        ):
            task = "classification" if classes else "regression"
            ours = BlockBagging(learner, task=task, bags=3, combine=combine, convex=convex, random_state=case)
            ours.begin(y)
            for block in blocks:
                ours.offer(block)
            weights, predict = twin.block_bagging(learner, blocks, y, classes, 3, combine, convex, case)
            np.testing.assert_allclose(ours.member_weights_, weights, atol=1e-7)
            others = [rng.normal(size=(10, 2)) for _ in range(3)]
            np.testing.assert_allclose(ours._combined(np.hstack(others)), predict(others), atol=1e-7)


def test_new_columns_become_a_new_member_and_old_ones_stay():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 100)
    model = BlockBagging(LogisticRegression(), bags=2).begin(y)
    seen = []
    for width in (3, 1, 4):
        model.offer(rng.normal(size=(100, width)) + 0.5 * y[:, None])
        assert model._learners_[: len(seen)] == seen
        seen = list(model._learners_)
        assert len(seen) == 2 * len(model.member_weights_)
    assert model.edges_.tolist() == [0, 3, 4, 8]
    assert model.n_features_in_ == 8


def test_noise_gets_little_weight_and_signal_much():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 400)
    noise, signal = rng.normal(size=(400, 5)), rng.normal(size=(400, 5)) + y[:, None]
    model = BlockBagging(LogisticRegression()).begin(y).offer(noise).offer(signal)
    model.offer(rng.normal(size=(400, 5)))
    assert model.member_weights_[1] > 2 * max(model.member_weights_[0], model.member_weights_[2])


def test_it_does_not_matter_where_the_target_has_its_zero():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 6))
    y = 2 * X[:, 0] + 2 * X[:, 4] + 0.1 * rng.normal(size=200)
    for combine in ("stack", "vote"):
        model = BlockBagging(Ridge(), task="regression", block_size=3, combine=combine).fit(X, y)
        assert model.score(X, y) > (0.98 if combine == "stack" else 0.7)
        far = BlockBagging(Ridge(), task="regression", block_size=3, combine=combine).fit(X, y + 1e4)
        np.testing.assert_allclose(far.member_weights_, model.member_weights_, atol=1e-7)
        np.testing.assert_allclose(far.predict(X) - 1e4, model.predict(X), atol=1e-7)


def test_fit_is_begin_and_offers():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 7)) * (rng.random((60, 7)) < 0.7)
    y = X[:, 0] > 0
    for combine in ("stack", "vote"):
        whole = BlockBagging(FSAClassifier(2, epochs=40), bags=2, block_size=3, combine=combine).fit(X, y)
        parts = BlockBagging(FSAClassifier(2, epochs=40), bags=2, combine=combine).begin(y)
        for low in (0, 3, 6):
            parts.offer(sp.csc_array(X[:, low : low + 3]))
        np.testing.assert_allclose(parts.member_weights_, whole.member_weights_, atol=1e-6)
        assert np.array_equal(parts.predict(X), whole.predict(X))
        np.testing.assert_allclose(whole.predict_proba(sp.csr_array(X)), whole.predict_proba(X), atol=1e-9)
        assert whole.n_features_in_ == 7
        whole.offer(X[:, :2])  # the stream goes on
        assert whole.n_features_in_ == 9


def test_rows_that_every_bag_has_drawn_do_not_count():
    y = np.array([0, 1])  # each is the only one of its class, so each is always drawn
    model = BlockBagging(GaussianNB(), bags=2).begin(y).offer(np.eye(2)).offer(np.eye(2))
    assert model.member_weights_.tolist() == [0.5, 0.5]


def test_votes_are_counted():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 4))
    model = BlockBagging(GaussianNB(), bags=3, combine="vote", block_size=2).fit(X, X[:, 0] > 0)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares * 6, np.round(shares * 6), atol=1e-9)


def test_a_state_comes_back_and_goes_on(tmp_path):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 6))
    for task, y, learner in (
        ("classification", np.array(["a", "b"])[(X[:, 0] > 0).astype(int)], FSAClassifier(1)),
        ("regression", X[:, 0], FSARegressor(1)),
    ):
        model = BlockBagging(learner, task=task, bags=2).begin(y).offer(X[:, :3])
        model.save(tmp_path / "state.sieve")
        again = BlockBagging.load(tmp_path / "state.sieve")
        for either in (model, again):
            either.offer(X[:, 3:])
        assert np.array_equal(again.member_weights_, model.member_weights_)
        assert np.array_equal(again.predict(X), model.predict(X))
