"""Codes are names of distinct values or of bins, and their information is that of a contingency table."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import xlogy

from streamsieve._kernels import budget_codes as kernel
from tests.reference.saola import LEVELS, cut, entropies


def coded(x, bins, stored):
    """Return the code of every row, and what the kernel counted."""
    codes, counts = np.zeros(len(x), np.uint16), np.zeros(max(33, bins), np.int64)
    out = np.zeros(int(stored.sum()), np.uint16)
    used, size = kernel.code(x[stored], len(x), bins, out, counts)
    codes[stored] = out
    return codes, counts, used, size


def same_partition(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


@pytest.mark.parametrize("bins", [2, 5, 40])
def test_codes_are_names_of_values_or_bins_wherever_zeros_lie(bins):
    rng = np.random.default_rng(0)
    for n in (1, 2, 30, 60, 120):
        for make in (
            lambda n: rng.normal(size=n),
            lambda n: np.abs(rng.normal(size=n)),
            lambda n: -np.abs(rng.normal(size=n)) * (rng.random(n) < 0.6),
            lambda n: rng.normal(size=n) * (rng.random(n) < 0.5),
            lambda n: rng.integers(-2, 3, n).astype(float),
            lambda n: np.arange(n) % 32 - 16.0,
            lambda n: np.arange(n) % 33 - 16.0,
            lambda n: np.zeros(n),
        ):
            x = make(n)
            expected = cut(x, bins) if len(np.unique(x)) > LEVELS else x
            for stored in (np.ones(n, bool), x != 0, (x != 0) | (rng.random(n) < 0.5)):
                codes, counts, used, size = coded(x, bins, stored)
                assert same_partition(codes.tolist(), expected.tolist())
                assert used == len(set(codes.tolist()))
                assert counts[:size].tolist() == np.bincount(codes, minlength=size).tolist()
                assert codes.max() < size


def test_information_and_entropy_of_blocks_and_of_one_against_many():
    rng = np.random.default_rng(1)
    n, bins = 60, 4
    y = rng.integers(0, 3, n).astype(np.uint16)
    X = np.column_stack([rng.normal(size=n) * (rng.random(n) < s) + y for s in (0.1, 0.5, 1)] + [np.ones(n)])
    X = np.column_stack([X, rng.integers(0, 3, (n, 3)) * (rng.random((n, 3)) < 0.4)])
    S = sp.csc_array(X)
    g = xlogy(np.arange(n + 1.0), np.arange(n + 1.0))
    shared, spread, levels = np.zeros(7), np.zeros(7), np.zeros(7, np.int64)
    counts = np.bincount(y)
    h = kernel.entropy(counts, 3, n, g)
    pieces = S.indptr.astype(np.int64), S.indices.astype(np.int32), S.data
    kernel.measure(*pieces, bins, y, counts, h, g, shared, spread, levels, 0, 7)
    names = [cut(x, bins) if len(np.unique(x)) > LEVELS else x for x in X.T]
    expected = [entropies(x, y) for x in names]
    np.testing.assert_allclose(shared / n, [e[2] for e in expected], atol=1e-12)
    np.testing.assert_allclose(spread / n, [e[0] for e in expected], atol=1e-12)
    assert levels.tolist() == [len(np.unique(x)) for x in names]

    kept, kept_counts, kept_spread = np.zeros((7, n), np.uint16), np.zeros((7, 33), np.int64), np.zeros(7)
    for s in range(7):
        part = slice(S.indptr[s], S.indptr[s + 1])
        row, row_counts, found = np.zeros(n, np.uint16), np.zeros(33, np.int64), np.zeros(7)
        kept_spread[s] = kernel.compare(
            S.indices[part], S.data[part], bins, kept, kept_counts, kept_spread, s, g, found, row, row_counts
        )
        kept[s], kept_counts[s] = row, row_counts
        wanted = [entropies(names[s], names[t])[2] for t in range(s)]
        np.testing.assert_allclose(found[:s] / n, wanted, atol=1e-12)
        assert row_counts.tolist() == np.bincount(row, minlength=33).tolist()
