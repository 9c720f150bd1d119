"""The study of DOFS runs at a tiny size, and its readings and words are what they should be."""

import numpy as np
import pytest

import streamsieve as ss
from studies.__main__ import main
from studies._columns.splits import ColumnData, Split
from studies.dofs import _guesses, _published, _readings, _runs, literal, meaning
from tests.studies.test_studies import check_page


@pytest.fixture
def tiny_data(tmp_path, monkeypatch):
    """Three small files with names of real ones: two informative columns, a copy, a constant, and noise."""
    some = {name: _runs.FILES[name] for name in ("wdbc", "colon", "prostate")}
    monkeypatch.setattr(_runs, "FILES", some)
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(0)
    n, p = 48, 22
    for name in some.values():
        y = rng.permutation(np.arange(n) % 3 > 0).astype(np.int8)
        X = rng.normal(size=(n, p)) * rng.choice([1, 1, 5], p) + rng.choice([0, 0, 3], p)
        X[:, 3] += 3 * y
        X[:, 7] -= 2 * y
        X[:, 15], X[:, 18] = 2 * X[:, 3], 1
        np.savez(folder / f"{name}.npz", y=y, X=X.astype(np.float32))
    monkeypatch.setenv("STREAMSIEVE_DATA", str(folder))
    return folder


def test_it_runs_and_goes_on_where_it_stopped(tiny_data, tmp_path, monkeypatch, capsys):
    assert main(["dofs", "--quick", "--out", str(tmp_path)]) == 0
    page = tmp_path / "DOFS.md"
    text = check_page(page)
    assert "Not done" not in text
    assert "python -m studies dofs" in text
    assert all(method in text for method in (*_published.METHODS, *_readings.EVERY, "TopK"))
    capsys.readouterr()
    monkeypatch.delenv("STREAMSIEVE_DATA")  # with everything stored, the data is not needed any more
    assert main(["dofs", "--quick", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [f"dofs: wrote {page}"]
    assert check_page(page) == text


def test_a_missing_set_is_skipped_aloud(tiny_data, tmp_path):
    (tiny_data / "prostate_spls6033.npz").unlink()
    main(["dofs", "--quick", "--out", str(tmp_path)])
    text = check_page(tmp_path / "DOFS.md")
    assert "## Not done" in text
    assert "prostate_spls6033.npz is not there" in " ".join(text.split())


def test_every_printed_figure_is_there():
    for name in _published.DATASETS:
        assert _published.described(name, "n_obs") > 0
        for method in _published.METHODS:
            assert 0.6 < _published.printed(name, method, "accuracy") <= 1
            size = _published.printed(name, method, "n_selected")
            assert 1 <= size < _published.described(name, "n_features")
    assert set(_runs.FILES) == set(_published.DATASETS) - {"lung cancer"}
    assert _published.printed("wdbc", "OSFS", "accuracy") == 0.6274
    assert _published.printed("prostate", _published.DPP_ONLY, "n_selected") == 1441


def test_every_method_has_a_figure_and_every_figure_a_method():
    assert set(_readings.BESIDE) == set(_readings.MAIN)
    for way in (_readings.AS_PRINTED, _readings.AS_OURS):
        assert set(way) == set(_published.METHODS)
        assert all(_readings.BESIDE[ours] == theirs for theirs, ours in way.items())


def test_the_literal_reading_differs_from_the_corrected_in_every_fault():
    ours = _readings.dofs(0).get_params()
    literal_ones = _readings.dofs(0, **_readings.LITERAL).get_params()
    assert {name for name in ours if ours[name] != literal_ones[name]} == set(_readings.LITERAL)
    assert ours == ss.DOFS(alpha=0.05, l1=0.15, group_size=10, random_state=0).get_params()


def test_baselines_have_the_size_asked_for():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 30)), rng.integers(0, 2, 40)
    assert len(_readings.top(12).fit(X, y).selected_) == 12
    assert len(_readings.top(0).fit(X, y).selected_) == 1
    assert len(np.unique(_readings.as_many(12, 30, 0))) == 12


def test_relevance_is_correlation():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)) + 7, rng.integers(0, 2, 40)
    X[:, 1] = 5
    found = _runs.relevances(X, y)
    assert found[1] == 0
    assert found[2] == pytest.approx(abs(np.corrcoef(X[:, 2], y)[0, 1]))


def test_guessed_classifiers_learn_and_fall_back_on_the_largest_class():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3 // 2
    X = np.c_[rng.normal(size=60), 4.0 * y + 0.3 * rng.normal(size=60)]
    split = Split(X, y, X, y)
    assert min(_guesses.guessed(split, [0, 1]).values()) > 0.9
    assert _guesses.guessed(split, []) == dict.fromkeys(_guesses.GUESSES, 2 / 3)


def test_floors_of_the_paper():
    rows = {"wdbc": {"majority": 357 / 569}, "spectf": {"majority": 212 / 267}}
    exact, near = meaning.floors(rows)
    assert exact == ["OSFS on wdbc", "Alpha-investing on spectf", "DOFS (DPP only) on spectf"]
    assert near[0] == "OSFS on spectf -0.3"
    assert len(near) == 5


def test_redundant_pairs_are_counted(tiny_data):
    found = _runs.redundant_pairs(ColumnData("colon_raw"))
    assert found["pairs"] == 21 * 20 / 2  # without the constant column
    assert found["alike"] >= 1  # column 15 is twice column 3
    assert found["Wilcoxon, alike"] <= min(found["alike"], found["Wilcoxon"])
    # centred columns lie at the same place, nearly all of them
    assert found["Wilcoxon"] < 0.9 * found["pairs"] < found["Wilcoxon, standardised"]


def test_a_share_of_whole_rows_is_told_from_others():
    assert meaning.whole_rows(0.8548, 62)  # 53 of 62
    assert meaning.whole_rows(0.9047, 21)  # 19 of 21, cut off
    assert meaning.whole_rows(1.0, 72)
    assert not meaning.whole_rows(0.9570, 62)


def test_records_count_half_a_point_as_equal():
    assert literal.record([0.02, 0.004, -0.004, -0.03, 0.006]) == "2 / 2 / 1"


def test_bias_is_what_choosing_on_all_rows_gains():
    trial = {"nearest": 0.8, "tree": 0.7}
    higher = {"nearest": 0.9, "tree": 0.7}
    folds = {"colon": dict.fromkeys(_readings.BESIDE, trial)}
    rows = {"colon": {"afterwards": dict.fromkeys(_readings.BESIDE, higher)}}
    assert meaning.bias(folds, rows, ["colon"]) == pytest.approx(5)
    assert meaning.bias(folds, rows, []) == 0
