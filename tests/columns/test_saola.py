"""SAOLA decides as its slow twin does, on thousands of nasty little streams, and keeps its laws."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import scipy.linalg
from sklearn.base import clone

import streamsieve as ss
from tests.columns.streams import (
    FORMS,
    OFFSET,
    SPARSE,
    TASKS,
    columns,
    equal_twin,
    lines,
    offered,
    rows,
    target,
)
from tests.reference.saola import cut, entropies, saola

MEASURES = ("fisher_z", "su", "mutual_info")


def has_freedom(y, task):
    """Whether the test has degrees of freedom, so that its p-value has a meaning."""
    return len(y) > (len(set(y)) if task == "multiclass" else 3)


def random_parameters(rng, measure):
    parameters = {
        "measure": measure,
        "bound": str(rng.choice(["min", "max"])),
        "mode": str(rng.choice(["paper", "two_phase"])),
    }
    if measure == "fisher_z":
        return parameters | {"alpha": float(rng.choice([0.01, 0.05, 0.2, 0.6]))}
    return parameters | {
        "delta": float(rng.choice([0.0, 0.013, 0.11])),
        "bins": int(rng.choice([2, 3, 5, 7])),
    }


# ------------------------------------------------------------------------------------ equal to the twin


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("measure", MEASURES)
def test_random_streams_in_mixed_blocks_equal_the_twin(measure, task):
    rng = np.random.default_rng(0)
    seen = Counter()
    for case in range(200):
        y = target(rng, task, rows(rng, task))
        far = case % 3 == 0
        X = columns(rng, y, int(rng.integers(1, 15)), far=far)
        parameters = random_parameters(rng, measure)
        twin = saola(X, y, task, **parameters)
        sieve = offered(ss.SAOLA(**parameters).begin(y), X, rng, tuple(FORMS))
        equal_twin(sieve, twin, what=(case, parameters), p_values=has_freedom(y, task))
        seen.update((line.event, line.reason) for line in twin[1])
    # the streams had something to say: every kind of decision fell, many times
    assert min(seen.values()) >= 10, seen
    assert len(seen) == (6 if measure == "fisher_z" else 5), seen  # codes are never untestable


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("measure", MEASURES)
def test_one_form_of_blocks_equals_the_twin(measure, form):
    rng = np.random.default_rng(1)
    for case in range(15):
        task = TASKS[case % 3]
        y = target(rng, task, rows(rng, task))
        X = columns(rng, y, 12, far=False)
        parameters = random_parameters(rng, measure)
        sieve = offered(ss.SAOLA(**parameters).begin(y), X, rng, (form,))
        twin = saola(X, y, task, **parameters)
        equal_twin(sieve, twin, what=(case, parameters), p_values=has_freedom(y, task))


def orthogonal(rng, n, p):
    """Return p columns without mean, of unit length, at right angles."""
    Z = rng.normal(size=(n, p))
    return np.linalg.qr(Z - Z.mean(axis=0))[0]


def test_stores_double_newcomers_evict_many_and_their_slots_are_taken_again():
    rng = np.random.default_rng(2)
    Q = orthogonal(rng, 200, 190)
    y = Q.sum(axis=1) + 0.01
    parts = [Q[:, :150]]  # all kept: the store must grow
    for low in range(0, 60, 12):  # each sum is better than its 12 parts, and evicts them
        parts += [Q[:, low : low + 12].sum(axis=1, keepdims=True), Q[:, 150 + low // 2 : 156 + low // 2]]
    parts += [Q[:, :3], Q[:, 180:190]]  # the evicted come back, and fall to their sums
    X = np.hstack(parts)
    twin = saola(X, y, "regression", alpha=0.9)
    evictions = Counter(line.by for line in twin[1] if line.event == "evicted")
    assert sorted(evictions.values()) == [12] * 5
    for mode in ("paper", "two_phase"):  # no doomed column evicts any, so the modes agree
        for form in ("row by row", "column by column", "csc_array", "all stored", "one by one"):
            sieve = offered(ss.SAOLA(alpha=0.9, mode=mode).begin(y), X, rng, (form,))
            equal_twin(sieve, twin, what=(mode, form))


@pytest.mark.parametrize("measure", ["su", "mutual_info"])
def test_stores_of_codes_double_and_shrink_as_the_twin_says(measure):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 90)
    weak = np.where(rng.random(90) < 0.35, 1 - y, y)
    better = np.where(rng.random(90) < 0.5, y, weak)
    copies = np.repeat(weak[:, None], 70, axis=1)  # equals leave each other alone: all are kept
    others = rng.integers(0, 3, (90, 12))
    X = np.column_stack([others, copies, better, others[:, ::-1], copies[:, :40]]).astype(float)
    twin = saola(X, y, "binary", measure=measure)
    assert max(Counter(line.by for line in twin[1] if line.event == "evicted").values()) >= 70
    for form in ("row by row", "csc_array", "some zeros stored"):
        sieve = offered(ss.SAOLA(measure=measure).begin(y), X, rng, (form,))
        equal_twin(sieve, twin, what=form)


def held(store):
    """Return the bytes of all arrays that a store of columns has."""
    arrays = [*vars(store).values(), *getattr(store, "_tables", {}).values()]
    return sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))


@pytest.mark.parametrize("measure", MEASURES)
def test_a_stream_in_which_each_column_evicts_the_last_needs_no_more_memory(measure):
    rng = np.random.default_rng(4)
    y, noise = rng.normal(size=(2, 60))
    X = np.column_stack([y + (3 - j / 100) * noise for j in range(300)])
    sieve = ss.SAOLA(alpha=0.9, measure=measure).begin(y)
    before = held(sieve._kept_)
    offered(sieve, X, rng)
    assert held(sieve._kept_) == before
    if measure == "fisher_z":
        assert sum(d.event == "evicted" for d in sieve.ledger_) > 200


def orthogonal_signs(rng, n, p):
    """Return p columns of -1 and 1 at right angles to each other and to the constant: Hadamard's."""
    return rng.permutation(scipy.linalg.hadamard(n)[:, 1:], axis=1)[:, :p].astype(float)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_run_resumed_with_grown_stores_and_freed_slots_goes_on_as_before(measure, tmp_path):
    rng = np.random.default_rng(5)
    Q = orthogonal_signs(rng, 256, 140)
    y = Q[:, :80].sum(axis=1) + 0.01
    sums = [np.sign(Q[:, low : low + 15].sum(axis=1)) for low in (5, 30)]
    X = np.column_stack([Q[:, :50], sums[0], Q[:, 50:80], sums[1], Q[:, 80:], Q[:, :10]])
    sieve = ss.SAOLA(alpha=0.9, measure=measure)
    whole = offered(clone(sieve).begin(y), X, rng)
    for half in (50, 60, 85):
        first = offered(clone(sieve).begin(y), X[:, :half], rng)
        first.save(tmp_path / "half.sieve")
        resumed = offered(ss.SAOLA.load(tmp_path / "half.sieve"), X[:, half:], rng)
        assert lines(resumed) == lines(whole)
        assert len(first.selected_) > 32
    assert sum(d.event == "evicted" for d in whole.ledger_) >= 15


# ------------------------------------------------------------------------------------ codes


@pytest.mark.parametrize("bins", [2, 5, 33, 40, 100])
@pytest.mark.parametrize("form", FORMS)
def test_columns_with_many_values_are_cut_wherever_their_zeros_lie(form, bins):
    rng = np.random.default_rng(6)
    n = 200
    y = rng.integers(0, 3, n)
    signal = y + rng.normal(size=(6, n))
    zero_share = np.array([0.0, 0.5, 0.5, 0.7, 0.1, 0.5])[:, None]
    signal[1], signal[2] = np.abs(signal[1]), -np.abs(signal[2])
    signal[5] = np.round(signal[5], 1)
    X = (signal * (rng.random((6, n)) >= zero_share)).T
    for measure in ("su", "mutual_info"):
        sieve = offered(ss.SAOLA(measure=measure, bins=bins).begin(y), X, rng, (form,))
        equal_twin(sieve, saola(X, y, "multiclass", measure=measure, bins=bins), what=measure)


def test_32_values_are_codes_and_33_are_cut():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 330)
    codes_32, codes_33 = np.arange(330.0) % 32, np.arange(330.0) % 33
    for x, codes in ((codes_32, codes_32), (codes_33, cut(codes_33, 5))):
        (found,) = ss.SAOLA(measure="mutual_info").begin(y).offer(x)
        assert found.statistic == pytest.approx(entropies(codes, y)[2], abs=1e-12)


def test_codes_are_names_so_renaming_them_changes_nothing():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, 80)
    X = rng.integers(0, 4, (80, 20)) * (rng.random((80, 20)) < 0.6) + (y[:, None] == rng.integers(0, 3, 20))
    renamed = np.array([7.5, -3.0, 0.0, 1e9, 2.0, 11.0])[X.astype(int)]
    for measure in ("su", "mutual_info"):
        plain = ss.SAOLA(measure=measure).fit(X, y)
        other = ss.SAOLA(measure=measure).fit(renamed, y)
        assert lines(plain) == lines(other)
        assert len(plain.selected_) > 1


# ------------------------------------------------------------------------------------ ties


@pytest.mark.parametrize("form", FORMS)
def test_fisher_z_rejects_duplicates_negatives_and_multiples(form):
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 50)
    x = (y + rng.normal(size=50)) * (rng.random(50) < 0.8)
    X = np.column_stack([x, x, -x, 8 * x, -0.3 * x])
    sieve = offered(ss.SAOLA(alpha=0.5).begin(y), X, rng, (form,))
    assert lines(sieve) == [
        (0, "kept", "relevant", ()),
        *((j, "rejected", "redundant", (0,)) for j in range(1, 5)),
    ]
    np.testing.assert_allclose([d.statistic for d in sieve.ledger_][1:], 1.0, atol=1e-12)


@pytest.mark.parametrize("measure", ["su", "mutual_info"])
def test_codes_leave_their_equals_alone(measure):
    rng = np.random.default_rng(10)
    y = rng.integers(0, 2, 50)
    x = np.where(rng.random(50) < 0.2, 1 - y, y).astype(float)
    sieve = ss.SAOLA(measure=measure).fit(np.column_stack([x, x, -x, 1 - x]), y)
    assert sieve.selected_.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("value", [0.0, -0.0, 0.1, -7.3, OFFSET + 0.1, 5e-324])
@pytest.mark.parametrize("form", FORMS)
def test_a_constant_is_constant_at_any_height_and_one_odd_row_is_not(form, value):
    y = np.tile([0, 1], 11)
    constant = np.full(22, value)
    odd = constant.copy()
    odd[3] += 1.0
    for measure in MEASURES:
        rng = np.random.default_rng(11)
        sieve = offered(ss.SAOLA(measure=measure).begin(y), np.column_stack([constant, odd]), rng, (form,))
        assert [d.reason == "constant" for d in sieve.ledger_] == [True, False]


# ------------------------------------------------------------------------------------ modes and bounds


def columns_with_correlations(R, n=40):
    """Return vectors over n rows, without mean, whose correlations are exactly those of R."""
    Z = orthogonal(np.random.default_rng(12), n, len(R))
    return Z @ np.linalg.cholesky(R).T


#: The target, a weak column, a strong one, and a doomed one between them.
PITFALL = np.array([
    [1.0, 0.4, 0.8, 0.6],
    [0.4, 1.0, 0.3, 0.5],  # weak: falls to the doomed one, .5 >= .4
    [0.8, 0.3, 1.0, 0.7],  # strong: does not touch the weak one, .3 < .4
    [0.6, 0.5, 0.7, 1.0],  # doomed: falls to the strong one, .7 >= .6
])  # fmt: skip


@pytest.mark.parametrize("form", ["row by row", "all stored"])
def test_paper_mode_loses_a_column_to_a_doomed_one_and_two_phase_does_not(form):
    y, *X = columns_with_correlations(PITFALL).T
    X, rng = np.column_stack(X), np.random.default_rng(0)
    paper = offered(ss.SAOLA(alpha=0.5).begin(y), X, rng, (form,))
    assert paper.selected_.tolist() == [1]
    assert lines(paper)[2:] == [(0, "evicted", "redundant", (2,)), (2, "rejected", "redundant", (1,))]
    careful = offered(ss.SAOLA(alpha=0.5, mode="two_phase").begin(y), X, rng, (form,))
    assert careful.selected_.tolist() == [0, 1]
    assert lines(careful)[2:] == [(2, "rejected", "redundant", (1,))]


def test_paper_mode_loses_codes_to_a_doomed_one_and_two_phase_does_not():
    """The same with symmetric uncertainty: found among small tables, then checked step by step."""
    rng = np.random.default_rng(13)
    for _ in range(2000):
        y = rng.integers(0, 2, 24)
        X = np.where(rng.random((24, 3)) < rng.random(3) * 0.5, 1 - y[:, None], y[:, None]).astype(float)
        _, decisions = saola(X, y, "binary", measure="su")
        if [d.event for d in decisions] == ["kept", "kept", "evicted", "rejected"]:
            break
    else:
        pytest.fail("no example was found")
    assert ss.SAOLA(measure="su").fit(X, y).selected_.tolist() == [1]
    assert ss.SAOLA(measure="su", mode="two_phase").fit(X, y).selected_.tolist() == [0, 1]


@pytest.mark.parametrize("mode", ["paper", "two_phase"])
@pytest.mark.parametrize("bound", ["min", "max"])
@pytest.mark.parametrize("measure", MEASURES)
def test_no_selected_column_dominates_another(measure, bound, mode):
    rng = np.random.default_rng(14)
    limit = {"min": min, "max": max}[bound]
    compared = 0
    for _ in range(25):
        y = rng.integers(0, 2, 40)
        X = columns(rng, y, 25, far=False)
        sieve = ss.SAOLA(alpha=0.3, measure=measure, bound=bound, mode=mode).fit(X, y)
        chosen = [X[:, j] for j in sieve.selected_]
        dependence = [abs(d.statistic) for d in _last_kept(sieve)]
        for i, a in enumerate(chosen):
            for j in range(i):
                pair = _dependence(measure, a, chosen[j])
                least = limit(dependence[i], dependence[j])
                tied = abs(dependence[i] - dependence[j]) <= 1e-9
                allowed = measure != "fisher_z" and tied
                assert allowed or pair < least + 1e-9, (pair, least)
                compared += 1
    assert compared > 50


def _last_kept(sieve):
    by_feature = {d.feature: d for d in sieve.ledger_ if d.event == "kept"}
    return [by_feature[f"x{j}"] for j in sieve.selected_]


def _dependence(measure, a, b):
    if measure == "fisher_z":
        return abs(np.corrcoef(a, b)[0, 1])
    a, b = (cut(x, 5) if len(set(x)) > 32 else x for x in (a, b))
    h_a, h_b, information = entropies(a, b)
    return information if measure == "mutual_info" else 2 * information / (h_a + h_b)


def _relevant(sieve):
    return {d.feature for d in sieve.ledger_ if d.reason not in {"irrelevant", "constant", "unreliable test"}}


@pytest.mark.parametrize("task", TASKS)
def test_a_larger_alpha_never_makes_fewer_columns_relevant(task):
    rng = np.random.default_rng(15)
    for _ in range(20):
        y = target(rng, task, 40)
        X = columns(rng, y, 30, far=False)
        relevant = [
            _relevant(ss.SAOLA(alpha=a).fit(X, y)) for a in (1e-12, 1e-3, 0.01, 0.05, 0.3, 0.9, 0.999)
        ]
        assert all(a <= b for a, b in pairwise(relevant))
        assert len(relevant[0]) < len(relevant[-1])


@pytest.mark.parametrize("measure", ["su", "mutual_info"])
def test_a_larger_delta_never_makes_more_columns_relevant(measure):
    rng = np.random.default_rng(16)
    for _ in range(20):
        y = rng.integers(0, 3, 40)
        X = columns(rng, y, 30, far=False)
        relevant = [
            _relevant(ss.SAOLA(measure=measure, delta=d).fit(X, y)) for d in (0.0, 0.01, 0.05, 0.2, 0.8)
        ]
        assert all(a >= b for a, b in pairwise(relevant))
        assert len(relevant[0]) > len(relevant[-1])


def test_the_larger_bound_keeps_at_least_as_many_of_two_columns():
    rng = np.random.default_rng(17)
    differ = 0
    for _ in range(200):
        y = rng.normal(size=30)
        X = y[:, None] + rng.normal(size=(30, 2)) + rng.normal(size=(30, 1))
        small, large = (ss.SAOLA(alpha=0.5, bound=b).fit(X, y).selected_ for b in ("min", "max"))
        assert set(small) <= set(large)
        differ += len(large) > len(small)
    assert differ > 10


# ------------------------------------------------------------------------------------ few rows


@pytest.mark.parametrize("n", [2, 3])
def test_without_degrees_of_freedom_nothing_is_relevant_by_correlation(n):
    y = np.array([0, 1, 1])[:n]
    X = np.column_stack([y, 1 - y, np.arange(n)]).astype(float)
    for form in SPARSE.values():
        assert ss.SAOLA(alpha=0.99).begin(y).offer(form(X))[0].event == "rejected"
    assert ss.SAOLA(alpha=0.99).fit(X, y).selected_.tolist() == []
    assert ss.SAOLA(alpha=0.99).begin(y).offer(X[:, 0])[0].reason == "unreliable test"


def test_classes_of_one_row_each_leave_nothing_to_test():
    y = np.arange(5)
    sieve = ss.SAOLA(alpha=0.99).fit(np.column_stack([y, np.ones(5), y**2]).astype(float), y)
    assert [str(d.reason) for d in sieve.ledger_] == ["unreliable test", "constant", "unreliable test"]
