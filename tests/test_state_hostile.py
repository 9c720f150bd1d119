"""Files that are no states, and states that were tampered with, are refused before they can do harm."""

import contextlib
import json
import os
import pickle
import struct
import tracemalloc

import numpy as np
import pytest
from safetensors.numpy import save, save_file

import streamsieve as ss
from streamsieve import registry, state
from streamsieve.exceptions import ParameterError, StateError
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
    "safetensors of another program": save({"weight": np.zeros(3)}),
    "metadata of another program": save({"weight": np.zeros(3)}, metadata={"format": "pt"}),
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
    state.write(path, {"class": "unknown.Toy"}, {})
    with pytest.raises(StateError, match="holds a 'unknown.Toy', which this version does not know"):
        registry.load(path)
    with pytest.raises(StateError, match="holds a Toy, not a Screen"):
        Screen.load(path)


# ------------------------------------------------------------------------------------ what no check foresaw


class Fragile(state.Part):
    """A part whose rebuilding divides by what the file holds."""

    fields = {"n": state.Int(0, 9)}

    def __init__(self, n):
        self.n = n

    @classmethod
    def _rebuilt(cls, record):
        return cls(36 // record["n"])


class Owner(state.Part):
    """A part that holds a fragile one."""

    fields = {"inside": state.Nested(Fragile)}


class Demanding(Fragile):
    """A part whose check after rebuilding takes too much."""

    def _consistent(self):
        raise MemoryError
        yield


@pytest.mark.parametrize(
    ("kind", "arrays", "message"),
    [
        (Fragile, {"n": np.int64(0)}, "the state's Fragile does not fit: ZeroDivisionError"),
        (Owner, {"inside/n": np.int64(0)}, "the state's inside does not fit: ZeroDivisionError"),
        (Demanding, {"n": np.int64(1)}, "the state's Demanding does not fit: MemoryError"),
    ],
)
def test_whatever_is_raised_while_a_part_is_loaded_is_a_state_error(kind, arrays, message):
    with pytest.raises(StateError, match=message):
        kind.from_state({name: np.asarray(value) for name, value in arrays.items()})


@pytest.mark.parametrize("error", [ZeroDivisionError("division by zero"), MemoryError(), RecursionError()])
def test_whatever_is_raised_while_a_selector_is_loaded_is_a_state_error(path, monkeypatch, error):
    tampered(path, lambda header, arrays: None)

    def raising(self):
        raise error

    monkeypatch.setattr(Screen, "_restored", raising)
    with pytest.raises(
        StateError, match=rf"toy\.sieve: the state's Screen does not fit: {type(error).__name__}"
    ):
        Screen.load(path)


# ------------------------------------------------------------------------------------ forged files

rng = np.random.default_rng(0)
Y = np.arange(60) % 2
X = np.abs(rng.normal(size=(60, 6))) + np.outer(Y, [1, 0, 2, 0, 0, 0])
HUGE = 2**24


def forged(path, selector, parameters=None, **arrays):
    """Write a fitted selector whose parameters and arrays were changed, with a right checksum."""
    header, saved = selector.fit(X, Y)._saved()
    changed = {
        name.replace("___", "_/").replace("__", "/"): np.asarray(value) for name, value in arrays.items()
    }
    unknown = changed.keys() - saved.keys()
    assert not unknown, f"nothing to change: {unknown}"
    header["parameters"].update(parameters or {})
    state.write(path, header, {**saved, **changed})
    return path


FORGED = {
    "bins beyond the kernel's room": (ss.InteractionScan(), {"bins": 100_000}, {}, "bins must be"),
    "a parameter of another type": (ss.GroupSAOLA(), {"group_size": "x"}, {}, "group_size must be"),
    "a rate that is none": (ss.SAOLA(), {"fdr": 7}, {}, "fdr"),
    "a loss that is none": (ss.Grafting(), {"loss": {}}, {}, "loss must be one of"),
    "another criterion of the numbers beside levels": (
        ss.Screen(types={"x5": "nominal"}), {"criterion": {"$object": "streamsieve.ChiSquare", "fields": {}}},
        {}, "the summary of numbers does not serve criterion='chi2'",
    ),
    "rows that no sum can hold": (ss.Screen("f"), {}, {"n_samples_seen_": 2**62}, "n_samples_seen_ must be"),
    "a stop that is none": (ss.SAOLA(), {"stop": 7}, {}, "stop must be a Stop"),
    "a number beyond 64 bits": (ss.TopK(k=3), {"k": 10**30}, {}, "k must be at most"),
    "epochs without end": (ss.FIRES(), {"epochs": 2**62}, {}, "epochs must be .* at most 10000"),
    "steps without end": (ss.RunningAverages(), {"steps": 2**31}, {}, "steps must be .* at most 1e"),
    "a wide window": (
        ss.Screen("f", window=40), {}, {"summary___rows__n_features": HUGE, "n_features_in_": HUGE},
        "claims 16,777,216 features, but its dense rows have fewer",
    ),
    "wide exact columns": (ss.Screen("f", exact=True), {}, {"n_features_in_": HUGE}, "16,777,216|16777216"),
    "a wide sketch": (
        ss.Screen("mutual_info"), {}, {"summary___store__n_features": HUGE, "n_features_in_": HUGE},
        "features=16777216",
    ),
    "a rule of other parameters": (ss.TopK(k=3), {}, {"process___rule__k": 2**31}, "another k"),
    "a large buffer": (ss.OSSFSDD(), {}, {"process___buffer__k": 2**31}, "not those of the parameters"),
    "rows that no column has": (ss.SAOLA(), {}, {"n_samples_seen_": 2**31}, "rows"),
    "columns without a decision": (ss.SAOLA(), {}, {"n_features_in_": 2**31 - 1}, "columns, but 6 dec"),
    "columns beyond any number": (ss.SAOLA(), {}, {"n_features_in_": 2**33}, "n_features_in_ must be"),
    "a wealth whose levels round to 0": (
        ss.AlphaInvesting(test_statistic="likelihood_ratio"), {}, {"process___wealth": 5e-324}, "wealth"
    ),
    "a wealth that was never earned": (
        ss.AlphaInvesting(test_statistic="likelihood_ratio"), {}, {"process___wealth": 1e6},
        "7 tests cannot have earned a wealth of 1e\\+06",
    ),
    "bids that round to 0": (ss.InformationInvesting(), {}, {"process___wealth": 5e-324}, "wealth"),
    "a column of alpha-investing": (
        ss.InformationInvesting(), {}, {"process___model__features": [0, 99]}, "never offered"
    ),
    "a column of a logistic model": (
        ss.AlphaInvesting(model="logistic"), {}, {"process___model__space__features": [0, 1, 99]},
        "never offered",
    ),
    "a column of an information criterion": (
        ss.StreamwiseIC(), {}, {"process___model__features": [0, 1, 99]}, "never offered"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("selector", "parameters", "arrays", "message"), FORGED.values(), ids=FORGED)
def test_forged_states_are_refused_in_little_memory(path, selector, parameters, arrays, message):
    forged(path, selector, parameters, **arrays)
    tracemalloc.start()
    try:
        with pytest.raises(StateError, match=message) as caught:
            ss.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "toy.sieve" in str(caught.value)
    assert peak < 2 * path.stat().st_size + 8_000_000


STRANGE = [10**30, -1, 1e308, float("nan"), "x", {}, [[]], {"$object": "os.system"}]
EVERY = [*registry.selectors().values(), *registry.learners()]


@pytest.mark.parametrize("cls", [cls for cls in EVERY if cls.__name__ not in ("TwoWay", "SuperLearner")])
def test_strange_parameters_of_any_estimator_are_refused_or_legal(cls):
    header, arrays = cls().fit(X, Y)._saved()
    refused = 0
    for name in header["parameters"]:
        for value in STRANGE:
            parameters = {**header["parameters"], name: value}
            try:
                cls.from_bytes(state.to_bytes({**header, "parameters": parameters}, arrays))
            except StateError:
                refused += 1
    assert refused > len(STRANGE) * len(header["parameters"]) / 2


@pytest.mark.parametrize(
    ("selector", "bad", "learn"),
    [
        (ss.InteractionScan(), {"bins": 100_000}, lambda s: s.offer(X)),
        (ss.InteractionScan(), {"bins": 100_000}, lambda s: s.offer(X[:, 0])),
        (ss.SAOLA(), {"alpha": 7.0}, lambda s: s.measure_block(X)),
        (ss.FIRES(), {"epochs": 2**62}, lambda s: s.partial_fit(X, Y).scores_),
        (ss.Screen("f"), {"max_rank_error": 7.0}, lambda s: (s.learn_one({"a": 1.0}, 0), s.scores_)),
    ],
)
def test_parameters_that_are_set_in_mid_stream_are_checked_before_anything_is_learnt(selector, bad, learn):
    good = {name: selector.get_params()[name] for name in bad}
    selector = type(selector)(**selector.get_params(deep=False))
    if isinstance(selector, ss.Screen):
        selector.learn_one({"a": 1.0}, 0)
    else:
        selector.fit(X, Y)
    with pytest.raises(ParameterError, match=next(iter(bad))):
        learn(selector.set_params(**bad))
    learn(selector.set_params(**good))


@pytest.mark.parametrize("name", [[], {}, ["Screen"], None, 5, "streamsieve.Moments"])
def test_a_class_that_is_none_is_refused(path, name):
    header, arrays = ss.Screen("f").fit(X, Y)._saved()
    state.write(path, {**header, "class": name}, arrays)
    for load in (ss.load, ss.Screen.load):
        with pytest.raises(StateError, match=r"toy\.sieve holds a"):
            load(path)


@pytest.mark.parametrize("kind", ["BF16", "F8_E4M3", "F8_E5M2", "F16", "U16"])
def test_types_that_numpy_lacks_or_a_state_has_not_are_refused(path, kind):
    body = bytes(2)
    size = 1 if kind.startswith("F8") else 2
    header = {
        "__metadata__": {"sieve": "{}", "sha256": "0"},
        "a": {"dtype": kind, "shape": [2 // size], "data_offsets": [0, 2]},
    }
    path.write_bytes(raw_file(header, body))
    with pytest.raises(StateError, match=r"toy\.sieve"):
        ss.load(path)
    with pytest.raises(StateError, match="the bytes"):
        ss.Screen.from_bytes(path.read_bytes())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such files")
def test_files_that_are_no_files_are_refused_at_once(path):
    os.mkfifo(path)
    for strange in (path, "/dev/zero", path.parent):
        for look in (ss.load, state.read_header):
            with pytest.raises(StateError, match="is not a readable state file"):
                look(strange)


@pytest.mark.parametrize("strange", [b"x", None, 5, bytearray(b"x")])
def test_what_is_no_path_is_refused(strange):
    for load in (ss.load, ss.Screen.load):
        with pytest.raises(StateError, match=f"a path is needed, got {type(strange).__name__}; from_bytes"):
            load(strange)


def test_a_file_that_changes_while_it_is_read_is_refused(path, monkeypatch):
    ss.Screen("f").fit(X, Y).save(path)
    opened = file._opened

    @contextlib.contextmanager
    def changing(target):
        with opened(target) as found:
            raw = bytearray(path.read_bytes())
            raw[-8:] = bytes(8) if any(raw[-8:]) else b"\1" * 8
            with path.open("r+b") as same:
                same.write(raw)
            yield found

    monkeypatch.setattr(file, "_opened", changing)
    with pytest.raises(StateError, match="is damaged: its checksum does not match"):
        ss.load(path)


# ------------------------------------------------------------------------------------ what was written


def test_what_was_written_is_read_back_before_it_replaces_a_file(path, monkeypatch):
    screen = ss.Screen("f").fit(X, Y)
    screen.save(path)
    before = path.read_bytes()
    flush = file._flush

    def damage(target):
        if target != path.parent:
            raw = bytearray(target.read_bytes())
            raw[-1] ^= 1
            target.write_bytes(raw)
        flush(target)

    monkeypatch.setattr(file, "_flush", damage)
    with pytest.raises(StateError, match="differs from what is read back; the previous file is untouched"):
        screen.partial_fit(X, Y).save(path)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    path.unlink()
    with pytest.raises(StateError, match="differs from what is read back$"):
        screen.save(path)


def test_a_previous_file_is_spoken_of_only_where_there_is_one(path):
    with pytest.raises(StateError, match="No such file or directory$"):
        ss.Screen("f").fit(X, Y).save(path.parent / "nowhere" / "toy.sieve")
