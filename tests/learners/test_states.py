"""What a learner learned comes back from a file whole, and damaged states are refused."""

import os

import numpy as np
import pytest

from streamsieve import state
from streamsieve.exceptions import StateError
from streamsieve.learners import RJMCMC, BlockBagging, FSAClassifier, FSARegressor, SuperLearner
from streamsieve.testing.states import fuzz
from tests.helpers.tier import cases

MUTANTS = int(os.environ.get("MUTANTS", str(cases(150))))
pytestmark = pytest.mark.filterwarnings("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 6))
CLASSES, NUMBERS = np.array(list("abc"))[(X[:, 1] > 0) * 1 + (X[:, 2] > 0)], X[:, 0]
CLASSIFIER, REGRESSOR = FSAClassifier(1, epochs=10), FSARegressor(1, epochs=10)

SUBJECTS = [
    (CLASSIFIER, CLASSES),
    (REGRESSOR, NUMBERS),
    (RJMCMC(moves=200), NUMBERS),
    (SuperLearner([CLASSIFIER, SuperLearner([CLASSIFIER], folds=2)], folds=2), CLASSES),
    (SuperLearner([REGRESSOR, RJMCMC(moves=200)], folds=2, task="regression"), NUMBERS),
    (BlockBagging(CLASSIFIER, bags=2, block_size=3), CLASSES),
    (BlockBagging(REGRESSOR, bags=1, task="regression"), NUMBERS),
]


@pytest.mark.parametrize(("learner", "y"), SUBJECTS, ids=lambda value: type(value).__name__)
def test_a_state_comes_back_and_damage_is_refused(learner, y):
    header, arrays = learner.fit(X, y)._saved()

    def load(damaged):
        return type(learner).from_bytes(state.to_bytes(header, damaged))

    def use(again):
        if again.n_features_in_ == 6 and "feature_names_in_" not in again.__dict__:
            again.predict(X[:5])
        if isinstance(again, RJMCMC) and again.n_samples_seen_ == 60:
            again.offer(X[:, :1]).sample(10)
        type(learner).from_bytes(again.to_bytes())

    again = load(arrays)
    assert np.array_equal(again.predict(X), learner.predict(X))
    shown_only = {"_library"}
    assert again.__dict__.keys() - shown_only == learner.__dict__.keys() - shown_only
    refused, _, findings = fuzz(repr(learner), arrays, load, use, MUTANTS, rng)
    assert not findings
    assert refused > MUTANTS / 2


def test_learners_within_too_many_others_are_refused():
    header, arrays = SuperLearner([REGRESSOR], task="regression", folds=2).fit(X, NUMBERS)._saved()
    kind = np.frombuffer(b"streamsieve.SuperLearner", np.uint8)
    deep = {f"{'learners_/0/' * i}$kind": kind for i in range(1, 45)}
    bottom = {f"{'learners_/0/' * 2000}$kind": kind}
    for wrong in (deep, bottom):
        with pytest.raises(StateError):
            SuperLearner.from_bytes(state.to_bytes(header, arrays | wrong))


def test_only_learners_are_learners():
    header, arrays = SuperLearner([REGRESSOR], task="regression", folds=2).fit(X, NUMBERS)._saved()
    for name in ("streamsieve.SAOLA", "os.system", "streamsieve.ModelSampler"):
        wrong = {"learners_/0/$kind": np.frombuffer(name.encode(), np.uint8)}
        with pytest.raises(StateError, match="should be one of"):
            SuperLearner.from_bytes(state.to_bytes(header, arrays | wrong))


def test_labels_that_are_not_in_order_are_refused():
    """Predictions are looked up by the order of the labels: others would have the wrong names."""
    header, arrays = CLASSIFIER.fit(X, CLASSES)._saved()
    (name,) = (name for name in arrays if name.endswith("texts/text"))
    assert arrays[name].tobytes() == b"abc"
    for wrong in (b"cba", b"acb"):
        damaged = state.to_bytes(header, {**arrays, name: np.frombuffer(wrong, np.uint8)})
        with pytest.raises(StateError, match="two classes at least, in order"):
            FSAClassifier.from_bytes(damaged)


def test_a_constant_target_of_a_sampler_is_refused():
    header, arrays = RJMCMC(moves=20).fit(X, NUMBERS)._saved()
    (name,) = (name for name in arrays if name.endswith("target"))
    damaged = state.to_bytes(header, {**arrays, name: np.full_like(arrays[name], 0.5)})
    with pytest.raises(StateError, match="the target is constant"):
        RJMCMC.from_bytes(damaged)


def test_a_target_of_another_kind_is_refused():
    for task, y, kind in (("classification", CLASSES, float), ("regression", NUMBERS, np.int64)):
        learner = CLASSIFIER if task == "classification" else REGRESSOR
        header, arrays = BlockBagging(learner, bags=1, task=task).fit(X, y)._saved()
        (name,) = (name for name, array in arrays.items() if name.strip("_") == "y")
        damaged = state.to_bytes(header, {**arrays, name: arrays[name].astype(kind)})
        with pytest.raises(StateError, match=f"the target does not go with task='{task}'"):
            BlockBagging.from_bytes(damaged)
