"""The border: clean input passes unchanged, anything else is refused in words that help."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning

import streamsieve as ss
from streamsieve import _frames as frames
from streamsieve import _parameters as parameters
from streamsieve import _validation as v
from streamsieve import _values as values
from streamsieve import exceptions
from streamsieve._validation import check_length, task_of
from streamsieve.base.row_dependence import group_codes
from streamsieve.exceptions import (
    BadValueError,
    InputError,
    InputTypeError,
    ParameterError,
    SchemaError,
    TargetError,
)
from streamsieve.protocols import Task, Traits
from streamsieve.sources import arrays


class NullEstimator(BaseEstimator):
    """An estimator that nothing is expected of."""

    traits = Traits(missing=True, weights=True)


def rows(X, y, weight=None, target="classes", selector=None, reset=True):
    return v.check_rows(selector or NullEstimator(), X, y, weight, target=target, reset=reset)


X = np.arange(8.0).reshape(4, 2)
Y = np.array([0, 1, 0, 1])

# ------------------------------------------------------------------------------------ parameters


@pytest.mark.parametrize(
    ("value", "bounds", "message"),
    [
        (0, {"low": 1}, "k must be a number at least 1; got 0"),
        (0, {"low": 0, "open_low": True}, "k must be a number above 0; got 0"),
        (2, {"high": 1}, "k must be a number at most 1; got 2"),
        (1, {"low": 0, "high": 1, "open_high": True}, "k must be a number at least 0 and below 1; got 1"),
        (1.5, {"integer": True}, r"k must be a whole number; got 1\.5"),
        (True, {}, "k must be a number; got True"),
        ("3", {}, "k must be a number; got '3'"),
        (None, {"low": 1}, "k must be a number at least 1; got None"),
        (float("nan"), {"low": 1}, "k must be a number at least 1; got nan"),
        (1j, {}, "k must be a number; got 1j"),
    ],
)
def test_numbers_out_of_range_are_refused(value, bounds, message):
    with pytest.raises(ParameterError, match=f"^{message}$"):
        parameters.check_number("k", value, **bounds)


def test_numbers_in_range_pass_whatever_their_type():
    for value in (1, 1.0, np.int64(1), np.float32(1), np.float64(1)):
        parameters.check_number("k", value, low=1, high=1)
    parameters.check_number("k", np.int8(3), integer=True)


def test_a_choice_is_returned_or_the_nearest_one_named():
    assert parameters.check_choice("mode", "fast", ("fast", "slow")) == "fast"
    with pytest.raises(
        ParameterError, match=r"^mode must be one of 'fast', 'slow'; got 'fsat'; did you mean 'fast'\?$"
    ):
        parameters.check_choice("mode", "fsat", ("fast", "slow"))
    with pytest.raises(ParameterError, match=r"^mode must be one of 'fast', 'slow'; got 7$"):
        parameters.check_choice("mode", 7, ("fast", "slow"))


# ------------------------------------------------------------------------------------ rows


def test_a_plain_array_of_the_known_width_is_passed_on_untouched():
    selector = NullEstimator()
    rows(X, Y, selector=selector)
    for A in (X, np.asfortranarray(X), X.astype(np.float32)):
        assert rows(A, Y, selector=selector, reset=False).X is A


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.int64, bool, np.float16])
def test_other_numbers_become_float64(dtype):
    batch = rows((X % 2).astype(dtype), Y)
    assert batch.X.dtype in (np.float64, np.float32)
    assert np.array_equal(batch.X, X % 2)


class Subclass(np.ndarray):
    """An array of another library."""


def unaligned(A):
    out = np.zeros(A.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(A.shape)
    out[:] = A
    return out


@pytest.mark.parametrize(
    "wrap",
    [
        lambda A: np.repeat(np.repeat(A, 2, 0), 2, 1)[::2, ::2],
        lambda A: A[::-1, ::-1].copy()[::-1, ::-1],
        lambda A: A.astype(">f8"),
        lambda A: A.astype(np.longdouble),
        lambda A: A.view(Subclass),
        lambda A: np.broadcast_to(A, A.shape),
        lambda A: A.astype(object),
        np.ma.MaskedArray,
        unaligned,
    ],
)
def test_arrays_of_any_layout_become_plain_ones(wrap):
    got = rows(wrap(X), Y).X
    assert type(got) is np.ndarray
    assert got.dtype in (np.dtype(np.float64), np.dtype(np.float32))
    assert np.array_equal(got, X)


def test_masked_values_are_missing_and_huge_longdoubles_infinite():
    masked = np.ma.MaskedArray(X, mask=X == 5)
    assert np.array_equal(rows(masked, Y).X, np.where(X == 5, np.nan, X), equal_nan=True)
    with pytest.raises(BadValueError, match="feature 'x1' has missing values"):
        v.check_block(masked, None, 4)
    with pytest.raises(BadValueError, match="feature 'x0' has missing values"):
        v.check_block(masked[:, 1], None, 4)
    if np.finfo(np.longdouble).maxexp > 1024:
        assert np.isinf(rows(X.astype(np.longdouble) * np.longdouble("1e4000"), Y).X[1, 1])


@pytest.mark.parametrize(
    "wrap", [pd.DataFrame, pl.DataFrame, lambda A: pa.table({"a": A[:, 0], "b": A[:, 1]}), list]
)
def test_dataframes_and_lists_become_arrays(wrap):
    batch = rows(wrap(X), Y)
    assert isinstance(batch.X, np.ndarray)
    assert np.array_equal(batch.X, X)


@pytest.mark.parametrize(
    "kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array]
)
def test_sparse_rows_become_csr_with_sorted_unique_int32_indices(kind):
    A = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 5.0]])
    got = rows(kind(A), Y).X
    assert got.format == "csr"
    assert got.indices.dtype == np.int32
    assert got.has_canonical_format
    assert np.array_equal(got.toarray(), A)


def test_unsorted_duplicate_int64_indices_are_put_in_order_in_a_copy():
    given = sp.csr_array(
        (np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3), dtype=np.float64
    )
    given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
    before = given.indices.tolist(), given.data.tolist()
    got = rows(given, [1]).X
    assert got.toarray().tolist() == [[2.0, 0.0, 5.0]]
    assert got.indices.tolist() == [0, 2]
    assert (given.indices.tolist(), given.data.tolist()) == before


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (X[0], InputError, "Expected 2D array, got 1D array"),
        (X[:0], InputError, r"0 sample\(s\)"),
        (X[:, :0], InputError, r"0 feature\(s\)"),
        (X * 1j, InputError, "Complex data not supported"),
        ([["a", "b"]], InputError, "could not convert string to float"),
        ("text", InputError, "Expected 2D array, got scalar|could not convert"),
        (None, InputError, "Expected 2D array|NoneType"),
        ([[1.0], [1.0, 2.0]], InputError, "inhomogeneous"),
        ([[{}]], InputTypeError, "must be a string or a real number"),
        (X.astype("M8[s]"), InputTypeError, r"X holds datetime64\[s\], but numbers are needed"),
        (X.astype("m8[s]"), InputTypeError, r"X holds timedelta64\[s\], but numbers are needed"),
        (np.zeros((4, 2), "V8"), InputTypeError, "but numbers are needed"),
        (X.view(np.matrix), InputTypeError, "np.matrix is not supported"),
        (np.full((4, 2), 10**400, object), InputError, "int too large to convert to float"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        rows(given, Y)


def test_another_width_or_other_names_are_refused():
    selector = NullEstimator()
    rows(pd.DataFrame(X, columns=["a", "b"]), Y, selector=selector)
    with pytest.raises(
        InputError, match="X has 3 features, but NullEstimator is expecting 2 features as input"
    ):
        rows(np.ones((4, 3)), Y, selector=Plain(2), reset=False)
    with pytest.raises(InputError, match="feature names should match those that were passed during fit"):
        rows(pd.DataFrame(X, columns=["a", "c"]), Y, selector=selector, reset=False)
    with pytest.raises(InputError, match="feature names should match those that were passed during fit"):
        rows(pd.DataFrame(X, columns=["b", "a"]), Y, selector=selector, reset=False)


def Plain(width):  # noqa: N802 - reads as a class
    selector = NullEstimator()
    selector.n_features_in_ = width
    return selector


# ------------------------------------------------------------------------------------ targets


@pytest.mark.parametrize(
    ("y", "dtype_kind"),
    [
        (Y, "i"),
        (Y * 1.0, "f"),
        (Y == 1, "b"),
        (["a", "b", "a", "b"], "U"),
        (np.array(["a", "b", "a", "b"], dtype=object), "U"),
        (np.array([0, 1, 0, 1], dtype=object), "i"),
        (np.array([0.0, 1, 0, 1], dtype=object), "f"),
        (pd.Series(["a", "b", "a", "b"]), "U"),
        (pd.Series([0, 1, 0, 1], index=[9, 8, 7, 6]), "i"),
        (pl.Series([0, 1, 0, 1]), "i"),
        (pa.array([0, 1, 0, 1]), "i"),
        ((0, 1, 0, 1), "i"),
    ],
)
def test_labels_of_many_kinds_are_taken_in_order(y, dtype_kind):
    got = rows(X, y).y
    assert got.dtype.kind == dtype_kind
    assert len(set(got[[0, 2]].tolist())) == len(set(got[[1, 3]].tolist())) == 1
    assert got[0] != got[1]


def test_a_column_vector_is_taken_with_scikit_learns_warning():
    with pytest.warns(
        DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"
    ):
        assert rows(X, Y[:, None]).y.tolist() == Y.tolist()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None: give one label per row"),
        (Y[:3], "X has 4 rows, but y has 3: one label per row is needed"),
        (X, r"y must be one-dimensional, one label per row; got shape \(4, 2\)"),
        (3, r"y must be one-dimensional, one label per row; got shape \(\)"),
        ([[1], [1, 2], [1], [1]], "one label per row; got a ragged list"),
        ([0, 1, np.nan, 1], "y contains NaN or infinity in 1 of 4 rows .*: drop those rows or fill them in"),
        ([0, 1, np.inf, 1], "y contains NaN or infinity"),
        ([0.5, 1, 0, 1], "y holds fractional numbers, but this method needs class labels"),
        (
            ["a", None, "b", "a"],
            r"y has missing labels \(None\) in 1 of 4 rows .*row 1, .*: drop those rows or give them a label",
        ),
        (np.array(["a", 1, "b", "a"], dtype=object), "y mixes text and other types"),
        (np.array([[], {}, (), 1], dtype=object), "y must hold numbers or text; got other objects"),
        (Y * 1j, "Complex data not supported: y holds complex numbers"),
        ([1e200, 0.0, 1.0, 1.0], r"y holds values beyond 1e\+100, whose squares overflow: rescale it"),
        ([2**70, 1, 2**70 + 1, 1], "y holds whole numbers of more than 64 bits: make the labels text"),
        (sp.csr_array(X), "y must be one-dimensional"),
    ],
)
def test_unusable_labels_are_refused(y, message):
    with pytest.raises(TargetError, match=message):
        rows(X, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            ["a", "b", "a", "b"],
            "a numeric target is needed, but y holds labels such as .*'a'.*criterion for classes",
        ),
        ([0.5, np.nan, 1, 2], "y contains NaN or infinity"),
        ([0.5, -np.inf, 1, 2], "y contains NaN or infinity"),
        ([0.5, -1e151, 1, 2], "whose squares overflow"),
    ],
)
def test_unusable_numeric_targets_are_refused(y, message):
    with pytest.raises(TargetError, match=message):
        rows(X, y, target="numeric")


def test_neighboring_labels_of_64_bits_stay_two():
    labels = [2**62 + 1, 2**62, 2**62 + 1, 2**62]
    assert rows(X, np.array(labels, object)).y.tolist() == labels


def test_half_precision_targets_are_taken_without_a_warning():
    got = task_of(Y.astype(np.float16), "auto")[0]
    assert got.dtype == np.float64
    assert got.tolist() == Y.tolist()


def test_a_target_without_a_length_is_left_to_what_comes_after():
    for y in (sp.csr_array(X), [[1], [1, 2]]):
        check_length(y, 4)


def arrow(kind):
    """Make an Arrow array of four rows that pyarrow takes, and does not look at."""
    if kind == "dictionary":
        indices = pa.array([0, 10**6, 0, 1], pa.int32())
        return pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]), safe=False)
    offsets = [0, 2**30, 2, 2, 3] if kind == "offsets" else [0, 1, 2, 2, 3]
    bytes_ = b"abc" if kind == "offsets" else b"\xff\xfe\xfd"
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32).tobytes()), pa.py_buffer(bytes_)]
    return pa.Array.from_buffers(pa.string(), 4, buffers)


@pytest.mark.parametrize("kind", ["dictionary", "offsets", "text"])
@pytest.mark.parametrize(
    "enter",
    [
        lambda a: v.clean(pa.table({"a": a}), "csr"),
        lambda a: frames.with_codes(pa.table({"a": a})),
        lambda a: frames.with_codes(pa.chunked_array([a])),
        lambda a: rows(X, a),
        lambda a: rows(X, pa.chunked_array([a])),
        lambda a: rows(X, Y, a),
        lambda a: v.clean(pd.DataFrame({"a": pd.Series(a, dtype=pd.ArrowDtype(a.type))}), "csr"),
        lambda a: group_codes(a, 4),
        lambda a: frames.take_named(pa.table({"a": a}), ["a"]),
        lambda a: frames.take_columns(pa.table({"a": a}), np.array([0])),
        lambda a: frames.zero_columns(pa.table({"a": a, "b": [1, 2, 3, 4]}), np.array([False, True])),
        lambda a: ss.open(pa.table({"a": a}), target=Y),
    ],
    ids=["matrix", "codes", "codes of a column", "target", "target in chunks", "weight", "pandas", "groups",
         "kept by name", "kept", "set to 0", "source"],
)  # fmt: skip
def test_arrow_data_that_points_outside_is_refused_before_it_is_read(kind, enter):
    with pytest.raises(InputError, match="the Arrow data.* is not valid"):
        enter(arrow(kind))


def test_a_table_is_validated_once_per_call(monkeypatch):
    checked = []

    def counted(data):
        if isinstance(data, pa.Table):
            checked.append(data.num_columns)
        frames_check(data)

    frames_check = frames.check_arrow
    for module in (frames, v.arrays, v.targets, arrays):
        monkeypatch.setattr(module, "check_arrow", counted)
    table = pa.table({"a": X[:, 0], "b": X[:, 1]})
    screen, sieve, tops = ss.Screen("f", k=1), ss.FastOSFS(), ss.TopK(k=1)
    calls = {
        "fit": lambda: screen.fit(table, Y), "partial_fit": lambda: screen.partial_fit(table, Y),
        "transform": lambda: screen.transform(table), "fit of columns": lambda: sieve.fit(table, Y),
        "offer": lambda: tops.begin(Y).offer(table), "open": lambda: ss.open(table, target=Y),
        "a run": lambda: ss.run(ss.open(table, target=Y), ss.Screen("f", k=1)),
    }  # fmt: skip
    for name, call in calls.items():
        checked.clear()
        call()
        assert checked == [1 if name == "transform" else 2], name


def test_a_numeric_target_becomes_contiguous_float64():
    for y in (Y, Y == 1, Y.astype(np.float32), np.repeat(Y, 2)[::2]):
        got = rows(X, y, target="numeric").y
        assert got.dtype == np.float64
        assert got.flags.c_contiguous
        assert got.tolist() == Y.tolist()


def test_without_a_target_y_is_ignored():
    assert rows(X, "whatever", target=None).y is None


@pytest.mark.parametrize(
    ("y", "task", "kind"),
    [
        (Y, "auto", Task.BINARY),
        ([0, 1, 2, 1], "auto", Task.MULTICLASS),
        (["a", "b", "a", "c"], "auto", Task.MULTICLASS),
        ([0.0, 1.0, 0.0, 1.0], "auto", Task.BINARY),
        ([0.5, 1.0, 0.0, 1.0], "auto", Task.REGRESSION),
        (Y, "regression", Task.REGRESSION),
        ([0, 1, 2, 1], "classification", Task.MULTICLASS),
    ],
)
def test_the_task_is_read_off_the_target(y, task, kind):
    assert v.task_of(y, task)[1] is kind


@pytest.mark.parametrize(
    ("y", "task", "error", "message"),
    [
        ([1, 1, 1], "auto", TargetError, "y holds one class only .*give rows of at least two classes"),
        ([], "auto", TargetError, "y is empty: at least two rows are needed"),
        (None, "auto", TargetError, "the target y is None"),
        ([0.5, 1.0], "classification", TargetError, "y holds fractional numbers"),
        (["a", "b"], "regression", TargetError, "a numeric target is needed"),
        (Y, "regresion", ParameterError, r"got 'regresion'; did you mean 'regression'\?"),
    ],
)
def test_targets_that_do_not_suit_the_task_are_refused(y, task, error, message):
    with pytest.raises(error, match=message):
        v.task_of(y, task)


@pytest.mark.parametrize("dtype", [">i8", ">f8", np.longdouble, np.float16, ">i2"])
def test_labels_of_any_byte_order_and_width_are_taken(dtype):
    got = rows(X, Y.astype(dtype)).y
    assert got.dtype.isnative
    assert got.dtype.itemsize <= 8
    assert got.tolist() == Y.tolist()


def test_masked_labels_and_weights_are_refused():
    with pytest.raises(TargetError, match=r"y has missing labels \(masked values\)"):
        rows(X, np.ma.MaskedArray(Y, mask=Y == 1))
    with pytest.raises(InputError, match="sample_weight has masked values"):
        rows(X, Y, np.ma.MaskedArray(np.ones(4), mask=Y == 1))


# ------------------------------------------------------------------------------------ weights


def test_weights_become_float64_one_a_row():
    assert rows(X, Y).weight is None
    for weight in (2, 2.0, np.full(4, 2), [2, 2, 2, 2], pd.Series([2.0] * 4)):
        got = rows(X, Y, weight).weight
        assert (got.dtype, got.tolist()) == (np.float64, [2.0] * 4)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1, 1, -0.5], r"sample_weight must lie between 0 and 1e\+30; got -0\.5"),
        (-1, r"sample_weight must lie between 0 and 1e\+30; got -1"),
        ([1, 1, 1], r"Sample weights must be 1D array or scalar of 4 values, one per row; got shape \(3,\)"),
        (np.ones((4, 1)), r"got shape \(4, 1\)"),
        ([1, 1, 1, np.nan], "Input sample_weight contains NaN"),
        ([1, 1, 1, np.inf], "Input sample_weight contains infinity"),
        (["a"] * 4, "could not convert string to float"),
    ],
)
def test_unusable_weights_are_refused(weight, message):
    with pytest.raises(InputError, match=message):
        rows(X, Y, weight)


# ------------------------------------------------------------------------------------ columns


def test_a_block_takes_the_names_of_a_dataframe_or_those_given():
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert list(v.check_block(frame, None, 4).names) == ["a", "b"]
    assert list(v.check_block(frame, ["c", "d"], 4).names) == ["c", "d"]
    assert v.check_block(X, None, 4).names is None
    assert list(v.check_block(pd.Series(X[:, 0], name="age"), None, 4).names) == ["age"]
    assert v.check_block(X[:, 0], None, 4).X.shape == (4, 1)


def test_sparse_columns_become_csc():
    assert v.check_block(sp.csr_array(X), None, 4).X.format == "csc"


@pytest.mark.parametrize(
    ("given", "names", "error", "message"),
    [
        (X[:3], None, SchemaError, r"the block has 3 rows, but begin\(y\) was given 4"),
        (X, ["a"], SchemaError, "names has 1 entries for 2 columns: give one name per column"),
        (
            np.where(X == 5, np.nan, X),
            None,
            BadValueError,
            "Input X contains NaN: feature 'x1' has missing values",
        ),
        (
            np.where(X == 5, np.inf, X),
            ["a", "b"],
            BadValueError,
            "feature 'b' holds inf; clip it or mark it missing",
        ),
        (np.where(X == 5, 1e200, X), ["a", "b"], BadValueError, r"feature 'b' holds 1e\+200; squares"),
        (sp.csc_array(np.where(X == 5, -np.inf, X)), None, BadValueError, "feature 'x1' holds -inf"),
        (
            sp.csc_array(np.where(X == 4, np.nan, X)),
            ["a", "b"],
            BadValueError,
            "feature 'a' has missing values",
        ),
    ],
)
def test_unusable_blocks_are_refused(given, names, error, message):
    with pytest.raises(error, match=message):
        v.check_block(given, names, 4)


# ------------------------------------------------------------------------------------ values


@pytest.mark.parametrize("wrap", [np.asarray, np.asfortranarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gaps_are_found_and_infinity_is_refused(wrap, dtype):
    A = X.astype(dtype)
    assert values.refuse_non_finite(wrap(A), missing=True) is False
    A[2, 1] = np.nan
    assert values.refuse_non_finite(wrap(A), missing=True) is True
    A[3, 0] = -np.inf
    with pytest.raises(BadValueError, match="feature 'x0' holds -inf; clip it or mark it missing") as caught:
        values.refuse_non_finite(wrap(A), missing=True)
    assert (caught.value.feature, caught.value.value) == (0, -np.inf)


def test_the_largest_value_is_stated_and_kept_to():
    assert values.refuse_non_finite(np.array([[0.99 * values.LIMIT]]), missing=True) is False
    for value in (values.LIMIT, -1.01 * values.LIMIT):
        with pytest.raises(BadValueError, match=r"squares of values beyond 1e\+100 may overflow: rescale it"):
            values.refuse_non_finite(np.array([[1.0, value]]), missing=True)
    assert np.isfinite(values.LIMIT**2)


def test_nothing_at_all_is_fine():
    assert values.refuse_non_finite(sp.csr_array((3, 4)), missing=True) is False
    assert values.refuse_non_finite(np.zeros((0, 4)), missing=True) is False


# ------------------------------------------------------------------------------------ dataframes


@pytest.mark.parametrize("wrap", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_columns_are_named_five_at_most(wrap):
    good, text = [1.0, 2.0], ["a", "b"]
    frames.refuse_text(wrap({"a": good, "flag": [True, False], "n": [1, 2]}))
    with pytest.raises(InputTypeError, match=r"column 'b' does not hold numbers; encode it .* leave it out"):
        frames.refuse_text(wrap({"a": good, "b": text}))
    with pytest.raises(
        InputTypeError, match="columns 'a', 'b', 'c', 'd', 'e' and 2 more do not hold numbers"
    ):
        frames.refuse_text(wrap(dict.fromkeys("abcdefg", text)))


@pytest.mark.parametrize(
    "wrap", [pd.DataFrame, lambda X, columns: pa.Table.from_arrays(list(X.T), names=columns)]
)
def test_names_that_occur_twice_are_refused_by_name(wrap):
    frame = wrap(np.ones((4, 5)), columns=list("abacb"))
    for look in (frames.names_of, frames.holds_text, frames.refuse_text):
        with pytest.raises(SchemaError, match="several columns named 'a', 'b': rename them"):
            look(frame)
    for door in (lambda: rows(frame, Y), lambda: v.check_block(frame, None, 4)):
        with pytest.raises(SchemaError, match="several columns named 'a', 'b': rename them"):
            door()


@pytest.mark.parametrize("fill", [0.0, 1.0, np.nan])
def test_pandas_sparse_columns_of_any_fill_value_are_taken(fill):
    A = np.where(X % 3 == 0, fill, X)
    frame = pd.DataFrame(A, columns=["a", "b"]).astype(pd.SparseDtype(float, fill))
    got = rows(frame, Y).X
    assert np.array_equal(got.toarray() if sp.issparse(got) else got, A, equal_nan=True)
    mixed = rows(frame.assign(c=1.0), Y).X
    assert np.array_equal(mixed[:, :2], A, equal_nan=True)
    zero = frames.zero_columns(frame, np.array([False, True]))
    assert zero.dtypes.tolist() == frame.dtypes.tolist()
    assert np.array_equal(zero.to_numpy(), np.c_[A[:, 0], np.zeros(4)], equal_nan=True)


@pytest.mark.parametrize(
    "dtype", ["f2", "longdouble", "complex128", "Int64", "Float32", "boolean", "object", "double[pyarrow]"]
)
def test_pandas_columns_of_any_type_of_numbers_are_set_to_zero(dtype):
    frame = pd.DataFrame({0: [1.0, 2.0], 1: [0, 1]}).astype({1: dtype})
    zero = frames.zero_columns(frame, np.array([False, True]))
    assert zero.dtypes.tolist() == frame.dtypes.tolist()
    assert zero[1].tolist() == [0, 0]
    assert frame[1].tolist() == [0, 1]


def test_columns_without_values_become_zero_and_lists_do_not():
    for frame in (pl.DataFrame({"a": [1.0], "b": [None]}), pa.table({"a": [1.0], "b": pa.array([None])})):
        assert float(frames.zero_columns(frame, np.array([False, True]))["b"][0]) == 0
    cents = pd.DataFrame({"a": [Decimal(1)]}, dtype=pd.ArrowDtype(pa.decimal128(5, 2)))
    assert frames.zero_columns(cents, np.array([True]))["a"].tolist() == [0]
    with pytest.raises(InputTypeError, match=r"column 'b' holds List\(Float64\), which cannot be set to 0"):
        frames.zero_columns(pl.DataFrame({"a": [1.0], "b": [[1.0]]}), np.array([False, True]))


def test_dates_and_categories_are_no_numbers():
    frame = pd.DataFrame(
        {"when": pd.to_datetime(["2020-01-01", "2021-01-01"]), "kind": pd.Categorical(["a", "b"])}
    )
    with pytest.raises(InputTypeError, match="column 'when' holds dates or times, not numbers: convert"):
        frames.refuse_text(frame)
    with pytest.raises(InputTypeError, match="column 'kind' does not hold numbers"):
        frames.refuse_text(frame[["kind"]])


def test_names_are_those_of_text_columns_only():
    assert frames.names_of(pd.DataFrame(X, columns=["a", "b"])) == ["a", "b"]
    assert frames.names_of(pd.DataFrame(X)) is None
    assert frames.names_of(pl.Series("age", [1])) == ["age"]
    assert frames.names_of(pd.Series([1])) is None
    assert frames.names_of(X) is None


@pytest.mark.parametrize("wrap", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_are_taken_in_the_frames_own_library(wrap):
    frame = wrap({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    got = frames.take_columns(frame, np.array([2, 0]))
    assert type(got) is type(frame)
    assert frames.names_of(got) == ["c", "a"]
    assert frames.take_columns(X, np.array([0])) is None


def test_every_error_is_drawn_in_the_tree_and_rooted_in_it():
    own = exceptions.__name__
    errors = {name: cls for name, cls in vars(exceptions).items() if getattr(cls, "__module__", "") == own}
    assert len(errors) >= 12
    for name, cls in errors.items():
        assert issubclass(cls, (exceptions.StreamSieveError, UserWarning))
        assert name in exceptions.__doc__
