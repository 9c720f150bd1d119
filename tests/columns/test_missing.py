"""Missing values: OSFS, Fast-OSFS and SAOLA over pairwise-complete rows decide as their slow twins do."""

from collections import Counter
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import streamsieve as ss
from streamsieve.exceptions import StateError
from streamsieve.independence.correlation_p_values import p_value_given
from streamsieve.independence.online_fdr import RULES
from tests.columns.streams import (
    FORMS,
    TASKS,
    as_numbers,
    by_t,
    columns,
    equal_twin,
    equal_twins,
    lines,
    offered,
    reloaded,
    rows,
    target,
    with_missing,
    woven,
)
from tests.helpers.tier import cases
from tests.real_data import load_real
from tests.reference import fisher_z, online_fdr
from tests.reference.fast_osfs import fast_osfs
from tests.reference.osfs import osfs
from tests.reference.paired_partial import PairedPartialCorrelations
from tests.reference.paired_saola import paired_saola

TWINS = {ss.OSFS: osfs, ss.FastOSFS: fast_osfs}
BLANKETS = pytest.mark.parametrize("cls", TWINS, ids=lambda cls: cls.__name__)
EVERY = pytest.mark.parametrize("cls", [*TWINS, ss.SAOLA], ids=lambda cls: cls.__name__)
AND_TOP_K = pytest.mark.parametrize("cls", [*TWINS, ss.SAOLA, ss.TopK], ids=lambda cls: cls.__name__)


def by_twin(cls, X, y, task, *, max_conditioning=3, **parameters):
    if cls is ss.SAOLA:
        return paired_saola(X, y, task, **parameters)
    return TWINS[cls](PairedPartialCorrelations(X, y, task, **parameters), X.shape[1], max_conditioning)


def random_parameters(rng, cls):
    alpha = {"alpha": float(rng.choice([0.01, 0.05, 0.2, 0.6]))}
    if cls is ss.TopK:
        return alpha | {"k": int(rng.choice([1, 3, 20])), "redundancy_weight": float(rng.choice([0, 0.3, 1]))}
    if cls is ss.SAOLA:
        return alpha | {
            "bound": str(rng.choice(["min", "max"])),
            "variant": str(rng.choice(["paper", "corrected"])),
        }
    return alpha | {
        "unreliable": str(rng.choice(["independent", "skip"])),
        "max_conditioning": int(rng.integers(0, 4)),
    }


@EVERY
@pytest.mark.parametrize("task", TASKS)
def test_random_streams_in_mixed_blocks_equal_the_twin(cls, task):
    seen = equal_twins(
        partial(cls, missing="omit"), partial(by_twin, cls), [task], 60, (4, 16),
        partial(random_parameters, cls=cls), change=with_missing,
        p_values=lambda y, task: cls is not ss.SAOLA or len(y) > 6,
    )  # fmt: skip
    assert min(seen["evicted", "redundant"], seen["rejected", "redundant"]) >= 3, seen
    assert min(seen["rejected", "unreliable test"], seen["rejected", "constant"]) >= 20, seen


@BLANKETS
@pytest.mark.parametrize("task", TASKS)
def test_sets_of_one_two_and_three_columns_are_found_as_the_twin_finds_them(cls, task):
    rng = np.random.default_rng(1)
    sizes = Counter()
    for case in range(16):
        X, y = woven(rng, task, int(rng.integers(60, 160)), noise=rng.choice([0.0, 0.3], 9))
        X = with_missing(rng, X, (0.0, 0.05, 0.2, 0.4))
        parameters = {"alpha": float(rng.choice([0.01, 0.05]))}
        twin = by_twin(cls, X, y, task, **parameters)
        equal_twin(offered(by_t(cls(missing="omit", **parameters)).begin(y), X, rng), twin, what=case)
        sizes.update(len(line.by) for line in twin[1])
    assert {1, 2} <= set(sizes), sizes


@BLANKETS
@pytest.mark.parametrize("task", TASKS)
def test_rows_added_in_blocks_decide_as_all_rows_at_once(cls, task):
    rng = np.random.default_rng(20)
    sizes = Counter()
    for case, n in enumerate((512, 513, 3000, 500, 1100, 5200)[: cases(6, 3)]):
        X, y = woven(rng, task, n)
        order = np.argsort(y if case % 2 else X[:, 0], kind="stable")  # whole blocks of one class
        X, y = with_missing(rng, X, (0.0, 0.05, 0.2, 0.6))[order], y[order]
        twin = by_twin(cls, X, y, task, alpha=0.01)
        sieve = by_t(cls(0.01, missing="omit")).begin(y, serial=False)
        equal_twin(offered(sieve, X, rng), twin, what=case)
        sizes.update(len(line.by) for line in twin[1])
    assert {1, 2} <= set(sizes), sizes


def contradictory(rng, task, n=120):
    """Return columns that are sums of two others, each seen in rows of its own."""
    parts = rng.normal(size=(n, 2))
    X = parts @ np.array([[1.0, 0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 1.0, -1.0, 1.0]])
    y = parts @ [1.0, 2.0] + 0.3 * rng.normal(size=n)
    cuts = {"binary": [0.5], "multiclass": [0.2, 0.5, 0.8]}.get(task)
    y = y if cuts is None else np.searchsorted(np.quantile(y, cuts), y)
    return np.where(rng.random(X.shape) < 0.3, np.nan, X), y


@BLANKETS
@pytest.mark.parametrize("task", TASKS)
def test_correlations_that_contradict_each_other_are_answered_as_by_the_twin(cls, task):
    rng = np.random.default_rng(2)
    for case in range(12):
        X, y = contradictory(rng, task)
        twin = by_twin(cls, X, y, task, alpha=0.2)
        equal_twin(offered(by_t(cls(0.2, missing="omit")).begin(y), X, rng), twin, what=case)


def test_a_separating_set_has_the_p_value_of_a_regression_over_complete_rows():
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed: no oracle")
    rng, compared = np.random.default_rng(23), 0
    for _ in range(20):
        X, y = woven(rng, "regression", 200)
        X = with_missing(rng, X, (0.1, 0.2))
        names = np.array([f"x{j}" for j in range(X.shape[1])])
        sieve = ss.FastOSFS(missing="omit").fit(X, y)
        lost = 200 - sieve._process_.test.complete.freedom()
        for d in sieve.ledger_:
            if len(d.by) >= 2:
                members = [*np.flatnonzero(np.isin(names, d.by)), *np.flatnonzero(names == d.feature)]
                rows = ~np.isnan(X[:, members]).any(axis=1)
                fit = sm.OLS(y[rows], sm.add_constant(X[np.ix_(rows, members)])).fit()
                t = fit.tvalues[-1]
                r = np.sqrt(t**2 / (t**2 + fit.df_resid))
                assert d.statistic == pytest.approx(r, abs=1e-8)
                freedom = rows.sum() - len(d.by) - lost
                assert d.p_value == pytest.approx(p_value_given(r, freedom), rel=1e-6)
                compared += 1
    assert compared >= 10


def kept_although_independent(rng, n, alpha, hide):
    """Return whether x stays that depends on y through two other columns alone."""
    Z = rng.normal(size=(n, 2))
    y = Z.sum(axis=1) + rng.normal(size=n)
    x = Z.sum(axis=1) + rng.normal(size=n)
    X = np.column_stack([Z, np.where(hide(rng, x, y, Z), np.nan, x)])
    return 2 in ss.FastOSFS(alpha, missing="omit").fit(X, y).selected_


@pytest.mark.parametrize(
    "hide",
    [
        lambda rng, x, y, Z: y > 0.4,
        lambda rng, x, y, Z: Z[:, 0] > 0.3,
        lambda rng, x, y, Z: x > 0.5,
        lambda rng, x, y, Z: rng.random(len(y)) < 0.4,
    ],
    ids=["by the target", "by the set", "by itself", "at random"],
)
def test_tests_given_two_columns_keep_their_level_whatever_one_variable_hides(hide):
    """A pairwise correlation matrix keeps x in 10 % of the runs where missingness depends on the target."""
    rng = np.random.default_rng(19)
    assert sum(kept_although_independent(rng, 300, 0.01, hide) for _ in range(400)) <= 8


@EVERY
@pytest.mark.parametrize("form", FORMS)
def test_one_form_of_blocks_equals_the_twin(cls, form):
    equal_twins(
        partial(cls, missing="omit"), partial(by_twin, cls), TASKS, 6, (10, 11), lambda rng: {"alpha": 0.2},
        seed=3, forms=(form,), far=False, change=with_missing, n_rows=lambda rng, task: rows(rng, task) + 5,
    )  # fmt: skip


def same_numbers(one, other):
    np.testing.assert_allclose(
        [d.statistic for d in one.ledger_], [d.statistic for d in other.ledger_], rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        [d.p_value for d in one.ledger_], [d.p_value for d in other.ledger_], rtol=1e-6, atol=1e-6
    )


@AND_TOP_K
@pytest.mark.parametrize("task", TASKS)
def test_without_missing_values_omitting_changes_nothing(cls, task):
    rng = np.random.default_rng(4)
    for case in range(cases(40)):
        y = target(rng, task, rows(rng, task))
        X = columns(rng, y, int(rng.integers(1, 15)), far=case % 3 == 0)
        if case % 4 == 0:
            X, y = woven(rng, task, 100)
        parameters = random_parameters(rng, cls)
        plain = offered(as_numbers(cls(**parameters)).begin(y), X, rng)
        careful = offered(cls(**parameters, missing="omit").begin(y), X, rng)
        assert lines(plain) == lines(careful), (case, parameters)
        same_numbers(plain, careful)


@EVERY
@pytest.mark.parametrize("name", ["spambase", "leukemia_golub_raw"])
def test_without_missing_values_omitting_changes_nothing_on_real_data(cls, name):
    X, y = load_real(name)
    plain, careful = as_numbers(cls()).fit(X, y), cls(missing="omit").fit(X, y)
    assert lines(plain) == lines(careful)
    same_numbers(plain, careful)


def near_copies(rng, n, r=0.949):
    """Return a target, and two columns of which the second knows it through the first alone."""
    x = rng.normal(size=n)
    X = np.column_stack([x, r * x + np.sqrt(1 - r**2) * rng.normal(size=n)])
    return X, x + 0.5 * rng.normal(size=n)


def with_means(X):
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def test_near_copies_keep_their_correlation_where_filled_in_means_lose_it():
    rng = np.random.default_rng(5)
    X, y = near_copies(rng, 20_000)
    holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    pair = (
        ss.FastOSFS(max_conditioning=0, missing="omit").fit(holes, y)._process_.rule.slots["pairs"][0, 0, 1]
    )
    assert pair == pytest.approx(0.949, abs=0.005)
    top = ss.TopK(k=2, missing="omit").fit(holes, y)._process_.rule.slots["pairs"][0, 1]
    assert top == pytest.approx(0.949, abs=0.005)
    filled = (
        ss.FastOSFS(max_conditioning=0, test="fisher_z")
        .fit(with_means(holes), y)
        ._process_.rule.slots["total"][0, 1]
    )
    assert filled == pytest.approx(0.663, abs=0.015)


@EVERY
@pytest.mark.parametrize("r", [0.949, 0.999])
def test_near_copies_are_dropped_where_filled_in_means_keep_both(cls, r):
    rng = np.random.default_rng(6)
    dropped = filled = 0
    for _ in range(40):
        X, y = near_copies(rng, 1000, r)
        holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
        dropped += len(cls(missing="omit").fit(holes, y).selected_) == 1
        filled += len(cls().fit(with_means(holes), y).selected_) == 1
    assert dropped >= 38
    assert filled <= 2


@BLANKETS
def test_of_copies_with_missing_values_one_stays(cls):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 80)
    x = y + rng.normal(size=80)
    X = np.where(rng.random((80, 4)) < 0.3, np.nan, np.column_stack([x, x, -x, 8 * x + 3]))
    sieve = offered(cls(alpha=0.2, missing="omit").begin(y), X, rng)
    assert sieve.selected_.tolist() == ([0] if cls is ss.FastOSFS else [3])
    assert sum(d.reason == "collinear" for d in sieve.ledger_) == 3


@BLANKETS
def test_missing_values_do_not_make_noise_relevant_nor_copies_dependent(cls):
    """Tests keep their level: of columns that know y through another alone, about alpha stay."""
    rng = np.random.default_rng(9)
    kept = 0
    for _ in range(200):
        X, y = near_copies(rng, 200, r=0.8)
        X = np.where(rng.random(X.shape) < 0.3, np.nan, X)
        store = cls(alpha=0.05, missing="omit", max_conditioning=0).fit(X, y)._process_.rule
        rows = store.slots["joint"][0, 1]
        p_value = p_value_given(store.slots["pairs"][2, 1, 0], rows - 3, store.test.complete.n_contrasts)
        kept += p_value <= 0.05
    assert 2 <= kept <= 20


@BLANKETS
def test_sets_with_few_complete_rows_end_it_or_are_passed_over(cls):
    rng = np.random.default_rng(10)
    y = rng.normal(size=60)
    X = y[:, None] + 0.3 * rng.normal(size=(60, 2))
    X[:28, 0] = X[31:, 1] = np.nan  # three complete rows
    strict = cls(missing="omit", unreliable="independent").fit(X, y)
    (verdict,) = [d for d in strict.ledger_ if d.reason == "unreliable test"]
    assert verdict.by == (("x0",) if cls is ss.FastOSFS else ("x1",))
    assert verdict.p_value == 1
    assert len(strict.selected_) == 1
    assert cls(missing="omit").fit(X, y).selected_.tolist() == [0, 1]


@BLANKETS
def test_complete_rows_of_one_class_test_nothing(cls):
    rng = np.random.default_rng(11)
    thirds = np.arange(90) // 30
    for y in (thirds, thirds == 1):
        X = y[:, None] + 0.3 * rng.normal(size=(90, 2))
        X[60:, 0] = X[:30, 1] = np.nan
        strict = cls(missing="omit", unreliable="independent").fit(X, y)
        assert [str(d.reason) for d in strict.ledger_ if d.by] == ["unreliable test"]
        assert cls(missing="omit").fit(X, y).selected_.tolist() == [0, 1]


@EVERY
def test_columns_with_too_few_rows_or_one_class_are_unreliable(cls):
    rng = np.random.default_rng(12)
    y = np.arange(40) % 2
    X = y[:, None] + 0.1 * rng.normal(size=(40, 4))
    X[3:, 0] = np.nan
    X[y == 1, 1] = np.nan
    X[:, 2] = np.nan
    for form in (np.asarray, sp.csc_array):
        sieve = cls(missing="omit").fit(form(X), y)
        assert [str(d.reason) for d in sieve.ledger_] == ["unreliable test"] * 3 + ["relevant"]
        assert sieve.transform(X).shape == (40, 1)


def test_pairs_have_the_p_values_of_their_complete_rows():
    rng = np.random.default_rng(13)
    X, y = near_copies(rng, 30, 0.99)
    X[:10, 0] = X[14:18, 1] = np.nan
    sieve = ss.SAOLA(alpha=0.5, missing="omit").fit(X, y)
    (verdict,) = [d for d in sieve.ledger_ if d.by]
    assert verdict.p_value == pytest.approx(fisher_z.p_value(verdict.statistic, 30 - 14), rel=1e-9)


class Gated:
    """A judge whose relevance is what passes the levels of a rule."""

    def __init__(self, judge, discrete, rule, alpha, lag):
        self.given, self.in_turn = judge.given, judge.in_turn
        alone = [judge.relevance(j) for j in range(len(discrete))]
        tested = [j for j, (reason, *_) in enumerate(alone) if reason in (None, "irrelevant")]
        p_values, discrete = [alone[j][2] for j in tested], [discrete[j] for j in tested]
        found = [f for _, f in online_fdr.levels(p_values, rule, alpha, lag, discrete)]
        words = {j: None if f else "irrelevant" for j, f in zip(tested, found, strict=True)}
        self.answers = [(words.get(j, reason), *rest) for j, (reason, *rest) in enumerate(alone)]

    def relevance(self, j):
        return self.answers[j]


@BLANKETS
def test_a_blanket_behind_a_gate_is_the_blanket_of_what_passes(cls):
    rng = np.random.default_rng(14)
    entered = 0
    for case in range(12):
        rule, lag = list(RULES)[case % len(RULES)], (0, 2, 0, 1)[case % 4]
        task = TASKS[case % 3]
        y = target(rng, task, int(rng.integers(30, 60)))
        X = with_missing(rng, columns(rng, y, 20, far=False), (0.0, 0.1, 0.4, 0.95))
        discrete = online_fdr.discrete_columns(X, y)
        judge = Gated(PairedPartialCorrelations(X, y, task, alpha=0.4), discrete, rule, 0.4, lag)
        twin = TWINS[cls](judge, 20)
        sieve = offered(cls(0.4, missing="omit", fdr=rule, lag=lag, p_value="t").begin(y), X, rng)
        equal_twin(sieve, twin, what=case)
        entered += sum(line.event != "evicted" and line.reason != "irrelevant" for line in twin[1])
    assert entered > 25


def test_pairs_behind_a_gate_are_the_pairs_of_what_passes():
    rng = np.random.default_rng(15)
    entered = 0
    for case in range(12):
        rule, lag = list(RULES)[case % len(RULES)], (0, 2, 0, 1)[case % 4]
        y = target(rng, TASKS[case % 3], int(rng.integers(30, 60)))
        X = with_missing(rng, columns(rng, y, 20, far=False), (0.0, 0.1, 0.4, 0.95))
        alone = ss.TopK(k=99, redundancy_weight=0, alpha=0.4, missing="omit", p_value="t").fit(X, y).ledger_
        tested = [d for d in alone if d.reason not in {"constant", "unreliable test"}]
        every = online_fdr.discrete_columns(X, y)
        p_values, discrete = [d.p_value for d in tested], [every[d.step] for d in tested]
        found = [f for _, f in online_fdr.levels(p_values, rule, 0.4, lag, discrete)]
        passed = np.array([d.step for d, f in zip(tested, found, strict=True) if f], np.int64)
        sieve = offered(ss.SAOLA(0.4, missing="omit", fdr=rule, lag=lag, p_value="t").begin(y), X, rng)
        inner = ss.SAOLA(0.999, missing="omit", p_value="t").begin(y)
        if len(passed):
            inner.offer(X[:, passed])
        assert sieve.selected_.tolist() == passed[inner.selected_].tolist(), case
        entered += len(passed)
    assert entered > 25


def growing(rng, most=40):
    """Return a stream in which many are kept, some are evicted, and their slots are taken again."""
    Z = rng.normal(size=(4 * most, most + 15))
    Q = np.linalg.qr(Z - Z.mean(axis=0))[0]
    y = Q[:, : most + 5].sum(axis=1) + 0.01
    pairs = [Q[:, low] + Q[:, low + 1] + 0.1 * Q[:, -1 - low % 9] for low in range(0, most // 2, 2)]
    X = np.column_stack([Q[:, :most], *pairs, Q[:, most : most + 5], -Q[:, :5]])
    return np.where(rng.random(X.shape) < rng.choice([0, 0.03], X.shape[1]), np.nan, X), y


@EVERY
def test_stores_grow_and_slots_of_evicted_columns_are_taken_again(cls):
    rng = np.random.default_rng(16)
    pairs = cls is ss.SAOLA
    X, y = growing(rng, 40 if pairs else 22)
    parameters = {"alpha": 0.5} if pairs else {"alpha": 0.5, "max_conditioning": 1}
    twin = by_twin(cls, X, y, "regression", **parameters)
    assert sum(line.event == "kept" for line in twin[1]) > (33 if pairs else 17)
    assert sum(line.event == "evicted" for line in twin[1]) >= 5
    for form in ("row by row", "csc_array", "one by one"):
        sieve = cls(missing="omit", **parameters).begin(y)
        equal_twin(offered(sieve, X, rng, (form,)), twin, what=form)
    equal_twin(cls(missing="omit", **parameters).fit(X, y), twin, what="fit")


@AND_TOP_K
@pytest.mark.parametrize("task", TASKS)
def test_a_run_with_missing_values_is_resumed(cls, task):
    rng = np.random.default_rng(17)
    for many in (True, False):
        X, y = growing(rng) if many else contradictory(rng, task, 60)
        if many and task != "regression":
            y = np.searchsorted(np.quantile(y, [0.5] if task == "binary" else [0.3, 0.7]), y)
        sieve = cls(alpha=0.5, missing="omit")
        sieve = sieve.set_params(max_conditioning=2) if cls in TWINS else sieve
        half = X.shape[1] // 2
        whole = offered(clone(sieve).begin(y), X, rng)
        resumed = offered(reloaded(offered(clone(sieve).begin(y), X[:, :half], rng)), X[:, half:], rng)
        assert lines(resumed) == lines(whole)
        same_numbers(resumed, whole)


@EVERY
def test_a_store_of_complete_pairs_belongs_to_a_selector_that_omits(cls):
    rng = np.random.default_rng(18)
    X, y = near_copies(rng, 60)
    for mine, other in (("omit", "refuse"), ("refuse", "omit")):
        sieve = as_numbers(cls(missing=mine)).fit(X, y)
        sieve.missing = other
        with pytest.raises(StateError, match="does not go with the parameters"):
            reloaded(sieve)


def test_classes_that_are_not_one_a_row_are_refused():
    rng = np.random.default_rng(21)
    y = np.arange(30) % 3
    sieve = ss.SAOLA(missing="omit").fit(y[:, None] + rng.normal(size=(30, 2)), y)
    sieve._process_.test.complete.labels = sieve._process_.test.labels[:-1]
    with pytest.raises(StateError, match="classes|labels"):
        reloaded(sieve)


@AND_TOP_K
def test_nan_is_refused_unless_asked_for_and_infinity_always(cls):
    rng = np.random.default_rng(22)
    y, X = rng.integers(0, 2, 40), rng.normal(size=(40, 3))
    X[5, 1] = np.nan
    assert cls(missing="omit").traits.missing
    assert not cls().traits.missing
    with pytest.raises(ValueError, match="x1"):
        cls().fit(X, y)
    cls(missing="omit").fit(X, y)
    X[7, 2] = np.inf
    for form in (np.asarray, sp.csc_array):
        with pytest.raises(ValueError, match="'x2' holds inf"):
            cls(missing="omit").fit(form(X), y)
