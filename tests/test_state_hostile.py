"""Files that are no states, and states that were tampered with, are refused before they can do harm."""

import json
import os
import pickle
import struct
import tracemalloc

import numpy as np
import pytest
from safetensors.numpy import save, save_file

from streamsieve import registry, state
from streamsieve.exceptions import StateError
from streamsieve.rows import Screen
from streamsieve.state import file
from streamsieve.state.tree import text


@pytest.fixture
def path(tmp_path):
    return tmp_path / "toy.sieve"


def raw_file(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


class Bomb:
    """Unpickling it would run code."""

    def __reduce__(self):
        return os.abort, ()


HOSTILE = {
    "nothing": b"",
    "seven bytes": b"\0" * 7,
    "a header of 2^60 bytes": struct.pack("<Q", 2**60) + b"{}",
    "a header of 2^63 bytes": struct.pack("<Q", 2**63) + b"{}",
    "a pickle": pickle.dumps(Bomb()),
    "a zip, as torch and npz are": b"PK\x03\x04" + bytes(100),
    "a header that is no JSON": raw_file(b"{" * 100),
    "a header nested beyond reason": raw_file(b"[" * 100_000),
    "a header that is a list": raw_file([1, 2]),
    "a false shape": raw_file({"a": {"dtype": "F64", "shape": [10], "data_offsets": [0, 8]}}, bytes(8)),
    "a shape whose product overflows": raw_file(
        {"a": {"dtype": "F64", "shape": [2**62, 2**62], "data_offsets": [0, 8]}}, bytes(8)
    ),
    "a negative shape": raw_file({"a": {"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]}}, bytes(8)),
    "offsets beyond the end": raw_file(
        {"a": {"dtype": "F64", "shape": [1000], "data_offsets": [0, 8000]}}, bytes(8)
    ),
    "an unknown type": raw_file({"a": {"dtype": "OBJ", "shape": [1], "data_offsets": [0, 8]}}, bytes(8)),
    "somebody else's safetensors": save({"weight": np.zeros(3)}),
    "somebody else's metadata": save({"weight": np.zeros(3)}, metadata={"format": "pt"}),
    "no checksum": save({"weight": np.zeros(3)}, metadata={"sieve": "{}"}),
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_files_that_are_no_states_are_refused_in_little_memory(path, raw):
    path.write_bytes(raw)
    tracemalloc.start()
    try:
        with pytest.raises(StateError, match=r"toy\.sieve"):
            state.read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


def test_a_missing_file_and_a_folder_are_refused(path):
    with pytest.raises(StateError, match=r"there is no state file .*toy\.sieve"):
        state.read(path)
    with pytest.raises(StateError, match="is not a readable state file"):
        state.read(path.parent)


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[]", "3", "null", "{}", '{"class": "Screen"}', "[" * 100_000]
)
def test_a_header_without_a_format_is_refused_though_its_checksum_is_right(path, text):
    save_file({}, path, metadata={"sieve": text, "sha256": file._digest(text, {})})
    with pytest.raises(StateError, match="has no readable header"):
        state.read(path)


@pytest.mark.parametrize("number", [0, 1, 99, "1", None, [1]])
def test_another_format_is_refused_by_number(path, number):
    state.write(path, {"class": "Toy", "format": number, "streamsieve": "9.9"}, {})
    with pytest.raises(
        StateError, match=r"has format .* written by streamsieve 9\.9; this is .* reads format 2"
    ):
        state.read(path)


def tampered(path, change):
    """Write a fitted screen whose header and arrays were changed, with a checksum that is right again."""
    screen = Screen(k=1).fit(np.array([[0.0, 1.0], [1.0, 5.0], [0.5, 2.0]]), [0, 1, 0])
    screen.get_support()
    screen.save(path)
    header, arrays = state.read(path)
    change(header, arrays)
    state.write(path, header, arrays)


def array(name, value):
    return lambda header, arrays: arrays.update({name: np.asarray(value)})


def without(name):
    return lambda header, arrays: arrays.pop(name)


def parameter(name, value):
    return lambda header, arrays: header["parameters"].update({name: value})


TAMPERED = {
    "a dunder": (array("__class__", 1), "__class__ belongs to nothing"),
    "a method": (array("partial_fit", [1.0]), "partial_fit belongs to nothing"),
    "a property": (array("scores_", [1.0]), "scores_ belongs to nothing"),
    "a parameter as attribute": (array("k", 5), "k belongs to nothing"),
    "a path": (array("../../evil_", [1.0]), r"\.\. belongs to nothing"),
    "a name that is no name": (array("a b_", [1.0]), "a b_ belongs to nothing"),
    "an unknown part": (array("summary_/$kind", text("os.system")), "names an unknown class 'os.system'"),
    "a part that is none": (array("summary_/$kind", text("streamsieve.WelchT")), "which is not a summary"),
    "a part without a name": (without("summary_/$kind"), "should be a summary and name its class"),
    "the wrong summary": (array("summary_/$kind", text("streamsieve.CoMoments")), "belongs to nothing"),
    "a summary of another criterion": (
        parameter("criterion", "correlation"),
        "does not serve criterion='correl",
    ),
    "an unknown object": (
        parameter("criterion", {"$object": "Popen", "fields": {}}),
        "an unknown class 'Popen'",
    ),
    "an object with other fields": (
        parameter("criterion", {"$object": "streamsieve.WelchT", "fields": {"command": "rm"}}),
        "the state's WelchT does not fit this version",
    ),
    "an object without fields": (parameter("criterion", {"$object": "streamsieve.WelchT"}), "does not fit"),
    "an unknown criterion": (parameter("criterion", "magic"), "criterion must be one of"),
    "a k that is no number": (parameter("k", "many"), "k must be a whole number"),
    "a rank error out of range": (parameter("max_rank_error", 7.0), "max_rank_error must be a number"),
    "an unknown parameter": (parameter("evil", 1), "unexpected keyword argument 'evil'"),
    "parameters that are none": (lambda header, arrays: header.update(parameters=[1]), "does not fit"),
    "no parameters": (lambda header, arrays: header.pop("parameters"), "does not fit"),
    "another width": (array("n_features_in_", 10**9), "claims 1,000,000,000 features"),
    "a width beyond reason": (array("n_features_in_", 10**12), "n_features_in_ must be a whole number"),
    "a false shape": (array("summary_/cells/mean", np.zeros((2, 9))), "cells/m2 should be float64 of shape"),
    "a false type": (
        array("summary_/cells/mean", np.zeros((2, 2), np.float32)),
        "cells/mean should be float64",
    ),
    "a missing array": (without("summary_/mass"), "lacks 'summary_/mass'"),
    "missing cells": (without("summary_/cells/mean"), "lacks 'summary_/cells/mean'"),
    "a ledger that does not fit": (
        array("ledger_/step", [1, 2, 3]),
        "ledger_/event should be uint8 of shape",
    ),
    "names that do not fit": (array("ledger_/feature/ends", [99]), "ledger_/feature do not fit together"),
    "a huge number of features": (array("summary_/cells/mean", np.empty((0, 2**40))), "cells/mean should be"),
}


@pytest.mark.parametrize(("change", "message"), TAMPERED.values(), ids=TAMPERED)
def test_tampered_states_are_refused_though_their_checksum_is_right(path, change, message):
    tampered(path, change)
    with pytest.raises(StateError, match=message):
        Screen.load(path)


def test_the_tampering_tests_start_from_a_file_that_loads(path):
    tampered(path, lambda header, arrays: None)
    assert Screen.load(path).n_samples_seen_ == 3


def test_nothing_outside_its_own_attributes_is_touched_by_a_path_as_array_name(path):
    tampered(path, array("../../evil", [1.0]))
    before = set(path.parent.parent.iterdir())
    try:
        screen = Screen.load(path)
    except StateError:
        return
    assert set(path.parent.parent.iterdir()) == before
    assert not any("evil" in name for name in vars(screen))


def test_a_state_of_another_class_is_refused_by_name(path):
    columns = pytest.importorskip("streamsieve.columns")
    if not hasattr(columns, "SAOLA"):
        pytest.skip("there is no SAOLA yet")
    rng = np.random.default_rng(0)
    columns.SAOLA().fit(rng.normal(size=(20, 3)), np.arange(20) % 2).save(path)
    with pytest.raises(StateError, match=r"holds a SAOLA, not a Screen: load it with SAOLA\.load"):
        Screen.load(path)


def test_a_class_that_nobody_knows_is_refused_by_load(path):
    state.write(path, {"class": "nobody.Toy"}, {})
    with pytest.raises(StateError, match="holds a 'nobody.Toy', which this version does not know"):
        registry.load(path)
    with pytest.raises(StateError, match="holds a Toy, not a Screen"):
        Screen.load(path)
