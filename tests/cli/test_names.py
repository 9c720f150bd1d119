"""Names and labels of others cannot act: not on a terminal, not in a spreadsheet, not in a picture."""

import csv
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib.text import Text

import streamsieve as ss
from streamsieve._text import guarded, shown, unguarded
from streamsieve.cli import run
from streamsieve.evaluation import Table, plots, track
from streamsieve.evaluation.engine.jobs import Failure
from streamsieve.exceptions import StreamSieveError

EVIL = [
    "\x1b[31mred", "\x1b]0;title\x07", "new\nline", "back\rspace", "\u202egpj.exe", "\u2066isolated\u2069",
    "\u200emark\u200f", "\x9b31m", "[bold]markup[/bold]", ":warning:", "[link=x]y[/link]", "$\\frac$ $x$",
]  # fmt: skip
#: Whatever may stand in the text of a terminal.
PLAIN = re.compile("[^\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]*")
FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'=quoted", "''+"]
FINE = ["dose", "a=b", "-5", "+1e3", "'quoted'", "", "x-1", "-inf"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 300)
    columns = {name: label + rng.normal(size=300) for name in EVIL + FORMULAS}
    columns["label"] = np.array(["\x1b[2Jill", "well"])[label]
    path = tmp_path / "evil\x1b[31m.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def test_active_characters_are_shown_as_escapes():
    assert shown("\x1b[31m\u202e\n\x9b\ud800") == r"\x1b[31m\u202e\n\x9b\ud800"
    for name in ("naïve \N{GREEK SMALL LETTER ALPHA}", "日本", "a b-c_d", "שלום", "\N{FAMILY}"):
        assert shown(name) == name


def test_no_command_lets_a_name_act_on_the_terminal(table, capsys):
    target = ["--target", "label"]
    assert (
        run(["screen", str(table), *target, "--k", "20", "--save", "s.sieve", "--out", "\x1b[1mk.csv"]) == 0
    )
    assert run(["select", str(table), *target, "--explain", EVIL[0], "--save", "c.sieve"]) == 0
    assert run(["show", "s.sieve"]) == 0
    assert run(["show", "c.sieve"]) == 0
    assert run(["merge", "s.sieve", "\x1b[31mnowhere", "-o", "m.sieve"]) == 2
    assert run(["select", str(table), "--target", "\x1b[31m"]) == 2
    assert run(["select", f"{table}x"]) == 2
    assert run(["select", str(table), "--\x1b[31m"]) == 2
    assert run(["plot", "scores", str(table), *target, "--out", "p.png", "--every", "50", "--k", "20"]) == 0
    said = capsys.readouterr()
    assert PLAIN.fullmatch(said.out)
    assert PLAIN.fullmatch(said.err)
    for name in EVIL:
        assert shown(name) in said.out  # markup and emoji codes as they are


def test_a_name_is_one_line_of_a_list_of_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y = np.arange(60) % 2
    names = ["a\nb", "c\r\nd", "e\u2028f\x0bg", "h\\n"]
    pq.write_table(
        pa.table({name: y + 0.1 * (y * k % 3) for k, name in enumerate(names)} | {"y": y}), "t.parquet"
    )
    assert run(["screen", "t.parquet", "--target", "y", "--k", "4", "--out", "kept.txt"]) == 0
    found = Path("kept.txt").read_text("utf-8").splitlines()
    assert sorted(found) == sorted(["a\\nb", "c\\r\\nd", "e\\u2028f\\x0bg", "h\\n"])


def test_a_report_shows_escapes(table, capsys):
    quick = ["--runs", "1", "--folds", "2", "--sizes", "2", "--learners", "nb", "--jobs", "1"]
    given = ["compare", str(table), "--target", "label", "--out", "out", "--selectors", "f,saola", *quick]
    assert run(given) == 0
    page = (table.parent / "out" / "report.html").read_text("utf-8")
    assert PLAIN.fullmatch(page)
    assert r"\u202egpj.exe" in page
    assert PLAIN.fullmatch(capsys.readouterr().out)
    assert ss.evaluation.Report.load("out").extras["chosen"].n_rows > 0


def test_text_of_objects_and_pictures_holds_no_active_character(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = y[:, None] + rng.normal(size=(200, len(EVIL)))
    sieve = ss.SAOLA().begin(y)
    sieve.offer(X, names=EVIL)
    texts = [str(sieve.ledger_.why(name)) for name in EVIL] + [repr(d) for d in sieve.ledger_]
    texts += [str(Table({"feature": EVIL})), repr(sieve.ledger_)]
    found = track(ss.open(X, target=y, names=EVIL), ss.Screen("f", k=12), every=50)
    figure = plots.scores(found, top=12)
    plots.save(figure, tmp_path / "p.svg")  # dollars are no formula, which would fail
    drawn = [text.get_text() for text in figure.findobj(Text)]
    assert any(r"\x1b[31mred" in text for text in drawn)
    for text in texts + drawn:
        assert PLAIN.fullmatch(text), text


LOOKS = {
    "load": ss.load,
    "save": lambda path: ss.Screen("f").fit([[0.0], [1.0]], [0, 1]).save(path),
    "open": lambda path: ss.open(f"{path}.csv", target="y"),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_errors_show_paths_with_escapes(tmp_path, look):
    with pytest.raises(StreamSieveError, match=r"\\x1b\[31mred") as caught:
        look(tmp_path / EVIL[0] / EVIL[4])
    assert PLAIN.fullmatch(str(caught.value))


def test_names_of_methods_and_titles_of_pictures_are_escaped(tmp_path):
    evil = EVIL[0] + EVIL[4] + EVIL[-1]
    runs = [[0.5, 0.6], [0.7, 0.8]]
    rows, tops = [100, 200], [np.array([1]), np.array([2])]
    figures = [
        plots.performance([1, 2], {evil: {evil: runs}}, {evil: 0.5}, baseline=evil, measure=evil, title=evil),
        plots.detection(rows, {evil: tops}, tops, title=evil),
        plots.drift(rows, {evil: tops, "b": tops}, tops, 5),
        plots.stability_bars([evil, "b"], [0.5, 0.6], [0.4, 0.5], [0.6, 0.7], measure=evil, title=evil),
        plots.orders({evil: {evil: [0.5, 0.6]}}, title=evil),
    ]
    for i, figure in enumerate(figures):
        plots.save(figure, tmp_path / f"{i}.svg")
        assert "\x1b" not in (tmp_path / f"{i}.svg").read_text("utf-8")
        texts = [text.get_text() for text in figure.findobj(Text)]
        assert any(r"\x1b[31mred" in text for text in texts)
        assert all(PLAIN.fullmatch(text) for text in texts)


def test_a_report_is_printed_with_escapes():
    failed = Failure("saola", "", f"{EVIL[0]} is bad")
    report = ss.evaluation.Report("screening", Table({"score": [0.5]}), {}, {}, [failed], {EVIL[1]: 2})
    assert PLAIN.fullmatch(str(report))


# ------------------------------------------------------------------------------------ spreadsheets


def test_a_guard_can_be_undone():
    for text in [*FORMULAS, "\uff1d1+1", "\n=1"]:
        assert guarded(text) == f"'{text}"
    for text in FINE:
        assert guarded(text) == text
    for text in FORMULAS + FINE:
        assert unguarded(guarded(text)) == text
    for number in (-1.5, 3, float("nan")):
        assert guarded(number) is number


def cells(path):
    with Path(path).open(newline="") as file:
        return {cell for row in csv.reader(file) for cell in row}


@pytest.mark.parametrize("raw", [False, True])
def test_no_csv_file_holds_a_formula_unless_asked_for(table, raw):
    more = ["--target", "label", "-q", *(["--raw"] if raw else [])]
    assert run(["screen", str(table), *more, "--k", "20", "--out", "k.csv", "--ledger", "l.csv"]) == 0
    assert run(["plot", "scores", str(table), *more, "--out", "p.png", "--table", "t.csv", "--k", "20"]) == 0
    quick = ["--runs", "1", "--folds", "2", "--sizes", "20", "--learners", "nb", "--jobs", "1"]
    assert run(["compare", str(table), *more, "--out", "out", "--selectors", "saola", *quick]) == 0
    ids = pq.read_table(table).append_column("id", pa.array(["=id", *"ab" * 149, "-1"]))
    pq.write_table(ids, "ids.parquet")
    written = ["--k", "20", "--id", "id", "--write-data", "d.csv"]
    assert run(["screen", "ids.parquet", *more, *written]) == 0
    assert {"=id", "-1"} & cells("d.csv") == ({"=id", "-1"} if raw else {"-1"})
    for name in ("d.csv", "k.csv", "l.csv", "t.csv", "out/ledger_saola.csv"):
        found = cells(name)
        for text in FORMULAS:
            assert (text in found) is raw or text == "'=quoted"
            assert (f"'{text}" in found) is not raw or text.startswith("'")
        assert any(re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", cell) for cell in found)  # numbers stay numbers


@pytest.mark.parametrize("raw", [False, True])
def test_tables_come_back_as_they_were(tmp_path, raw):
    table = Table({"feature": FORMULAS + FINE, "number": np.linspace(-1, 1, 16)})
    ss.evaluation.Report("screening", table, {}).save(tmp_path / "r", raw=raw)
    again = ss.evaluation.Report.load(tmp_path / "r").table
    assert again["feature"].tolist() == FORMULAS + FINE
    np.testing.assert_array_equal(again["number"], table["number"])
    assert bool(cells(tmp_path / "r" / "table.csv") & set(FORMULAS[:6])) is raw
