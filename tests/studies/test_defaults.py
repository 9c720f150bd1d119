"""The study of defaults halves its sets by a seed, draws rows by class, and says whether the rule holds."""

import numpy as np
import pytest

from streamsieve.choosing import GOALS
from studies.__main__ import main
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
