"""Kernels of OSSFS-DD: moments by NumPy, partial correlations by least squares."""

import numpy as np
import pytest

from streamsieve._kernels import ossfs_dd
from tests.reference.fisher_z import partial


def test_thresholds_count_every_score_once():
    rng = np.random.default_rng(0)
    score = rng.random(12)
    counted = np.arange(12) % 5 != 2
    moments = np.zeros(3)
    parts = [
        ossfs_dd.thresholds(score[part], counted[part], moments, 1.0, 2.0)
        for part in (slice(0, 3), slice(3, 3), slice(3, 12))
    ]
    lower, upper = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    for j in range(12):
        known = score[: j + 1][counted[: j + 1]]
        assert lower[j] == pytest.approx(known.mean() + known.std(), abs=1e-12)
        assert upper[j] == pytest.approx(known.mean() + 2 * known.std(), abs=1e-12)
    assert moments[0] == 10


def problem(rng, contrasts):
    n = 15
    Z = rng.normal(size=(n, 6)) + rng.normal(size=(n, 1))
    Y = Z[:, :contrasts] + rng.normal(size=(n, contrasts))
    Y = np.linalg.qr(Y - Y.mean(axis=0))[0]
    Z = Z - Z.mean(axis=0)
    Z[:, 5] = -2 * Z[:, 0]  # a copy
    if contrasts == 1:
        Z[:, 4] = Y[:, 0]  # the target itself
    Z = Z / np.linalg.norm(Z, axis=0)
    return np.ascontiguousarray(Z.T), np.ascontiguousarray(Z.T @ Y), Y


@pytest.mark.parametrize("contrasts", [1, 3])
def test_dependence_given_a_column_is_that_of_least_squares(contrasts):
    Z, products, Y = problem(np.random.default_rng(1), contrasts)
    some = np.array([0, 1, 2, 3])
    for other in (2, 3, 4, 5):
        pair, dependence, share = ossfs_dd.given(Z, products, some, other)
        for i, s in enumerate(some):
            assert pair[i] == pytest.approx(Z[s] @ Z[other], abs=1e-12)
            wanted = 0.0
            if 1 - pair[i] ** 2 > 1e-10:
                wanted = partial(Z[s], Y, Z[[other]].T)
            assert dependence[i] == pytest.approx(wanted, abs=1e-7)
            assert share[i] == pytest.approx(1 - wanted**2, abs=1e-9)


def test_partners_are_the_first_with_whom_there_is_enough():
    Z, products, Y = problem(np.random.default_rng(2), 3)
    score = np.linalg.norm(products, axis=1)
    some = np.array([3, 1, 0, 2])
    together = np.zeros((4, 4))
    for i, a in enumerate(some):
        for j, b in enumerate(some):
            if i != j:
                together[i, j] = score[a] + partial(Z[a], Y, Z[[b]].T)
    both = np.maximum(together, together.T)
    for limit in (0.5, np.median(both), 1.9):
        wanted = [next((j for j in range(4) if j != i and both[i, j] > limit), -1) for i in range(4)]
        assert ossfs_dd.partners(Z, products, score, some, limit).tolist() == wanted
