"""The ranking of column selectors runs at a tiny size, and its statistics are what they should be."""

import numpy as np
import pytest
from scipy.stats import wilcoxon

from studies.__main__ import main
from studies._columns.splits import Split
from studies.ranking import _judge, _results, _runs, _statistics, picture
from studies.ranking._methods import ALL, EARLIER, RANKED, RIVAL
from tests.studies.test_studies import check_page


@pytest.fixture
def tiny_data(tmp_path, monkeypatch):
    """Three small files with the names of real ones: one is wide, one is not of the earlier ranking."""
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(0)
    n = 60
    for name, p in (("colon_raw", 40), ("wdbc", 12), ("spectf", 12)):
        y = rng.permutation(np.arange(n) % 2).astype(np.int8)
        X = rng.normal(size=(n, p))
        X[:, :6] += y[:, None]
        np.savez(folder / f"{name}.npz", y=y, X=X.astype(np.float32))
    monkeypatch.setenv("STREAMSIEVE_DATA", str(folder))
    monkeypatch.setattr(_results, "WIDE", 40)
    return folder


def test_it_runs_skips_aloud_and_goes_on_where_it_stopped(tiny_data, tmp_path, capsys):
    assert main(["ranking", "--quick", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "SKIPPED madelon" in said
    page = tmp_path / "RANKING.md"
    text = check_page(page)
    assert text.count("](images/ranking.png)") == 1
    assert "madelon.npz is not there" in " ".join(text.split())
    assert all(f"| {method} " in text for method in (*RANKED, ALL))
    for path in tiny_data.iterdir():
        path.unlink()  # with everything stored, the data is not needed any more
    assert main(["ranking", "--quick", "--out", str(tmp_path)]) == 0
    again = capsys.readouterr().out.splitlines()
    assert [line for line in again if "SKIPPED" not in line] == [f"ranking: wrote {page}"]
    assert check_page(page) == text


def test_a_cell_selects_inside_the_fold_and_names_columns_by_their_place_in_the_file():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 30))
    X[:, 7] += 3 * y
    split = Split(np.asfortranarray(X[:60]), y[:60], X[60:], y[60:])
    for seed in (None, 0, 1):
        picked = _runs.selected("TopK 15 plain", split, seed)
        assert 7 in picked.columns
        assert sorted(picked.columns) == picked.columns.tolist()
        np.testing.assert_array_equal(picked.columns, _runs.selected("TopK 15 plain", split, None).columns)
        assert picked.seconds > 0
        if seed is None:
            assert picked.place == pytest.approx((picked.columns.mean() + 0.5) / 30)
    assert _runs.selected(ALL, split, 3).columns.tolist() == list(range(30))
    size = _runs.Size(orders=(None, 0, 1), trees=5)
    found = _runs.on_fold("TopK 15 plain", split, size)
    assert found["alike"] == 1
    assert len(found["places"]) == 2
    assert len(found["forest"]) == len(found["size"]) == 3
    assert len({*found["forest"]}) == 1  # the same columns are judged once, whatever order they came in


def test_likeness_by_hand():
    assert _runs.alike(np.array([1, 2, 3]), np.array([2, 3, 4])) == 0.5
    assert _runs.alike(np.zeros(0, int), np.zeros(0, int)) == 1
    assert _runs.alike(np.array([1]), np.zeros(0, int)) == 0


def test_rows_are_drawn_with_each_class_in_its_share(tmp_path, monkeypatch):
    y = np.repeat([0, 1], [300, 100]).astype(np.int8)
    np.savez(tmp_path / "some.npz", X=np.arange(400.0)[:, None], y=y)
    monkeypatch.setenv("STREAMSIEVE_DATA", str(tmp_path))
    np.savez(tmp_path / "three.npz", X=np.ones((9, 1)), y=np.array([0, 2, 2, 1, 1, 1, 1, 0, 0], np.int8))
    labels = _runs.RankedData("three", _runs.Size()).matrices[1]
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 0, 0]  # the largest class against the rest
    X, labels = _runs.RankedData("some", _runs.Size(rows=100)).matrices
    assert np.bincount(labels).tolist() == [75, 25]
    assert (np.diff(X[:, 0]) > 0).all()
    assert len(_runs.RankedData("some", _runs.Size(rows=400)).matrices[1]) == 400


def test_the_judge():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    X = np.c_[1000 * rng.normal(size=60), y + 0.01 * rng.normal(size=60), np.ones(60)]
    judge = _judge.Judge(Split(X[:40], y[:40], X[40:], y[40:]), trees=10)
    assert judge(np.array([1, 2])) == {"nearest": 1, "logistic": 1, "forest": 1}
    assert judge(np.array([0, 1]))["nearest"] > 0.8  # columns are standardised
    assert judge(np.zeros(0, int)) == {"nearest": 0.5, "logistic": 0.5, "forest": 0.5}
    assert judge(np.array([1, 2])) is judge(np.array([1, 2]))


def test_mean_ranks_share_equal_places():
    accuracy = [[0.9, 0.5], [0.8, 0.7], [0.9, 0.6]]
    assert _statistics.mean_ranks(accuracy).tolist() == [2.25, 2.0, 1.75]


@pytest.mark.parametrize("n", range(1, 11))
def test_the_signed_rank_test_is_scipys_where_that_is_exact(n):
    gains = np.random.default_rng(n).normal(0.5, size=n)
    assert _statistics.signed_rank(gains) == pytest.approx(wilcoxon(gains, method="exact").pvalue)


def test_the_signed_rank_test_with_ties_and_zeros():
    assert _statistics.signed_rank([0.0, 0.0]) == 1
    assert _statistics.signed_rank([0.1] * 8) == pytest.approx(2 / 256)
    assert _statistics.signed_rank([0.1, 0.1, -0.1, 0.0]) == 1  # 2 of 3 signs, like 6 of 8 outcomes
    assert _statistics.won_and_lost([0.1, 0.1, -0.1, 0.0, 1e-12]) == (2, 1)


def test_holm_by_hand():
    assert _statistics.holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert _statistics.holm([0.9, 0.8]) == [1.0, 1.0]


def test_agreement_of_what_does_not_vary():
    assert _statistics.agreement([1, 2, 3], [2, 4, 9]) == pytest.approx(1)
    assert _statistics.agreement([1, 1, 1], [2, 4, 9]) == 0


def test_every_printed_figure_is_there():
    printed = _results.printed()
    for method in (*EARLIER, ALL):
        assert 0.8 < printed[method, "", "accuracy"] < 0.9
        assert printed[method, "", "size"] >= 4
        if method not in (RIVAL, ALL):
            assert 9 <= printed[method, "", "won"] + printed[method, "", "lost"] <= 17
        if (method, "", "forest") in printed:
            three = [printed[method, "", key] for key in _judge.CLASSIFIERS]
            assert np.mean(three) == pytest.approx(printed[method, "", "accuracy"], abs=0.0011)
    assert {method for method, _, _ in printed} == {*EARLIER, ALL}


def test_names_in_the_picture_do_not_meet():
    boxes = [picture._box("TopK 15", 100, 100, place) for place in picture.PLACES]
    assert picture._meet(boxes[0], boxes[0])
    assert not picture._meet(boxes[0], boxes[1])  # right and left of the dot
