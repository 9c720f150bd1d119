"""A stream of columns goes on next week, over the same rows and labels or not at all."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import streamsieve as ss
from streamsieve import state
from streamsieve.base.row_fingerprints import fingerprints
from streamsieve.exceptions import NotBegunError, SchemaError, StateError, TargetError

SELECTORS = [ss.SAOLA(alpha=0.1), ss.SAOLA(alpha=0.1, measure="su"), ss.AlphaInvesting()]


def toy(n=120, p=20, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, p))
    X[:, ::4] += y[:, None]
    ids = [f"customer {i}" for i in rng.permutation(n)]
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(p)], index=ids), pd.Series(y, index=ids)


def next_week(sieve, path):
    sieve.save(path)
    return ss.load(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "monday.sieve"


# ------------------------------------------------------------------------------------ the same rows


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_two_weeks_are_one_run(selector, path):
    X, y = toy()
    whole = type(selector)(**selector.get_params()).begin(y)
    whole.offer(X)
    first = type(selector)(**selector.get_params()).begin(y)
    first.offer(X.iloc[:, :9])
    second = next_week(first, path).same_rows(y)
    second.offer(X.iloc[:, 9:])
    assert [d[:4] for d in second.ledger_] == [d[:4] for d in whole.ledger_]
    assert second.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()


def test_a_name_of_last_week_is_refused(path):
    X, y = toy()
    sieve = ss.SAOLA().begin(y)
    sieve.offer(X.iloc[:, :9])
    again = next_week(sieve, path)
    with pytest.raises(SchemaError, match="'f3' occurs twice"):
        again.offer(X.iloc[:, 3:12])
    assert again.n_features_in_ == 9
    again.offer(X.iloc[:, 9:])


@pytest.mark.parametrize("where", ["rows=", "y", "first frame", "fit"])
def test_rows_in_another_order_are_refused(where, path):
    X, y = toy()
    sieve = ss.SAOLA()
    if where == "fit":
        sieve.fit(X.iloc[:, :9], y.to_numpy())
    else:
        sieve.begin(y if where == "y" else y.to_numpy(), rows=list(X.index) if where == "rows=" else None)
        sieve.offer(X.iloc[:, :9])
    again = next_week(sieve, path)
    before = list(again.ledger_)
    swapped = X.iloc[[1, 0, *range(2, 120)], 9:]
    text = rf"2 of 120 identifiers differ, the first is that of row 0 \({X.index[1]}\); .* in another order"
    for wrong in (swapped, swapped["f9"]):
        with pytest.raises(SchemaError, match=text):
            again.offer(wrong)
    with pytest.raises(SchemaError, match=text):
        again.same_rows(rows=swapped.index)
    others = X.iloc[:, 9:].rename(index={X.index[7]: "customer 999"})
    with pytest.raises(SchemaError, match=r"1 of 120 .* row 7 \(customer 999\); columns of one stream"):
        again.offer(others)
    assert list(again.ledger_) == before
    assert again.n_features_in_ == 9
    again.same_rows(rows=X.index).offer(X.iloc[:, 9:])
    assert again.n_features_in_ == 20


def test_a_refused_frame_does_not_give_the_rows_their_names():
    X, y = toy()
    sieve = ss.SAOLA().begin(y.to_numpy())
    with pytest.raises(ValueError, match="NaN"):
        sieve.offer(X * np.nan)
    sieve.offer(X.iloc[::-1, :3])  # the first that was taken; its order is the order from now on
    with pytest.raises(SchemaError, match="another order"):
        sieve.offer(X.iloc[:, 3:])


def test_what_has_no_identifiers_is_not_compared():
    X, y = toy()
    sieve = ss.SAOLA().begin(y)
    sieve.offer(X.iloc[:, :2].to_numpy())
    sieve.offer(X.iloc[:, 2:4].reset_index(drop=True))  # 0, 1, 2, ... is what pandas makes up
    sieve.offer(pl.DataFrame(X.iloc[:, 4:6].to_dict("list")))
    sieve.offer(X.iloc[:, 6:7].to_numpy().tolist(), names="listed")
    assert sieve.n_features_in_ == 7


def test_fit_pairs_rows_by_order_as_scikit_learn_does():
    X, y = toy()
    expected = ss.SAOLA().fit(X.to_numpy(), y.to_numpy()).selected_.tolist()
    shuffled = pd.Series(y.to_numpy(), index=y.index[::-1])
    assert ss.SAOLA().fit(X, shuffled).selected_.tolist() == expected


# ------------------------------------------------------------------------------------ the same target


@pytest.mark.parametrize("labels", [np.array(["no", "yes"]), np.array([0, 1]), np.array([False, True])])
def test_another_target_is_refused(labels, path):
    X, y = toy()
    y = labels[y.to_numpy()]
    sieve = ss.SAOLA().begin(y)
    sieve.offer(X.to_numpy()[:, :9])
    again = next_week(sieve, path)
    assert again.same_rows(y) is again
    again.same_rows(y.tolist())
    wrong = y.copy()
    wrong[[5, 9, 11]] = y[[4, 8, 10]]
    with pytest.raises(TargetError, match=rf"3 of 120 rows differ, the first is row 5 \({wrong[5]}\)"):
        again.same_rows(wrong)
    with pytest.raises(TargetError, match=r"120 of 120 .* in another order"):
        again.same_rows(y[::-1])
    with pytest.raises(TargetError, match="y has 119 rows, but begin"):
        again.same_rows(y[:-1])


def test_a_numeric_target_is_the_same_whatever_its_type(path):
    X, _ = toy()
    y = np.arange(120) / 4
    sieve = ss.SAOLA().begin(y.astype(np.float32))
    sieve.offer(X.iloc[:, :9])
    again = next_week(sieve, path).same_rows(y)
    with pytest.raises(TargetError, match=r"1 of 120 rows differ, the first is row 0 \(0.1\)"):
        again.same_rows(np.r_[0.1, y[1:]])


def test_the_index_of_a_target_is_compared_too(path):
    X, y = toy()
    sieve = ss.SAOLA().begin(y)
    sieve.offer(X.iloc[:, :9])
    again = next_week(sieve, path)
    renamed = pd.Series(y.to_numpy(), index=y.index[::-1])
    with pytest.raises(SchemaError, match="120 of 120 identifiers differ"):
        again.same_rows(renamed)


# ------------------------------------------------------------------------------------ what cannot be compared


def test_questions_without_an_answer_are_refused():
    X, y = toy()
    with pytest.raises(NotBegunError, match="begin"):
        ss.SAOLA().same_rows(y)
    sieve = ss.SAOLA().begin(y.to_numpy())
    with pytest.raises(SchemaError, match="nothing to compare"):
        sieve.same_rows()
    with pytest.raises(SchemaError, match="no identifiers to compare with"):
        sieve.same_rows(rows=X.index)
    for rows in (X.index[:-1], [[1, 2]] * 120):
        with pytest.raises(SchemaError, match="rows must name 120 rows"):
            ss.SAOLA().begin(y.to_numpy(), rows=rows)


def test_a_refused_begin_changes_nothing():
    X, y = toy()
    sieve = ss.SAOLA().fit(X, y)
    before = sieve.selected_.tolist()
    with pytest.raises(SchemaError):
        sieve.begin(y, rows=[1, 2])
    assert sieve.selected_.tolist() == before


@pytest.mark.parametrize("name", ["y", "rows"])
def test_identities_that_do_not_fit_are_refused(name, path):
    X, y = toy()
    ss.SAOLA().fit(X, y).save(path)

    header, arrays = state.read(path)
    arrays[f"identity_/{name}"] = arrays[f"identity_/{name}"][:-1].copy()
    state.write(path, {key: header[key] for key in ("class", "parameters")}, arrays)
    with pytest.raises(StateError):
        ss.load(path)


# ------------------------------------------------------------------------------------ identifiers


def test_fingerprints_know_equal_values_of_other_types():
    whole = np.array([3, -7, 0, 2**40])
    for kind in (np.int64, np.float64, object):
        assert np.array_equal(fingerprints(whole.astype(kind)), fingerprints(whole))
    assert np.array_equal(fingerprints(np.array([0.0, 1.5])), fingerprints(np.array([-0.0, 1.5], object)))
    days = np.array(["2026-01-01", "2026-01-02"], "M8[D]")
    assert np.array_equal(fingerprints(days), fingerprints(days.astype("M8[ns]")))
    texts = np.array(["1", "a", "é"])
    assert np.array_equal(fingerprints(texts), fingerprints(texts.astype(object)))
    assert len(np.unique(fingerprints(np.array(["1", 1, "a", ("a", 1), None, 1.5, "b"], object)))) == 7


@pytest.mark.parametrize("index", [
    pd.RangeIndex(500, 620),
    pd.date_range("2026-01-01", periods=120, tz="UTC"),
    pd.MultiIndex.from_product([range(12), list("abcdefghij")]),
    pd.CategoricalIndex(list("abcd") * 30),
], ids=lambda index: type(index).__name__)  # fmt: skip
def test_every_kind_of_index_is_known_again(index, path):
    X, y = toy()
    X.index = index
    sieve = ss.SAOLA().begin(y.to_numpy())
    sieve.offer(X.iloc[:, :9])
    again = next_week(sieve, path)
    again.offer(X.iloc[:, 9:12].copy())
    with pytest.raises(SchemaError, match="another order"):
        again.offer(X.iloc[::-1, 12:])


def test_single_columns_and_pieces_of_one_frame_are_not_compared_again(monkeypatch):
    X, y = toy()
    sieve = ss.SAOLA().begin(y)
    sieve.offer(X.iloc[:, :1])
    calls = []
    module = "streamsieve.base.row_fingerprints.fingerprints"
    monkeypatch.setattr(module, lambda values: calls.append(len(values)) or fingerprints(values))
    sieve.offer(X.iloc[:, 1:2])  # the same index: one object
    sieve.offer(X["f2"].to_numpy())
    sieve.offer(X["f3"].to_numpy().copy(), names="f3")
    assert calls == []
    sieve.offer(X.iloc[:, 4:5].set_axis(list(X.index)))  # an index of its own
    assert calls == [120]
