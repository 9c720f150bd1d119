"""What a target is taken for: one rule for rows, columns and offline methods, and never in silence."""

import inspect
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve._validation import describe_target, is_numeric
from streamsieve.exceptions import BadValueError, InputError, InputTypeError, TargetError, TargetWarning

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(300, 4)), columns=["age", "dose", "pulse", "noise"])
#: Too many different whole numbers to be labels: a quantity that happens to be whole.
VISITS = np.round(100 * X["dose"]).astype(int)
#: As many rows of each value as class codes would have, but more values than most problems have classes.
CODES = RNG.permutation(np.arange(300) % 25)
LABELS = np.where(X["dose"] > 0, "yes", "no")


@pytest.mark.parametrize(
    ("y", "numeric"),
    [
        (LABELS, False),
        (LABELS == "yes", False),
        (np.arange(300) % 20, False),
        (np.arange(300.0) % 20, False),
        (X["dose"].to_numpy(), True),
        (np.arange(20) + 0.5, True),
    ],
)
def test_labels_and_fractions_are_known_for_what_they_are(y, numeric):
    assert is_numeric(y) is numeric


@pytest.mark.parametrize("y", [np.arange(21), np.arange(300) // 9, VISITS.to_numpy(), VISITS.to_numpy(float)])
def test_many_whole_numbers_are_numeric_and_it_is_said(y):
    with pytest.warns(TargetWarning, match=r"different whole numbers over .* rows.*task='classification'"):
        assert is_numeric(y)


def test_where_both_readings_are_plausible_the_target_is_refused():
    with pytest.raises(
        TargetError, match="25 different whole numbers over 300 rows, which may be classes or"
    ):
        is_numeric(CODES)


@pytest.mark.parametrize(
    "selector",
    [ss.Screen(k=1), ss.Screen("mutual_info", k=1), ss.RunningAverages(k=1), ss.SAOLA(), ss.MRMR(k=1)],
)
def test_every_axis_follows_the_rule(selector):
    with pytest.warns(TargetWarning) as caught:
        selector.fit(X, VISITS)
    assert [warning.filename for warning in caught] == [__file__]  # the line that handed in the target
    assert selector.task_ == "regression"
    assert "dose" in selector.get_feature_names_out()
    with pytest.raises(TargetError, match="task='classification' or task='regression'"):
        selector.fit(X, CODES)
    assert selector.set_params(task="regression").fit(X, CODES).task_ == "regression"
    assert selector.set_params(task="classification").fit(X, CODES).task_ == "multiclass"


def test_batches_and_announced_labels_follow_the_rule():
    with pytest.warns(TargetWarning):
        screen = ss.Screen(k=1).partial_fit(X[:150], VISITS[:150])
    assert screen.partial_fit(X[150:], VISITS[150:] % 2).task_ == "regression"  # decided by the first batch
    with pytest.warns(TargetWarning), pytest.raises(TargetError, match="classes= lists labels"):
        ss.Screen(k=1).partial_fit(X, VISITS, classes=np.unique(VISITS))


@pytest.mark.parametrize("selector", [ss.Screen("f", k=1), ss.FIRES(k=1), ss.TraceRatio(k=1), ss.FSDS(k=1)])
def test_a_method_for_classes_says_that_the_labels_look_like_a_quantity(selector):
    if selector._target is None:  # nothing is taken for anything
        selector.fit(X, VISITS)
        return
    if "task" in inspect.signature(type(selector)).parameters:
        with pytest.warns(TargetWarning, match="takes each for a class: .* task='classification' says"):
            selector.fit(X, VISITS)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            selector.set_params(task="classification").fit(X, VISITS)
    elif ss.protocols.Task.MULTICLASS in selector.traits.tasks:
        with pytest.warns(TargetWarning, match="takes each for a class: for a quantity use"):
            selector.fit(X, VISITS)


def test_a_screen_chooses_its_criterion_by_the_target():
    for y, name in ((LABELS, "f"), (X["dose"] + 0.1 * X["age"], "correlation")):
        auto, named = ss.Screen(k=2).fit(X, y), ss.Screen(name, k=2).fit(X, y)
        assert np.array_equal(auto.scores_, named.scores_)
        assert np.array_equal(auto.pvalues_, named.pvalues_)
        again = ss.Screen.from_bytes(auto.to_bytes())
        assert np.array_equal(again.partial_fit(X, y).scores_, auto.partial_fit(X, y).scores_)
    assert ss.Screen(task="regression").traits.tasks == {ss.protocols.Task.REGRESSION}


@pytest.mark.parametrize(
    ("y", "name", "task", "text"),
    [
        (["no"] * 4512 + ["yes"] * 488, "churned", "auto", "target: churned, 2 classes (no 4,512, yes 488)"),
        ([12.5, 310.0, 20], "price", "auto", "target: price, numeric (12.5 to 310)"),
        (np.arange(300), None, "auto", "target: numeric (0 to 299)"),
        ([1, 1, 1], "one", "classification", "target: one, 1 class (1 3)"),
        (np.arange(8), "n", "multiclass", "target: n, 8 classes (0 1, 1 1, 2 1, 3 1, 4 1, 5 1, and 2 more)"),
        (np.arange(6), "n", "multiclass", "target: n, 6 classes (0 1, 1 1, 2 1, 3 1, 4 1, 5 1)"),
        ([0, 1], "n", "regression", "target: n, numeric (0 to 1)"),
        (["\x1b[2J", "a"], "\x1b", "auto", r"target: \x1b, 2 classes (\x1b[2J 1, a 1)"),
        ([True, False, True], "b", "auto", "target: b, 2 classes (False 1, True 2)"),
    ],
)
def test_a_target_is_described_in_one_line(y, name, task, text):
    assert describe_target(y, name, task) == text


# ------------------------------------------------------------------ the right diagnosis first

ALL = [ss.SAOLA(), ss.Screen(), ss.MRMR()]


@pytest.mark.parametrize("selector", ALL)
def test_missing_labels_are_counted_and_placed(selector):
    text = pd.Series(LABELS).where(X.index != 5)
    arrow = pl.Series([None if pd.isna(label) else label for label in text])
    for y in (text, text.astype(object), text.tolist(), arrow):
        with pytest.raises(TargetError, match=r"missing labels \(.*\) in 1 of 300 rows \(the first is row 5"):
            selector.fit(X, y)
    numbers = X["dose"].where(X.index < 298)
    with pytest.raises(TargetError, match="NaN or infinity in 2 of 300 rows .the first is row 298"):
        selector.fit(X, numbers)
    with pytest.raises(TargetError, match=r"missing|NaN"):
        selector.fit(X, pd.Series(CODES % 2, dtype="Int64").where(X.index != 5))


@pytest.mark.parametrize("selector", ALL)
def test_lengths_are_compared_before_labels(selector):
    y = pd.Series(np.repeat(["a", "b"], 150))
    with pytest.raises(TargetError, match="X has 300 rows, but y has 10: one label per row is needed"):
        selector.fit(X, y.head(10))  # of which all have one class


@pytest.mark.parametrize("selector", ALL)
@pytest.mark.parametrize("wrap", [lambda X: X, pl.from_pandas, lambda X: pa.Table.from_pandas(X)])
def test_no_columns_are_called_so(selector, wrap):
    with pytest.raises(InputError, match=r"0 feature\(s\) .*X has no columns|0 feature|no rows|0 sample"):
        selector.fit(wrap(X[[]]), LABELS)


@pytest.mark.parametrize(
    "y", [pa.array(LABELS), pa.chunked_array([LABELS]), pa.array(CODES % 2), pl.Series(LABELS)]
)
@pytest.mark.parametrize("selector", ALL)
def test_targets_of_arrow_are_taken(selector, y):
    expected = np.asarray(y)
    assert np.array_equal(selector.fit(X, y).selected_, selector.fit(X, expected).selected_)


@pytest.mark.parametrize(
    "selector", [ss.MRMR(k=1), ss.ReliefF(k=1), ss.FCBF(), ss.OFS(), ss.FIRES(k=1), ss.SAOLA()]
)
def test_errors_have_the_names_of_the_frame(selector):
    holes = X.assign(pulse=X["pulse"].where(X.index != 3))
    with pytest.raises(BadValueError, match="feature 'pulse' has missing values"):
        selector.fit(holes, LABELS)


def test_dates_are_not_called_text():
    dated = X.assign(when=pd.Timestamp("2026-01-01"), until=pd.Timestamp("2026-01-02"))
    with pytest.raises(
        InputTypeError, match="columns 'when', 'until' hold dates or times, not numbers: convert"
    ):
        ss.SAOLA().fit(dated, LABELS)


PRICES = [f"{1 + i // 10}.{100 + i:03d},{i % 90 + 10}" for i in range(300)]


@pytest.mark.parametrize(
    ("labels", "advice"),
    [
        (PRICES, "look like numbers with thousands separators: write them without"),
        ([f"P-{i}" for i in range(300)], "name another column if these are identifiers"),
    ],
)
@pytest.mark.parametrize("selector", [ss.SAOLA(), ss.MRMR(k=1), ss.TopK(2)])
def test_texts_of_one_row_each_are_no_classes(selector, labels, advice):
    with pytest.raises(TargetError, match=rf"y holds 300 different texts over 300 rows, .*{advice}"):
        selector.fit(X, labels)
    with pytest.raises(TargetError, match=advice):
        ss.select(X, labels)


def test_small_classes_of_text_can_be_asked_for():
    pairs = np.array([f"P-{i // 2}" for i in range(300)])  # two rows each are enough
    assert ss.SAOLA().begin(pairs).task_ == "multiclass"
    assert ss.SAOLA(task="classification").begin(PRICES).task_ == "multiclass"
    assert ss.SAOLA().begin([f"P-{i}" for i in range(20)]).task_ == "multiclass"


@pytest.mark.parametrize(
    ("selector", "ways"),
    [
        (
            ss.OFS(),
            "OFS needs class labels; for a numeric target use a method that takes one, such as Screen",
        ),
        (ss.FIRES(), "FIRES needs class labels; for a numeric target use a method that takes one"),
        (ss.Screen("f"), "Screen needs .* use criterion='correlation' or 'mutual_info', or bin y first"),
        (ss.RunningAverages(task="classification"), "use task='regression', or bin y first"),
    ],
)
def test_advice_on_fractional_numbers_names_parameters_that_exist(selector, ways):
    with pytest.raises(TargetError, match=ways):
        selector.fit(X, np.linspace(0.0, 1.0, len(X)))


@pytest.mark.parametrize("wrap", [np.asarray, pd.DataFrame, sp.csc_array])
def test_advice_on_missing_values_counts_columns_and_names_omit(wrap):
    values = np.random.default_rng(0).normal(size=(60, 4))
    values[3, [1, 3]] = np.nan
    with pytest.raises(BadValueError, match=r"values \(2 of these 4 columns have\); give missing='omit'"):
        ss.TopK().fit(wrap(values), np.arange(60) % 2)
    with pytest.raises(BadValueError, match=r"values \(2 of these 4 columns have\); impute it"):
        ss.OnlineFDR().begin(np.arange(60) % 2).offer(wrap(values))
    with pytest.raises(BadValueError, match=r"values; give missing='omit'"):
        ss.SAOLA().begin(np.arange(60) % 2).offer(wrap(values[:, :2]))
