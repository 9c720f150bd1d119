"""Damaged states of row selectors are refused, or are legal states of something else that go on working.

``MUTANTS`` sets how many damaged states per subject; run with ``NUMBA_BOUNDSCHECK=1`` to see accesses out of
bounds.
"""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import streamsieve as ss
from streamsieve import state
from streamsieve.exceptions import StateError
from streamsieve.testing.states import fuzz
from tests.helpers.tier import cases

MUTANTS = int(os.environ.get("MUTANTS", str(cases(150))))
rng = np.random.default_rng(0)
X, y = np.abs(rng.normal(size=(130, 6))), rng.integers(0, 2, 130)
X[:, 1] += y

SELECTORS = {
    "BARDA": ss.BARDA(k=2),
    "FIRES": ss.FIRES(k=2, batch_size=7),
    "FSDS": ss.FSDS(k=2, batch_size=25),
    "MISSION": ss.MISSION(k=2, width=32),
    "MISSION frozen": ss.MISSION(k=2, width=32, half_life=50, output="frozen"),
    "OFS": ss.OFS(k=2, variant="paper"),
    "SOFS": ss.SOFS(k=2),
    "PartialOFS": ss.PartialOFS(k=2),
    "WinnowEFS": ss.WinnowEFS(k=2),
    "Bootstrap": ss.Bootstrap(ss.Screen("f", k=2), replicas=2),
    "Bootstrap averages": ss.Bootstrap(ss.RunningAverages(k=2), replicas=2),
    "RunningAverages": ss.RunningAverages(k=2),
    "Screen drift": ss.Screen("f", k=2, on_drift="reset", drift_every=40),
    "VelocityScreen": ss.VelocityScreen(k=2, window=40),
}


def learn_dicts(selector):
    for row, label in zip(X.round(1), y, strict=True):
        selector.learn_one({f"f{j}": v for j, v in enumerate(row.tolist()) if v > 0.5}, int(label))
    return selector


WAYS = {
    "arrays": lambda selector: selector.fit(X, y),
    "sparse": lambda selector: selector.fit(sp.csr_array(X * (X > 0.5)), y),
    "dicts": learn_dicts,
}


def use(selector):
    if selector.n_features_in_ < 10**6:
        assert len(selector.scores_) == selector.n_features_in_
        selector.get_feature_names_out()
    if selector.n_features_in_ == 6 and selector._fixed_:
        selector.partial_fit(X[:30], y[:30])
        selector.transform(X[:3])
    elif not selector._fixed_:
        selector.learn_one({"f1": 1.0, "late": 2.0}, 1)
        selector.transform_one({"f1": 1.0, "late": 2.0})
    list(selector.ledger_)
    type(selector).from_bytes(selector.to_bytes())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SELECTORS)
def test_damaged_states_are_refused_or_work(name, way):
    selector = WAYS[way](clone(SELECTORS[name]))
    selector.transform(X) if way == "arrays" else selector.ranked_
    header, arrays = selector._saved()

    def load(damaged):
        return type(selector).from_bytes(state.to_bytes(header, damaged))

    refused, _, findings = fuzz(name, arrays, load, use, MUTANTS, rng)
    assert not findings
    assert refused > MUTANTS / 2


DOES_NOT_FIT = [
    ("BARDA", {"n_samples_seen_": 9}),
    ("BARDA", {"n_features_in_": 5}),
    ("FIRES", {"n_features_in_": 5}),
    ("FIRES", {"batch_size": 8}),  # 130 rows leave another number of rows in the buffer
    ("FSDS", {"sketch_size": 2, "rank": 1}),
    ("MISSION", {"width": 64}),
    ("MISSION", {"half_life": 9}),
    ("OFS", {"_model_.columns": np.array([0, 6], np.int32)}),
    ("OFS", {"_model_.columns": np.arange(3, dtype=np.int32), "_model_.values": np.ones(3)}),
    ("OFS", {"_model_.values": np.array([0.0, 1.0])}),
    ("OFS", {"_mistakes_": 131}),
    ("PartialOFS", {"observed_": 261}),
    ("SOFS", {"_model_._cells": np.array([[-1.0, 0.0]] * 6)}),
    ("SOFS", {"_model_._cells": np.array([[1.0, 0.5]] * 6)}),  # weights that are not among the surest
    ("SOFS", {"_model_._heap": np.array([0, 5], np.int32)}),
    ("SOFS", {"_model_._kept": 1}),
    ("VelocityScreen", {"n_samples_seen_": 131}),
    ("VelocityScreen", {"_information_": np.zeros(3), "_scored_": np.zeros(3, bool)}),
    ("VelocityScreen", {"window": 20}),
    ("VelocityScreen", {"fence": 2.0}),
    ("VelocityScreen", {"n_features_in_": 3}),
    ("WinnowEFS", {"_model_.n_features": 2}),
]


@pytest.mark.parametrize(("name", "changes"), DOES_NOT_FIT, ids=str)
def test_states_whose_parts_contradict_each_other_are_refused(name, changes):
    selector = clone(SELECTORS[name]).fit(X, y)
    for path, value in changes.items():
        owner, _, attribute = path.rpartition(".")
        setattr(getattr(selector, owner) if owner else selector, attribute, value)
    with pytest.raises(StateError, match=r"does not fit together|cannot be saved|should"):
        type(selector).from_bytes(selector.to_bytes())
