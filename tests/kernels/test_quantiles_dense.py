"""Runs of equal weight: what collapsing keeps, what joining loses (nothing), and the tally of few values."""

import numpy as np
import pytest

from streamsieve._kernels import quantiles_dense as kernel

types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def runs(rng, p, k, dtype):
    """Return two runs with ties, missing values, and rows where one lies wholly below the other."""
    A, B = (np.sort(rng.integers(-9, 9, (p, k)).astype(dtype), axis=1) for _ in range(2))
    A[0, -3:], B[0] = np.inf, np.inf
    B[1] = A[1] + 100
    A[-1], B[-1] = np.sort(rng.normal(size=(2, k)), axis=1)
    return A, B


@types
@pytest.mark.parametrize("p", [3, 4, 7])
def test_collapsing_keeps_every_second_value(p, dtype):
    A, B = runs(np.random.default_rng(p), p, 8, dtype)
    both = np.sort(np.concatenate([A, B], axis=1), axis=1)
    before = A.copy(), B.copy()
    for odd in (False, True):
        out = np.empty_like(A)
        kernel.collapse(A, B, out, odd)
        assert np.array_equal(out, both[:, int(odd) :: 2])
    assert np.array_equal(A, before[0])
    assert np.array_equal(B, before[1])


@types
def test_a_collapse_is_off_by_half_a_weight_about_its_center(dtype):
    A, B = runs(np.random.default_rng(1), 4, 8, dtype)
    out = np.empty_like(A)
    for odd, center in ((False, 0.5), (True, -0.5)):
        kernel.collapse(A, B, out, odd)
        for x in np.arange(-10, 110, 0.5):
            truth = np.count_nonzero(x >= A, axis=1) + np.count_nonzero(x >= B, axis=1)
            assert np.all(np.abs(2 * (out <= x).sum(axis=1) - center - truth) <= 0.5)


@types
def test_joining_loses_nothing(dtype):
    A, B = runs(np.random.default_rng(2), 5, 8, dtype)
    out = np.empty((5, 16), dtype)
    kernel.join(A, B, out)
    assert np.array_equal(out, np.sort(np.concatenate([A, B], axis=1), axis=1))


@types
@pytest.mark.parametrize("shape", [(1, 1), (3, 20), (70, 5)])
def test_rows_are_turned_and_missing_values_counted(shape, dtype):
    X = np.random.default_rng(3).normal(size=shape).astype(dtype)
    X[np.random.default_rng(4).random(shape) < 0.3] = np.nan
    out, missing = np.empty(shape[::-1], dtype), np.full(shape[1], 2.0)
    kernel.transpose(X, out, missing)
    assert np.array_equal(out, np.where(np.isnan(X), np.inf, X).T)
    assert np.array_equal(missing, 2.0 + np.isnan(X).sum(axis=0))


@types
def test_values_beyond_a_limit_are_counted_and_nan_is_not(dtype):
    X = np.array([[1.0, -5.0, np.nan], [np.inf, 4.0, -np.inf]], dtype)
    for limit, wanted in ((4.0, 3), (3.5, 4), (1e30, 2)):
        assert kernel.beyond(X, limit) == wanted
    assert kernel.beyond(X[:0], 1.0) == 0


def tallied(ordered, cumulative=None, most=4, tables=None):
    """Return {value: mass} of every feature, None where there are too many, and the tables themselves."""
    p = len(ordered)
    values, masses, sizes = tables or (
        np.full((p, most), 77.0),
        np.full((p, most), 77.0),
        np.zeros(p, np.int64),
    )
    weighted = cumulative is not None
    kernel.tally(ordered, cumulative if weighted else np.zeros((1, 1)), weighted, values, masses, sizes)
    known = [
        None if n < 0 else dict(zip(values[f, :n].tolist(), masses[f, :n].tolist(), strict=True))
        for f, n in enumerate(sizes)
    ]
    return known, (values, masses, sizes)


ROWS = np.array([
    [1.0, 1.0, 2.0, 2.0, 2.0, 9.0],
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
    [-1.0, -1.0, -1.0, np.inf, np.inf, np.inf],
    [np.inf] * 6,
    [7.0] * 6,
    [0.0, 1.0, 2.0, 3.0, 3.0, 3.0],
])  # fmt: skip


@types
def test_few_values_are_counted_and_many_are_given_up(dtype):
    known, tables = tallied(ROWS.astype(dtype))
    assert known == [
        {1.0: 2, 2.0: 3, 9.0: 1},
        None,
        {-1.0: 3},
        {},
        {7.0: 6},
        {0.0: 1, 1.0: 1, 2.0: 1, 3.0: 3},
    ]
    moved = ROWS + np.array([[1.0], [0.0], [-1.0], [0.0], [0.0], [0.5]])
    known, _ = tallied(moved.astype(dtype), tables=tables)
    assert known == [None, None, {-2.0: 3, -1.0: 3}, {}, {7.0: 12}, None]  # some have a fifth value now


@types
def test_values_are_kept_in_order_wherever_they_come_in(dtype):
    tables = None
    for row in ([5.0, 5.0], [1.0, 9.0], [1.0, 3.0]):
        known, tables = tallied(np.array([row], dtype), tables=tables)
    assert known == [{1.0: 2, 3.0: 1, 5.0: 2, 9.0: 1}]
    assert tables[0].tolist() == [[1.0, 3.0, 5.0, 9.0]]
    known, _ = tallied(np.array([[2.0, 2.0]], dtype), tables=tables)
    assert known == [None]  # a fifth value


@types
def test_masses_come_from_sums(dtype):
    cumulative = np.cumsum([[0.5, 0.25, 1.0, 1.0, 2.0, 0.125]] * 5, axis=1)
    known, _ = tallied(ROWS[:5].astype(dtype), cumulative)
    assert known == [{1.0: 0.75, 2.0: 4.0, 9.0: 0.125}, None, {-1.0: 1.75}, {}, {7.0: 4.875}]


def test_a_tally_can_be_undone():
    known, tables = tallied(ROWS)
    again, _ = tallied(ROWS, np.tile(-np.arange(1.0, 7.0), (6, 1)), tables=tables)
    assert [k if k is None else dict.fromkeys(k, 0.0) for k in known] == again


def test_long_stretches_of_equal_values():
    rng = np.random.default_rng(5)
    for _ in range(20):
        counts = rng.integers(1, 40, 4)
        row = np.repeat(np.arange(4.0), counts)[None]
        assert tallied(row)[0] == [dict(zip(range(4), counts.tolist(), strict=True))]
