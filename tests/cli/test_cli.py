"""The command line: results, files, and one-line errors."""

import csv
import json
import re
from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamsieve as ss
from streamsieve.cli import demo, run


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 300)
    columns = {f"noise_{j}": rng.normal(size=300) for j in range(20)}
    columns["dose"] = label + rng.normal(size=300)
    columns["copy"] = columns["dose"] + 0.01 * rng.normal(size=300)
    columns["label"] = np.array(["healthy", "ill"])[label]
    path = tmp_path / "patients.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_select_writes_kept_features_and_the_ledger(table, tmp_path, capsys):
    out, ledger = tmp_path / "kept.csv", tmp_path / "ledger.csv"
    code = run(["select", str(table), "--target", "label", "--method", "saola", "--param", "alpha=0.001",
                "--out", str(out), "--ledger", str(ledger)])  # fmt: skip
    assert code == 0
    kept = [row["feature"] for row in rows(out)]
    assert set(kept) <= {"dose", "copy"}
    assert len(kept) == 1
    assert len(rows(ledger)) >= 22
    assert "22 features" in capsys.readouterr().out


def test_select_names_its_default_method(table, capsys):
    assert run(["select", str(table), "--target", "label"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("method top_k: it keeps up to 11 columns")
    assert first.endswith("also try fast_osfs")
    assert run(["select", str(table), "--target", "label", "--goal", "fdr"]) == 0
    assert capsys.readouterr().out.startswith("method online_fdr: ")


def test_select_as_json_is_json_and_nothing_else(table, capsys):
    assert run(["select", str(table), "--target", "label", "--json", "--explain", "noise_3"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["method"] == "top_k"
    assert result["features"] == 22
    assert result["explain"].startswith("noise_3: rejected, irrelevant")


def test_quiet_prints_nothing(table, capsys):
    assert run(["select", str(table), "--target", "label", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_names_only_for_a_notebook(table, tmp_path):
    out = tmp_path / "kept.txt"
    run(["screen", str(table), "--target", "label", "--k", "2", "--out", str(out), "-q"])
    assert set(out.read_text().split()) == {"dose", "copy"}


def test_screen_equals_the_library(table, tmp_path, capsys):
    out = tmp_path / "best.csv"
    arguments = ["--target", "label", "--criterion", "fisher", "--k", "5", "--batch", "64", "--out", str(out)]
    assert run(["screen", str(table), *arguments]) == 0
    screen = ss.Screen("fisher", k=5)
    for batch in ss.open(table, target="label").rows(64):
        screen.learn(batch)
    names = [str(screen.feature_names_in_[j]) for j in screen.ranked_]
    assert [row["feature"] for row in rows(out)] == names
    lines = capsys.readouterr().out.splitlines()
    heading = next(i for i, line in enumerate(lines) if line.startswith("feature"))
    assert names[:2] == [row.split()[0] for row in lines[heading + 1 : heading + 3]]


def test_saved_selectors_go_on(table, tmp_path):
    path = tmp_path / "state.sieve"
    assert run(["select", str(table), "--target", "label", "--save", str(path), "-q"]) == 0
    sieve = ss.load(path)
    before = len(sieve.selected_)
    sieve.offer(np.zeros(300), names=["late"])
    assert len(sieve.selected_) == before
    assert sieve.ledger_.why("late").reason == "constant"


def test_nothing_kept_is_exit_code_1(tmp_path, capsys):
    rng = np.random.default_rng(1)
    path = tmp_path / "noise.csv"
    np.savetxt(path, np.c_[rng.normal(size=(50, 3)), rng.integers(0, 2, 50)], delimiter=",",
               header="a,b,c,y", comments="")  # fmt: skip
    assert run(["select", str(path), "--target", "y", "--param", "alpha=1e-9"]) == 1
    assert "nothing was kept" in capsys.readouterr().out


def test_counts_are_those_of_the_end(table, capsys):
    assert run(["select", str(table), "--target", "label", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["counts"]["kept"] == len(result["kept"]) <= result["found"]


def test_a_rate_is_said_to_be_about_the_columns_found(table, capsys):
    arguments = ["select", str(table), "--target", "label", "--param", "alpha=0.05", "--param"]
    assert run([*arguments, "fdr=lond"]) == 0
    assert "found at a false discovery rate of 0.05 (lond), " in capsys.readouterr().out
    assert run([*arguments, "fdr=alpha_spending"]) == 0
    out = capsys.readouterr().out
    assert "found at a family-wise error rate of 0.05 (alpha_spending), " in out
    assert "of them kept; the rate is about those found" in out
    assert run(arguments[:-1]) == 0
    assert "found at a" not in capsys.readouterr().out


def test_methods_lists_every_selector(capsys):
    assert run(["methods", "--json"]) == 0
    listed = {row["method"] for row in json.loads(capsys.readouterr().out)}
    assert listed == set(ss.registry.selectors())
    assert run(["methods"]) == 0
    assert "saola" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["select", "nowhere.parquet", "--target", "y"], "nowhere.parquet"),
        (["select", "{table}", "--target", "lable"], "did you mean 'label'"),
        (["select", "{table}"], "--target"),
        (["select", "{table}", "--target", "label", "--method", "soala"], "did you mean 'saola'"),
        (["select", "{table}", "--target", "label", "--param", "alhpa=1"], "did you mean 'alpha'"),
        (["select", "{table}", "--target", "label", "--param", "alpha"], "name=value"),
        (["select", "{table}", "--target", "label", "--param", "alpha=2"], "alpha must be a number"),
        (["select", "{table}", "--target", "dose", "--categories", "refuse"], "label"),
        (["select", "{table}", "--target", "label", "--explain", "doose", "-q"], "did you mean 'dose'"),
        (["select", "{table}", "--target", "label", "--out", "no/such/folder/kept.csv"], "folder"),
        (["select", "{table}", "--target", "label", "--out", "."], "--out writes"),
        (["select", "{table}", "--target", "label", "--save", "."], "is a folder"),
        (["select", "{empty}", "--target", "y"], "empty"),
        (
            ["select", "{table}", "--target", "label", "--out", "kept.png"],
            "--out writes .csv or .txt or .json",
        ),
        (["select", "{table}", "--target", "label", "--task", "regression"], "numeric target is needed"),
        (["demo", "--out", "{table}"], "exists"),
        (["screen", "{table}", "--target", "label", "--criterion", "fischer"], "did you mean 'fisher'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(table, tmp_path, refused, arguments, message):
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    refused([argument.format(table=table, empty=empty) for argument in arguments], message)


def test_k_beyond_the_width_keeps_all_with_a_note(table, capsys):
    assert run(["screen", str(table), "--target", "label", "--k", "100"]) == 0
    out = capsys.readouterr().out
    assert "note: k=100" in out
    assert "22 features offered, 22 kept" in out


def test_text_columns_can_be_skipped(table, tmp_path):
    mixed = pq.read_table(table).append_column("city", pa.array(["x"] * 300))
    path = tmp_path / "mixed.parquet"
    pq.write_table(mixed, path)
    assert run(["select", str(path), "--target", "label", "-q"]) == 0
    assert run(["select", str(path), "--target", "label", "-q", "--categories", "refuse"]) == 2
    assert run(["select", str(path), "--target", "label", "-q", "--skip-text"]) == 0


def test_without_a_command_there_is_help(capsys):
    assert run(["-h"]) == 0
    wanted = capsys.readouterr().out
    assert run([]) == 0
    said = capsys.readouterr()
    assert said.out == wanted
    assert "\\n" not in said.out + said.err


def test_usage_errors_are_exit_code_2(capsys):
    assert run(["select"]) == 2
    assert run(["no-such-command"]) == 2
    assert run(["--version"]) == 0
    assert "streamsieve" in capsys.readouterr().out


def test_interrupt_leaves_the_old_file(table, tmp_path, monkeypatch, capsys):
    out = tmp_path / "kept.csv"
    out.write_text("feature\nold\n")

    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(ss.TopK, "offer", interrupted)
    assert run(["select", str(table), "--target", "label", "--out", str(out)]) == 130
    assert out.read_text() == "feature\nold\n"
    assert "interrupted" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_the_demo_writes_a_picture_and_a_ledger(tmp_path, capsys):
    assert run(["demo", "--out", str(tmp_path / "demo"), "--quiet"]) == 0
    assert (tmp_path / "demo/drift.png").read_bytes().startswith(b"\x89PNG")
    ledger = rows(tmp_path / "demo/ledger.csv")
    assert sum(row["event"] != "evicted" for row in ledger) == 1000
    out = capsys.readouterr().out
    assert "data: 569 patients, 30 measurements of cell nuclei among 970 columns of noise" in out
    assert "why not  mean_radius" in out
    assert "next: streamsieve select" in out


def test_the_demo_says_how_it_was_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(tmp_path / ".venv/bin/streamsieve"), "demo"])
    monkeypatch.setenv("PATH", "")
    assert demo._command() == ".venv/bin/streamsieve"
    monkeypatch.setattr("sys.argv", ["pytest"])
    assert demo._command() == "streamsieve"


def test_times_of_the_demo_leave_out_compiling(monkeypatch, capsys):
    monkeypatch.setattr(demo, "compile_clock", lambda _: nullcontext(lambda: 1000.0))
    demo._columns(quiet=True)
    assert re.search(r"offered one by one in -9\d\d\.", capsys.readouterr().out)
