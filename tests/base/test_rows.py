"""What every selector over rows owes its user, beyond the contracts."""

import json
from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import streamsieve as ss
from streamsieve import rows
from streamsieve.base import RowSelector
from streamsieve.exceptions import (
    CapabilityError,
    InputError,
    MergeError,
    ParameterError,
    SchemaError,
    TargetError,
)
from streamsieve.protocols import RowBatch, Traits
from streamsieve.state import Array, Float, register


def toy(n=60, p=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, p))
    X[:, 3 % p] += 2 * y
    return X, y


class Plain(RowSelector):
    """A selector that takes neither weights nor missing values, and does not merge."""

    _traits = Traits()

    def _start(self, batch):
        self.count_ = 0

    def _learn(self, batch):
        self.count_ += batch.X.shape[0]

    def _scores(self):
        return np.zeros(self.n_features_in_)


def test_traits_are_enforced():
    X, y = toy()
    with pytest.raises(CapabilityError, match="does not support sample_weight"):
        Plain().learn(RowBatch(X, y, np.ones(len(y))))
    for value in (np.nan, np.inf):
        bad = X.copy()
        bad[1, 2] = value
        with pytest.raises(InputError, match="feature 'x2'"):
            Plain().fit(bad, y)
        with pytest.raises(InputError, match="feature 'c'"):
            Plain().learn(RowBatch(bad, y, names=list("abcde")))
        with pytest.raises(InputError, match="feature 'a'"):
            Plain().learn_one({"a": value}, 0)
    with pytest.raises(CapabilityError, match="does not support sample_weight"):
        Plain().learn(RowBatch(X, y, np.ones(len(y)), names=list("abcde")))
    with pytest.raises(CapabilityError, match="cannot merge"):
        Plain().fit(X, y).merge(Plain().fit(X, y))


def test_names_come_always_or_never():
    X, y = toy()
    screen = ss.Screen().partial_fit(X, y)
    with pytest.raises(SchemaError, match="names always or never"):
        screen.learn(RowBatch(X, y, names=list("abcde")))
    named = ss.Screen().learn(RowBatch(X, y, names=list("abcde")))
    with pytest.raises(SchemaError, match="3 features, but 5"):
        named.learn(RowBatch(X[:, :3], y, names=list("abc")))


def test_what_is_handed_out_cannot_change_the_screen():
    X, y = toy()
    screen = ss.Screen("fisher", k=1).fit(X, y)
    screen.get_support()[:] = True
    assert screen.transform(X).shape == (60, 1)
    with pytest.raises(ValueError, match="read-only"):
        screen.scores_[0] = 9


@pytest.mark.parametrize("output", ["drop", "zero", "frozen"])
def test_inverse_transform_puts_columns_back(output):
    X, y = toy()
    screen = ss.Screen("fisher", k=2, output=output).fit(X, y)
    chosen = np.flatnonzero(screen.get_support())
    out = screen.transform(X)
    if output == "frozen":  # other features are best now, but the output stays
        Z = X.copy()
        Z[:, 0] += 50 * y
        screen.partial_fit(Z, y)
        assert screen.get_support()[0]
        out = screen.transform(X)
    back = screen.inverse_transform(out)
    expected = np.zeros_like(X)
    expected[:, chosen] = X[:, chosen]
    np.testing.assert_array_equal(back, expected)
    out[0, 0] = np.nan
    assert np.isnan(screen.inverse_transform(out)).sum() == 1
    with pytest.raises(SchemaError, match="columns"):
        screen.inverse_transform(X[:, :1])


def test_asking_for_names_freezes_nothing():
    X, y = toy()
    screen = ss.Screen("fisher", k=1, output="frozen").fit(X, y)
    assert screen.get_feature_names_out().tolist() == ["x3"]
    Z = X.copy()
    Z[:, 0] += 50 * y
    for _ in range(20):
        screen.partial_fit(Z, y)
    assert screen.get_feature_names_out().tolist() == ["x0"]


def test_dict_rows_follow_the_output_mode():
    X, y = toy(p=2)
    screen = ss.Screen("fisher", k=1, output="zero")
    for row, label in zip(X, y, strict=True):
        screen.learn_one({"a": row[0], "b": row[1] + 5 * label}, label)
    assert screen.transform_one({"a": 7.0, "b": 8.0, "c": 9.0}) == {"a": 0.0, "b": 8.0}


def test_sparse_and_dense_agree_on_weights_that_are_not_whole():
    rng = np.random.default_rng(0)
    X = np.column_stack([1e9 + rng.normal(size=4000), rng.normal(size=4000)])
    y = rng.integers(0, 2, 4000)
    dense, sparse = (ss.Screen("f", half_life=100) for _ in range(2))
    for low in range(0, 4000, 100):
        part = slice(low, low + 100)
        dense.partial_fit(X[part], y[part])
        sparse.partial_fit(sp.csr_array(X[part]), y[part])
    np.testing.assert_allclose(sparse.scores_, dense.scores_, rtol=1e-3)


def test_json_has_no_nan(tmp_path, capsys):
    from streamsieve.cli import run

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    path = tmp_path / "codes.csv"
    np.savetxt(
        path, np.column_stack([y, rng.integers(0, 3, 100), y]), delimiter=",", header="a,b,y", comments=""
    )
    assert (
        run(["select", str(path), "--target", "y", "--method", "saola", "--param", "measure=su", "--json"])
        == 0
    )
    json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert run(["select", str(path), "--target", "y", "--param", "ledger=none", "--json"]) == 0
    assert [row["feature"] for row in json.loads(capsys.readouterr().out)["kept"]] == ["a"]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda s: s.learn_one([1, 2], 1), "got a list"),
        (lambda s: s.learn(([[1.0]], [1])), "got a tuple: use partial_fit"),
        (lambda s: s.set_params(correction="bh").fit(*toy()), "give alpha"),
    ],
)
def test_misuse_is_explained(call, text):
    with pytest.raises((InputError, ss.exceptions.ParameterError), match=text):
        call(ss.Screen())


def test_zeroed_columns_are_zero_even_where_values_are_missing():
    X, y = toy()
    X[4, 1] = np.nan
    screen = ss.Screen("fisher", k=1, output="zero").fit(X, y)
    expected = np.where(screen.get_support(), X, 0.0)
    np.testing.assert_array_equal(screen.transform(X), expected)
    np.testing.assert_array_equal(screen.transform(sp.csr_array(X)).toarray(), expected)


@register
class Spread(ss.WeightedRows, ss.RowSelector):
    """A selector written by the documentation alone: features by their weighted mean square."""

    _traits = Traits(weights=True, merges=True)
    fields = {"squares_": Array("f8", "features", low=0), "mass_": Float(0)}

    def __init__(self, k=None, *, output="drop", ledger="all"):
        self.k, self.output, self.ledger = k, output, ledger

    def _start(self, batch):
        self.squares_, self.mass_ = np.zeros(self.n_features_in_), 0.0

    def _learn(self, batch):
        weight = np.ones(batch.X.shape[0]) if batch.weight is None else batch.weight
        X = batch.X.toarray() if sp.issparse(batch.X) else batch.X
        self.squares_ = np.pad(self.squares_, (0, X.shape[1] - len(self.squares_))) + weight @ X**2
        self.mass_ += float(weight.sum())

    def _merge(self, other, columns=None):
        columns = np.arange(len(other.squares_)) if columns is None else columns
        self.squares_ = np.pad(self.squares_, (0, self.n_features_in_ - len(self.squares_)))
        self.squares_[columns] += other.squares_
        self.mass_ += other.mass_

    def _scores(self):
        return self.squares_ / max(self.mass_, 1.0)


def scaled(n=80):
    X, y = toy(n)
    return X * np.array([1.0, 4.0, 1.0, 2.0, 0.5]), y


def test_the_type_of_target_is_known_over_rows():
    X, y = toy()
    screen = ss.Screen("f").fit(X, y)
    assert screen.task_ == "binary"
    assert screen.partial_fit(X[:1], [7]).task_ == "multiclass"
    assert ss.Screen("correlation").fit(X, X[:, 0]).task_ == "regression"
    assert ss.Bootstrap(ss.Screen("correlation"), replicas=2).fit(X, X[:, 0]).task_ == "regression"
    for selector in (ss.RunningAverages(2), ss.MISSION(2), ss.BARDA(2)):
        assert clone(selector).fit(X, y).task_ == "binary"
        assert clone(selector).fit(X, np.arange(len(y)) % 3).task_ == "multiclass"
    assert ss.OFS(2).fit(X, y).task_ == "binary"
    assert not hasattr(ss.FSDS(2).fit(X), "task_")
    assert not hasattr(ss.VelocityScreen(2).fit(X, y), "task_")
    assert not hasattr(ss.Screen("f"), "task_")


def test_a_ledger_of_what_was_kept_has_all_changes_of_the_selected_set():
    X, y = scaled()
    ledgers = []
    for keep in ("all", "kept"):
        selector = Spread(k=2, ledger=keep).partial_fit(X[:40], y[:40])
        _ = selector.selected_
        ledgers.append(list(map(str, selector.partial_fit(X[40:] * 9 ** np.arange(5), y[40:]).ledger_)))
    assert ledgers[0] == ledgers[1]
    assert len(ledgers[0]) > 2


def test_a_selector_by_the_documentation_ranks_records_and_is_saved():
    X, y = scaled()
    selector = Spread(k=2, output="frozen").partial_fit(X[:40], y[:40])
    assert selector.ranked_.tolist() == [1, 3]
    assert [d.feature for d in selector.ledger_] == ["x1", "x3"]
    assert np.array_equal(selector.transform(X), X[:, [1, 3]])
    again = Spread.from_bytes(selector.to_bytes()).partial_fit(X[40:] * 9 ** np.arange(5), y[40:])
    assert again.ranked_.tolist() == [4, 3]
    assert np.array_equal(again.transform(X), X[:, [1, 3]])
    merged = Spread(k=2).fit(X[:40], y[:40]).merge(Spread(k=2).fit(X[40:], y[40:]))
    assert np.allclose(merged.scores_, Spread(k=2).fit(X, y).scores_)
    with pytest.raises(ParameterError, match="output must be one of"):
        Spread(output="both").fit(X, y)
    with pytest.raises(AttributeError, match="Spread.scores_ is available after fit"):
        _ = Spread().scores_


def test_a_selector_by_the_documentation_goes_into_a_bootstrap():
    X, y = scaled()
    bootstrap = ss.Bootstrap(Spread(k=2), replicas=3).fit(X, y)
    assert bootstrap.ranked_.tolist() == [1, 3]
    again = ss.Bootstrap.from_bytes(bootstrap.to_bytes())
    assert type(again.selector_) is Spread
    assert np.array_equal(again.scores_, bootstrap.scores_)


@pytest.mark.parametrize("selector", [ss.Screen("f", k=2), ss.OFS(2), ss.FIRES(2), ss.MISSION(2)])
def test_partial_fit_takes_the_classes_that_incremental_estimators_take(selector):
    X, y = toy()
    announced = clone(selector).partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y)
    assert announced.selected_.tolist() == selector.partial_fit(X, y).partial_fit(X, y).selected_.tolist()
    with pytest.raises(TargetError, match="label 1, which is not among"):
        clone(selector).partial_fit(X, y, classes=[0, 2])
    assert selector.n_samples_seen_ == 2 * len(y)


def test_every_row_selector_takes_classes():
    X, y = toy()
    X = np.abs(X)
    row_selectors = [cls for name in rows.__all__ if issubclass(cls := getattr(rows, name), ss.RowSelector)]
    assert len(row_selectors) >= 12
    for cls in row_selectors:
        selector = next(iter(cls.variants()))
        selector.partial_fit(X, y, classes=[0, 1]).partial_fit(X, y)


def test_classes_of_a_numeric_target_are_refused():
    X, y = toy()
    with pytest.raises(TargetError, match="numeric"):
        ss.Screen("correlation", k=1).partial_fit(X, y + 0.5, classes=[0, 1])


@pytest.mark.parametrize("criterion", ["f", "mutual_info"])
def test_merging_many_is_merging_one_by_one(criterion):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 240)
    X = rng.normal(size=(240, 5)) + y[:, None] * np.arange(5) / 4
    parts = [ss.Screen(criterion, k=2).partial_fit(X[i::4], y[i::4]) for i in range(4)]
    together, in_turn = deepcopy(parts[0]), deepcopy(parts[0])
    with pytest.raises(MergeError):
        together.merge_many([parts[1], ss.Screen("gini").partial_fit(X, y)])
    assert together.n_samples_seen_ == 60
    assert together.merge_many(iter(parts[1:])) is together
    for part in parts[1:]:
        in_turn.merge(part)
    assert together.n_samples_seen_ == in_turn.n_samples_seen_ == 240
    assert np.allclose(together.scores_, in_turn.scores_, rtol=1e-12)
    whole = ss.Screen(criterion, k=2).fit(X, y)
    assert np.allclose(together.scores_, whole.scores_, rtol=1e-9)
    assert together.selected_.tolist() == whole.selected_.tolist()


def test_a_batch_with_names_of_other_features_is_refused_and_changes_nothing():
    y = np.array([0, 1])
    for selector in (ss.Screen("f", k=1), ss.OFS(k=1)):
        for names in (["a"], ["a", "b", "c"]):
            with pytest.raises(SchemaError, match=f"the batch has 2 features, but {len(names)} names"):
                selector.learn(RowBatch(np.eye(2), y, names=names))
        selector.learn(RowBatch(np.eye(2), y, names=["a", "b"]))
        assert selector.feature_names_in_.tolist() == ["a", "b"]
