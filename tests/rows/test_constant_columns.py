"""A constant column may be a model's intercept, but it is never selected."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import StateError
from streamsieve.rows.linear.constant_columns import ConstantColumns
from streamsieve.rows.linear.entries import row_entries
from tests.summaries.streams import assert_same_bits, snapshot

SELECTORS = [
    ss.OFS(k=4), ss.OFS(k=4, variant="paper"), ss.SOFS(k=4), ss.PartialOFS(k=4), ss.MISSION(k=4, width=2**12),
]  # fmt: skip


def shifted(seed=0, n=200):
    """Twelve positive columns and a constant one, which serves as an intercept."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    return np.c_[np.abs(X), np.full((n, 1), 3.3)], y


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_a_constant_column_is_not_selected(selector, form):
    for seed in range(5):
        X, y = shifted(seed)
        for size in (200, 30):
            fitted = type(selector)(**selector.get_params())
            for low in range(0, len(y), size):
                fitted.partial_fit(form(X[low : low + size]), y[low : low + size])
            assert 12 not in fitted.selected_
            assert fitted.scores_[12] == 0
            assert len(fitted.selected_) >= 3
            again = type(fitted).from_bytes(fitted.to_bytes())
            assert np.array_equal(again.scores_, fitted.scores_)


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_a_column_that_varies_later_is_a_feature_again(selector):
    X, y = shifted()
    X[-1, 12] = 3.4
    fitted = type(selector)(**selector.get_params()).fit(X, y)
    # as any other feature, the paper's OFS may have truncated it
    assert fitted.scores_[12] > 0 or selector.get_params().get("variant") == "paper"


def test_a_constant_name_of_forgotten_ones_is_not_selected(tmp_path):
    X, y = shifted()
    mission = ss.MISSION(k=13, width=2**12)
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        mission.learn_one({f"x{j}": value for j, value in enumerate(row)}, label)
    names = mission.get_feature_names_out().tolist()
    assert "x12" in mission.feature_names_in_
    assert "x12" not in names
    assert len(names) == 12
    assert mission.transform_one(dict.fromkeys([*names, "x12"], 1.0)).keys() == {*names}
    assert mission.feature_names_in_[mission.get_support()].tolist() == names
    mission.save(tmp_path / "m.sieve")
    assert ss.load(tmp_path / "m.sieve").get_feature_names_out().tolist() == names


def test_models_that_merge_have_the_constants_of_both():
    X, y = shifted()
    first, second = (
        ss.MISSION(k=4, width=2**12).fit(X[part], y[part]) for part in (slice(100), slice(100, 200))
    )
    assert 12 not in first.merge(second).selected_
    X[100:, 12] = 3.4
    first, second = (
        ss.MISSION(k=4, width=2**12).fit(X[part], y[part]) for part in (slice(100), slice(100, 200))
    )
    assert first.merge(second).scores_[12] > 0


def test_constants_are_those_of_the_whole_matrix():
    rng = np.random.default_rng(1)
    for _ in range(300):
        n, p = int(rng.integers(1, 9)), int(rng.integers(1, 7))
        X = rng.integers(0, 3, (n, p)) * 1.0
        X[:, rng.random(p) < 0.5] = rng.integers(0, 3)
        parts, low = ConstantColumns(), 0
        while low < n:
            high = low + int(rng.integers(1, 4))
            rows = X[low:high]
            parts.update(row_entries(sp.csr_array(rows) if rng.random() < 0.5 else rows))
            low = high
            saved = snapshot(parts)
            parts = ConstantColumns.from_state(saved)
            assert_same_bits(saved, snapshot(parts))
        wanted = np.flatnonzero((np.ptp(X, axis=0) == 0) & (X[0] != 0)) if n > 1 else []
        assert parts.columns.tolist() == list(wanted)


def test_a_state_with_a_column_of_zeros_is_refused():
    parts = ConstantColumns()
    parts.update(row_entries(np.ones((2, 2))))
    with pytest.raises(StateError, match="without a value"):
        ConstantColumns.from_state({**snapshot(parts), "values": np.array([1.0, 0.0])})


@pytest.mark.parametrize("criterion", ["f", "fisher", "t", "chi2", "mutual_info", "su", "correlation"])
def test_a_screen_keeps_no_constant_column_to_fill_up_k(criterion):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(60) % 2)
    X = np.c_[np.ones(60), y + rng.normal(size=60), np.full(60, 0.1), rng.normal(size=60)]
    y = y.astype(float) if criterion == "correlation" else y
    for options in ({"k": 4}, {"percentile": 100}):
        assert ss.Screen(criterion, **options).fit(X, y).selected_.tolist() == [1, 3]
    assert len(ss.Screen(criterion, k=1).fit(X[:1, [0, 2]], y[:1]).selected_) == 1  # too early to tell
