"""``streamsieve merge``: the parts of a stream become the whole, or one line says what does not fit."""

import json
from pathlib import Path

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.cli import run
from tests.cli.conftest import contents


def rows(seed, n=200):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 5))
    X[:, 3] += y
    return X, y


@pytest.fixture
def parts(tmp_path):
    for k in range(3):
        ss.Screen("f", k=2).fit(*rows(k)).save(tmp_path / f"{k}.sieve")
    return [str(tmp_path / f"{k}.sieve") for k in range(3)]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "all.sieve"


def test_merged_files_equal_one_pass(parts, out, capsys):
    assert run(["merge", *parts, "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "merged 3 files   600 rows   5 features" in said
    assert str(out) in said
    whole = ss.Screen("f", k=2)
    for k in range(3):
        whole.partial_fit(*rows(k))
    merged = ss.load(out)
    assert merged.n_samples_seen_ == 600
    np.testing.assert_allclose(merged.scores_, whole.scores_, rtol=1e-12)
    assert merged.selected_.tolist() == whole.selected_.tolist()


def test_files_are_merged_in_order(tmp_path, out):
    for k in range(2):
        ss.Screen("f", k=2, half_life=50).fit(*rows(k)).save(tmp_path / f"fading{k}.sieve")
    files = [str(tmp_path / f"fading{k}.sieve") for k in range(2)]
    assert run(["merge", *files, "-o", str(out), "-q"]) == 0
    whole = ss.Screen("f", k=2, half_life=50).partial_fit(*rows(0)).partial_fit(*rows(1))
    np.testing.assert_allclose(ss.load(out).scores_, whole.scores_, rtol=1e-10)


def test_json_and_quiet(parts, out, capsys):
    assert run(["merge", *parts, "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"out": str(out), "files": 3, "rows": 600, "features": 5}
    assert run(["merge", *parts, "--out", str(out), "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_checkpoints_merge_and_the_result_is_none(tmp_path, out):
    for k in range(2):
        X, y = rows(k)
        ss.run(ss.open(X, target=y), ss.Screen("f", k=2), checkpoint=tmp_path / f"run{k}.sieve")
    assert run(["merge", *(str(tmp_path / f"run{k}.sieve") for k in range(2)), "-o", str(out), "-q"]) == 0
    assert ss.load(out).n_samples_seen_ == 400
    assert "stream" not in ss.state.read_header(out)


def prepare(folder):
    """Files that do not fit the first part, each in its own way."""
    X, y = rows(9)
    ss.Screen("t", k=2).fit(X, y).save(folder / "criterion.sieve")
    ss.Screen("f", k=2).fit(X[:, :4], y).save(folder / "narrow.sieve")
    ss.Screen("f", k=2, on_drift="reset").fit(X, y).save(folder / "drift.sieve")
    ss.Screen("f", k=2, on_drift="reset").fit(X, y).save(folder / "drift2.sieve")
    ss.SAOLA().fit(X, y).save(folder / "saola.sieve")
    ss.run(ss.open(X, target=y), ss.Screen("f", k=2), checkpoint=folder / "run.sieve")
    (folder / "run.sieve.previous").write_bytes((folder / "run.sieve").read_bytes())
    (folder / "cut.sieve").write_bytes((folder / "0.sieve").read_bytes()[:999])
    (folder / "copy.sieve").symlink_to(folder / "0.sieve")


@pytest.mark.parametrize(
    ("files", "out", "message"),
    [
        (["0", "criterion"], "all", "criterion.sieve does not fit {folder}/0.sieve: criterion is 'f' here"),
        (["0", "1", "narrow"], "all", "narrow.sieve does not fit {folder}/0.sieve: the features differ (5"),
        (["drift", "drift2"], "all", "drift.sieve: Screen cannot merge"),
        (["0", "saola"], "all", "saola.sieve holds a SAOLA, which cannot be merged"),
        (["0", "cut"], "all", "cut.sieve is not a readable state file"),
        (["0", "nowhere"], "all", "there is no state file {folder}/nowhere.sieve"),
        (["0"], "all", "merging takes two files or more"),
        (["0", "1", "0"], "all", "0.sieve is given twice: its rows would count twice"),
        (["0", "copy"], "all", "copy.sieve is given twice"),
        (["0", "1"], "1", "1.sieve is the file that FILES reads"),
        (["0", "1"], "run", "run.sieve is the checkpoint of a run"),
        (["0", "1"], "no/all", "does not exist: make it first"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(parts, tmp_path, refused, files, out, message):
    prepare(tmp_path)
    before = contents(tmp_path)
    command = ["merge", *(f"{tmp_path}/{name}.sieve" for name in files), "-o", f"{tmp_path}/{out}.sieve"]
    refused(command, message.format(folder=tmp_path))
    assert contents(tmp_path) == before


def test_generations_of_one_checkpoint_are_not_merged(parts, tmp_path, out, refused):
    prepare(tmp_path)
    files = [f"{tmp_path}/run.sieve.previous", f"{tmp_path}/run.sieve"]
    refused(["merge", *files, "-o", out], "run.sieve.previous are generations of one checkpoint")


def test_a_damaged_state_may_be_replaced_and_other_files_only_with_overwrite(parts, out, refused):
    out.write_bytes(Path(parts[0]).read_bytes()[:-40])
    assert run(["merge", *parts, "-o", str(out), "-q"]) == 0
    out.write_bytes(b"rubbish")
    refused(
        ["merge", *parts, "-o", out], f"{out} exists and streamsieve may not have written it; --overwrite"
    )
    assert out.read_bytes() == b"rubbish"
    assert run(["merge", *parts, "-o", str(out), "-q", "--overwrite"]) == 0
    assert ss.load(out).n_samples_seen_ == 600


def test_an_output_is_needed(parts, capsys):
    assert run(["merge", *parts]) == 2
    assert "--out" in capsys.readouterr().err
