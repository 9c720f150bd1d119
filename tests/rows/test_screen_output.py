"""What transform puts out: the selection, zeros for the others, or the selection frozen at first use."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from streamsieve.rows import Screen
from tests.rows.toys import drift, table

X, Y = table()
NAMES = np.array([f"c{j}" for j in range(X.shape[1])])
each_container = pytest.mark.parametrize("wrap", [np.asarray, np.asfortranarray, sp.csr_array, sp.csr_matrix])


@cache
def top():
    """Return the columns that a screen selects, in order."""
    return np.sort(Screen(k=4).fit(X, Y).ranked_)


def plain(A):
    return A.toarray() if sp.issparse(A) else np.asarray(A)


@each_container
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_drop_keeps_the_selected_columns_in_order(wrap, dtype):
    screen = Screen(k=4).fit(X, Y)
    out = screen.transform(wrap(X.astype(dtype)))
    assert np.array_equal(plain(out), X.astype(dtype)[:, top()])
    assert out.dtype == dtype
    assert sp.issparse(out) == sp.issparse(wrap(X))
    assert screen.get_feature_names_out().tolist() == [f"x{j}" for j in top()]


@each_container
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_zero_keeps_the_width(wrap, dtype):
    screen = Screen(k=4, output="zero").fit(X, Y)
    out = screen.transform(wrap(X.astype(dtype)))
    wanted = np.zeros(X.shape, dtype)
    wanted[:, top()] = X.astype(dtype)[:, top()]
    assert np.array_equal(plain(out), wanted)
    assert out.dtype == dtype
    assert sp.issparse(out) == sp.issparse(wrap(X))
    assert len(screen.get_feature_names_out()) == X.shape[1]


@each_container
def test_frozen_stays_with_the_columns_of_the_first_transform(wrap):
    (X1, y1), (X2, y2) = drift([[0, 1], [4, 5]])
    moving, frozen = Screen(k=2, half_life=20), Screen(k=2, half_life=20, output="frozen")
    for screen in (moving, frozen):
        screen.partial_fit(wrap(X1), y1)
        assert np.array_equal(plain(screen.transform(wrap(X1))), X1[:, [0, 1]])
        screen.partial_fit(wrap(X2), y2)
        assert screen.get_support(indices=True).tolist() == [4, 5]
    assert np.array_equal(plain(moving.transform(wrap(X2))), X2[:, [4, 5]])
    assert np.array_equal(plain(frozen.transform(wrap(X2))), X2[:, [0, 1]])
    assert frozen.get_feature_names_out().tolist() == ["x0", "x1"]
    frozen.fit(X2, y2)
    assert np.array_equal(frozen.transform(X2), X2[:, [4, 5]])


def test_drop_keeps_a_dataframe_with_its_names_and_types():
    frame = pd.DataFrame(X, columns=NAMES)
    frame["c3"] = np.arange(len(X))
    screen = Screen(k=4).fit(frame, Y)
    out = screen.transform(frame)
    chosen = screen.get_support(indices=True)
    assert out.columns.tolist() == NAMES[chosen].tolist() == screen.get_feature_names_out().tolist()
    assert out.dtypes.tolist() == frame.dtypes.iloc[chosen].tolist()
    pd.testing.assert_frame_equal(out, frame.iloc[:, chosen])


@pytest.mark.parametrize("output", ["zero", "frozen"])
def test_zero_and_frozen_take_a_dataframe(output):
    frame = pd.DataFrame(X, columns=NAMES)
    screen = Screen(k=4, output=output).fit(frame, Y)
    out = np.asarray(screen.transform(frame))
    assert np.array_equal(out[:, top()] if output == "zero" else out, X[:, top()])
    assert len(screen.get_feature_names_out()) == out.shape[1]


@pytest.mark.parametrize("output", ["drop", "zero", "frozen"])
def test_set_output_names_the_columns(output):
    frame = pd.DataFrame(X, columns=NAMES)
    screen = Screen(k=4, output=output).set_output(transform="pandas").fit(frame, Y)
    out = screen.transform(frame)
    assert out.columns.tolist() == screen.get_feature_names_out().tolist()
    assert np.array_equal(out[NAMES[top()]].to_numpy(), X[:, top()])


def test_transform_changes_neither_input_nor_selection():
    for output in ("drop", "zero", "frozen"):
        before = X.copy()
        screen = Screen(k=4, output=output).fit(X, Y)
        screen.transform(X)[:] = -1
        assert np.array_equal(before, X)
        assert np.array_equal(screen.transform(X)[:, :1], screen.transform(X)[:, :1])
        assert screen.get_support(indices=True).tolist() == top().tolist()


def test_a_screen_works_inside_a_pipeline():
    model = make_pipeline(Screen("fisher", k=4), LogisticRegression()).fit(X, Y)
    assert model.score(X, Y) > 0.5
    assert model[0].get_support().sum() == 4
