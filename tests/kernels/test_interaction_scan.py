"""Kernels of InteractionScan: levels, tables and degrees of freedom by plain counting."""

import numpy as np
import pytest
from scipy.special import xlogy

from streamsieve._kernels import interaction_scan as kernel
from tests.reference import g_squared as twin
from tests.reference import table_moments
from tests.reference.interaction_scan import coded, information


class Target:
    """Classes, and where the bits of their rows are."""

    def __init__(self, y):
        self.y, self.counts = y, np.bincount(y)
        self.edges = np.concatenate([[0], np.cumsum(-(-self.counts // 64))])
        self.place = np.empty(len(y), np.int64)
        for c in range(len(self.counts)):
            rows = np.flatnonzero(y == c)
            self.place[rows] = 64 * self.edges[c] + np.arange(len(rows))
        self.g = xlogy(np.arange(len(y) + 1.0), np.arange(len(y) + 1.0))

    def encode(self, columns, bins=2):
        m = len(columns)
        planes = np.zeros((m, 7, self.edges[-1]), np.uint64)
        counts, levels = np.zeros((m, 8, len(self.counts)), np.int64), np.zeros(m, np.int64)
        ordered = np.sort(columns, axis=1)
        cuts = ordered[:, np.arange(1, bins) * (len(self.y) // bins) - 1]
        kernel.encode(columns, cuts, ordered[:, -1].copy(), self.place, self.y, planes, counts, levels)
        return planes, counts, levels


def columns(rng, n):
    return np.array([
        rng.integers(0, 2, n), rng.integers(0, 8, n) - 3.5, rng.normal(size=n), np.full(n, 3.0),
        -np.where(rng.random(n) < 0.2, rng.random(n), 0.0), np.where(rng.random(n) < 0.9, 5.0, rng.random(n)),
    ], float)  # fmt: skip


@pytest.mark.parametrize("bins", [2, 3, 8])
def test_levels_are_those_of_plain_counting(bins):
    rng = np.random.default_rng(0)
    n = 80
    target, X = Target(rng.integers(0, 3, n)), columns(rng, n)
    planes, counts, levels = target.encode(X, bins)
    many = np.zeros(len(X), bool)
    kernel.many(X, many)
    assert many.tolist() == [len(np.unique(x)) > 8 for x in X]
    for j, x in enumerate(X):
        wanted = coded(x, bins)
        assert levels[j] == wanted.max() + 1
        found = np.zeros(n, int)
        for level in range(1, 8):
            words = planes[j, level - 1][target.place >> 6]
            inside = (words >> (target.place & 63).astype(np.uint64)) & np.uint64(1)
            found[inside == 1] = level
        # other names for the same levels
        assert len({*zip(found.tolist(), wanted.tolist(), strict=True)}) == levels[j]
        for level in range(8):
            np.testing.assert_array_equal(
                counts[j, level], np.bincount(target.y[found == level], minlength=3)
            )


@pytest.mark.parametrize("classes", [2, 3])
def test_tables_information_and_freedom_are_those_of_plain_counting(classes):
    rng = np.random.default_rng(1)
    n = 70
    y = rng.integers(0, classes, n)
    target, X = Target(y), columns(rng, n)[[0, 1, 2, 4]]
    planes, counts, levels = target.encode(X, 3)
    codes = [coded(x, 3) for x in X]
    nothing = target.g[target.counts].sum() - target.g[n]
    informations = np.zeros(len(X))
    kernel.columns_information(counts, target.g, informations)
    table = np.full((8, 8, classes), -7)
    for a in range(4):
        assert 2 * (informations[a] - nothing) == pytest.approx(2 * n * information(codes[a], y), abs=1e-9)
        for b in range(4):
            kernel.joint(
                planes[a], counts[a], levels[a], planes[b], counts[b], levels[b], target.edges, table
            )
            some = table[: levels[a], : levels[b]]
            assert some.sum() == n
            np.testing.assert_array_equal(some.sum(axis=1), counts[a, : levels[a]])
            np.testing.assert_array_equal(some.sum(axis=0), counts[b, : levels[b]])
            both = kernel.pair_information(table, levels[a], levels[b], target.g)
            joined = np.unique(codes[a] * 8 + codes[b], return_inverse=True)[1]
            assert 2 * (both - nothing) == pytest.approx(2 * n * information(joined, y), abs=1e-9)
            for given_a, one, other in ((True, a, b), (False, b, a)):
                wanted = 0
                for level in range(levels[one]):
                    here = codes[one] == level
                    wanted += (len(np.unique(codes[other][here])) - 1) * (len(np.unique(y[here])) - 1)
                assert kernel.freedom_of(table, levels[a], levels[b], given_a) == wanted
                strata = twin.tables(codes[other], y, [codes[one]])
                moments = map(sum, zip(*map(table_moments.moments, strata), strict=True))
                inverse, room = np.r_[0.0, 1 / np.arange(1.0, n + 1)], np.zeros(classes, np.int64)
                found = kernel.pair_moments(table, levels[a], levels[b], given_a, inverse, room)
                assert found == pytest.approx(tuple(moments), rel=1e-9, abs=1e-9)


def test_lines_are_first_in_first_out_and_slots_are_used_again():
    rng = np.random.default_rng(2)
    n = 40
    target = Target(rng.integers(0, 2, n))
    planes, counts, levels = target.encode(rng.integers(0, 2, (6, n)).astype(float))
    known, feature = np.zeros(6), np.arange(6) + 10
    store = tuple(np.zeros((5, *a.shape[1:]), a.dtype) for a in (planes, counts, levels, known, feature))
    pool, chosen = np.zeros((2, 2), np.int64)
    free, numbers = np.arange(5), np.array([0, 0, 5, 0, 0, 0])
    room = np.zeros(4, np.int64), *np.zeros((3, 4))
    way = np.array([1, 1, 2, 0, 1, 1], np.uint8)
    at, _ = kernel.scan(
        planes, counts, levels, known, feature, way, np.full(6, np.inf), 0,
        *store, pool, chosen, free, numbers, target.edges, target.g, np.zeros(n + 1), 5, False, *room,
    )  # fmt: skip
    assert at == 6
    assert store[4][pool].tolist() == [14, 15]
    assert store[4][chosen[:1]].tolist() == [12]
    assert numbers.tolist() == [2, 1, 2, 0 + 1 + 2 + 3 + 3, 2, 1]
    assert sorted([*pool, *chosen[:1], *free[:2]]) == [0, 1, 2, 3, 4]
