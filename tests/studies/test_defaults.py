"""The study of defaults halves its sets by a seed, draws rows by class, and says whether the rule holds."""

import numpy as np
import pytest

from streamsieve.choosing import GOALS, Profile, choose
from streamsieve.protocols import Task
from studies.__main__ import main
from studies.defaults import budgets
from studies.defaults.methods import METHODS, Auto, Lasso
from studies.defaults.results import Results
from studies.defaults.sets import NAMES, halves, sample
from studies.defaults.tables import RULE


def test_halves_share_nothing_and_depend_on_the_seed_only():
    first, second = halves()
    assert not {*first} & {*second}
    assert {*first, *second} == {*NAMES}
    assert halves() == (first, second)
    assert halves(seed=1) != (first, second)


def test_rows_are_drawn_with_each_class_in_its_share():
    X, y = sample("digits", 300)
    assert X.shape == (len(y), 64)
    assert abs(len(y) - 300) <= 10
    assert np.ptp(np.bincount(y)) <= 2


def test_the_rule_and_the_penalty_are_selectors():
    X, y = sample("breast_cancer", 120)
    assert {f"auto, {goal}" for goal in GOALS} < {*METHODS}
    for selector in (Auto("accurate"), Lasso(2)):
        assert 0 < len(selector.fit(X, y).selected_) < X.shape[1]


def measured(score, size=3.0):
    return {"5-NN": [score], "logistic": [score], "naive Bayes": [score], "size": size, "seconds": 0.1}


def test_ranks_and_differences_are_over_the_methods_that_take_all_sets():
    about = {"rows": 9, "columns": 9, "classes": 2}
    scores = {"a": (0.9, 0.5, 0.4), "b": (0.8, 0.6, 0.4), "c": (0.7, 0.6, 0.4)}
    found = {
        name: {"about": about, "methods": dict(zip((RULE, "top_k", "none"), map(measured, row), strict=True))}
        for name, row in scores.items()
    }
    found["a"]["methods"]["mrmr"] = measured(1.0)
    results = Results(found, [*found])
    assert results.methods == [RULE, "top_k", "none"]
    assert results.ranks() == {RULE: 1.0, "top_k": 2.0, "none": 3.0}
    assert results.best(["top_k", "mrmr"]) == "top_k"
    gain = results.difference(RULE, "top_k")
    assert gain.mean == pytest.approx(0.7 / 3)
    assert gain.low < gain.mean < gain.high


def test_the_study_runs_and_goes_on_where_it_stopped(tmp_path, capsys):
    assert main(["defaults", "--quick", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "DEFAULTS.md").read_text()
    assert "The best fixed choice by mean rank" in text
    assert "| auto, accurate |" in text
    capsys.readouterr()
    assert main(["defaults", "--quick", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [f"defaults: wrote {tmp_path / 'DEFAULTS.md'}"]


def many_sets(rng, count=8):
    """Sets of 320 rows, 200 columns and 2 or 12 classes, with scores drawn at random."""
    names = [f"set {i}" for i in range(count)]
    methods = ("auto, accurate", "top_k", "mrmr", "none")
    return {
        name: {
            "about": {"rows": 320, "columns": 200, "classes": 2 if i % 2 else 12},
            "methods": {method: measured(float(rng.random())) for method in methods},
        }
        for i, name in enumerate(names)
    }


def test_candidates_keep_what_their_names_say_and_at_most_half():
    about = {"rows": 1000, "columns": 500, "classes": 12}
    assert [budgets.columns_of(name, about) for name in budgets.CANDIDATES] == [20, 50, 50, 60]
    assert budgets.columns_of("50", about | {"columns": 64}) == 32
    assert budgets.columns_of(budgets.PRESENT, about) == choose(profile(about)).parameters["k"]


def profile(about):
    return Profile(**about, task=Task.MULTICLASS)


def test_a_candidate_is_ranked_alone_with_the_fixed_methods():
    found = many_sets(np.random.default_rng(0))
    best, worst = {name: measured(2.0) for name in found}, {name: measured(-1.0) for name in found}
    by_candidate = dict.fromkeys(budgets.CANDIDATES, worst) | {"50": best}
    candidates = budgets.Candidates(found, by_candidate)
    assert candidates.ranks("50", candidates.names)["rule"] == 1.0
    assert candidates.ranks(budgets.PRESENT, candidates.names)["rule"] == 4.0
    expected = Results(found, [*found]).friedman().mean_ranks
    assert sum(candidates.ranks("50", candidates.names).values()) == pytest.approx(expected.sum())


def test_a_half_is_judged_by_what_the_other_half_chose():
    found = many_sets(np.random.default_rng(0))
    for i, each in enumerate(found.values()):
        each["methods"]["top_k"] = measured(1.5 if i < 4 else -0.5)
        each["methods"]["mrmr"] = measured(1.4)
    some = {name: measured(0.0) for name in found}
    candidates = budgets.Candidates(found, dict.fromkeys(budgets.CANDIDATES, some))
    first, second = candidates.names[:4], candidates.names[4:]
    trial = candidates.trial(first, second)
    assert trial.fixed == "top_k"
    assert trial.honest > trial.hindsight == candidates.ranks(budgets.PRESENT, second)["mrmr"]
    assert candidates.trial(second, first).fixed == "mrmr"
    trials = budgets.trials(candidates, seeds=10)
    assert len(trials) == 20
    assert np.mean([t.honest for t in trials]) > np.mean([t.hindsight for t in trials])
    assert all(t.rank == t.present for t in trials)
