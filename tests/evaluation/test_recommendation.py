"""The recommendation: what it recommends, what it calls significant, and how it says so."""

import math

import numpy as np
import pytest
from scipy import stats

from streamsieve.evaluation import Failure, Report, Table
from streamsieve.evaluation.reports.recommendation import recommend
from streamsieve.exceptions import ParameterError

RUNS, FOLDS = 4, 5
SETTINGS = {"runs": RUNS, "folds": FOLDS, "metric": "auc", "auc": "mean_fold", "data": {"features": 500}}


def report_of(scores, kept=None, sizes=None):
    """Return a screening report of combinations "selector learner" with the given scores of all folds."""
    rows = []
    for name, values in scores.items():
        selector, learner = name.split()
        size = (sizes or {}).get(name, 0)
        features = (kept or {}).get(name, 500 if selector == "none" else 10)
        rows += [
            (selector, learner, size, i // FOLDS, i % FOLDS, features, value, 0.25, 0.5)
            for i, value in enumerate(values)
        ]
    names = ("selector", "learner", "size", "run", "fold", "n_selected", "score")
    columns = [*names, "select_seconds", "learn_seconds"]
    return Report("screening", Table(dict(zip(columns, zip(*rows, strict=True), strict=True))), SETTINGS)


def recommended(*given):
    return recommend(report_of(*given))


def folds(mean, noise=0.01, seed=0):
    """Return scores with this mean and standard deviation."""
    drawn = np.random.default_rng(seed).normal(size=RUNS * FOLDS)
    return mean + noise * (drawn - drawn.mean()) / drawn.std(ddof=1)


def twin(first, second):
    """The test of Nadeau and Bengio, straight from its text."""
    d = np.asarray(first) - np.asarray(second)
    t = d.mean() / math.sqrt((1 / len(d) + 1 / (FOLDS - 1)) * d.var(ddof=1))
    return 2 * stats.t.sf(abs(t), len(d) - 1), t


def holm(p):
    order = sorted(range(len(p)), key=p.__getitem__)
    found, largest = [0.0] * len(p), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        found[i] = largest
    return found


def test_tests_are_those_of_the_text():
    rng = np.random.default_rng(1)
    scores = {f"s{i} nb": 0.9 - 0.006 * i + 0.02 * rng.normal(size=RUNS * FOLDS) for i in range(7)}
    found = recommended(scores)
    assert [each.mean for each in found.standings] == sorted(
        (v.mean() for v in scores.values()), reverse=True
    )
    best = scores[f"{found.best.selector} nb"]
    others = found.standings[1:]
    p, _ = zip(*(twin(best, scores[f"{each.selector} nb"]) for each in others), strict=True)
    np.testing.assert_allclose([each.p_value for each in others], p, rtol=1e-9)
    np.testing.assert_allclose([each.adjusted for each in others], holm(p), rtol=1e-9)
    error = best.std(ddof=1) * math.sqrt(1 / len(best) + 1 / (FOLDS - 1))
    assert [each.within for each in others] == [bool(best.mean() - each.mean <= error) for each in others]
    assert found.best.within
    assert math.isnan(found.best.adjusted)
    assert found.test_over_train == 1 / (FOLDS - 1)


def test_a_clear_winner_is_named_with_its_score_and_its_features():
    found = recommended({"f nb": folds(0.9), "saola nb": folds(0.7, seed=1), "none nb": folds(0.6, seed=2)})
    reach = 0.010 * math.sqrt(1 / 20 + 1 / 4) * stats.t.isf(0.025, 19)
    assert str(found) == (
        f"Use f with nb: AUC 0.900 (95% interval {0.9 - reach:.3f} to {0.9 + reach:.3f}), "
        "10 of 500 features. "
        "It is significantly better than the next, saola with nb (0.700, p < 0.0001). "
        "The best selection beats all 500 features significantly (0.600, p < 0.0001)."
    )
    assert found.recommended is found.best
    assert found.beats(found.next)
    assert [each.tiers for each in found.standings] == [(1, 1), (2, 2), (3, 3)]


def test_no_significant_difference_is_said_and_the_smallest_is_recommended():
    kept = {"f nb": 100, "saola nb": 4.5, "osfs nb": 2}
    scores = {
        "f nb": folds(0.9, 0.03), "saola nb": folds(0.899, 0.03, 1), "osfs nb": folds(0.8, 0.03, 2),
        "none nb": folds(0.89, 0.03, 3),
    }  # fmt: skip
    found = recommended(scores, kept)
    assert str(found).startswith(
        "Use saola with nb: AUC 0.899 (95% interval 0.865 to 0.933), 4.5 of 500 feat"
    )
    assert "The best score was 0.900 (f with nb, 100 of 500 features); the difference is not" in str(found)
    assert str(found).endswith("Selecting gives no significant gain over all 500 features (0.890).")
    assert found.recommended.selector == "saola"  # osfs is smaller, and worse
    assert found.beats(found.of("osfs"))


def test_the_best_is_recommended_where_nothing_as_good_is_smaller():
    scores = {"f nb": folds(0.9, 0.03), "saola nb": folds(0.899, 0.03, 1)}
    found = recommended(scores, {"f nb": 3, "saola nb": 30})
    assert found.recommended is found.best
    assert "The difference to the next, saola with nb (0.899), is not significant." in str(found)
    assert str(found).endswith(" Keeping all features was not tried.")


def test_selecting_that_does_not_help_is_said():
    found = recommended({"none nb": folds(0.9), "f nb": folds(0.7, seed=1)})
    assert str(found).startswith("Keep all 500 features, with nb: AUC 0.900 (95% interval 0.8")
    assert "It is significantly better than the next, f with nb (0.700, p < 0.0001)." in str(found)
    found = recommended({"none nb": folds(0.9, 0.05), "f nb": folds(0.9, 0.05, 1) - 0.001}, {"f nb": 7})
    best, other = found.standings
    assert found.recommended is (other if best.selector == "none" else best)
    gain = "Selecting gives no significant gain over all 500 features"
    assert gain in str(found) or "all features with nb, all 500 features); the difference is not" in str(
        found
    )


def test_all_features_are_kept_if_no_selection_comes_near():
    noise = np.random.default_rng(0).normal(size=RUNS * FOLDS)
    found = recommended({"none nb": 0.9 + 0.001 * noise, "f nb": 0.89 + 0.012 * noise[::-1]})
    assert not found.beats(found.next)
    assert str(found).startswith("Keep all 500 features, with nb: AUC ")
    assert str(found).endswith("The difference to the next, f with nb (0.888), is not significant.")


def test_what_failed_somewhere_never_wins():
    broken = folds(0.99)
    broken[3] = np.nan
    found = recommended({"f nb": broken, "saola nb": folds(0.8, seed=1), "none nb": folds(0.7, seed=2)})
    assert found.best.selector == "saola"
    assert [each.selector for each in found.standings] == ["saola", "none", "f"]
    last = found.standings[-1]
    assert not last.complete
    assert last.n == RUNS * FOLDS - 1
    assert math.isnan(last.adjusted)
    found = recommended({"f nb": folds(0.8), "none nb": broken})
    assert str(found).endswith("; the others failed in some parts, so no difference is tested.")
    assert not found.tested
    assert {each.tiers for each in found.standings} == {(0, 0)}


def test_scores_are_paired_by_their_fold():
    """Two selectors that fail in different folds have as many scores as each other, of other folds."""
    a, b = folds(0.9, 0.05), folds(0.9, 0.05)
    a[0] = b[5] = np.nan
    found = recommended({"a nb": a, "b nb": b, "f nb": folds(0.8)})
    assert [each.complete for each in found.standings] == [True, False, False]
    assert math.isnan(found.standings[1].p_value)


def test_a_fold_without_any_score_is_nobodys_failure():
    scores = {"a nb": folds(0.9, 0.05), "b nb": folds(0.7, 0.05, 1)}
    for values in scores.values():
        values[2] = np.nan
    found = recommended(scores)
    assert found.tested
    assert all(each.complete and each.n == RUNS * FOLDS - 1 for each in found.standings)
    assert found.beats(found.next)


def test_a_steadier_and_better_one_is_not_passed_over_for_a_noisy_one():
    noise = np.random.default_rng(0).normal(size=RUNS * FOLDS)
    scores = {"f nb": 0.95 + 0.01 * noise, "chi2 nb": 0.949 + 0.001 * noise, "chi2 knn": 0.945 + 0.05 * noise}
    found = recommended(scores, {"f nb": 50, "chi2 nb": 5, "chi2 knn": 5})
    assert found.recommended.name == "chi2 + nb"


def test_whatever_keeps_all_features_is_called_so_under_any_name():
    report = report_of({"everything nb": folds(0.9), "f nb": folds(0.7, seed=1)})
    report.settings = report.settings | {"selectors": {"everything": None, "f": {}}}
    assert str(recommend(report)).startswith("Keep all 500 features, with nb")


def test_keeping_nothing_is_called_so():
    scores = {"saola nb": np.full(RUNS * FOLDS, 0.5), "none nb": folds(0.5, 0.1)}
    found = recommended(scores, {"saola nb": 0})
    assert str(found).startswith(
        "No combination is significantly better than saola with nb, which kept nothing"
    )
    both = ("saola nb", "f nb")
    nothing = recommended(dict.fromkeys(both, scores["saola nb"]), dict.fromkeys(both, 0))
    assert str(nothing).startswith("No selector kept a feature, so nothing is known about them")
    better = recommended(scores | {"f nb": folds(0.55, 0.1, 1)}, {"saola nb": 0})
    assert " The best was f with nb: AUC 0.5" in str(better)


def test_each_stands_at_its_best_size():
    a, b = (report_of({"f nb": folds(m)}, {"f nb": k}, {"f nb": k}) for m, k in ((0.8, 5), (0.9, 20)))
    both = Table({name: np.concatenate([a.table[name], b.table[name]]) for name in a.table})
    found = recommend(Report("screening", both, SETTINGS))
    assert (found.best.size, found.best.features, found.best.n) == (20, 20, RUNS * FOLDS)
    assert (
        str(found) == "Only f with nb was tried: AUC 0.900 (95% interval 0.889 to 0.911), 20 of 500 features."
    )


def test_an_interval_ends_where_the_metric_does():
    report = report_of({"f ridge": [*np.full(18, 1.0), 0.7, 0.8], "none ridge": np.linspace(0.5, 0.9, 20)})
    report.settings = {**SETTINGS, "metric": "r2", "runs": 1, "folds": 20}
    assert "to 1.000)" in str(recommend(report))
    errors = report_of({"f ridge": [0.0, 0.1, 0.9], "none ridge": [0.5, 1.2, 1.9]})
    errors.settings = {**SETTINGS, "metric": "rmse", "runs": 1, "folds": 3}
    assert "interval 0.000 to" in str(recommend(errors))


def test_equal_scores_are_no_difference():
    found = recommended({"f nb": np.full(20, 0.8), "t nb": np.full(20, 0.8), "none nb": np.full(20, 0.8)})
    assert [each.adjusted for each in found.standings[1:]] == [1, 1]
    assert "The score of t with nb was the same." in str(found)  # names of methods stay as they are typed
    assert "significant" not in str(found).partition(". ")[2].replace("no significant gain", "")


def test_of_columns_that_stream_the_end_counts():
    names = [
        "selector",
        "learner",
        "order",
        "fold",
        "columns",
        "n_selected",
        "score",
        "seconds",
        "learn_seconds",
    ]
    rng = np.random.default_rng(0)
    rows = [
        (selector, "nb", order, 0, look, 5, level * look / 100 + 0.01 * rng.normal(), 0.1, 0.2)
        for selector, level in (("saola", 0.9), ("none", 0.5))
        for order in range(6)
        for look in (50, 100)
    ]
    table = Table(dict(zip(names, zip(*rows, strict=True), strict=True)))
    settings = {"orders": 6, "split": 0.25, "metric": "accuracy", "data": {"features": 100}}
    found = recommend(Report("streaming", table, settings))
    assert found.best.name == "saola + nb"
    assert found.best.mean == pytest.approx(0.9, abs=0.02)
    assert found.test_over_train == pytest.approx(1 / 3)
    assert "significantly better than the next, all features with nb" in str(found)
    once = table.where(order=0)
    found = recommend(Report("streaming", once, settings | {"orders": None}))
    assert not found.tested
    assert str(found).endswith("nothing was repeated, so no difference is tested.")


def prequential_report(accuracy, regression=False):
    looks = (100, 200)
    score = "mae" if regression else "accuracy"
    rows = [
        (*name.split(), look, value, 7, value, 0.1, 0.2) for name, value in accuracy.items() for look in looks
    ]
    names = ("selector", "learner", "rows", "score", "n_selected", score, "select_seconds", "learn_seconds")
    table = Table(dict(zip(names, zip(*rows, strict=True), strict=True)))
    metric = "fading_r2" if regression else "fading_accuracy"
    return Report("prequential", table, {"metric": metric, "data": {"features": 40}})


def test_of_rows_that_stream_nothing_is_tested():
    scores = {"f sgd": 0.9, "f majority": 0.6, "none sgd": 0.7, "none majority": 0.6, "t sgd": 0.8}
    found = recommend(prequential_report(scores))
    names = ["f + sgd", "t + sgd", "none + sgd", "no features + majority"]
    assert [each.name for each in found.standings] == names
    assert str(found) == (
        "f with sgd did best: accuracy 0.900, 7 of 40 features; next is t with sgd (0.800); with all "
        "features, sgd reached 0.700; nothing was repeated, so no difference is tested."
    )
    found = recommend(prequential_report({"f sgd": 0.5, "f majority": 0.6}))
    assert str(found).startswith("Nothing beats majority, which looks at no feature: accuracy 0.600; next is")
    found = recommend(prequential_report({"f sgd": 3.5, "none sgd": 2.5}, regression=True))
    assert found.best.selector == "none"  # of errors the smallest
    assert not found.higher_is_better
    assert "mean absolute error 2.500, all 40 features" in str(found)


def test_three_folds_are_too_few_to_tell():
    scores = {
        f"s{i} nb": values for i, values in enumerate(([0.95, 0.97, 0.96], [0.7, 0.8, 0.84], [0.6] * 3))
    }
    report = report_of(scores)
    report.settings = {**SETTINGS, "runs": 1, "folds": 3}
    found = recommend(report)
    assert found.underpowered == (not found.beats(found.next))
    many = report_of(
        {f"s{i} nb": np.array([0.95, 0.97, 0.96]) - 0.01 * i**2 * np.arange(3) for i in range(17)}
    )
    many.settings = {**SETTINGS, "runs": 1, "folds": 3}
    found = recommend(many)
    assert found.underpowered
    assert "3 folds are too few to show a difference: repeat with more runs (runs=5" in str(found)
    assert "not significant" not in str(found)
    scores = {"f nb": [0.9, 0.93, 0.9], "saola nb": [0.91, 0.9, 0.9], "none nb": [0.89, 0.92, 0.89]}
    agreeing = report_of(scores)
    agreeing.settings = {**SETTINGS, "runs": 1, "folds": 3}
    found = recommend(agreeing)
    assert found.underpowered
    assert found.beats(found.all_features)
    assert "significantly" not in str(found)  # the folds agree by chance, and 3 are too few to tell
    assert not recommended({"f nb": folds(0.9), "saola nb": folds(0.7, seed=1)}).underpowered


def test_one_feature_is_no_contradiction():
    report = report_of({"none nb": folds(0.9), "f nb": folds(0.9)}, {"none nb": 1, "f nb": 1})
    report.settings = {**SETTINGS, "data": {"features": 1}}
    text = str(recommend(report))
    assert "was the same" in text
    assert "1 features" not in text


@pytest.mark.parametrize("metric", ["log_loss", "mae", "rmse"])
def test_of_errors_the_smallest_is_best(metric):
    report = report_of({"f nb": folds(0.3), "saola nb": folds(0.9, seed=1), "none nb": folds(0.6, seed=2)})
    report.settings = {**SETTINGS, "metric": metric}
    found = recommend(report)
    assert [each.selector for each in found.standings] == ["f", "none", "saola"]
    assert found.recommended.selector == "f"
    assert not found.higher_is_better
    assert found.beats(found.next)
    assert [each.tiers for each in found.standings] == [(1, 1), (2, 2), (3, 3)]


def test_as_table_and_as_plain_values():
    import json

    found = recommended({"f nb": folds(0.9), "none nb": folds(0.6, seed=2)})
    table = found.table()
    assert table["selector"].tolist() == ["f", "none"]
    assert table["first_tier"].tolist() == [1, 2]
    plain = json.loads(json.dumps(found.to_json()))
    assert plain["recommendation"] == str(found)
    assert plain["recommended"]["selector"] == "f"
    assert len(plain["combinations"]) == 2


def test_in_a_notebook_it_is_short_and_escaped():
    found = recommended({"<b> nb": folds(0.9), "none nb": folds(0.6, seed=2)})
    assert repr(found) == str(found)
    assert "&lt;b&gt; + nb" in found._repr_html_()
    assert "<b>" not in found._repr_html_()
    assert "<b>" not in report_of({"<b> nb": folds(0.9)})._repr_html_()


def test_bad_input():
    good = report_of({"f nb": folds(0.9)})
    with pytest.raises(ParameterError, match=r"alpha must be a number above 0 and below 1; got 1"):
        recommend(good, alpha=1)
    with pytest.raises(
        ParameterError, match=r"a recommendation needs a report of screening, streaming, prequential"
    ):
        recommend(Report("recovery", good.table, SETTINGS))
    empty = report_of({"f nb": np.full(20, np.nan)})
    empty.failures.append(Failure("run=0", "", "ValueError: no"))
    with pytest.raises(
        ParameterError, match=r"has no score, so there is nothing to say: run=0: ValueError: no"
    ):
        recommend(empty)
