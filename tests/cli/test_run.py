"""Checkpoints on the command line: kept, resumed, refused in one line."""

import json
import os
import re
import signal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamsieve as ss
from streamsieve import state
from streamsieve.cli import run
from tests.cli.conftest import contents

N = 3_000


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "clicks.parquet"
    pq.write_table(made(N), path)
    return path


def made(n, names=("a", "b", "c", "d")):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    X = rng.normal(size=(N, 4))
    X[:, 2] += y
    return pa.table(
        {**{name: X[:n, j] for j, name in enumerate(names)}, "label": np.array(["no", "yes"])[y[:n]]}
    )


def arguments(table, *more):
    options = ["--target", "label", "--criterion", "mutual_info", "--k", "2", "--batch", "100"]
    return ["screen", str(table), *options, *map(str, more)]


def interrupt_after(monkeypatch, rows):
    """Press Ctrl-C when this number of rows was learnt."""
    real = ss.Screen.learn

    def learn(self, batch):
        real(self, batch)
        if self.n_samples_seen_ == rows:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(ss.Screen, "learn", learn)


def test_a_run_with_a_checkpoint_prints_what_it_would_without(table, tmp_path, capsys):
    assert run(arguments(table, "--json")) == 0
    plain = json.loads(capsys.readouterr().out)
    path = tmp_path / "clicks.sieve"
    assert run(arguments(table, "--json", "--checkpoint", path, "--every", "1000")) == 0
    kept = json.loads(capsys.readouterr().out)
    assert kept["kept"] == plain["kept"]
    assert state.read_header(path)["stream"]["number"] >= 2
    assert ss.load(path).n_samples_seen_ == N


def test_ctrl_c_says_where_the_checkpoint_is_and_resume_goes_on(table, tmp_path, monkeypatch, capsys):
    path, out = tmp_path / "clicks.sieve", tmp_path / "kept.csv"
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1_200)
        assert run(arguments(table, "--checkpoint", path, "--out", out)) == 130
    said = capsys.readouterr()
    assert said.err == (
        f"interrupted; {path} holds the first 1,200 rows: the same command with --resume goes on from there\n"
    )
    assert said.out == ""
    assert not out.exists()
    assert run(arguments(table, "--checkpoint", path, "--resume", "--out", out)) == 0
    said = capsys.readouterr()
    assert re.search(r"^1,800 rows in .*1,200.*: 4 features offered, ", said.out, re.MULTILINE)
    resumed = out.read_text()
    assert run(arguments(table, "--out", out)) == 0
    assert out.read_text() == resumed


def test_ctrl_c_without_a_checkpoint_says_nothing_of_one(table, monkeypatch, capsys):
    interrupt_after(monkeypatch, 1_200)
    assert run(arguments(table)) == 130
    assert capsys.readouterr().err == "interrupted; no file was half-written\n"


def test_resuming_shows_the_rows_that_were_done_before(table, tmp_path, monkeypatch):
    from streamsieve.cli import select

    path = tmp_path / "clicks.sieve"
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1_200)
        run(arguments(table, "--checkpoint", path, "-q"))
    steps = []
    real = select.run
    monkeypatch.setattr(select, "run", lambda *a, **k: real(*a, **{**k, "progress": steps.append}))
    assert run(arguments(table, "--checkpoint", path, "--resume", "-q")) == 0
    assert steps == [1_200] + [100] * 18


def test_select_with_a_row_method_has_checkpoints_too(table, tmp_path):
    path = tmp_path / "clicks.sieve"
    command = ["select", str(table), "--target", "label", "--method", "screen", "--param", "k=2", "-q"]
    assert run([*command, "--checkpoint", str(path), "--every", "10s"]) == 0
    assert run([*command, "--checkpoint", str(path), "--resume"]) == 0
    assert ss.load(path).n_samples_seen_ == N


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--resume"], "--resume is about a checkpoint: say which, --checkpoint PATH"),
        (["--every", "3s"], "--every is about a checkpoint"),
        (["--verify", "full"], "--verify is about a checkpoint"),
        (["--checkpoint", "{folder}/new.sieve", "--verify", "no"], "verify must be one of 'sample', 'full'"),
        (["--checkpoint", "{folder}/old.sieve", "--resume", "--verify", "full"], "made with --verify sample"),
        (["--checkpoint", "{folder}/new.sieve", "--every", "soon"], "every must be a time such as '10s'"),
        (["--checkpoint", "{folder}/no/new.sieve"], "does not exist: make it first"),
        (["--checkpoint", "{folder}"], "is a folder"),
        (["--checkpoint", "{folder}/old.sieve"], "is there already: resume (resume=True, --resume)"),
        (["--checkpoint", "{folder}/old.sieve", "--resume", "--k", "3"], "k is 2 there and 3 here"),
        (["--checkpoint", "{folder}/cut.sieve", "--resume"], "is not a readable state file"),
        (["--checkpoint", "{folder}/saved.sieve", "--resume"], "no place in a stream"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(table, tmp_path, refused, more, message):
    old = tmp_path / "old.sieve"
    assert run(arguments(table, "--checkpoint", old, "--save", tmp_path / "saved.sieve", "-q")) == 0
    (tmp_path / "cut.sieve").write_bytes(old.read_bytes()[:1_000])
    before = contents(tmp_path)
    refused(arguments(table, *(argument.format(folder=tmp_path) for argument in more)), message)
    assert contents(tmp_path) == before


def test_column_methods_have_no_checkpoint(table, tmp_path, refused):
    command = ["select", table, "--target", "label", "--checkpoint", tmp_path / "x.sieve"]
    refused(command, "top_k streams columns, and checkpoints are made of streams of rows")


@pytest.mark.parametrize("change", [{"n": 1_000}, {"names": ("a", "b", "x", "d")}], ids=["shrunk", "schema"])
def test_a_stream_that_is_not_the_one_of_the_checkpoint_is_refused(table, tmp_path, refused, change):
    path = tmp_path / "clicks.sieve"
    assert run(arguments(table, "--checkpoint", path, "-q")) == 0
    pq.write_table(made(**{"n": N, **change}), table)
    refused(arguments(table, "--checkpoint", path, "--resume"), f"error: cannot resume from {path}: ")
    assert ss.load(path).n_samples_seen_ == N
