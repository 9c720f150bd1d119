"""The information of one coded column and many is that of their explicit tables."""

import numpy as np
from scipy.special import xlogy

from streamsieve._kernels import code_pairs as kernel


def entropy(counts):
    return float(xlogy(counts.sum(), counts.sum()) - xlogy(counts, counts).sum())


def test_tables_of_lists():
    rng = np.random.default_rng(0)
    n, g = 20, xlogy(np.arange(21.0), np.arange(21.0))
    codes = np.stack([rng.integers(0, levels, n) for levels in (1, 2, 3, 5)]).astype(np.uint16)
    columns, rows = np.nonzero(codes)
    pointers = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=4))])
    counts = [np.bincount(x) for x in codes]
    levels, h = np.array([len(c) for c in counts]), np.array([entropy(c) for c in counts])
    other = rng.integers(0, 3, n).astype(np.uint16)
    wanted, out = np.array([3, 0, 2, 1]), np.zeros(4)
    for low, high in ((0, 1), (1, 4)):
        kernel.information(
            pointers, rows.astype(np.int32), codes[columns, rows], levels, h, wanted,
            other, np.bincount(other), entropy(np.bincount(other)), g, low, high, out,
        )  # fmt: skip
    for k, j in enumerate(wanted):
        joint = np.bincount(codes[j].astype(int) * 3 + other)
        expected = h[j] + entropy(np.bincount(other)) - entropy(joint)
        assert abs(out[k] - expected) < 1e-10
