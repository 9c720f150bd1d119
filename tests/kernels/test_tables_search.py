"""Conditional tables by bits and by numbers, compiled or not."""

import numpy as np
import pytest
from scipy.special import gammaincc, gammainccinv

from streamsieve._kernels import tables_search as kernel
from streamsieve.independence.table_p_values import gamma_bounds, is_significant
from tests.reference import g_squared as twin
from tests.reference import table_moments
from tests.reference.chi_square import chi_square

STATISTICS = {False: twin.g_squared, True: chi_square}


def test_bits_are_counted():
    for number in (0, 1, 3, 2**63, 2**64 - 1, 0x5555555555555555):
        words = np.array([[number]], np.uint64)
        sums = np.zeros((1, 8), np.int64)
        kernel.start_bits(words[0], np.array([0, 1]), np.array([64]), np.zeros((1, 8), np.uint64), sums)
        assert sums[0, 1] == number.bit_count()


def bits_of(columns, y):
    """Return columns as bits, rows sorted by class, and the words of every class."""
    edges, parts = [0], []
    for c in range(y.max() + 1):
        inside = columns[:, y == c]
        width = -(-inside.shape[1] // 64)
        padded = np.zeros((len(columns), 64 * width), np.uint8)
        padded[:, : inside.shape[1]] = inside
        parts.append(np.packbits(padded, axis=1, bitorder="little").view(np.uint64))
        edges.append(edges[-1] + width)
    return np.hstack(parts), np.array(edges)


def inverse_of(n):
    return np.r_[0.0, 1 / np.arange(1.0, n + 1)]


def by_bits(columns, y, pearson, moments=False):
    bits, edges = bits_of(columns, y)
    classes, n = y.max() + 1, len(y)
    counts = np.arange(n + 1.0)
    ands, sums = np.zeros((bits.shape[1], 8), np.uint64), np.zeros((classes, 8), np.int64)
    cell = np.zeros((classes, 16), np.int64)
    kernel.start_bits(bits[0], edges, np.bincount(y), ands, sums)
    for depth in range(len(columns) - 2):
        kernel.push_bits(depth, bits[1 + depth], edges, ands, sums)
    kernel.count_bits(len(columns) - 2, bits[-1], edges, ands, sums, cell)
    assert cell[:, : 2 ** len(columns)].sum() == n
    g = counts * np.log(np.maximum(counts, 1))
    strata = 2 ** (len(columns) - 1)
    found = kernel.judge_bits(cell, strata, g, inverse_of(n), pearson, moments)
    if moments and classes == 2:
        short = kernel.judge_bits_of_two(cell, strata, inverse_of(n))
        assert short[:3] + short[4:] == pytest.approx(found[:3] + found[4:], rel=1e-9, abs=1e-11)
    return found


def by_numbers(columns, y, pearson, moments=False, everything=True):
    n, classes, widest = len(y), y.max() + 1, columns.max() + 1
    levels = columns.max(axis=1) + 1
    strata, ends = np.zeros((4, 3, n), np.int32), np.zeros((4, n + 1), np.int32)
    shapes = (widest**2 * classes, widest**2, widest * classes, (3, widest), n + widest + 1)
    tables = [*(np.zeros(shape, np.int32) for shape in shapes), np.zeros((3, widest))]
    numbers = columns.astype(np.uint16)
    n_strata = kernel.start_levels(numbers[0], y, strata, ends)
    for depth in range(len(columns) - 2):
        n_strata = kernel.push_levels(
            depth, numbers[1 + depth], levels[1 + depth], n_strata, everything, strata, ends, tables[-2]
        )
    found = kernel.judge_levels(
        len(columns) - 2, numbers[-1], levels[-1], levels[0], classes, n_strata, strata, ends,
        np.log(np.maximum(np.arange(n + 1.0), 1)), inverse_of(n), pearson, moments, *tables,
    )  # fmt: skip
    assert not any(table.any() for table in (*tables[:-2], tables[-1])), "the tables are 0 again"
    return found


def wanted(columns, y, pearson):
    answer = twin.conditional(columns[0], y, list(columns[1:]), statistic=STATISTICS[pearson])
    strata = twin.tables(columns[0], y, list(columns[1:]))
    rows = sum(table.sum() for table in strata if twin.freedom(table))
    occupied = sum(np.count_nonzero(table) for table in strata)
    return answer.statistic, answer.freedom, rows, occupied, not answer.is_function


def cases(seed, levels):
    rng = np.random.default_rng(seed)
    for given in (1, 2, 3) * 5:
        n, C = int(rng.integers(4, 140)), int(rng.choice([2, 3, 5]))
        y = np.concatenate([np.arange(C), rng.integers(0, C, n)])
        columns = np.array([rng.integers(0, rng.choice(levels), len(y)) for _ in range(given + 1)])
        columns[0] = np.where(rng.random(len(y)) < 0.5, y % levels[0], columns[0])
        columns[:, : max(levels)] = np.arange(max(levels))[: len(y)] % np.array(
            [[column.max() + 1] for column in columns]
        )
        if rng.random() < 0.2:
            columns[-1] = columns[0]
        yield columns, y


@pytest.mark.parametrize("pearson", [False, True])
def test_bits_give_the_tables_of_the_twin(pearson):
    for columns, y in cases(0, [2]):
        found = by_bits(columns, y, pearson)
        assert found[0] == pytest.approx(wanted(columns, y, pearson)[0], rel=1e-12, abs=1e-11)
        assert found[1:5] == wanted(columns, y, pearson)[1:]


@pytest.mark.parametrize("pearson", [False, True])
def test_numbers_give_the_tables_of_the_twin(pearson):
    for columns, y in cases(1, [2, 3, 6]):
        found = by_numbers(columns, y, pearson)
        assert found[0] == pytest.approx(wanted(columns, y, pearson)[0], rel=1e-12, abs=1e-11)
        assert found[1:5] == wanted(columns, y, pearson)[1:]


def test_a_member_may_have_as_many_levels_as_rows():
    n = 5
    strata, ends = np.zeros((2, 3, n), np.int32), np.zeros((2, n + 1), np.int32)
    tally = np.zeros(n + 1, np.int32)  # a level more would be written beyond its end
    own = np.arange(n, dtype=np.uint16)
    n_strata = kernel.start_levels(own, np.zeros(n, np.int64), strata, ends)
    assert kernel.push_levels(0, own, n, n_strata, True, strata, ends, tally) == n
    assert ends[1].tolist() == [0, 1, 2, 3, 4, 5]


def test_strata_in_which_the_column_does_not_vary_may_go():
    for columns, y in cases(2, [2, 3, 6]):
        whole, less = by_numbers(columns, y, False), by_numbers(columns, y, False, everything=False)
        assert less[0] == pytest.approx(whole[0], rel=1e-12, abs=1e-11)
        assert (*less[1:3], less[4]) == (*whole[1:3], whole[4])
        assert less[3] <= whole[3]


@pytest.mark.parametrize("way", [by_bits, by_numbers])
def test_moments_are_those_of_the_twin(way):
    seen = set()
    for columns, y in [*cases(3, [2] if way is by_bits else [2, 3, 6]), *few_rows(4, way is by_bits)]:
        strata = twin.tables(columns[0], y, list(columns[1:]))
        statistic, mean, variance = map(sum, zip(*map(table_moments.moments, strata), strict=True))
        found = way(columns, y, True, moments=True)
        assert (found[0], *found[5:]) == pytest.approx((statistic, mean, variance), rel=1e-9, abs=1e-9)
        assert found[1:5] == wanted(columns, y, True)[1:]
        seen.add(variance > 0)
    assert seen == {True, False}


def few_rows(seed, binary):
    """Strata of one to five rows, of which some have a statistic that no permutation changes."""
    rng = np.random.default_rng(seed)
    for n in [2, 3, 4, 5, 8, 12] * 10:
        y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
        columns = rng.integers(0, 2 if binary else 3, (3, n))
        columns[:, :2] = [[0, 1]] * 3
        if not binary:
            columns = np.array([np.unique(column, return_inverse=True)[1] for column in columns])
        yield columns, y


def test_the_incomplete_gamma_function_is_that_of_scipy():
    rng = np.random.default_rng(5)
    for _ in range(2000):
        a = 10 ** rng.uniform(-3, 5)
        x = a * 10 ** rng.normal(0, 1 / (1 + np.log10(1 + a) ** 2))
        assert kernel.upper_gamma(a, x) == pytest.approx(gammaincc(a, x), rel=1e-9, abs=1e-13), (a, x)
        assert kernel.upper_gamma(a, 0.0) == 1.0


@pytest.mark.parametrize("alpha", [1e-12, 1e-4, 0.01, 0.05, 0.3, 0.9])
def test_a_statistic_is_significant_where_its_p_value_is(alpha):
    rng = np.random.default_rng(6)
    bounds, asked = gamma_bounds(alpha), 0
    for _ in range(1000):
        mean, variance = 10 ** rng.uniform(-1, 4), 10 ** rng.uniform(-2, 5)
        shape = mean**2 / variance
        statistic = (
            gammainccinv(shape, alpha) * variance / mean * rng.choice([0.5, 0.9, 0.999, 1.001, 1.1, 2])
        )
        p = gammaincc(shape, statistic * mean / variance)
        if not 1e-3 < shape < 1e6 or abs(p / alpha - 1) < 1e-6:
            continue
        asked += 1
        assert kernel.is_significant(statistic, mean, variance, alpha, bounds) == (p <= alpha)
        tested, freedom = np.array([2 * statistic * mean / variance]), np.array([2 * shape])
        assert is_significant(tested, freedom, alpha)[0] == (p <= alpha)
    assert asked > 500


def test_pairs_are_screened_as_one_by_one():
    """Whether rows suffice for a test, both ways at once, by the bits of rows or from row to row."""
    rng = np.random.default_rng(5)
    marks, seen = np.empty(70, np.uint64), np.empty(64, np.uint64)
    found = []
    for _ in range(200):
        y, levels = rng.integers(0, 6, 70), rng.integers(2, 9, 2)
        pair = np.array([rng.integers(0, k, 70) for k in levels], np.uint16)
        rows, classes = np.empty((2, 8, 2), np.uint64), np.empty((2, 8), np.uint64)
        for i in (0, 1):
            kernel.mark_levels(pair[i], levels[i], y, rows[i], classes[i])
        sides = list(zip(rows, classes, levels, strict=True))
        wanted = []
        for t, c in ((0, 1), (1, 0)):
            kernel.mark_rows(pair[t], levels[t], y, marks)
            freedom, varies = kernel.least_freedom(marks, levels[t], pair[c], levels[c], seen)
            few = 2 * (levels[t] - 1) * 5 * levels[c] > 70
            wanted.append(bool(few and varies and 2 * freedom > 70))
        assert list(kernel.untestable(70, *sides[0], *sides[1], 5, 2)) == wanted
        found += wanted
    assert 50 < sum(found) < 350
