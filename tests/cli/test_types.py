"""Types of columns on the command line: declared, shown, and refused where they have no meaning."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import streamsieve as ss
from streamsieve import registry
from streamsieve.base.effects import effect_name
from streamsieve.cli import run


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A code and a text of 60 names that matter, a quantity, and grades."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    code, town = rng.integers(0, 60, 2000), rng.integers(0, 60, 2000)
    y = (rng.integers(0, 2, 60)[code] + rng.integers(0, 2, 60)[town] + (rng.random(2000) < 0.1)) > 1
    columns = {
        "zip": code, "town": [f"t{value}" for value in town], "dose": rng.normal(size=2000) + y,
        "grade": rng.integers(1, 6, 2000), "label": np.where(y, "yes", "no"),
    }  # fmt: skip
    pd.DataFrame(columns).to_csv("shop.csv", index=False)
    return "shop.csv"


def said(capsys, *arguments, code=0):
    capsys.readouterr()
    assert run([str(argument) for argument in arguments]) == code
    return "".join(capsys.readouterr())


def test_names_are_declared_and_shown(shop, capsys):
    declared = ("--nominal", "zip,town", "--explain", "town", "--method", "fast_osfs")
    out = said(capsys, "select", shop, "--target", "label", *declared)
    lines = out.splitlines()
    assert "4 columns: 4 offered (codes of text: town)" in lines
    assert "types: 2 nominal (zip, town), 1 ordinal (grade), 1 numeric" in lines
    assert re.search(r"^feature +type +statistic +p-value$", out, re.MULTILINE)
    assert re.search(r"^town +nominal ", out, re.MULTILINE)
    assert re.search(r"^dose +numeric ", out, re.MULTILINE)
    assert (
        "statistic: G2 for binary, ordinal and nominal columns, absolute correlation for the others" in lines
    )
    assert re.search(r"^town \(nominal\): kept, relevant", out, re.MULTILINE)


def test_rows_take_the_same_options(shop, capsys):
    arguments = ("screen", shop, "--target", "label", "--k", "3", "--json")
    plain = json.loads(said(capsys, *arguments))
    assert plain["effect"] == "F"
    result = json.loads(said(capsys, *arguments, "--nominal", "zip,town", "--numeric", "grade"))
    assert result["effect"] == "strength"
    assert {row["feature"]: row["type"] for row in result["kept"][:3]} == {
        "zip": "nominal", "town": "nominal", "dose": "numeric",
    }  # fmt: skip


def test_a_screen_says_which_columns_may_be_codes(shop, capsys):
    arguments = ("screen", shop, "--target", "label", "--skip-text", "--json")
    note = "note: zip, grade hold few whole numbers and are ranked as quantities: --nominal zip,grade"
    assert any(line.startswith(note) for line in json.loads(said(capsys, *arguments))["notes"])
    declared = json.loads(said(capsys, *arguments, "--nominal", "zip", "--numeric", "grade"))
    assert not any(line.startswith("note: ") for line in declared["notes"])


def test_a_declared_quantity_is_one(shop, capsys):
    arguments = ("select", shop, "--target", "label", "--method", "saola", "--json")
    out = json.loads(said(capsys, *arguments, "--nominal", "zip", "--numeric", "grade", "--skip-text"))
    assert out["parameters"]["types"] == "{'zip': 'nominal', 'grade': 'numeric'}"
    assert "types: 1 nominal (zip), 2 numeric" in out["notes"]


@pytest.mark.parametrize(("options", "message"), [
    (["--method", "ofs", "--nominal", "zip"], "ofs knows no types of columns, and --nominal declares one"),
    (["--ordinal", "town"], "--ordinal town: this column holds text: declare it, --nominal town"),
    (["--nominal", "zip", "--exclude", "zip"], "--nominal zip: this column was left out (excluded)"),
    (["--nominal", "zap"], "has no column 'zap'; did you mean 'zip'?"),
    (["--nominal", "zip", "--ordinal", "zip"], "--ordinal zip: this column is --nominal already"),
    (["--nominal", "zip", "--method", "saola", "--param", "types=numeric"], "for all columns, and some are"),
])  # fmt: skip
def test_what_has_no_meaning_is_refused(shop, capsys, options, message):
    assert message in said(capsys, "select", shop, "--target", "label", *options, code=2)


def test_the_code_makes_the_same_selection(shop, capsys):
    arguments = ("select", shop, "--target", "label", "--nominal", "zip,town")
    out = said(capsys, *arguments, "--code")
    program = out[out.index("# the same selection in Python") :]
    kept = [row["feature"] for row in json.loads(said(capsys, *arguments, "--json"))["kept"]]
    exec(program, {})  # noqa: S102 - what the command line printed
    assert sorted(re.findall(r"'(\w+)'", capsys.readouterr().out)) == sorted(kept)


def test_a_source_makes_codes_of_text(shop):
    source = ss.open(shop, target="label", nominal="town")
    block = next(iter(source.columns(4)))
    assert block.names == ["zip", "town", "dose", "grade"]
    assert source.coded == ["town"]
    towns = pd.read_csv(shop)["town"]
    assert np.array_equal(block.X[:, 1], np.unique(towns, return_inverse=True)[1])


@pytest.mark.parametrize(("method", "parameters", "word"), [
    ("sofs", {}, "confidence"), ("bootstrap", {}, "frequency"), ("barda", {}, "saliency"),
    ("mrmr", {}, "mutual information"), ("mrmr", {"scheme": "fcq"}, "F"),
    ("hitonpc", {}, "absolute correlation"),
    ("hitonpc", {"test": "g2"}, "G2"), ("iamb", {}, "absolute correlation"),
    ("inter_iamb", {"test": "g2"}, "G2"),
    ("screen", {"criterion": "gini"}, "-Gini impurity"), ("screen", {}, "F"),
    ("saola", {"measure": "basis"}, "multiple correlation"), ("mission", {}, "weight"),
    ("velocity_screen", {}, "mutual information"),
])  # fmt: skip
def test_effects_have_the_name_of_what_they_are(method, parameters, word):
    assert effect_name(registry.selector(method)(**parameters)) == word


@pytest.mark.parametrize(("more", "message"), [
    (["--selectors", "top_k,grafting"], "selector grafting knows no types of columns: leave it out"),
    (["--protocol", "prequential"], "--nominal goes with --protocol screening or streaming"),
    (["--ordinal", "nothing"], "--ordinal nothing: there is no such feature"),
])  # fmt: skip
def test_a_comparison_refuses_what_would_take_codes_for_numbers(shop, capsys, more, message):
    named = ["compare", shop, "--target", "label", "--out", "report", "--nominal", "zip"]
    assert message in " ".join(said(capsys, *named, *more, code=2).split())


@pytest.mark.parametrize(
    ("data", "word"), [("levels", "G2"), ("numbers", "absolute correlation"), ("both", "strength")]
)
def test_effects_of_hiton(data, word):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    columns = {"levels": [y + rng.integers(0, 3, 300)], "numbers": [y + rng.normal(size=300)]}
    columns["both"] = columns["levels"] + columns["numbers"]
    sieve = ss.HITONPC(test="auto").fit(np.column_stack(columns[data]), y)
    assert effect_name(sieve, [*sieve.column_types_.values()]) == word


@pytest.mark.parametrize(("method", "regression", "types", "word"), [
    ("fast_osfs", False, ["numeric"], "absolute correlation"),
    ("fast_osfs", False, ["ordinal", "nominal"], "G2"),
    ("fast_osfs", False, ["ordinal", "numeric"], "statistic"), ("fast_osfs", True, ["nominal"], "eta"),
    ("fast_osfs", True, ["ordinal", "numeric"], "absolute correlation"),
    ("saola", False, ["binary"], "correlation"),
    ("saola", False, ["ordinal", "numeric"], "strength"), ("screen", True, ["nominal"], "strength"),
    ("top_k", True, ["ordinal"], "correlation"),
])  # fmt: skip
def test_effects_of_types(method, regression, types, word):
    selector = registry.selector(method)()
    cls = type(selector)
    selector.__class__ = type(cls.__name__, (cls,), {"task_": "regression" if regression else "binary"})
    assert effect_name(selector, types) == word


def test_a_comparison_takes_declared_types(shop, capsys):
    named = ("--selectors", "none,top_k,fast_osfs", "--learners", "logistic", "--runs", "1", "--folds", "3")
    types = ("--nominal", "zip,town", "--sizes", "3", "--json", "--out", "report")
    result = json.loads(said(capsys, "compare", shop, "--target", "label", *named, *types))
    assert result["failures"] == []
    assert {"zip", "town", "dose"} == {*result["chosen"]["top_k"]} == {*result["chosen"]["fast_osfs"]}
    assert "types: 2 nominal (zip, town), 1 ordinal (grade), 1 numeric" in (
        Path("report/report.html").read_text("utf-8")
    )


def test_a_comparison_with_nominal_columns_leaves_out_methods_without_types(shop, capsys):
    out = said(
        capsys, "compare", shop, "--target", "label", "--nominal", "zip,town", "--learners", "nb",
        "--protocol", "streaming", "--runs", "1", "--folds", "2", "--out", "report",
    )  # fmt: skip
    assert "selectors none, screen, top_k, saola, fast_osfs (by default)" in out
    assert "failed" not in out
