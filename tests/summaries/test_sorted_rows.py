"""Rows that were sorted for one query are not sorted for the next, and no bit depends on it."""

import numpy as np
import pytest

import streamsieve as ss
from streamsieve._kernels import quantiles_weighted as kernel
from streamsieve.summaries import Quantiles
from streamsieve.summaries.quantiles import sorted_rows
from streamsieve.summaries.quantiles.weighted import ordered

COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "ties of both signs": lambda rng, n: rng.integers(-3, 4, n) / 4,
    "zeros of both signs": lambda rng, n: rng.choice([-0.0, 0.0, 1.0], n),
    "missing": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
    "one float32": lambda rng, n: -1e9 + rng.integers(0, 9, n) / 8,
    "tiny": lambda rng, n: rng.choice([-1e-60, 1e-60, 0.0], n),
}


def tables(summary):
    return [block.counts.tobytes() for block in summary.tables(5)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_sorted_in_pieces_are_those_sorted_at_once(dtype):
    rng = np.random.default_rng(0)
    for pieces in ([1] * 40, [300], [7, 64, 65, 1, 200]):
        n = sum(pieces)
        rows = np.column_stack([make(rng, n) for make in COLUMNS.values()]).astype(dtype)
        u, kept = rng.random(n), sorted_rows.SortedRows(rows.shape[1], rows.dtype)
        for end in np.cumsum(pieces):
            missing = np.zeros((2, rows.shape[1]))
            assert kept.make_room(n)
            found = kept.read(rows[:end], u[:end], 0, rows.shape[1], missing[0])
            wanted = ordered(rows[:end], u[:end], missing[1])
            for mine, theirs in zip((*found, missing[0]), (*wanted, missing[1]), strict=True):
                assert np.ascontiguousarray(mine).tobytes() == np.ascontiguousarray(theirs).tobytes()


def test_few_new_rows_are_inserted_and_many_are_sorted_with_the_others():
    """At the first query of a full buffer an insertion takes several times as long as a sort."""
    few = sorted_rows.SortedRows(3, np.dtype(np.float64))
    many = sorted_rows.MANY_ROWS
    rows = (many, many + 1, 3 * many, 3 * many + 1)
    assert [few.few_new(n) for n in rows] == [True, True, False, True]


def test_queries_between_any_steps_change_no_bit():
    """Flushes, forgetting, fading, new features and merges: what is read equals that of a reloaded copy."""
    rng = np.random.default_rng(1)
    for _ in range(6):
        summary, width = Quantiles(0.1, half_life=50), 6
        for _ in range(25):
            n = int(rng.integers(1, 40))
            X = np.column_stack([make(rng, n) for make in COLUMNS.values()])[:, np.arange(width) % 6]
            summary.update(X, rng.integers(0, 2, n))
            step = rng.integers(5)
            if step == 0:
                summary.forget(np.array([1]))
            elif step == 1:
                summary.fade(0.5)
            elif step == 2:
                width += 1
            elif step == 3:
                summary.merge(Quantiles.from_state(summary.state()))
            if rng.random() < 0.7:
                assert tables(summary) == tables(Quantiles.from_state(summary.state()))


def test_a_screen_that_fades_sorts_every_row_once(monkeypatch):
    """Asked every 50 rows, it used to sort up to 2,048 rows of a class again each time."""
    counted = []
    insert = kernel.insert
    monkeypatch.setattr(
        kernel,
        "insert",
        lambda rows, low, high, *rest: (counted.append(high - low), insert(rows, low, high, *rest)),
    )
    rng = np.random.default_rng(2)
    screen = ss.Screen("mutual_info", k=3, half_life=200)
    for _ in range(20):
        screen.partial_fit(rng.normal(size=(50, 8)), rng.integers(0, 2, 50)).get_support()
    assert sum(counted) == 1000


def test_too_many_rows_are_sorted_again(monkeypatch):
    monkeypatch.setattr(sorted_rows, "MOST_BYTES", 100)
    rng = np.random.default_rng(3)
    summary = Quantiles(half_life=100)
    summary.update(rng.normal(size=(60, 3)), rng.integers(0, 2, 60))
    found = tables(summary)
    monkeypatch.undo()
    assert tables(Quantiles.from_state(summary.state())) == found
