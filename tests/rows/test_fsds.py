"""FSDS equals its slow twin, keeps the bound of Frequent Directions, and finds what separates clusters."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.exceptions import InputError
from streamsieve.rows.fsds import FSDS
from tests.helpers.tier import cases
from tests.reference import fsds as twin


def scatter(rows, center=True):
    about = rows - rows.mean(axis=0) if center else rows
    return about.T @ about


# ------------------------------------------------------------------------------------ the slow twin


def random_rows(rng):
    """Rows of many kinds: few, many, sparse, low rank, far from the origin, with equal columns."""
    n, p = int(rng.integers(1, 40)), int(rng.integers(1, 20))
    X = rng.normal(size=(n, p)) * rng.lognormal(0, 1, p)
    kind = rng.integers(0, 7)
    if kind == 1:
        X[rng.random((n, p)) < 0.8] = 0.0
    elif kind == 2:
        X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, p))
    elif kind == 3:
        X += rng.normal(size=p) * 1e3
    elif kind == 4:
        X[:, : p // 2] = 3.0
    elif kind == 5:
        X = np.round(X)
    elif kind == 6:
        X = X[np.argsort(X[:, 0])] * 10.0 ** rng.integers(-3, 4)
    return X


@pytest.mark.parametrize("center", [True, False])
def test_equals_the_slow_twin_on_random_rows(center):
    rng = np.random.default_rng(int(center))
    compared = 0
    for _ in range(cases(500)):
        X = random_rows(rng)
        rank = int(rng.integers(1, 4))
        size, block = rank + int(rng.integers(1, 9)), int(rng.integers(1, 30))
        selector = FSDS(rank=rank, sketch_size=size, batch_size=block, center=center)
        scores = selector.fit(X if rng.random() < 0.5 else sp.csr_array(X)).scores_
        B = twin.sketch(X, size, block, center)
        scale = max(1e-300, np.sum(X**2))
        np.testing.assert_allclose(selector.sketch_.T @ selector.sketch_, B @ B.T, rtol=0, atol=1e-9 * scale)
        # a direction is defined only as well as its length differs from the next one's
        s = np.append(np.linalg.svd(B, compute_uv=False), np.zeros(rank + 1))[: rank + 1]
        lead = s[: np.count_nonzero(s[:rank] > 1e-10 * s[0])]
        spacing = -np.diff(np.append(lead, s[len(lead)])) / max(s[0], 1e-300)
        if len(lead) == 0:
            assert not scores.any() or scale < 1e-20
        elif spacing.min() > 1e-3:
            compared += 1
            np.testing.assert_allclose(scores, twin.weights(B, rank), rtol=1e-6, atol=1e-9 * scores.max())
    assert compared > cases(280)


def test_defaults_are_those_of_the_paper():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 50)) * np.linspace(1, 4, 50)
    selector = FSDS().fit(X)
    B = twin.sketch(X, size=7, block=128)
    np.testing.assert_allclose(selector.scores_, twin.weights(B, rank=2, penalty=8.0), rtol=1e-9)
    np.testing.assert_allclose(selector.mean_, X.mean(axis=0), rtol=1e-12, atol=1e-14)
    assert len(selector.sketch_) == 6


def test_the_penalty_tames_the_shortest_direction():
    X = np.random.default_rng(2).normal(size=(300, 4)) * [100.0, 10.0, 1.0, 0.1]
    scores = {c: FSDS(sketch_size=5, penalty=c).fit(X).scores_ for c in (1e-6, 1e6)}
    # without a penalty the shorter of the two directions has the larger coefficients, 1 / s; with a large
    # one the longer has, s / penalty
    assert np.argmax(scores[1e-6]) == 1
    assert np.argmax(scores[1e6]) == 0


# ------------------------------------------------------------------------------------ Frequent Directions


def _streams():
    rng = np.random.default_rng(3)
    n, p = 210, 30
    noise = rng.normal(size=(n, p))
    low_rank = rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) * 5 + 0.1 * noise
    yield "random", noise
    yield "low rank", low_rank
    yield "sorted", low_rank[np.argsort(low_rank[:, 0])]
    yield "heavy tails", rng.standard_t(1.5, size=(n, p))
    yield "far from the origin", noise + rng.normal(size=p) * 1e4
    yield "a mean that moves", noise + np.linspace(0, 50, n)[:, None]
    yield "two means", noise + 30.0 * (np.arange(n)[:, None] >= n // 2)
    # every row is a new direction of equal length: as much as possible is lost at every step
    yield "adversarial", np.tile(np.eye(p), (n // p, 1))
    yield "adversarial, growing", np.tile(np.eye(p), (n // p, 1)) * np.linspace(1, 100, n)[:, None]
    yield "adversarial, shrinking", np.tile(np.eye(p), (n // p, 1)) * np.linspace(100, 1, n)[:, None]
    yield "one huge row", np.vstack([1e6 * noise[:1], noise[1:]])


STREAMS = dict(_streams())


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("name", STREAMS)
def test_the_bound_of_frequent_directions(name, center):
    X = STREAMS[name]
    for size, block in ((3, 1), (3, 64), (8, 9), (20, 20), (50, 9)):
        selector = FSDS(sketch_size=size, batch_size=block, center=center).partial_fit(X[:133])
        selector.partial_fit(X[133:])  # some rows wait at the end
        truth, mass = scatter(X, center), np.trace(scatter(X, center))
        missing = np.linalg.eigvalsh(truth - selector.sketch_.T @ selector.sketch_)
        slack = 1e-9 * mass
        assert missing[-1] <= selector.sketch_error_ + slack
        assert selector.sketch_error_ <= mass / size + slack
        assert missing[0] >= -slack  # nothing is ever seen that was not there
        assert len(selector.sketch_) < size
        lengths = np.linalg.norm(selector.sketch_, axis=1)
        products = selector.sketch_ @ selector.sketch_.T
        assert np.all(np.abs(products - np.diag(lengths**2)) <= slack)
        assert np.all(np.diff(lengths) <= 1e-9 * lengths[:1])


def test_a_sketch_with_room_for_all_directions_loses_nothing():
    X = np.random.default_rng(4).normal(size=(200, 6)) + 5
    selector = FSDS(sketch_size=7).fit(X)
    assert selector.sketch_error_ == 0.0
    np.testing.assert_allclose(selector.sketch_.T @ selector.sketch_, scatter(X), rtol=1e-10)


def test_the_mean_of_the_rows_is_no_direction():
    """The paper assumes rows of mean zero; without centering, the mean is the first direction."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 10)) * [1, 1, 6, 1, 1, 5, 1, 1, 1, 1]
    X[:, [0, 7]] += [1000.0, 500.0]
    assert FSDS(2).fit(X).get_support().nonzero()[0].tolist() == [2, 5]
    assert FSDS(2, rank=1, center=False).fit(X).ranked_.tolist() == [0, 7]
    assert FSDS(2, rank=1).fit(X).ranked_.tolist() == [2, 5]


def test_leading_directions_of_very_different_lengths_are_exact():
    rng = np.random.default_rng(6)
    basis = np.linalg.qr(rng.normal(size=(30, 3)))[0].T
    X = (rng.normal(size=(100, 3)) * [1e8, 1.0, 1e-3]) @ basis
    X -= X.mean(axis=0)
    selector = FSDS(sketch_size=9, batch_size=20).fit(X)
    second = selector.sketch_[1] / np.linalg.norm(selector.sketch_[1])
    expected = np.linalg.svd(X, full_matrices=False)[2][1]
    assert abs(second @ expected) == pytest.approx(1.0, abs=1e-9)


# ------------------------------------------------------------------------------------ finding clusters


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_features_that_separate_clusters_are_found(form):
    rng = np.random.default_rng(7)
    informative = [3, 17, 41, 77]
    centers = np.zeros((3, 100))
    centers[:, informative] = [[6, 6, 0, 0], [0, 0, 6, 6], [-6, -6, -6, -6]]
    selector = FSDS(4)
    for _ in range(cases(10)):
        X = rng.normal(size=(80, 100)) + centers[rng.integers(0, 3, 80)]
        selector.partial_fit(form(X))
    assert selector.get_support().nonzero()[0].tolist() == informative
    assert selector.ledger_.kept()


def test_no_target_is_needed_and_none_is_looked_at():
    X = np.random.default_rng(8).normal(size=(50, 5))
    expected = FSDS(2).fit(X).scores_
    for y in (np.zeros(50), ["a"] * 50, np.full(50, np.nan)):
        assert np.array_equal(FSDS(2).fit(X, y).scores_, expected)
    one_by_one = FSDS(2)
    for row in X:
        one_by_one.learn_one({f"x{j}": v for j, v in enumerate(row)})
    np.testing.assert_allclose(one_by_one.scores_, expected, rtol=1e-12)


# ------------------------------------------------------------------------------------ guards


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_fewer_rows_than_the_sketch_has(n):
    X = np.random.default_rng(9).normal(size=(n, 30))
    selector = FSDS(3).fit(X)
    assert len(selector.sketch_) == n - 1  # n points span n - 1 directions about their mean
    assert np.all(np.isfinite(selector.scores_))
    assert np.any(selector.scores_ > 0) == (n > 1)


@pytest.mark.parametrize("value", [0.0, 0.1, -1e90, 1e-300])
def test_constant_rows_have_no_direction(value):
    selector = FSDS(2).fit(np.full((300, 12), value))
    assert not selector.scores_.any()
    assert selector.sketch_.shape == (0, 12)
    assert selector.ranked_.tolist() == [0, 1]


def test_a_constant_feature_scores_nothing():
    X = np.random.default_rng(10).normal(size=(300, 9))
    X[:, 4] = 0.1
    assert FSDS(2).fit(X).scores_[4] < 1e-16


def test_one_feature():
    selector = FSDS(sketch_size=5, rank=3).fit(np.arange(200.0)[:, None])
    length = np.sqrt(np.var(np.arange(200.0)) * 200)
    assert selector.scores_ == pytest.approx([1 / (length + 8)])


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-5, 1e95])
def test_any_scale_is_the_same_data(scale):
    X = np.random.default_rng(11).normal(size=(150, 8)) * np.arange(1, 9)
    rows = FSDS(sketch_size=4).fit(X).sketch_
    np.testing.assert_allclose(
        np.abs(FSDS(sketch_size=4).fit(X * scale).sketch_) / scale, np.abs(rows), rtol=1e-6, atol=1e-9
    )


# ------------------------------------------------------------------------------------ streams


def test_open_features_are_zero_before_they_come():
    rng = np.random.default_rng(12)
    X = rng.normal(size=(150, 12)) + 2
    for j in range(12):
        X[: 10 * j, j] = 0.0
    by_dict = FSDS(4, sketch_size=5, batch_size=16)
    for row in X:
        by_dict.learn_one({f"x{j}": v for j, v in enumerate(row) if v})
    by_matrix = FSDS(4, sketch_size=5, batch_size=16).fit(sp.csr_array(X))
    np.testing.assert_allclose(by_dict.scores_, by_matrix.scores_, rtol=1e-9)
    np.testing.assert_allclose(by_dict.mean_, X.mean(axis=0), rtol=1e-12)


def test_the_sketch_grows_with_the_vocabulary():
    rng = np.random.default_rng(13)
    selector = FSDS(batch_size=4)
    for i in range(100):
        selector.learn_one({f"x{j}": float(v) for j, v in enumerate(rng.normal(size=i + 1))})
        assert len(selector.scores_) == i + 1
        assert len(selector.sketch_) < max(3, int(np.sqrt(i + 1)))
    assert len(selector.sketch_) == 9


def test_questions_change_nothing():
    X = np.random.default_rng(14).normal(size=(200, 10))
    asked, silent = FSDS(3), FSDS(3)
    for row in np.array_split(X, 37):
        asked.partial_fit(row).get_support()
        silent.partial_fit(row)
    assert np.array_equal(asked.scores_, silent.scores_)


def test_rows_that_wait_are_copies():
    X = np.random.default_rng(15).normal(size=(20, 5))
    for form in (np.array, sp.csr_array):
        mine = form(X)
        selector = FSDS(2).fit(mine)
        (mine.data if sp.issparse(mine) else mine)[:] = 7.0
        assert np.array_equal(selector.scores_, FSDS(2).fit(X).scores_)


def test_dense_and_sparse_batches_may_alternate():
    X = np.random.default_rng(16).normal(size=(100, 8))
    mixed = FSDS(3, batch_size=30)
    for i, part in enumerate(np.array_split(X, 9)):
        mixed.partial_fit(sp.csr_array(part) if i % 2 else part)
    np.testing.assert_allclose(mixed.scores_, FSDS(3, batch_size=30).fit(X).scores_, rtol=1e-12)


# ------------------------------------------------------------------------------------ refusals


def test_missing_values_are_refused_by_name():
    with pytest.raises(InputError, match="feature 'x1' has missing values; impute it"):
        FSDS().fit([[1.0, np.nan]])
