"""Every constraint that a field declares refuses what is just outside of it, and nothing inside."""

import re

import numpy as np
import pytest

from streamsieve.exceptions import StateError
from streamsieve.state import Array, Bool, Choice, Float, Int, Texts, Values, mass
from streamsieve.state.tree import Place, pack_texts

INF, NAN = float("inf"), float("nan")

LEGAL = {
    "rising": (Array("i8", "n", order="rising"), [[5], [5, 6], [-1, 0, 9], [1, 2, 3, 4, 5]]),
    "sorted": (Array("i8", "n", order="sorted"), [[5], [5, 5], [-1, 0, 0], [1, 2, 2, 4, 5]]),
    "rows in order": (Array("i8", 2, "n", order="rising"), [[[1, 2, 3], [0, 1, 9]]]),
    "bounds": (Array("i8", "n", low=0, high=3), [[0], [3], [0, 3, 1]]),
    "bounds of what is in order": (Array("i8", "n", low=0, high=3, order="rising"), [[0, 3], [0, 1, 2, 3]]),
    "finite": (Array("f8", "n", finite=True), [[-1e308, 1e308]]),
    "missing": (Array("f8", "n", low=0, high=1, missing=True), [[NAN], [0, NAN, 1], [1, 0]]),
    "mass": (mass("n"), [[0, 1e308]]),
    "unique": (Array("i8", "n", unique=True), [[2, 1, 0]]),
    "codes": (Array("i8", "n", codes=True), [[0], [1, 0], [2, 0, 1, 1]]),
    "nonempty": (Array("i8", "n", nonempty=True), [[0]]),
    "plus one": (Array("i8", "n+1"), [[0], [0, 0]]),
    "labels": (Values("n"), [[2, 1], [0.5, -1]]),
}
WRONG = {
    "rising": [[5, 5], [6, 5], [0, -1, 9], [0, 9, 9], [1, 2, 3, 4, 4], [2, 1, 3, 4, 5]],
    "sorted": [[6, 5], [0, -1, 9], [0, 9, 8], [1, 2, 3, 5, 4]],
    "rows in order": [[[1, 2, 3], [0, 0, 9]], [[1, 3, 3], [0, 1, 9]]],
    "bounds": [[-1], [4], [0, 4, 1], [0, -1, 3]],
    "bounds of what is in order": [[-1, 3], [0, 1, 4]],
    "finite": [[0, INF], [-INF, 0], [NAN, 0]],
    "missing": [[NAN, 1.5], [-0.5, NAN], [INF]],
    "mass": [[-5e-324], [INF], [NAN]],
    "unique": [[1, 0, 1]],
    "codes": [[1], [-1, 0], [2, 0, 2], [0, 2]],
    "nonempty": [[]],
    "plus one": [[]],
    "labels": [[1, 1], [0.5, INF], [NAN, 0.5]],
}


def test_what_a_field_allows_is_accepted_and_its_neighbors_are_not():
    for name, (field, legal) in LEGAL.items():
        dtype = None if isinstance(field, Values) else field.dtypes[0]
        for values in legal:
            field.check(np.array(values, dtype), Place(name))
        for values in WRONG[name]:
            with pytest.raises(StateError, match=f"the state's {re.escape(name)} should"):
                field.check(np.array(values, dtype), Place(name))


def test_an_index_is_below_the_size_that_it_indexes():
    place = Place("x")
    Array("f8", "slots").check(np.zeros(3), place)
    index = Array("i8", "n", below="slots")
    index.check(np.array([0, 2]), place)
    for wrong in ([3, 0], [-1, 0]):
        with pytest.raises(StateError, match="within 0 and 2"):
            index.check(np.array(wrong), place)


def test_sizes_types_and_dimensions_have_to_agree():
    place = Place("x")
    Array("f8", "n", 2).check(np.zeros((3, 2)), place)
    for wrong in (np.zeros((4, 2)), np.zeros((3, 3)), np.zeros(3), np.zeros((3, 2), np.float32)):
        with pytest.raises(StateError, match="should be float64 of shape"):
            Array("f8", "n", 2).check(wrong, place)


def test_no_rows_are_a_size_like_any_other():
    place = Place("x")
    Array("f8", "n").check(np.zeros(0), place)
    with pytest.raises(StateError, match="should be float64 of shape"):
        Array("f8", "n").check(np.zeros(3), place)


def test_one_number_has_one_type_and_no_axis():
    for field, legal in ((Int(2, 5), np.array(3)), (Float(0, 1), np.array(0.5)), (Bool(), np.array(True))):
        field.check(legal, Place("x"))
        other = np.float64 if field.dtype == "i8" else np.int64
        for wrong in (legal.astype(other), legal.astype("f4"), legal[None]):
            with pytest.raises(StateError, match="should be one .*, but is"):
                field.check(wrong, Place("x"))


def test_a_byte_that_is_neither_true_nor_false_is_refused():
    for byte, legal in ((0, True), (1, True), (2, False), (255, False)):
        for field, value in (
            (Bool(), np.array(byte, np.uint8).view(bool)),
            (Array("?", "n"), np.array([1, byte], np.uint8).view(bool)),
        ):
            if legal:
                field.check(value, Place("x"))
            else:
                with pytest.raises(StateError, match="should be true or false"):
                    field.check(value, Place("x"))


@pytest.mark.parametrize(
    ("field", "legal", "wrong"),
    [
        (Int(2, 5), [2, 5], [1, 6]),
        (Float(0, 1), [0.0, 1.0], [-0.1, 1.1, INF, NAN]),
        (Float(0, 1, open_low=True, open_high=True), [5e-324, 0.5], [0.0, 1.0]),
    ],
)
def test_bounds_of_one_number(field, legal, wrong):
    for value in legal:
        field.check(np.array(value, field.dtype), Place("x"))
    for value in wrong:
        with pytest.raises(StateError, match="the state's x"):
            field.check(np.array(value, field.dtype), Place("x"))


def test_texts_and_choices():
    field, place = Texts("n", unique=True), Place("x")
    field.check(pack_texts(["a", "", "b"]), place)
    assert field.read(pack_texts(["a", "", "b"]), "x") == ["a", "", "b"]
    with pytest.raises(StateError, match="one is there twice"):
        field.check(pack_texts(["a", "b", "a"]), Place("x"))
    with pytest.raises(StateError, match="shape"):
        field.check(pack_texts(["a", "b"]), place)  # there were three
    choice = Choice("left", "right")
    choice.check(choice.write("left"), Place("x"))
    with pytest.raises(StateError, match="'left', 'right', but is 'up'"):
        choice.check(choice.write("up"), Place("x"))
