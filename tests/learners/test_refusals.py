"""What learners refuse, and say of it: parameters, targets and blocks."""

from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB

from streamsieve.exceptions import InputError, NotBegunError, ParameterError, SchemaError, TargetError
from streamsieve.learners import RJMCMC, BlockBagging, FSAClassifier, FSARegressor, SuperLearner

WHOLE, ONE_OF = "must be a whole number", "must be one of"


@pytest.mark.parametrize(
    ("cls", "parameters", "message"),
    [
        (FSAClassifier, {"k": 6}, r"k=6, but the rows have 5 feature\(s\): choose at most 5"),
        (FSAClassifier, {"k": 0}, f"k {WHOLE} at least 1"),
        (FSAClassifier, {"loss": "logistik"}, "did you mean 'logistic'"),
        (FSAClassifier, {"epochs": 0}, f"epochs {WHOLE}"),
        (FSAClassifier, {"annealing": -1}, "annealing must be a number"),
        (FSAClassifier, {"learning_rate": 0.0}, "learning_rate must be a number above 0"),
        (FSAClassifier, {"learning_rate": "fast"}, f"learning_rate {ONE_OF} 'auto'"),
        (FSAClassifier, {"momentum": 1.0}, "momentum must be a number at least 0 and below 1"),
        (FSAClassifier, {"l2": -1e-3}, "l2 must be a number"),
        (FSAClassifier, {"batch_size": 0}, f"batch_size {WHOLE}"),
        (FSAClassifier, {"balanced": "yes"}, f"balanced {ONE_OF}"),
        (FSAClassifier, {"standardize": 3}, f"standardize {ONE_OF}"),
        (FSAClassifier, {"random_state": -1}, f"random_state {WHOLE}"),
        (SuperLearner, {"members": []}, "members must be a sequence of estimators"),
        (SuperLearner, {"members": "fsa"}, "members must be a sequence of estimators"),
        (SuperLearner, {"members": [3]}, "a member must have fit and predict; got 3"),
        (SuperLearner, {"members": [GaussianNB]}, r"GaussianNB is a class: write GaussianNB\(\)"),
        (SuperLearner, {"members": [Ridge()]}, r"Ridge\(\) is a regressor: .*task='regression'"),
        (
            SuperLearner,
            {"members": [GaussianNB()], "task": "regression"},
            r"GaussianNB\(\) is a classifier: .*task='classification'",
        ),
        (SuperLearner, {"folds": 1}, f"folds {WHOLE} at least 2"),
        (SuperLearner, {"convex": None}, f"convex {ONE_OF}"),
        (SuperLearner, {"task": "ranking"}, f"task {ONE_OF} 'classification', 'regression'"),
        (SuperLearner, {"random_state": -1}, f"random_state {WHOLE}"),
        (BlockBagging, {"estimator": 3}, "estimator must have fit and predict; got 3"),
        (BlockBagging, {"estimator": GaussianNB}, r"estimator .* is a class: write GaussianNB\(\)"),
        (BlockBagging, {"estimator": Ridge()}, r"must be a classifier, but Ridge\(\) is a regressor"),
        (BlockBagging, {"estimator": GaussianNB(), "task": "regression"}, "estimator must be a regressor"),
        (BlockBagging, {"bags": 0}, f"bags {WHOLE} at least 1"),
        (BlockBagging, {"combine": "mean"}, f"combine {ONE_OF} 'stack', 'vote'"),
        (BlockBagging, {"block_size": 0}, f"block_size {WHOLE}"),
        (BlockBagging, {"task": "ranking"}, f"task {ONE_OF}"),
        (RJMCMC, {"moves": 0}, f"moves {WHOLE} at least 1"),
        (RJMCMC, {"burn_in": -1}, f"burn_in {WHOLE}"),
        (RJMCMC, {"moves_per_column": 0.5}, f"moves_per_column {WHOLE}"),
        (RJMCMC, {"prior": 1.0}, "prior must be a number above 0 and below 1"),
        (RJMCMC, {"g": 0.0}, "g must be a number above 0"),
        (RJMCMC, {"g": "bench"}, "did you mean 'benchmark'"),
        (RJMCMC, {"min_inclusion": 2}, "min_inclusion must be a number"),
        (RJMCMC, {"random_state": "x"}, f"random_state {WHOLE}"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(cls, parameters, message):
    with pytest.raises(ParameterError, match=message):
        cls(**parameters).fit(np.eye(5), [0, 1, 0, 1, 1])


X = np.eye(4)


@cache
def first():
    return FSAClassifier().partial_fit(X, [0, 1, 0, 1])


@cache
def begun():
    return BlockBagging().begin([0, 1, 0, 1])


@cache
def chain():
    return RJMCMC().begin([1.0, 2.0, 4.0]).offer(np.arange(3.0))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: FSAClassifier().fit(X, [1] * 4), TargetError, "one class only"),
        (
            lambda: FSAClassifier().fit(X, [0.5, 1, 1.5, 2]),
            TargetError,
            "Unknown label type: continuous.*use the regressor",
        ),
        (
            lambda: FSARegressor().fit(X, list("abcd")),
            TargetError,
            "needs numbers, but y holds text such as 'a'",
        ),
        (
            lambda: first().partial_fit(X, [0, 1, 2, 1]),
            TargetError,
            "label 2, which was not among those of the first rows: name all",
        ),
        (lambda: first().partial_fit(X, list("abab")), TargetError, "use text or numbers throughout"),
        (
            lambda: first().partial_fit(X, [0, 1, 0, 1], classes=[1, 2]),
            TargetError,
            r"classes=\[1, 2\], but the first call had \[0, 1\]",
        ),
        (
            lambda: FSAClassifier().partial_fit(X[:2], [1, 1]),
            TargetError,
            r"one class only \(1\).*partial_fit\(X, y, classes=...\)",
        ),
        (lambda: SuperLearner().fit(np.eye(3), [1, 1, 1]), TargetError, "one class only"),
        (lambda: SuperLearner(task="regression").fit(np.eye(1), [1.0]), InputError, "n_samples = 1"),
        (lambda: BlockBagging().offer(np.eye(3)), NotBegunError, "begin"),
        (lambda: BlockBagging().begin(), TargetError, "None"),
        (lambda: begun().predict(np.zeros((2, 1))), NotBegunError, "no columns were offered yet"),
        (lambda: begun().offer(np.eye(3)), SchemaError, "the block has 3 rows"),
        (lambda: begun().offer(np.full((4, 1), np.inf)), ValueError, "infinity"),
        (lambda: RJMCMC().offer(np.eye(3)), NotBegunError, "begin"),
        (lambda: RJMCMC().begin([1.0, 2.0, 4.0]).sample(), NotBegunError, "offer columns"),
        (lambda: RJMCMC().begin([1.0, 1.0, 1.0]), TargetError, "y is constant"),
        (lambda: RJMCMC().begin([0.0, 5e-324, 0.0]), TargetError, "varies by .*smaller units"),
        (lambda: RJMCMC().begin([1.0, 2.0]), InputError, "n_samples = 2"),
        (lambda: RJMCMC().begin(), TargetError, "None"),
        (lambda: chain().offer(np.eye(4)), SchemaError, "the block has 4 rows"),
        (lambda: chain().offer(np.array([1.0, np.inf, 2.0])), ValueError, "infinity"),
        (lambda: chain().sample(0), ParameterError, "moves"),
    ],
)
def test_input_that_makes_no_sense_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
    assert (begun().n_features_in_, chain().n_features_in_) == (0, 1)


def test_a_first_batch_of_one_class_needs_all_labels():
    FSAClassifier().partial_fit(X[:2], [1, 1], classes=[0, 1])


class Unreliable(Ridge):
    """A regressor of another library that predicts no number for large values."""

    def predict(self, X):
        return np.where(np.abs(X).max(axis=1) > 1e6, np.nan, super().predict(X))


def test_what_a_member_of_another_library_cannot_learn_is_refused_with_its_name():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)).astype(np.float32), np.arange(40) % 2
    X[3, 2] = 3e38
    with pytest.raises(InputError, match="SGDClassifier, a member, cannot learn these rows: .*overflow"):
        SuperLearner([SGDClassifier(loss="log_loss", random_state=0)], folds=2).fit(X, y)
    X[3, 2] = 1e7
    with pytest.raises(InputError, match="Unreliable, a member, has predictions that are not finite: resc"):
        SuperLearner([Unreliable()], task="regression", folds=2).fit(X, y.astype(float))
