"""Large offsets and large counts: every criterion, dense and sparse, is right where naive formulas fail."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.summaries import Contingency, Quantiles

CLASSES = ["t", "fisher", "f", "mutual_info", "chi2", "gini", "su"]
FORMS = {"dense": np.asarray, "sparse": sp.csr_array}
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@each_form
@pytest.mark.parametrize("criterion", [*CLASSES, "correlation"])
def test_an_offset_of_a_billion_changes_nothing(criterion, form):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    X = np.round((rng.normal(size=(3000, 4)) + y[:, None] * [0, 0.5, 1, 2]) * 2**10) / 2**10
    near = ss.Screen(criterion).fit(X, y)
    far = ss.Screen(criterion)
    for low in range(0, 3000, 700):
        far.partial_fit(form(X[low : low + 700] + 1e9), y[low : low + 700])
    # the running mean of sparse rows is a float64 at 1e9, and differences of two such have seven digits
    rounded = form is sp.csr_array and criterion in ("t", "fisher", "f", "correlation")
    np.testing.assert_allclose(far.scores_, near.scores_, rtol=1e-4 if rounded else 1e-6, atol=1e-12)


@each_form
@pytest.mark.parametrize("kind", [Quantiles, Contingency])
def test_counters_are_exact_past_two_to_the_32(kind, form):
    summary = kind()
    X, y = np.array([[1.0], [2.0], [2.0], [5.0]]), np.array([0, 0, 1, 1])
    weight = np.array([2.0**32 + 1, 3.0, 2.0**24 + 1, 2.0**33])
    summary.update(form(X), y, weight)
    summary.update(form(X), y, np.ones(4))
    expected = [[2.0**32 + 2, 4, 0], [0, 2.0**24 + 2, 2.0**33 + 1]]
    if kind is Quantiles:
        assert summary.cdf(0, [1.0, 2.0, 5.0]).tolist() == np.cumsum(expected, axis=1).tolist()
        assert next(summary.tables(5)).counts.sum() == np.sum(expected)
    else:
        counts = summary.counts(0)
        assert counts[:, counts.any(axis=0)].tolist() == expected


@pytest.mark.parametrize("criterion", CLASSES)
def test_a_million_equal_rows_and_one_other_are_told_apart(criterion):
    X = np.zeros((2**20 + 1, 2), np.float32)
    X[-1] = 1.0
    y = np.zeros(len(X), int)
    y[-1] = 1
    scores = ss.Screen(criterion, k=1).fit(X, y).scores_
    assert np.isfinite(scores).all()
    assert scores[0] == scores[1]
    constant = np.column_stack([X[:, 0], np.ones(len(X), np.float32)])
    assert ss.Screen(criterion, k=1).fit(constant, y).ranked_.tolist() == [0]
