"""Digits: large offsets, long streams, merges, and counters that outgrow float32 and int32."""

import numpy as np
import pytest

from streamsieve.summaries import CoMoments, Moments
from tests.reference.comoments import comoments
from tests.reference.moments import moments
from tests.summaries.streams import Stream, feed, learnt, ways

FORMS = ["C", "F", "csr_array"]


def offset_stream(mean, n=6400, p=3):
    rng = np.random.default_rng(0)
    X = mean + rng.normal(size=(n, p))
    return Stream(X, rng.integers(0, 2, n))


def relative_errors(summary, stream, half_life=None):
    """Return the largest relative error of means and of variances."""
    p = stream.X.shape[1]
    block = summary.block(0, p)
    if isinstance(summary, CoMoments):
        twin = comoments(stream.X, stream.y, stream.weight, half_life)
        mean, variance = twin.mean, twin.variance
    else:
        twin = moments(stream.X, stream.y, stream.weight, half_life)
        mean = np.array([twin[label][1] for label in summary.classes])
        variance = np.array([twin[label][2] for label in summary.classes])
    return np.max(np.abs(block.mean / mean - 1)), np.max(np.abs(block.variance / variance - 1))


@pytest.mark.parametrize("kind", [Moments, CoMoments])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mean", [1.0, -30.0, 1e3])
def test_twelve_digits_while_the_mean_is_a_thousand_deviations(kind, form, mean):
    stream = offset_stream(mean)
    for summary in ways(kind, stream, form):
        assert max(relative_errors(summary, stream)) <= 1e-12


@pytest.mark.parametrize("kind", [Moments, CoMoments])
@pytest.mark.parametrize("form", FORMS)
def test_naive_variance_trap(kind, form):
    stream = offset_stream(1e9)
    naive = np.mean(stream.X**2, axis=0) - np.mean(stream.X, axis=0) ** 2
    assert np.all(np.abs(naive - 1) > 10)  # the trap is set
    for summary in ways(kind, stream, form):
        mean_error, variance_error = relative_errors(summary, stream)
        assert mean_error <= 1e-14
        assert variance_error <= 1e-7


@pytest.mark.parametrize("kind", [Moments, CoMoments])
@pytest.mark.parametrize("form", ["C", "F"])
@pytest.mark.parametrize(("mean", "bound"), [(1e3, 1e-12), (1e9, 1e-6)])
def test_fading_and_fractional_weights_keep_the_digits_of_dense_rows(kind, form, mean, bound):
    stream = offset_stream(mean)
    stream.weight = np.random.default_rng(1).random(len(stream)) + 0.5
    for half_life in (None, 100.0):
        for summary in ways(kind, stream, form, half_life):
            assert max(relative_errors(summary, stream, half_life)) <= bound


@pytest.mark.parametrize("kind", [Moments, CoMoments])
@pytest.mark.parametrize("form", FORMS)
def test_missing_values_keep_the_digits(kind, form):
    stream = offset_stream(1e9)
    stream.X[np.random.default_rng(2).random(stream.X.shape) < 0.3] = np.nan
    for summary in ways(kind, stream, form):
        assert max(relative_errors(summary, stream)) <= 1e-7


@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_a_target_far_from_0_keeps_the_digits(form):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 2))
    stream = Stream(X, 1e9 + X @ [1.0, -0.5] + rng.normal(size=2000))
    twin = comoments(stream.X, stream.y)
    for summary in ways(CoMoments, stream, form):
        block = summary.block(0, 2)
        np.testing.assert_allclose(block.covariance, twin.covariance, rtol=1e-6)
        np.testing.assert_allclose(block.target_variance, twin.target_variance, rtol=1e-7)


@pytest.mark.parametrize("form", [*FORMS, "float32", "csr float32"])
@pytest.mark.parametrize("power", [24, 32, 40, 50])
def test_counters_beyond_float32_and_int32_are_exact(form, power):
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([0, 0, 1])
    stream = Stream(X, y, np.array([2.0**power, 1.0, 2.0**power + 1]))
    summary = learnt(Moments, [stream, stream[:2], stream[1:2]], [form] * 3)
    other = feed(Moments(), stream[1:2], form)
    summary.merge(other)
    wanted = [[2 * 2**power + 4], [2**power + 1]]
    assert summary.block(0, 1).mass.tolist() == wanted
    assert summary.block(0, 1).n.tolist() == wanted
    assert summary.n_rows == 7

    numeric = learnt(CoMoments, [Stream(X, y * 1.0, stream.weight), Stream(X, y * 1.0)], [form] * 2)
    assert numeric.block(0, 1).n.tolist() == [2 * 2**power + 2 + 3]


@pytest.mark.parametrize("kind", [Moments, CoMoments])
def test_rows_are_counted_beyond_int32(kind):
    stream = Stream(np.ones((3, 1)), np.array([0.0, 1.0, 1.0]))
    summary = feed(kind(), stream)
    state = summary.state()
    counter = "rows" if kind is Moments else "n_rows"
    large = kind.from_state({**state, counter: np.asarray(state[counter] + 2**32)})
    before = large.n_rows
    feed(large, stream)
    large.merge(summary)
    assert before > 2**32
    assert large.n_rows == before + 6


@pytest.mark.parametrize("form", FORMS)
def test_a_constant_has_no_variance_at_any_size(form):
    for value in (0.1, 1e9, -1e9 / 3, 1e-9, 1e90):
        stream = Stream(np.full((50, 1), value), np.arange(50) % 3)
        for kind in (Moments, CoMoments):
            for summary in ways(kind, stream, form):
                block = summary.block(0, 1)
                assert np.all(block.variance == 0)
                assert np.all(block.mean == value)
