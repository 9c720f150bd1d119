"""Sorted lists of weights, the k-th largest, and random columns that depend on nothing but seed and row."""

import numpy as np
import pytest

from streamsieve._kernels import ofs
from tests.helpers.tier import cases
from tests.reference import ofs as twin
from tests.reference import partial_ofs as partial_twin


def listed(vector, room=0):
    """A vector as a list of columns and values that are not 0, with some room at the end."""
    columns = np.flatnonzero(vector)
    return (
        np.concatenate([columns, np.zeros(room, np.int64)]).astype(np.int32),
        np.concatenate([vector[columns], np.zeros(room)]),
        len(columns),
    )


def sparse_vector(rng, p, share):
    return rng.normal(size=p) * (rng.random(p) < share)


@pytest.mark.parametrize(("few", "many"), [(0.0, 1.0), (0.02, 1.0), (1.0, 0.02), (0.5, 0.5), (1.0, 0.0)])
def test_products_of_lists_of_any_lengths(few, many):
    rng = np.random.default_rng(0)
    for _ in range(5):
        w, x = sparse_vector(rng, 60, few), sparse_vector(rng, 60, many)
        columns, weights, m = listed(w)
        indices, data, n = listed(np.concatenate([[9.0], x]))
        indices -= 1  # one value before the row begins
        assert ofs._dot(columns, weights, m, indices, data, 1, n) == pytest.approx(
            w @ x, rel=1e-12, abs=1e-15
        )


def test_sums_of_lists_lose_their_zeros():
    rng = np.random.default_rng(1)
    for _ in range(20):
        w, x = (np.round(2 * sparse_vector(rng, 15, 0.5)) for _ in range(2))
        (columns, weights, m), (indices, data, n) = listed(w), listed(x)
        places, sums = np.zeros(30, np.int32), np.zeros(30)
        count = ofs._add(columns, weights, m, 0.5, indices, data, 0, n, -1.0, 2.0, 4.0, places, sums)
        expected = 0.5 * w - np.where(w != 0, x / 2, x / 4)
        assert places[:count].tolist() == np.flatnonzero(expected).tolist()
        assert sums[:count].tolist() == expected[expected != 0].tolist()


@pytest.mark.parametrize("kind", ["normal", "ties", "equal", "sorted", "reversed"])
def test_the_largest_values_are_found(kind):
    rng = np.random.default_rng(2)
    for n in (1, 2, 7, 40):
        values = rng.normal(size=n)
        if kind == "ties":
            values = rng.integers(0, 3, n).astype(float)
        elif kind == "equal":
            values[:] = 1.0
        elif kind != "normal":
            values = np.sort(values)[:: 1 if kind == "sorted" else -1].copy()
        for k in range(1, n + 1):
            assert ofs._largest(values.copy(), n, k) == np.sort(values)[n - k]


def test_truncation_shortens_and_keeps_the_largest_of_equals_the_first():
    rng = np.random.default_rng(3)
    for turn in range(cases(40)):
        w = rng.normal(size=12) if turn % 2 else rng.integers(-2, 3, 12).astype(float)
        k, radius = int(rng.integers(1, 13)), (1.0, 100.0)[turn % 3 > 0]
        places, sums, n = listed(w)
        columns, weights = np.zeros(k, np.int32), np.zeros(k)
        m = ofs._truncate(places, sums, n, radius, columns, weights, k, np.zeros(n))
        out = np.zeros(12)
        out[columns[:m]] = weights[:m]
        assert np.array_equal(out, twin.truncated(twin.shortened(w, radius), k))
        assert np.all(np.diff(columns[:m]) > 0)
        assert np.all(weights[:m])


def test_what_is_shortened_to_nothing_is_no_weight():
    places, sums = np.arange(3, dtype=np.int32), np.array([1e-300, 1e100, 1e-300])
    for k in (2, 3):
        columns, weights = np.zeros(k, np.int32), np.zeros(k)
        assert ofs._truncate(places, sums.copy(), 3, 1e-30, columns, weights, k, np.zeros(3)) == 1
        assert columns[0] == 1


def test_rows_are_learnt_as_the_twin_learns_them():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(25, 6)), rng.choice([-1.0, 1.0], 25)
    expected = twin.ofs(X, y, k=2)[0][-1]
    columns, weights = np.zeros(2, np.int32), np.zeros(2)
    every = np.tile(np.arange(6, dtype=np.int32), 25)
    m, scale, _ = ofs.learn_rows(
        np.arange(0, 151, 6), every, X.ravel(), y, columns, weights, 0, 1.0, 2, 0.2, 0.01
    )
    out = np.zeros(6)
    out[columns[:m]] = scale * weights[:m]
    np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_rows_are_looked_into_as_the_twin_does():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(25, 6)) * (rng.random((25, 6)) < 0.7), rng.choice([-1.0, 1.0], 25)
    history, margins, looked_at = partial_twin.partial_ofs(X, y, k=2, learning_rate=0.2, seed=3)
    rows, indices = np.nonzero(X)
    indptr = np.searchsorted(rows, np.arange(26))
    columns, weights = np.zeros(2, np.int32), np.zeros(2)
    m, mistakes, observed = ofs.learn_partial_rows(
        indptr, indices.astype(np.int32), X[X != 0], y, columns, weights, 0, 6, 0.2, 10.0, 0.2, 3, 0
    )
    out = np.zeros(6)
    out[columns[:m]] = weights[:m]
    assert np.array_equal(out, history[-1])
    assert (mistakes, observed) == (np.count_nonzero(margins <= 0), sum(map(len, looked_at)))


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([2**32 - 1] * 4, [2**32 - 1] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_the_twin_gives_the_published_answers_of_philox(counter, key, words):
    assert partial_twin.philox(counter, key) == words


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1])
def test_random_numbers_are_those_of_the_twin(seed):
    for row in (0, 1, 2**31, 2**40 + 5):
        for draw in (0, 1, 2**33 + 1):
            assert ofs.uniform(seed, row, draw) == partial_twin.uniform(seed, row, draw)


def drawn(p, k, row, seed=0):
    wanted, taken = np.zeros(k, np.int32), np.zeros(32, np.int64)
    ofs.draw_columns(wanted, p, seed, row, taken, 5)
    return wanted.tolist()


@pytest.mark.parametrize(("p", "k"), [(1, 1), (5, 5), (5, 2), (1000, 8), (2**31 - 1, 4)])
def test_columns_are_different_in_order_and_those_of_the_twin(p, k):
    for row in range(20):
        columns = drawn(p, k, row)
        assert columns == sorted(set(columns))
        assert 0 <= columns[0] <= columns[-1] < p
        assert columns == sorted(partial_twin.draw(p, k, 0, row))


def test_every_set_of_columns_is_as_likely_as_any_other():
    sets, n = {}, 1500
    for row in range(n):
        key = tuple(drawn(4, 2, row))
        sets[key] = sets.get(key, 0) + 1
    assert len(sets) == 6
    chi2 = sum((count - n / 6) ** 2 / (n / 6) for count in sets.values())
    assert chi2 < 20.5  # 1 in 1000


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 31])
def test_columns_are_sorted(n):
    columns = np.random.default_rng(n).integers(0, 20, n).astype(np.int32)
    expected = sorted(columns.tolist())
    ofs._sort(columns)
    assert columns.tolist() == expected
