"""A batch with a value that no statistic survives is refused by column, and leaves no trace."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.exceptions import BadValueError, InputError, ParameterError
from streamsieve.testing._summary_rows import known
from tests.summaries.kinds import KINDS, each_kind
from tests.summaries.streams import FORMS, Stream, assert_same_bits, feed, snapshot

# Without the JIT, kernels are NumPy scalars, which warn of the overflow that is about to be refused.
pytestmark = pytest.mark.filterwarnings("ignore:.* encountered in scalar:RuntimeWarning")
BAD = [np.inf, -np.inf, 1e308, -1e308]


def good(n=8, p=3, first_label=0):
    """Rows without missing values, whose labels serve as classes and as numbers alike."""
    X = np.arange(1.0, n * p + 1).reshape(n, p) % 7
    return Stream(X, first_label + np.arange(n) % 2 * 1.0)


def bad(value, place=(5, 1), **shape):
    stream = good(**shape)
    stream.X[place] = value
    return stream


def assert_refused_without_trace(summary, stream, form, column, value):
    before = snapshot(summary)
    with pytest.raises(BadValueError, match=f"feature 'x{column}'") as caught:
        feed(summary, stream, form)
    assert caught.value.feature == column
    assert np.array_equal(caught.value.value, value, equal_nan=True)
    assert_same_bits(before, snapshot(summary))


def goes_on(kind, half_life, form, refuse):
    """Return a summary after a refused batch, and one that never saw it; both saw the same good rows."""
    seen, spared = kind(half_life), kind(half_life)
    for summary in (seen, spared):
        feed(summary, good(), form)
    refuse(seen)
    for summary in (seen, spared):
        feed(summary, good(n=5), form)
    return seen, spared


@each_kind
@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("form", [f for f in FORMS if "float32" not in f])
def test_bad_values_are_refused_by_column(kind, form, value):
    for half_life in (None, 1.0):
        seen, spared = goes_on(
            kind,
            half_life,
            form,
            lambda summary: assert_refused_without_trace(summary, bad(value), form, 1, value),
        )
        assert_same_bits(snapshot(spared), snapshot(seen))


@each_kind
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("form", [f for f in FORMS if "float32" in f])
def test_infinite_float32_is_refused_by_column(kind, form, value):
    summary = feed(kind(), good(), form)
    assert_refused_without_trace(summary, bad(value), form, 1, value)


@each_kind
@pytest.mark.parametrize("form", ["C", "F", "csr_array"])
def test_a_bad_batch_that_brings_new_labels_or_features(kind, form):
    for batch, column in (
        (bad(np.inf, first_label=5), 1),
        (bad(np.inf, (5, 4), p=6), 4),
        (bad(np.inf, (0, 5), p=6, first_label=5), 5),
    ):
        summary = feed(kind(), good(), form)
        assert_refused_without_trace(summary, batch, form, column, np.inf)
        assert summary.n_features == 3
        feed(summary, good(p=6, first_label=5), form)  # what came with the bad batch is welcome without it
        assert summary.n_features == 6


@each_kind
@pytest.mark.parametrize("forms", [("C", "csr_array"), ("csr_array", "C"), ("csr_array", "F")])
def test_a_bad_batch_of_the_other_kind(kind, forms):
    summary = feed(kind(), good(), forms[0])
    assert_refused_without_trace(summary, bad(-np.inf), forms[1], 1, -np.inf)
    assert_refused_without_trace(summary, bad(1e308, first_label=5), forms[1], 1, 1e308)


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.missing])
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_a_bad_batch_among_missing_values(kind, form):
    batch = bad(np.inf)
    batch.X[2:4] = np.nan
    for first in (good(), batch[:5]):
        assert_refused_without_trace(feed(kind(), first, form), batch, form, 1, np.inf)


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if not kind.missing])
@pytest.mark.parametrize("form", FORMS)
def test_missing_values_are_refused_where_they_have_no_meaning(kind, form):
    assert_refused_without_trace(feed(kind(), good(), form), bad(np.nan), form, 1, np.nan)


@each_kind
@pytest.mark.parametrize("form", ["C", "csr_array"])
@pytest.mark.parametrize("row", [0, 250, 999])
def test_a_bad_row_deep_in_a_long_faded_batch(kind, form, row):
    summary = feed(kind(1.0), good(), form)
    assert_refused_without_trace(summary, bad(np.inf, (row, 2), n=1000), form, 2, np.inf)


@each_kind
@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_the_very_first_batch_may_be_bad(kind, form):
    summary = kind()
    with pytest.raises(BadValueError, match="feature 'x1' holds inf; clip it or mark it missing"):
        feed(summary, bad(np.inf), form)
    assert (summary.n_rows, summary.n_features, summary.classes) == (0, 0, [])
    feed(summary, good(p=2), form)
    assert summary.n_features == 2


@each_kind
@pytest.mark.parametrize("form", FORMS)
def test_a_bad_row_of_weight_0_does_not_exist(kind, form):
    stream = bad(np.inf)
    stream.weight = np.ones(8)
    stream.weight[5] = 0.0
    there = stream[np.flatnonzero(stream.weight)]
    assert_same_bits(snapshot(feed(kind(), there, form)), snapshot(feed(kind(), stream, form)))


@each_kind
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_large_values_in_range_are_welcome(kind, form):
    X = np.array([[1e99, 1.0], [-1e99, 2.0], [3e99, 0.0], [0.0, 1.0]])
    summary = feed(kind(), Stream(X, np.array([0.0, 1.0, 0.0, 1.0])), form)
    assert all(np.all(np.isfinite(array)) for array in known(summary))


@each_kind
def test_a_half_life_out_of_range_is_refused(kind):
    with pytest.raises(ParameterError, match="half_life must be a number at least 1"):
        kind(0.5)


@each_kind
def test_rows_that_do_not_fit_together_are_refused_before_a_kernel_sees_them(kind):
    rows = good()
    shifted = sp.csr_array(rows.X)
    shifted.indices = shifted.indices + 1
    for X, y, weight, message in (
        (shifted, rows.y, None, "X has column number 3 in row 0, but 3 columns"),
        (rows.X, rows.y[:-1], None, r"X has 8 rows, but y has shape \(7,\)"),
        (rows.X, rows.y, np.ones(3), "one finite weight >= 0 per row"),
        (rows.X, rows.y, -np.ones(8), "one finite weight >= 0 per row"),
        (rows.X[0], rows.y, None, "X must be a matrix of rows"),
    ):
        with pytest.raises(InputError, match=message):
            kind().update(X, y, weight)
