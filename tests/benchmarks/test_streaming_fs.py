"""The public benchmark: entries, halves, boards, and a page that says first what others do better."""

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.streaming_fs import copies, enter, enter_rows, networks, pictures, row_streams, shapes
from benchmarks.streaming_fs.bench import Bench
from benchmarks.streaming_fs.boards import Board, Cell, figure
from benchmarks.streaming_fs.command import PAGE, main
from benchmarks.streaming_fs.entries import ENTRIES, Entry
from benchmarks.streaming_fs.pictures import pareto
from benchmarks.streaming_fs.row_entries import ROW_ENTRIES
from studies import Desk

README = Path(__file__).resolve().parents[2] / "benchmarks" / "streaming_fs" / "README.md"
FEW = {
    "entries": ("SAOLA", "TopK", "Screen(f)", "sklearn f_classif", "sklearn SelectFdr", "none"),
    "rows": ("Screen(f)", "OFS"),
}


@pytest.fixture(autouse=True)
def few_entries(monkeypatch):
    """Leave a handful of entries; what a test enters is forgotten."""
    before = dict(ENTRIES), dict(ROW_ENTRIES)
    for entries, names in ((ENTRIES, FEW["entries"]), (ROW_ENTRIES, FEW["rows"])):
        for name in [name for name in entries if name not in names]:
            del entries[name]
    monkeypatch.delenv("STREAMSIEVE_DATA", raising=False)
    yield
    for entries, known in zip((ENTRIES, ROW_ENTRIES), before, strict=True):
        entries.clear()
        entries.update(known)


def test_the_ten_lines_of_the_readme_enter_a_method(tmp_path, monkeypatch, capsys):
    example = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[0]
    assert len([line for line in example.splitlines() if line]) <= 10
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "readme", "exec"), {})  # noqa: S102 - our own text
    page = (tmp_path / "streaming_fs_results" / PAGE).read_text()
    assert re.search(r'largest variance <span class="kind">entered</span>', page)
    assert "What others do better" in page.split("1. Columns")[0]
    assert "noise normal largest variance" in capsys.readouterr().out


def test_a_run_goes_on_where_it_stopped_and_starts_again_if_not_asked_to(tmp_path, capsys):
    arguments = ["--quick", "--part", "3", "--out", str(tmp_path)]
    of_others = tmp_path / "results" / "of_others.json"
    of_others.parent.mkdir()
    of_others.touch()
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "noise codes SAOLA" in said
    took = re.search(r"part 3: ([\d.]+) minutes of one processor", said)
    assert main([*arguments, "--resume"]) == 0
    again = capsys.readouterr().out
    assert "noise codes SAOLA" not in again
    assert took.group() in again  # the time when it was computed
    assert f"{took.group(1)} in all" in (tmp_path / PAGE).read_text()
    assert main(arguments) == 0
    assert "noise codes SAOLA" in capsys.readouterr().out
    assert of_others.exists()


def test_real_sets_and_rows_run_and_skip_what_is_not_there_aloud(tmp_path, capsys):
    assert main(["--quick", "--part", "4", "5", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "SKIPPED set ionosphere: ionosphere" in said
    assert "SKIPPED stream usenet1" in said
    assert "Error: " not in said  # an entry or a measure that failed
    page = (tmp_path / PAGE).read_text()
    for title in ("Real sets, 5-NN", "Total swap, delay", "Row by row"):
        assert f"<h3>{title}</h3>" in page
    assert "prefers-color-scheme: dark" in page
    assert page.count("data:image") >= 2
    assert 'src="http' not in page


def test_networks_that_are_not_there_are_skipped_aloud(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("STREAMSIEVE_NETWORKS", str(tmp_path))
    assert main(["--quick", "--part", "1", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.count("SKIPPED network ") == len(networks.QUICK)
    assert "hub 33 levels SAOLA" in said
    assert "Error: " not in said


def bench(tmp_path, half="all", seed=0):
    return Bench(Desk("streaming_fs", tmp_path, quick=True), half, seed)


def test_halves_share_no_case_and_depend_on_the_seed(tmp_path):
    names = [f"case {i}" for i in range(9)]
    public, back = (bench(tmp_path, half, 3).cases("part", names) for half in ("public", "held-back"))
    assert sorted(public + back) == names
    assert bench(tmp_path, "public", 4).cases("part", names) != public
    assert bench(tmp_path).cases("part", names) == names


def test_an_entry_that_fails_costs_the_others_nothing(tmp_path):
    @enter("broken", decides=True)
    def broken(X, y, k):
        raise RuntimeError("no")

    run = bench(tmp_path)
    board, *_ = shapes.run(run)
    assert "broken" not in board.cells
    assert "SAOLA" in board.cells
    assert any("broken: RuntimeError: no" in why for why in run.desk.missing)
    with pytest.raises(ValueError, match="there is an entry 'broken' already"):
        enter("broken")(broken)


def test_shares_are_counted_in_the_order_of_the_generator():
    """Columns come shuffled; one that knows the values of the relevant two finds both, by any order."""
    values = {*shapes.data("xor", 8, 0)[0][:, :2].ravel().tolist()}
    knows = Entry("knows", lambda X, y, k: np.flatnonzero([x in values for x in X[0].tolist()]))
    assert shapes.by_width(knows, "xor", 8, 2)[:2] == [1.0, 2.0]
    nothing = Entry("nothing", lambda X, y, k: np.empty(0, np.int64))
    assert shapes.by_width(nothing, "xor", 8, 2)[:2] == [0.0, 0.0]


def test_a_selector_over_rows_that_follows_is_right_after_a_swap():
    class Last:
        """Correlation over the last batch."""

        def partial_fit(self, X, y):
            self.score = np.abs(np.corrcoef(X.T, y)[-1, :-1])

        def get_support(self):
            return self.score >= np.sort(self.score)[-5]

    enter_rows("last batch")(lambda k, p: Last())
    follows, stays = (row_streams.swapped(name, 2000, 2) for name in ("last batch", "Screen(f)"))
    assert follows[0] > stays[0]
    assert follows[1] < stays[1]


def test_published_figures_stand_beside_ours():
    printed = shapes.published()
    assert len(printed) == 21
    assert printed["random forest, published"]["XOR, p = 128"] == 0.1667
    assert {len(row) for row in printed.values()} == {10}


def test_a_copy_covers_its_column():
    first_copies = Entry(
        "copies", lambda X, y, k: np.flatnonzero(np.abs(np.corrcoef(X.T, y)[-1, :-1]) > 0.25)
    )
    assert copies.covered(first_copies, "sum", 2)[0] == 1.0


def board(**scores):
    kinds = {"a": "ours", "b": "peer", "c": "baseline"}
    cells = {
        name: {f"case {i}": Cell(v, 2.0, 0.1) for i, v in enumerate(row)} for name, row in scores.items()
    }
    return Board("Title", "F1", "", kinds, cells)


def test_a_board_says_who_is_ahead_of_our_best():
    assert board(a=(0.9, 0.8), b=(0.5, 0.6)).ahead() is None
    said = board(a=(0.7, 0.8), b=(0.8, 0.9), c=(0.7, 0.7)).ahead()
    assert said == "Title (F1): b 0.850; our best is a with 0.750."
    ranks = board(a=(0.7, 0.8), b=(0.8, 0.9), c=(0.7, 0.7)).ranks()
    assert dict(zip(ranks.entries, ranks.means, strict=True)) == {"a": 2.25, "b": 1.0, "c": 2.75}
    mixed = board(a=(0.9, 0.5), b=(0.5, 0.6))
    assert mixed.ahead() is None
    assert mixed.ahead_in_cases() == "Title (F1), single cases. case 1: b 0.600, ours 0.500."
    half = board(a=(0.7, 0.8), b=(0.9,))
    assert half.complete == ["a"]
    assert half.ranks() is None


def test_curves_on_top_of_each_other_are_one():
    shares = {"a": (1.0, 0.5), "b": (1.0, 0.5), "c": (0.5, 0.0)}
    cells = {
        name: {f"RING, p = {p}": Cell(share) for p, share in zip((8, 32), row, strict=True)}
        for name, row in shares.items()
    }
    found = Board("Title", "share", "", {"a": "ours", "b": "peer", "c": "peer"}, cells)
    figure = pictures.by_width(found)[0].figure
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a\nb", "c"]


def test_figures_keep_three_digits_and_whole_numbers():
    assert [figure(x) for x in (0.5, 0.00123, 1234.5, 0.0, float("nan"))] == [
        "0.500", "0.00123", "1,234", "0.000", "\N{EN DASH}",
    ]  # fmt: skip


def test_the_front_is_what_no_other_point_beats():
    points = [(1.0, 0.5), (2.0, 0.4), (3.0, 0.9), (1.0, 0.3), (4.0, 0.9)]
    assert pareto(points) == [(1.0, 0.5), (3.0, 0.9)]
