"""Columns as levels and bits, compiled or not."""

import numpy as np
import pytest

from streamsieve._kernels import table_tests
from tests.reference import g_squared as twin
from tests.reference import table_moments

CODES = (0, 2, 1, 6)
NO_BOUNDS = (np.zeros(0, np.int64),) * 2


def sparse(X):
    """Return the pieces of a block, zeros left out."""
    columns = [np.flatnonzero(x) for x in X.T]
    pointers = np.concatenate([[0], np.cumsum([len(c) for c in columns])])
    rows = np.concatenate(columns).astype(np.int32)
    return pointers, rows, np.concatenate([x[c] for x, c in zip(X.T, columns, strict=True)]), True


def dense(X):
    n, m = X.shape
    return np.arange(m + 1) * n, np.arange(n, dtype=np.int32), np.ascontiguousarray(X.T).reshape(-1), False


PIECES = pytest.mark.parametrize("pieces", [sparse, dense])


def columns(rng, n):
    """Return two levels with and without zero, few, too many, ties, and a constant."""
    return np.array(
        [
            rng.integers(0, 2, n),
            rng.integers(1, 3, n),
            rng.integers(-2, 3, n),
            rng.normal(size=n),
            np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
            np.where(rng.random(n) < 0.8, 5.0, rng.normal(size=n)),
            np.full(n, 3.0),
            np.arange(n) % 33,
        ],
        float,
    ).T


@PIECES
def test_levels_are_those_of_the_twin_whatever_they_are_called(pieces):
    rng = np.random.default_rng(0)
    for n in (5, 40, 70):
        X = columns(rng, n)
        out = np.zeros((X.shape[1], n), np.uint16)
        table_tests.encode(*pieces(X), 4, np.arange(X.shape[1]), np.arange(n), out)
        for x, found in zip(X.T, out, strict=True):
            pairs = set(zip(found.tolist(), twin.levels(x, 4).tolist(), strict=True))
            assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs) == found.max() + 1


@PIECES
def test_chosen_columns_are_written_to_their_places(pieces):
    rng = np.random.default_rng(1)
    X = columns(rng, 100)
    place = rng.permutation(128)[:100]
    chosen = np.array([1, 4, 0])
    plain, scattered = np.zeros((8, 100), np.uint16), np.zeros((3, 128), np.uint16)
    table_tests.encode(*pieces(X), 5, np.arange(8), np.arange(100), plain)
    table_tests.encode(*pieces(X), 5, chosen, place, scattered)
    np.testing.assert_array_equal(scattered[:, place], plain[chosen])
    assert scattered.sum() == plain[chosen].sum()


@PIECES
def test_two_levels_are_encoded_without_sorting(pieces):
    rng = np.random.default_rng(3)
    X = np.array(
        [rng.integers(0, 2, 90), rng.integers(1, 3, 90), -rng.integers(0, 2, 90), np.arange(90) > 88]
    ).T
    place = rng.permutation(128)[:90]
    plain, short = np.zeros((2, 4, 128), np.uint16)
    chosen = np.array([3, 1, 0, 2])
    table_tests.encode(*pieces(X.astype(float)), 5, chosen, place, plain)
    assert table_tests.encode_two(*pieces(X.astype(float)), chosen, place, short)
    for long_way, short_way in zip(plain[:, place], short[:, place], strict=True):
        assert np.array_equal(short_way, long_way) or np.array_equal(short_way, 1 - long_way)
    three = np.arange(90.0)[:, None] % 3
    assert not table_tests.encode_two(*pieces(three), np.arange(1), place, short), "bins are another matter"


@PIECES
@pytest.mark.parametrize("moments", [False, True])
def test_without_room_for_values_the_first_column_that_needs_it_ends_the_measuring(pieces, moments):
    rng = np.random.default_rng(4)
    n = 60
    X = np.array(
        [rng.integers(0, 2, n), np.zeros(n), np.full(n, 3), rng.integers(0, 2, n), np.arange(n) % 3]
    ).T
    y = np.arange(n) % 2
    counts = np.arange(n + 1.0)
    g = counts * np.log(np.maximum(counts, 1))

    def measured(room):
        reason, (statistic, tested, freedom) = np.zeros(5, np.uint8), np.zeros((3, 5))
        fewest, levels = np.zeros((2, 5), np.int64)
        done = table_tests.measure(
            *pieces(X.astype(float)), 5, y, np.bincount(y), g, np.r_[np.inf, np.full(20, 5.0)], *NO_BOUNDS,
            5, False, False, moments, CODES,
            reason, statistic, tested, freedom, fewest, levels, 0, 5, room,
        )  # fmt: skip
        return done, [a[:4].tolist() for a in (reason, statistic, tested, freedom, fewest, levels)]

    assert measured(None)[0] == 4
    assert measured(np.zeros(33))[0] == 5
    assert measured(None)[1] == measured(np.zeros(33))[1]


@PIECES
@pytest.mark.parametrize("pearson", [False, True])
def test_measures_are_those_of_the_twin(pieces, pearson):
    from tests.reference.chi_square import chi_square

    rng = np.random.default_rng(2)
    n = 60
    X, y = columns(rng, n), np.arange(n) % 3
    m = X.shape[1]
    counts = np.arange(n + 1.0)
    g = counts * np.log(np.maximum(counts, 1))
    reason, (statistic, tested, freedom) = np.zeros(m, np.uint8), np.zeros((3, m))
    fewest, levels = np.zeros((2, m), np.int64)
    critical = np.r_[np.inf, np.full(20, 5.0)]
    table_tests.measure(
        *pieces(X), 5, y, np.bincount(y), g, critical, *NO_BOUNDS, 5, False, pearson, False, CODES,
        reason, statistic, tested, freedom, fewest, levels, 0, m, np.zeros(33),
    )  # fmt: skip
    for j, x in enumerate(X.T):
        own = twin.levels(x)
        assert levels[j] == own.max() + 1
        if levels[j] == 1 or n < 10 * own.max():
            assert (statistic[j], freedom[j], reason[j]) == (0.0, 0, 1 if levels[j] == 1 else 6)
            continue
        wanted = twin.conditional(own, y, [], statistic=chi_square if pearson else twin.g_squared)
        assert statistic[j] == pytest.approx(wanted.statistic, rel=1e-12, abs=1e-11)
        assert (tested[j], freedom[j]) == (statistic[j], wanted.freedom)
        assert reason[j] == (0 if statistic[j] >= 5.0 else 2)


@PIECES
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_has_no_level(pieces, bad):
    for x in (np.r_[np.arange(50.0), bad], np.r_[np.zeros(50), bad], np.r_[bad, np.ones(50)]):
        listed, level_of = np.zeros(51, np.int32), np.zeros(51, np.uint16)
        pointers, rows, values, is_sparse = pieces(x[:, None])
        del pointers, is_sparse
        found = table_tests._encode(
            values, rows, 51, 5, np.zeros(33), listed, level_of, np.zeros(33, np.int64)
        )
        assert found[1] == -1


@PIECES
@pytest.mark.parametrize("pearson", [False, True])
def test_moments_are_those_of_the_twin(pieces, pearson):
    rng = np.random.default_rng(5)
    for n, classes in ((3, 2), (4, 2), (30, 3), (60, 5)):
        X, y = columns(rng, n), np.arange(n) % classes
        m = X.shape[1]
        counts = np.arange(n + 1.0)
        reason, (statistic, tested, freedom) = np.zeros(m, np.uint8), np.zeros((3, m))
        fewest, levels = np.zeros((2, m), np.int64)
        table_tests.measure(
            *pieces(X), 5, y, np.bincount(y), counts * np.log(np.maximum(counts, 1)), np.zeros(1), *NO_BOUNDS,
            1, False, pearson, True, CODES,
            reason, statistic, tested, freedom, fewest, levels, 0, m, np.zeros(33),
        )  # fmt: skip
        for j, x in enumerate(X.T):
            own = twin.levels(x)
            if own.max() == 0 or n < own.max() * (classes - 1):
                continue
            value, mean, variance = table_moments.moments(twin.tables(own, y, [])[0])
            assert fewest[j] == np.bincount(own).min()
            if variance == 0:
                assert (tested[j], freedom[j], reason[j]) == (1.0, 0.0, 6)
            else:
                wanted = 2 * mean * value / variance, 2 * mean**2 / variance, 2
                assert (tested[j], freedom[j], reason[j]) == pytest.approx(wanted, rel=1e-9, abs=1e-11)
