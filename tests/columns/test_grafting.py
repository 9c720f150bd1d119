"""Grafting decides as its slow twin does, is always at a minimum, and ends at the model of scikit-learn."""

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression

from streamsieve.base import Stop
from streamsieve.columns.grafting import Grafting
from streamsieve.columns.models import lasso
from streamsieve.columns.models.lasso import LassoModel
from streamsieve.columns.models.losses import LassoConfig
from streamsieve.exceptions import StateError
from streamsieve.protocols import ColumnBlock
from tests.columns.streams import FORMS, WHOLE, columns, equal_twins, lines, offered, reloaded, rows, target
from tests.real_data import load_real
from tests.reference.grafting import grafting

#: How scikit-learn before 1.8 is asked for an l1 penalty.
ELASTIC = {"penalty": "elasticnet"} if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8) else {}
LOSSES = {"squared": "regression", "logistic": "binary", "multinomial": "multiclass"}


def codes(y):
    return np.unique(y, return_inverse=True)[1]


def planted(rng, task, n=120, p=30):
    """Columns of which the first five matter; every third is sparse."""
    X = rng.normal(size=(n, p))
    X[:, ::3] *= rng.random((n, len(range(0, p, 3)))) < 0.4
    X[:, 5] = X[:, 0] + X[:, 1]
    score = X[:, :5] @ [2.0, -1.5, 1.0, 1.0, -0.7]
    if task == "regression":
        return X, score + rng.normal(size=n)
    if task == "binary":
        return X, (score + rng.logistic(size=n) > 0).astype(int)
    return X, np.digitize(score + rng.normal(size=n), [-2, 0, 2])


def check_equal(sieve, twin, what, p_values=False):
    selected, expected = twin
    assert lines(sieve) == [(e.feature, e.event, e.reason, e.by) for e in expected], what
    assert sieve.selected_.tolist() == selected, what
    # of two classes that are equally steep either may be the one
    found, wanted = ([abs(d.statistic) for d in side] for side in (sieve.ledger_, expected))
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7, err_msg=str(what))


def drawn(rng):
    return {
        "l1": float(rng.choice([0.3, 0.051, 0.017])),
        "l1_ratio": float(rng.choice([1.0, 0.43])),
        "standardize": bool(rng.random() < 0.7),
    }


@pytest.mark.parametrize(
    ("loss", "task", "cases"),
    [("squared", "regression", 40), ("squared", "binary", 30), ("logistic", "binary", 60),
     ("multinomial", "multiclass", 20)],
)  # fmt: skip
def test_random_streams_in_mixed_blocks_equal_the_twin(loss, task, cases):
    many = loss == "multinomial"
    seen = equal_twins(
        partial(Grafting, loss=loss),
        lambda X, y, task, **p: grafting(X, y if task == "regression" else codes(y), loss=loss, **p),
        [task], cases, (1, 7 if many else 11), drawn, seed=4, check=check_equal,
        forms=lambda far: WHOLE if far else tuple(FORMS),
        n_rows=lambda rng, task: max(rows(rng, task), 8 if many else 0),
    )  # fmt: skip
    assert set(seen) == {
        ("kept", "relevant"), ("rejected", "irrelevant"), ("rejected", "constant"), ("evicted", "redundant"),
    }  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES)
def test_a_model_of_many_columns_equals_the_twin(loss):
    rng = np.random.default_rng(1)
    X, y = planted(rng, LOSSES[loss], n=60, p=34 if loss != "multinomial" else 12)
    twin = grafting(X, y, loss=loss, l1=0.02)
    for form in ("row by row", "column by column", "csc_array", "one by one"):
        sieve = offered(Grafting(0.02, loss=loss).begin(y), X, rng, (form,))
        check_equal(sieve, twin, form)
    if loss == "squared":
        assert len(sieve.selected_) > 16  # the model must make room


@pytest.mark.parametrize("sweeps", [2, 3])
def test_sweeps_equal_the_twin(sweeps):
    rng = np.random.default_rng(2)
    for case in range(5):
        X, y = planted(rng, "regression", n=40)
        l1 = float(rng.choice([0.1, 0.03]))
        sieve = Grafting(l1, sweeps=sweeps).fit(X, y)
        check_equal(sieve, grafting(X, y, loss="squared", l1=l1, sweeps=sweeps), case)


@pytest.mark.parametrize("loss", LOSSES)
def test_sweeps_do_not_depend_on_the_size_of_blocks(loss, monkeypatch):
    X, y = planted(np.random.default_rng(22), LOSSES[loss], n=40)
    whole = Grafting(0.02, sweeps=3).fit(X, y)
    for values in (1, 40, 120, 500):
        monkeypatch.setattr("streamsieve.base.column_lifecycle.BLOCK_VALUES", values)
        for form in (np.ascontiguousarray, sp.csc_array):
            assert lines(Grafting(0.02, sweeps=3).fit(form(X), y)) == lines(whole)


def gradients(sieve, X, y):
    """Return minus the gradients of the mean loss, one row a class, from the public coefficients alone."""
    coefficients, intercept = np.atleast_2d(sieve.coef_), np.atleast_1d(sieve.intercept_)
    scores = X @ coefficients[:, : X.shape[1]].T + intercept
    if scores.shape[1] > 1:
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        rest = (codes(y)[:, None] == np.arange(scores.shape[1])) - odds / odds.sum(axis=1, keepdims=True)
    elif np.ndim(sieve.coef_) == 2:
        rest = y[:, None] - np.exp(-np.logaddexp(0, -scores))
    else:
        rest = y[:, None] - scores
    return rest.T @ X / len(y), rest


def check_minimum(sieve, X, y, columns_, what=""):
    """Assert the conditions of a minimum over some columns; X is what was offered so far."""
    g, rest = gradients(sieve, X, y)
    w = np.atleast_2d(sieve.coef_)
    unit = max(1.0, np.abs(y).max())
    np.testing.assert_allclose(rest.mean(axis=0), 0, atol=1e-9 * unit, err_msg=str(what))
    scale = X.std(axis=0)
    weight = scale if sieve.standardize else np.ones(X.shape[1])
    level, ridge = sieve.l1 * sieve.l1_ratio * weight, sieve.l1 * (1 - sieve.l1_ratio) * weight**2
    slack = 2 * sieve.tol * level + 1e-9 * unit * np.sqrt(np.mean(X**2, axis=0))
    wrong = np.where(w != 0, np.abs(g - ridge * w - level * np.sign(w)), np.abs(g) - level)[:, columns_]
    assert np.all(wrong <= slack[columns_]), (what, wrong - slack[columns_])


@pytest.mark.parametrize(
    ("loss", "task", "cases"),
    [
        ("squared", "regression", 80),
        ("squared", "binary", 50),
        ("logistic", "binary", 80),
        ("multinomial", "multiclass", 40),
    ],
)
def test_the_model_is_at_its_minimum_after_every_step(loss, task, cases):
    rng = np.random.default_rng(3)
    joined = left = 0
    for case in range(cases):
        y = target(rng, task, rows(rng, task))
        X = columns(rng, y, int(rng.integers(3, 16)), far=False)
        X *= rng.uniform(0.5, 3, X.shape[1])
        sieve = Grafting(
            float(rng.choice([0.2, 0.05, 0.005])),
            loss=loss,
            l1_ratio=float(rng.choice([1.0, 0.5])),
            standardize=bool(rng.random() < 0.7),
        ).begin(y)
        classes = y if loss == "squared" else codes(y)
        for j in range(X.shape[1]):
            decisions = sieve.offer(X[:, j].copy())
            joined += decisions[-1].event == "kept"
            left += len(decisions) - 1
            assert (decisions[-1].event == "kept") == (j in sieve.selected_)
            # columns that left may have become worth while again: they are gone
            held = sorted({*sieve.selected_.tolist(), j})
            check_minimum(sieve, X[:, : j + 1], classes, held, (case, j))
            kept = np.flatnonzero(np.atleast_2d(sieve.coef_).any(axis=0))
            assert kept.tolist() == sieve.selected_.tolist()
    assert joined > cases
    assert left > cases / 20


@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, sp.csc_array])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_swept_until_nothing_changes_it_is_at_the_minimum_over_all_columns(loss, standardize, form):
    X, y = planted(np.random.default_rng(4), LOSSES[loss])
    sieve = Grafting(0.03, loss=loss, standardize=standardize, sweeps=None).fit(form(X), y)
    check_minimum(sieve, X, y, range(X.shape[1]))
    assert 1 < sieve.n_sweeps_ < 10


def test_the_order_of_columns_does_not_matter_to_the_end():
    rng = np.random.default_rng(5)
    X, y = planted(rng, "regression")
    first = Grafting(0.05, sweeps=None).fit(X, y)
    for _ in range(5):
        order = rng.permutation(X.shape[1])
        again = Grafting(0.05, sweeps=None).fit(X[:, order], y)
        np.testing.assert_allclose(again.coef_, first.coef_[order], atol=1e-6)
        assert set(order[again.selected_]) == set(first.selected_)


def spread_out(rng, n, p):
    """Columns of different sizes, some of them sparse and correlated, and a target of a few."""
    X = rng.normal(size=(n, p)) + rng.choice([0.0, 0.7]) * rng.normal(size=(n, 1))
    X *= rng.random((n, p)) < rng.choice([0.2, 1.0], p)
    X *= rng.uniform(0.5, 2, p)
    return X, X[:, : rng.integers(1, 6)].sum(axis=1) + rng.normal(size=n)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
def test_swept_it_is_the_lasso_or_the_elastic_net(l1_ratio):
    rng = np.random.default_rng(6)
    forms = (np.ascontiguousarray, np.asfortranarray, sp.csc_array, sp.csr_array)
    for case in range(40):
        n, p = int(rng.integers(5, 80)), int(rng.integers(1, 100))
        X, y = spread_out(rng, n, p)
        l1 = float(np.abs(X.T @ (y - y.mean())).max() / n * rng.choice([0.7, 0.2, 0.03]))
        form = forms[case % 4]
        sieve = Grafting(l1, l1_ratio=l1_ratio, standardize=False, sweeps=None, tol=1e-9).fit(form(X), y)
        peer = ElasticNet(alpha=l1, l1_ratio=l1_ratio, tol=1e-11, max_iter=10**6).fit(X, y)
        np.testing.assert_allclose(sieve.coef_, peer.coef_, atol=1e-6, err_msg=str(case))
        assert sieve.intercept_ == pytest.approx(peer.intercept_, abs=1e-6)
        assert sieve.selected_.tolist() == np.flatnonzero(peer.coef_).tolist(), case
        check_minimum(sieve, X, y, range(p), case)


def test_standardized_it_is_the_lasso_of_standardized_columns_in_the_units_of_the_data():
    X, y = planted(np.random.default_rng(7), "regression")
    X = 100 + X * np.geomspace(0.01, 100, X.shape[1])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    sieve, peer = Grafting(0.1, sweeps=None).fit(X, y), Lasso(0.1, tol=1e-12, max_iter=10**6).fit(Z, y)
    np.testing.assert_allclose(sieve.coef_ * X.std(axis=0), peer.coef_, atol=1e-7)
    np.testing.assert_allclose(X @ sieve.coef_ + sieve.intercept_, peer.predict(Z), atol=1e-6)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_swept_it_is_the_logistic_regression(loss, l1_ratio):
    rng = np.random.default_rng(8)
    for case in range(5):
        X, y = planted(rng, LOSSES[loss], n=60, p=12)
        form = sp.csc_array if case % 2 else np.ascontiguousarray
        sieve = Grafting(0.04, l1_ratio=l1_ratio, standardize=False, sweeps=None).fit(form(X), y)
        peer = LogisticRegression(
            C=1 / (0.04 * len(y)), l1_ratio=l1_ratio, solver="saga", tol=1e-9, max_iter=10**5, **ELASTIC
        ).fit(X, y)
        assert sieve.coef_.shape == peer.coef_.shape
        assert sieve.intercept_.shape == peer.intercept_.shape
        check_minimum(sieve, X, y, range(12), case)
        ours, theirs = sieve.coef_, peer.coef_
        assert np.abs(ours).sum() == pytest.approx(np.abs(theirs).sum(), rel=1e-4)
        if loss == "multinomial" and l1_ratio == 1:
            # what all classes share says nothing, and with four of them it may cost nothing: a tie
            ours, theirs = ours - ours[0], theirs - theirs[0]
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
        np.testing.assert_allclose(sieve.intercept_, peer.intercept_, atol=1e-5)
        assert sieve.selected_.tolist() == np.flatnonzero(np.abs(peer.coef_).max(axis=0) > 1e-7).tolist()


def separable(rng, n):
    """Classes that some columns tell apart without an error."""
    X = np.column_stack([rng.normal(size=(n, 6)), np.arange(n), np.arange(n) > n // 2])
    y = (np.arange(n) > n // 2).astype(int)
    return X, {"logistic": y, "multinomial": y + (np.arange(n) == n - 1)}


@pytest.mark.filterwarnings("ignore:Grafting could not fit")
@pytest.mark.parametrize("l1", [1e-3, 1e-6, 1e-9, 1e-13, 1e-300])
def test_classes_without_errors_keep_finite_coefficients(l1):
    for n in (6, 20, 50):
        X, targets = separable(np.random.default_rng(n), n)
        for loss, y in targets.items():
            sieve = Grafting(l1, loss=loss, sweeps=None).fit(X, y)
            if l1 > 1e-10:  # with next to no penalty the fit may fall short, but ends
                check_minimum(sieve, X, y, range(8), (n, loss))
            assert np.all(np.isfinite(sieve.coef_))
            assert sieve.n_sweeps_ < 20


def real(name):
    X, y = load_real(name, "train" if name == "dexter" else "all")
    if sp.issparse(X):
        X = sp.csc_matrix(X / 1000)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return X, y
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9), y


@pytest.mark.parametrize("share", [0.5, 0.1])
@pytest.mark.parametrize("name", ["leukemia_golub_raw", "dexter"])
def test_on_real_data_it_is_the_lasso(name, share):
    X, y = real(name)
    l1 = share * np.abs(X.T @ (y - y.mean())).max() / len(y)
    sieve = Grafting(l1, loss="squared", standardize=False, sweeps=None).fit(X, y)
    peer = Lasso(l1, tol=1e-9, max_iter=10**5).fit(X, y.astype(float))
    assert sieve.selected_.tolist() == np.flatnonzero(peer.coef_).tolist()
    np.testing.assert_allclose(sieve.coef_, peer.coef_, atol=1e-6)


@pytest.mark.parametrize("name", ["leukemia_golub_raw", "dexter"])
def test_on_real_data_the_logistic_model_is_at_its_minimum(name):
    X, y = real(name)
    l1 = 0.1 * np.abs(X.T @ (y - y.mean())).max() / len(y)
    sieve = Grafting(l1, standardize=False, sweeps=None).fit(X, y)
    g, _ = gradients(sieve, X, y)
    w = sieve.coef_[0]
    assert np.abs(g[0]).max() <= l1 * (1 + 2e-6)
    np.testing.assert_allclose(g[0][w != 0], l1 * np.sign(w[w != 0]), rtol=1e-6)


def test_a_fit_that_falls_short_says_so_and_stands(monkeypatch):
    X, y = planted(np.random.default_rng(26), "binary")
    monkeypatch.setattr(lasso, "MOST_STEPS", 2)
    for offer in (lambda sieve: sieve.begin(y).offer(X), lambda sieve: sieve.fit(X, y)):
        sieve = Grafting(1e-4)
        with pytest.warns(ConvergenceWarning, match=r"could not fit .* l1=0.0001: .* raise l1"):
            offer(sieve)
        assert sieve.n_features_in_ == 30
        assert len(sieve.selected_) > 5
    sieve.begin(y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning):
            sieve.offer(X)
        assert (sieve.n_features_in_, len(sieve.ledger_) >= 30) == (30, True)  # what was decided stands


@pytest.mark.parametrize("loss", LOSSES)
def test_more_columns_than_rows_with_copies_and_hardly_a_penalty(loss):
    rng = np.random.default_rng(23)
    X, y = planted(rng, LOSSES[loss], n=12, p=20 if loss == "multinomial" else 40)
    X = np.column_stack([X, X[:, ::-1], np.ones((12, 3))])
    sieve = Grafting(1e-4, loss=loss, sweeps=None).fit(X, y)
    check_minimum(sieve, X, y, range(X.shape[1]))


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e90])
def test_the_unit_of_the_target_does_not_matter(unit):
    X, y = planted(np.random.default_rng(24), "regression", n=30)
    plain = Grafting(0.1, sweeps=None).fit(X, y)
    scaled = Grafting(0.1 * unit, sweeps=None, task="regression").fit(X, y * unit)
    np.testing.assert_allclose(scaled.coef_, plain.coef_ * unit, rtol=1e-6)
    assert scaled.intercept_ == pytest.approx(plain.intercept_ * unit)


@pytest.mark.parametrize("loss", LOSSES)
def test_above_the_steepest_first_gradient_nothing_joins(loss):
    rng = np.random.default_rng(10)
    X, y = planted(rng, LOSSES[loss])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    labels = y[:, None] if loss != "multinomial" else codes(y)[:, None] == np.unique(codes(y))
    steepest = np.abs(Z.T @ (labels - labels.mean(axis=0))).max(axis=1) / len(y)
    top = int(steepest.argmax())
    assert len(Grafting(steepest.max() * 1.0001, loss=loss).fit(X, y).selected_) == 0
    assert Grafting(steepest.max() * 0.9999, loss=loss).fit(X, y).selected_.tolist() == [top]


@pytest.mark.parametrize("loss", LOSSES)
def test_copies_stay_out(loss):
    rng = np.random.default_rng(11)
    X, y = planted(rng, LOSSES[loss], p=6)
    sieve = Grafting(0.05, loss=loss).fit(np.column_stack([X, X, -X, 3 * X + 7]), y)
    assert sieve.selected_.max() < 6


def test_a_column_that_takes_over_evicts_those_it_stands_for():
    """The sum of two columns with equal coefficients costs half of what they cost."""
    rng = np.random.default_rng(12)
    Z = np.linalg.qr(rng.normal(size=(100, 3)) - 0.0)[0]
    Z = (Z - Z.mean(axis=0)) * 10
    y = Z[:, 0] + 1.2 * Z[:, 1] + 0.01 * Z[:, 2]
    X = np.column_stack([Z[:, :2], Z[:, 0] + Z[:, 1]])
    sieve = Grafting(0.05, standardize=False).begin(y)
    decisions = sieve.offer(X, names=["one", "two", "both"])
    assert [str(d.event) for d in decisions] == ["kept", "kept", "evicted", "kept"]
    assert decisions[2].feature == "one"
    assert decisions[2].by == ("both",)
    assert abs(decisions[2].statistic) <= 0.05 / y.std() / Z[:, 0].std() * (1 + 1e-6)
    assert sieve.get_feature_names_out().tolist() == ["two", "both"]


def test_the_statistic_has_the_sign_of_the_coefficient():
    rng = np.random.default_rng(13)
    x = rng.normal(size=(80, 2))
    sieve = Grafting(0.01).fit(x, x[:, 0] - x[:, 1] + 0.1 * rng.normal(size=80))
    assert np.sign([d.statistic for d in sieve.ledger_]).tolist() == np.sign(sieve.coef_).tolist() == [1, -1]


def test_swapped_labels_swap_signs():
    X, y = planted(np.random.default_rng(14), "binary")
    one, other = Grafting(0.05).fit(X, y), Grafting(0.05).fit(X, 1 - y)
    np.testing.assert_allclose(one.coef_, -other.coef_, atol=1e-6)
    assert lines(one) == lines(other)


def late(rng):
    """A column that is worth while only when another has come: x0 hides what x1 undoes."""
    z, w = rng.normal(size=(2, 300))
    X = np.column_stack([z, z + w, rng.normal(size=(300, 3))])
    return X, w + 0.05 * rng.normal(size=300)


def test_a_second_sweep_takes_what_came_too_early():
    X, y = late(np.random.default_rng(15))
    names = ["early", "late", "a", "b", "c"]
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    for keep in ("all", "kept", "none"):
        once = Grafting(0.1, ledger=keep).fit(pandas.DataFrame(X, columns=names), y)
        assert once.get_feature_names_out().tolist() == ["late"]
        twice = Grafting(0.1, sweeps=2, ledger=keep).fit(pandas.DataFrame(X, columns=names), y)
        assert twice.get_feature_names_out().tolist() == ["early", "late"]
        assert (once.n_sweeps_, twice.n_sweeps_) == (1, 2)
        if keep != "none":
            last = twice.ledger_.why("early")
            assert (last.step, str(last.event), str(last.reason)) == (5, "kept", "relevant")
            assert last.statistic < -0.1


def test_a_stream_has_one_sweep_whatever_is_asked_for():
    X, y = late(np.random.default_rng(16))
    sieve = Grafting(0.1, sweeps=None).begin(y)
    sieve.offer(X)
    assert sieve.selected_.tolist() == [1]
    assert sieve.n_sweeps_ == 1


def test_the_ledger_of_sweeps_accounts_for_the_selection():
    rng = np.random.default_rng(17)
    for seed in range(20):
        X, y = planted(np.random.default_rng(seed), "regression", n=30, p=40)
        sieve = Grafting(float(rng.choice([0.2, 0.05, 0.02])), sweeps=None).fit(X, y)
        held = set()
        for feature, event, _, _ in lines(sieve):
            if event == "kept":
                assert feature not in held
                held.add(feature)
            elif event == "evicted":
                held.remove(feature)
        assert held == set(sieve.selected_.tolist())


def test_rules_to_stop_hold_in_later_sweeps():
    X, y = late(np.random.default_rng(18))
    asked = []

    def accuracy(kept):
        asked.append(kept.copy())
        return kept.shape[1]

    stopped = Grafting(0.1, sweeps=None, stop=Stop(target=2, accuracy=accuracy)).fit(X, y)
    assert stopped.stopped_ == "target=2"
    assert [kept.shape[1] for kept in asked] == [1, 2]
    np.testing.assert_array_equal(asked[1], X[:, :2])
    assert Grafting(0.1, sweeps=9, stop=Stop(max_features=2)).fit(X, y).stopped_ == "max_features=2"
    early = Grafting(0.1, sweeps=9, stop=Stop(max_offers=3)).fit(X, y)
    assert (early.stopped_, early.n_sweeps_) == ("max_offers=3", 1)


def test_a_callback_that_fails_in_a_later_sweep_leaves_the_fit_before():
    X, y = late(np.random.default_rng(19))

    def callback(sieve):
        if len(sieve.selected_) > 1:
            raise RuntimeError("no")
        return 0.0

    sieve = Grafting(0.1).fit(X, y)
    sieve.set_params(sweeps=2, stop=Stop(target=1, callback=callback))
    with pytest.raises(RuntimeError, match="no"):
        sieve.fit(X, y)
    assert sieve.selected_.tolist() == [1]


def test_a_model_without_columns_is_the_prior():
    sieve = Grafting().begin([0, 1, 1, 1])
    assert sieve.coef_.shape == (1, 0)
    assert sieve.intercept_ == pytest.approx([np.log(3)])


def test_numbers_and_classes_have_the_shapes_of_scikit_learn():
    X = np.random.default_rng(20).normal(size=(30, 4))
    for y, loss, shape in (
        (X[:, 0], "auto", (4,)),
        (X[:, 0] > 0, "auto", (1, 4)),
        (X[:, 0] > 0, "squared", (4,)),
        (X[:, 0] > 0, "multinomial", (1, 4)),
        (np.digitize(X[:, 0], [-0.5, 0.5]), "auto", (3, 4)),
    ):
        sieve = Grafting(0.01, loss=loss).fit(X, y)
        assert sieve.coef_.shape == shape
        assert np.shape(sieve.intercept_) == shape[:-1]


def model_of(loss):
    rng = np.random.default_rng(21)
    X, y = planted(rng, LOSSES[loss])
    model = LassoModel(loss, np.asarray(y, np.float64), LassoConfig(0.05, 0.0, True, 1e-6))
    model.offer(ColumnBlock(X[:, :20]), 0)
    return model, X


@pytest.mark.parametrize("loss", LOSSES)
def test_a_model_comes_back_whole(loss):
    model, X = model_of(loss)
    again = LassoModel.from_state({name: a.copy() for name, a in model.state().items()})
    np.testing.assert_array_equal(again.coefficients(30), model.coefficients(30))
    np.testing.assert_allclose(again.residual, model.residual, atol=1e-14)
    for side in (model, again):
        side.offer(ColumnBlock(X[:, 20:]), 20)
    np.testing.assert_allclose(again.coefficients(30), model.coefficients(30), atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_state_that_does_not_fit_together_is_refused(loss):
    state = model_of(loss)[0].state()
    target = np.tile(state["target"], (4, 1))
    classes = {"target": target, "intercept": np.zeros(len(target))}
    classes |= dict.fromkeys(("reference", "predictor", "probability", "residual"), np.zeros_like(target))
    for change, message in (
        (classes, "target in the state is not valid"),
        ({"owner": state["owner"] * 0}, "do not belong together"),
        ({"value": state["value"] * 0}, "do not belong together"),
        ({"value": np.full_like(state["value"], 1e308)}, "too large to multiply"),
        ({"value": 2 * state["value"]}, "are not what the coefficients give"),
        ({"residual": 2 * state["residual"]}, "are not what the coefficients give"),
    ):
        with pytest.raises(StateError, match=message):
            LassoModel.from_state({**state, **change})


def test_a_file_with_parts_that_do_not_belong_is_refused():
    X, y = planted(np.random.default_rng(25), "regression")
    sieve = Grafting(0.05).fit(X, y)
    for change, message in (
        ({"n_sweeps_": 0}, "n_sweeps_ must be a whole number at least 1; got 0"),
        ({"n_features_in_": int(sieve.selected_.max())}, "never offered"),
    ):
        bad = Grafting(0.05).fit(X, y)
        bad.__dict__.update(change)
        with pytest.raises(StateError, match=message):
            reloaded(bad)
