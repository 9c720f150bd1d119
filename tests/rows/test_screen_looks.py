"""Screen(looks="any"): a selection that may be read at any time, by alpha spending."""

import numpy as np
import pytest
from sklearn.feature_selection import f_classif

import streamsieve as ss
from streamsieve.exceptions import CapabilityError, ParameterError, StateError
from streamsieve.rows.looks import next_look


def grid(rows):
    """Return (row, share of alpha) of all looks up to a number of rows, straight from the definition."""
    looks = []
    for d in range(1, 60):
        for quarter in range(4):
            row = 64 * 2 ** (d - 1) * (4 + quarter) // 4
            if row > rows:
                return looks
            looks.append((row, 1 / (4 * d * (d + 1))))
    return looks


def stream(rng, n, p=12):
    y = rng.integers(0, 2, n)
    y[:4] = 0, 1, 0, 1
    X = rng.normal(size=(n, p))
    X[:, :3] += y[:, None] * [0.3, 0.6, 1.2]
    return X, y


def selected_by_twin(X, y, alpha, correction):
    """Return the selection of the last look, by scikit-learn's p-values over the rows up to it."""
    looks = grid(len(y))
    if not looks:
        return []
    row, share = looks[-1]
    p = f_classif(X[:row], y[:row])[1]
    if correction == "bh":
        rank = np.argsort(np.argsort(p)) + 1
        passed = p[p <= alpha * share * rank / len(p)]
        return np.flatnonzero(p <= passed.max()).tolist() if len(passed) else []
    return np.flatnonzero(p <= alpha * share / (len(p) if correction == "bonferroni" else 1)).tolist()


def test_looks_are_four_per_doubling_and_spend_alpha_and_no_more():
    rows = 0
    for row, share in grid(100_000):
        look = next_look(rows + 1)
        assert (look.row, look.level(0.05)) == (row, pytest.approx(0.05 * share))
        assert next_look(row) == look
        rows = row
    assert 0.9 < sum(share for _, share in grid(2**30)) < 1


@pytest.mark.parametrize("correction", ["none", "bonferroni", "bh"])
def test_the_selection_is_that_of_the_last_look_however_rows_are_cut(correction):
    rng = np.random.default_rng(0)
    X, y = stream(rng, 700)
    for cut in (1, 37, 64, 700):
        screen = ss.Screen("f", alpha=0.2, correction=correction, looks="any")
        for low in range(0, 700, cut):
            screen.partial_fit(X[low : low + cut], y[low : low + cut])
            if low % 5 == 0:  # reading changes nothing
                n = min(low + cut, 700)
                assert screen.selected_.tolist() == selected_by_twin(X[:n], y[:n], 0.2, correction), (cut, n)
            if low == 10 * cut:
                screen = ss.Screen.from_bytes(screen.to_bytes())
        assert screen.selected_.tolist() == selected_by_twin(X, y, 0.2, correction)
        assert {d.step for d in screen.ledger_} <= {row for row, _ in grid(700)}
    assert len(screen.selected_) >= 2


def test_before_64_rows_nothing_is_selected():
    X, y = stream(np.random.default_rng(1), 64)
    screen = ss.Screen("f", alpha=0.2, looks="any").partial_fit(X[:63], y[:63])
    assert len(screen.selected_) == 0
    assert screen.pvalues_.min() < 0.05
    assert len(screen.partial_fit(X[63:], y[63:]).selected_) > 0


def ever_selected(rng, looks, runs, **parameters):
    """Return the share of null streams in which some feature is selected at one of 40 readings."""
    hit = 0
    for _ in range(runs):
        screen = ss.Screen("f", alpha=0.05, correction="bonferroni", looks=looks, ledger="none", **parameters)
        found = False
        for _ in range(40):
            y = rng.permutation(32) % 2
            found |= len(screen.partial_fit(rng.normal(size=(32, 20)), y).selected_) > 0
        hit += found
    return hit / runs


@pytest.mark.parametrize(
    "parameters", [{}, {"half_life": 100.0}, {"window": 100}], ids=["all", "fading", "window"]
)
def test_repeated_readings_multiply_errors_unless_alpha_is_spent(parameters):
    rng = np.random.default_rng(2)
    assert ever_selected(rng, "once", 20, **parameters) > 0.15
    assert ever_selected(rng, "any", 40, **parameters) <= 0.1  # alpha + 1.5 standard errors


def test_open_features_are_counted_as_they_come():
    rng = np.random.default_rng(3)
    X, y = stream(rng, 200, p=4)
    screen = ss.Screen("f", alpha=0.1, correction="bonferroni", looks="any")
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        screen.learn_one({f"f{j}": v for j, v in enumerate(row) if j < 2 or i >= 100}, int(label))
    assert "f1" in screen.get_feature_names_out()


def test_what_any_look_needs_is_said():
    X, y = stream(np.random.default_rng(4), 100)
    with pytest.raises(ParameterError, match="looks='any' spends alpha, which was not given"):
        ss.Screen("f", looks="any").fit(X, y)
    with pytest.raises(ParameterError, match="looks='any' does not go with on_drift"):
        ss.Screen("f", alpha=0.1, looks="any", on_drift="reset").fit(X, y)
    with pytest.raises(ParameterError, match="looks"):
        ss.Screen("f", alpha=0.1, looks="often").fit(X, y)
    screen = ss.Screen("f", alpha=0.1, looks="any").fit(X, y)
    with pytest.raises(CapabilityError, match="cannot merge"):
        screen.merge(ss.Screen("f", alpha=0.1, looks="any").fit(X, y))
    with pytest.raises(ParameterError, match="was set after rows were learned"):
        screen.set_params(looks="once").partial_fit(X, y)
    assert len(screen.fit(X, y).selected_) >= 1
    screen._spends_ = True
    with pytest.raises(StateError, match="looks"):
        ss.Screen.from_bytes(screen.to_bytes())
