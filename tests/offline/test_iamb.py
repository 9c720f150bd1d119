"""IAMB and inter-IAMB decide as their slow twin does, and find spouses."""

import numpy as np
import pandas as pd
import pytest

import streamsieve as ss
from streamsieve.exceptions import ParameterError
from streamsieve.independence.incremental_association import incremental_association
from tests.columns.streams import target
from tests.helpers.tier import cases
from tests.offline.cases import some_form
from tests.reference.iamb import by_correlation, by_tables, iamb

TASKS = ("binary", "multiclass", "regression")
BOTH = {ss.IAMB: False, ss.InterIAMB: True}


def woven(rng, task, n, p, *, codes):
    """Return columns, some of which follow each other or the target, and the target."""
    y = target(rng, task, n)
    X = rng.normal(size=(n, p))
    for j in range(p):
        source = y if rng.random() < 0.4 else X[:, rng.integers(p)]
        X[:, j] += rng.choice([0.0, 1.0]) * source
        if j and rng.random() < 0.2:
            X[:, j] = X[:, j - 1]
    return (np.round(np.clip(X, -1, 2)) if codes else X), y


@pytest.mark.parametrize("cls", BOTH, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("task", TASKS)
def test_partial_correlations_equal_the_twin(task, cls):
    rng = np.random.default_rng(0)
    kept = 0
    for case in range(cases(100)):
        X, y = woven(rng, task, int(rng.integers(12, 60)), int(rng.integers(1, 8)), codes=False)
        alpha = float(rng.choice([0.01, 0.1, 0.4]))
        test = by_correlation(X, y, task)
        wanted = iamb(test, X.shape[1], alpha, interleaved=BOTH[cls], by_statistic=True)
        how = "regression" if task == "regression" else "classification"
        found = cls(alpha, test="fisher_z", task=how).fit(some_form(rng, X), y)
        assert found.ranked_.tolist() == wanted, case
        kept += len(wanted)
    assert kept > cases(60)


@pytest.mark.parametrize("cls", BOTH, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("task", TASKS)
def test_tables_equal_the_twin(task, cls, monkeypatch):
    rng = np.random.default_rng(1)
    kept = 0
    for case in range(cases(100)):
        monkeypatch.setattr("streamsieve.independence.joint_tables.DENSE_CELLS", int(rng.choice([10, 2**20])))
        X, y = woven(rng, task, int(rng.integers(30, 120)), int(rng.integers(1, 7)), codes=True)
        alpha, way = float(rng.choice([0.01, 0.1, 0.4])), str(rng.choice(["moments", "chi2"]))
        codes = [np.unique(x, return_inverse=True)[1] for x in X.T]
        test = by_tables(codes, y, task, way)
        wanted = iamb(test, X.shape[1], alpha, interleaved=BOTH[cls], by_statistic=False)
        how = "regression" if task == "regression" else "classification"
        found = cls(alpha, test="g2", p_value=way, task=how).fit(some_form(rng, X), y)
        assert found.ranked_.tolist() == wanted, case
        for j in range(X.shape[1]):
            assert found.pvalues_[j] == pytest.approx(test(j, [])[1], rel=1e-6, abs=1e-12)
        kept += len(wanted)
    assert kept > cases(60)


@pytest.mark.parametrize("cls", BOTH, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("test", ["fisher_z", "g2"])
def test_a_spouse_is_found_that_no_marginal_test_can_find(cls, test):
    """y -> child <- spouse: parents and children alone are [child]."""
    rng = np.random.default_rng(2)
    y, spouse, noise = rng.integers(0, 2, (3, 3000))
    child = np.where(rng.random(3000) < 0.1, noise, y | spouse)
    X = np.c_[spouse, rng.integers(0, 3, 3000), child]
    assert cls(test=test).fit(X, y).selected_.tolist() == [0, 2]
    assert ss.HITONPC(test="g2").fit(X, y).selected_.tolist() == [2]


@pytest.mark.parametrize("cls", [*BOTH, ss.HITONPC])
@pytest.mark.parametrize("levels", [8, 33])
def test_a_hub_of_codes_makes_its_children_independent_by_default(cls, levels):
    rng = np.random.default_rng(levels)
    hub, maps = rng.integers(0, levels, 5000), rng.integers(0, 3, (6, levels))
    noisy = [np.where(rng.random(5000) < 0.1, rng.integers(0, 3, 5000), each[hub]) for each in maps]
    X = np.column_stack([hub, *noisy[1:]])
    assert cls(0.001).fit(X, noisy[0]).selected_.tolist() == [0]


@pytest.mark.parametrize("cls", BOTH)
def test_the_default_takes_one_test_by_the_types_of_all_features(cls):
    rng = np.random.default_rng(4)
    name, noise, y = rng.integers(0, 6, 600), rng.normal(size=600), rng.integers(0, 2, 600)
    number = y + rng.normal(size=600)
    codes = np.c_[name, (name + y) % 3]
    for X, wanted, test, of in (
        (np.c_[number, noise], y, "fisher_z", None),
        (codes, y, "g2", None),
        (np.c_[codes, number], y, "fisher_z", None),
        (np.c_[codes, number], y, "g2", {"x0": "nominal"}),
        (codes, number, "fisher_z", None),
    ):
        auto = cls(types=of).fit(X, wanted)
        plain = cls(test=test, types=of if test == "g2" else None).fit(X, wanted)
        assert np.array_equal(auto.pvalues_, plain.pvalues_)
        assert auto.column_types_ == plain.column_types_
    frame = pd.DataFrame({"name": [f"n{i}" for i in name], "number": number, "other": noise})
    kept = cls().fit(frame, (name % 2) ^ (rng.random(600) < 0.05))
    assert kept.get_feature_names_out().tolist() == ["name"]
    with pytest.raises(ParameterError, match="does not go with test='fisher_z'"):
        cls(test="fisher_z", types="nominal").fit(codes, y)


def test_a_search_that_would_meet_every_set_ends():
    """A test by which columns join and leave as the digits of a binary counter."""
    columns, newest, calls = list(range(40)), -1, 0

    def tested(some, given):
        nonlocal newest, calls
        calls += 1
        if len(some) + len(given) == len(columns):
            newest = min(some)
            return -np.array(some, float), np.zeros(len(some))
        return np.zeros(1), np.array([float(some[0] < newest)])

    found = incremental_association(columns, tested, 0.05, interleaved=True, by_statistic=True)
    assert 0 < len(found) < 10
    assert calls < 10_000
