"""Every learner, in every variant, passes scikit-learn's checks and keeps our contracts."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import streamsieve as ss
from streamsieve import registry
from streamsieve.base import Selector
from streamsieve.exceptions import InputError, SchemaError, StreamSieveError, TargetError
from streamsieve.protocols import Task
from streamsieve.testing import parametrize_with_contracts
from streamsieve.testing._data import sample, task_for
from tests.helpers import tier

VARIANTS = [variant for cls in registry.learners() for variant in cls.variants()]
ENSEMBLES = [variant for variant in VARIANTS if not isinstance(variant, Selector)]
#: Selectors keep these by the contracts of all selectors.
ensembles = pytest.mark.parametrize("learner", ENSEMBLES, ids=repr)


#: The variants of a class share its face; the first stands for all, and in the full tier each for itself.
FIRST = list({type(variant): variant for variant in reversed(VARIANTS)}.values())


@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks(VARIANTS if tier.FULL else FIRST)
def test_estimator(estimator, check):
    check(estimator)


@parametrize_with_contracts(
    [variant for variant in VARIANTS if isinstance(variant, Selector)], doors="each" if tier.FULL else "once"
)
def test_contract(contract):
    contract()


def outcome(learner, X):
    """Whatever a learner says about rows."""
    if hasattr(learner, "predict_proba"):
        return learner.predict_proba(X)
    return learner.decision_function(X) if hasattr(learner, "decision_function") else learner.predict(X)


def tasks_of(learner):
    return [task for task in (Task.BINARY, Task.MULTICLASS, Task.REGRESSION) if task in learner.traits.tasks]


@ensembles
def test_dense_and_sparse_rows_give_the_same(learner):
    for task in tasks_of(learner):
        X, y, _ = sample(task, n=80, p=9)
        expected = outcome(clone(learner).fit(X, y), X)
        # scikit-learn's stochastic gradients treat intercepts of sparse rows in their own way
        tolerance = 1e-6 if savable(learner) else 0.3
        fitted = clone(learner).fit(sp.csc_array(X), y)
        np.testing.assert_allclose(outcome(fitted, sp.csr_array(X)), expected, atol=tolerance)


@ensembles
def test_the_same_seed_gives_the_same_bits_and_a_second_fit_is_a_first(learner):
    X, y, _ = sample(task_for(learner), n=80, p=9)
    other = sample(task_for(learner), n=50, p=6, seed=1)
    once = outcome(clone(learner).fit(X, y), X)
    again = clone(learner).fit(other.X, other.y).fit(X, y)
    assert np.array_equal(outcome(again, X), once)


def savable(learner):
    """Ensembles of scikit-learn's learners would need code in a file."""
    members = getattr(learner, "members", ())
    return members is not None and all(isinstance(member, Selector) for member in members)


@pytest.mark.parametrize("learner", [learner for learner in VARIANTS if savable(learner)], ids=repr)
def test_a_saved_learner_comes_back(learner, tmp_path):
    for task in tasks_of(learner):
        X, y, _ = sample(task, n=60, p=9)
        y = np.array(list("abcd"))[y] if task is not Task.REGRESSION else y
        fitted = clone(learner).fit(X, y)
        fitted.save(tmp_path / "state.sieve")
        for again in (type(learner).load(tmp_path / "state.sieve"), ss.load(tmp_path / "state.sieve")):
            assert type(again) is type(learner)
            assert repr(again.get_params()) == repr(learner.get_params())
            assert np.array_equal(outcome(again, X), outcome(fitted, X))
            assert np.array_equal(again.predict(X), fitted.predict(X))


#: Those that learn from columns as they come.
streams = pytest.mark.parametrize("learner", [v for v in VARIANTS if hasattr(v, "begin")], ids=repr)


def counted(learner):
    """A chain counts its moves only when it is asked to."""
    return learner.sample() if hasattr(learner, "sample") else learner


@streams
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_blocks_are_kept(learner, frame, tmp_path):
    X, y, _ = sample(task_for(learner), n=60, p=6)
    names = list("fedcba")
    table = frame(dict(zip(names, X.T, strict=True)))
    stream = counted(clone(learner).begin(y).offer(table[names[:2]]).offer(X[:, 2:], names=names[2:]))
    assert stream.feature_names_in_.tolist() == names
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = stream.predict(table)
    if savable(learner):
        stream.save(tmp_path / "state.sieve")
        stream = type(learner).load(tmp_path / "state.sieve")
    assert np.array_equal(stream.predict(table), expected)
    if isinstance(stream, Selector):
        chosen = [names[j] for j in np.flatnonzero(stream.get_support())]
        assert stream.get_feature_names_out().tolist() == chosen
        assert list(stream.transform(table).columns) == chosen
    with pytest.raises(InputError, match="must be in the same order"):
        stream.predict(table[names[::-1]])
    for again in ({"X": table[["c"]]}, {"X": X[:, 0], "names": "c"}, {"X": X[:, :2], "names": ["g", "g"]}):
        with pytest.raises(SchemaError, match="occurs twice"):
            stream.offer(**again)
    with pytest.raises(SchemaError, match="names has 1 entries for 2 columns"):
        stream.offer(X[:, :2], names="g")
    assert np.array_equal(stream.predict(table), expected)


@streams
def test_names_go_on_after_a_fit_and_columns_without_are_counted(learner):
    X, y, _ = sample(task_for(learner), n=60, p=6)
    names = list("fedcba")
    stream = clone(learner).fit(pd.DataFrame(X, columns=names), y)
    stream.offer(X[:, :2] + 1).offer(X[:, 0] + 2, names="late")
    assert stream.feature_names_in_.tolist() == [*names, "x6", "x7", "late"]
    late = clone(learner).begin(y).offer(X)
    assert not hasattr(late, "feature_names_in_")
    assert late.offer(X[:, 0], names="late").feature_names_in_.tolist() == [f"x{j}" for j in range(6)] + [
        "late"
    ]
    assert not hasattr(late.begin(y).offer(X), "feature_names_in_")


@streams
@pytest.mark.parametrize("y", [[[1, 2], [3]], 3.0, "abc", None, [], iter([0, 1]), [[0, 1], [1, 0]], {1: 2}])
def test_targets_that_are_none_are_refused(learner, y):
    with pytest.raises(TargetError, match=r"\by\b.*: give|y must be one-dimensional"):
        clone(learner).begin(y)


@ensembles
def test_a_score_may_weigh_rows(learner):
    X, y, _ = sample(task_for(learner), n=50, p=6)
    fitted = clone(learner).fit(X, y)
    some = np.arange(50) % 3
    assert fitted.score(X, y, sample_weight=some) == pytest.approx(
        fitted.score(np.repeat(X, some, axis=0), np.repeat(y, some))
    )


@ensembles
def test_a_refused_call_changes_nothing(learner):
    X, y, _ = sample(task_for(learner), n=50, p=6)
    fitted = clone(learner).fit(X, y)
    expected = outcome(fitted, X)
    bad = X.copy()
    bad[3, 2] = np.nan
    for call in (
        lambda: fitted.fit(bad, y),
        lambda: fitted.fit(X, y[:-1]),
        lambda: fitted.fit(X[:0], y[:0]),
        lambda: fitted.offer(bad),
        lambda: fitted.offer(X[:-1]),
        lambda: fitted.begin(None),
        lambda: fitted.set_params(random_state=-1).begin(y),
    ):
        with pytest.raises(StreamSieveError):
            call()
        assert np.array_equal(outcome(fitted, X), expected)


@ensembles
def test_a_parameter_that_makes_no_sense_is_named(learner):
    X, y, _ = sample(task_for(learner), n=50, p=6)
    for name in learner.get_params(deep=False):
        with pytest.raises(StreamSieveError, match=rf"(?s){name}.*no such value"):
            clone(learner).set_params(**{name: "no such value"}).fit(X, y)
