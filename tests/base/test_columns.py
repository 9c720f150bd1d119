"""What every selector over columns owes its user, beyond the contracts."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve import state
from streamsieve.exceptions import BadValueError, ParameterError, SchemaError, StateError
from tests.helpers.tier import cases


def toy(n=200, p=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, p))
    X[:, ::7] += y[:, None]
    return X, y


@pytest.mark.parametrize("ledger", ["all", "kept", "none"])
def test_names_like_made_up_ones_are_names(ledger, tmp_path):
    X, y = toy()
    names = [f"x{j}" for j in np.random.default_rng(1).permutation(40)]
    sieve = ss.SAOLA(alpha=0.2, ledger=ledger).begin(y)
    for j, name in enumerate(names):
        sieve.offer(X[:, j].copy(), names=[name])
    kept = sieve.get_feature_names_out().tolist()
    assert kept == [names[j] for j in sieve.selected_]
    sieve.save(tmp_path / "s.sieve")
    again = ss.load(tmp_path / "s.sieve")
    assert again.get_feature_names_out().tolist() == kept
    with pytest.raises(SchemaError, match="occurs twice"):
        again.offer(X[:, 0], names=[kept[0]])


def test_only_canonical_made_up_names_are_taken():
    X, y = toy()
    sieve = ss.SAOLA().begin(y)
    sieve.offer(X[:, :3])
    for free in ("x01", "x3", "x" + "9" * 5000, "x²"):
        sieve.names_.check([free], 3)
    with pytest.raises(SchemaError, match="'x1' occurs twice"):
        sieve.offer(X[:, 3], names=["x1"])


def test_a_refused_name_costs_nothing():
    X, y = toy()
    sieve = ss.AlphaInvesting().begin(y)
    sieve.offer(X[:, 1].copy(), names=["a"])
    wealth = sieve.wealth_
    for names in (["a"], ["b", "c"]):
        with pytest.raises(SchemaError):
            sieve.offer(X[:, 2].copy(), names=names)
    assert sieve.wealth_ == wealth
    assert sieve.n_features_in_ == 1


def test_a_reused_list_of_names_does_not_rewrite_the_ledger():
    X, y = toy()
    names = ["a", "b"]
    sieve = ss.SAOLA().begin(y)
    sieve.offer(X[:, :2], names=names)
    names[:] = ["c", "d"]
    sieve.offer(X[:, 2:4], names=names)
    assert [d.feature for d in sieve.ledger_ if d.event != "evicted"] == ["a", "b", "c", "d"]


def test_a_failing_callback_leaves_what_was_decided_on_record():
    X, y = toy()

    def broken(_):
        raise RuntimeError("no accuracy today")

    names = [f"f{j}" for j in range(40)]
    sieve = ss.SAOLA(stop=ss.Stop(target=0.9, callback=broken)).begin(y)
    with pytest.raises(RuntimeError, match="no accuracy today"):
        sieve.offer(X, names=names)
    seen = sieve.n_features_in_
    assert len(sieve.selected_) == 1
    assert [d.feature for d in sieve.ledger_] == names[:seen]
    sieve.set_params(stop=None)
    sieve.offer(X[:, seen:], names=names[seen:])
    expected = ss.SAOLA().begin(y)
    expected.offer(X, names=names)
    assert [d[:4] for d in sieve.ledger_] == [d[:4] for d in expected.ledger_]


def test_what_a_selector_takes_is_settled_when_it_begins():
    X, y = toy()
    X[3, 1] = np.nan
    sieve = ss.SAOLA().begin(y).set_params(missing="omit")
    with pytest.raises(BadValueError, match="feature 'x1' has missing values"):
        sieve.offer(X)  # the test that it began with cannot leave them out
    assert sieve.begin(y).offer(X)[1].feature == "x1"


def test_a_callback_must_be_set_again_after_loading(tmp_path):
    X, y = toy()
    sieve = ss.SAOLA(stop=ss.Stop(target=0.9, callback=lambda _: 0.0)).begin(y)
    sieve.offer(X[:, :1])
    sieve.save(tmp_path / "s.sieve")
    again = ss.load(tmp_path / "s.sieve")
    with pytest.raises(ParameterError, match="callback was not saved"):
        again.offer(X[:, 1:])


@pytest.mark.parametrize("measure", ["fisher_z", "su"])
def test_a_state_over_other_rows_is_refused(measure, tmp_path):
    X, y = toy()
    path = tmp_path / "s.sieve"
    ss.SAOLA(measure=measure).fit(X, y).save(path)
    header, arrays = state.read(path)
    arrays["n_samples_seen_"] = np.array(100)
    state.write(path, {k: v for k, v in header.items() if k not in ("format", "streamsieve")}, arrays)
    with pytest.raises(StateError, match="should be|rows"):
        ss.SAOLA.load(path)


def test_a_refused_offer_keeps_the_names_of_a_fit():
    X, y = toy()
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(40)])
    sieve = ss.SAOLA().fit(frame, y)
    with pytest.raises(SchemaError):
        sieve.offer(X[:10, 0])
    assert sieve.feature_names_in_.tolist() == frame.columns.tolist()
    sieve.offer(X[:, 1].copy())
    assert not hasattr(sieve, "feature_names_in_")
    assert sieve.transform(frame).columns.tolist() == sieve.get_feature_names_out().tolist()


def test_of_a_frame_only_the_kept_columns_are_looked_at():
    X, y = toy()
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(40)])
    sieve = ss.SAOLA().fit(frame, y)
    clean = sieve.transform(frame)
    frame.iloc[3, int(np.flatnonzero(~sieve.get_support())[0])] = np.nan
    pd.testing.assert_frame_equal(sieve.transform(frame), clean)
    kept = sieve.get_feature_names_out()[0]
    frame.loc[3, kept] = np.nan
    with pytest.raises(ValueError, match=f"contains NaN: feature {kept!r}"):
        sieve.transform(frame)


@pytest.mark.parametrize("ledger", ["kept", "none"])
def test_names_of_what_is_gone_are_forgotten_but_decisions_know_them(ledger):
    for seed in range(cases(60)):
        X, y = toy(n=40, p=30, seed=seed)
        names = [f"f{j}" for j in range(30)]
        sieve, full = (ss.SAOLA(alpha=0.5, ledger=mode).begin(y) for mode in (ledger, "all"))
        for low in range(0, 30, 10):
            part = slice(low, low + 10)
            mine, theirs = (s.offer(X[:, part], names=names[part]) for s in (sieve, full))
            assert [(d.feature, d.by) for d in mine] == [(d.feature, d.by) for d in theirs]
        assert len(sieve.names_.known) == len(sieve.selected_)


def test_decisions_can_be_indexed_without_making_all_of_them():
    X, y = toy(n=60, p=40, seed=3)
    sieve = ss.SAOLA(alpha=0.5).begin(y)
    verdicts = sieve.offer(X)
    listed = list(verdicts)
    assert any(d.event == "evicted" for d in listed)
    assert [verdicts[i] for i in range(-len(verdicts), len(verdicts))] == listed * 2
    assert verdicts[3:6] == listed[3:6]
    assert list(sieve.ledger_.kept()) == [d for d in listed if d.event == "kept"]


def test_many_whole_numbers_are_not_taken_for_labels_unasked():
    X, _ = toy()
    y = np.arange(200)
    with pytest.warns(ss.exceptions.TargetWarning, match="taken for a numeric target; say task="):
        assert ss.SAOLA().fit(X, y).task_ == "regression"
    assert ss.SAOLA(task="regression").fit(X, y).n_features_in_ == 40
    with pytest.raises(ss.exceptions.TargetError, match="200 different texts over 200 rows"):
        ss.SAOLA().fit(X, y.astype(str))
    assert ss.SAOLA(task="classification").fit(X, y.astype(str)).n_features_in_ == 40


def test_a_decision_reads_as_a_sentence():
    X, y = toy()
    sieve = ss.SAOLA().begin(y)
    sieve.offer(np.column_stack([X[:, 0], X[:, 0] + 0.01 * X[:, 1]]), names=["dose", "copy"])
    texts = [str(d) for d in sieve.ledger_]
    assert texts[0].startswith("dose: kept, relevant (statistic ")
    assert any("redundant given {" in text for text in texts)


def test_methods_are_found_in_any_spelling():
    for spelling in ("saola", "SAOLA", "alpha-investing", "AlphaInvesting", "alpha_investing"):
        assert ss.registry.selector(spelling).__name__.lower() == spelling.lower().replace("-", "").replace(
            "_", ""
        )


def test_names_of_an_array_are_plain_text():
    y = np.arange(40) % 2
    sieve = ss.SAOLA().begin(y)
    sieve.offer(np.c_[y, np.zeros(40)], names=np.array(["kept", "constant"]))
    assert [type(name) for name in sieve.get_feature_names_out()] == [str]


@pytest.mark.parametrize(
    "names",
    [{"a", "b"}, (name for name in "ab"), {"a": 1, "b": 2}, 7, sp.coo_array(np.ones(2))],
    ids=["set", "generator", "dict", "number", "sparse"],
)
def test_names_without_an_order_are_refused(names):
    sieve = ss.SAOLA().begin(np.arange(6) % 2)
    with pytest.raises(SchemaError, match="names must be a list, one name per column; got a"):
        sieve.offer(np.ones((6, 2)), names=names)
    assert sieve.n_features_in_ == 0
