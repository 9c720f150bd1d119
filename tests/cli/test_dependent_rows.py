"""--groups and --time on the command line."""

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy.signal import lfilter

import streamsieve as ss
from streamsieve.cli import run

N = 400


def written(tmp_path, suffix, table):
    path = tmp_path / f"{list(table)[-1]}{suffix}"
    (pq.write_table if suffix == ".parquet" else pa.csv.write_csv)(pa.table(table), path)
    return path


@pytest.fixture(params=[".parquet", ".csv"])
def visits(request, tmp_path):
    """Forty patients with ten visits each; every column and the label are the patient's."""
    rng = np.random.default_rng(0)
    patient = rng.permutation(np.repeat(np.arange(40), 10))
    label = rng.integers(0, 2, 40)[patient]
    columns = {f"x{j}": rng.normal(size=40)[patient] + 0.1 * rng.normal(size=N) for j in range(30)}
    columns["x3"] = columns["x3"] + 2 * label
    names = np.array([f"patient {i}" for i in range(40)])[patient]
    return written(tmp_path, request.param, {"patient": names, **columns, "label": label})


@pytest.fixture(params=[".parquet", ".csv"])
def series(request, tmp_path):
    rng = np.random.default_rng(1)
    X = lfilter([1], [1, -0.9], rng.normal(size=(N + 100, 30)), axis=0)[100:]
    y = lfilter([1], [1, -0.9], rng.normal(size=N + 100))[100:]
    X[:, 5] += y
    day = np.datetime64("2020-01-01") + np.arange(N)
    return written(tmp_path, request.param, {"day": day, **{f"x{j}": X[:, j] for j in range(30)}, "y": y})


def selected(capsys, *arguments):
    assert run([*map(str, arguments), "--json", "--method", "online_fdr"]) == 0
    return [row["feature"] for row in json.loads(capsys.readouterr().out)["kept"]]


def test_groups_are_averaged(visits, capsys):
    kept = selected(capsys, "select", visits, "--target", "label", "--groups", "patient")
    assert kept == ["x3"]
    naive = selected(capsys, "select", visits, "--target", "label", "--skip-text")
    assert len(naive) > 5


def test_rows_sorted_by_time(series, tmp_path, capsys):
    saved = tmp_path / "s.sieve"
    kept = selected(capsys, "select", series, "--target", "y", "--time", "day", "--save", saved)
    assert "x5" in kept
    assert len(kept) <= 2
    assert ss.load(saved)._identity_.lag == 52
    naive = selected(capsys, "select", series, "--target", "y", "--skip-text")
    assert len(naive) > 5


def test_an_autocorrelated_target_gives_a_note(tmp_path, capsys):
    sales = lfilter([1], [1, -0.9], np.random.default_rng(1).normal(size=N))
    path = written(tmp_path, ".csv", {"ads": sales + 1.5, "sales": sales})
    assert run(["select", str(path), "--target", "sales"]) == 0
    out = capsys.readouterr().out
    assert "note: sales is autocorrelated" in out
    assert "--time COLUMN" in out


def test_an_identifier_that_repeats_gives_a_hint(tmp_path, capsys):
    rng = np.random.default_rng(2)
    table = {"user_id": rng.integers(0, 20, N), "x": rng.normal(size=N), "label": rng.integers(0, 2, N)}
    path = written(tmp_path, ".parquet", table)
    run(["select", str(path), "--target", "label"])
    assert "--groups user_id" in capsys.readouterr().out
    table["user_id"] = np.arange(N)
    path = written(tmp_path, ".parquet", table)
    run(["select", str(path), "--target", "label"])
    assert "--groups" not in capsys.readouterr().out


def test_times_may_be_dates_in_text(tmp_path, capsys, refused):
    days = pd.Timestamp("2024-01-20") + pd.to_timedelta(np.arange(40), unit="D")
    data = pd.DataFrame({"x": np.sin(np.arange(40)), "y": np.arange(40) % 2})
    path = tmp_path / "t.csv"
    data.assign(day=days.strftime("%d.%m.%Y")).to_csv(path, index=False)
    assert run(["select", str(path), "--target", "y", "--time", "day"]) in (0, 1)
    wrong = sorted(days.strftime("%d.%m.%Y"))  # in the order of their letters
    data.assign(day=wrong).to_csv(path, index=False)
    refused(["select", str(path), "--target", "y", "--time", "day"], "the rows are not sorted by 'day'")


def test_refusals(series, visits, tmp_path, refused):
    refused(["select", series, "--target", "y", "--time", "day", "--groups", "x1"], "exclude each other")
    refused(["select", visits, "--target", "label", "--groups", "patients"], "did you mean 'patient'?")
    refused(["select", visits, "--target", "label", "--time", "patient"], "not sorted by 'patient'")
    refused(
        ["select", visits, "--target", "label", "--groups", "patient", "--method", "screen"],
        "methods that stream columns",
    )
    refused(
        ["select", visits, "--target", "label", "--groups", "patient", "--method", "grafting"],
        "does not take groups of rows",
    )
    svm = tmp_path / "a.svm"
    svm.write_text("1 1:2\n0 1:3\n")
    refused(["select", svm, "--groups", "patient"], "svmlight text has no names")


def test_the_printed_code_knows_how_rows_depend_on_each_other(visits, series, capsys):
    for path, target, by in ((visits, "label", "--groups=patient"), (series, "y", "--time=day")):
        arguments = ("select", path, "--target", target, *by.split("="))
        kept = selected(capsys, *arguments)
        assert run([*map(str, arguments), "--method", "online_fdr", "--code"]) == 0
        out = capsys.readouterr().out
        code = compile(out[out.index("# the same selection in Python") :], "code", "exec")
        exec(code, {})  # noqa: S102 - our own text
        assert re.findall(r"'(.*?)'", capsys.readouterr().out) == kept
