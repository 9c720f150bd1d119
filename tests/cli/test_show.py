"""``streamsieve show``: what a file holds, in words and as JSON."""

import json
import subprocess
import sys

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.cli import run


def rows(n=400):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 5))
    X[:, 3] += y
    X[:, 1] += 0.5 * y
    return X, np.array(["no", "yes"])[y]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.sieve"


def shown(path, capsys, *more):
    assert run(["show", str(path), *more]) == 0
    return capsys.readouterr().out


def as_json(path, capsys, *more):
    return json.loads(shown(path, capsys, "--json", *more))


def test_a_row_selector(path, capsys):
    X, y = rows()
    screen = ss.Screen("f", k=2, review_every=100).fit(X, y)
    screen.save(path)
    before = path.read_bytes()
    out = shown(path, capsys)
    assert path.read_bytes() == before
    lines = out.splitlines()
    assert lines[0] == "Screen(criterion='f', k=2, review_every=100)"
    assert str(path) in lines[1]
    assert f"by streamsieve {ss.__version__}" in lines[1]
    assert lines[2] == "400 rows   5 features   2 classes: no, yes"
    assert [line.split()[0] for line in lines[4:7]] == ["feature", "x3", "x1"]
    assert "2 features are selected" in out
    assert "entered the top set" in out
    assert f"{len(screen.ledger_)} decisions in the ledger" in out
    assert "checkpoint" not in out
    found = as_json(path, capsys, "--top", "1", "--ledger", "3")
    assert found["method"] == "screen"
    assert found["parameters"]["k"] == 2
    assert (found["rows"], found["features"], found["classes"]) == (400, 5, ["no", "yes"])
    assert found["bytes"] == path.stat().st_size
    assert found["streamsieve"] == ss.__version__
    assert found["written"].endswith("+00:00")
    assert found["stream"] is None
    assert found["selected"] == 2
    (best,) = found["top"]
    assert (best["feature"], best["score"]) == ("x3", pytest.approx(screen.scores_[3]))
    assert found["decisions"] == len(screen.ledger_)
    assert [line["feature"] for line in found["ledger"]] == [d.feature for d in screen.ledger_[-3:]]


def test_a_checkpoint_says_where_its_stream_stands(path, capsys):
    X, y = rows()
    ss.run(ss.open(X, target=y), ss.Screen("f", k=2), checkpoint=path, every=100, batch_size=100)
    out = shown(path, capsys)
    assert "after 400 rows, the end of the stream (row 400)" in out
    before = shown(f"{path}.previous", capsys)
    assert "not the end of the stream" in before
    found = as_json(path, capsys)
    assert found["stream"]["position"] == {"row": 400}
    assert found["stream"]["finished"] is True


def test_a_column_selector(path, capsys):
    X, y = rows()
    sieve = ss.SAOLA(alpha=0.01).begin(y)
    sieve.offer(X, names=["age", "dose", "[b]odd[/b]", "height", "noise"])
    sieve.save(path)
    out = shown(path, capsys)
    assert out.splitlines()[0] == "SAOLA()"
    assert "400 rows   5 features" in out
    assert "height" in out
    assert "[b]odd[/b]  rejected" in out
    assert "5 decisions in the ledger, the latest 5 above" in out
    found = as_json(path, capsys)
    assert found["method"] == "saola"
    assert found["selected"] == len(sieve.selected_) == len(found["top"])
    assert found["ledger"][-1]["feature"] == "noise"


def test_a_numeric_target_has_no_classes(path, capsys):
    X, _ = rows()
    ss.Screen("correlation", k=2).fit(X, X[:, 0] + X[:, 1]).save(path)
    assert "classes" not in shown(path, capsys)
    assert as_json(path, capsys)["classes"] is None
    ss.Screen("mutual_info", k=2).fit(X, X[:, 0] + X[:, 1]).save(path)
    assert "classes" not in shown(path, capsys)


def test_columns_found_and_kept_are_counted_apart(path, capsys):
    X, y = rows()
    sieve = ss.SAOLA().fit(np.c_[X, X], y)
    sieve.save(path)
    assert sieve.n_found_ > sieve.n_kept_ > 0
    assert f"features are selected, the best {sieve.n_kept_} above, {sieve.n_found_} were found" in shown(
        path, capsys
    )
    found = as_json(path, capsys)
    assert (found["selected"], found["found"]) == (sieve.n_kept_, sieve.n_found_)


def test_many_classes_are_cut_short(path, capsys):
    X, _ = rows()
    ss.Screen("f", k=2).fit(X, np.arange(400) % 50).save(path)
    assert "50 classes: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ..." in shown(path, capsys)
    assert len(as_json(path, capsys)["classes"]) == 50


def test_nothing_may_be_asked_for(path, capsys):
    X, y = rows()
    ss.Screen("f", k=2, ledger="none").fit(X, y).save(path)
    out = shown(path, capsys, "--top", "0", "--ledger", "0")
    assert "feature  " not in out
    assert "2 features are selected\n" in out
    assert "0 decisions in the ledger\n" in out


def test_more_than_a_screenful_may_be_asked_for(path, capsys):
    rng = np.random.default_rng(0)
    ss.Screen("f", k=50).fit(rng.normal(size=(100, 60)), np.arange(100) % 2).save(path)
    assert "the best 50 above" in shown(path, capsys, "--top", "100")


def flipped(raw):
    damaged = bytearray(raw)
    damaged[-5] ^= 1
    return bytes(damaged)


DAMAGE = {
    "cut off": (lambda raw: raw[:-40], "is not a readable state file"),
    "a flipped bit": (flipped, "is damaged: its checksum does not match"),
    "empty": (lambda _: b"", "is not a readable state file"),
    "something else": (lambda _: b"PK\x03\x04" * 10, "is not a readable state file"),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_files_are_one_line_and_exit_code_2(path, refused, damage, message):
    X, y = rows()
    ss.Screen("f", k=2).fit(X, y).save(path)
    path.write_bytes(damage(path.read_bytes()))
    refused(["show", path], f"error: {path} {message}")


def test_a_missing_file_and_a_folder(path, refused):
    refused(["show", path], f"there is no state file {path}")
    refused(["show", path.parent], "is not a readable state file")


def test_help_of_the_new_commands_imports_nothing_heavy():
    code = (
        "import sys; from streamsieve.cli import run; run(['show', '--help']); run(['merge', '--help']); "
        "print('modules', *sorted({name.split('.')[0] for name in sys.modules}))"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert not {"sklearn", "numba", "scipy", "pyarrow"} & set(out.rsplit("modules", 1)[1].split())
