"""From messages to rows: numbers, missing values, labels, and what is wrong with the rest."""

import json
import re

import numpy as np
import pytest

from streamsieve.sources.messages import parser as parsing
from streamsieve.sources.messages.parser import BadMessageError, Parser, decode_by, decode_json, names_of


def parser(names=("a", "b"), text=None, extra="refuse", decode=decode_json):
    return Parser(decode, list(names), "y", text=text, extra=extra)


def messages(*records):
    return [json.dumps(record).encode() for record in records]


def test_rows_are_in_the_order_of_names_and_absent_fields_are_nan():
    (X, y, _), bad = parser().read(
        messages({"a": 1, "b": 2.5, "y": 0}, {"y": 1, "b": True}, {"b": None, "a": -3, "y": 1})
    )
    np.testing.assert_array_equal(X, [[1, 2.5], [np.nan, 1], [-3, np.nan]])
    assert X.flags.c_contiguous
    assert y.dtype == X.dtype == np.float64
    assert y.tolist() == [0, 1, 1]
    assert bad == {}


def test_text_labels_are_text():
    found = parser()
    (X, y, _), bad = found.read(messages({"a": 1, "y": "no"}, {"b": 2, "y": "yes"}))
    assert (y.tolist(), y.dtype.kind, bad) == (["no", "yes"], "U", {})
    assert found.text is True
    np.testing.assert_array_equal(X, [[1, np.nan], [np.nan, 2]])


def test_the_first_row_says_what_labels_are():
    found = parser()
    (_, y, _), bad = found.read(messages({"a": 1}, {"a": 1, "y": 2}, {"a": 1, "y": "no"}))
    assert y.tolist() == [2]
    assert sorted(bad) == [0, 2]
    assert "is text ('no'), unlike that of the messages before" in bad[2]
    assert found.text is False
    assert "is a number, unlike" in parser(text=True).read(messages({"a": 1, "y": 2})).bad[0]


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (None, r"it has no value \(a tombstone\)"),
        (b"", r"it is no valid JSON \(.*\); got ''"),
        (b'{"a": 1', r"it is no valid JSON \(Expecting ',' delimiter.*got '{\"a\": 1'"),
        (b'{"a": 1}{', r"it is no valid JSON \(Extra data"),
        (b"\xff\xfe", "it is not UTF-8 text"),
        (b"[1, 2]", r"wanted a JSON object {feature: number, ...}; got '\[1, 2\]'"),
        (b"3", "wanted a JSON object"),
        (b"[" * 100_000, "it is no valid JSON"),
        (b'{"a": 1, "b": 2}', "it has no target 'y'"),
        (b'{"a": 1, "b": 2, "y": null}', "it has no target 'y'"),
        (b'{"a": 1, "b": 2, "y": NaN}', "it has no target 'y'"),
        (b'{"a": 1, "b": 2, "y": ""}', "it has no target 'y'"),
        (b'{"a": 1, "b": 2, "y": [1]}', "its target 'y' holds a list: a number or a text label is wanted"),
        (b'{"a": 1, "b": 2, "y": ' + b"9" * 400 + b"}", "its target 'y' holds a number too large"),
        (b'{"a": "1.5", "b": 2, "y": 1}', r"its feature 'a' holds text \('1.5'\), not a number: encode it"),
        (b'{"a": 1, "b": {}, "y": 1}', "its feature 'b' holds an object, not a number"),
        (b'{"a": 1, "b": [2], "y": 1}', "its feature 'b' holds a list, not a number"),
        (b'{"a": ' + b"9" * 400 + b', "y": 1}', "its feature 'a' holds a number too large for float64"),
        (b'{"a": 1, "B": 2, "y": 1}', "its field 'B' is not among the features.* add it to .*extra"),
        (b'{"a": 1, "b": 2, "c": 1, "y": 1}', "its field 'c' is not among the features"),
    ],
)  # fmt: skip
def test_what_is_no_row_says_why(message, why):
    good = messages({"a": 1, "b": 2, "y": 0})
    for text in (None, False):
        (X, y, _), bad = parser(text=text).read([*good, message, *good])
        assert (len(X), y.tolist(), list(bad)) == (2, [0, 0], [1])
        assert re.match(why, bad[1]), bad[1]
    assert len(bad[1]) < 300
    (X, y, _), bad = parser().read([message])
    assert (X.shape, list(bad)) == ((0, 2), [0])


def test_fields_that_are_no_features_may_be_ignored():
    (X, y, _), bad = parser(extra="ignore").read(messages({"id": "x7", "b": 2, "a": 1, "more": [3], "y": 0}))
    assert (X.tolist(), y.tolist(), bad) == ([[1, 2]], [0], {})


def test_infinity_is_left_to_the_selector():
    assert parser().read([b'{"a": Infinity, "b": NaN, "y": 1}']).rows.X[0, 0] == np.inf


def test_a_function_may_decode():
    decode = decode_by(lambda value: dict(zip("aby", map(float, value.split()), strict=True)))
    (X, y, _), bad = parser(decode=decode).read([b"1 2 0", b"1 2"])
    assert (X.tolist(), y.tolist()) == ([[1, 2]], [0])
    assert "the function given as value raised ValueError: zip()" in bad[1]
    bad = parser(decode=decode_by(lambda value: value.split())).read([b"1"]).bad
    assert bad[0] == "the function given as value must return a dict; got list"


def test_the_first_message_names_the_features():
    assert names_of(decode_json, b'{"b": 1, "y": 0, "a": null}', "y") == ["b", "a"]
    for value, why in (
        (b'{"a": 1, "city": "Rome"}', r"field 'city' holds text .*names=\[...\], and .* extra='ignore'"),
        (b'{"y": 1}', "it has no field besides the target"),
        (b'{"a": 1, "Y": 2}', "it has no target 'y'"),
        (None, "tombstone"),
        (b"x", "no valid JSON"),
    ):
        with pytest.raises(BadMessageError, match=why):
            names_of(decode_json, value, "y")


@pytest.mark.parametrize(
    "message",
    [
        b'{"a": NaN, "b": -Infinity, "y": 1}',
        b'{"a": 1e400, "y": 0}',
        b'{"a": 123456789012345678901, "y": 0}',
        b' {"a": 1, "a": 2, "y": 0} ',
        b'{"a": "\\ud800", "y": 0}',
        b'\xef\xbb\xbf{"a": 1}',
        b'{"a": -0.0, "y": 0}',
        b'{"a": 0.1000000000000000055511151231257827, "y": 5e-324}',
        b'{"a": 01}',
        b"nan",
        b"{'a': 1}",
        b"\x00",
        '{"a": 1}'.encode("utf-16"),
        b'{"a": [' + b"[" * 2000 + b"]" * 2000 + b"]}",
        b'{"a": 18446744073709551616, "y": 1}',
    ],
)
def test_both_parsers_of_json_agree(message, monkeypatch):
    quick = _decoded(message)
    monkeypatch.setattr(parsing, "_quickly", lambda value: json.loads(value.decode()))
    assert quick == _decoded(message)


def _decoded(message):
    """Return the fields as floats, or the complaint."""
    try:
        fields = decode_json(message)
    except BadMessageError as error:
        return str(error)
    return repr({name: float(v) if isinstance(v, int) else v for name, v in fields.items()})
