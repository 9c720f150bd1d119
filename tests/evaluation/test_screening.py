"""The screening protocol: equal to its slow twin, no leakage, one fit a ranking, and bad input is named."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import streamsieve as ss
from streamsieve import registry
from streamsieve.evaluation import (
    ProtocolError,
    Report,
    combinations,
    curves,
    learner_names,
    peaks,
    screening_protocol,
    selector_names,
    size_grid,
)
from streamsieve.evaluation.candidates.learners import as_learners, fresh, scores_of
from streamsieve.evaluation.candidates.selectors import as_selectors, choices, size_parameter
from streamsieve.evaluation.engine.problem import Problem, fold_numbers, held_out
from streamsieve.evaluation.engine.scaling import RunningScaler, Scaler
from streamsieve.evaluation.engine.settings import seed_of
from streamsieve.evaluation.measures.accuracy import auc, r2
from streamsieve.exceptions import (
    BadValueError,
    CapabilityError,
    ParameterError,
    SchemaError,
    StateError,
    TargetError,
)
from streamsieve.protocols import Task
from tests.helpers.tier import cases
from tests.reference.screening import protocol as slow_protocol

NUMBERS = ("selector", "learner", "size", "run", "fold", "n_selected", "score")


def data(n=90, p=8, classes=2, seed=0, relevant=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, p)) * np.linspace(1, 5, p) + np.linspace(-3, 20, p)
    X[:, :relevant] += 2 * y[:, None]
    return X, y


def numbers(report):
    return list(zip(*(report.table[name].tolist() for name in NUMBERS), strict=True))


def same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert a[:-1] == b[:-1]
        assert a[-1] == b[-1] or (np.isnan(a[-1]) and np.isnan(b[-1]))


def folds_of(X, y, runs, folds, seed, *, literal):
    problem = Problem.of(X, y)
    seeds = [seed_of(seed, "folds", run) for run in range(runs)]
    return [fold_numbers(problem, folds, each, stratified=not literal) for each in seeds]


def by_f(A, y):
    return np.argsort(-f_classif(A, y)[0], kind="stable").tolist()


def by_correlation(A, y):
    return np.argsort(-np.abs([np.corrcoef(a, y)[0, 1] for a in A.T]), kind="stable").tolist()


TWINS = {
    "classes": ("f", "nb", by_f, lambda A, t, B: GaussianNB().fit(A, t).predict_proba(B)[:, 1]),
    "numbers": ("correlation", "ridge", by_correlation, lambda A, t, B: Ridge().fit(A, t).predict(B)),
}


@pytest.mark.parametrize("kind", TWINS)
@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_equal_to_the_twin(seed, literal, kind):
    numeric, sizes, (selector, learner, ranked, predicted) = kind == "numbers", [1, 3, 7], TWINS[kind]
    X, y = data(60, 7, seed=seed)
    if numeric:
        y = X[:, 0] - 0.3 * X[:, 3] + np.random.default_rng(seed).normal(size=60)
    options = {"sizes": sizes, "runs": 2, "folds": 4, "literal": literal, "random_state": seed}
    report = screening_protocol(X, y, selector, learner, **options)
    folds = folds_of(X, y, 2, 4, seed, literal=literal)
    expected = slow_protocol(X, y, ranked, predicted, folds, sizes, numeric=numeric, literal=literal)
    assert report.metric == ("r2" if numeric else "auc")
    assert report.table.n_rows == len(expected)
    columns = (report.table[name] for name in ("size", "run", "fold", "score"))
    for size, run, fold, score in zip(*columns, strict=True):
        key = (size, run) if literal else (size, run, fold)
        assert fold == -1 or not literal
        assert score == pytest.approx(expected[key], rel=1e-9, abs=1e-12)


def test_the_numbers_depend_neither_on_processes_nor_on_resuming(tmp_path):
    X, y = data()
    options = {"sizes": [1, 4], "runs": 2, "folds": 3, "random_state": 3}
    methods = ["none", "f", "saola", "random", "trace_ratio"], ["tree", "knn"]
    once = screening_protocol(X, y, *methods, **options)
    twice = screening_protocol(X, y, *methods, **options, n_jobs=2, folder=tmp_path / "r")
    same(numbers(once), numbers(twice))
    path = tmp_path / "r" / "cells.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[5:17]) + lines[20][:40])
    resumed = screening_protocol(X, y, *methods, **options, folder=tmp_path / "r", resume=True)
    same(numbers(once), numbers(resumed))
    same(numbers(once), numbers(Report.load(tmp_path / "r")))
    with pytest.raises(StateError, match=r"other settings: runs was 2 and is 3 now"):
        screening_protocol(X, y, *methods, **{**options, "runs": 3}, folder=tmp_path / "r", resume=True)
    with pytest.raises(StateError, match=r"data.X was '\w+' and is '\w+' now"):
        screening_protocol(X + 1e-9, y, *methods, **options, folder=tmp_path / "r", resume=True)
    others = {**as_selectors(methods[0], Task.BINARY), "saola": ss.SAOLA(alpha=0.05)}
    with pytest.raises(StateError, match=r"selectors.saola.parameters.alpha was 0.01 and is 0.05 now"):
        screening_protocol(X, y, others, methods[1], **options, folder=tmp_path / "r", resume=True)


def test_another_seed_deals_other_rows():
    X, y = data()
    one, other = (
        screening_protocol(X, y, "f", "nb", sizes=[2], runs=1, folds=3, random_state=seed) for seed in (0, 1)
    )
    assert numbers(one) != numbers(other)


def test_dense_sparse_frames_and_text_labels_are_the_same():
    import pandas as pd

    X, y = data(60)
    X = np.where(np.abs(X) > 2, X, 0)
    options = {"sizes": [2, 4], "runs": 1, "folds": 3}
    expected = screening_protocol(X, y, ["f", "saola"], ["nb", "tree"], **options)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(8)])
    for given_X, given_y in (
        (sp.csr_array(X), y),
        (np.asfortranarray(X), y),
        (frame, np.array(["no", "yes"])[y]),
    ):
        found = screening_protocol(given_X, given_y, ["f", "saola"], ["nb", "tree"], **options)
        assert [row[:-1] for row in numbers(found)] == [row[:-1] for row in numbers(expected)]
        np.testing.assert_allclose(found.table["score"], expected.table["score"], rtol=1e-7)


def test_selection_sees_training_rows_only():
    """Of pure noise nothing can be learnt: a selection that had seen the test rows would look better."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2000)), np.arange(60) % 2
    report = screening_protocol(X, y, "f", "nb", sizes=[10], runs=3, folds=5)
    assert report.table["score"].mean() < 0.6
    leaking = ss.Screen("f", k=10).fit(X, y).selected_
    leaky = screening_protocol(X[:, leaking], y, "none", "nb", runs=3, folds=5)
    assert leaky.table["score"].mean() > 0.85


class Counting(SelectKBest):
    """Counts its fits."""

    fits = 0

    def fit(self, X, y=None):
        type(self).fits += 1
        return super().fit(X, y)


def test_a_ranking_is_fitted_once_a_fold_for_all_learners_and_sizes():
    X, y = data()
    Counting.fits = 0
    report = screening_protocol(X, y, {"k": Counting()}, ["nb", "tree"], sizes=[1, 2, 5], runs=2, folds=3)
    assert Counting.fits == 6
    assert report.table.n_rows == 6 * 2 * 3
    ours = screening_protocol(X, y, "f", ["nb", "tree"], sizes=[1, 2, 5], runs=2, folds=3)
    np.testing.assert_array_equal(ours.table["score"], report.table["score"])


def test_other_libraries_are_ranked_by_what_they_have():
    X, y = data(60, 6)
    methods = {
        "rfe": RFE(LogisticRegression(), step=1),
        "model": SelectFromModel(LogisticRegression(), threshold=-np.inf, max_features=3),
        "fdr": SelectFromModel(LogisticRegression()),
    }
    report = screening_protocol(X, y, methods, "nb", sizes=[1, 3], runs=1, folds=2)
    sizes = report.table.mean("n_selected", by=["selector", "size"])
    assert list(zip(sizes["selector"], sizes["size"].tolist(), sizes["mean"].tolist(), strict=True))[:4] == [
        ("rfe", 1, 1.0), ("rfe", 3, 3.0), ("model", 1, 1.0), ("model", 3, 3.0)
    ]  # fmt: skip


RANKING = [cls for cls in registry.selectors().values() if cls().traits.nested_sizes]


@pytest.mark.parametrize("cls", RANKING, ids=lambda cls: cls.__name__)
def test_what_is_cut_from_a_ranking_is_what_a_fit_of_that_size_gives(cls):
    X, y = data(80, 9, seed=4)
    if cls.__name__ == "RReliefF":
        y = X[:, 0] + np.sin(X[:, 1])
    task = Task.REGRESSION if y.dtype.kind == "f" else Task.BINARY
    selector = as_selectors([cls()], task).popitem()[1]
    (choice,) = choices(selector, X, y, [1, 3, 9], seed=0)
    assert choice.nested
    assert choice.size == 9
    for size in (1, 2, 3, 5, 9):
        alone = cls(**{size_parameter(selector): size}).fit(X, y).ranked_
        np.testing.assert_array_equal(choice.order[:size], alone)


def test_selectors_with_a_number_are_fitted_for_each_and_others_once():
    X, y = data()
    found = {}
    for name in ("trace_ratio", "ofs", "saola", "lars"):
        selector = as_selectors(name, Task.BINARY)[name]
        found[name] = [choice.size for choice in choices(selector, X, y, [1, 3, 50], seed=0)]
    assert found == {"trace_ratio": [1, 3, 8], "ofs": [1, 3, 8], "saola": [0], "lars": [1, 3, 8]}
    assert size_parameter(ss.TopK()) == "k"
    assert size_parameter(ss.Screen("f", alpha=0.1)) is None
    assert size_parameter(ss.ReliefF()) == "k"


def test_a_selector_that_keeps_nothing_is_reported_and_learners_guess():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), np.arange(60) % 3 == 0
    strict = ss.SAOLA(alpha=1e-9)
    report = screening_protocol(X, y, {"saola": strict}, "nb", runs=1, folds=3)
    assert report.table["n_selected"].tolist() == [0, 0, 0]
    assert report.table["score"].tolist() == [0.5] * 3
    shares = screening_protocol(X, y, {"saola": strict}, "nb", runs=1, folds=3, metric="accuracy")
    np.testing.assert_allclose(shares.table["score"], 2 / 3, atol=0.05)
    target = rng.normal(size=60)
    means = screening_protocol(X, target, {"saola": strict}, "ridge", runs=1, folds=3)
    assert np.all(np.abs(means.table["score"]) < 0.2)
    assert [chosen.tolist() for chosen in report.selections("saola")] == [[]] * 3


def test_many_classes_are_compared_each_with_the_rest():
    X, y = data(90, classes=3)
    labels = np.array(["a", "b", "c"])[y]
    learners = {"nb": GaussianNB(), "svc": SVC()}
    report = screening_protocol(X, labels, "f", learners, sizes=[3], runs=1, folds=3)
    assert not report.failures
    assert np.all(report.table["score"] > 0.8)
    ovo = {"ovo": SVC(decision_function_shape="ovo", break_ties=False)}
    four = data(80, classes=4)
    with pytest.raises(ProtocolError, match="gives 6 scores per row for 4 classes"):
        screening_protocol(*four, "f", ovo, sizes=[3], runs=1, folds=2)


@settings(max_examples=cases(60))
@given(st.integers(2, 4), st.integers(6, 40), st.integers(0, 10**6), st.booleans())
def test_auc_is_that_of_scikit_learn(classes, n, seed, ties):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n)])
    scores = rng.normal(size=(len(y), classes))
    if ties:
        scores = np.round(scores)
    if classes == 2:
        assert auc(y, scores[:, 1]) == pytest.approx(roc_auc_score(y, scores[:, 1]))
        return
    expected = np.mean([roc_auc_score(y == c, scores[:, c]) for c in range(classes)])
    assert auc(y, scores) == pytest.approx(expected)


def test_measures_of_degenerate_targets():
    assert np.isnan(auc(np.zeros(4, int), np.arange(4.0)))
    assert np.isnan(r2(np.ones(4), np.arange(4.0)))
    y = np.array([1.0, 2.0, 4.0])
    assert r2(y, y[::-1]) == pytest.approx(r2_score(y, y[::-1]))


@settings(max_examples=cases(60))
@given(st.integers(2, 5), st.integers(2, 6), st.integers(0, 10**6))
def test_rows_are_dealt_evenly(classes, folds, seed):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.tile(np.arange(classes), folds), rng.integers(0, classes, 17)])
    problem = Problem.of(np.zeros((len(y), 1)), y)
    fold = fold_numbers(problem, folds, seed)
    assert np.ptp(np.bincount(fold, minlength=folds)) <= 1
    for c in range(classes):
        assert np.ptp(np.bincount(fold[y == c], minlength=folds)) <= 1
    held = held_out(problem, 0.3, seed)
    for c in range(classes):
        assert abs(held[y == c].sum() - 0.3 * (y == c).sum()) <= 1


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_scales_are_those_of_scikit_learn(wrap):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 6)) < 0.4, rng.normal(3, 2, size=(40, 6)), 0)
    X[:, 2] = 0.1  # constant, and its mean is rounded
    reference = StandardScaler(with_mean=wrap is np.asarray).fit(wrap(X[:30]))
    expected = reference.transform(wrap(X))
    found = Scaler(wrap(X[:30]))(wrap(X))
    running = RunningScaler()
    for low in range(0, 30, 7):
        running.learn(wrap(X[low : min(low + 7, 30)]))
    for one in (found, running(wrap(X))):
        a, b = (v.toarray() if sp.issparse(v) else v for v in (one, expected))
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_the_grid_of_the_thesis():
    assert size_grid(10**6, tau=1.825)[:2] == [12, 44]
    assert size_grid(10**6, tau=1.825)[-1] == 6230
    assert size_grid(500, tau=1.25)[-1] == 397
    assert size_grid(3, tau=2.0) == [3]
    assert size_grid(100, n_sizes=2, tau=1.5) == [8, 22]
    for p, tau in ((500, 1.25), (5000, 1.73), (20_000, 1.78), (520, 1.25)):
        assert abs(np.log(size_grid(p)[-1]) / np.log(120) - tau) < 0.02
    assert size_grid(1) == [1]
    with pytest.raises(ParameterError, match="tau"):
        size_grid(10, tau=0)


def test_every_learner_has_a_name_and_works_for_its_task():
    X, y = data(160, 4)
    report = screening_protocol(X, y, "none", learner_names(), runs=1, folds=2, errors="report")
    assert report.failures == []
    assert np.all(report.table["score"] > 0.7)
    target = X[:, 0] * 2 + X[:, 1]
    report = screening_protocol(X, target, "none", learner_names(regression=True), runs=1, folds=2)
    assert not np.any(np.isnan(report.table["score"]))
    assert {"saola", "mutual_info", "none", "random"} <= set(selector_names())


def test_a_learner_that_selects_further_takes_no_more_than_there_is():
    X, y = data(60, 4)
    learners = {"fsa": ss.FSAClassifier(k=3)}
    assert screening_protocol(X, y, "f", learners, sizes=[1, 4], runs=1, folds=2).failures == []


def test_views_of_a_report():
    X, y = data(90, 8)
    report = screening_protocol(
        X, y, ["none", "f", "saola"], ["nb", "tree"], sizes=[1, 2, 6], runs=3, folds=3
    )
    drawn = curves(report, "nb")
    assert drawn["f", "nb"].sizes.tolist() == [1, 2, 6]
    assert drawn["none", "nb"].sizes.tolist() == [8]
    tops = peaks(report)
    assert tops.n_rows == 6
    assert np.all(np.diff(tops["mean"]) <= 0)
    best = combinations(report)
    np.testing.assert_allclose(best.scores.mean(axis=1), tops["mean"])
    assert best.fold_scores.shape == (6, 3, 3)
    assert [len(chosen) for chosen in report.selections("f", 2)] == [2] * 9
    pooled = screening_protocol(X, y, "f", "nb", sizes=[2], runs=2, folds=3, auc="pooled")
    assert combinations(pooled).fold_scores.shape == (1, 2, 1)
    assert "f" in str(report)


def test_two_of_a_kind_get_two_names():
    named = as_selectors([ss.Screen("f"), ss.Screen("f", alpha=0.1), "saola"], Task.BINARY)
    assert list(named) == ["f", "f 2", "saola"]
    learners = as_learners(["nb", GaussianNB(), GaussianNB()], regression=False)
    assert list(learners) == ["nb", "GaussianNB", "GaussianNB 2"]


def test_randomized_learners_get_a_seed_and_a_seed_given_stays():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline

    piped = fresh(make_pipeline(StandardScaler(), RandomForestClassifier()), 7)
    assert piped[-1].random_state == 7
    assert fresh(RandomForestClassifier(random_state=3), 7).random_state == 3


def test_integers_that_are_numbers_reach_selectors_as_numbers():
    X, _ = data(60, 4)
    y = np.arange(60)
    report = screening_protocol(
        X, y, ["saola", "mutual_info"], "ridge", sizes=[2], runs=1, folds=2, task="regression"
    )
    assert report.settings["selectors"]["saola"]["parameters"]["task"] == "regression"


class Mute(ClassifierMixin, BaseEstimator):
    """Predicts, and gives no scores."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


class Fails(Mute):
    """Fails where there are two columns."""

    def decision_function(self, X):
        if X.shape[1] == 2:
            raise RuntimeError("two columns")
        return X[:, 0]


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"learners": {"mute": Mute()}}, CapabilityError, r"learner 'mute' \(Mute\) gives none"),
        ({"folds": 50}, TargetError, r"class 0 has 45 rows, fewer than folds=50.*choose folds <= 45"),
        ({"folds": 1}, ParameterError, "folds must be a whole number from 2"),
        ({"runs": 0}, ParameterError, "runs must be a whole number at least 1"),
        ({"sizes": [0]}, ParameterError, "sizes must be a whole number at least 1"),
        ({"selectors": "saolla"}, ParameterError, "no selector 'saolla'; did you mean 'saola'"),
        ({"selectors": []}, ParameterError, "selectors is empty"),
        ({"selectors": ss.SAOLA}, ParameterError, "a selector is a name"),
        ({"selectors": "rrelieff"}, ParameterError, "no selector 'rrelieff'"),
        ({"learners": "bayes"}, ParameterError, "no learner 'bayes'"),
        ({"learners": []}, ParameterError, "learners is empty"),
        ({"learners": "ridge"}, ParameterError, "'ridge' is not made for classes"),
        ({"learners": 3}, ParameterError, "a learner is a name"),
        ({"metric": "r2"}, ParameterError, "metric='r2' is not defined if the target is made of classes"),
        ({"auc": "mean"}, ParameterError, "auc must be one of"),
        ({"names": ["a"]}, SchemaError, "names has 1 entries for 8 columns"),
    ],
)
def test_bad_input_is_refused_before_anything_is_computed(changes, error, match):
    X, y = data()
    given = {"selectors": "f", "learners": "nb", "sizes": [2], "runs": 1, "folds": 2} | changes
    with pytest.raises(error, match=match):
        screening_protocol(X, y, given.pop("selectors"), given.pop("learners"), **given)


def test_selectors_for_other_targets_and_bad_values_are_refused():
    X, y = data()
    with pytest.raises(
        CapabilityError, match=r"selector 'f' \(Screen\) is made for a binary or multiclass target"
    ):
        screening_protocol(X, X[:, 0], "f", "ridge", runs=1, folds=2)
    with pytest.raises(TargetError, match="X has 90 rows, but y has 89"):
        screening_protocol(X, y[1:], "f", "nb", runs=1, folds=2)
    X[3, 2] = np.nan
    with pytest.raises(BadValueError, match="'x2' has missing values"):
        screening_protocol(X, y, "f", "nb", runs=1, folds=2)


@pytest.mark.parametrize("pooled", [False, True])
def test_a_learner_that_fails_loses_its_own_scores_only(tmp_path, pooled):
    X, y = data()
    arguments = X, y, "f", {"bad": Fails(), "nb": GaussianNB()}
    options = {"sizes": [1, 2, 3], "runs": 2, "folds": 3, "auc": "pooled" if pooled else "mean_fold"}
    report = screening_protocol(*arguments, **options, errors="report", folder=tmp_path)
    missing = np.isnan(report.table["score"])
    assert {(row[1], row[2]) for row in report.table.take(missing).rows()} == {("bad", 2)}
    assert len(report.failures) == 6
    assert "learner bad, size 2, fold" in str(report.failures[0])
    assert "RuntimeError: two columns" in str(report.failures[0])
    with pytest.raises(ProtocolError, match="6 parts failed") as caught:
        screening_protocol(*arguments, **options)
    same(numbers(caught.value.report), numbers(report))
    assert len(Report.load(tmp_path).failures) == 6


def test_scores_of_a_class_that_was_never_seen_are_the_lowest():
    X, y = data(60, classes=3)
    known = y < 2
    scores = scores_of(GaussianNB().fit(X[known], y[known]), X, 3)
    assert np.all(scores[:, 2] == -np.inf)
    scores = scores_of(LogisticRegression().fit(X[known], y[known]), X, 3)
    np.testing.assert_array_equal(scores[:, 0], -scores[:, 1])


def levels_that_have_no_order(n=600):
    """Integer codes of names: the target depends on which level it is, and not on how large the code is."""
    rng = np.random.default_rng(8)
    town = rng.integers(0, 6, n)
    y = np.isin(town, [0, 3, 5]) ^ (rng.random(n) < 0.1)
    return np.column_stack([rng.normal(size=(n, 3)), town]), y.astype(int)


@pytest.mark.parametrize("selector", [ss.FastOSFS(0.001), ss.SAOLA(0.001)], ids=lambda s: type(s).__name__)
def test_selectors_see_the_types_of_columns_that_learners_get_scaled(selector):
    X, y = levels_that_have_no_order()
    report = screening_protocol(X, y, {"by type": selector}, "knn", sizes=[2], runs=1, folds=3)
    assert [chosen.tolist() for chosen in report.selections("by type")] == [[3]] * 3
