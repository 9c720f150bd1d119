"""The heap of the surest features is the set of the largest gains, although its keys lag behind."""

import numpy as np
import pytest

from streamsieve._kernels import sofs
from tests.reference import sofs as twin


def learn(X, y, k, parts=1):
    """Cells, members and mistakes after rows that came in some batches."""
    p = X.shape[1]
    cells, member = np.zeros((p, 2)), np.zeros(p, bool)
    heap, keys, n, mistakes = np.zeros(k, np.int32), np.zeros(k), 0, 0
    for part in np.array_split(np.arange(len(y)), parts):
        rows, indices = np.nonzero(X[part])
        indptr = np.searchsorted(rows, np.arange(len(part) + 1))
        data = X[part][rows, indices]
        n, wrong = sofs.learn_rows(
            indptr, indices.astype(np.int32), data, y[part], cells, member, heap, keys, n, k, 1.0
        )
        mistakes += wrong
        assert set(heap[:n]) == set(np.flatnonzero(member))
        parents = (np.arange(1, n) - 1) // 2
        assert np.all(keys[parents] <= keys[1:n])
        assert np.all(keys[:n] <= cells[heap[:n], 0])
    return cells, member, mistakes


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("parts", [1, 7])
def test_rows_are_learnt_as_the_twin_learns_them(k, parts):
    rng = np.random.default_rng(k)
    X = rng.poisson(0.4, (40, 8)) * rng.choice([-1.0, 1.0], (40, 8))
    y = rng.choice([-1.0, 1.0], 40)
    history, margins = twin.sofs(X, y, k=k)
    cells, member, mistakes = learn(X, y, k, parts)
    assert np.array_equal(cells[:, 1], history[-1][0])
    assert np.array_equal(cells[:, 0], history[-1][1])
    surest = np.argsort(-cells[:, 0], kind="stable")[:k]
    assert set(np.flatnonzero(member)) == set(surest)
    assert mistakes == np.count_nonzero(margins <= 0)


def test_zeros_and_values_too_small_to_count_enter_no_heap():
    cells, member, _ = learn(np.array([[1e-200, 1.0, 0.0]]), np.ones(1), 3)
    assert member.tolist() == [False, True, False]
    assert cells[:, 1].tolist() == [0.0, 0.5, 0.0]
