"""No command destroys a file: outputs are never inputs or other outputs, by any name, nor foreign files."""

import itertools
import os

import numpy as np
import pytest

import streamsieve as ss
from streamsieve import state
from streamsieve._files import CSV_HEADERS, is_ours, same_file, would_match
from streamsieve.cli import run
from streamsieve.evaluation import Report, Table, plots, screening_protocol, track
from streamsieve.exceptions import ParameterError, StateError
from tests.cli.conftest import contents

COMMANDS = {
    "select": (["select", "{data}", "--target", "y", "--method", "screen", "--param", "k=1"], {
        "--out": "kept.csv", "--ledger": "ledger.csv", "--save": "s.sieve", "--checkpoint": "c.sieve"}),
    "screen": (["screen", "{data}", "--target", "y", "--k", "1"], {
        "--out": "kept.csv", "--ledger": "ledger.csv", "--save": "s.sieve", "--checkpoint": "c.sieve"}),
    "plot": (["plot", "scores", "{data}", "--target", "y", "--k", "1"], {
        "--out": "p.png", "--table": "t.csv"}),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with data.csv, to which three other names lead."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    lines = [
        f"{a:.3f},{b:.3f},{c}"
        for a, b, c in zip(rng.normal(size=60), y + rng.normal(size=60), y, strict=True)
    ]
    (tmp_path / "data.csv").write_text("\n".join(["noise,dose,y", *lines, ""]))
    (tmp_path / "soft.csv").symlink_to("data.csv")
    os.link("data.csv", "hard.csv")
    (tmp_path / "sub").mkdir()
    return tmp_path


def arguments(command, data="data.csv", **files):
    words, _ = COMMANDS[command]
    options = [word for option, file in files.items() for word in (f"--{option}", file)]
    return [*(word.format(data=data) for word in words), *options]


def with_out(command, option, **files):
    """``plot`` always needs --out."""
    return {**({"out": "p.png"} if command == "plot" and option != "--out" else {}), **files}


ONE = [(command, option) for command, (_, options) in COMMANDS.items() for option in options]
TWO = [(c, a, b) for c, (_, options) in COMMANDS.items() for a, b in itertools.combinations(options, 2)]


@pytest.mark.parametrize(("command", "option"), ONE)
@pytest.mark.parametrize("name", ["data.csv", "./sub/../data.csv", "soft.csv", "hard.csv"])
def test_no_output_is_the_input(folder, refused, command, option, name):
    before = contents(folder)
    given = with_out(command, option, **{option[2:]: name})
    if (command, option) == (
        "plot",
        "--out",
    ):  # a picture cannot have the name of a table, but be a link to it
        (folder / "soft.png").symlink_to("data.csv")
        given, before = {"out": "soft.png"}, contents(folder)
    refused(arguments(command, **given), f"{option} ", "DATA reads (data.csv)")
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["sub/part.csv", "sub/new.csv", "sub/../sub/new.csv"])
def test_no_output_is_a_table_of_the_input_folder(folder, refused, name):
    (folder / "sub" / "part.csv").write_bytes((folder / "data.csv").read_bytes())
    before = contents(folder)
    for data in ("sub", "./sub/"):
        refused([*arguments("screen", data=data, out=name), "--overwrite"], "--out ", "DATA reads (")
    refused(["compare", "sub", "--target", "y", "--out", "sub"], "--out ", "DATA reads (sub)")
    assert contents(folder) == before


@pytest.mark.parametrize(("command", "a", "b"), TWO)
def test_no_two_outputs_are_one_file(folder, refused, command, a, b):
    before = contents(folder)
    both = {"--checkpoint": "x.csv", "--save": "sub/../X.csv"}
    given = {option[2:]: both.get(option, "x.png" if command == "plot" else "x.csv") for option in (a, b)}
    if command == "plot":
        os.link("data.csv", "x.png")
        (folder / "x.csv").symlink_to("x.png")
        given, before = {"out": "x.png", "table": "x.csv"}, contents(folder)
    refused(arguments(command, **given), "is the file that ")
    assert contents(folder) == before


def test_the_generation_before_and_the_lock_of_a_checkpoint_are_its_files(folder, refused):
    for name in ("c.sieve.previous", ".c.sieve.lock"):
        given = arguments("screen", checkpoint="c.sieve", save=name)
        refused(given, f"--save {name} is the file that --checkpoint writes ({name})")


@pytest.mark.parametrize("pattern", ["*.csv", "**/*.csv", "{folder}/*.csv", "./[a-z]*.csv"])
def test_no_output_would_be_read_by_a_pattern_the_next_time(folder, refused, pattern):
    for name in ("soft.csv", "hard.csv"):
        (folder / name).unlink()
    given = arguments("select", data=pattern.format(folder=folder), out="kept.csv")
    refused(given, "--out kept.csv is the file that DATA reads")
    assert not (folder / "kept.csv").exists()
    fine = arguments("select", data="data*.csv", out="kept.csv")
    assert run([*fine, "-q"]) == 0


def test_patterns_match_as_glob_does(folder):
    assert would_match("sub/a/b.csv", "sub/**/*.csv")
    assert would_match("sub/b.csv", "s?b/*.csv")
    assert not would_match("sub/a/b.csv", "sub/*.csv")
    assert not would_match("b.csv", "sub/*")
    assert not would_match("data.csv", "data.csv")
    (folder / "link").symlink_to("sub")
    assert would_match("link/b.csv", "sub/*.csv")


def test_names_that_do_not_exist_yet_are_one_file_whatever_their_case(folder):
    assert same_file("new.csv", "sub/../NEW.csv")
    assert not same_file("new.csv", "old.csv")
    assert not same_file("data.csv", "DATA.csv")  # one is there, and on this system the other is not


@pytest.mark.parametrize("folder_of", [".", "{folder}", "sub/.."])
def test_a_comparison_never_writes_into_the_folder_of_its_data(folder, refused, folder_of):
    out = folder_of.format(folder=folder)
    given = ["compare", "data.csv", "--target", "y", "--out", out]
    refused(given, f"--out {out} is the folder that DATA reads from (data.csv)")
    refused(["compare", "**/*.csv", "--target", "y", "--out", "new"], "is the file that DATA reads")
    (folder / "sub" / "ledger_saola.csv").write_text("mine")
    refused(["compare", "data.csv", "--target", "y", "--out", "sub"], "holds ledger_saola.csv")


def test_merging_never_writes_over_its_parts(folder, refused):
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 2
    for name in ("a.sieve", "b.sieve"):
        ss.Screen("f", k=1).fit(X, y).save(name)
    os.link("a.sieve", "c.sieve")
    refused(["merge", "a.sieve", "b.sieve", "-o", "c.sieve"], "--out c.sieve", "FILES reads (a.sieve)")
    refused(["merge", "a.sieve", "c.sieve", "-o", "d.sieve"], "c.sieve is given twice")


def test_run_in_python_refuses_a_checkpoint_that_is_its_source(folder):
    source = ss.open("data.csv", target="y")
    for resume in (False, True):
        with pytest.raises(ParameterError, match=r"checkpoint hard.csv is the file that source reads \(data"):
            ss.run(source, ss.Screen("f", k=1), checkpoint="hard.csv", resume=resume)


# ------------------------------------------------------------------------------------ files of others


def test_only_our_own_files_are_replaced_unless_asked(folder, refused):
    given = arguments("select", out="kept.csv", ledger="ledger.csv", save="s.sieve")
    for name in ("kept.csv", "ledger.csv", "s.sieve"):
        for other in ("kept.csv", "ledger.csv", "s.sieve"):
            (folder / other).unlink(missing_ok=True)
        (folder / name).write_text("years of work\n")
        refused(given, f"{name} exists and streamsieve may not have written it; --overwrite replaces it")
        assert (folder / name).read_text() == "years of work\n"
    assert run([*given, "-q", "--overwrite"]) == 0
    assert run([*given, "-q"]) == 0  # they are ours now
    (folder / "kept.csv").write_bytes(b"")
    assert run([*given, "-q"]) == 0  # nothing is lost with an empty one


def test_pictures_tables_and_reports_replace_only_our_own_files_unless_asked(folder):
    X, y = np.random.default_rng(0).normal(size=(200, 2)), np.arange(200) % 2
    found = track(ss.open(X, target=y), ss.Screen("f", k=1), every=50)
    report = Report("screening", Table({"score": [0.5]}), {"selectors": {}})
    ways = {
        "p.png": lambda **more: plots.save(plots.scores(found), "p.png", **more),
        "track.csv": lambda **more: found.to_csv("track.csv", **more),
        "r/table.csv": lambda **more: report.save("r", **more),
        "r/report.json": lambda **more: report.save("r", **more),
    }
    (folder / "r").mkdir()
    for name, save in ways.items():
        for other in (folder / "r").iterdir():
            other.unlink()
        (folder / name).write_text("years of work\n")
        with pytest.raises(StateError, match=f"{name} exists and .* written it; overwrite=True repl"):
            save()
        assert (folder / name).read_text() == "years of work\n"
        save(overwrite=True)
        save()  # they are ours now
    report.table.to_csv("t.csv")
    with pytest.raises(StateError, match="t.csv exists and streamsieve may not have"):
        report.table.to_csv("t.csv")  # a table is not known again


def test_a_run_does_not_begin_in_a_folder_with_files_of_others(folder):
    X, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2
    (folder / "run").mkdir()
    (folder / "run" / "table.csv").write_text("years of work\n")
    with pytest.raises(StateError, match="holds table.csv, which is not of a run and might be overwritten"):
        screening_protocol(X, y, ["f"], ["nb"], sizes=[1], runs=1, folds=2, folder="run")
    assert (folder / "run" / "table.csv").read_text() == "years of work\n"


def test_everything_we_write_is_known_as_ours(folder):
    X, y = np.random.default_rng(0).normal(size=(200, 2)), np.arange(200) % 2
    X[:, 1] += 3 * y
    names = ["a", "b"]
    for method, more in (("saola", ()), ("screen", ("--param", "criterion=t")), ("ofs", ())):
        words = ["select", "data.csv", "--target", "y", "--method", method, *more]
        assert run([*words, "--out", f"{method}.csv", "--ledger", f"l{method}.csv", "-q"]) in (0, 1)
    ss.run(ss.features(zip(names, X.T, strict=True), y), ss.SAOLA()).ledger_.to_csv("timed.csv")
    found = track(ss.open(X, target=y, names=names), ss.Screen("f", k=1), every=50)
    found.to_csv("track.csv")
    for suffix in ("png", "svg", "pdf"):
        plots.save(plots.scores(found), f"p.{suffix}")
    ss.Screen("f", k=1).fit(X, y).save("s.sieve")
    written = [
        p for p in folder.iterdir() if p.is_file() and p.name not in ("data.csv", "soft.csv", "hard.csv")
    ]
    assert len(written) == 12
    assert [path.name for path in written if not is_ours(path)] == []
    assert not is_ours("data.csv")
    assert {p.read_text().splitlines()[0] for p in written if p.suffix == ".csv"} <= CSV_HEADERS


def test_python_replaces_a_file_of_others_only_on_request(folder):
    sieve = ss.SAOLA().begin(np.arange(50) % 2)
    sieve.offer(np.random.default_rng(0).normal(size=(50, 2)))
    for write in (sieve.save, sieve.ledger_.to_csv):
        with pytest.raises(
            StateError, match=r"data.csv exists and .* written it; overwrite=True replaces it"
        ):
            write("data.csv")
        assert not is_ours("data.csv")
        (folder / "mine").write_text("mine")
        write("mine", overwrite=True)
        assert is_ours("mine")


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_a_file_that_is_replaced_keeps_its_permissions(folder, mode):
    given = arguments("select", out="kept.csv", ledger="ledger.csv", save="s.sieve")
    assert run([*given, "-q"]) == 0
    for name in ("kept.csv", "ledger.csv", "s.sieve"):
        (folder / name).chmod(mode)
    assert run([*given, "-q"]) == 0
    assert {(folder / name).stat().st_mode & 0o777 for name in ("kept.csv", "ledger.csv", "s.sieve")} == {
        mode
    }


def test_a_previous_file_is_mentioned_where_there_is_one(folder):
    arrays = {"a": np.zeros(3)}
    with pytest.raises(StateError, match="No such file or directory$"):
        state.write(folder / "gone" / "s.sieve", {}, arrays)
    state.write("s.sieve", {}, arrays)
    with pytest.raises(StateError, match="; the previous file is untouched$"):
        state.write("s.sieve", {"not": {"JSON"}}, arrays)
