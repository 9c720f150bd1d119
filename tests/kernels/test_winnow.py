"""The logarithms of the weights are those of the twin's weights."""

import numpy as np

from streamsieve._kernels import winnow
from tests.reference import winnow_efs as twin


def test_rows_are_learnt_as_the_twin_learns_them():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.7, (40, 6)).astype(float), rng.choice([-1.0, 1.0], 40)
    history, margins = twin.winnow(X, y)
    cells, bias = np.zeros((6, 2)), np.zeros(2)
    every = np.tile(np.arange(6, dtype=np.int32), 40)
    mistakes = winnow.learn_rows(np.arange(0, 241, 6), every, X.ravel(), y, cells, bias, 1.5, 0.5, 1.0, 1.0)
    logs = np.vstack([bias, cells])
    np.testing.assert_allclose([2 * np.exp(logs[:, 0]), np.exp(logs[:, 1])], history[-1], rtol=1e-10)
    assert mistakes == np.count_nonzero(margins <= 0)


def test_the_score_of_a_row_is_exactly_zero_where_nothing_was_learned():
    rng = np.random.default_rng(1)
    for label in (1.0, -1.0):
        for _ in range(20):
            x, cells, bias = rng.random(5), np.zeros((5, 2)), np.zeros(2)
            row = np.array([0, 5]), np.arange(5, dtype=np.int32), x, np.array([label])
            assert winnow.learn_rows(*row, cells, bias, 1.5, 0.5, 1.0, 0.0) == 1
            assert cells.all()  # a margin of 0 is not enough


def test_logarithms_end_before_exp_overflows():
    cells, bias = np.full((1, 2), [599.9, -9000.0]), np.array([-50.0, 599.9])
    row = np.array([0, 1]), np.zeros(1, np.int32), np.ones(1), np.ones(1)
    winnow.learn_rows(*row, cells, bias, 1.5, 0.5, 1.0, 1e300)
    assert cells[0, 0] == 600.0
    assert np.isfinite(cells).all()
