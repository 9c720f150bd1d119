"""Ctrl-C is handled while offline methods call LAPACK and SciPy on large matrices."""

import ctypes
import time

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import streamsieve as ss
from campaigns.answering import longest_stretch, one_processor
from streamsieve.offline.shared import row_similarity
from streamsieve.offline.shared.eigenvectors import integers_of, leading
from streamsieve.offline.shared.feature_generation import mixture

#: Share of a call that may pass without an answer; a call that holds the GIL takes all of it at once.
SHARE = 0.5


def symmetric(n):
    X = np.random.default_rng(0).normal(size=(n, n))
    return X @ X.T


def leaves_room(call):
    """Whether less than half of a call passes without an answer; one of three calls is enough.

    On a busy machine a thread that waits for an answer may be late; one that holds the GIL always is.
    """
    call()  # loads whatever it needs

    def share():
        before = time.process_time()
        stretch = longest_stretch(call).seconds
        return stretch / (time.process_time() - before)

    with one_processor():
        return any(share() < SHARE for _ in range(3))


@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 5), (50, 4), (301, 7)])
def test_the_leading_eigenvectors_are_those_of_scipy(n, k):
    matrix = symmetric(n)
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=[n - k, n - 1])
    found, directions = leading(matrix, k)
    np.testing.assert_allclose(found, values, rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(vectors * directions, axis=0)), 1.0, rtol=1e-8)


def test_integers_have_the_size_that_the_signature_states():
    assert integers_of("void (char *, char *, char *, int *, double *)") is ctypes.c_int32
    assert integers_of("void (char *, char *, char *, int64_t *, double *)") is ctypes.c_int64


@pytest.mark.full
def test_eigenvectors_leave_room_for_an_answer():
    matrix = symmetric(2_000)
    assert leaves_room(lambda: leading(matrix.copy(), 3))


@pytest.mark.full
@pytest.mark.parametrize(
    "make", [lambda: ss.SPEC(k=2, variant=3, clusters=3), lambda: ss.SPFS(k=2, supervised=False)]
)
def test_methods_by_eigenvectors_leave_room_for_an_answer(make):
    X = np.random.default_rng(0).normal(size=(2_000, 5))
    assert leaves_room(lambda: make().fit(X))


@pytest.mark.full
def test_a_decomposition_of_generated_features_leaves_room_for_an_answer():
    rows = np.random.default_rng(0).normal(size=(1_800, 1_600))
    start = np.zeros(1_600)
    assert leaves_room(lambda: mixture(rows, np.array([800, 800]), 1e-6, start))


def test_sparse_products_of_rows_in_pieces_are_those_of_the_whole(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 30)) * (rng.random((70, 30)) < 0.2)
    X[3], X[69] = 0.0, 1.0
    X = sp.csr_array(X)
    whole = row_similarity.gaussian(X, 0.3)
    monkeypatch.setattr(row_similarity, "EFFORT", 2**12)
    np.testing.assert_array_equal(row_similarity.gaussian(X, 0.3), whole)
    np.testing.assert_allclose(row_similarity.gaussian(X.toarray(), 0.3), whole, rtol=1e-10)
