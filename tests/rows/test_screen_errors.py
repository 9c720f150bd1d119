"""What a screen refuses, in words that say what was wanted, what came and what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from streamsieve import exceptions as ex
from streamsieve.rows import Screen
from tests.rows.toys import table

X, Y = table(p=4)
INFINITE = X.copy()
INFINITE[9, 3] = np.inf

PARAMETERS = [
    ({"k": 0}, r"k must be a whole number at least 1; got 0"),
    ({"k": 2.5}, r"k must be a whole number at least 1; got 2\.5"),
    ({"k": True}, r"k must be a whole number at least 1; got True"),
    ({"k": 1, "alpha": 0.1}, r"give one of k, percentile and alpha, not k=1 and alpha=0\.1"),
    ({"percentile": 0}, r"percentile must be a number above 0 and at most 100; got 0"),
    ({"percentile": 101}, r"percentile must be a number above 0 and at most 100; got 101"),
    ({"alpha": 1.0}, r"alpha must be a number above 0 and below 1; got 1\.0"),
    ({"alpha": "small"}, r"alpha must be a number above 0 and below 1; got 'small'"),
    ({"correction": "bonferoni"}, r"got 'bonferoni'; did you mean 'bonferroni'\?"),
    (
        {"output": "zeros"},
        r"output must be one of 'drop', 'zero', 'frozen'; got 'zeros'; did you mean 'zero'\?",
    ),
    ({"half_life": 0.5}, r"half_life must be a number at least 1; got 0\.5"),
    ({"half_life": float("nan")}, r"half_life must be a number at least 1; got nan"),
    ({"half_life": float("inf")}, r"half_life must be a number at least 1; got inf"),
    ({"ledger": "some"}, r"ledger must be one of 'all', 'kept', 'none'; got 'some'"),
    ({"criterion": "fishr"}, r"got 'fishr'; did you mean 'fisher'\?"),
    (
        {"criterion": 7},
        r"criterion must be a name \('.*'\) or a streamsieve\.criteria\.Criterion, which has .*; got 7",
    ),
]


@pytest.mark.parametrize(("parameters", "message"), PARAMETERS, ids=[str(p) for p, _ in PARAMETERS])
@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_parameters_out_of_range_are_refused_on_the_first_rows(parameters, message, verb):
    screen = Screen(**parameters)  # storing them is no error: scikit-learn's clone and set_params need that
    with pytest.raises(ex.ParameterError, match=message):
        getattr(screen, verb)(X, Y)
    with pytest.raises(NotFittedError):
        screen.get_support()


#: What is wrong with the data, as arguments of ``fit``, and the error.
INPUTS = {
    "NaN target": ({"y": np.where(Y == 0, np.nan, 1.0)}, ex.TargetError, "y contains NaN or infinity"),
    "no target": ({"y": None}, ex.TargetError, "requires y to be passed, but the target y is None"),
    "fractions": ({"y": Y + 0.5}, ex.TargetError, "fractional numbers, but Screen needs class"),
    "short target": ({"y": Y[:-1]}, ex.TargetError, "X has 60 rows, but y has 59"),
    "a matrix": ({"y": X}, ex.TargetError, r"one-dimensional, one label per row; got shape \(60, 4\)"),
    "one dimension": ({"X": X[0], "y": Y[:4]}, ex.InputError, "Expected 2D array, got 1D array"),
    "three dimensions": ({"X": X[None]}, ex.InputError, "Found array with dim 3"),
    "no rows": ({"X": X[:0], "y": Y[:0]}, ex.InputError, "0 sample"),
    "no columns": ({"X": X[:, :0]}, ex.InputError, "0 feature"),
    "negative weight": (
        {"sample_weight": -np.ones(60)},
        ex.InputError,
        r"must lie between 0 and 1e\+30; got -1",
    ),
    "NaN weight": ({"sample_weight": np.full(60, np.nan)}, ex.InputError, "sample_weight contains NaN"),
    "short weight": ({"sample_weight": np.ones(3)}, ex.InputError, r"of 60 values.*got shape \(3,\)"),
    "no weight at all": ({"sample_weight": np.zeros(60)}, ex.InputError, "all sample weights are zero"),
    "infinity": ({"X": INFINITE}, ex.BadValueError, "feature 'x3' holds inf"),
    "text": ({"X": [["a", "b"]] * 60}, ex.InputError, "could not convert string to float"),
    "complex": ({"X": X * 1j}, ex.InputError, "Complex data not supported"),
}


@pytest.mark.parametrize("name", INPUTS)
def test_unusable_input_is_refused(name):
    given, error, message = INPUTS[name]
    with pytest.raises(error, match=message) as caught:
        Screen("f").fit(**{"X": X, "y": Y, **given})
    assert isinstance(caught.value, ex.StreamSieveError)


@pytest.mark.parametrize(
    ("criterion", "y", "message"),
    [
        ("t", Y, "compares 2 classes, but y holds 3"),
        ("correlation", Y.astype(str), "numeric target is needed"),
    ],
)
def test_targets_that_a_criterion_has_no_meaning_for_are_refused(criterion, y, message):
    with pytest.raises(ex.TargetError, match=message):
        Screen(criterion).fit(X, y)


@pytest.mark.parametrize(
    "text",
    [
        pd.Series(["red"] * 60),
        pd.Series(["red"] * 60, dtype=object),
        pd.Series(["red"] * 60, dtype="category"),
    ],
)
def test_a_text_column_of_a_dataframe_is_named(text):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(color=text, shape=text)
    with pytest.raises(ex.InputTypeError, match="columns 'color', 'shape' do not hold numbers; encode them"):
        Screen("f", k=2).fit(frame, Y)


def test_infinity_in_a_dataframe_is_named():
    frame = pd.DataFrame(X.copy(), columns=["a", "b", "height", "d"])
    frame.loc[7, "height"] = -np.inf
    with pytest.raises(ex.BadValueError, match="feature 'height' holds -inf; clip it or mark it missing"):
        Screen(k=2).fit(frame, Y)


def test_a_failed_batch_leaves_a_screen_as_it_was():
    screen = Screen("f", k=2).partial_fit(X, Y)
    before = screen.scores_.copy()
    bad = X.copy()
    bad[5, 1] = np.inf
    for rows, y in ((bad, Y), (bad, Y + 10), (X, Y.astype(str)), (X, np.full(60, np.nan))):
        with pytest.raises(ex.InputError):
            screen.partial_fit(rows, y)
        assert np.array_equal(screen.scores_, before)
        assert screen.n_samples_seen_ == 60
    with pytest.raises(ex.InputError):
        screen.fit(bad, Y)
    assert np.array_equal(screen.scores_, before)


DIFFERENT = [
    (Screen("f", k=3), r"k is 2 here and 3 there: merging needs equal parameters"),
    (Screen("fisher", k=2), r"criterion is 'f' here and 'fisher' there: merging needs equal parameters"),
    (Screen("f", k=2, half_life=7), r"half_life is None here and 7 there: merging needs equal parameters"),
]


@pytest.mark.parametrize(("other", "message"), DIFFERENT, ids=["k", "criterion", "half_life"])
def test_screens_of_different_parameters_do_not_merge(other, message):
    screen = Screen("f", k=2).fit(X, Y)
    with pytest.raises(ex.MergeError, match=message):
        screen.merge(other.fit(X, Y))
    assert screen.n_samples_seen_ == 60


def test_screens_of_more_classes_than_the_criterion_compares_do_not_merge():
    a, b = (Screen("t", k=1).fit(X, np.where(np.arange(len(X)) % 2, *labels)) for labels in ("ab", "cd"))
    before = a.scores_
    with pytest.raises(
        ex.TargetError, match=r"compares 2 classes, but y holds 4 \('a', 'b', 'c', 'd', ...\)"
    ):
        a.merge(b)
    assert np.array_equal(a.scores_, before)


def test_screens_over_different_features_do_not_merge():
    screen = Screen("f", k=2).fit(X, Y)
    with pytest.raises(ex.MergeError, match=r"the features differ \(4 here, 3 there\)"):
        screen.merge(Screen("f", k=2).fit(X[:, :3], Y))
    with pytest.raises(ex.MergeError, match="the features differ"):
        screen.merge(Screen("f", k=2).fit(pd.DataFrame(X, columns=list("abcd")), Y))
    with pytest.raises(ex.MergeError, match="a Screen merges only with its own class, not with a str"):
        screen.merge("another")
