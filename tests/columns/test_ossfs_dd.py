"""OSSFS-DD decides as its slow twin does, whatever the blocks, and keeps its laws."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.columns.ossfs_dd import OSSFSDD
from streamsieve.columns.top_k import TopK
from tests.columns.streams import TASKS, equal_twin, equal_twins, has_freedom, lines, offered, rows
from tests.helpers.tier import cases
from tests.real_data import load_real
from tests.reference.ossfs_dd import ossfs_dd


def random_parameters(rng):
    lower = float(rng.choice([0.0, 0.2, 1.0]))
    return {
        "lower": lower,
        "upper": lower + float(rng.choice([0.0, 0.3, 1.0])),
        "pool": int(rng.choice([1, 2, 4, 100])),
        "floor": int(rng.choice([0, 1, 3, 15])),
        "variant": str(rng.choice(["code", "paper"])),
        "alpha": float(rng.choice([0.05, 0.3])),
    }


@pytest.mark.parametrize("task", TASKS)
def test_random_streams_in_mixed_blocks_equal_the_twin(task):
    partners = 0

    def check(sieve, twin, **more):
        nonlocal partners
        equal_twin(sieve, twin, **more)
        partners += sum(line.event == "kept" and line.by != () for line in twin[1])

    seen = equal_twins(
        OSSFSDD, ossfs_dd, [task], 150, (1, 30), random_parameters, p_values=has_freedom, check=check,
        n_rows=lambda rng, task: max(rows(rng, task), 5),
    )  # fmt: skip
    assert len(seen) == (7 if task == "multiclass" else 6), seen
    assert min(seen.values()) >= 10, seen
    assert partners > 2


def planted(rng, n=200, p=300, informative=20):
    y = np.arange(n) % 2
    X = rng.normal(size=(n, p))
    X[:, rng.choice(p, informative, replace=False)] += y[:, None]
    return X, y


def test_thresholds_are_those_of_all_dependences():
    rng = np.random.default_rng(1)
    X, y = planted(rng)
    X[:, 7] = 3.0  # a constant column does not count
    r = np.abs([np.corrcoef(X[:, j], y)[0, 1] for j in range(300) if j != 7])
    sieve = OSSFSDD(lower=0.5, upper=1.7).begin(y)
    assert sieve.thresholds_ == (0.0, 0.0)
    offered(sieve, X, rng)
    expected = r.mean() + np.array([0.5, 1.7]) * r.std()
    np.testing.assert_allclose(sieve.thresholds_, expected, rtol=1e-12)


@pytest.mark.parametrize("variant", ["code", "paper"])
def test_of_identical_columns_one_survives(variant):
    rng = np.random.default_rng(2)
    X, y = planted(rng)
    best = y + 0.5 * rng.normal(size=200)
    sieve = OSSFSDD(variant=variant, floor=0).fit(np.c_[X, best, best, -2 * best], y)
    assert set(sieve.selected_.tolist()) & {300, 301, 302} == {300}
    assert sieve.ledger_.why("x302").by == ("x300",)


def test_two_noisy_halves_of_a_signal_are_kept_together():
    """s + e and s - e tell little alone and all about s together."""
    rng = np.random.default_rng(3)
    n = 400
    Q = np.linalg.qr(np.c_[np.ones(n), rng.normal(size=(n, 3))])[0][:, 1:] * np.sqrt(n)
    signal, noise, rest = Q.T
    y = signal + 0.1 * rest
    background = 0.55 * signal[:, None] * rng.choice([0.0, 1.0], 80, p=[0.8, 0.2]) + rng.normal(size=(n, 80))
    halves = np.c_[0.28 * signal + noise, 0.28 * signal - noise]
    X = np.c_[background, halves]
    sieve = OSSFSDD(variant="paper", lower=0.5, upper=1.2, floor=0).fit(X, y)
    kept = {d.feature: d.by for d in sieve.ledger_ if d.event == "kept"}
    assert kept["x80"] == ("x81",)
    assert kept["x81"] == ("x80",)
    assert {80, 81} <= set(sieve.selected_.tolist())
    assert sieve.n_waiting_ >= 2  # looking decides nothing


def test_below_the_floor_the_best_by_mrmr_are_selected():
    rng = np.random.default_rng(4)
    X, y = planted(rng, p=20, informative=10)
    sieve = OSSFSDD(floor=8).fit(X, y)
    top = TopK(k=8, alpha=0.05).fit(X, y)
    assert sieve.selected_.tolist() == top.selected_.tolist()
    assert "the last 20 columns provisional: later ones may change them" in repr(sieve.ledger_)
    assert len(OSSFSDD(floor=0).fit(X, y).selected_) < 5


def test_a_floor_that_is_reached_is_never_lost():
    rng = np.random.default_rng(5)
    lost = 0
    for case in range(cases(20)):
        # members that are many and weak, then strong ones that make all of them redundant
        n = 100
        y = rng.normal(size=n)
        weak = 0.5 * y[:, None] + rng.normal(size=(n, 60))
        strong = y[:, None] + 0.3 * rng.normal(size=(n, 10))
        X = np.c_[weak, strong]
        for floor in (0, 6):
            sieve = OSSFSDD(lower=0.0, upper=0.1, pool=5, floor=floor, variant="paper").begin(y)
            sizes = []
            for j in range(70):
                sieve.offer(X[:, j])
                sizes.append(len(sieve.selected_))
            reached = next((j for j in range(70) if sieve.ledger_ and sizes[j] >= 6), 70)
            if floor:
                assert min(sizes[reached:], default=6) >= 6, case
            lost += floor == 0 and min(sizes[reached:], default=6) < 6
    assert lost > cases(5)


@pytest.mark.parametrize("floor", [0, 4, 30])
def test_a_stop_decides_what_waits_and_the_run_may_go_on(floor):
    rng = np.random.default_rng(8)
    X, y = planted(rng, p=60)
    parameters = {"lower": 0.3, "upper": 1.0, "floor": floor}
    expected = OSSFSDD(**parameters).fit(X[:, :20], y)
    sieve = OSSFSDD(**parameters, stop=ss.Stop(max_offers=20)).begin(y)
    sieve.offer(X[:, :30])
    assert [d.step for d in sieve.offer(X[:, 30:40])] == list(range(30, 40))
    assert sieve.stopped_ == "max_offers=20"
    assert sieve.n_waiting_ == 0
    assert sieve.selected_.tolist() == expected.selected_.tolist()
    assert lines(sieve)[:-20] == lines(expected)
    assert {d.reason for d in list(sieve.ledger_)[-20:]} == {"stopped"}
    sieve.set_params(stop=None).offer(X[:, 40:])
    verdicts = [d for d in sieve.ledger_ if d.event != "evicted"]
    assert [d.step for d in verdicts] == list(range(60))
    kept = {d.feature for d in verdicts if d.event == "kept"}
    kept -= {d.feature for d in sieve.ledger_ if d.event == "evicted"}
    assert kept == {f"x{i}" for i in sieve.selected_}


@pytest.mark.parametrize(("name", "least", "most"), [("dexter", 150, 400), ("arcene", 15, 100)])
def test_many_columns_keep_an_automatic_size(name, least, most):
    X, y = load_real(name)
    sieve = OSSFSDD().fit(X, y)
    assert least < len(sieve.selected_) < most
    dense = OSSFSDD().fit(X.toarray() if sp.issparse(X) else sp.csc_array(X), y)
    assert lines(dense) == lines(sieve)


def test_few_columns_keep_the_floor():
    X, y = load_real("wdbc")
    assert len(OSSFSDD().fit(X, y).selected_) == 15
    assert len(OSSFSDD(floor=0).fit(X, y).selected_) < 6
