"""KSG is scikit-learn's estimate where there are no ties, and its slow twin's where there are."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import digamma
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from streamsieve import exceptions as ex
from streamsieve.criteria import KSG
from streamsieve.rows import Screen
from streamsieve.summaries import Moments
from tests.helpers.tier import cases
from tests.reference import ksg as twin
from tests.summaries.streams import FORMS

WINDOW = KSG.default_window


def scored(X, y, weight=None, k=4, *, labels, batch=None):
    """Score rows by way of their summary, taken in batches."""
    criterion = KSG(k)
    rows = criterion.new_summary(target="classes" if labels else "numeric", window=10**6)
    for low in range(0, len(y), batch or len(y)):
        part = slice(low, low + (batch or len(y)))
        rows.update(X[part], y[part], None if weight is None else weight[part])
    return criterion(rows)


def example(n=150, p=5, seed=0, classes=3):
    """Rows without ties whose features are more or less informative of a label and of a number."""
    rng = np.random.default_rng(seed)
    c = np.arange(n) % classes
    X = rng.normal(size=(n, p)) + np.outer(c, np.linspace(0, 2, p))
    return X, c, np.sin(X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("k", [1, 3, 4, 10])
@pytest.mark.parametrize("seed", range(4))
def test_without_ties_it_is_scikit_learns_mutual_info(k, seed):
    X, c, y = example(seed=seed)
    theirs = mutual_info_regression(X, y, n_neighbors=k, random_state=0)
    np.testing.assert_allclose(scored(X, y, k=k, labels=False), theirs, atol=1e-12)
    theirs = mutual_info_classif(X, c, n_neighbors=k, random_state=0)
    np.testing.assert_allclose(scored(X, c, k=k, labels=True), theirs, atol=1e-12)


def nasty(rng):
    """Rows with ties, decimal grids, zeros, missing values, labels alone in their class, and few rows."""
    n, p = int(rng.integers(1, 25)), 3
    X = rng.normal(size=(n, p))
    if rng.random() < 0.7:
        width = int(rng.integers(1, 9))
        X = rng.integers(-width, width + 1, (n, p)) * rng.choice([1.0, 0.1, 1e6])
    X[rng.random((n, p)) < rng.choice([0.0, 0.5, 0.9])] = 0.0
    X[rng.random((n, p)) < rng.choice([0.0, 0.2])] = np.nan
    labels = bool(rng.integers(2))
    if labels:
        y = rng.integers(0, rng.integers(1, 6), n)
    else:
        y = rng.integers(0, 5, n) * 0.1 if rng.random() < 0.5 else rng.normal(size=n)
    weight = None if rng.random() < 0.5 else rng.integers(0, 4, n).astype(float)
    return X, y, weight, labels


def test_with_ties_missing_values_and_weights_it_is_the_twin():
    rng = np.random.default_rng(0)
    positive = 0
    for _ in range(cases(1000)):
        X, y, weight, labels = nasty(rng)
        k = int(rng.integers(1, 7))
        form = rng.choice(list(FORMS))
        if "32" in form:
            X = X.astype(np.float32).astype(np.float64)
        got = scored(FORMS[form](X), y, weight, k, labels=labels, batch=int(rng.integers(1, 9)))
        wanted = twin.score(X, y, weight, k, labels=labels)
        if weight is not None and not weight.any():
            assert got.size == 0
            continue
        np.testing.assert_allclose(got, wanted, atol=1e-12)
        positive += np.any(got > 0)
    assert positive > cases(400)


def test_decimals_tie_although_their_differences_are_rounded():
    """0.3 - 0.2 < 0.2 - 0.1 in floating point: without a margin, rounding would decide who is inside."""
    rng = np.random.default_rng(1)
    grid = rng.integers(0, 12, (80, 4))
    y, c = rng.integers(0, 9, 80) * 1.0, rng.integers(0, 3, 80)
    for factor, shift in ((0.1, 0.0), (0.1, 0.3), (1 / 3, 100.0), (-0.7, 5.0)):
        for target, labels in ((y, False), (c, True)):
            exact = scored(grid * 1.0, target, labels=labels)
            np.testing.assert_allclose(
                scored(grid * factor + shift, target, labels=labels), exact, atol=1e-12
            )  # fmt: skip


def test_scikit_learns_answer_for_ties_changes_with_the_seed_and_ours_does_not_change():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 4, (200, 3)) * 1.0
    y = X[:, 0] + rng.integers(0, 2, 200)
    theirs = np.array([mutual_info_regression(X, y, random_state=seed) for seed in range(5)])
    assert np.ptp(theirs, axis=0).max() > 0.01
    ours = [scored(X[order], y[order], labels=False) for order in (np.arange(200), rng.permutation(200))]
    np.testing.assert_allclose(*ours, atol=1e-12)


@pytest.mark.parametrize("labels", [True, False])
def test_where_all_values_are_tied_it_is_that_of_the_counts_by_grassberger(labels):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 300)
    x = np.where(rng.random(300) < 0.6, y, rng.integers(0, 4, 300)) * 1.0
    table = np.zeros((4, 3), int)
    np.add.at(table, (x.astype(int), y), 1)
    assert table.min() > 5  # each cell has all the neighbors it needs
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    wanted = (
        digamma(300)
        + ((table * digamma(table)).sum() - (rows * digamma(rows)).sum() - (columns * digamma(columns)).sum())
        / 300
    )
    target = y if labels else y * 1.5
    assert scored(x[:, None], target, labels=labels)[0] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_normal_variables_share_what_their_correlation_says(rho):
    rng = np.random.default_rng(4)
    x, e = rng.normal(size=(2, 4000))
    found = scored(x[:, None], rho * x + np.sqrt(1 - rho**2) * e, labels=False)[0]
    assert found == pytest.approx(-0.5 * np.log(1 - rho**2), abs=0.04)


def test_two_classes_that_overlap_share_what_their_densities_say():
    rng = np.random.default_rng(5)
    c = rng.integers(0, 2, 4000)
    x = rng.uniform(size=4000) + 0.5 * c  # they share half of their range
    assert scored(x[:, None], c, labels=True)[0] == pytest.approx(0.5 * np.log(2), abs=0.03)


def test_a_circle_is_seen_where_correlation_is_blind():
    rng = np.random.default_rng(6)
    angle = rng.uniform(0, 2 * np.pi, 600)
    X = np.c_[rng.normal(size=(600, 6)), np.cos(angle)]
    screen = Screen(KSG(), k=1, task="regression").fit(X, np.sin(angle))
    assert screen.selected_.tolist() == [6]
    assert abs(np.corrcoef(X[:, 6], np.sin(angle))[0, 1]) < 0.1


each_task = pytest.mark.parametrize("labels", [True, False], ids=["labels", "numbers"])


@each_task
@pytest.mark.parametrize("form", FORMS)
def test_batches_forms_and_columns_do_not_matter(labels, form):
    X, c, y = example(n=90)
    X = np.round(X * 4) / 4
    X[::5, 1] = np.nan
    target = c if labels else y
    whole = scored(X, target, labels=labels)
    for batch in (1, 7, 90):
        assert np.array_equal(scored(FORMS[form](X), target, labels=labels, batch=batch), whole)
    order = np.random.default_rng(0).permutation(X.shape[1])
    assert np.array_equal(scored(FORMS[form](X[:, order]), target, labels=labels), whole[order])


@each_task
def test_the_order_of_rows_does_not_matter(labels):
    X, c, y = example()
    X = np.round(X * 2) / 2
    target = c if labels else np.round(y * 2) / 2
    order = np.random.default_rng(1).permutation(len(c))
    np.testing.assert_allclose(
        scored(X[order], target[order], labels=labels), scored(X, target, labels=labels), atol=1e-12
    )


@each_task
def test_weights_are_copies_and_0_is_no_row(labels):
    X, c, y = example(n=60)
    target = c if labels else y
    weight = np.random.default_rng(2).integers(0, 4, 60).astype(float)
    copies = np.repeat(np.arange(60), weight.astype(int))
    for form in FORMS.values():
        np.testing.assert_allclose(
            scored(form(X), target, weight, labels=labels),
            scored(form(X[copies]), target[copies], labels=labels),
            atol=1e-13,
        )


@each_task
def test_very_many_copies_cost_no_memory(labels):
    X, c, y = example(n=40)
    target = c if labels else y
    few, many = (scored(X, target, np.full(40, w), labels=labels) for w in (1e4, 2.0**31))
    assert np.all(np.isfinite(many))
    np.testing.assert_allclose(many, few, atol=1e-3)


@each_task
def test_missing_values_are_rows_left_out(labels):
    X, c, y = example()
    X[np.random.default_rng(3).random(X.shape) < 0.3] = np.nan
    target = c if labels else y
    found = scored(X, target, labels=labels)
    for j in range(X.shape[1]):
        there = ~np.isnan(X[:, j])
        assert found[j] == pytest.approx(
            scored(X[there, j : j + 1], target[there], labels=labels)[0], abs=1e-13
        )  # fmt: skip


@each_task
@pytest.mark.parametrize(("factor", "shift"), [(2.0, 0.0), (-3.0, 5.0), (1e-6, 1e-3), (1e6, -1e7)])
def test_rescaling_changes_nothing(labels, factor, shift):
    X, c, y = example()
    target = c if labels else y
    np.testing.assert_allclose(
        scored(X * factor + shift, target, labels=labels), scored(X, target, labels=labels), atol=1e-12
    )
    if not labels:
        np.testing.assert_allclose(
            scored(X, y * factor + shift, labels=False), scored(X, y, labels=False), atol=1e-12
        )


def test_names_of_classes_do_not_matter_and_feature_and_number_may_change_places():
    X, c, y = example()
    renamed = scored(X, np.array(["zebra", "ape", "ox"])[c], labels=True)
    np.testing.assert_allclose(renamed, scored(X, c, labels=True), atol=1e-13)
    there, back = scored(X[:, :1], y, labels=False), scored(y[:, None], X[:, 0], labels=False)
    np.testing.assert_allclose(there, back, atol=1e-13)


def test_classes_of_one_row_are_left_out_as_by_scikit_learn():
    X, c, _ = example(n=61)
    c = c.copy()
    c[7], c[20] = 8, 9
    theirs = mutual_info_classif(X, c, n_neighbors=4, random_state=0)
    np.testing.assert_allclose(scored(X, c, labels=True), theirs, atol=1e-12)
    assert scored(X[:5], np.arange(5), labels=True).tolist() == [0] * 5


@each_task
def test_degenerate_columns_score_0(labels):
    n = 40
    rng = np.random.default_rng(4)
    target = np.arange(n) % 2 if labels else rng.normal(size=n)
    one = np.where(np.arange(n) == 3, 1.0, np.nan)
    X = np.c_[np.zeros(n), np.full(n, 1e9 / 3), np.full(n, np.nan), one, np.full(n, -5e-324)]
    for name, form in FORMS.items():
        if "float32" not in name:  # a constant that float32 rounds is one, too
            assert scored(form(X), target, labels=labels).tolist() == [0] * 5
    assert scored(rng.normal(size=(n, 2)), np.ones(n), labels=labels).tolist() == [0, 0]
    assert scored(rng.normal(size=(1, 2)), target[:1], labels=labels).tolist() == [0, 0]
    assert KSG()(KSG().new_summary()).shape == (0,)


@each_task
@pytest.mark.parametrize("factor", [1e-290, 1e-160, 1e90])
def test_the_smallest_and_largest_values_are_distinguished(labels, factor):
    X, c, y = example()
    X = np.round(X * 64) / 64
    target = c if labels else y
    tiny = scored(X * factor, target, labels=labels)
    np.testing.assert_allclose(tiny, scored(X, target, labels=labels), atol=0.02)


def stream(n=700, p=6, seed=5):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p))
    X[:, 2] += y
    X[rng.random((n, p)) < 0.3] = 0.0
    return X, y


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_screen_scores_its_window_and_nothing_else(form, task):
    X, y = stream()
    target = y if task == "classification" else y + 0.1 * X[:, 1] + 0.01
    for window in (1, 2, 90, 5000):
        screen = Screen(KSG(), window=window, task=task)
        for low in range(0, 700, 61):
            screen.partial_fit(form(X[low : low + 61]), target[low : low + 61])
        last = slice(-min(window, 700), None)
        wanted = scored(X[last], target[last], labels=task == "classification")
        np.testing.assert_allclose(screen.scores_, wanted, atol=1e-12)


def test_without_a_window_a_screen_looks_at_the_last_thousand_rows():
    X, y = stream(n=WINDOW + 300)
    screen = Screen(KSG(), k=1).fit(X, y)
    assert screen.summary_.n_rows == WINDOW == 1000
    np.testing.assert_allclose(screen.scores_, scored(X[300:], y[300:], labels=True), atol=1e-12)
    assert screen.traits.forgets
    assert screen.selected_.tolist() == [2]


def test_fractions_are_a_numeric_target_by_default():
    X, y = stream(n=60)
    assert Screen(KSG()).fit(X, y + 0.5).summary_.target == "numeric"
    assert Screen(KSG()).fit(X, y).summary_.target == "classes"
    assert Screen(KSG(), task="regression").fit(X, y).summary_.target == "numeric"


def test_windows_of_parts_merge_and_come_back_from_a_file(tmp_path):
    X, y = stream()
    whole = Screen(KSG(3), window=200, k=2).fit(X, y)
    left, right = (
        Screen(KSG(3), window=200, k=2).fit(X[part], y[part]) for part in (slice(600), slice(600, 700))
    )
    np.testing.assert_allclose(left.merge(right).scores_, whole.scores_, atol=1e-12)
    left.save(tmp_path / "ksg.sieve")
    again = Screen.load(tmp_path / "ksg.sieve")
    assert again.criterion == KSG(3)
    assert np.array_equal(again.scores_, left.scores_)


def test_a_state_over_another_summary_is_refused(tmp_path):
    X, y = stream(n=50)
    screen = Screen(KSG(), window=20).fit(X, y)
    screen._summary_ = Moments()
    screen.save(tmp_path / "bad.sieve")
    with pytest.raises(ex.StateError, match="does not serve criterion='ksg'"):
        Screen.load(tmp_path / "bad.sieve")


REFUSED = [
    ({"alpha": 0.05}, ex.CapabilityError, "criterion='ksg' has no p-values, so alpha cannot be used"),
    ({"on_drift": "reset"}, ex.CapabilityError, "watches p-values; criterion='ksg' has none: use window"),
    ({"half_life": 50}, ex.CapabilityError, "needs a window of rows, which cannot fade by half_life=50"),
    ({"criterion": KSG(0)}, ex.ParameterError, "n_neighbors must be a whole number at least 1; got 0"),
    ({"criterion": KSG("four")}, ex.ParameterError, "n_neighbors must be .* got 'four'"),
]


@pytest.mark.parametrize(("parameters", "error", "message"), REFUSED, ids=[str(r[0]) for r in REFUSED])
def test_what_it_cannot_do_is_said(parameters, error, message):
    X, y = stream(n=50)
    with pytest.raises(error, match=message):
        Screen(**{"criterion": KSG(), **parameters}).fit(X, y)


def test_there_are_no_p_values():
    X, y = stream(n=50)
    screen = Screen(KSG()).fit(X, y)
    assert not hasattr(screen, "pvalues_")
    with pytest.raises(AttributeError, match="criterion='ksg' has no p-values"):
        _ = screen.pvalues_
    with pytest.raises(ex.CapabilityError, match="use 'mutual_info'"):
        KSG().p_values(screen.summary_)


@pytest.mark.parametrize("bad", [0.5, 1e12])
def test_weights_that_are_no_copies_are_refused_and_change_nothing(bad):
    X, y = stream(n=50)
    screen = Screen(KSG(), window=30).partial_fit(X, y)
    before = screen.scores_.copy()
    with pytest.raises(ex.InputError, match=r"whole numbers up to .* got (0\.5|1e\+12): leave it out"):
        screen.partial_fit(X, y, sample_weight=np.where(np.arange(50) == 9, bad, 1.0))
    assert np.array_equal(screen.scores_, before)
    assert screen.n_samples_seen_ == 50
