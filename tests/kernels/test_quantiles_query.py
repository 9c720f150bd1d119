"""Bins out of sorted strands equal those of all values sorted together."""

import numpy as np
import pytest

from streamsieve._kernels import quantiles_query as kernel
from tests.reference.quantiles import bin_size, bins_of, cuts_of

ROWS, RUN, TABLE = range(3)
N_CLASSES = 2


class Strands:
    """Strands of one feature, as the kernel takes them, and what they stand for."""

    def __init__(self, dtype=np.float64):
        self.V, self.U, self.dtype = [], [], dtype
        self.start, self.u_start, self.weight, self.of_class, self.kind = [0], [], [], [], []
        self.sizes = np.full((1, N_CLASSES), -1)
        self.values, self.masses, self.classes = [], [], []

    def add(self, values, of_class, kind=RUN, weight=1.0, weights=None, size=None):
        """Add sorted values, all of one weight or each of its own; those after ``size`` are not in use."""
        n = len(values) if size is None else size
        self.V += list(values)
        self.start.append(len(self.V))
        self.u_start.append(len(self.U))
        self.weight.append(0.0 if weights is not None else weight)
        self.of_class.append(of_class)
        self.kind.append(kind)
        if weights is not None:
            self.U += np.cumsum(weights).tolist()
        if kind == TABLE:
            self.sizes[0, of_class] = n
        there = np.isfinite(values[:n])
        self.values += np.asarray(values)[:n][there].tolist()
        self.masses += (np.full(n, weight) if weights is None else np.asarray(weights)[:n])[there].tolist()
        self.classes += [of_class] * int(there.sum())

    def bins(self, bins, *, whole, shift=(0.0, 0.0), missing=(0.0, 0.0)):
        """Return our cuts and counts; the mass is that of all values plus that of the missing ones."""
        mass = np.bincount(self.classes, self.masses, minlength=N_CLASSES) + missing
        cuts, counts = np.empty((1, bins - 1)), np.empty((1, N_CLASSES, bins))
        kernel.bins(
            np.array([self.V], self.dtype), np.array([self.U or [0.0]], np.float64), np.array(self.start),
            np.array(self.u_start, np.int64), np.array(self.weight), np.array(self.of_class, np.int64),
            np.array(self.kind, np.int64), self.sizes.astype(np.int64), np.array(shift), mass,
            np.array([missing], np.float64), whole, cuts, counts,
        )  # fmt: skip
        return cuts[0], counts[0]

    def check(self, bins, *, whole, missing=(0.0, 0.0)):
        size = bin_size(sum(self.masses), bins, whole)
        wanted = np.zeros((N_CLASSES, bins))
        inside = bins_of(self.values, self.masses, size, bins)
        np.add.at(wanted, (np.array(self.classes, int), np.array(inside, int)), self.masses)
        cuts, counts = self.bins(bins, whole=whole, missing=missing)
        np.testing.assert_allclose(counts, wanted, rtol=1e-12, atol=1e-12)
        wanted_cuts = np.array(cuts_of(self.values, self.masses, size, bins))
        reached = np.isfinite(wanted_cuts)  # there may be fewer rows than bins
        assert np.array_equal(cuts[reached], wanted_cuts[reached])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_runs_buffers_and_tables_together(dtype):
    rng = np.random.default_rng(1)
    for _ in range(60):
        strands = Strands(dtype)
        for _ in range(int(rng.integers(1, 6))):
            n, c = int(rng.integers(1, 9)), int(rng.integers(0, 2))
            values = np.sort(rng.integers(-5, 5, n) / 2)
            if rng.random() < 0.5:
                strands.add(values, c, weight=float(2 ** rng.integers(0, 4)))
            else:
                strands.add(values, c, ROWS, weights=rng.integers(1, 5, n))
        strands.check(int(rng.integers(2, 7)), whole=True)
        strands.check(int(rng.integers(2, 7)), whole=False)


def test_missing_values_are_in_no_bin():
    strands = Strands()
    strands.add(np.array([1.0, 2.0, 2.0, np.inf, np.inf]), 0, weight=2.0)
    strands.add(np.array([0.0, 3.0, np.inf]), 1, ROWS, weights=np.array([1.0, 4.0, 5.0]))
    for bins in (2, 3, 5):
        strands.check(bins, whole=True, missing=(4.0, 5.0))


def test_where_there_is_a_table_its_runs_are_not_looked_at():
    strands = Strands()
    strands.add(
        np.array([1.0, 5.0, 6.0, 99.0, 99.0]), 0, TABLE, weights=np.array([3.0, 2.0, 4.0, 7.0, 7.0]), size=3
    )
    strands.add(np.array([0.0, 5.5]), 0, ROWS)  # the buffer is not in the table
    strands.add(np.array([2.0, 5.0, 7.0]), 1)
    strands.check(4, whole=True)
    cuts, counts = strands.bins(4, whole=True)
    stands_for = strands.values, strands.masses, strands.classes
    strands.values, strands.masses, strands.classes = [], [], []
    strands.add(np.array([-50.0, 50.0]), 0, weight=1e6)  # as wrong as can be
    strands.values, strands.masses, strands.classes = stands_for
    again = strands.bins(4, whole=True, shift=(1e6, 0.0))
    assert np.array_equal(again[0], cuts)
    assert np.array_equal(again[1], counts)


def test_an_empty_table_stands_for_no_value_at_all():
    strands = Strands()
    strands.add(np.full(4, 8.0), 0, TABLE, weights=np.ones(4), size=0)
    strands.add(np.array([1.0, 2.0]), 1)
    strands.check(3, whole=True)
    assert not strands.bins(3, whole=True)[1][0].any()


def test_the_shift_centers_ranks_and_never_leaves_the_mass():
    strands = Strands()
    strands.add(np.arange(8.0), 0, weight=2.0)
    strands.add(np.arange(8.0), 1, weight=2.0)
    cuts, counts = strands.bins(4, whole=True, shift=(3.0, -3.0))
    assert cuts.tolist() == [1.0, 3.0, 5.0]  # the shifts cancel in the pool
    assert counts.tolist() == [[7.0, 4.0, 4.0, 1.0], [1.0, 4.0, 4.0, 7.0]]
    cuts, counts = strands.bins(4, whole=True, shift=(2.0, 2.0))
    assert cuts.tolist() == [0.0, 2.0, 4.0]
    assert counts.tolist() == [[4.0, 4.0, 4.0, 4.0]] * 2
    for shift in ((1e9, 1e9), (-1e9, -1e9)):
        _, counts = strands.bins(4, whole=True, shift=shift)
        assert np.all(counts >= 0)
        assert counts.sum(axis=1).tolist() == [16.0, 16.0]


def test_nothing_at_all():
    strands = Strands()
    strands.add(np.array([np.inf, np.inf]), 0)
    for whole in (True, False):
        assert not strands.bins(3, whole=whole, missing=(2.0, 0.0))[1].any()
