"""Data in memory."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from streamsieve.exceptions import InputTypeError, SourceError
from streamsieve.sources import ArraySource

#: A matrix that SciPy cannot take rows of: it writes wherever the index says.
BAD = sp.csc_array(np.eye(3))
BAD.indices[1] = 10**6


def cells(source):
    return np.vstack([b.X for b in source.rows(2)])


def test_float_arrays_are_passed_on_as_views():
    for dtype in (np.float32, np.float64):
        X = np.ones((5, 3), dtype)
        source = ArraySource(X)
        assert all(np.shares_memory(b.X, X) and b.X.dtype == dtype for b in source.rows(2))
        assert all(np.shares_memory(b.X, X) for b in source.columns(2))


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool, np.float16, object])
def test_other_numbers_become_float64(dtype):
    X = np.array([[0, 1], [1, 1]], dtype)
    assert cells(ArraySource(X)).dtype == np.float64
    if dtype is not object and dtype is not np.float16:
        assert next(ArraySource(sp.csc_array(X)).rows()).X.dtype == np.float64


def test_what_a_mask_hides_is_missing():
    X = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(cells(ArraySource(X)), [[1, np.nan], [3, 4]])


MISSING = {"a": [1, None, 3], "b": [True, None, False], "c": [0.5, 1.5, None]}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(MISSING).astype({"a": "Int64", "b": "boolean", "c": "Float64"}),
        pd.DataFrame({"a": [1, None, 3], "b": pd.array([1, None, 0], "object"), "c": [0.5, 1.5, np.nan]}),
        pl.DataFrame(MISSING),
        pa.table(MISSING),
        pa.record_batch(MISSING),
    ],
    ids=["pandas nullable", "pandas", "polars", "arrow table", "arrow batch"],
)
def test_missing_values_in_frames_become_nan(frame):
    source = ArraySource(frame)
    expected = [[1, 1, 0.5], [np.nan, np.nan, 1.5], [3, 0, np.nan]]
    np.testing.assert_array_equal(cells(source), expected)
    np.testing.assert_array_equal(np.hstack([b.X for b in source.columns(2)]), expected)
    assert all(b.X.flags.c_contiguous for b in source.rows(2))
    assert all(b.X.flags.f_contiguous for b in source.columns(2))
    assert source.names == ["a", "b", "c"]


def test_a_frame_may_hold_its_target():
    frame = pd.DataFrame({"a": [1.0, 2.0], "label": ["no", "yes"]})
    source = ArraySource(frame, "label")
    assert source.names == ["a"]
    assert source.y.tolist() == ["no", "yes"]
    assert source.y.dtype.kind == "U"
    assert ArraySource(frame[["a"]], frame["label"]).y.tolist() == ["no", "yes"]


def test_column_names_that_are_not_text_are_no_names():
    assert ArraySource(pd.DataFrame([[1, 2]])).names is None


@pytest.mark.parametrize(
    ("X", "y", "names", "message"),
    [
        ([1, 2, 3], None, None, r"two dimensions.*shape \(3,\).*reshape"),
        ([[1, 2], [3]], None, None, "rows of different lengths"),
        ([["a", "b"]], None, None, "must hold numbers.*OrdinalEncoder"),
        (np.array([["1", 2]], object), None, None, "must hold numbers.*OrdinalEncoder"),
        (np.array([[{}, 2]], object), None, None, "must hold numbers; got objects"),
        ([[1 + 2j]], None, None, "must hold numbers; got dtype complex128"),
        (np.zeros((0, 3)), None, None, "nothing to stream: X has 0 rows and 3 columns"),
        (np.zeros((3, 0)), None, None, "nothing to stream: X has 3 rows and 0 columns"),
        (np.eye(3), [1, 2], None, "the data has 3 rows, but y has 2 values"),
        (np.eye(3), np.eye(3), None, r"y must be one-dimensional.*shape \(3, 3\)"),
        (np.eye(3), [[1], [2, 3], 4], None, "y must be one-dimensional.*ragged"),
        (np.eye(3), "label", None, "only a dataframe has a column named 'label'"),
        (np.eye(3), None, ["a", "b"], "names has 2 entries for 3 columns"),
        (np.eye(3), None, 3, "names must be a list of text; got int"),
        (np.eye(3), None, np.array("a"), "names must be a list of text; got ndarray"),
        (np.eye(3), None, BAD, "names must be a list of text; got csc_array"),
        (np.eye(3), None, ["a", "b", "a"], "the name 'a' occurs twice"),
        (np.eye(3), None, ["a", "b", 3], "names must be text; got 3"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), None, None, "every column .* needs its own name"),
        (pd.DataFrame({"a": [1, "x"]}), None, None, "column 'a' does not hold numbers.*'x'.*OrdinalEncoder"),
        (pd.DataFrame({"a": [1 + 2j]}), None, None, "column 'a' does not hold numbers"),
        (pd.DataFrame({"a": pd.array([1, {}], "object")}), None, None, "column 'a' does not hold numbers"),
        (pl.DataFrame({"a": [1]}).lazy(), None, None, r"call .collect\(\) first"),
        (pl.DataFrame({"lable": [1], "a": [2]}), "label", None, "no column 'label'.*did you mean 'lable'"),
        (pl.DataFrame({"y": [1, None], "a": [2, 3]}), "y", None, r"'y' has missing values \(1\)"),
    ],
)
def test_what_cannot_be_streamed_is_refused_with_a_reason(X, y, names, message):
    with pytest.raises(SourceError, match=message):
        list(ArraySource(X, y, names).rows())


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_columns_are_named(library):
    with pytest.raises(InputTypeError, match="column 'city' does not hold numbers; encode it"):
        ArraySource(library({"age": [1, 2], "city": ["Rome", "Oslo"]}))
