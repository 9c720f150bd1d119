"""What a selection says and writes: effects, counts, warnings, reduced tables, code."""

import io
import json
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import streamsieve as ss
from streamsieve import registry
from streamsieve.cli import results, run
from tests.cli.messy import CITIES, N, frame, missing, text, with_column
from tests.helpers import tier


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "patients.csv").write_text(text(with_column("city", CITIES)))
    return "patients.csv"


def said(capsys, *arguments, code=0):
    capsys.readouterr()
    assert run([str(argument) for argument in arguments]) == code
    return capsys.readouterr().out


def test_the_top_of_the_output_says_what_was_taken(table, capsys):
    lines = said(capsys, "select", table, "--target", "label", "--id", "noise_1").splitlines()
    assert lines[0].startswith("method top_k: ")
    assert lines[1] == "5 columns: 4 offered (categories of text: city as 4), 1 id left out (noise_1)"
    assert lines[2] == "target: label, 2 classes (ill 60, well 60)"
    assert lines[3].startswith("types: 4 binary (city=")
    assert re.match(r"feature +type +correlation +p-value", lines[5])
    counts = r"7 columns in [\d.]+ s.*: 7 features offered, 1 kept, 6 rejected, 0 evicted"
    assert sum(re.fullmatch(counts, line) is not None for line in lines) == 1


def test_a_target_is_said_to_be_what_the_method_took_it_for(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 500, 400)
    path = tmp_path / "t.csv"
    pd.DataFrame({"dose": y + rng.normal(size=400), "noise": rng.normal(size=400), "y": y}).to_csv(
        path, index=False
    )
    out = said(capsys, "screen", path, "--target", "y", "--k", "1")
    assert "taken for a numeric target" in out
    assert f"target: y, numeric ({y.min()} to {y.max()})" in out
    out = said(capsys, "screen", path, "--target", "y", "--k", "1", "--task", "classification")
    assert f"target: y, {len(np.unique(y))} classes ({y.min()} " in out


def test_methods_with_one_kind_of_target_take_a_task(tmp_path, capsys, refused):
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    pd.DataFrame({"dose": rng.normal(size=90), "y": np.arange(90) % 30}).to_csv(path, index=False)
    command = ("select", path, "--target", "y", "--method", "mission")
    assert "mission takes each for a class" in said(capsys, *command).lower()
    assert "note" not in said(capsys, *command, "--task", "classification")
    assert "--task regression" in refused(
        [*command, "--task", "regression"], "mission takes class labels only"
    )
    refused([*command, "--task", "classes"], "--task must be one of 'auto', 'classification', 'regression'")
    refused(
        [*command[:-1], "r_relief_f", "--task", "classification"], "r_relief_f takes numeric targets only"
    )


def test_rows_are_counted_as_rows(table, capsys):
    out = said(capsys, "screen", table, "--target", "label", "--k", "2")
    assert re.search(r"120 rows in [\d.]+ s\b.*: 8 features offered, 2 kept, 6 rejected", out)
    assert "target: label, 2 classes (ill 60, well 60)" in out


@pytest.mark.parametrize("method", tier.spread(sorted(registry.selectors()), 6))
def test_select_runs_every_method(method, tmp_path, capsys):
    data = frame()
    if method == "r_relief_f":
        data["label"] = np.arange(N) * 0.37 + data["dose"]
    for name in data.columns[:-1]:
        data[name] = data[name].abs()
    data.to_csv(tmp_path / "t.csv", index=False)
    options = ["--param", "k=2"] if "k" in registry.selector(method)().get_params() else []
    arguments = ["select", tmp_path / "t.csv", "--target", "label", "--method", method, *options, "--json"]
    assert run([str(argument) for argument in arguments]) in (0, 1)
    result = json.loads(capsys.readouterr().out)
    assert result["method"] == method
    assert result["counts"]["offered"] == 4


def test_offline_methods_explain_and_save(table, tmp_path, capsys):
    options = [
        "--param",
        "k=2",
        "--explain",
        "dose",
        "--save",
        "m.sieve",
        "--features",
        "dose,noise_0,noise_1",
    ]
    out = said(capsys, "select", table, "--target", "label", "--method", "mrmr", *options)
    assert "dose: kept" in out
    assert "dose" in ss.load("m.sieve").get_feature_names_out()


def test_indicators_of_a_column_are_one_group(tmp_path, capsys):
    label = frame()["label"] == "ill"
    city = np.where(
        label, np.where(np.arange(N) % 3, "Rome", "Oslo"), np.where(np.arange(N) % 3, "Lima", "Paris")
    )
    with_column("city", city).to_csv(tmp_path / "t.csv", index=False)
    said(capsys, "select", tmp_path / "t.csv", "--target", "label", "--method", "group_saola", "--save",
         tmp_path / "g.sieve")  # fmt: skip
    sieve = ss.load(tmp_path / "g.sieve")
    assert sieve.n_features_in_ == 8
    twin = ss.GroupSAOLA().begin(frame()["label"].to_numpy())
    source = ss.open(tmp_path / "t.csv", target="label", categories="auto")
    X = next(source.columns()).X
    for j in range(4):
        twin.offer_group(X[:, [j]], names=[source.names[j]])
    twin.offer_group(X[:, 4:], names=source.names[4:])
    assert sieve.get_feature_names_out().tolist() == twin.get_feature_names_out().tolist()


def test_a_text_column_is_explained_by_its_indicators(table, capsys):
    out = said(capsys, "select", table, "--target", "label", "--explain", "city", "--explain", "dose")
    assert re.findall(r"^(city=\w+|dose)\b.*?: (?:kept|rejected|evicted)", out, re.MULTILINE) == [
        *ss.open(table, target="label", categories="auto").encoded["city"], "dose"
    ]  # fmt: skip


def test_a_table_is_no_saved_selector(table, refused):
    refused(["show", table], "patients.csv is a table", "streamsieve select patients.csv")


def test_options_are_checked_before_any_work(table, refused, monkeypatch):
    monkeypatch.setattr(ss.TopK, "offer", lambda *_: pytest.fail("it worked first"))
    base = ["select", table, "--target", "label"]
    refused([*base, "--explain", "dosis"], "there is no feature 'dosis'; did you mean 'dose'?")
    refused([*base, "--id", "noise_1", "--explain", "noise_1"], "was left out (excluded)")
    refused([*base, "--missing", "drop"], "--missing must be one of")
    refused([*base, "--categories", "no"], "--categories must be one of")
    refused([*base, "--method", "saola", "--goal", "fdr"], "give one of them")
    refused([*base, "--write-data", "a.xlsx"], "--write-data writes .parquet or .csv or .arrow")
    refused([*base, "--sheet", "a"], "--sheet is about workbooks")
    refused([*base, "--where", "dose>many"], "'many' cannot be compared with 'dose'")
    refused([*base, "--method", "grafting", "--missing", "omit"], "grafting takes no missing values")


def test_errors_about_parameters_list_them(table, refused):
    refused(["select", table, "--target", "label", "--method", "saola", "--param", "alpa=1"],
            "did you mean 'alpha'", "alpha=0.01", "streamsieve methods saola")  # fmt: skip


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".json", ".parquet"])
def test_kept_features_in_every_format(table, suffix, capsys):
    for _ in range(1 if suffix == ".txt" else 2):  # the second time over a file of our own
        said(capsys, "select", table, "--target", "label", "--out", f"kept{suffix}")
    read = {
        ".txt": lambda path: Path(path).read_text().split(),
        ".csv": lambda path: pd.read_csv(path)["feature"].tolist(),
        ".json": lambda path: [row["feature"] for row in json.loads(Path(path).read_text())["kept"]],
        ".parquet": lambda path: pd.read_parquet(path)["feature"].tolist(),
    }
    assert read[suffix](f"kept{suffix}") == ["dose"]


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
def test_the_reduced_table(table, suffix, capsys):
    said(
        capsys, "select", table, "--target", "label", "--write-data", f"small{suffix}", "--where", "noise_0>0"
    )
    small = ss.open(f"small{suffix}", target="label")
    expected = frame()[frame()["noise_0"] > 0]
    assert small.names == ["dose"]
    np.testing.assert_allclose(next(small.columns()).X.ravel(), expected["dose"])
    assert small.y.tolist() == expected["label"].tolist()


#: Days that are informative about the label, and a method that keeps what is.
DAYS = pd.Timestamp("2024-01-20") + pd.to_timedelta(
    30 * (frame()["label"] == "ill") + np.arange(N) % 50, unit="D"
)
FREE = ("--method", "screen", "--param", "k=2")
CODE = {
    "plain": (lambda: text(), ()),
    "categories": (lambda: text(with_column("city", CITIES)), ()),
    "missing text": (lambda: text(with_column("city", np.where(np.arange(N) % 5 == 0, None, CITIES))), ()),
    "semicolons": (lambda: text(sep=";", decimal=","), ()),
    "imputed": (lambda: text(missing()), ("--missing", "impute")),
    "rows": (lambda: text(), ("--where", "noise_0>-0.5")),
    "dates": (lambda: text(with_column("seen", pd.Series(DAYS).dt.strftime("%d.%m.%Y"))), ("--dates", *FREE)),
    "dates with times": (
        lambda: text(with_column("seen", pd.Series(DAYS).dt.strftime("%m/%d/%Y %H:%M"))),
        ("--dates", *FREE),
    ),
    "dates in several forms": (
        lambda: text(
            with_column("seen", [f"{d:%d/%m/%Y}" if i % 2 else f"{d:%d.%m.%Y}" for i, d in enumerate(DAYS)])
        ),
        ("--dates", *FREE),
    ),
    "a screen": (lambda: text(), ("--method", "screen", "--param", "k=2")),
    "offline": (lambda: text(), ("--method", "mrmr", "--param", "k=2")),
}


def into(kind):
    """Return what writes a table into a database of a kind."""

    def write(path):
        data = with_column("city", CITIES)
        if kind == "sqlite":
            with closing(sqlite3.connect(path)) as database, database:
                data.to_sql("t", database, index=False)
        else:
            with duckdb.connect(str(path)) as database:
                database.sql("create table t as from data")

    return write


SQL = ("--sql", "select * from t where city <> 'it''s'")
#: Other files than CSV: what writes them, and options.
CODE_FILES = {
    "t.sqlite": (into("sqlite"), SQL),
    "t.duckdb": (into("duckdb"), SQL),
    "t.jsonl": (
        lambda path: with_column("user", [{"city": {"name": each}} for each in CITIES]).to_json(
            path, orient="records", lines=True
        ),
        (),
    ),
}


@pytest.mark.parametrize("name", CODE_FILES)
def test_the_printed_code_reads_databases_and_objects(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write, options = CODE_FILES[name]
    write(tmp_path / name)
    check_code(capsys, name, *options)


@pytest.mark.parametrize("what", CODE)
def test_the_printed_code_makes_the_same_selection(what, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    content, options = CODE[what]
    (tmp_path / "t.csv").write_text(content())
    check_code(capsys, "t.csv", *options)


def check_code(capsys, data, *options):
    """Run the code that a selection prints, and compare what both keep."""
    out = said(capsys, "select", data, "--target", "label", *options, "--code", "--out", "kept.txt")
    code = out[out.index("# the same selection in Python") :]
    exec(compile(code, "code", "exec"), {})  # noqa: S102 - our own text
    printed = re.findall(r"'(.*?)'", capsys.readouterr().out)
    assert sorted(printed) == sorted(Path("kept.txt").read_text().splitlines())


def test_nothing_kept_says_the_smallest_p_value_and_what_to_try(table, capsys):
    out = said(capsys, "select", table, "--target", "label", "--exclude", "dose", code=1)
    assert re.search(r"the smallest p-value is 0\.\d+ \(\S+\); a larger alpha \(now 0\.01\)", out)
    advice = re.search(r"--method top_k \S+ \S+", out).group().split()
    said(capsys, "select", table, "--target", "label", "--exclude", "dose", *advice)


def test_p_values_do_not_underflow_and_signs_name_their_class(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.arange(5000) % 2
    data = pd.DataFrame({"strong": y + 0.1 * rng.normal(size=5000), "falls": -y + rng.normal(size=5000)})
    data.assign(label=np.array(["no", "yes"])[y]).to_csv("t.csv", index=False)
    out = said(capsys, "select", "t.csv", "--target", "label", "--method", "top_k", "--param", "k=2")
    assert re.search(r"strong +0\.9\d+ +<1e-300", out)
    assert out.index("strong") < out.index("falls")
    for more in ((), ("--param", "k=1")):  # one that rises is kept alone, and those not kept have signs
        out = said(capsys, "select", "t.csv", "--target", "label", "--method", "top_k", *more)
        assert "correlation > 0: larger values go with yes, < 0: with no" in out


def test_identifiers_and_leaks_are_warned_of(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    label = frame()["label"] == "ill"
    data = with_column("row_id", np.arange(N)).assign(leak=label * 2.5 + 0.001 * np.arange(N) % 0.1)
    data.to_csv("t.csv", index=False)
    for command in (["select"], ["screen", "--k", "2"]):
        out = said(capsys, *command, "t.csv", "--target", "label")
        assert "warning: row_id looks like an identifier" in out
        assert "--id row_id leaves it out" in out
        assert "warning: leak alone gives the target away (AUC 1.0000)" in out
        clean = said(capsys, *command, "t.csv", "--target", "label", "--id", "row_id", "--exclude", "leak")
        assert "warning" not in clean


def test_a_leak_through_a_category_is_left_out_by_its_column(tmp_path, capsys):
    label = frame()["label"]
    path = tmp_path / "t.csv"
    with_column("discharge", np.where(label == "ill", "D2", "D1")).to_csv(path, index=False)
    asked = ["select", path, "--target", "label"]
    out = said(capsys, *asked)
    assert "discharge=D2 alone gives the target away (AUC 1.0000)" in out
    assert re.search(r"not known beforehand, --exclude discharge\n", out)
    assert "warning" not in said(capsys, *asked, "--exclude", "discharge")


@pytest.mark.parametrize(
    "command", [["select"], ["compare", "--out", "report", "--runs", "1", "--folds", "2"]]
)
def test_a_row_of_totals_is_warned_of_and_left_out(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"shop": [f"s{i}" for i in range(80)], "visits": rng.poisson(30, 80) + 0.5})
    data["sales"] = (100 * data["visits"] + rng.normal(0, 300, 80)).round(2)
    total = pd.DataFrame([{"shop": "Total", "visits": data["visits"].sum(), "sales": data["sales"].sum()}])
    pd.concat([data, total]).to_csv("t.csv", index=False)
    asked = [*command, "t.csv", "--target", "sales"]
    out = said(capsys, *asked)
    way = re.search(
        r"the last row holds the sum of all others in sales, visits: .* --where '(sales!=.*)' leaves it out",
        out,
    )
    assert way
    again = ["--overwrite"] if "compare" in command else []
    assert "sum of all others" not in said(capsys, *asked, *again, "--where", way[1])


def test_a_row_of_totals_is_deleted_where_no_condition_leaves_it_alone_out(tmp_path, capsys):
    data = with_column("cost", np.arange(1.0, N + 1)).assign(cost=lambda d: d["cost"].mask(d.index == 7))
    total = data.iloc[:1].assign(cost=data["cost"].sum())
    pd.concat([data, total]).to_csv(tmp_path / "t.csv", index=False)
    out = said(capsys, "select", tmp_path / "t.csv", "--target", "label", "--missing", "omit")
    assert "the sum of all others in cost: if it is a row of totals, delete it\n" in out


def test_a_leak_of_a_rare_class_is_noticed(tmp_path, capsys):
    rng = np.random.default_rng(0)
    fraud = np.zeros(20_000, int)
    fraud[rng.choice(20_000, 20, replace=False)] = 1
    path = tmp_path / "t.csv"
    data = pd.DataFrame({"size": rng.normal(size=20_000), "refund": fraud * rng.gamma(2, 50, 20_000)})
    data.assign(fraud=fraud).to_csv(path, index=False)
    out = said(capsys, "select", path, "--target", "fraud")
    assert "warning: refund alone gives the target away (AUC 1.0000)" in out
    assert "warning: size" not in out


def test_four_rows_of_a_class_prove_no_leak(tmp_path, capsys):
    for rare, warned in ((4, False), (5, True)):
        data = pd.DataFrame({"dose": np.arange(100.0) % 97 / 3, "sick": 0})
        data.loc[data["dose"].nlargest(rare).index, "sick"] = 1
        data.to_csv(tmp_path / "t.csv", index=False)
        out = said(capsys, "select", tmp_path / "t.csv", "--target", "sick")
        assert ("gives the target away" in out) is warned


def test_advice_is_given_in_the_terms_of_the_door(tmp_path, monkeypatch, capsys, refused):
    monkeypatch.chdir(tmp_path)
    data = with_column("city", ["Köln", "Rom"] * (N // 2))
    data.to_csv("t.csv", index=False, encoding="latin-1")
    refused(["select", "t.csv", "--target", "label"], "how it is encoded, --encoding cp1252 (Western Europe")
    with pytest.raises(ValueError, match=r"encoding='cp1252' \(Western Europe") as error:
        ss.select("t.csv", target="label")
    assert "--" not in str(error.value)
    frame().assign(label=np.arange(N) % 60).to_csv("numbers.csv", index=False)
    out = said(capsys, "select", "numbers.csv", "--target", "label", code=1)
    assert "note: label holds 60 different whole numbers" in out
    assert "say --task classification if they are labels" in out


def test_several_features_are_explained(table, capsys):
    asked = ["--explain", "dose", "--explain", "noise_0"]
    lines = said(capsys, "select", table, "--target", "label", *asked).splitlines()
    assert [line.split(":")[0] for line in lines[-2:]] == ["dose", "noise_0"]
    result = json.loads(said(capsys, "select", table, "--target", "label", "--json", *asked))
    assert [each.split(":")[0] for each in result["explain"]] == ["dose", "noise_0"]


def test_classes_of_a_csv_file_are_named_as_they_are_written(tmp_path, capsys):
    data = frame().assign(label=lambda d: (d["label"] == "ill") * 1, dose=lambda d: -d["dose"])
    data.to_csv(tmp_path / "t.csv", index=False)
    out = said(capsys, "select", tmp_path / "t.csv", "--target", "label")
    assert "> 0: larger values go with 1, < 0: with 0" in out


def test_a_leak_of_several_classes_is_noticed_whatever_their_order(tmp_path, capsys):
    rng = np.random.default_rng(0)
    stage = rng.integers(0, 3, 300)
    data = pd.DataFrame({f"x{j}": rng.normal(size=300) for j in range(4)}).assign(code=stage)
    path = tmp_path / "t.csv"
    data.assign(stage=np.array(["low", "mid", "high"])[stage]).to_csv(path, index=False)
    out = said(capsys, "select", path, "--target", "stage")
    assert "warning: code alone gives the target away" in out
    assert "x0" not in out[out.index("warning") : out.index("feature ")]


def test_advice_can_be_copied_whatever_the_names(tmp_path, capsys, refused):
    name = "noise, the 'first'"
    data = missing().rename(columns={"noise_0": name}).assign(**{"row no": np.arange(N)})
    path = tmp_path / "t.csv"
    data.to_csv(path, index=False)
    command = ["select", path, "--target", "label"]
    error = refused(command, f"t.csv, row {data[name].eq('').argmax() + 1}: feature ")
    exclude = shlex.split(error.partition(", or ")[2])
    out = said(capsys, *command, *exclude)
    option = re.search(r"--id .* leaves", out).group().removesuffix(" leaves")
    out = said(capsys, *command, *exclude, *shlex.split(option), "--write-data", tmp_path / "small.csv")
    assert "1 id left out (row no)" in out
    small = pd.read_csv(tmp_path / "small.csv")
    assert list(small.columns) == ["row no", "dose", "label"]
    assert small["row no"].tolist() == list(range(N))


def test_many_columns_at_one_level_give_a_note(tmp_path, capsys):
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    table = {f"x{j}": rng.normal(size=100) for j in range(600)}
    pd.DataFrame(table).assign(y=np.where(np.arange(100) % 2, "a", "b")).to_csv(path, index=False)
    out = said(capsys, "select", path, "--target", "y")
    assert (
        "note: of 600 irrelevant columns about 6 would pass a test at alpha 0.01 by chance: --goal fdr" in out
    )
    assert "by chance" not in said(capsys, "select", path, "--target", "y", "--goal", "fdr", code=1)


def test_methods_fit_the_terminal_and_can_be_filtered(capsys):
    lines = said(capsys, "methods").splitlines()
    assert len(lines) <= 50  # two screens
    assert max(map(len, lines)) <= 80
    assert "..." not in "".join(lines)  # and no line is cut
    some = said(capsys, "methods", "--offline", "--task", "regression")
    assert "mrmr" in some
    assert "saola" not in some
    assert "stump_boosting" not in some


@pytest.mark.parametrize("method", tier.spread(sorted(registry.selectors()), 4))
def test_a_method_explains_itself(method, capsys):
    out = said(capsys, "methods", method)
    for name in registry.selector(method)().get_params(deep=False):
        assert re.search(rf"\b{name}\b", out)
    assert f"--method {method}" in out


COMMANDS = [
    "methods",
    "select",
    "screen",
    "compare",
    "merge",
    "show",
    "demo",
    "plot scores",
    "plot detection",
]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns_with_examples(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = said(capsys, *command.split(), "-h")
    assert max(map(len, out.splitlines())) <= 80
    assert not re.search(r"(?<!FILE)(?<!ARGS\])(?<!, )\.\.\.", out)
    assert "{" not in out
    assert "list[" not in out
    assert "Examples:" in out


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["nowhere.csv"], "there is no file nowhere.csv"),
        (["-", "--missing", "omti"], "did you mean 'omit'?"),
        (["-", "--task", "regresion"], "did you mean 'regression'?"),
    ],
)
def test_what_is_mistyped_imports_nothing_heavy(arguments, error):
    program = (
        f"import sys; from streamsieve.cli import run; code = run(['select', *{arguments}]); "
        "print(code, *sorted({name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("2 ")
    assert error in done.stderr
    assert not {"sklearn", "numba", "scipy", "numpy", "pyarrow"} & set(done.stdout.split())


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "streamsieve", "--version"], check=True, capture_output=True)
    assert done.stdout.startswith(b"streamsieve ")


def test_standard_input(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text(sep=";").encode())))
    out = said(capsys, "select", "-", "--target", "label", "--json")
    assert [row["feature"] for row in json.loads(out)["kept"]] == ["dose"]


def test_p_values_in_another_order_than_the_correlations_are_explained():
    kept = [{"feature": name, "statistic": r, "p_value": 0.0} for name, r in [("a", -0.78), ("b", 0.79)]]
    (note,) = results.p_value_note(kept, "correlation", ss.TopK())
    assert note.startswith("p-values: of t, or larger ones")
    assert not results.p_value_note(kept[::-1], "correlation", ss.TopK())
    for selector in (ss.TopK(p_value="t"), ss.TopK(missing="omit"), ss.MRMR()):
        assert not results.p_value_note(kept, "correlation", selector)
    assert not results.p_value_note(kept, "symmetric uncertainty", ss.TopK(measure="su"))
