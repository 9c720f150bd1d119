"""What a newcomer meets in the first hour, as far as no other test of a command is about it."""

import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import streamsieve as ss
from streamsieve.cli import run, select
from streamsieve.exceptions import InputTypeError, SchemaError
from tests.cli.messy import CITIES, DROPPED, N, frame, text, with_column


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "patients.csv").write_text(text())
    return "patients.csv"


def said(capsys, *arguments, code=0):
    capsys.readouterr()
    assert run([str(argument) for argument in arguments]) == code
    return capsys.readouterr().out


@pytest.mark.parametrize("command", ["select", "screen", "compare"])
def test_an_error_names_the_file_of_the_user(command, tmp_path, refused):
    path = tmp_path / "patients.csv"
    path.write_text(text(DROPPED))
    out = ["--out", str(tmp_path / "report")] if command == "compare" else []
    error = refused([command, str(path), "--target", "label", *out], "--drop-missing-target")
    assert error.startswith(f"error: {path}: the target column 'label' has missing values (12 of 120 rows")
    assert "converted" not in error


@pytest.mark.parametrize(("value", "condition"), [("inf", "'noise, 1<inf'"), ("-inf", "'noise, 1>-inf'")])
@pytest.mark.parametrize("command", ["select", "screen"])
def test_an_infinity_names_options_that_help(command, value, condition, tmp_path, refused, capsys):
    path = tmp_path / "t.csv"
    data = frame().rename(columns={"noise_1": "noise, 1"})
    data["noise, 1"] = data["noise, 1"].where(np.arange(N) != 7, float(value))
    data.to_csv(path, index=False)
    base = [command, str(path), "--target", "label"]
    error = refused(
        base, f"row 8: feature 'noise, 1' holds {value}: --where {condition} leaves such rows out"
    )
    said(capsys, *base, "--where", condition.strip("'"))
    column = re.search(r"--exclude (.*) the column", error)[1]
    said(capsys, *base, "--exclude", column.strip("'"))


def test_an_infinity_in_a_comparison_names_its_file(tmp_path, refused):
    data = frame()
    data.loc[7, "dose"] = np.inf
    data.to_csv(tmp_path / "t.csv", index=False)
    base = ["compare", tmp_path / "t.csv", "--target", "label", "--out", tmp_path / "report"]
    refused(base, "error: t.csv: feature 'dose' holds inf: --where 'dose<inf' leaves such rows out")


def test_a_ledger_of_the_end_only_is_said_to_be_one(table, tmp_path, capsys):
    base = ["screen", table, "--target", "label", "--k", "2", "--ledger", tmp_path / "l.csv"]
    assert "note: the ledger holds the selection at the end; --review-every 1000 records" in said(
        capsys, *base
    )
    assert "note: the ledger" not in said(capsys, *base, "--review-every", "40")
    steps = {int(step) for step in pd.read_csv(tmp_path / "l.csv")["step"]}
    assert min(steps) == 40  # looked at on the way


@pytest.mark.parametrize("method", ["saola", "fast_osfs", "screen", "mrmr"])
def test_kept_features_are_in_the_order_of_their_strength(method, tmp_path, capsys):
    y = np.arange(300) % 2
    noise = np.random.default_rng(0).normal(size=(3, 300))
    data = {f"x{j}": strength * y + noise[j] for j, strength in enumerate((1, 4, 2))}
    path = tmp_path / "t.csv"
    pd.DataFrame(data).assign(label=y).to_csv(path, index=False)
    out = said(
        capsys, "select", path, "--target", "label", "--method", method, "--out", tmp_path / "kept.csv"
    )
    assert pd.read_csv(tmp_path / "kept.csv")["feature"].tolist() == ["x1", "x2", "x0"]
    assert out.index("\nx1 ") < out.index("\nx2 ") < out.index("\nx0 ")


def test_compiling_is_counted_apart_and_one_is_not_plural():
    how = select.Run(1, 0, "columns", 0.5, 15.25)  # of one column no rate is given
    tally = select._tally({"offered": 1, "kept": 1, "rejected": 0}, how)
    assert tally == (
        "1 column in 0.50 s, and 15.2 s to compile kernels, once per machine: "
        "1 feature offered, 1 kept, 0 rejected"
    )
    many = select._tally({"offered": 20_000, "kept": 1}, select.Run(20_000, 0, "columns", 0.5, 0.0))
    assert many == "20,000 columns in 0.50 s (40,000 columns/s): 20,000 features offered, 1 kept"


def test_one_column_is_called_one(tmp_path, capsys):
    path = tmp_path / "t.csv"
    frame()[["dose", "label"]].to_csv(path, index=False)
    assert "it keeps up to 1 column, by" in said(capsys, "select", path, "--target", "label")


def test_long_names_are_folded_and_not_cut(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    name = "dose_of_a_treatment_under_a_name_that_a_database_has_made_up_for_it_in_the_year_2024"
    path = tmp_path / "t.csv"
    frame().rename(columns={"dose": name}).to_csv(path, index=False)
    shown = said(capsys, "select", path, "--target", "label").split("feature ")[1].split("columns in")[0]
    assert "…" not in shown
    lines = [line.split(" ")[0] for line in shown.splitlines()[1:]]
    assert name in "".join(lines)


def test_nothing_kept_is_answered_without_the_parameters_that_a_method_lacks(table, capsys):
    base = ["select", table, "--target", "label", "--features", "noise_0"]
    with_level = said(capsys, *base, "--method", "saola", code=1)
    without = said(capsys, *base, "--method", "grafting", code=1)
    assert "a larger alpha (now 0.01)" in with_level
    assert "larger alpha" not in without
    assert "nothing was kept" in without


def test_nothing_kept_in_a_pipeline_is_warned_of():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.arange(60) % 2
    with (
        pytest.warns(UserWarning, match="No features were selected: .*alpha"),
        pytest.raises(ValueError, match=r"0 feature\(s\)"),
    ):
        make_pipeline(ss.SAOLA(alpha=1e-9), LogisticRegression()).fit(X, y)


@pytest.mark.parametrize("selector", [ss.SAOLA(), ss.Screen(), ss.MRMR()])
def test_a_name_that_two_columns_have_is_named(selector):
    X = frame()[["dose", "noise_0"]]
    twice = pd.concat([X, X[["dose"]]], axis=1)
    with pytest.raises(SchemaError, match="several columns named 'dose'"):
        selector.fit(twice, frame()["label"])


def test_columns_of_text_are_all_named_in_good_grammar():
    X = with_column("city", "Rome")[["dose", "city"]].assign(plan="a", sex="f", site="b")
    with pytest.raises(
        InputTypeError, match="columns 'city', 'plan', 'sex', 'site' do not hold numbers; encode them"
    ):
        ss.Grafting().fit(X, frame()["label"])
    with pytest.raises(InputTypeError, match="column 'city' does not hold numbers; encode it"):
        ss.Grafting().fit(X[["dose", "city"]], frame()["label"])
    other = X[["dose", "city"]].assign(seen=pd.Timestamp("2024-01-01"), tags=[[1]] * N)
    with pytest.raises(
        InputTypeError, match="'city' does not.*; column 'seen' holds dates.*; column 'tags' holds"
    ):
        ss.Grafting().fit(other, frame()["label"])


def test_types_and_rows_that_miss_values_exclude_each_other(table, refused):
    base = ["select", table, "--target", "label", "--method", "fast_osfs", "--missing", "omit"]
    refused([*base, "--ordinal", "noise_0"], "--ordinal and --missing omit exclude each other", "impute")


def test_a_terminal_wraps_between_words_and_code_stays_whole(tmp_path, monkeypatch, capsys):
    long = {name: f"{name}_of_a_treatment" for name in frame().columns if name != "label"}
    frame().rename(columns=long).assign(city=CITIES).to_csv(tmp_path / "t.csv", index=False)
    base = ["select", tmp_path / "t.csv", "--target", "label", "--exclude", ",".join(list(long.values())[:3])]
    plain = said(capsys, *base, "--code")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    notes, _, code = re.sub(r"\x1b\[[0-9;]*m", "", said(capsys, *base, "--code")).partition("# the same")
    assert max(map(len, notes.splitlines())) <= 80
    assert "3 excluded left out (noise_0_of_a_treatment" in " ".join(notes.split())
    assert code == plain.partition("# the same")[2]


def test_completion_for_the_shell():
    typed = {"_STREAMSIEVE_COMPLETE": "complete_bash", "COMP_WORDS": "streamsieve sel", "COMP_CWORD": "1"}
    program = "import sys; sys.argv = ['streamsieve']; from streamsieve.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **typed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["select"]


@pytest.mark.parametrize("command", [["screen"], ["select", "--missing", "omit"]])
def test_missing_values_are_not_skipped_in_silence(command, tmp_path, capsys):
    path = tmp_path / "t.csv"
    data = frame()
    data.loc[[3, 7], "noise_1"] = np.nan
    data.to_csv(path, index=False)
    base = [*command, path, "--target", "label"]
    assert "note: missing values in noise_1: each test uses the rows that are complete" in said(capsys, *base)
    assert "missing values" not in said(capsys, *base, "--exclude", "noise_1")


def test_identifiers_stay_as_they_are_written(tmp_path, capsys):
    path, out = tmp_path / "t.csv", tmp_path / "reduced.csv"
    ids = [f"{j:05}" for j in range(N)], [str(12345678901234567 + j) for j in range(N)]
    frame().assign(zip=ids[0], user=ids[1]).to_csv(path, index=False)
    said(capsys, "select", path, "--target", "label", "--id", "zip,user", "--write-data", out)
    written = pd.read_csv(out, dtype=str)
    assert (written["zip"].tolist(), written["user"].tolist()) == ids


def test_long_identifiers_of_json_keep_their_digits(tmp_path, capsys):
    path, out = tmp_path / "t.jsonl", tmp_path / "reduced.parquet"
    ids = [12345678901234567 + j for j in range(N)]
    frame().assign(user=ids).to_json(path, orient="records", lines=True)
    said(capsys, "select", path, "--target", "label", "--id", "user", "--write-data", out)
    assert pd.read_parquet(out)["user"].tolist() == ids


def test_missing_values_of_the_reduced_table_are_empty(tmp_path, capsys):
    path, out = tmp_path / "t.csv", tmp_path / "reduced.csv"
    data = frame()
    data.loc[3, "dose"] = np.nan
    data.to_csv(path, index=False)
    said(capsys, "select", path, "--target", "label", "--missing", "omit", "--write-data", out)
    assert out.read_text().splitlines()[4].startswith(",")


@pytest.mark.parametrize(
    ("option", "way"),
    [
        ("--k", "No such option: --k. A parameter of the method is given by --param k=VALUE\n"),
        ("--missin", "No such option: --missin (Possible options: --missing)\n"),
    ],
)
def test_an_option_that_is_a_parameter_names_the_way(option, way, table, capsys):
    assert run(["select", table, "--target", "label", "--method", "mrmr", option, "3"]) == 2
    assert way in capsys.readouterr().err


def test_several_columns_are_explained_at_once(table, capsys):
    base = ["select", table, "--target", "label", "--quiet", "--explain", "dose,noise_0"]
    assert [line.split(":")[0] for line in said(capsys, *base).splitlines()] == ["dose", "noise_0"]


@pytest.mark.parametrize("command", [["select"], ["screen"], ["compare", "--out", "report"]])
def test_an_ambiguous_target_is_called_by_its_name(command, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    pd.concat([frame()] * 3).assign(visits=np.arange(3 * N) % 25).to_csv("t.csv", index=False)
    refused(
        [*command, "t.csv", "--target", "visits", "--exclude", "label"],
        "error: the target column 'visits' holds 25 different whole numbers over 360 rows",
        "--task classification or --task regression",
    )


def test_a_ranking_needs_no_guess_about_the_order():
    X = frame().drop(columns="label")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        screen = ss.Screen(k=4).fit(X, frame()["label"])
    assert screen.ranking()["feature"][0] == "dose"
    assert screen.ranked_[0] == list(X.columns).index("dose")
