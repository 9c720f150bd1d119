"""Parts of a study: computed once, stored at once, gone through again when their settings change."""

import json

import numpy as np
import pytest

from studies._desk import Desk
from studies._parts import Parts
from studies._report import table, wrapped


@pytest.fixture
def counted():
    calls = []

    def compute(value):
        calls.append(value)
        return {"value": value, "pair": (1, 2)}

    compute.calls = calls
    return compute


def test_a_part_is_computed_once(tmp_path, counted):
    path, said = tmp_path / "a.json", []
    first = Parts(path, say=said.append)
    assert first("one", {"k": (1, 2)}, counted, 5) == {"value": 5, "pair": [1, 2]}
    assert first("one", {"k": (1, 2)}, counted, 5) == {"value": 5, "pair": [1, 2]}
    again = Parts(path)
    assert again("one", {"k": [1, 2]}, counted, 5) == {"value": 5, "pair": [1, 2]}
    assert again.result("one")["value"] == 5
    assert counted.calls == [5]
    assert len(said) == 1


def test_the_processor_time_of_a_part_is_stored_with_it(tmp_path, counted):
    path = tmp_path / "a.json"
    Parts(path)("busy", {}, lambda: sum(range(2_000_000)))
    assert Parts(path).processor_seconds("busy") > 0
    path.write_text(json.dumps({"old": {"settings": {}, "seconds": 1.0, "result": 0}}))
    assert np.isnan(Parts(path).processor_seconds("old"))


def test_other_settings_and_a_fresh_start_compute_again(tmp_path, counted):
    path = tmp_path / "a.json"
    Parts(path)("one", {"k": 1}, counted, 1)
    assert Parts(path)("one", {"k": 2}, counted, 2)["value"] == 2
    assert Parts(path, fresh=True)("one", {"k": 2}, counted, 3)["value"] == 3
    assert counted.calls == [1, 2, 3]


def test_an_interrupted_study_keeps_what_is_done(tmp_path, counted):
    path = tmp_path / "a.json"

    def interrupted():
        raise KeyboardInterrupt

    parts = Parts(path)
    parts("one", {}, counted, 1)
    with pytest.raises(KeyboardInterrupt):
        parts("two", {}, interrupted)
    assert list(json.loads(path.read_text())) == ["one"]
    assert Parts(path)("one", {}, counted, 1)["value"] == 1
    assert counted.calls == [1]


def test_what_is_missing_is_said_and_remembered(tmp_path):
    said = []
    desk = Desk("drift", tmp_path, say=said.append)
    desk.skip("a data set", "it is not there")
    assert said == ["drift: SKIPPED a data set: it is not there"]
    assert desk.missing == ["a data set: it is not there"]


def test_paragraphs_are_filled_and_tables_are_not():
    long = "word " * 60
    text = f"# {'heading ' * 30}\n\n{long}\n\n- {long}\n- b\n\n| {'cell ' * 60}|\n"
    lines = wrapped(text).splitlines()
    assert all(len(line) <= 110 for line in lines if not line.startswith(("#", "|")))
    assert sum(line.startswith("- ") for line in lines) == 2
    assert len([line for line in lines if line.startswith("|")]) == 1
    assert wrapped(wrapped(text)) == wrapped(text)


def test_cells_of_a_table_cannot_break_it():
    assert table(["a", "b"], [["x|y", "1"]]).splitlines()[-1] == "| x\\|y | 1 |"


def _squared(value):
    if value < 0:
        raise ValueError("there is no such part")
    return value**2


def test_parts_computed_together_are_those_computed_one_by_one(tmp_path):
    said = []
    parts = Parts(tmp_path / "a.json", say=said.append)
    parts("kept", {}, _squared, 2)
    parts.ahead([("kept", {}, _squared, 9), *((f"{i}", {}, _squared, i) for i in (3, 4, -1))])
    assert [parts.result(name) for name in ("kept", "3", "4")] == [4, 9, 16]
    assert len(said) == 3
    assert set(json.loads((tmp_path / "a.json").read_text())) == {"kept", "3", "4"}
    with pytest.raises(ValueError, match="no such part"):
        parts("-1", {}, _squared, -1)
    assert Desk("b", tmp_path).together([("x", {}, _squared, 5), ("y", {}, _squared, 6)]) == [25, 36]
