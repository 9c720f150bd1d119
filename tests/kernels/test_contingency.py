"""Small hash tables in one pool: found, enrolled, moved, expelled, and counted."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve._kernels import contingency as kernel
from tests.helpers.blocks import arrays

#: The key of text number 0; number i has (1 + i) times as much.
TEXT = 2.0**400
UNIT = (np.ones(1), False)


class Tables:
    """A pool of a fixed number of rows, and the tables of some features in it."""

    def __init__(self, n_features, n_classes, rows=64):
        self.heads = np.zeros((n_features, 3), np.int64)
        self.cells = np.zeros((rows, 1 + n_classes))
        self.slots = np.zeros(2 * rows, np.uint16)
        self.stored = np.zeros((n_features, n_classes))
        self.used = 0

    @property
    def pool(self):
        return self.heads, self.cells, self.slots

    def count_dense(self, X, y, w=None, cap=256, fades=False, order="C"):
        """Count all rows, moving full tables as often as needed; return how often that was."""
        n, p = X.shape
        flat, steps = (X.reshape(-1), (p, 1)) if order == "C" else (X.T.reshape(-1), (1, n))
        weights = UNIT if w is None else (w, True)
        done, rounds = np.zeros(p, np.int64), 0
        while True:
            for low, high in ((0, p // 2), (p // 2, p)):
                kernel.count_dense(flat, *steps, y, *weights, done, cap, fades, *self.pool, low, high)
            waiting = np.flatnonzero(done < n)
            if not len(waiting):
                return rounds
            self.used = kernel.move(waiting, *self.pool, self.used)
            rounds += 1

    def count_sparse(self, X, y, w=None, cap=256, first=0):
        weights = UNIT if w is None else (w, True)
        entry, self.used = kernel.count_sparse(
            first, *arrays(X), y, *weights, cap, False, *self.pool, self.stored, self.used
        )
        return entry

    def subtract(self, rows, y, w=None):
        weights = UNIT if w is None else (w, True)
        undo = np.empty(2 * len(rows[2]), np.int64), np.empty(2 * len(rows[2]))
        return kernel.subtract(*rows, y, *weights, *self.pool, self.stored, *undo)

    def table(self, feature):
        """Return {value: counts} in order of arrival, after looking every value up."""
        start, size, bits = self.heads[feature].tolist()
        assert size <= (1 << bits) >> 1
        for row in range(start, start + size):
            assert kernel._find(self.cells[row, 0], start, bits, self.cells, self.slots) == row
        return {cell[0]: cell[1:].tolist() for cell in self.cells[start : start + size]}


def as_dense(X):
    n, p = X.shape
    return np.arange(n + 1) * p, np.zeros(0, np.int32), X.reshape(-1)


def counts(x, y, n_classes, w=None):
    """Return {value: counts} of one column, in order of appearance."""
    found = {}
    for value, c, wi in zip(x.tolist(), y.tolist(), np.ones(len(y)) if w is None else w, strict=True):
        if value == value:  # noqa: PLR0124 - not missing
            found.setdefault(value, [0.0] * n_classes)[c] += wi
    return found


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("weighted", [False, True])
def test_dense_rows_are_counted_in_tables_that_double(dtype, order, weighted):
    rng = np.random.default_rng(0)
    n, p = 70, 3
    X = rng.choice(np.array([0, -0.0, 1, -2.5, 1e30, 7, np.nan]), (n, p)).astype(dtype)
    y, w = rng.integers(0, 2, n), rng.random(n) if weighted else None
    tables = Tables(p, 2)
    assert tables.count_dense(np.asarray(X, order=order), y, w, order=order) == 4  # 1, 2, 4, 8 rows
    assert tables.count_dense(np.asarray(X, order=order), y, w, order=order) == 0
    for j in range(p):
        twice = [None if a is None else np.tile(a, 2) for a in (X[:, j].astype(float), y, w)]
        wanted = counts(*twice[:2], 2, twice[2])
        assert tables.table(j) == wanted
        assert list(tables.table(j)) == list(wanted)


def test_sparse_rows_are_counted_until_the_pool_is_full():
    rng = np.random.default_rng(1)
    X = sp.random_array((20, 4), density=0.6, format="csr", random_state=rng)
    X.data = np.round(X.data * 4)
    X.data[::6] = np.nan
    y = rng.integers(0, 3, 20)
    tables, entry, stops = Tables(4, 3, rows=2), 0, 0
    while entry < X.nnz:
        entry = tables.count_sparse(X, y, first=entry)
        if entry < X.nnz:
            larger = Tables(4, 3, rows=len(tables.cells) + 8)
            larger.used = kernel.pack(tables.heads, tables.cells, *larger.pool)
            larger.stored, tables, stops = tables.stored, larger, stops + 1
    assert stops > 1
    dense = X.toarray()
    for j in range(4):
        wanted = counts(dense[:, j], y, 3)
        wanted.pop(0.0, None)
        assert tables.table(j) == wanted
        for c in range(3):
            assert tables.stored[j, c] == np.count_nonzero(dense[y == c, j])  # NaN is stored


@pytest.mark.parametrize("values", [np.arange(40.0), TEXT * np.arange(1.0, 41), 2.0 ** np.arange(-20, 20)])
def test_values_that_hashes_confuse_are_told_apart(values):
    tables = Tables(1, 1, rows=128)
    tables.count_dense(values[:, None], np.zeros(40, np.int64))
    assert list(tables.table(0)) == values.tolist()
    for bits in (1, 3, 8, 17):
        hashes = [kernel._hash(v, bits) for v in values]
        assert 0 <= min(hashes) <= max(hashes) < 1 << bits
    assert len({int(kernel._hash(v, 8)) for v in values}) > 10


def test_values_beyond_the_cap_are_counted_together_but_never_zeros():
    tables = Tables(1, 1)
    x = np.array([5, 6, 7, 0, 6, 8, -0.0, 9])
    tables.count_dense(x[:, None], np.zeros(8, np.int64), cap=2)
    assert tables.table(0) == {5: [1], 6: [2], np.inf: [3], 0: [2]}


@pytest.mark.parametrize(
    ("fades", "wanted"), [(False, {6: [1], np.inf: [3]}), (True, {6: [1], np.inf: [1], 8: [2]})]
)
def test_only_where_rows_fade_new_values_take_the_place_of_expelled_ones(fades, wanted):
    tables = Tables(1, 1)
    tables.count_dense(np.array([[5.0], [6], [7]]), np.zeros(3, np.int64), cap=2)
    kernel._expel(tables.heads[0, 0], 0, *tables.pool)
    tables.count_dense(np.array([[8.0], [8]]), np.zeros(2, np.int64), cap=2, fades=fades)
    assert tables.table(0) == wanted


def test_the_others_may_be_all_that_is_left():
    tables = Tables(1, 1)
    tables.count_dense(np.array([[5.0], [6]]), np.zeros(2, np.int64), cap=1)
    kernel._expel(tables.heads[0, 0], 0, *tables.pool)
    assert tables.table(0) == {np.inf: [1]}
    theirs = np.array([[np.inf, 2.0], [9.0, 1.0]])
    kernel.absorb(np.array([0, 2]), theirs, np.array([0]), np.zeros(1, np.int64), 1, False, *tables.pool)
    assert tables.table(0) == {np.inf: [4]}


def test_absorbed_tables_keep_the_order_of_their_values():
    tables = Tables(2, 3, rows=32)
    tables.count_dense(np.array([[1.0, 2.0]]), np.array([1]), cap=3)
    theirs = np.array([[4, 1, 0], [1, 2, 5], [3, 1, 1], [2, 1, 0], [9, 9, 9.0]])
    starts, done = np.array([0, 4, 5]), np.zeros(2, np.int64)
    for _ in range(3):
        kernel.absorb(starts, theirs, np.array([2, 0]), done, 3, False, *tables.pool)
        waiting = np.flatnonzero(done < np.diff(starts))
        tables.used = kernel.move(waiting, *tables.pool, tables.used)
    assert done.tolist() == [4, 1]
    assert tables.table(0) == {1: [5, 1, 2], 4: [0, 0, 1], 3: [1, 0, 1], np.inf: [0, 0, 1]}
    assert tables.table(1) == {2: [0, 1, 0], 9: [9, 0, 9]}


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_are_taken_out_or_nothing_is_changed(sparse):
    X = np.array([[1.0, 0.0], [2.0, np.nan], [1.0, 3.0], [4.0, 3.0]])
    y, w = np.array([0, 1, 0, 1]), np.array([1.0, 0.1, 2.0, 1e20])
    tables = Tables(2, 2)
    rows = (*(arrays(sp.csr_array(X)) if sparse else as_dense(X)), sparse)
    if sparse:
        tables.count_sparse(sp.csr_array(X), y, w)
    else:
        tables.count_dense(X, y, w)
    before = tables.cells.copy(), tables.stored.copy()
    many = (*(arrays(sp.csr_array(np.tile(X, (2, 1)))) if sparse else as_dense(np.tile(X, (2, 1)))), sparse)
    assert tables.subtract(many, np.tile(y, 2), np.tile(w, 2)) == len(many[2]) // 2
    assert tables.subtract(rows, y[::-1].copy(), w) >= 0
    assert np.array_equal(before[0], tables.cells)
    assert np.array_equal(before[1], tables.stored)
    assert tables.subtract(rows, y, w) == -1
    kernel.sweep(*rows, y, *tables.pool)
    assert tables.table(0) == tables.table(1) == {}
    assert not tables.stored.any()


def test_rounding_is_nothing_but_small_whole_numbers_are_something():
    assert kernel._less(0.1 + 0.2, 0.3) == 0.0
    assert kernel._less(0.3, 0.1 + 0.2) == 0.0
    assert kernel._less(1e15 + 1, 1e15) == 1.0
    assert kernel._less(2.0, 3.0) == -1.0
    assert kernel._less(0.5, 0.7) == -1.0


def test_what_is_faint_is_expelled():
    tables = Tables(2, 1)
    X = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 2.0]])
    tables.count_dense(X, np.zeros(3, np.int64), np.array([1.0, 100.0, 0.0]))
    kernel.expel_faint(0.1, np.array([0.0, 1e4]), *tables.pool)
    assert tables.table(0) == {2: [100]}
    assert tables.table(1) == {}
    kernel.expel_faint(0.0, np.zeros(2), *tables.pool)
    assert tables.table(0) == {2: [100]}


def test_a_pool_is_packed_into_one_with_more_classes():
    tables = Tables(3, 1)
    tables.count_dense(np.array([[5.0, 1, np.nan], [3, 1, np.nan], [4, 1, np.nan]]), np.zeros(3, np.int64))
    kernel._expel(tables.heads[0, 0] + 1, 0, *tables.pool)
    wider = Tables(3, 2, rows=3)
    assert kernel.pack(tables.heads, tables.cells, *wider.pool) == 3
    assert [wider.table(j) for j in range(3)] == [{5: [1, 0], 4: [1, 0]}, {1: [3, 0]}, {}]
    assert wider.heads[:, 2].tolist() == [2, 1, 0]


def test_tables_are_written_in_the_order_of_their_values():
    tables = Tables(4, 1)
    X = np.array([[3.0, 2, 0, np.nan], [-1, 1, 7, np.nan], [3, 1, 7, np.nan]])
    tables.count_dense(X, np.zeros(3, np.int64))
    rows, starts = [], [0]
    for start, size, _ in tables.heads:
        rows += (start + np.argsort(tables.cells[start : start + size, 0])).tolist()
        starts.append(len(rows))
    zeros = np.array([[4.0], [0.0], [5.0], [6.0]])
    out = np.zeros((4, 1, 3))
    kernel.fill(np.array(rows), np.array(starts), tables.cells, zeros, out)
    assert out[:, 0].tolist() == [[1, 4, 2], [2, 1, 0], [6, 2, 0], [6, 0, 0]]
