"""``streamsieve plot``: valid pictures, the numbers behind them, and one-line errors."""

import csv
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import streamsieve as ss
from streamsieve.cli import run
from streamsieve.evaluation import track


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 2_000)
    columns = {f"noise_{j}": rng.normal(size=2_000) for j in range(20)}
    columns["early"] = np.where(np.arange(2_000) < 1_000, label, 0) + rng.normal(size=2_000)
    columns["late"] = np.where(np.arange(2_000) < 1_000, 0, label) + rng.normal(size=2_000)
    columns["label"] = np.array(["healthy", "ill"])[label]
    path = tmp_path / "patients.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def check_picture(path):
    assert path.stat().st_size > 2_000
    if path.suffix == ".png":
        with Image.open(path) as image:
            image.verify()
    elif path.suffix == ".svg":
        assert ET.fromstring(path.read_bytes()).tag.endswith("svg")  # noqa: S314 - our own file
    else:
        assert path.read_bytes().startswith(b"%PDF-")


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_scores_of_a_file(table, tmp_path, capsys, suffix):
    out, numbers = tmp_path / f"scores{suffix}", tmp_path / "scores.csv"
    code = run(["plot", "scores", str(table), "--target", "label", "--criterion", "fisher", "--k", "3",
                "--half-life", "300", "--every", "200", "--out", str(out),
                "--table", str(numbers)])  # fmt: skip
    assert code == 0
    check_picture(out)
    said = capsys.readouterr().out
    assert f"wrote {out}" in said
    assert "10 looks at 2,000 rows" in said
    with numbers.open(newline="") as file:
        lines = list(csv.DictReader(file))
    expected = track(ss.open(table, target="label"), ss.Screen("fisher", k=3, half_life=300), every=200)
    last = [line["feature"] for line in lines if line["rows"] == "2000" and line["place"] == "1"]
    assert last == ["late"]
    assert len({line["feature"] for line in lines}) == len(expected["screen"].columns)
    if suffix == ".svg":
        assert all(name in out.read_text() for name in ("early", "late"))
        assert "patients.parquet: scores by fisher, half-life 300 rows" in out.read_text()
        assert "Fisher score" in out.read_text()


def test_scores_with_a_window(table, tmp_path):
    out, numbers = tmp_path / "scores.png", tmp_path / "scores.csv"
    code = run(["plot", "scores", str(table), "--target", "label", "--k", "2", "--window", "400",
                "--every", "500", "--out", str(out), "--table", str(numbers), "-q"])  # fmt: skip
    assert code == 0
    with numbers.open(newline="") as file:
        best = [line["feature"] for line in csv.DictReader(file) if line["place"] == "1"]
    assert best == ["early", "early", "late", "late"]


def test_detection_of_the_drifting_stream(tmp_path, capsys):
    out = tmp_path / "detection.png"
    code = run(["plot", "detection", "--rows", "6000", "--features", "60", "--relevant", "6", "--k", "12",
                "--shift-every", "500", "--half-life", "500", "--half-life", "2000", "--every", "500",
                "--out", str(out)])  # fmt: skip
    assert code == 0
    check_picture(out)
    said = capsys.readouterr().out
    for name in ("half-life 500 rows", "half-life 2,000 rows", "never forgets"):
        assert name in said


@pytest.mark.full
def test_the_real_command(tmp_path):
    command = [sys.executable, "-c", "from streamsieve.cli import main; main()", "plot", "detection",
               "--rows", "500", "--features", "20", "--relevant", "2", "--k", "4", "--every", "100",
               "--out", "a.png"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    check_picture(tmp_path / "a.png")
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def test_quiet_prints_nothing(tmp_path, capsys):
    arguments = ["--rows", "300", "--features", "20", "--relevant", "2", "--k", "4", "-q"]
    assert run(["plot", "detection", *arguments, "--out", str(tmp_path / "a.svg")]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scores", "{table}", "--target", "label", "--out", "{folder}/a.gif"], "ends in .png, .svg, .pdf"),
        (["scores", "{table}", "--target", "label", "--out", "{folder}/no/a.png"], "does not exist"),
        (["scores", "{table}", "--out", "{folder}/a.png"], "--target"),
        (["scores", "{table}", "--target", "lable", "--out", "{folder}/a.png"], "did you mean 'label'"),
        (["scores", "nowhere.parquet", "--target", "y", "--out", "{folder}/a.png"], "nowhere.parquet"),
        (["scores", "{table}", "--target", "label", "--criterion", "fischer", "--out", "{folder}/a.png"],
         "did you mean 'fisher'"),
        (["scores", "{table}", "--target", "label", "--out", "{folder}/a.png", "--table", "{folder}/a.txt"],
         "--table writes .csv"),
        (["scores", "{table}", "--target", "label", "--out", "{folder}/a.png",
          "--table", "{folder}/no/a.csv"], "does not exist"),
        (["detection", "--half-life", "0.5", "--out", "{folder}/a.png"], "half_life must be"),
        (["detection", "--features", "50", "--relevant", "5", "--out", "{folder}/a.png"],
         "choose a smaller --k"),
        (["detection", "--features", "50", "--relevant", "60", "--k", "9", "--out", "{folder}/a.png"],
         "n_relevant must be"),
        (["detection", "--shift-every", "0", "--out", "{folder}/a.png"], "shift_every must be"),
    ],
)  # fmt: skip
def test_bad_requests_are_one_line_and_write_nothing(table, tmp_path, refused, arguments, message):
    refused(["plot", *(each.format(table=table, folder=tmp_path) for each in arguments)], message)
    assert [path.name for path in tmp_path.iterdir()] == ["patients.parquet"]


def test_usage(capsys):
    assert run(["plot", "scores"]) == 2
    assert run(["plot", "--help"]) == 0
    assert "detection" in capsys.readouterr().out
