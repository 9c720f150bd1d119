"""Arguments of types that make no sense: refused by name at every door, and nothing is changed."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import streamsieve as ss
from streamsieve import exceptions as ex
from streamsieve.protocols import RowBatch
from streamsieve.testing.common import ODD, check_odd_parameters

RNG = np.random.default_rng(0)
Y = np.arange(40) % 2
X = RNG.normal(size=(40, 3)) + Y[:, np.newaxis]
NAMES = ("a", "b", "c")

DOORS = {
    "fit": lambda s: s.fit(X, Y),
    "partial_fit": lambda s: s.partial_fit(X, Y),
    "partial_fit with classes": lambda s: s.partial_fit(X, Y, classes=[0, 1]),
    "learn": lambda s: s.learn(RowBatch(X, Y, None, NAMES)),
    "learn_one": lambda s: s.learn_one({"a": 1.0}, 0),
    "learn_many": lambda s: s.learn_many(pd.DataFrame(X, columns=[*NAMES]), Y),
    "declare": lambda s: s.declare(RowBatch(X, Y)),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", ["criterion", "task", "types", "exact", "k"])
def test_odd_parameters_are_refused_before_anything_is_read_off_them(door, name):
    for value in ODD:
        screen = ss.Screen("f").set_params(**{name: value})
        with pytest.raises(ex.ParameterError, match=name):
            DOORS[door](screen)
        assert not hasattr(screen, "n_features_in_")


@pytest.mark.parametrize(
    "learner", [ss.FSAClassifier(epochs=2), ss.RJMCMC(moves=100, burn_in=10), ss.BlockBagging(bags=2)]
)
def test_learners_refuse_odd_parameters(learner):
    y = X[:, 0] if isinstance(learner, ss.RJMCMC) else Y
    for name in learner.get_params(deep=False):
        for value in ODD[:4]:
            with pytest.raises(ex.StreamSieveError):
                type(learner)(**{**learner.get_params(deep=False), name: value}).fit(X, y)


def test_the_contract_finds_a_parameter_that_is_looked_at_unchecked():
    class Careless(ss.Screen):
        @property
        def traits(self):
            return super().traits if self.task == "auto" else None

        def _check_values(self):
            """Look at nothing."""

    with pytest.raises(AssertionError, match="must be refused by ParameterError, not ValueError"):
        check_odd_parameters(Careless("f"))


def test_a_wide_sigma_counts_all_neighbors_alike():
    y = X[:, 0] + 0.1 * RNG.normal(size=40)
    wide, alike = (ss.RReliefF(sigma=sigma).fit(X, y) for sigma in (1e308, None))
    assert np.array_equal(wide.scores_, alike.scores_)


@pytest.mark.parametrize(
    ("classes", "y", "message"),
    [
        ([0, 1], None, "the target y is None"),
        ([0, 1], 5, "one-dimensional"),
        ([[0], [1, 2]], Y, "classes must be a list of labels"),
    ],
)
def test_classes_and_targets_that_are_none_are_refused(classes, y, message):
    with pytest.raises(ex.TargetError, match=message):
        ss.Screen("f").partial_fit(X, y, classes=classes)


BATCHES = {
    "numbers as names": (RowBatch(X, Y, None, (1, 2, 3)), ex.SchemaError, "name must be text, got 1"),
    "no names": (RowBatch(X, Y, None, (None,) * 3), ex.SchemaError, "a feature name must be text, got None"),
    "a name twice": (RowBatch(X, Y, None, ("a", "b", "a")), ex.SchemaError, "'a' occurs twice"),
    "a name too long": (RowBatch(X, Y, None, ("a" * 10**5, "b", "c")), ex.SchemaError, "100,000 characters"),
    "a generator": (RowBatch(X, Y, None, (n for n in NAMES)), ex.SchemaError, "but a generator of names"),
    "a list of rows": (
        RowBatch(X.tolist(), Y, None, NAMES),
        ex.InputTypeError,
        "a matrix of rows; got a list",
    ),
    "an array": (X, ex.InputTypeError, "got a ndarray: use partial_fit"),
    "nothing": (None, ex.InputTypeError, "got a NoneType: use partial_fit"),
}


@pytest.mark.parametrize("door", ["learn", "declare"])
@pytest.mark.parametrize("name", BATCHES)
def test_batches_that_could_not_be_saved_are_refused(door, name):
    batch, error, message = BATCHES[name]
    screen = ss.Screen("f", k=1)
    with pytest.raises(error, match=message):
        getattr(screen, door)(batch)
    assert not hasattr(screen, "n_features_in_")


@pytest.mark.parametrize("value", [{}, [1]])
def test_groups_that_cannot_be_compared_are_refused(value):
    groups = np.empty(40, object)
    groups[:] = [value] * 40
    with pytest.raises(ex.SchemaError, match="known by text, numbers or dates; row 0 has"):
        ss.FastOSFS().fit(X, Y, groups=groups)


def test_several_selectors_that_are_none_are_refused():
    screen = ss.Screen("f").fit(X, Y)
    with pytest.raises(ex.MergeError, match="takes a list of selectors, not a int"):
        screen.merge_many(5)
    assert screen.n_samples_seen_ == 40


@pytest.mark.parametrize("criterion", ["f", "t", "chi2", "mutual_info", "gini"])
@pytest.mark.parametrize("kind", ["importance", "frequency"])
def test_weights_that_cannot_be_squared_count_as_none(criterion, kind):
    rows = np.abs(X)
    make = lambda: ss.Screen(criterion, weight_kind=kind)  # noqa: E731
    with pytest.raises(ex.InputError, match="all sample weights are zero, or below 1e-100"):
        make().fit(rows, Y, sample_weight=np.full(40, 1e-200))
    few = np.where(np.arange(40) < 30, 1.0, 1e-200)
    given = few.copy()
    found = make().fit(rows, Y, sample_weight=given)
    assert np.array_equal(given, few)
    assert np.array_equal(found.scores_, make().fit(rows, Y, sample_weight=few * (few == 1)).scores_)


COLUMNS = {
    "lists": [[1.0]] * 4,
    "structs": [{"a": 1}] * 4,
    "durations": pa.array([1, 2, 3, 4], pa.duration("s")),
    "bytes": [b"a"] * 4,
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_that_are_neither_numbers_nor_text_are_refused_where_types_are_guessed(name):
    table = pa.table({"a": [1.0, 2.0, 3.0, 4.0], "odd": COLUMNS[name]})
    with pytest.raises(ex.InputTypeError, match="column 1 holds neither numbers nor text"):
        ss.Screen("su", k=1, types="auto").fit(table, [0, 1, 0, 1])


def lying_target():
    buffers = [None, pa.py_buffer(np.array([0, 2**30, 2, 2, 3], np.int32)), pa.py_buffer(b"abc")]
    return pa.Array.from_buffers(pa.string(), 4, buffers)


@pytest.mark.parametrize(
    "call",
    [
        lambda y: ss.FastOSFS().fit(np.eye(4), y),
        lambda y: ss.Screen("f").fit(np.eye(4), y),
        lambda y: ss.open(pa.table({"a": [1.0, 2.0, 3.0, 4.0], "y": y}), target="y"),
    ],
    ids=["columns", "rows", "a table"],
)
def test_a_target_with_lying_offsets_is_refused_before_it_is_read(call):
    with pytest.raises(ex.InputError, match="the Arrow data is not valid"):
        call(lying_target())
