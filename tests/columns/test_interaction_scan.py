"""InteractionScan decides as its slow twin does, finds pairs that nothing else finds, and keeps its laws."""

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.columns.interaction_scan import InteractionScan
from streamsieve.columns.redundancy.interactions import SUM_OF_WEIGHTS, levels_of
from streamsieve.independence import table_p_values
from tests.columns.streams import FORMS, TASKS, columns, equal_twin, lines, offered, rows, target
from tests.helpers.tier import cases
from tests.reference import table_moments
from tests.reference.interaction_scan import interaction_scan


def xor(rng, n=500, p=102, first=20, second=70, noise=0.1):
    X = rng.integers(0, 2, (n, p))
    return X, X[:, first] ^ X[:, second] ^ (rng.random(n) < noise)


@pytest.mark.parametrize("task", TASKS)
def test_random_streams_in_mixed_blocks_equal_the_twin(task, monkeypatch):
    for module in (table_p_values, table_moments):  # the twin draws random tables in Python
        monkeypatch.setattr(module, "MOST_DRAWS", 200)
    rng = np.random.default_rng(0)
    seen, partners = Counter(), 0
    for case in range(cases(80)):
        y = target(rng, task, max(rows(rng, task), 5) if case % 3 else 60)
        X = columns(rng, y, int(rng.integers(1, 25)), far=case % 3 == 0)
        if case % 2:  # a pair that is informative together, with some noise
            a, b = rng.integers(0, 2, (2, len(y)))
            y = np.where(rng.random(len(y)) < 0.1, y, (a ^ b) + (0.01 * y if task == "regression" else 0))
            y[:2] = [0, 1]
            X = np.insert(X, [0, X.shape[1]], np.c_[a, b], axis=1)
        parameters = {
            "pool": int(rng.choice([1, 3, 8, 500])),
            "alpha": float(rng.choice([0.05, 0.9])),
            "bins": int(rng.choice([2, 3, 8])),
            "p_value": ("moments", "chi2", "moments")[case % 3],
        }
        twin, pairs, missed = interaction_scan(X, y, task, **parameters)
        how = "regression" if task == "regression" else "classification"
        sieve = offered(InteractionScan(**parameters, task=how).begin(y), X, rng, tuple(FORMS))
        equal_twin(sieve, twin, what=(case, parameters))
        assert sieve.pairs_.tolist() == [list(pair) for pair in pairs]
        assert sieve.n_missed_pairs_ == missed
        seen.update((line.event, line.reason) for line in twin[1])
        partners += len(pairs)
    assert len(seen) == 4, seen
    assert min(seen.values()) >= cases(20), seen
    assert partners >= cases(5)


@pytest.mark.parametrize("seed", range(5))
def test_an_exclusive_or_is_found_and_nothing_else(seed):
    X, y = xor(np.random.default_rng(seed))
    sieve = InteractionScan().fit(X, y)
    assert sieve.selected_.tolist() == [20, 70]
    assert sieve.pairs_.tolist() == [[20, 70]]
    assert sieve.n_pairs_ == 102 * 101 // 2
    assert sieve.ledger_.why("x20").by == ("x70",)
    assert sieve.ledger_.why("x70").by == ("x20",)
    assert ss.SAOLA().fit(X, y).selected_.tolist() != [20, 70]


def test_noise_is_kept_in_no_more_streams_than_the_level_says():
    rng = np.random.default_rng(1)
    streams = 100
    wrong = sum(
        len(InteractionScan(alpha=0.1).fit(rng.integers(0, 3, (200, 40)), rng.integers(0, 2, 200)).selected_)
        > 0
        for _ in range(streams)
    )
    assert wrong <= 0.1 * streams + 3 * np.sqrt(0.1 * 0.9 * streams)


@pytest.mark.parametrize(("n", "levels", "classes"), [(1200, 8, 5), (300, 8, 2), (200, 2, 2)])
def test_noise_of_many_levels_is_kept_in_no_more_streams_than_the_level_says(n, levels, classes):
    """By the limiting distribution of G a column of noise was kept in 20 %, 15 % and 3 % of these streams."""
    rng = np.random.default_rng(12)
    streams, kept = cases(200, 80), {"auto": 0, "chi2": 0}
    for _ in range(streams):
        X, y = rng.integers(0, levels, (n, 40)), rng.integers(0, classes, n)
        for way in kept:
            kept[way] += len(InteractionScan(alpha=0.05, p_value=way).fit(X, y).selected_) > 0
    assert kept["auto"] <= 0.05 * streams + 3 * np.sqrt(0.05 * 0.95 * streams), kept
    assert levels == 2 or kept["chi2"] > 0.05 * streams + 2 * np.sqrt(0.05 * 0.95 * streams), kept


def test_rare_levels_do_not_make_pairs_of_noise():
    """Both margins skewed: a rare level that meets a rare class is a large statistic, but no evidence."""
    rng = np.random.default_rng(13)
    streams, share = cases(100, 40), (0.7, 0.2, 0.07, 0.03)
    kept = sum(
        len(
            InteractionScan(alpha=0.1)
            .fit(rng.choice(4, (400, 30), p=share), np.r_[0, 1, 2, rng.choice(3, 397, p=(0.9, 0.07, 0.03))])
            .selected_
        )
        > 0
        for _ in range(streams)
    )
    assert kept <= 0.1 * streams + 3 * np.sqrt(0.09 * streams)


def test_the_levels_of_all_columns_sum_to_alpha():
    last = 10**6
    ahead = np.arange(2, last + 1.0)
    sum_of_first = np.sum(1 / (ahead * np.log(ahead) ** 2))
    rest = 1 / np.log(last + 0.5)  # the integral of what is left out
    assert sum_of_first + rest == pytest.approx(SUM_OF_WEIGHTS, abs=1e-9)
    levels = levels_of(np.arange(1, last), 0.3)
    np.testing.assert_allclose(levels.sum(), 0.3 * sum_of_first / SUM_OF_WEIGHTS)


def test_a_pair_is_found_within_the_pool_and_not_beyond():
    rng = np.random.default_rng(2)
    X, y = xor(rng, p=60, first=5, second=45)
    assert InteractionScan(pool=40).fit(X, y).selected_.tolist() == [5, 45]
    assert InteractionScan(pool=39).fit(X, y).selected_.tolist() == []


def test_partners_at_the_ends_of_a_wide_table_meet_by_default():
    """The pool used to hold 500 columns, and nothing announced the pairs that never met."""
    X, y = xor(np.random.default_rng(16), n=300, p=2000, first=3, second=1990)
    sieve = InteractionScan().fit(X, y)
    assert sieve.selected_.tolist() == [3, 1990]
    assert sieve.n_missed_pairs_ == 0
    narrow = InteractionScan(pool=500).fit(X, y)
    assert narrow.n_pairs_ + narrow.n_missed_pairs_ == 2000 * 1999 // 2


def test_an_automatic_pool_is_bounded_by_memory_and_says_when_it_is_full(monkeypatch):
    X, y = xor(np.random.default_rng(17), n=300, p=60, first=5, second=45)
    monkeypatch.setattr("streamsieve.columns.redundancy.partner_pools.POOL_BYTES", 2**14)
    sieve = InteractionScan().begin(y)
    size = sieve._process_.pools.size
    assert 1 < size < 39
    sieve.offer(X[:, :size])
    with pytest.warns(UserWarning, match=f"hold {size} columns of 300 rows.*n_missed_pairs_"):
        sieve.offer(X[:, size : size + 10])
    sieve.offer(X[:, size + 10 :])  # says so once
    assert sieve.n_missed_pairs_ == sum(range(60 - size))
    assert sieve.selected_.tolist() == []
    again = InteractionScan.from_bytes(sieve.to_bytes())
    assert again.n_missed_pairs_ == sieve.n_missed_pairs_


@pytest.mark.parametrize(
    ("n", "classes", "bins"), [(160, 2, 4), (159, 2, 3), (90, 2, 3), (89, 2, 2), (399, 5, 3)]
)
def test_bins_are_as_many_as_leave_five_rows_to_a_cell(n, classes, bins):
    y = np.arange(n) % classes
    assert InteractionScan().begin(y)._process_.bins == bins


@pytest.mark.parametrize("p", [8, 128, 512])
@pytest.mark.parametrize("shape", ["ring", "xor"])
def test_a_ring_and_an_exclusive_or_of_numbers_are_found_by_default(shape, p):
    """Passemiers' RING and XOR; with two bins a ring is invisible, since it is symmetric in both columns."""
    X = np.random.default_rng(p).random((1000, p))
    centered = X[:, [0, 1]] - 0.5
    ring = np.abs(np.hypot(*centered.T) - 0.35) <= 0.1151
    y = ring if shape == "ring" else centered.prod(axis=1) <= 0
    assert InteractionScan().fit(X, y.astype(int)).selected_.tolist() == [0, 1]
    if shape == "ring":
        assert InteractionScan(bins=2).fit(X, y.astype(int)).selected_.tolist() != [0, 1]


def test_parity_of_three_is_not_found():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (500, 30))
    assert len(InteractionScan().fit(X, X[:, 3] ^ X[:, 9] ^ X[:, 20]).selected_) == 0


@pytest.mark.parametrize("first", [True, False])
def test_a_column_that_matters_only_beside_a_relevant_one_is_found(first):
    """y follows the one where the other is 1; in either order both are kept and no other column."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (500, 60))
    relevant, switch = (10, 40) if first else (40, 10)
    y = np.where(X[:, switch] == 1, X[:, relevant], 1 - X[:, relevant])
    y = np.where(rng.random(500) < 0.3, X[:, relevant], y)
    sieve = InteractionScan().fit(X, y)
    assert sieve.ledger_.why(f"x{relevant}").by == ()
    assert sieve.ledger_.why(f"x{switch}").by == (f"x{relevant}",)
    assert sieve.selected_.tolist() == [10, 40]


def test_numbers_and_many_levels_take_part():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 30))
    y = (X[:, 4] * X[:, 22] > 0).astype(int)
    assert InteractionScan().fit(X, y).selected_.tolist() == [4, 22]
    genotypes = rng.integers(0, 3, (600, 30))
    y = (genotypes[:, 4] == genotypes[:, 22]).astype(int)
    assert InteractionScan().fit(genotypes, y).selected_.tolist() == [4, 22]


def test_a_column_with_most_of_its_values_at_the_top_is_cut_below_them():
    rng = np.random.default_rng(6)
    y = np.arange(300) % 2
    x = np.where((y == 1) & (rng.random(300) < 0.6), -rng.random(300), 0.0)
    assert len(np.unique(x)) > 8
    assert InteractionScan().fit(np.c_[x], y).selected_.tolist() == [0]


def test_more_columns_kept_than_slots():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 300)
    X = np.where(rng.random((300, 150)) < 0.2, rng.integers(0, 2, (300, 150)), y[:, None])
    for pool in (2, 500):
        sieve = InteractionScan(pool=pool).fit(X, y)
        assert sieve.selected_.tolist() == list(range(150))
        assert sieve.n_pairs_ == 0


def test_a_stop_decides_what_waits_and_the_run_may_go_on():
    rng = np.random.default_rng(10)
    X, y = xor(rng, p=60, first=5, second=45)
    sieve = InteractionScan(stop=ss.Stop(max_offers=20)).begin(y)
    sieve.offer(X[:, :30])
    assert [d.step for d in sieve.offer(X[:, 30:40])] == list(range(30, 40))
    assert sieve.stopped_ == "max_offers=20"
    assert sieve.n_pooled_ == 0
    assert Counter(str(d.reason) for d in sieve.ledger_) == {"irrelevant": 20, "stopped": 20}
    sieve.set_params(stop=None).offer(X[:, 40:])
    assert [d.step for d in sieve.ledger_] == list(range(60))
    assert sieve.selected_.tolist() == []  # the verdict on the first of the two was final
    both = InteractionScan(stop=ss.Stop(max_features=2)).fit(X, y)
    assert both.selected_.tolist() == [5, 45]
    assert both.stopped_ == "max_features=2"


def test_sparse_blocks_and_dense_pieces_change_nothing(monkeypatch):
    rng = np.random.default_rng(11)
    X, y = xor(rng, n=200, p=60, first=3, second=41)
    expected = lines(InteractionScan().fit(X, y))
    for values in (1, 200 * 3, 200 * 7):
        monkeypatch.setattr("streamsieve.columns.redundancy.interactions.DENSE_VALUES", values)
        assert lines(InteractionScan().fit(X, y)) == expected
        assert lines(InteractionScan().fit(sp.csc_array(X), y)) == expected
