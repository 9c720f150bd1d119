"""States of contingency tables round-trip bit for bit; what cannot be counted is refused without a trace."""

import math
from functools import cache

import numpy as np
import pytest

from streamsieve.exceptions import BadValueError, InputError, InputTypeError, ParameterError, StateError
from streamsieve.summaries import Contingency
from streamsieve.summaries.contingency import value_tables
from streamsieve.summaries.contingency.category_encoder import CategoryEncoder
from tests.summaries.pieces import Piece, feed, random_piece
from tests.summaries.streams import assert_same_bits, snapshot


@cache
def example(kind):
    """Return a summary of text, of dense or of sparse rows."""
    if kind == "text":
        text = np.array([["a", 1], ["b", 2], ["c", 0], ["a", "x"]], object)
        return feed(Contingency(7.0, cap=2), Piece(text, np.array(["p", "q", "q", "p"]), None, "object"))
    rng, form = np.random.default_rng(27), "C" if kind == "dense" else "csr_array"
    return feed(Contingency(), random_piece(rng, 12, 3, forms=[form], weights="none"))


def changed(state, name, place, value):
    array = state[name].copy()
    array[place] = value
    return {**state, name: array}


def test_a_value_that_a_feature_has_twice_is_refused():
    state = snapshot(example("dense"))
    assert state["tables/sizes"][0] > 1
    with pytest.raises(StateError, match="a feature's value twice"):
        Contingency.from_state(changed(state, "tables/keys", 1, state["tables/keys"][0]))


def test_more_values_than_the_cap_are_refused():
    state = snapshot(example("dense"))
    with pytest.raises(StateError, match=r"a cap of 1 allows|more than 3 values"):
        Contingency.from_state({**state, "tables/cap": np.array(1)})


def test_texts_that_do_not_fit_are_refused():
    state = snapshot(example("text"))
    texts = len(state["encoder/numbers"])
    with pytest.raises(StateError, match="a text is counted that is not known"):
        Contingency.from_state({**state, **{f"encoder/{k}": a for k, a in CategoryEncoder().state().items()}})
    for place, value in ((0, -1), (texts - 1, 0), (texts - 1, 2**60), (0, texts)):
        with pytest.raises(StateError, match="numbers should be|not given out yet"):
            Contingency.from_state(changed(state, "encoder/numbers", place, value))
    for limits in ([0, 1024], [2**53, 1024], [texts, 0], [texts, 2**60], [texts - 1, 1024]):
        given = {"encoder/next": np.array(limits[0]), "encoder/enough": np.array(limits[1])}
        with pytest.raises(StateError, match="encoder"):
            Contingency.from_state({**state, **given})
    twice = state["encoder/texts/text"].copy()
    twice[:] = twice[0]
    with pytest.raises(StateError, match="one is there twice"):
        Contingency.from_state({**state, "encoder/texts/text": twice})
    with pytest.raises(StateError, match="in order|fit together"):
        Contingency.from_state(changed(state, "encoder/texts/ends", 0, 99))


def test_many_features_without_values_take_little_memory():
    state = snapshot(example("dense"))
    wide = {**state, "tables/sizes": np.concatenate([state["tables/sizes"], np.zeros(10**6, np.int64)])}
    summary = Contingency.from_state(wide)
    assert summary.n_features == 10**6 + 3
    assert summary.nbytes < 25e6


def test_sparse_rows_without_their_stored_mass_are_refused():
    state = snapshot(example("sparse"))
    del state["tables/stored"]
    with pytest.raises(StateError, match="nothing says what they stored"):
        Contingency.from_state(state)


def test_the_pool_holds_little_more_than_the_values():
    rng = np.random.default_rng(28)
    X = rng.integers(0, 16, (500, 200)).astype(float)
    summary = Contingency()
    summary.update(X, rng.integers(0, 2, 500))
    needed = 200 * (24 + 16 * (12 + 16))
    assert needed <= summary.nbytes <= 4 * needed
    assert value_tables.FEW_ROWS < 200 * 16


@pytest.mark.parametrize("value", [math.inf, -math.inf, 1e308, -1e100])
def test_bad_values_among_objects_are_refused_by_column_and_nothing_is_changed(value):
    good = Piece(np.array([[1, 2.0], [3, 4.0]], object), np.array([0, 1]), None, "object")
    bad = Piece(np.array([[1, 2.0, 7], [3, value, 7]], object), np.array([5, 6]), None, "object")
    for half_life in (None, 1.0):
        for summary in (Contingency(half_life), feed(Contingency(half_life), good)):
            before = snapshot(summary)
            with pytest.raises(BadValueError, match="feature 'x1' holds") as caught:
                feed(summary, bad)
            assert (caught.value.feature, caught.value.value) == (1, value)
            assert_same_bits(before, snapshot(summary))


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        (b"bytes", "feature 'x1' holds a bytes, but a category must be text, a number or None: convert it"),
        (1j, "feature 'x1' holds a complex, but a category must be text"),
        ([1], "feature 'x1' holds unhashable type: 'list'"),
        (np.datetime64("2024-01-01"), "feature 'x1' holds a datetime64, but a category must be text"),
        (2**53 + 1, "feature 'x1' holds 9007199254740993, which a float cannot tell .* give it as text"),
        (np.int64(2**53 + 1), "feature 'x1' holds 9007199254740993, which a float cannot tell"),
    ],
)
def test_cells_that_are_no_values_are_refused_by_column_and_nothing_is_changed(cell, why):
    summary = Contingency()
    summary.update(np.array([["a", "b"]], object), np.array([0]))
    before = snapshot(summary)
    X = np.empty((2, 2), object)
    X[:] = "new"
    X[1, 1] = cell
    with pytest.raises(InputTypeError, match=why):
        summary.update(X, np.array([1, 2]))
    assert_same_bits(before, snapshot(summary))
    X[1, 1] = 10**400
    with pytest.raises(BadValueError, match="feature 'x1' holds inf"):
        summary.update(X, np.array([1, 2]))


def test_rows_labels_and_weights_must_be_as_many():
    summary = Contingency()
    for y, weight in (([0], None), ([0, 1, 2], None), ([0, 1], np.ones(1))):
        with pytest.raises(InputError, match="X has 2 rows"):
            summary.update(np.ones((2, 2)), np.array(y), weight)


@pytest.mark.parametrize("cap", [0, -1, 2.5, 65_001, None, True])
def test_a_cap_out_of_range_is_refused(cap):
    with pytest.raises(ParameterError, match="cap must be a whole number at least 1 and at most 65000"):
        Contingency(cap=cap)
