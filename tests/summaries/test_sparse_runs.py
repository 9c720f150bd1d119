"""The sparse store of quantiles: exact where it promises to be, and within its certified error elsewhere."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve import _threads as threads
from streamsieve.exceptions import StateError
from streamsieve.summaries.quantiles import entries, sparse
from streamsieve.summaries.quantiles.sparse import SparseQuantiles
from tests.helpers.tier import cases
from tests.summaries.streams import assert_same_bits, snapshot


class Rows:
    """Rows of a stream as a dense array, NaN for missing; weights may be None."""

    def __init__(self, X, y, w=None, n_classes=None):
        self.X, self.y, self.w = np.asarray(X, np.float64), np.asarray(y, np.int64), w
        self.n_classes = n_classes or int(self.y.max(initial=0)) + 1

    def __len__(self):
        return len(self.y)

    def __getitem__(self, part):
        return Rows(self.X[part], self.y[part], None if self.w is None else self.w[part], self.n_classes)

    @property
    def mass(self):
        return np.ones(len(self)) if self.w is None else self.w

    @property
    def totals(self):
        return np.bincount(self.y, self.mass, minlength=self.n_classes)

    @property
    def rows(self):
        return np.bincount(self.y, minlength=self.n_classes)

    @property
    def csr(self):
        return as_csr(self.X)

    def cut(self, rng, pieces):
        edges = [0, *sorted(rng.integers(0, len(self) + 1, pieces - 1).tolist()), len(self)]
        return [self[low:high] for low, high in pairwise(edges)]


def as_csr(X):
    """CSR with what is not +0.0: explicit zeros (-0.0) stay."""
    i, j = np.nonzero((X != 0) | np.signbit(X))
    return sp.csr_array(
        (X[i, j], j.astype(np.int32), np.searchsorted(i, np.arange(len(X) + 1))), shape=X.shape
    )


def learnt(parts, epsilon=1e-3, n_classes=None, n_features=None):
    n_classes = n_classes or parts[0].n_classes
    store = SparseQuantiles(n_classes, n_features or parts[0].X.shape[1], epsilon)
    for part in parts:
        store.update(part.csr, part.y, part.w)
    return store


def tables_of(store, rows, bins, whole=True):
    return store.tables(0, store.n_features, bins, rows.totals, rows.rows, whole)


def ask(store):
    """Ask for something, so that an answer kept for the next question would be found out."""
    store.tables(0, store.n_features, 3, np.ones(store.n_classes), np.ones(store.n_classes, np.int64), True)


def offline_tables(rows, bins, whole=True):
    """The binning rule, value by value."""
    counts = np.zeros((rows.X.shape[1], rows.n_classes, bins))
    for j, column in enumerate(rows.X.T):
        present = ~np.isnan(column)
        x, y, m = column[present], rows.y[present], rows.mass[present]
        weight = m.sum()
        d = max(1, np.floor(weight / bins)) if whole else weight * (1 - 1e-12) / bins
        for v, c, w in zip(x, y, m, strict=True):
            below = m[x < v].sum()
            counts[j, c, min(bins - 1, sum(i * d <= below for i in range(1, bins)))] += w
    return counts


def offline_cdf(rows, feature, x):
    column = rows.X[:, feature]
    return np.array(
        [[rows.mass[(rows.y == c) & (column <= t)].sum() for t in x] for c in range(rows.n_classes)]
    )


def random_rows(rng, n=None, p=None, n_classes=None, values=None, weights=None):
    """Few or many values, sparse or full columns, missing values or none, whole or dyadic weights or none."""
    n = int(rng.integers(1, 50)) if n is None else n
    p = int(rng.integers(1, 6)) if p is None else p
    c = int(rng.integers(1, 6)) if n_classes is None else n_classes
    X = np.round(rng.normal(size=(n, p)) * (rng.choice([0.6, 2, 1e3]) if values is None else values))
    X[:, rng.random(p) < 0.2] *= 1e-300
    X[rng.random((n, p)) < rng.choice([0, 0.5, 0.95])] = rng.choice([0.0, -0.0])
    X[rng.random((n, p)) < rng.choice([0, 0, 0.1, 0.6])] = np.nan
    kind = rng.choice(["none", "whole", "dyadic"]) if weights is None else weights
    w = {"none": None, "whole": rng.integers(1, 5, n) * 1.0, "dyadic": rng.integers(1, 64, n) / 16}[kind]
    return Rows(X, rng.integers(0, c, n), w, c)


@pytest.fixture(params=[(4, 4), (16, 2), (64, 64)], ids=lambda sizes: f"stage {sizes[0]}")
def small(request, monkeypatch):
    """Stages so small that short streams fill many."""
    monkeypatch.setattr(sparse, "STAGE", request.param[0])
    monkeypatch.setattr(sparse, "ROOM", request.param[1])


@pytest.fixture
def small_stage(monkeypatch):
    monkeypatch.setattr(sparse, "STAGE", 64)
    monkeypatch.setattr(sparse, "ROOM", 16)


@pytest.mark.parametrize("seed", range(4))
def test_few_values_give_the_tables_and_ranks_of_the_whole_data(small, seed):
    rng = np.random.default_rng(seed)
    runs = 0
    for _ in range(cases(150, 50)):
        rows = random_rows(rng, n=int(rng.integers(1, 70)))
        store = learnt(rows.cut(rng, int(rng.integers(1, 5))))
        assert store.error == 0.0
        runs += len(store._levels)
        bins, whole = int(rng.integers(2, 8)), rows.w is None or bool(np.all(rows.w % 1 == 0))
        assert np.array_equal(tables_of(store, rows, bins, whole), offline_tables(rows, bins, whole))
        feature, x = (
            int(rng.integers(rows.X.shape[1])),
            np.append(rng.normal(size=3), [0.0, -0.0, 1.0, -1e-300]),
        )
        got = store.cdf(feature, x, rows.totals, rows.rows)
        assert np.array_equal(got, offline_cdf(rows, feature, x))
        present = [rows.mass[(rows.y == c)] @ ~np.isnan(rows.X[rows.y == c]) for c in range(rows.n_classes)]
        masses = store.masses(0, store.n_features, rows.totals, rows.rows)
        assert np.array_equal(masses, np.transpose(present))
    assert runs > cases(8)


def test_any_block_of_features_is_a_slice_of_the_whole(small_stage):
    rng = np.random.default_rng(1)
    rows = random_rows(rng, n=100, p=40, n_classes=3, values=5)
    store = learnt([rows])
    whole, masses = tables_of(store, rows, 5), store.masses(0, 40, rows.totals, rows.rows)
    for low, high in ((0, 0), (0, 1), (3, 17), (39, 40), (40, 40), (0, 40)):
        block = store.tables(low, high, 5, rows.totals, rows.rows, True)
        assert np.array_equal(block, whole[low:high])
        assert np.array_equal(store.masses(low, high, rows.totals, rows.rows), masses[low:high])


def test_values_keep_all_their_digits(small_stage):
    rng = np.random.default_rng(2)
    rows = Rows(1e9 + rng.normal(size=(500, 1)), rng.integers(0, 2, 500))
    store = learnt([rows])
    assert np.array_equal(tables_of(store, rows, 5), offline_tables(rows, 5))
    assert len(store._pooled().value) == 499


def test_rows_of_weight_zero_are_not_there():
    store, other = SparseQuantiles(1, 2, 1e-3), SparseQuantiles(1, 2, 1e-3)
    X, y = as_csr(np.array([[7.0, np.nan], [1.0, 2.0], [3.0, 4.0]])), np.zeros(3, np.int64)
    store.update(X, y, np.array([0.0, 2.0, 1.0]))
    other.update(X[1:], y[1:], np.array([2.0, 1.0]))
    assert_same_bits(snapshot(store), snapshot(other))


def orders(rng, n):
    """Streams of n values that are hard for one summary or another."""
    v = rng.normal(size=n)
    yield "random", v
    yield "sorted", np.sort(v)
    yield "reversed", np.sort(v)[::-1]
    yield "duplicates", np.round(v * 40) + 0.5
    yield "sawtooth", np.tile(np.arange(1.0, n // 20 + 2), 21)[:n]
    yield "from both ends", np.where(np.arange(n) % 2, np.arange(n), -np.arange(n)) + 0.5
    yield "heavy tail", rng.standard_cauchy(n)
    yield "one value and noise", np.where(rng.random(n) < 0.7, 1.0, v)
    yield "zooming in", np.exp(-np.arange(n) / 20.0) * np.where(np.arange(n) % 3, 1, -1)


def check_error(store, rows, slack=1e-12):
    """The worst true error, as a share of a (feature, class), is certified, and that is within epsilon."""
    assert store.error <= store.epsilon
    worst = 0.0
    for j in range(rows.X.shape[1]):
        values = rows.X[:, j]
        points = np.unique(values[~np.isnan(values)])
        x = np.unique(np.concatenate([np.nextafter(points, -np.inf), points]))
        estimate = store.cdf(j, x, rows.totals, rows.rows)
        for c in range(rows.n_classes):
            here = (rows.y == c) & ~np.isnan(values)
            order = np.argsort(values[here])
            cumulative = np.concatenate([[0.0], np.cumsum(rows.mass[here][order])])
            true = cumulative[np.searchsorted(values[here][order], x, side="right")]
            own = rows.mass[here & (values != 0)].sum()
            if own:
                worst = max(worst, float(np.max(np.abs(estimate[c] - true))) / own)
            else:
                assert np.allclose(estimate[c], true, rtol=1e-12)
    assert worst <= store.error + slack
    return worst


def check_mass(store, rows):
    """No unit of mass is lost or made up."""
    counts = tables_of(store, rows, 5)
    masses = store.masses(0, store.n_features, rows.totals, rows.rows)
    assert np.array_equal(counts.sum(axis=2), masses)


def stream_of(rng, values, weights):
    """A column of these values and a sparser one with missing values, in three classes of unequal size."""
    n = len(values)
    other = np.where(rng.random(n) < 0.5, 0.0, np.round(values * 8))
    other[rng.random(n) < 0.1] = np.nan
    w = {"none": None, "whole": rng.integers(1, 9, n) * 1.0, "fractions": rng.exponential(size=n) + 1e-3}[
        weights
    ]
    return Rows(np.transpose([values, other]), rng.choice(3, n, p=[0.6, 0.3, 0.1]), w, 3)


@pytest.mark.parametrize("weights", ["none", "whole", "fractions"])
@pytest.mark.parametrize("epsilon", [0.7, 0.3, 0.1])
def test_every_stream_stays_within_the_certified_error(small_stage, epsilon, weights):
    rng = np.random.default_rng(4)
    for name, values in orders(rng, 2500):
        rows = stream_of(rng, values, weights)
        store = learnt(rows.cut(rng, 5), epsilon)
        worst = check_error(store, rows)
        assert worst > 0, name  # something was thinned, or nothing was tested
        if weights != "fractions":
            check_mass(store, rows)


def test_thousands_of_short_streams_stay_within_the_certified_error(monkeypatch):
    rng = np.random.default_rng(5)
    thinned = 0
    for case in range(cases(1200)):
        monkeypatch.setattr(sparse, "STAGE", int(rng.integers(2, 40)))
        rows = random_rows(rng, n=int(rng.integers(1, 150)), p=2, n_classes=2)
        store = learnt(rows.cut(rng, 2), float(rng.choice([0.9, 0.5, 0.2])))
        if case % 3 == 0:
            other = random_rows(rng, n=50, p=2, n_classes=2, weights="none" if rows.w is None else "whole")
            store.merge(learnt([other], store.epsilon), np.array([1, 0]))
            w = None if rows.w is None else np.concatenate([rows.w, other.w])
            rows = Rows(np.concatenate([rows.X, other.X]), np.concatenate([rows.y, 1 - other.y]), w, 2)
        thinned += check_error(store, rows) > 0
        if rows.w is None or np.all(rows.w % 1 == 0):
            check_mass(store, rows)
    assert thinned > cases(200)


def test_an_adversary_who_looks_does_not_break_the_bound(small_stage):
    """Each batch goes where the error is largest, between two neighbors."""
    rng = np.random.default_rng(6)
    store, low, high, seen = SparseQuantiles(1, 1, 0.1), 0.0, 1.0, []
    for _ in range(25):
        new = np.sort(rng.uniform(low, high, 64))
        rows = Rows(new[:, None], np.zeros(64))
        store.update(rows.csr, rows.y, None)
        seen = np.sort(np.concatenate([seen, new]))
        rows = Rows(seen[:, None], np.zeros(len(seen)))
        check_error(store, rows)
        error = np.abs(store.cdf(0, seen, rows.totals, rows.rows)[0] - np.arange(1, len(seen) + 1))
        worst = int(np.argmax(error[1:-1])) + 1
        if seen[worst + 1] - seen[worst] > 1e-12:
            low, high = seen[worst], seen[worst + 1]
    assert len(seen) == 1600


def test_joins_count_towards_the_certified_error(small_stage):
    """Here no stage is thinned, only the join of two runs of level 5."""
    rng = np.random.default_rng(25)
    rows = Rows(rng.normal(size=(64 * 64 + 1, 1)), np.zeros(64 * 64 + 1))
    assert learnt([rows[:-2]], 0.02).error == 0.0
    store = learnt([rows], 0.02)
    assert list(store._levels) == [6]
    assert 0 < check_error(store, rows) <= store.error


def test_a_few_zeros_among_a_billion_rows_are_there():
    store = SparseQuantiles(1, 1, 1e-3)
    store.update(as_csr(np.array([[1.0], [np.nan]])), np.zeros(2, np.int64), np.array([1e9 - 5, 2.0]))
    assert store.tables(0, 1, 2, np.array([1e9]), np.array([10**9]), True).tolist() == [[[1e9 - 2, 0.0]]]


def test_memory_is_bounded_however_many_rows_come(small_stage):
    rng = np.random.default_rng(7)
    store, sizes = SparseQuantiles(1, 1, 0.2), []
    for _ in range(200):
        store.update(as_csr(rng.normal(size=(100, 1))), np.zeros(100, np.int64), None)
        assert all(len(run) <= store._most(d) for d, run in store._levels.items())
        sizes.append(store.nbytes)
    assert max(sizes[100:]) < 2.5 * max(sizes[:50])


def test_a_fading_stream_forgets_in_proportion(small_stage):
    """Growing weights, and now and then everything scaled down: no different from weights scaled at once."""
    rng = np.random.default_rng(8)
    n, factor = 3000, 2.0**-60
    rows = Rows(rng.normal(size=(n, 1)), rng.integers(0, 2, n), np.exp2(np.arange(n) / 50))
    store, at_once = SparseQuantiles(2, 1, 0.1), SparseQuantiles(2, 1, 0.1)
    scale = 1.0
    for which in np.array_split(np.arange(n), 10):
        part = rows[which]
        store.update(part.csr, part.y, part.w * scale)
        store.scale(factor / 2)
        store.scale(2.0)
        at_once.update(part.csr, part.y, part.w * scale)
        at_once.scale(factor)
        scale *= factor
    assert_same_bits(snapshot(store), snapshot(at_once))
    rows.w = rows.w * scale
    rows = rows[np.flatnonzero(rows.w > 1e-280)]
    check_error(store, rows, slack=1e-9)


def test_masses_too_small_for_a_number_are_gone(small_stage):
    rng = np.random.default_rng(9)
    rows = Rows(rng.normal(size=(100, 1)), np.zeros(100))
    store = learnt([rows])
    assert store._fill
    assert store._levels
    for _ in range(20):
        store.scale(2.0**-60)
    assert not store._levels
    assert store._fill == 0
    assert SparseQuantiles.from_state(store.state()).error == 0.0
    store.update(rows.csr, rows.y, None)
    assert np.array_equal(tables_of(store, rows, 5), offline_tables(rows, 5))


def merged_tree(rng, stores, order):
    """Merge stores two and two in any tree; each is a (store, its labels)."""
    stores = list(stores)
    while len(stores) > 1:
        (a, labels), (b, others) = (stores.pop(int(rng.integers(len(stores)))) for _ in range(2))
        union = [*labels, *(label for label in others if label not in labels)]
        a.grow(len(union), max(a.n_features, b.n_features))
        before = snapshot(b)
        ask(a)
        a.merge(b, np.array([union.index(label) for label in others]))
        assert_same_bits(before, snapshot(b))
        stores.append((a, union))
    ((store, labels),) = stores
    # back to the order of the whole stream
    twin = SparseQuantiles(len(order), store.n_features, store.epsilon)
    twin.merge(store, np.array([order.index(label) for label in labels]))
    return twin


def in_parts(rng, rows, pieces, epsilon):
    """Learn pieces apart, each with its own numbering of its own labels and its own width."""
    for part in rows.cut(rng, pieces):
        labels = rng.permutation(np.unique(part.y)).tolist() or [0]
        width = int(np.max(np.nonzero((part.X != 0).any(axis=0))[0], initial=0)) + 1
        codes = np.array([labels.index(c) for c in part.y.tolist()], np.int64)
        yield learnt([Rows(part.X[:, :width], codes, part.w, len(labels))], epsilon), labels


@pytest.mark.parametrize("seed", range(3))
def test_merging_in_any_tree_equals_one_pass_where_that_is_exact(small, seed):
    rng = np.random.default_rng(seed)
    for _ in range(cases(60)):
        rows = random_rows(rng, n=int(rng.integers(1, 80)))
        order = list(range(rows.n_classes))
        store = merged_tree(rng, in_parts(rng, rows, int(rng.integers(1, 6)), 1e-3), order)
        store.grow(rows.n_classes, rows.X.shape[1])
        whole = rows.w is None or bool(np.all(rows.w % 1 == 0))
        assert np.array_equal(tables_of(store, rows, 4, whole), offline_tables(rows, 4, whole))
        assert store.error == 0.0


@pytest.mark.parametrize("weights", ["none", "whole", "fractions"])
@pytest.mark.parametrize("pieces", [2, 7, 64])
def test_merging_in_any_tree_stays_within_the_certified_error(small_stage, pieces, weights):
    rng = np.random.default_rng(pieces)
    for name, values in orders(rng, 2500):
        rows = stream_of(rng, values, weights)
        store = merged_tree(rng, in_parts(rng, rows, pieces, 0.1), [0, 1, 2])
        assert store.error <= 0.1
        assert check_error(store, rows) > 0, name
        if weights != "fractions":
            check_mass(store, rows)


@pytest.mark.parametrize("epsilon", [0.2, 1e-3])
def test_batches_never_change_a_bit(small, epsilon):
    rng = np.random.default_rng(12)
    for _ in range(cases(60)):
        rows = random_rows(rng, n=int(rng.integers(1, 120)))
        one, row_by_row = (
            learnt([rows], epsilon),
            learnt([rows[i : i + 1] for i in range(len(rows))], epsilon),
        )
        some = learnt(rows.cut(rng, 4), epsilon)
        for other in (row_by_row, some):
            assert_same_bits(snapshot(one), snapshot(other))
            assert tables_of(one, rows, 5).tobytes() == tables_of(other, rows, 5).tobytes()


def test_weights_of_one_are_no_weights(small):
    rng = np.random.default_rng(13)
    for _ in range(30):
        rows = random_rows(rng, n=60, weights="none")
        half = len(rows) // 2
        ones = Rows(rows.X, rows.y, np.ones(len(rows)), rows.n_classes)
        wanted = snapshot(learnt([rows], 0.2))
        assert_same_bits(wanted, snapshot(learnt([ones], 0.2)))
        assert_same_bits(wanted, snapshot(learnt([rows[:half], ones[half:]], 0.2)))
        assert_same_bits(wanted, snapshot(learnt([ones[:half], rows[half:]], 0.2)))


@pytest.mark.parametrize("weights", ["none", "fractions"])
def test_threads_never_change_a_bit(monkeypatch, weights):
    monkeypatch.setattr(sparse, "STAGE", 256)
    monkeypatch.setattr(entries, "EFFORT", threads.SMALL)
    monkeypatch.setattr(sparse, "EFFORT", threads.SMALL)
    rng = np.random.default_rng(14)
    X = np.where(rng.random((400, 30)) < 0.6, 0.0, np.round(rng.normal(size=(400, 30)) * 50))
    w = None if weights == "none" else rng.random(400) + 0.1
    rows = Rows(X, rng.integers(0, 3, 400), w)
    found = []
    for usable in (1, 2, 3, 8):
        monkeypatch.setattr(threads, "_threads", lambda usable=usable: usable)
        store = learnt([rows], 0.9)
        found.append((snapshot(store), tables_of(store, rows, 5)))
        assert store.error > 0
    for state, tables in found[1:]:
        assert_same_bits(found[0][0], state)
        assert np.array_equal(found[0][1], tables)


def test_asking_changes_nothing(small):
    rng = np.random.default_rng(15)
    for _ in range(30):
        rows = random_rows(rng, n=60)
        quiet, asked = SparseQuantiles(rows.n_classes, rows.X.shape[1], 0.2), None
        for part in rows.cut(rng, 4):
            quiet.update(part.csr, part.y, part.w)
            asked = asked or SparseQuantiles(rows.n_classes, rows.X.shape[1], 0.2)
            asked.update(part.csr, part.y, part.w)
            before, size = snapshot(asked), asked.nbytes
            first = tables_of(asked, rows, 5)
            asked.cdf(0, np.zeros(1), rows.totals, rows.rows)
            assert np.array_equal(first, tables_of(asked, rows, 5))
            assert_same_bits(before, snapshot(asked))
            assert asked.nbytes == size
        assert_same_bits(snapshot(quiet), snapshot(asked))


def test_labels_and_features_may_come_late(small):
    rng = np.random.default_rng(16)
    for _ in range(cases(60)):
        rows = random_rows(rng, n=80, p=int(rng.integers(1, 12)), n_classes=int(rng.integers(2, 20)))
        order = np.argsort(np.minimum(rows.y, rng.integers(0, 20, len(rows))), kind="stable")
        rows = rows[order]
        known = learnt([rows], 0.2)
        late = SparseQuantiles(1, 1, 0.2)
        for part in rows.cut(rng, 6):
            if len(part):
                seen = np.flatnonzero(((part.X != 0) | np.signbit(part.X)).any(axis=0))
                width = max(late.n_features, int(seen.max(initial=0)) + 1)
                late.grow(max(late.n_classes, int(part.y.max()) + 1), width)
                late.update(as_csr(part.X[:, :width]), part.y, part.w)
                ask(late)
        late.grow(rows.n_classes, rows.X.shape[1])
        assert_same_bits(snapshot(known), snapshot(late))
        assert np.array_equal(tables_of(known, rows, 5), tables_of(late, rows, 5))


def test_no_answer_outlives_a_change(small):
    rng = np.random.default_rng(26)
    rows = Rows(np.round(rng.normal(size=(40, 3)) * 9), rng.integers(0, 2, 40))
    store, more = learnt([rows]), Rows(rows.X, rows.y, None, 9)
    ask(store)
    store.grow(9, 3)
    assert np.array_equal(tables_of(store, more, 4), offline_tables(more, 4))
    store.merge(learnt([rows]), np.arange(2))
    both = Rows(np.tile(rows.X, (2, 1)), np.tile(rows.y, 2), None, 9)
    assert np.array_equal(tables_of(store, both, 4), offline_tables(both, 4))


def test_forgetting_a_feature_is_missing_it_in_all_rows_so_far(small):
    rng = np.random.default_rng(18)
    for _ in range(cases(60)):
        rows = random_rows(rng, n=60)
        p, half = rows.X.shape[1], len(rows) // 2
        columns = rng.permutation(p)[: int(rng.integers(0, p + 1))]
        store = learnt([rows[:half]])
        ask(store)
        store.forget(columns, rows[:half].totals)
        assert not tables_of(store, rows[:half], 4)[columns].any()
        store.update(rows[half:].csr, rows[half:].y, None if rows.w is None else rows.w[half:])
        rows.X[:half, columns] = np.nan
        whole = rows.w is None or bool(np.all(rows.w % 1 == 0))
        assert np.array_equal(tables_of(store, rows, 4, whole), offline_tables(rows, 4, whole))
        again = SparseQuantiles.from_state(store.state())
        assert_same_bits(snapshot(store), snapshot(again))


def test_reindexing_is_permuting_columns(small):
    rng = np.random.default_rng(19)
    for _ in range(cases(60)):
        rows = random_rows(rng, n=60)
        p, half = rows.X.shape[1], len(rows) // 2
        wider = p + int(rng.integers(0, 4))
        columns = rng.permutation(wider)[:p]
        store = learnt([rows[:half]])
        ask(store)
        store.reindex(columns, wider)
        assert store.n_features == wider
        X = np.zeros((len(rows), wider))
        X[:, columns] = rows.X
        moved = Rows(X, rows.y, rows.w, rows.n_classes)
        assert np.array_equal(
            tables_of(store, moved[:half], 4), tables_of(learnt([moved[:half]]), moved[:half], 4)
        )
        store.update(moved[half:].csr, moved[half:].y, moved[half:].w)
        whole = rows.w is None or bool(np.all(rows.w % 1 == 0))
        assert np.array_equal(tables_of(store, moved, 4, whole), offline_tables(moved, 4, whole))
        again = SparseQuantiles.from_state(store.state())
        assert_same_bits(snapshot(store), snapshot(again))


def test_scaling_by_a_power_of_two_scales_the_tables(small):
    rng = np.random.default_rng(20)
    for _ in range(30):
        rows = random_rows(rng, n=60)
        store, scaled = learnt([rows], 0.2), learnt([rows], 0.2)
        ask(scaled)
        scaled.scale(0.25)
        wanted = tables_of(store, rows, 5, whole=False) / 4
        assert np.array_equal(
            scaled.tables(0, store.n_features, 5, rows.totals / 4, rows.rows, False), wanted
        )
        assert scaled.error == store.error


def test_small_problems_are_small_and_missing_values_cost_only_once_they_come():
    rng = np.random.default_rng(21)
    store = SparseQuantiles(2, 100, 1e-3)
    assert store.nbytes <= 100 * 4 * 8 + 16 * sparse.ROOM
    empty = store.nbytes
    store.update(as_csr(np.ones((5, 100))), np.zeros(5, np.int64), None)
    assert store.nbytes == empty
    store.update(as_csr(rng.normal(size=(1, 100))), np.zeros(1, np.int64), np.ones(1))
    assert store.nbytes == empty + 8 * sparse.ROOM
    store.update(as_csr(np.full((1, 100), np.nan)), np.zeros(1, np.int64), None)
    assert store.nbytes == empty + 8 * sparse.ROOM + 100 * 3 * 8


def test_weights_cost_memory_only_until_their_stage_is_a_run(small_stage):
    values = np.arange(1.0, 101)[:, None]
    weighted, counted = SparseQuantiles(1, 1, 1e-3), SparseQuantiles(1, 1, 1e-3)
    weighted.update(as_csr(values[:10]), np.zeros(10, np.int64), np.full(10, 2.0))
    counted.update(as_csr(values[:10]), np.zeros(10, np.int64), None)
    assert weighted.nbytes > counted.nbytes
    for store in (weighted, counted):
        store.update(as_csr(values[10:]), np.zeros(90, np.int64), None)
    assert weighted.nbytes == counted.nbytes


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 7, 8, 9, 15, 16, 100])
def test_slots_stay_within_cache_lines(n_classes):
    width = entries.hot_width(n_classes)
    assert n_classes < width <= 2 * (n_classes + 1)
    assert width % 8 == 0 or 8 % width == 0
    assert 2 ** entries.class_bits(n_classes) >= n_classes


def test_features_one_by_one_do_not_move_all_others_each_time():
    store, moved = SparseQuantiles(2, 1, 1e-3), 0
    for p in range(2, 2000):
        before = store._hot
        store.grow(2, p)
        moved += store._hot is not before
    assert moved < 60


def examples():
    rng = np.random.default_rng(22)
    X = np.round(rng.normal(size=(150, 4)) * 20)
    X[:, 3] = 0.0
    X[:20, 0] = np.nan
    y = rng.integers(0, 3, 150)
    yield "counts", Rows(X, y)
    yield "weights", Rows(X, y, rng.integers(1, 64, 150) / 16)


EXAMPLES = dict(examples())


@pytest.mark.parametrize(("name", "rows"), EXAMPLES.items(), ids=EXAMPLES)
def test_state_round_trips_bit_for_bit_and_goes_on_identically(small_stage, name, rows):
    store = learnt([rows], 0.1)
    saved = snapshot(store)
    assert {"hot", "missing", "stage_prefix", "levels"} <= saved.keys()
    assert ("stage_mass" in saved) == (name == "weights")
    again = SparseQuantiles.from_state(saved)
    assert_same_bits(saved, snapshot(again))
    assert (again.error, again.nbytes) == (store.error, store.nbytes)
    for s in (store, again):
        s.update(rows.csr, rows.y, rows.w)
        s.scale(0.5)
    assert_same_bits(snapshot(store), snapshot(again))
    assert_same_bits(saved, saved | snapshot(SparseQuantiles.from_state(saved)))  # owns its arrays


def last(bad):
    return lambda a: np.where(np.arange(len(a)) == len(a) - 1, bad, a)


def hostile():
    """Yield changes that declarations allow, after which a state cannot have come from rows."""
    for name in ("runs/0/prefix", "stage_prefix"):
        for bad in (3, 4 << 2, 3 << 2, 2**62):  # class 3 of 3, feature 4 of 4, one never seen
            yield f"{name} {bad}", name, last(bad)
    for name in ("runs/0/value", "stage_value", "runs/0/mass", "stage_mass"):
        yield f"{name} 0", name, last(0.0)
    yield "hot mass below 0", "hot", lambda a: np.where(np.arange(4) == 1, -1.0, a)
    yield "hot value 0", "hot", lambda a: np.where(np.arange(4) == 0, 0.0, a)
    yield "run backwards", "runs/0/value", lambda a: a[::-1].copy()
    yield "run of equals", "runs/0/value", np.ones_like
    yield "run by prefix backwards", "runs/0/prefix", lambda a: a[::-1].copy()
    for bad in (1.0, 0.06):
        yield f"error {bad}", "runs/0/error", lambda a, bad=bad: np.array(bad)
    yield "levels twice", "levels", np.zeros_like
    yield "empty levels", "levels", lambda a: a[:0]


CHANGES = {name: (array, change) for name, array, change in hostile()}


@pytest.mark.parametrize("change", CHANGES)
def test_states_that_cannot_have_come_from_rows_are_refused(small_stage, change):
    rows = EXAMPLES["weights"]
    store = learnt([rows], 0.1)
    while sorted(store._levels) != [0, 1, 2] or not 8 < store._fill < 60:
        store.update(rows[20:23].csr, rows[20:23].y, rows[20:23].w)
    state = snapshot(store)
    name, damage = CHANGES[change]
    SparseQuantiles.from_state(state)
    with pytest.raises(StateError, match="state"):
        SparseQuantiles.from_state({**state, name: damage(state[name])})


def test_a_stage_that_should_have_been_a_run_is_refused(small_stage):
    state = snapshot(learnt([Rows(np.arange(1.0, 65)[:, None], np.zeros(64))]))
    assert len(state["stage_prefix"]) == 63
    longer = {**state, "stage_prefix": np.zeros(64, np.int64), "stage_value": np.arange(1.0, 65)}
    with pytest.raises(StateError, match="63 is the most"):
        SparseQuantiles.from_state(longer)
