"""The study of adaptation runs at a tiny size, skips aloud, and its learners and doubts are what they say."""

import numpy as np
import pytest
import scipy.sparse as sp

from studies.__main__ import main
from studies._desk import HERE, Desk
from studies.adaptation._blocks import Errors, change
from studies.adaptation._methods import BASELINES, CRITERIA, KINDS, NONE, RandomFeatures, Relearnt, named
from studies.adaptation._published import TABLES, figures, printed
from studies.adaptation._streams import STREAMS
from studies.adaptation.thesis import tally
from tests.studies.test_studies import check_page


@pytest.fixture
def tiny_data(tmp_path, monkeypatch):
    """Two small streams, one of them sparse; the meaning of a word changes half way."""
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120).astype(np.int8)
    X = (rng.random((120, 12)) < 0.3).astype(np.uint8)
    X[:, 0] = y ^ (np.arange(120) > 60)
    np.savez(folder / "usenet1.npz", X=X, y=y)
    rows, columns = np.nonzero(X)
    indptr = np.concatenate([[0], np.cumsum(X.sum(axis=1))])
    pieces = {"data": X[rows, columns], "indices": columns.astype(np.uint16), "indptr": indptr}
    np.savez(folder / "spam_assassin_stream.npz", y=y, shape=np.array(X.shape), **pieces)
    monkeypatch.setenv("STREAMSIEVE_DATA", str(folder))
    return folder


def test_it_runs_skips_aloud_and_goes_on_where_it_stopped(tmp_path, tiny_data, capsys):
    assert main(["adaptation", "--quick", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert sum("SKIPPED" in line for line in said) == 2
    text = check_page(tmp_path / "ADAPTATION.md")
    assert "the figures mean nothing" in text
    assert "electricity.npz is not there" in " ".join(text.split())
    assert main(["adaptation", "--quick", "--out", str(tmp_path)]) == 0
    assert not any(line.endswith(" s") for line in capsys.readouterr().out.splitlines())
    assert check_page(tmp_path / "ADAPTATION.md") == text


def test_the_doubt_covers_the_truth():
    rng = np.random.default_rng(0)
    rows = np.full(30, 50.0)
    found = [change(rng.binomial(50, 0.3, 30), rng.binomial(50, 0.25, 30), rows) for _ in range(300)]
    assert np.mean([one.difference for one in found]) == pytest.approx(0.05, abs=0.005)
    covered = np.mean([abs(one.difference - 0.05) <= one.doubt for one in found])
    assert 0.9 < covered < 0.99


def test_the_doubt_grows_where_blocks_resemble_their_neighbours():
    rng = np.random.default_rng(1)
    slow = np.repeat(rng.normal(size=10), 3)
    mixed = rng.permutation(slow)
    none, rows = np.zeros(30), np.ones(30)
    assert change(slow, none, rows).doubt > 1.3 * change(mixed, none, rows).doubt
    assert change(np.ones(30), none, rows) == (1.0, 0.0)
    assert not change([5.0], [1.0], [9.0]).certain


def test_annealing_learns_all_rows_or_the_last_ones():
    rng = np.random.default_rng(2)
    X = (rng.random((200, 8)) < 0.5).astype(float)
    y = X[:, 0].astype(np.int64)
    y[150:] = X[150:, 1]
    everything, lately = Relearnt(2, every=50), Relearnt(2, every=50, window=40)
    for low in range(0, 200, 50):
        for model in (everything, lately):
            model.partial_fit(sp.csr_array(X[low : low + 50]), y[low : low + 50])
    assert everything.rows_.shape == (200, 8)
    assert lately.rows_.shape == (40, 8)
    assert np.mean(lately.predict(X) == X[:, 1]) == 1
    assert np.mean(everything.predict(X) == X[:, 0]) > 0.7
    assert lately.fit(X[:50], y[:50]).rows_.shape == (40, 8)
    # a single class, or no word at all, is nothing to learn from
    assert Relearnt(2).fit(X[:9], np.ones(9, np.int64)).predict(X).tolist() == [1] * 200
    assert Relearnt(2).fit(np.zeros((5, 8)), np.array([0, 1, 1, 0, 1])).predict(X[:2]).tolist() == [1, 1]


def test_randomly_drawn_features_stay_the_same():
    drawn = RandomFeatures(3, random_state=0).partial_fit(np.zeros((1, 9)))
    before = drawn.get_support().copy()
    assert before.sum() == 3
    np.testing.assert_array_equal(drawn.partial_fit(np.zeros((1, 9))).get_support(), before)


def test_every_printed_number_is_there():
    assert len(figures()) == len(TABLES) * len(KINDS) * (2 * len(CRITERIA) + 2)
    assert printed("20 News Groups", "fsa", "mutual_info", adapts=True) == 0.061
    assert printed("URL", "sgd", "t") == 0.0097
    assert tally("20 News Groups") == (2, 4, 4)
    assert tally("URL") == (8, 0, 2)


def test_the_numbers_of_the_published_page_are_sound():
    desk = Desk("adaptation", HERE)
    for name, stream in STREAMS.items():
        errors = Errors(desk, name)
        assert errors.predicted.sum() == errors.stored["rows"] - stream.batch
        majority = errors.share(errors.wrong(NONE, BASELINES[0]))
        assert errors.share(errors.wrong(NONE, "sgd, forgets")) < majority
        for criterion in CRITERIA:
            for life in (None, *errors.lives):
                assert 0 < errors.share(errors.wrong(named(criterion, life), "sgd")) < 0.5
