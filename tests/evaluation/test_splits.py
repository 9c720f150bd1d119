"""Folds by groups and by time: no group is on both sides, and nothing is trained on later rows."""

import numpy as np
import pandas as pd
import pytest

from streamsieve.evaluation import recommend, screening_protocol
from streamsieve.evaluation.engine.problem import Problem
from streamsieve.evaluation.engine.splits import RowSplit
from streamsieve.exceptions import InputError, ParameterError

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(120, 4)), RNG.integers(0, 2, 120)
PATIENT = np.repeat(np.arange(30), 4)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("seed", range(5))
def test_groups_stay_together(task, seed):
    problem = Problem.of(X, Y, task)
    split = RowSplit.of(pd.Series(PATIENT).map("p{}".format), None, 120, 5)
    fold_of = split.folds_of(problem, 5, seed, stratified=True)
    assert sorted(set(fold_of)) == list(range(5))
    for fold in range(5):
        assert not {*PATIENT[fold_of == fold]} & {*PATIENT[split.trained(fold_of, fold)]}
    assert split.folds_of(problem, 5, seed + 1, stratified=True).tolist() != fold_of.tolist()


@pytest.mark.parametrize("kind", [float, "datetime64[D]", str])
def test_nothing_is_trained_on_later_rows(kind):
    when = RNG.integers(100, 999, 120).astype(kind)
    split = RowSplit.of(None, when, 120, 4)
    fold_of = split.folds_of(Problem.of(X, Y), 4, 0, stratified=True)
    assert sorted(set(fold_of)) == [-1, 0, 1, 2, 3]
    for fold in range(4):
        assert max(when[split.trained(fold_of, fold)].tolist()) < min(when[fold_of == fold].tolist())


def test_a_comparison_by_groups_and_by_time():
    common = {"sizes": [1, 2], "runs": 2, "folds": 3}
    leaking = RNG.normal(size=(30, 4))[PATIENT] + 0.01 * X  # it identifies patients, and nothing else
    by_patient = RNG.integers(0, 2, 30)[PATIENT]
    at_random = screening_protocol(leaking, by_patient, ["none"], ["knn"], **common)
    by_groups = screening_protocol(leaking, by_patient, ["none"], ["knn"], groups=PATIENT, **common)
    assert at_random.table["score"].mean() > by_groups.table["score"].mean() + 0.1
    assert by_groups.settings["split"] == "groups"
    by_time = screening_protocol(X, Y, ["none", "f"], ["nb"], time=np.arange(120), **common)
    assert set(by_time.table["run"].tolist()) == {0}
    assert recommend(by_time).test_over_train == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert "split" not in at_random.settings


@pytest.mark.parametrize(
    ("by", "error", "message"),
    [
        ({"groups": PATIENT, "time": PATIENT}, ParameterError, "groups and time exclude each other"),
        ({"groups": PATIENT[:5]}, InputError, r"groups has shape \(5,\), but X has 120 rows"),
        ({"groups": PATIENT % 3}, ParameterError, "3 different values, and folds=5 needs 5 at least"),
        ({"time": np.full(120, np.nan)}, InputError, "time has 120 missing values"),
    ],
)
def test_bad_splits_are_refused(by, error, message):
    with pytest.raises(error, match=message):
        screening_protocol(X, Y, ["f"], ["nb"], folds=5, **by)
