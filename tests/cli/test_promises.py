"""--holdout and --looks on the command line."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import streamsieve as ss
from streamsieve.cli import run


@pytest.fixture
def genes(tmp_path):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 300)
    columns = {f"x{j}": rng.normal(size=300) + (j < 3) * label for j in range(60)}
    path = tmp_path / "genes.csv"
    pa.csv.write_csv(pa.table({**columns, "label": label}), path)
    return path, np.column_stack(list(columns.values())), label


def asked(capsys, *arguments):
    assert run([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("method", ["saola", "online_fdr"])
def test_the_kept_columns_are_tested_on_rows_held_out(genes, method, capsys):
    path, X, y = genes
    kept = asked(capsys, "select", path, "--target", "label", "--method", method, "--holdout", 0.3)["kept"]
    cls = {"saola": ss.SAOLA, "online_fdr": ss.OnlineFDR}[method]
    table = cls().fit(X, y, holdout=0.3).confirm()
    wanted = zip(table["feature"], table["adjusted"], table["confirmed"], strict=True)
    found = [(row["feature"], pytest.approx(row["adjusted"]), row["confirmed"] == "yes") for row in kept]
    assert sorted(wanted) == sorted(found, key=lambda each: each[0])
    assert any(row["confirmed"] == "yes" for row in kept)


def test_the_table_and_the_code_say_what_was_held_out(genes, tmp_path, capsys):
    path, *_ = genes
    out = tmp_path / "kept.csv"
    command = [
        "select",
        path,
        "--target",
        "label",
        "--method",
        "saola",
        "--holdout",
        0.3,
        "--code",
        "--out",
        out,
    ]
    assert run([*map(str, command)]) == 0
    said = capsys.readouterr().out
    assert "held-out p-value, adjusted" in said
    assert ".fit(X, y, saola__holdout=0.3)" in said
    assert out.read_text().splitlines()[0].endswith("adjusted,confirmed")
    program = said[said.index("# the same selection") :]
    exec(program, {})  # noqa: S102 - what the user would copy
    assert "'confirmed': [" in capsys.readouterr().out


def test_a_holdout_is_refused_where_there_is_none(genes, refused):
    path, *_ = genes
    common = ["select", path, "--target", "label"]
    refused(
        [*common, "--holdout", 0.3, "--method", "screen"], "--holdout", "stream columns", "screen does not"
    )
    refused([*common, "--holdout", 1.5, "--method", "saola"], "holdout must be", "1.5")


def test_a_screen_may_be_read_at_any_time(genes, capsys, refused):
    path, X, y = genes
    alpha = [
        "screen",
        path,
        "--target",
        "label",
        "--criterion",
        "f",
        "--alpha",
        0.05,
        "--correction",
        "bonferroni",
    ]
    kept = [row["feature"] for row in asked(capsys, *alpha, "--looks", "any")["kept"]]
    screen = ss.Screen("f", alpha=0.05, correction="bonferroni", looks="any").fit(X, y)
    assert kept == [f"x{j}" for j in screen.ranked_]
    refused([*alpha, "--looks", "often"], "looks", "often")
    refused(["screen", path, "--target", "label", "--looks", "any"], "looks='any'")
