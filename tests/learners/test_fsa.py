"""Annealed learners are the algorithm of the papers, dense or sparse, in one call or many."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge

from streamsieve.exceptions import BadValueError, ParameterError
from streamsieve.learners.fsa import FSAClassifier, FSARegressor
from streamsieve.learners.fsa.model import AnnealedModel, FSAConfig
from tests.helpers.tier import cases
from tests.real_data import load_real
from tests.reference import fsa as twin

MARGIN_LOSSES = ("logistic", "lorenz", "hinge", "squared")


def nasty_columns(rng, X):
    """Spoil some columns: constant, repeated, mirrored, almost empty, on another scale, far from 0."""
    p = X.shape[1]
    for kind in rng.choice(6, rng.integers(0, 3), replace=False):
        j, other = rng.integers(0, p, 2)
        if kind == 0:
            X[:, j] = rng.integers(-2, 3)
        elif kind == 1:
            X[:, j] = X[:, other]
        elif kind == 2:
            X[:, j] = -X[:, other]
        elif kind == 3:
            X[1:, j] = 0.0
        elif kind == 4:
            X[:, j] *= 1024.0
        else:
            X[:, j] += 4096.0
    return X


def a_case(rng):
    """Return data, a learner, and the same parameters for the twin."""
    n, p = int(rng.integers(2, 20)), int(rng.integers(1, 10))
    X = rng.normal(size=(n, p))
    if rng.random() < 0.5:
        X = np.round(X * 4) / 4 * (rng.random((n, p)) < 0.6)
    X = nasty_columns(rng, X)
    parameters = {
        "k": int(rng.integers(1, p + 1)),
        "epochs": int(rng.integers(1, 7)),
        "annealing": float(rng.choice([0.0, 3.0, 30.0])),
        "learning_rate": "auto" if rng.random() < 0.6 else float(rng.choice([0.01, 0.2])),
        "momentum": float(rng.choice([0.0, 0.5, 0.9])),
        "l2": float(rng.choice([0.0, 1e-3, 0.5])),
        "batch_size": int(rng.choice([1, 3, 8, 64])),
        "standardize": bool(rng.random() < 0.8),
        "random_state": int(rng.integers(0, 5)),
    }
    given = {new: parameters[old] for old, new in NAMES.items()}
    given["rate"] = None if parameters["learning_rate"] == "auto" else parameters["learning_rate"]
    if rng.random() < 0.3:
        loss = str(rng.choice(["squared", "lorenz"]))
        y = X @ rng.normal(size=p) + rng.normal(size=n)
        given |= {"loss": loss, "regression": True, "y": in_units_of_its_spread(y, loss)}
        return X, y, FSARegressor(loss=loss, **parameters), given
    classes = 2 if rng.random() < 0.6 else 3
    y = rng.integers(0, classes, n)
    y[: min(n, classes)] = np.arange(min(n, classes))
    classes = len(np.unique(y))
    loss, balanced = str(rng.choice(MARGIN_LOSSES)), bool(rng.random() < 0.3)
    given |= {"loss": loss, "outputs": 1 if classes == 2 else classes, "y": 2 * y - 1 if classes == 2 else y}
    if balanced:
        given["weight"] = (n / (classes * np.bincount(y)))[y]
    return X, y, FSAClassifier(loss=loss, balanced=balanced, **parameters), given


def in_units_of_its_spread(y, loss):
    if loss == "squared":
        return (y - y.mean()) / y.std()
    distance = np.abs(y - np.median(y))
    return (y - np.median(y)) / (1.4826 * np.median(distance))


NAMES = {
    "k": "k", "epochs": "epochs", "annealing": "mu", "momentum": "momentum", "l2": "ridge",
    "batch_size": "batch", "standardize": "standardize", "random_state": "seed",
}  # fmt: skip


def quiet_fit(learner, X, y):
    """Fit; after so few epochs nothing has settled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return learner.fit(X, y)


def test_equals_the_twin_on_many_cases():
    rng = np.random.default_rng(0)
    decided = grew = 0
    for _ in range(cases(500)):
        X, y, learner, given = a_case(rng)
        with np.errstate(over="ignore", invalid="ignore"):
            left, beta, intercept, narrowest = twin.fsa(X, given.pop("y"), given.pop("k"), **given)
        sparse = bool(rng.random() < 0.5)
        try:
            quiet_fit(learner, sp.csr_array(X) if sparse else X, y)
        except ParameterError:
            grew += 1
            assert not np.all(np.abs(beta) < 1e100)
            continue
        if narrowest < 1e-7 or np.abs(beta).max() > 1e6:
            continue  # rounding decided, or the twin is on its way to infinity
        decided += 1
        model = learner._model_
        assert model.columns.tolist() == left.tolist()
        # what is not centered in memory loses digits to a mean of 4,096
        tolerance = (1e-6 if sparse else 1e-9) * max(1.0, float(np.abs(beta).max()))
        np.testing.assert_allclose(model.beta, beta, atol=tolerance)
        np.testing.assert_allclose(model.intercept[0], intercept, atol=tolerance)
    assert decided > cases(390)
    assert grew < cases(30)


def test_what_has_gone_never_comes_back_and_the_right_number_is_left():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 60)), rng.integers(0, 2, 200)
    model = FSAClassifier(5, epochs=30)
    before = set(range(60))
    for e in range(1, 40):
        model.partial_fit(X, y)
        assert set(model.selected_) <= before
        assert len(model.selected_) == twin.columns_left(60, 5, 30, 30.0, min(e, 30))
        assert np.count_nonzero(model.coef_) == len(model.selected_) == model.get_support().sum()
        before = set(model.selected_)


def test_among_equals_the_first_stay():
    X = np.zeros((20, 6))
    model = FSAClassifier(2).fit(X, np.arange(20) % 2)
    assert sorted(model.selected_) == [0, 1]
    one = np.random.default_rng(0).normal(size=20)
    twins = FSAClassifier(2).fit(np.repeat(one[:, None], 5, axis=1), one > 0)
    assert sorted(twins.selected_) == [0, 1]


@pytest.fixture
def design():
    """The paper's: any two columns correlated by .5, every tenth counts."""

    def make(n, p, true, seed, noise=0.0):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
        support = np.arange(9, p, 10)[:true]
        return X, X[:, support].sum(axis=1) + noise * rng.normal(size=n), support

    return make


@pytest.mark.parametrize("loss", MARGIN_LOSSES)
def test_planted_features_are_found_by_every_loss(design, loss):
    for seed in range(3):
        X, f, support = design(1000, 100, 10, seed)
        for form in (np.asarray, sp.csr_array):
            found = FSAClassifier(10, loss=loss).fit(form(X), f > 0).selected_
            # rows far on the right side are as wrong as others to the squared loss
            assert len({*found} & {*support}) >= (9 if loss == "squared" else 10)


@pytest.mark.parametrize("loss", ["squared", "lorenz"])
def test_planted_features_are_found_in_regression(design, loss):
    for seed in range(3):
        X, y, support = design(300, 200, 10, seed, noise=1.0)
        assert set(FSARegressor(10, loss=loss).fit(X, y).selected_) == set(support)


def test_wrong_labels_and_outliers_hardly_matter_to_lorenz(design):
    X, f, support = design(1000, 100, 5, 0)
    rng = np.random.default_rng(0)
    wrong = rng.random(1000) < 0.1
    assert set(FSAClassifier(5, loss="lorenz").fit(X, (f > 0) ^ wrong).selected_) == set(support)
    y = f.copy()
    y[:20] += 1e3 * rng.normal(size=20)
    found = FSARegressor(5, loss="lorenz", epochs=300).fit(X, y)
    assert set(found.selected_) == set(support)
    np.testing.assert_allclose(found.coef_[support], 1.0, atol=0.1)


def test_fit_is_as_many_calls_as_epochs():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(90, 30)) * (rng.random((90, 30)) < 0.4), rng.integers(0, 3, 90)
    for form in (np.asarray, sp.csr_array):
        for learner, target in ((FSAClassifier(4, epochs=20), y), (FSARegressor(4, epochs=20), X[:, 0] + y)):
            whole = quiet_fit(learner, form(X), target)
            parts = type(learner)(4, epochs=20)
            for _ in range(20):
                parts.partial_fit(form(X), target)
            assert whole.selected_.tolist() == parts.selected_.tolist()
            np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-8, atol=1e-12)
            np.testing.assert_allclose(parts.loss_curve_, whole.loss_curve_, rtol=1e-8)


def test_a_stream_of_new_rows_finds_planted_features(design):
    model = FSAClassifier(10, epochs=40)
    for seed in range(40):
        X, f, support = design(250, 200, 10, seed)
        model.partial_fit(X, f > 0)
    assert set(model.selected_) == set(support)
    X, f, _ = design(1000, 200, 10, 99)
    assert model.score(X, f > 0) > 0.95


def test_the_scale_and_place_of_columns_do_not_matter():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(120, 25)), rng.integers(0, 2, 120)
    plain = FSAClassifier(5).fit(X, y)
    moved = FSAClassifier(5).fit(X * 2.0 ** rng.integers(-20, 20, 25) + 7.0, y)
    assert moved.selected_.tolist() == plain.selected_.tolist()
    np.testing.assert_allclose(moved.scores_, plain.scores_, rtol=1e-6)
    order = rng.permutation(25)
    shuffled = FSAClassifier(5).fit(X[:, order], y)
    np.testing.assert_allclose(shuffled.scores_, plain.scores_[order], rtol=1e-9)


def with_a_long_row(factor):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 50))
    X[7] *= factor
    return X, X[:, 3] + 0.1 * rng.normal(size=2000)


@pytest.mark.parametrize("factor", [10, 20, 30, 100, 1000])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_long_row_does_not_lead_astray(factor, form):
    X, y = with_a_long_row(factor)
    model = FSARegressor(1).fit(form(X), y)
    assert model.selected_.tolist() == [3]
    assert model.score(X, y) > 0.98
    assert model.loss_curve_.max() < 0.5  # that of no weights
    # a label says nothing of how long its row is, so a warning may ask to clip it
    assert quiet_fit(FSAClassifier(1, loss="squared"), form(X), y > 0).selected_.tolist() == [3]


@pytest.mark.parametrize("batch_size", [32, 200, 500])
def test_the_steepness_of_a_minibatch_is_nearly_its_largest_eigenvalue(batch_size):
    rng = np.random.default_rng(15)
    for p in (3, 100, 1000)[: cases(3, 2)]:
        X, y = rng.normal(size=(500, p)), rng.normal(size=500)
        model = quiet_fit(FSARegressor(p, epochs=1, batch_size=batch_size), X, y)._model_
        order = np.random.default_rng([0, 1]).permutation(500)
        sample = order[: min(-(-500 // -(-500 // batch_size)), 256)]
        Z = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(500)])[sample]
        assert model.steepness == pytest.approx(np.linalg.norm(Z, 2) ** 2 / len(sample), rel=0.15)


def test_sparse_columns_far_from_0_give_the_dense_result():
    rng = np.random.default_rng(16)
    X = rng.normal(size=(300, 8)) + 1e8
    X[:, 6] *= rng.random(300) < 0.5
    y = X[:, 2] - 1e8 + 0.1 * rng.normal(size=300)
    dense, sparse = (FSARegressor(1).fit(form(X), y) for form in (np.asarray, sp.csr_array))
    assert dense.selected_.tolist() == sparse.selected_.tolist() == [2]
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
    assert sparse.score(sp.csr_array(X), y) > 0.98


@pytest.mark.parametrize("loss", ["squared", "lorenz"])
@pytest.mark.parametrize("first", [1, 2, 29])
def test_a_small_first_batch_does_not_fix_the_scale_of_the_target(tmp_path, loss, first):
    rng = np.random.default_rng(17)
    X = rng.normal(size=(1000, 10))
    y = 5000 + 1000 * X[:, 0] + 10 * rng.normal(size=1000)
    model = FSARegressor(2, loss=loss).partial_fit(X[:first], y[:first])
    model.save(tmp_path / "state.sieve")
    model = FSARegressor.load(tmp_path / "state.sieve")
    for _ in range(99):
        model.partial_fit(X, y)
    assert model._target_[1] == pytest.approx(1000, rel=0.1)
    assert model._first_targets_.size == 0
    assert model.score(X, y) > 0.999


def test_predictions_stay_when_the_targets_units_change():
    rng = np.random.default_rng(18)
    X = rng.normal(size=(20, 3))
    model = FSARegressor(2, loss="lorenz").partial_fit(X, 7 + X[:, 0])
    before, old = model.predict(X), model._target_
    new = np.array([-3.0, 50.0])
    model._model_.change_units(old, new)
    model._target_ = new
    np.testing.assert_allclose(model.predict(X), before)


def test_a_constant_target_says_nothing_about_its_spread():
    model = FSARegressor(1)
    rng = np.random.default_rng(19)
    for _ in range(5):
        model.partial_fit(rng.normal(size=(100, 3)), np.full(100, 4.0))
    assert len(model._first_targets_) == 30
    X = rng.normal(size=(300, 3))
    model.partial_fit(X, 1e4 * X[:, 1])
    assert model._target_[1] > 5e3
    assert len(model._first_targets_) == 0


def test_raw_weights_are_compared_by_what_they_do():
    rng = np.random.default_rng(20)
    Z = rng.normal(size=(500, 2))
    y = 0.2 * Z[:, 0] + Z[:, 1] + 0.1 * rng.normal(size=500)
    for factor in (1.0, 10.0, 30.0):  # a larger column needs a smaller weight
        model = quiet_fit(FSARegressor(1, standardize=False), Z * [1.0, factor], y)
        assert model.selected_.tolist() == [1]
        assert model.scores_[1] == pytest.approx(np.abs(model.coef_[1]) * Z[:, 1].std() * factor / y.std())


def test_raw_scales_prefer_large_columns():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 10))
    y = X[:, 0] + X[:, 5] + 0.5 * rng.normal(size=300)
    X[:, 5] /= 100
    assert set(FSARegressor(2).fit(X, y).selected_) == {0, 5}
    assert 5 not in quiet_fit(FSARegressor(2, standardize=False), X, y).selected_


def test_with_all_features_it_is_ridge_regression():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 6)) * np.arange(1, 7) + 3
    y = X @ rng.normal(size=6) + rng.normal(size=200)
    ours = FSARegressor(6, l2=0.1, epochs=400).fit(X, y)
    Z, t = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    theirs = Ridge(alpha=0.1 * 200).fit(Z, t)
    np.testing.assert_allclose(ours._model_.beta[0], theirs.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.predict(X), X @ ours.coef_ + ours.intercept_, rtol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_with_all_features_it_is_logistic_regression(classes):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(600, 4))
    odds = X @ rng.normal(size=(4, classes)) + rng.gumbel(size=(600, classes))
    y = np.argmax(odds, axis=1)
    ours = FSAClassifier(4, l2=0.0, epochs=400).fit(X, y)
    theirs = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    # pairs of classes and all of them at once estimate the same probabilities, not in the same way
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), atol=0.01 if classes == 2 else 0.08
    )
    assert np.array_equal(ours.predict(X), ours.classes_[np.argmax(ours.predict_proba(X), axis=1)])


def test_balanced_classes_count_the_same():
    rng = np.random.default_rng(7)
    y = (rng.random(2000) < 0.05).astype(int)
    X = rng.normal(size=(2000, 3)) + y[:, None]
    plain, balanced = (FSAClassifier(3, balanced=b).fit(X, y).predict(X) for b in (False, True))
    assert plain[y == 1].mean() < 0.6
    assert balanced[y == 1].mean() > 0.8
    stream = FSAClassifier(3, balanced=True)
    for low in range(0, 2000, 250):
        stream.partial_fit(X[low : low + 250], y[low : low + 250], classes=[0, 1])
    assert stream.predict(X)[y == 1].mean() > 0.8


def test_labels_of_any_kind():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(100, 5))
    codes = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    for labels in (np.array(["a", "bb", "c"]), np.array([-3, 0, 5]), np.array([1.0, 2.0, 4.0])):
        model = FSAClassifier(3).fit(X, labels[codes])
        assert model.classes_.tolist() == labels.tolist()
        assert model.predict(X).dtype.kind == labels.dtype.kind
        assert np.mean(model.predict(X) == labels[codes]) > 0.7
        assert model.decision_function(X).shape == (100, 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epochs": 2}, "have not settled after 2 epochs.*raise epochs"),
        ({"epochs": 2, "learning_rate": 0.1}, "have not settled after 2 epochs.*raise epochs"),
        ({"learning_rate": 1e-5}, "have not settled.*; raise learning_rate, or say 'auto'"),
    ],
)
def test_too_few_epochs_and_too_short_steps_are_named_with_the_remedy(design, parameters, message):
    X, f, _ = design(200, 100, 10, 0)
    with pytest.warns(ConvergenceWarning, match=message):
        FSAClassifier(10, **parameters).fit(X, f > 0)


def test_too_long_steps_are_named_with_the_remedy(design):
    X, f, _ = design(600, 100, 10, 0)
    wrong = np.random.default_rng(0).random(600) < 0.2
    with pytest.warns(ConvergenceWarning, match="lower learning_rate, or say 'auto'"):
        FSAClassifier(10, learning_rate=50.0).fit(X, (f > 0) ^ wrong)
    with pytest.raises(ParameterError, match=r"weights grew without bound in epoch .*or say 'auto'"):
        FSARegressor(10, learning_rate=10.0).fit(X, f)


def test_a_loss_that_exploded_on_the_way_is_named():
    X, y = with_a_long_row(30)
    with pytest.warns(
        ConvergenceWarning, match=r"in epoch \d+ the mean loss was.*lower learning_rate, or say"
    ):
        FSARegressor(1, learning_rate=0.2).fit(X, y)
    X[7] *= 100  # now one class's only row of note is wrong by a thousand deviations
    with pytest.warns(ConvergenceWarning, match=r"the mean loss was .*a few rows outweigh all others: clip"):
        FSAClassifier(1, loss="squared").fit(X, np.where(np.arange(len(y)) == 7, y < 0, y > 0))


@pytest.mark.parametrize("loss", MARGIN_LOSSES)
def test_separable_classes_give_finite_weights(loss):
    X = np.concatenate([np.linspace(-2, -1, 30), np.linspace(1, 2, 30)])[:, None] * np.ones(3)
    model = FSAClassifier(2, loss=loss).fit(X, X[:, 0] > 0)
    assert np.all(np.isfinite(model.coef_))
    assert np.abs(model.coef_).max() < 100
    assert model.score(X, X[:, 0] > 0) == 1.0


def test_separable_classes_without_a_ridge_are_named():
    X = np.concatenate([np.linspace(-2, -1, 30), np.linspace(1, 2, 30)])[:, None]
    with pytest.warns(ConvergenceWarning, match=r"separate the classes.*set l2 above 0"):
        FSAClassifier(1, l2=0.0).fit(X, X[:, 0] > 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FSAClassifier(1, l2=0.0, loss="hinge").fit(X, X[:, 0] > 0)


def test_probabilities_are_for_the_logistic_loss():
    model = FSAClassifier(loss="hinge").fit(np.eye(4), [0, 1, 0, 1])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(np.eye(4))


def test_a_refused_call_changes_nothing():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(50, 8)), rng.integers(0, 2, 50)
    model, other = (FSAClassifier(3, epochs=6).partial_fit(X, y) for _ in range(2))
    bad = X.copy()
    bad[4, 2] = np.nan
    for rows, labels in ((bad, y), (X, y + 1), (X[:, :7], y)):
        with pytest.raises(ValueError):
            model.partial_fit(rows, labels)
    with pytest.raises(BadValueError, match="'x2' has missing values"):
        model.fit(bad, y)
    for either in (model, other):
        either.partial_fit(X, y)
    assert np.array_equal(model.coef_, other.coef_)


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"], [1.0, 2.5e9, 3.0]])
def test_a_state_comes_back_and_goes_on_bit_for_bit(tmp_path, labels):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(60, 20))
    y = np.array(sorted(labels))[rng.integers(0, len(labels), 60)]
    model = FSAClassifier(3, epochs=10, balanced=True)
    for _ in range(4):
        model.partial_fit(X, y, classes=labels)
    model.save(tmp_path / "state.sieve")
    again = FSAClassifier.load(tmp_path / "state.sieve")
    for either in (model, again):
        for _ in range(6):
            either.partial_fit(X, y)
    assert np.array_equal(model.coef_, again.coef_)
    assert np.array_equal(model.predict(X), again.predict(X))
    assert model.classes_.dtype.kind == again.classes_.dtype.kind


@pytest.mark.parametrize(("name", "k", "least"), [("dexter", 100, 0.92), ("rcv1_vw_slice", 1000, 0.85)])
def test_a_few_words_classify_text(name, k, least):
    X, y = load_real(name)
    train = np.random.default_rng(0).random(len(y)) < 0.7
    model = FSAClassifier(k).fit(X[train], y[train])
    assert model.score(X[~train], y[~train]) > least


def test_long_documents_and_rare_words_do_not_lead_the_squared_loss_astray():
    X, y = load_real("spam_assassin_stream")
    X, y = X[:3000], y[:3000]
    model = FSARegressor(20).fit(X, y.astype(float))
    assert model.score(X, y) > 0.7
    assert model.loss_curve_.max() < 0.5
    assert FSAClassifier(20, loss="squared").fit(X, y).score(X, y) > 0.9
    X, y = load_real("spambase")
    model = FSARegressor(5).fit(X, y.astype(float))
    assert model.score(X, y) > 0.3
    assert model.loss_curve_.max() < 0.5


@pytest.mark.parametrize(("loss", "weight"), [(1.0, np.nan), (np.nan, 1.0)])
def test_a_step_that_diverges_drops_no_column_so_that_the_caller_sees_it(loss, weight):
    class Diverging:
        n = 2

        def epoch(self, order, y, weights_of_rows, weights, steps):
            weights.beta[0, 0] = weight
            return loss

    given = {"learning_rate": 0.1, "momentum": 0.0, "l2": 0.0, "batch_size": 2, "random_state": 0}
    config = FSAConfig(k=1, loss=0, curvature=0.25, epochs=2, annealing=1.0, **given)
    model = AnnealedModel(4, 1, standardize=True)
    assert np.isnan(model.step(Diverging(), np.zeros(2), np.ones(2), config)) == np.isnan(loss)
    assert len(model.columns) == 4
    assert model.beta[0, 0] == weight or np.isnan(weight)
