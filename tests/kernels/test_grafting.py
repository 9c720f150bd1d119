"""The solver ends where no coefficient has anywhere to go, also where columns depend on each other."""

import numpy as np
import pytest

from streamsieve._kernels import grafting as kernel


def quadratic(G, c, v, level):
    """Return what the kernels work on."""
    return np.vstack([G, np.zeros_like(v), level, np.full_like(v, 1e-12), c - G @ v, v])


def check(G, c, work, level, slack=1e-9):
    v, rest = work[-1], c - G @ work[-1]
    np.testing.assert_allclose(work[-2], rest, atol=1e-12)
    active = v != 0
    np.testing.assert_allclose(rest[active], (level * np.sign(v))[active], atol=slack)
    assert np.all(np.abs(rest)[~active] <= level[~active] + slack)


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_rounds_and_walks_end_at_a_minimum(seed, dependent):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 6))
    if dependent:
        X[:, 5] = X[:, 0] + X[:, 1]
        X[:, 4] = X[:, 2]
    G, c = X.T @ X / 12, X.T @ rng.normal(size=12) / 12
    level = np.array([0.0, 0.1, 0.1, 0.05, 0.1, 0.1]) * (0.2 + seed % 3)
    work = quadratic(G, c, rng.normal(size=6) * (seed % 2), level)
    while kernel.descend(work, 10) > 1:
        kernel.walk(work)
    check(G, c, work, level)


def test_a_walk_along_a_dependence_ends_with_one_column_less():
    """The third is the sum of the first two: all the weight goes to it, until one of the others has none."""
    A = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 2)))[0]
    X = np.column_stack([A, A.sum(axis=1)])
    G, c = X.T @ X, X.T @ (A @ [1.0, 0.6])
    level = np.full(3, 0.1)
    work = quadratic(G, c, np.array([0.9, 0.5, 1e-3]), level)
    kernel.walk(work)
    assert work[-1, 1] == 0.0
    check(G, c, work, level)


@pytest.mark.parametrize("loss", [0, 1, 2])
def test_respond_gives_loss_probabilities_and_residuals(loss):
    rng = np.random.default_rng(1)
    classes = 3 if loss == 2 else 1
    predictor = 5 * rng.normal(size=(classes, 7))
    predictor[0, 0] = 800.0  # beyond what an exponential can be taken of
    target = rng.integers(0, 2, (1, 7)).astype(float)
    if loss == 2:
        target = np.eye(3)[rng.integers(0, 3, 7)].T.copy()
    probability, residual = np.empty((classes, 7)), np.empty((classes, 7))
    mean = kernel.respond(loss, target, predictor, probability, residual)
    if loss == 0:
        wanted, expected = ((target - predictor) ** 2 / 2).sum(), predictor
    elif loss == 1:
        wanted = (np.logaddexp(0, predictor) - target * predictor).sum()
        expected = np.exp(-np.logaddexp(0, -predictor))
    else:
        total = np.logaddexp.reduce(predictor, axis=0)
        wanted, expected = (total - (target * predictor).sum(axis=0)).sum(), np.exp(predictor - total)
    assert mean == pytest.approx(wanted / 7)
    np.testing.assert_allclose(residual, target - expected, atol=1e-12)
    if loss:
        np.testing.assert_allclose(probability, expected, atol=1e-12)


@pytest.mark.parametrize("loss", [0, 1, 2])
def test_curve_is_the_second_derivative(loss):
    rng = np.random.default_rng(2)
    classes = 3 if loss == 2 else 1
    columns, facts = rng.normal(size=(3, 8)), np.zeros((3, 4))
    facts[:, 1] = [0.0, 0.5, 0.25]
    owner, class_of = np.array([0, 1, 2, 1]), np.arange(4) % classes
    value, H = rng.normal(size=4), np.zeros((5, 5))
    target = np.zeros((classes, 8))
    target[0] = 1

    def residuals(v):
        predictor, probability, residual = (
            np.zeros((classes, 8)),
            np.empty((classes, 8)),
            np.empty((classes, 8)),
        )
        np.add.at(predictor, class_of, v[:, None] * columns[owner])
        kernel.respond(loss, target, predictor, probability, residual)
        return probability, residual

    probability, _ = residuals(value)
    kernel.curve(loss, probability, columns, facts, owner, class_of, 0, 2, H)
    kernel.curve(loss, probability, columns, facts, owner, class_of, 2, 4, H)
    for e in range(4):
        step = 1e-5 * np.eye(4)[e]
        slopes = [
            -(columns[owner] * residuals(v)[1][class_of]).mean(axis=1) + facts[owner, 1] * v
            for v in (value + step, value - step)
        ]
        np.testing.assert_allclose(H[e, :4], (slopes[0] - slopes[1]) / 2e-5, atol=1e-7)


def test_prune_moves_the_last_into_the_gap():
    columns = np.arange(5.0)[:, None] * np.ones((5, 3))
    facts = np.arange(20.0).reshape(5, 4)
    feature = np.array([-1, 10, 11, 12, 13])
    owner, class_of = np.array([0, 1, 2, 3, 4, 4]), np.array([0, 0, 1, 0, 1, 0])
    value = np.array([0.0, 0.0, 2.0, 0.0, 4.0, 0.0])
    H = np.add.outer(np.arange(6.0), np.arange(6.0))
    before = H.copy()
    gone, gradient = np.empty(5, np.int64), np.empty(5)
    residual = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, -9.0]])
    n_columns, many, dropped = kernel.prune(
        columns, residual, facts, feature, 5, owner, class_of, value, 6, 1, H, gone, gradient
    )
    assert (n_columns, many, dropped) == (3, 3, 2)
    assert dict(zip(gone[:2].tolist(), gradient[:2].tolist(), strict=True)) == {10: -3.0, 12: -9.0}
    assert set(feature[:3].tolist()) == {-1, 11, 13}
    kept = {(int(feature[owner[e]]), int(class_of[e])): float(value[e]) for e in range(many)}
    assert kept == {(-1, 0): 0.0, (11, 1): 2.0, (13, 1): 4.0}
    old = {(-1, 0): 0, (11, 1): 2, (13, 1): 4}
    for e in range(many):
        k = owner[e]
        assert columns[k, 0] == facts[k, 0] / 4
        for f in range(many):
            places = [old[int(feature[owner[i]]), int(class_of[i])] for i in (e, f)]
            assert H[e, f] == before[places[0], places[1]]
