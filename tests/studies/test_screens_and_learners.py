"""The study of screens and learners runs at a tiny size, skips aloud, and does what its page says."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from studies.__main__ import main
from studies._desk import HERE, Desk
from studies.screens_and_learners._cases import CASES, Limits, read
from studies.screens_and_learners._methods import LEAF, TREES, Splittable, learners, screens
from studies.screens_and_learners._published import COUNTED, LEARNERS, SCREENS, figures, printed
from studies.screens_and_learners._runs import LITERAL, RIGHT
from studies.screens_and_learners._tiers import Found
from studies.screens_and_learners.groups import marks
from tests.studies.test_studies import check_page


@pytest.fixture
def tiny_data(tmp_path, monkeypatch):
    """Four small files with the names and kinds of the real ones."""
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60).astype(np.int8)
    X = rng.integers(0, 4, (60, 16)).astype(np.float32) * (rng.random((60, 16)) < 0.6)
    X[:, 0] += 2 * y
    X[:, 7] = 1  # says nothing
    for name in ("madelon", "colon_raw"):
        np.savez(folder / f"{name}.npz", X=X, y=y)
    rows, columns = np.nonzero(X)
    pieces = {"data": X[rows, columns], "indices": columns.astype(np.uint16)}
    indptr = np.concatenate([[0], np.cumsum((X != 0).sum(axis=1))])
    np.savez(folder / "dexter.npz", y=y, shape=np.array(X.shape), indptr=indptr, **pieces)
    north = X[:, 0] + rng.random(60)
    X[-5:], north[-5:] = X[:5], north[:5]
    np.savez(folder / "ujiindoorloc.npz", X=X, y=y, lat=north)
    monkeypatch.setenv("STREAMSIEVE_DATA", str(folder))
    return folder


def test_it_runs_skips_aloud_and_goes_on_where_it_stopped(tmp_path, tiny_data, capsys):
    assert main(["screens_and_learners", "--quick", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert sum("SKIPPED" in line for line in said) == 5  # three sets, two of them twice
    text = check_page(tmp_path / "SCREENS_AND_LEARNERS.md")
    assert "the figures mean nothing" in text
    assert "gisette_valid.npz is not there" in " ".join(text.split())
    assert text.count("](images/") == 1
    assert main(["screens_and_learners", "--quick", "--out", str(tmp_path)]) == 0
    assert not any(line.endswith(" s") for line in capsys.readouterr().out.splitlines())
    assert check_page(tmp_path / "SCREENS_AND_LEARNERS.md") == text


def test_data_is_prepared_as_it_is_said(tiny_data):
    X, _ = read(CASES["dexter"], Limits())
    assert X.shape == (60, 15)
    np.testing.assert_array_equal(X, read(CASES["madelon"], Limits())[0])
    assert len(read(CASES["ujiindoorloc_latitude"], Limits())[1]) == 55
    assert read(CASES["madelon"], Limits(rows=20, columns=4))[0].shape == (20, 4)


def test_numbers_of_features_are_those_of_the_thesis():
    assert CASES["madelon"].sizes(500)[:3] == [5, 22, 53]
    assert CASES["dexter"].sizes(100) == [11, 83, 100]
    for case in CASES.values():
        if case.printed is not None:
            assert float(figures()["2.1", case.printed, "tau"]) == case.tau


def test_columns_that_trees_cannot_split_change_nothing():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 30)) * (rng.random((150, 30)) < np.linspace(0.02, 1, 30))
    y = (X[:, 20:].sum(axis=1) + X[:, :3].sum(axis=1) > 0).astype(np.int64)
    kept = Splittable().fit(X).columns_
    below = (X[:, None] <= X).sum(axis=0)  # rows on the left of a split at every value
    smaller_side = np.minimum(below, 150 - below).max(axis=0)
    assert 0 < len(kept) < 30
    np.testing.assert_array_equal(kept, np.flatnonzero(smaller_side >= LEAF))
    plain = HistGradientBoostingClassifier(**TREES, random_state=0).fit(X, y)
    boosting = learners(numeric=False, few=False)["boosting"].set_params(trees__random_state=0).fit(X, y)
    np.testing.assert_array_equal(boosting.decision_function(X), plain.decision_function(X))
    assert Splittable().fit(np.zeros((90, 3))).columns_.tolist() == [0]


def test_every_printed_number_is_there():
    for screen in [*screens(numeric=False, few=False)]:
        for learner in LEARNERS:
            assert 0 <= int(printed("2.8", screen, learner)) <= COUNTED
            if screen != "none":
                assert 0 <= int(printed("2.6", screen, learner)) <= COUNTED
        row = [int(printed("2.8", screen, learner)) for learner in LEARNERS]
        assert sum(row) == int(printed("2.9", screen, "combinations"))
    assert set(screens(numeric=True, few=False)) | set(screens(numeric=False, few=False)) == set(SCREENS)
    assert printed("2.7", "relief", "Dexter") == "blank"
    assert printed("2.3", "correlation", "Indoorloc") == "="
    assert printed("2.6", "mutual_info", "logistic") == "5"


def test_the_numbers_of_the_published_page_are_sound():
    desk = Desk("screens_and_learners", HERE)
    assert len(marks(desk, [name for name in CASES if CASES[name].printed])) == 24
    for name, case in CASES.items():
        for way in (RIGHT, LITERAL) if case.literal_runs else (RIGHT,):
            found = Found(desk, name, way)
            assert found.groups().tiers.min() == 1
            assert all(0.5 < found.peak(pair) <= 1 for pair in found.by_pair)
    madelon = Found(desk, "madelon", RIGHT)
    assert madelon.best("none") == "boosting"  # clusters on a cube: linear models hardly beat guessing
    assert madelon.peak(("none", "svm")) < 0.62
