"""The offline side of the screening study: exact bins, and measures of difference."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import streamsieve as ss
from studies.screening._offline import offline_tables
from studies.screening.accuracy import FORMULAS, count_difference, misranked, online_tables, score_difference
from tests.reference import quantiles

values = arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 5)), elements=st.integers(-4, 4))


@given(X=values, bins=st.integers(2, 6), data=st.data())
def test_bins_are_those_of_the_slow_twin(X, bins, data):
    y = data.draw(arrays(np.int64, len(X), elements=st.integers(0, 2)))
    y[0] = 2  # so that the label alone says how many classes there are
    expected = quantiles.tables(X, y, bins=bins)
    counts = np.zeros((X.shape[1], 3, bins))
    counts[:, expected.classes] = expected.counts
    np.testing.assert_array_equal(offline_tables(X, y, bins).counts, counts)
    np.testing.assert_array_equal(offline_tables(sp.csr_array(X), y, bins).counts, counts)


@pytest.mark.parametrize("sparse", [False, True])
def test_an_exact_summary_makes_no_difference(sparse):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = rng.integers(0, 9, (500, 40)) * rng.integers(0, 2, (500, 40)) + y[:, None] * rng.integers(0, 2, 40)
    X = X.astype(float)
    screen = ss.Screen("mutual_info", k=40).fit(sp.csr_array(X) if sparse else X, y)
    online, offline = online_tables(screen), offline_tables(X, y, 5)
    assert count_difference(online.counts, offline.counts) == 0
    for formula in FORMULAS.values():
        both = formula.score(online), formula.score(offline)
        assert score_difference(*both) == 0
        assert misranked(*both) == 0
    np.testing.assert_allclose(screen.scores_, FORMULAS["mutual_info"].score(offline), rtol=1e-12, atol=1e-15)


def test_measures_by_hand():
    online, offline = np.array([4.0, 3.0, 2.0, 0.0]), np.array([4.0, 1.0, 2.0, 0.0])
    assert score_difference(online, offline) == pytest.approx(2 / 4 / 4)
    assert misranked(np.repeat(online, 5), np.repeat(offline, 5)) == 0  # the best tenth is two of twenty
    flipped = np.arange(20.0)
    assert misranked(flipped[::-1], flipped) == 1
    assert np.isnan(score_difference(np.zeros(3), np.zeros(3)))
    counts = np.zeros((1, 2, 2))
    other = counts.copy()
    other[0, 0, 0], other[0, 1, 0] = 1, 3
    assert count_difference(other, counts) == 2
