"""``streamsieve compare``: a report from one command, interrupted and resumed, and bad input in one line."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from streamsieve.cli import compare, run
from streamsieve.evaluation import Report
from tests.cli.conftest import contents

QUICK = ["--runs", "2", "--folds", "3", "--sizes", "2,4", "--learners", "nb", "--jobs", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def table(folder):
    """90 patients: a dose, its copy, another measurement, noise; a town as text; few of one class."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    columns = {"dose": 2 * y, "copy": 2 * y, "age": y, **{f"noise_{j}": 0 * y for j in range(6)}}
    values = {name: mean + rng.normal(size=90) for name, mean in columns.items()}
    values["copy"] = values["dose"] + 0.01 * rng.normal(size=90)
    path = folder / "patients.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*values, "rare", "outcome"])
        rare = np.where(np.arange(90) < 2, "odd", "usual")
        writer.writerows(zip(*values.values(), rare, np.array(["ill", "well"])[y], strict=True))
    return path


def command(table, out, *more):
    named = ["--target", "outcome", "--skip-text", "--out", str(out)]
    return ["compare", str(table), *named, *map(str, more)]


@pytest.fixture(scope="module")
def done(table, folder):
    """A comparison that ran to its end."""
    out = folder / "done"
    assert run(command(table, out, "--selectors", "SAOLA,topk,f,none", *QUICK, "-q")) == 0
    return out


def test_a_report_and_its_files(done):
    names = {path.name for path in done.iterdir()}
    assert {"report.html", "report.json"} <= names
    assert {"table.csv", "standings.csv", "chosen.csv", "selections.csv"} <= names
    assert {"score_nb.png", "seconds.png", "stability.png", "ledger_saola.csv", "ledger_top_k.csv"} <= names
    report = Report.load(done)
    assert report.protocol == "screening"
    assert report.table.n_rows == 2 * 3 * (2 + 2 + 1 + 1)  # folds x (two sizes of two, one of two)
    assert report.extras["standings"].n_rows == 4
    kept = report.extras["chosen"].where(selector="saola")["feature"].tolist()
    assert set(kept) & {"dose", "copy"}
    assert not {"dose", "copy"} <= set(kept)
    page = (done / "report.html").read_text("utf-8")
    assert "--selectors SAOLA,topk,f,none --runs 2" in page
    assert " text left out (" in page
    assert "patients.csv" in page
    with (done / "ledger_saola.csv").open(newline="") as file:
        decisions = list(csv.DictReader(file))
    assert {decision["feature"] for decision in decisions} >= {"dose", "age", "noise_5"}


def test_types_of_columns_are_said_on_the_terminal_and_the_page(folder, tmp_path, capfd):
    rng = np.random.default_rng(1)
    path = folder / "grades.csv"
    rows = zip(
        rng.normal(size=90), rng.integers(1, 5, 90), rng.integers(0, 2, 90), np.arange(90) % 2, strict=True
    )
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["dose", "grade", "smokes", "outcome"], *rows])
    out = tmp_path / "out"
    named = ["--target", "outcome", "--selectors", "topk,none", "--out", str(out)]
    assert run(["compare", str(path), *named, *QUICK]) == 0
    line = "types: 1 ordinal (grade), 1 binary (smokes), 1 numeric"
    assert line in "".join(capfd.readouterr())
    assert line in (out / "report.html").read_text("utf-8")


def test_resuming_takes_what_is_there(done, table, monkeypatch, capsys):
    before = (done / "table.csv").read_bytes()
    monkeypatch.setattr("streamsieve.evaluation.engine.jobs._guarded", None)  # computing a part would fail
    assert run(command(table, done, "--selectors", "saola,top_k,f,none", *QUICK, "--resume", "--json")) == 0
    assert (done / "table.csv").read_bytes() == before
    assert "resumed: earlier results were taken over" in (done / "report.html").read_text("utf-8")
    result = json.loads(capsys.readouterr().out)  # which is all that was printed
    assert result["recommendation"].endswith(".")
    assert result["recommended"]["selector"] in ("saola", "top_k", "f")
    assert len(result["combinations"]) == 4
    assert result["report"] == str(done / "report.html")
    assert result["failures"] == []
    assert set(result["chosen"]) == {"saola", "top_k", "f"}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--selectors", "saola,none"], "holds a comparison already: --resume goes on with it if"),
        (
            ["--selectors", "saola,f,none,t", "--seed", "1", "--resume"],
            "other settings: selectors.top_k was there and is not now; random_state was 0 and is 1 now; sel",
        ),
    ],
)
def test_a_folder_of_another_comparison_is_refused(done, table, more, message, refused):
    before = contents(done)
    refused(command(table, done, *QUICK, *more, "-q"), message)
    assert contents(done) == before


def test_a_selector_that_keeps_nothing_and_one_that_fails_are_reported(table, tmp_path, capsys, refused):
    """There is nothing in noise, and counts cannot be negative."""
    out = tmp_path / "out"
    rng = np.random.default_rng(3)
    noise = tmp_path / "noise.csv"
    X = np.c_[rng.normal(size=(60, 2)), np.arange(60) % 2]
    np.savetxt(noise, X, "%.6g", ",", header="a,b,y", comments="")
    selectors = ["--selectors", "grafting,winnow_efs,none"]
    assert run(["compare", str(noise), "--target", "y", "--out", str(out), *selectors, *QUICK]) == 0
    said = capsys.readouterr().out
    assert "parts failed, the first: run=0 fold=0 selector=winnow_efs: InputError: Negative values" in said
    page = (out / "report.html").read_text("utf-8")
    assert "grafting kept nothing every time" in page
    assert "winnow_efs, fitted to all rows: InputError: Negative values" in page
    assert "2 classes: 0, 1" in page
    alone = ["compare", noise, "--target", "y", "--selectors", "winnow_efs", *QUICK, "-q"]
    refused(
        [*alone, "--out", tmp_path / "none"],
        "error: the report has no score, so there is nothing to say: run=0",
    )
    assert not (tmp_path / "none" / "report.html").exists()


def test_columns_that_stream(tmp_path, capsys):
    options = ["--protocol", "streaming", "--runs", "1", "--folds", "2", "--sizes", "3", "--learners", "nb"]
    assert run(["compare", "wine", "--out", str(tmp_path / "out"), *options]) == 0
    said = capsys.readouterr().out
    # alpha-investing has two classes
    assert "selectors none, f, top_k, saola, fast_osfs (by default)" in said
    assert "178 rows x 13 features   protocol streaming" in said
    assert "1 random order of columns, each with 2 folds   1 process" in said
    assert f"wrote {tmp_path / 'out' / 'report.html'} in " in said
    report = Report.load(tmp_path / "out")
    assert report.settings["selectors"]["top_k"]["parameters"]["k"] == 3
    assert (tmp_path / "out" / "seconds_by_columns.png").exists()


def test_rows_that_stream(tmp_path, capsys):
    """svmlight text brings its own target; a target of numbers."""
    rng = np.random.default_rng(0)
    X, lines = rng.normal(size=(200, 3)), []
    for row in X:
        cells = " ".join(f"{j + 1}:{value:.5g}" for j, value in enumerate(row))
        lines.append(f"{row[1] + 0.1 * row[2]:.5g} {cells}")
    path = tmp_path / "rows.svm"
    path.write_text("\n".join(lines))
    assert run(["compare", str(path), "--out", str(tmp_path / "out"), "--protocol", "prequential"]) == 0
    said = capsys.readouterr().out
    assert "200 rows x 3 features   protocol prequential" in said
    assert "selectors none, correlation, correlation (half-life 100) (by default)" in said
    assert "mean absolute error" in said
    assert "nothing was repeated, so no difference is tested." in said
    assert (tmp_path / "out" / "stream_sgd.png").exists()


# ------------------------------------------------------------------------------------ bad input


ROWS = ["wine", "--protocol", "prequential"]
BAD = {
    "no target": (["{table}"], "say which column is the target: --target NAME"),
    "misspelt target": (["{table}", "--target", "outcom"], "target; did you mean 'outcome'"),
    "text": (
        ["{table}", "--target", "outcome", "--categories", "refuse"],
        "column 'rare' holds text, not numbers: encode it",
    ),
    "selector": (["wine", "--selectors", "soala"], "there is no selector 'soala'; did you mean 'saola'?"),
    "no comma": (["wine", "--selectors", "f,,t"], "--selectors wants names with commas between them"),
    "learner": (["wine", "--learners", "logistc"], "there is no learner 'logistc'; did you mean 'logistic'?"),
    "regressor": (["wine", "--learners", "ridge"], "'ridge' is not made for classes"),
    "two classes": (["wine", "--selectors", "t"], "is made for a binary target, but y is multiclass"),
    "metric": (["wine", "--metric", "r2"], "--metric r2 is not defined if the target is made of classes"),
    "folds": (["wine", "--folds", "49"], "class 'class_2' has 48 rows, fewer than folds=49"),
    "runs": (["wine", "--runs", "0"], "--runs must be a whole number at least 1; got 0"),
    "sizes": (["wine", "--sizes", "5,few"], "--sizes wants numbers of features, such as 5,10,20; got 'few"),
    "jobs": (["wine", "--jobs", "-2"], "--jobs must be at least 1, or -1 for all processors; got -2"),
    "protocol": (["wine", "--protocol", "stream"], "--protocol must be one of 'screening', 'streaming', 'p"),
    "own target": (["wine", "--target", "x"], "the data set wine brings its own target: leave out --target"),
    "unknown": (["brest_cancer"], "no file and no data set 'brest_cancer'; did you mean 'breast_cancer'?"),
    "no file": (["there/is/no.csv", "--target", "y"], "there is no file there/is/no.csv"),
    "endless": (["kafka://host:1/topic"], "a Kafka topic has no end"),
    "rows and folds": ([*ROWS, "--folds", "3"], "--folds has no meaning with --protocol prequential"),
    "rows and columns": ([*ROWS, "--selectors", "saola"], "does not learn from rows that stream in"),
    "rows at once": ([*ROWS, "--learners", "knn"], "has no partial_fit, so it cannot follow a stream"),
    "two sizes": ([*ROWS, "--sizes", "3,4"], "takes one number of features; got --sizes 3,4"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_and_nothing_is_written(table, tmp_path, monkeypatch, refused, what):
    arguments, message = BAD[what]
    monkeypatch.chdir(tmp_path)
    refused(["compare", *(each.format(table=table) for each in arguments), "--out", "out", "-q"], message)
    assert list(tmp_path.iterdir()) == []


def test_scores_that_a_learner_does_not_have(tmp_path, monkeypatch, refused):
    from streamsieve.evaluation.candidates import learners

    plain = ("sklearn.neighbors.NearestCentroid", {"metric": "manhattan"})
    monkeypatch.setattr("sklearn.neighbors.NearestCentroid.predict_proba", property(), raising=False)
    monkeypatch.setattr("sklearn.neighbors.NearestCentroid.decision_function", property(), raising=False)
    monkeypatch.setitem(learners.CLASSIFIERS, "nearest", plain)
    arguments = ["compare", "wine", "--learners", "nearest", "--out", tmp_path / "out", "-q"]
    refused(arguments, "AUC ranks rows by scores, and learner 'nearest' (NearestCentroid) gives none")
    assert not (tmp_path / "out").exists()


def test_missing_values_name_options_that_help(table, tmp_path, refused):
    lines = table.read_text().splitlines()
    lines[1] = lines[1][lines[1].index(",") :]
    path = tmp_path / "holes.csv"
    path.write_text("\n".join(lines))
    arguments = command(path, tmp_path / "report", "--selectors", "f", *QUICK)
    refused(arguments, "feature 'dose' has missing values", "--missing impute", "--exclude dose")
    assert run([*arguments, "--missing", "impute", "-q"]) == 0


def test_identifiers_leaks_and_guessed_targets_are_said(tmp_path, capfd):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 1000, 120)
    path = tmp_path / "t.csv"
    rows = zip(range(120), y + 0.01 * rng.normal(size=120), rng.normal(size=120), y, strict=True)
    path.write_text("row,leak,x,y\n" + "\n".join(",".join(map(str, row)) for row in rows))
    out = tmp_path / "report"
    more = ["--runs", "1", "--folds", "3", "--selectors", "none", "--learners", "ridge", "--jobs", "1"]
    assert run(["compare", str(path), "--target", "y", "--out", str(out), *more]) == 0
    said = capfd.readouterr()
    assert "note: y holds" in said.out
    assert "TargetWarning" not in said.err
    assert "warning: row looks like an identifier" in said.out
    assert "warning: leak alone gives the target away (correlation" in said.out
    assert "leak alone gives the target away" in (out / "report.html").read_text()


def test_folders_that_hold_something_else_are_left_alone(tmp_path, refused):
    (tmp_path / "report.html").write_text("mine")
    said = "holds report.html, which is not of a comparison and might be overwritten: choose another folder"
    refused(["compare", "wine", "--out", tmp_path], said)
    refused(["compare", "wine", "--out", tmp_path / "report.html"], "report.html is a file: name a folder")
    assert (tmp_path / "report.html").read_text() == "mine"


# ------------------------------------------------------------------------------------ interruptions


class Impatient:
    """A progress bar that presses Ctrl-C when five parts are done."""

    def __init__(self, *_arguments, **_options):
        self.done = 0

    def __enter__(self):
        return self.advance

    def advance(self, n):
        self.done += n
        if self.done == 5:
            os.kill(os.getpid(), signal.SIGINT)

    def __exit__(self, *error):
        return None


def test_ctrl_c_says_how_to_go_on(done, table, tmp_path, monkeypatch, capsys):
    out, arguments = tmp_path / "out", ["--selectors", "saola,top_k,f,none", *QUICK]
    with monkeypatch.context() as patch:
        patch.setattr(compare, "progress", Impatient)
        assert run(command(table, out, *arguments)) == 130
    assert capsys.readouterr().err == (
        f"interrupted; {out} holds 5 of 24 parts: the same command with --resume goes on from there\n"
    )
    assert {path.name for path in out.iterdir()} == {"settings.json", "cells.jsonl"}
    assert run(command(table, out, *arguments, "--resume", "-q")) == 0
    assert (out / "selections.csv").read_bytes() == (done / "selections.csv").read_bytes()
    assert (out / "ledger_saola.csv").read_bytes() == (done / "ledger_saola.csv").read_bytes()


@pytest.mark.full
def test_a_killed_group_of_processes_leaves_parts_to_resume(tmp_path):
    """Ctrl-C in a terminal reaches all processes; what is printed is one line, and no traceback."""
    out = tmp_path / "out"
    options = ["--selectors", "saola,f,top_k", "--learners", "forest", "--runs", "20", "--jobs", "2"]
    program = "import sys; from streamsieve.cli import main; main(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "compare", "breast_cancer", "--out", str(out), *options],
        start_new_session=True, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    cells = out / "cells.jsonl"
    deadline = time.monotonic() + 120
    while not (cells.exists() and cells.read_bytes().count(b"\n") >= 3):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "of 300 parts: the same command with --resume goes on from there" in said
    assert said.count("\n") == 1
    assert "Traceback" not in said
    assert {path.name for path in Path(out).iterdir()} == {"settings.json", "cells.jsonl"}


def test_another_comparison_replaces_one_if_asked(table, tmp_path, capsys):
    small = ["--selectors", "f", "--learners", "nb", "--sizes", "1", "--runs", "1", "--jobs", "1", "-q"]
    assert run(command(table, tmp_path / "out", *small, "--folds", "2")) == 0
    assert run(command(table, tmp_path / "out", *small, "--folds", "3", "--overwrite")) == 0
    assert Report.load(tmp_path / "out").settings["folds"] == 3
    (tmp_path / "out" / "mine.png").write_bytes(b"mine")
    assert run(command(table, tmp_path / "out", *small, "--overwrite")) == 2
    assert "holds mine.png, which is not of a comparison" in capsys.readouterr().err
    assert Report.load(tmp_path / "out").settings["folds"] == 3
    capsys.readouterr()
    assert run(command(table, tmp_path / "out", *small, "--resume", "--overwrite")) == 2
    assert "give one of them" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "split"),
    [(["--groups", "rare"], None), (["--groups", "noise_0"], "groups"), (["--time", "noise_0"], "time")],
)
def test_rows_that_depend_on_each_other(table, tmp_path, capsys, more, split):
    quick = ["--selectors", "f,none", "--learners", "nb", "--sizes", "1", "--folds", "3", "--jobs", "1"]
    code = run(command(table, tmp_path / "out", *quick, *more, "--metric", "f1"))
    captured = capsys.readouterr()
    if split is None:
        assert code == 2
        assert "groups has 2 different values, and folds=3 needs 3" in captured.err
        return
    assert code == 0
    assert ("by groups of noise_0" if split == "groups" else "in order of noise_0") in captured.out
    report = Report.load(tmp_path / "out")
    assert report.settings["split"] == split
    assert report.n_features == 8  # the column is none of the features
    assert "F1 " in captured.out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--metric", "f2"], "--metric must be one of"),
        (["--selectors", "saolla"], "did you mean 'saola'"),
        (["--learners", "logstic"], "did you mean 'logistic'"),
        (["--groups", "rare", "--time", "age"], "--groups and --time exclude each other"),
        (["--time", "age", "--runs", "3"], "--runs 3 has no meaning with --time"),
        (["--time", "age", "--protocol", "streaming"], "--time goes with --protocol screening"),
    ],
)
def test_options_are_checked_before_the_data_is_read(tmp_path, monkeypatch, capsys, more, message):
    monkeypatch.setattr(compare.compare_data, "read", lambda *_: pytest.fail("the data was read"))
    (tmp_path / "t.csv").write_text("a,outcome\n1,2\n")
    assert run(command(tmp_path / "t.csv", tmp_path / "out", *more)) == 2
    assert message in capsys.readouterr().err


@pytest.mark.full
def test_processes_end_with_the_command(table, tmp_path):
    asked = [str(table), "--target", "outcome", "--out", "report"]
    command = [sys.executable, "-m", "streamsieve", "compare", *asked]
    command += ["--jobs", "2", "--runs", "1", "--folds", "2", "--quiet"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            while not (tmp_path / "report" / "report.html").exists():
                assert process.poll() in (None, 0)
                time.sleep(0.1)
            process.communicate(timeout=60)  # idle workers wait for five minutes
        finally:
            process.kill()
    assert process.returncode == 0
