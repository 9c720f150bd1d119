"""Tracking: the same looks whatever the batches, little memory, and a tidy table."""

import csv

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import streamsieve as ss
from streamsieve.evaluation import detection_curve, track
from streamsieve.exceptions import ParameterError, SourceError
from tests.helpers.streams import Rows
from tests.helpers.tier import cases


def stream(n=1000, p=12, seed=0, **kinds):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, p)) + y[:, None] * np.linspace(0, 1, p)
    return Rows(X, y, **kinds)


@settings(max_examples=cases(40))
@given(n=st.integers(1, 300), every=st.integers(5, 120), batch=st.integers(1, 200), sparse=st.booleans())
def test_looks_do_not_depend_on_batches(n, every, batch, sparse):
    rows = stream(n)
    if sparse:
        rows.X = sp.csr_array(np.where(np.abs(rows.X) > 1, rows.X, 0))
    seen = track(rows, ss.Screen("f", k=3, half_life=50), every, batch=batch)
    # one row of every look by hand: what a fresh screen says after exactly that many rows
    expected = [*range(every, n + 1, every)]
    if n % every:
        expected.append(n)
    assert seen.rows.tolist() == expected
    shown = seen["screen"]
    for look, row in enumerate(expected):
        fresh = ss.Screen("f", k=3, half_life=50).fit(rows.X[:row], rows.labels[:row])
        known = ~np.isnan(shown.scores[look])
        scores = fresh.scores_[shown.columns[known]]
        np.testing.assert_allclose(shown.scores[look, known], scores, rtol=1e-7, atol=1e-9)
        best = np.sort(fresh.scores_)[::-1]
        if best[0] > 0 and np.all(-np.diff(best[:4]) > 1e-6 * best[0]):  # no ties for rounding to decide
            np.testing.assert_array_equal(shown.selected[look], fresh.ranked_)


def test_several_screens_share_one_pass_and_keep_their_ledgers():
    rows = stream()
    screens = {"t": ss.Screen("t", k=2), "fading": ss.Screen("fisher", k=4, half_life=100)}
    seen = track(rows, screens, every=200)
    assert rows.reads == 1
    assert {name: len(shown.selected[0]) for name, shown in seen.screens.items()} == {"t": 2, "fading": 4}
    for name, screen in screens.items():
        assert screen.n_samples_seen_ == 1000
        steps = {decision.step for decision in screen.ledger_}
        assert steps <= {200, 400, 600, 800, 1000}
        entered = {decision.feature for decision in screen.ledger_ if decision.event == "kept"}
        assert entered == set(seen[name].names)


def test_only_features_that_were_selected_are_stored_from_then_on():
    y = np.tile([0, 1], 100)
    noise = np.random.default_rng(0).normal(size=(200, 50))
    X = noise.copy()
    X[:100, 7] += 5 * y[:100]
    X[100:, 3] += 50 * y[100:]
    shown = track(Rows(X, y), ss.Screen("t", k=1, half_life=10), every=50)["screen"]
    assert [top.tolist() for top in shown.selected] == [[7], [7], [3], [3]]
    assert shown.columns.tolist() == [7, 3]
    assert shown.names == ["x7", "x3"]
    assert np.isnan(shown.scores[:2, 1]).all()
    assert not np.isnan(shown.scores[2:]).any()
    assert not np.isnan(shown.scores[:, 0]).any()


def test_names_weights_and_progress_go_through():
    names = [f"gene_{j}" for j in range(12)]
    weight = np.random.default_rng(1).integers(0, 3, 1000).astype(float)
    rows, moved = stream(names=names, weight=weight), []
    seen = track(rows, ss.Screen("f", k=2), every=300, batch=128, progress=moved.append)
    assert sum(moved) == 1000
    fresh = ss.Screen("f", k=2).fit(rows.X, rows.labels, weight)
    assert seen["screen"].selected[-1].tolist() == fresh.ranked_.tolist()
    assert set(seen["screen"].names) <= set(names)


def test_the_table_is_tidy(tmp_path):
    rows = stream(500)
    seen = track(rows, {"a": ss.Screen("t", k=2), "b": ss.Screen("f", k=3)}, every=200)
    path = tmp_path / "track.csv"
    seen.to_csv(path)
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == ["rows", "screen", "feature", "column", "score", "place"]
    for look, row in enumerate(seen.rows):
        for name, shown in seen.screens.items():
            mine = [line for line in lines if line["rows"] == str(row) and line["screen"] == name]
            assert len(mine) == (~np.isnan(shown.scores[look])).sum()
            placed = sorted((int(line["place"]), int(line["column"])) for line in mine if line["place"])
            assert [column for _, column in placed] == shown.selected[look].tolist()
            by_column = {int(line["column"]): float(line["score"]) for line in mine}
            for column, score in zip(shown.columns.tolist(), shown.scores[look].tolist(), strict=True):
                assert np.isnan(score) or by_column[column] == score


def test_bad_requests_are_refused_by_name():
    screen = ss.Screen("t")
    with pytest.raises(ParameterError, match="every must be a whole number at least 1; got 0"):
        track(stream(), screen, every=0)
    with pytest.raises(ParameterError, match="screens is empty"):
        track(stream(), {})
    with pytest.raises(ParameterError, match="under two names"):
        track(stream(), {"a": screen, "b": screen})
    with pytest.raises(SourceError, match="no rows"):
        track(Rows(np.zeros((0, 3)), np.zeros(0)), screen)
    with pytest.raises(ParameterError, match="did you mean 'forgets'"):
        _ = track(stream(), {"forgets": screen})["forget"]


def test_found_counts_relevant_features_among_the_first():
    tops = [np.array([4, 2, 9]), np.array([], np.int64)]
    truths = [np.array([2, 9]), np.array([1])]
    assert detection_curve(tops, truths).tolist() == [1.0, 0.0]
    assert detection_curve(tops, truths, k=2).tolist() == [0.5, 0.0]
    assert np.isnan(detection_curve([np.array([1])], [np.array([], np.int64)])).all()
    with pytest.raises(ValueError):
        detection_curve(tops, truths[:1])
