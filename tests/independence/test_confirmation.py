"""Confirmed p-values: equal to their twin, exact where an exact test exists, and their sizes hold."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats

import streamsieve as ss
from streamsieve._kernels import confirmation as kernel
from streamsieve.independence import FisherZ, confirmation, permuted_targets
from streamsieve.independence.complete_pairs import CompletePairsFisherZ
from streamsieve.independence.table_p_values import fisher
from streamsieve.protocols import Task
from tests.helpers.tier import cases
from tests.reference import confirmed as twin

FORMS = {"dense": np.ascontiguousarray, "columns": np.asfortranarray, "sparse": sp.csc_array}

#: Families of columns, of n rows each.
COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: np.exp(1.5 * rng.normal(size=n)),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
    "Pareto": lambda rng, n: rng.pareto(1.5, n),
    "contaminated": lambda rng, n: rng.normal(size=n) + 50 * (rng.random(n) < 0.03),
    "one outlier": lambda rng, n: rng.normal(size=n) + 100 * (np.arange(n) == rng.integers(n)),
    "zero-inflated counts": lambda rng, n: (rng.random(n) < 0.1) * (1.0 + rng.poisson(1, n)),
    "zero-inflated amounts": lambda rng, n: (rng.random(n) < 0.15) * np.exp(rng.normal(size=n)),
    "rounded": lambda rng, n: np.round(np.exp(1.5 * rng.normal(size=n))) - 1,
    "bounded": lambda rng, n: rng.beta(0.3, 3, n),
    "rare bits": lambda rng, n: (rng.random(n) < 0.05) * 1.0,
    "bits": lambda rng, n: rng.integers(0, 2, n) * 3.0 - 1,
    "few levels": lambda rng, n: rng.integers(-1, 2, n) * 1.0,
}


def classes(*shares):
    def draw(rng, n):
        sizes = np.maximum(1, np.round(np.array(shares) * n).astype(int))
        sizes[0] += n - sizes.sum()
        return rng.permutation(np.repeat(np.arange(len(sizes)), sizes))

    return draw


#: Families of targets.
TARGETS = {
    "two classes": (Task.BINARY, classes(0.5, 0.5)),
    "a quarter": (Task.BINARY, classes(0.75, 0.25)),
    "a rare class": (Task.BINARY, classes(0.95, 0.05)),
    "three classes": (Task.MULTICLASS, classes(0.4, 0.3, 0.3)),
    "three classes, two rare": (Task.MULTICLASS, classes(0.9, 0.06, 0.04)),
    **{
        name: (Task.REGRESSION, COLUMNS[name])
        for name in (
            "normal",
            "lognormal",
            "Cauchy",
            "one outlier",
            "zero-inflated amounts",
            "bits",
            "rounded",
        )
    },
}


def draws(target, seed, number, rows=(8, 60)):
    """Yield columns of all families, some of them associated with the target, and the target."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        n = int(rng.integers(*rows))
        task, draw = TARGETS[target]
        y = draw(rng, n)
        columns = [make(rng, n) for make in COLUMNS.values()]
        columns += [np.where(rng.random(n) < 0.8, np.sort(x)[np.argsort(np.argsort(y))], x) for x in columns]
        X = np.column_stack(columns)
        X = X[:, np.ptp(X, axis=0) > 0]
        if np.ptp(y) > 0:
            yield X, y, task


@pytest.fixture
def closed_forms(monkeypatch):
    """No permutations of the target; those are in test_permuted_targets.py."""
    monkeypatch.setattr(permuted_targets, "MOST_VALUES", 0)


@pytest.mark.usefixtures("closed_forms")
@pytest.mark.parametrize("online", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_p_values_equal_the_twin(target, online):
    changed = 0
    for X, y, task in draws(target, 0, cases(10, 4)):
        wanted = [twin.p_value(column, y, str(task), online=online) for column in X.T]
        for form in FORMS.values():
            test = FisherZ(y, task, 0.5, online=online)
            found = test.measure(form(X))
            p, t = np.asarray(found.p_value), test.p_values(found.statistic)
            for j in range(X.shape[1]):
                if abs(found.statistic[j]) < 1 - 1e-9 and (t[j] <= 0.5 or online):
                    assert p[j] == pytest.approx(wanted[j], rel=1e-7, abs=1e-14), (j, t[j])
                assert (found.reason[j] == 0) == (p[j] <= 0.5)
            changed += np.sum(p != t)
    assert changed > 0 or target == "normal"


@pytest.mark.usefixtures("closed_forms")
@pytest.mark.parametrize("target", TARGETS)
def test_columns_with_missing_values_are_confirmed_over_the_rows_that_are_observed(target):
    rng = np.random.default_rng(1)
    for X, y, task in draws(target, 1, cases(10), (20, 40)):
        X[rng.random(X.shape) < 0.2] = np.nan
        test = CompletePairsFisherZ(FisherZ(y, task, 0.5), observed_classes=True)
        found = test.measure(X)
        p = np.asarray(found.p_value)
        for j in range(X.shape[1]):
            seen = ~np.isnan(X[:, j])
            x, some = X[seen, j], y[seen]
            left = len(np.unique(some))
            if len(x) < len(y) and np.ptp(x) > 0 and left > 1 and len(x) > left + 1:
                kind = "binary" if task is Task.MULTICLASS and left == 2 else str(task)
                t = twin.tested(x, np.searchsorted(np.unique(some), some) if kind == "binary" else some,
                                many=kind == "multiclass", given=0)  # fmt: skip
                if t <= 0.5 and abs(found.statistic[j]) < 1 - 1e-9:
                    assert p[j] == pytest.approx(twin.p_value(x, some, kind), rel=1e-7, abs=1e-14), j


def test_fishers_exact_p_values_are_those_of_scipy():
    rng = np.random.default_rng(2)
    for _ in range(cases(1000)):
        n = int(rng.integers(2, 390))
        row, column = rng.integers(1, n, 2).tolist()
        both = int(rng.integers(max(0, row + column - n), min(row, column) + 1))
        table = [[both, row - both], [column - both, n - row - column + both]]
        wanted = scipy.stats.fisher_exact(table)[1]
        found = fisher(n, column, np.array([row]), np.array([both]))
        assert found.tolist() == pytest.approx([wanted], rel=1e-6)


def test_a_copy_of_few_labels_is_judged_by_its_exact_p_value():
    """Eight rows cannot be significant at 1e-6: 2 of the 70 arrangements are as extreme."""
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    sieve = ss.SAOLA(alpha=1e-6).fit(y[:, None] * 1.0, y)
    assert sieve.selected_.tolist() == []
    assert sieve.ledger_[0].p_value == pytest.approx(2 / 70, rel=1e-9)
    assert ss.SAOLA(alpha=1e-6, p_value="z").fit(y[:, None] * 1.0, y).ledger_[0].p_value == 0


@pytest.mark.parametrize("alpha", [1e-6, 0.02])
def test_a_perfect_correlation_of_few_rows_is_one_arrangement_out_of_all(alpha):
    y = np.array([0.3, 1.7, 0.9, 4.2, 2.2])
    least = 1 / math.factorial(5)
    for x in (y, 3 - 2 * y):
        for offered in (x, x[:, None]):
            decision = ss.SAOLA(alpha).begin(y).offer(offered)[0]
            assert decision.p_value == pytest.approx(least)
            assert (decision.event == "kept") == (alpha > least)
    labels = np.array([0, 0, 1, 1, 2, 2])
    measured = FisherZ(labels, Task.MULTICLASS, alpha).measure(labels[:, None] * 2.0)
    # the classes may also change places
    assert np.asarray(measured.p_value)[0] == pytest.approx(6 * 8 / 720)


def test_blocks_single_columns_and_missing_values_have_the_same_p_values():
    for target in ("a rare class", "lognormal", "three classes, two rare"):
        for X, y, task in draws(target, 3, 2, (40, 41)):
            test = FisherZ(y, task, 0.3)
            whole = np.asarray(test.measure(X).p_value)
            again = FisherZ.from_state(test.state())
            assert np.array_equal(np.asarray(again.measure(X).p_value), whole)
            sent = pickle.loads(pickle.dumps(test.measure(X)))  # noqa: S301
            assert np.array_equal(np.asarray(sent.p_value), whole)
            for j in range(X.shape[1]):
                assert np.asarray(test.measure(X[:, [j]]).p_value)[0] == pytest.approx(whole[j], rel=1e-12)
                one = test.measure_one(X[:, j].copy())
                assert one is None or one[2] == pytest.approx(whole[j], rel=1e-9)


@pytest.mark.parametrize(
    ("target", "column"),
    [
        ("a rare class", "lognormal"), ("a rare class", "zero-inflated counts"),
        ("a rare class", "rare bits"),
        ("a quarter", "one outlier"), ("a quarter", "zero-inflated counts"), ("lognormal", "lognormal"),
        ("lognormal", "rare bits"), ("one outlier", "one outlier"),
        ("zero-inflated amounts", "zero-inflated counts"), ("Cauchy", "Pareto"),
        ("three classes, two rare", "zero-inflated amounts"), ("two classes", "bits"), ("normal", "Cauchy"),
    ],
)  # fmt: skip
def test_the_probability_of_a_small_p_value_is_at_most_the_level(target, column):
    """Independent columns; the t test exceeds the level 0.001 by up to 60 times."""
    rng, (task, draw), n, m = np.random.default_rng(4), TARGETS[target], 60, 2000
    counts, total = np.zeros((2, 3)), 0
    levels = np.array([0.05, 0.01, 0.001])
    for _ in range(cases(10, 4)):
        y = draw(rng, n)
        X = np.column_stack([COLUMNS[column](rng, n) for _ in range(m)])
        X = X[:, np.ptp(X, axis=0) > 0]
        total += X.shape[1]
        for i, way in enumerate(("t", "auto")):
            p = np.asarray(FisherZ(y, task, 0.05, p_value=way, online=True).measure(X).p_value)
            counts[i] += [np.sum(p <= level) for level in levels]
    t, confirmed = counts / total
    assert np.all(confirmed <= 1.2 * levels + 4 * np.sqrt(levels / total)), (t, confirmed)
    if target == "a rare class" or (target, column) == ("lognormal", "lognormal"):
        assert t[2] > 3 * levels[2]


def test_online_fdr_keeps_no_more_null_columns_than_promised_of_skewed_data():
    """Amounts against a rare class: by the t test, most streams of 300 null columns have a discovery."""
    rng, kept = np.random.default_rng(5), {"t": 0, "auto": 0}
    runs = cases(60)
    for _ in range(runs):
        y = rng.permutation(np.arange(100) < 5)
        X = np.exp(rng.normal(size=(100, 300)))
        for way in kept:
            kept[way] += len(ss.OnlineFDR(p_value=way, ledger="none").fit(X, y).selected_) > 0
    assert kept["auto"] <= 0.05 * runs + 3 * (0.05 * runs) ** 0.5
    assert kept["t"] > 0.3 * runs


def test_p_values_that_decide_nothing_are_confirmed_on_access():
    """Many rows: hardly a column is in doubt at 0.01, so that t decides; 1e-20 is not its last word."""
    rng = np.random.default_rng(6)
    y = rng.integers(0, 4, 3000) == 0
    X = np.exp(rng.normal(size=(3000, 5))) * (1 + y[:, None])
    X[:, 0] = rng.normal(size=3000) + 8 * y * (rng.random(3000) < 0.06)  # in a few rows
    sieve = ss.OSFS(test="fisher_z", max_conditioning=0).fit(X, y)
    t = ss.OSFS(test="fisher_z", max_conditioning=0, p_value="t").fit(X, y)
    assert sieve.selected_.tolist() == t.selected_.tolist() == [0, 1, 2, 3, 4]
    waiting = sieve._process_.test._confirmation._waiting[0][0]
    assert np.isnan(waiting._known).sum() >= 4
    p = [line.p_value for line in sieve.ledger_]
    online = np.asarray(FisherZ(y, Task.BINARY, 0.01, online=True).measure(X).p_value)
    assert p == pytest.approx(online, rel=1e-9)
    assert np.any(p > np.array([line.p_value for line in t.ledger_]))
    assert len(waiting) == 0


def test_few_values_wait_for_their_p_values(monkeypatch):
    monkeypatch.setattr(confirmation, "MOST_WAITING", 2000)
    rng = np.random.default_rng(7)
    y = rng.integers(0, 4, 500) == 0
    sieve = ss.OSFS(test="fisher_z", max_conditioning=0).begin(y)
    for _ in range(12):
        sieve.offer(np.exp(rng.normal(size=(500, 1))) + 5 * y[:, None])
    waiting = sieve._process_.test._confirmation._waiting
    assert 0 < sum(len(later) for later, _ in waiting) * 500 <= 2000
    copy = pickle.loads(pickle.dumps(sieve))  # noqa: S301
    assert [line.p_value for line in copy.ledger_] == [line.p_value for line in sieve.ledger_]


def test_no_p_value_exceeds_the_level_down_to_which_t_is_trusted():
    """An outlier in column and target: both tests disagree, and t is trusted at 0.05 and not at 1e-6."""
    rng, capped = np.random.default_rng(8), 0
    for _ in range(cases(200)):
        y = rng.normal(size=40) ** 3
        X = rng.normal(size=(40, 50)) ** 3
        test = FisherZ(y, Task.REGRESSION, 0.05, online=True)
        p, t = np.asarray(test.measure(X).p_value), test.p_values(test.measure(X).statistic)
        for j in np.flatnonzero(p > t).tolist():
            targets = [twin.moments(y)]
            assert twin.doubt(p[j] * (1 - 1e-9), twin.moments(X[:, j]), targets, 40, light=True) >= 0.1 - 1e-6
            capped += 1
    assert capped > 5


def test_scores_end_at_values_that_are_no_numbers():
    x = np.array([1.0, np.nan, 2.0])
    found = kernel.fill_scores(x, np.argsort(x), 4, np.arange(12.0), np.empty(3))
    assert np.all(np.isfinite(found))
