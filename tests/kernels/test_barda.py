"""Few features are looked at, and yet the members are those of a full sort at every row."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._kernels import barda as kernel
from streamsieve.rows.linear.dual_averaging import DualAveraging, Settings
from streamsieve.rows.linear.entries import row_entries
from tests.reference.barda import Learner

KINDS = ("normal", "binary", "rare", "whole", "tenths", "tiny", "faint", "huge")


def stream(kind, n, p, rng):
    X = rng.normal(size=(n, p))
    if kind == "binary":
        X = rng.integers(0, 2, (n, p)) * 1.0
    elif kind == "rare":
        X = (rng.random((n, p)) < 0.1) * 1.0
    elif kind == "whole":
        X = np.round(X) * (rng.random((n, p)) < 0.3)
    elif kind == "tenths":  # sums of them differ in the last bit: scores are nearly equal
        X = (rng.random((n, p)) < 0.05) * rng.choice([0.1, 0.2, 0.3], (n, p))
    elif kind == "tiny":
        X *= 1e-60
    elif kind == "faint":  # scores too small for a relative margin
        X *= 1e-141
    elif kind == "huge":
        X *= 1e20
    y = np.where(X[:, 0] + 0.5 * X[:, -1] + 0.1 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ridge", [0.0, 0.01, 10.0])
def test_every_prediction_is_the_twins_bit_for_bit(kind, ridge):
    rng = np.random.default_rng(len(kind) + int(ridge))
    for turn in range(3):
        n, p = int(rng.integers(5, 50)), int(rng.integers(1, 30))
        X, y = stream(kind, n, p, rng)
        budget, spare, width = (int(v) for v in rng.integers((1, 0, 1), (6, 4, 3)))
        rate = float(10 ** rng.uniform(-3, 1))
        model, margins = DualAveraging(p), np.zeros(n)
        rows = row_entries(sp.csr_array(X) if turn % 2 else X)
        model.learn(rows, y, 0, Settings(budget, rate, ridge, 0.01, spare, width), margins)
        twin = Learner(p, budget, rate, ridge)
        assert margins.tolist() == [twin.learn(x, sign) for x, sign in zip(X, y, strict=True)]
        assert model.gradients.tolist() == twin.G.tolist()
        assert model.squares.tolist() == twin.s2.tolist()


def test_who_stays_after_at_two_moments_does_so_between():
    rng = np.random.default_rng(0)
    after = 0
    for _ in range(300):
        (g, g0), (h, h0) = 10 ** rng.uniform(-2, 2, 2), 10 ** rng.uniform(-2, 2, 2)
        now, then = np.sort(10 ** rng.uniform(-3, 3, 2))
        if kernel._stays_after(g, h, 1, g0, h0, 0, now, then):
            after += 1
            for a in np.linspace(now, then, 9):
                assert kernel._score(g, h, a) < kernel._score(g0, h0, a)
    assert 50 < after < 250


def test_equal_lines_rank_by_feature():
    assert kernel._stays_after(2.0, 1.0, 7, -2.0, 1.0, 6, 0.0, 5.0)
    assert not kernel._stays_after(2.0, 1.0, 6, -2.0, 1.0, 7, 0.0, 5.0)
    assert not kernel._stays_after(2.0 * (1 - 1e-15), 1.0, 7, 2.0, 1.0, 6, 0.0, 5.0)  # too near to be sure


@pytest.mark.parametrize("seed", range(4))
def test_nth_of_the_pool_counts_equals_by_feature(seed):
    rng = np.random.default_rng(seed)
    score, pool = rng.integers(0, 4, 12).astype(float), rng.permutation(40)[:12]
    order = np.lexsort((pool, -score))
    assert [kernel._nth(rank, pool, score, rng.permutation(12)) for rank in range(12)] == order.tolist()


def test_look_computes_scores():
    rng = np.random.default_rng(1)
    table, out = np.abs(rng.normal(size=(9, 2))), np.empty(3)
    features = np.array([4, 0, 8], np.int32)
    kernel.look(features, table, 0.5, 0.01, 2.0, out)
    h = 0.01 + np.sqrt(table[features, 1])
    w = 0.5 * table[features, 0] / (2.0 + h)
    assert out.tolist() == (w * w * h).tolist()
