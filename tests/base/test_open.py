"""Open vocabularies: what a selector is handed when features come late, vanish, share slots or merge."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from streamsieve.base import RowSelector
from streamsieve.exceptions import (
    BadValueError,
    CapabilityError,
    InputError,
    MergeError,
    SchemaError,
    StateError,
    TargetError,
)
from streamsieve.protocols import RowBatch, Traits
from streamsieve.state import Float, register

NAN = np.nan


class Recorder(RowSelector):
    """Keeps the batches it is handed; "refuse" among the labels makes it fail."""

    _traits = Traits(missing=True, weights=True, merges=True)

    def __init__(self, hashed=None):
        self.hashed = hashed

    def _start(self, batch):
        self.batches_ = []

    def _learn(self, batch):
        names = getattr(self, "feature_names_in_", None)
        assert batch.X.shape[1] == self.n_features_in_
        assert names is None or len(names) == self.n_features_in_
        if "refuse" in batch.y.tolist():
            raise TargetError("refused")
        if np.any(np.isinf(batch.X.data if sp.issparse(batch.X) else batch.X)):
            column = int(np.flatnonzero(np.isinf(sp.csr_array(batch.X).toarray()).any(axis=0))[0])
            raise BadValueError("infinite", column, np.inf)
        self.batches_ = [*self.batches_, batch]

    def _merge(self, other, columns=None):
        if getattr(other, "refuse_", False):
            raise MergeError("refused")
        self.merged_ = columns

    def _choose(self):
        return np.arange(self.n_features_in_) % 2 == 0

    def _scores(self):
        return np.zeros(self.n_features_in_)

    @property
    def last(self):
        X = self.batches_[-1].X
        return X.toarray().tolist() if sp.issparse(X) else X.tolist()


class Whole(Recorder):
    """As the recorder, for values that are all there."""

    _traits = Traits(weights=True)


def frame(**columns):
    return pd.DataFrame(columns)


def sparse_frame(**columns):
    return pd.DataFrame(columns).astype(pd.SparseDtype(float, 0.0))


def same(got, wanted):
    np.testing.assert_array_equal(np.array(got), np.array(wanted))


def knowledge(selector):
    """Everything a selector knows, to see that nothing changed."""
    parts = ("_vocabulary_", "_top_", "_ledger_")
    learnt = {k: v for k, v in vars(selector).items() if k.endswith("_") and k not in (*parts, "_cache_")}
    states = repr([getattr(selector, part).state() for part in parts])
    return repr(sorted(learnt.items())), selector._vocabulary_.names, states, selector.collisions_


# ---------------------------------------------------------------- what absent means


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_a_column_absent_from_a_dense_dataframe_is_missing(kind):
    selector = Recorder()
    selector.learn_many(kind({"a": [1.0, 2.0], "b": [3.0, NAN]}), [0, 1])
    same(selector.last, [[1, 3], [2, NAN]])
    selector.learn_many(kind({"c": [5.0], "a": [4.0]}), [0])
    same(selector.last, [[4, NAN, 5]])
    selector.learn_many(kind({"b": [0.0]}), [0])
    same(selector.last, [[NAN, 0, NAN]])
    assert selector.feature_names_in_.tolist() == ["a", "b", "c"]
    assert selector.n_features_in_ == 3
    assert selector.n_samples_seen_ == 4
    assert not any(sp.issparse(batch.X) for batch in selector.batches_)


def test_absent_from_a_dict_or_a_sparse_dataframe_is_zero():
    selector = Recorder()
    selector.learn_one({"b": 2.0, "a": NAN}, 0)
    same(selector.last, [[2, NAN]])
    selector.learn_many(sparse_frame(c=[5.0, 0.0], a=[4.0, 0.0]), [0, 1])
    same(selector.last, [[0, 4, 5], [0, 0, 0]])
    selector.learn_one({}, 1)
    same(selector.last, [[0, 0, 0]])
    assert all(sp.issparse(batch.X) for batch in selector.batches_)
    assert selector.feature_names_in_.tolist() == ["b", "a", "c"]


def test_absent_is_zero_where_nothing_may_be_missing():
    selector = Whole()
    selector.learn_many(frame(a=[1.0], b=[2.0]), [0])
    selector.learn_many(frame(c=[3.0], a=[4.0]), [0])
    same(selector.last, [[4, 0, 3]])


def test_a_named_batch_of_an_open_vocabulary_follows_its_kind():
    selector = Recorder()
    selector.learn_one({"a": 1.0, "b": 2.0}, 0)
    weight = np.array([2.0, 3.0])
    X = np.array([[5, 6], [7, 0]])
    selector.learn(RowBatch(X, np.array([0, 1]), weight, names=["c", "a"]))
    same(selector.last, [[6, NAN, 5], [0, NAN, 7]])
    same(selector.batches_[-1].weight, weight)
    selector.learn(RowBatch(sp.csr_array(X), np.array([0, 1]), names=["d", "b"]))
    same(selector.last, [[0, 6, 0, 5], [0, 0, 0, 7]])
    assert selector.batches_[-1].X.has_canonical_format


def test_partial_fit_goes_on_where_learn_many_began():
    selector = Recorder()
    selector.learn_many(frame(a=[1.0]), [0])
    selector.partial_fit(frame(b=[2.0]), [0])
    same(selector.last, [[NAN, 2]])
    selector.learn(RowBatch(np.array([[3.0]]), np.array([1]), names=["a"]))
    same(selector.last, [[3, NAN]])


def test_dataframes_of_fixed_features_may_lack_columns_but_not_add_any():
    selector = Recorder().fit(frame(a=[1.0], b=[2.0]), [0])
    selector.learn_many(frame(b=[3.0]), [0])
    same(selector.last, [[NAN, 3]])
    selector.learn_one({"b": 3.0}, 0)
    same(selector.last, [[0, 3]])
    with pytest.raises(SchemaError, match="feature 'c' was not among those of the first batch"):
        selector.learn_many(frame(c=[3.0]), [0])
    nameless = Recorder().fit(np.ones((1, 3)), [0])
    nameless.learn_one({}, 0)
    same(nameless.last, [[0, 0, 0]])
    assert nameless.n_features_in_ == 3


def test_the_order_of_columns_is_no_matter_and_rows_are_canonical():
    selector = Recorder()
    selector.learn_one({"a": 1.0, "b": 2.0, "c": 3.0}, 0)
    selector.learn_one({"c": 30.0, "a": 10.0}, 0)
    same(selector.last, [[10, 0, 30]])
    assert selector.batches_[-1].X.has_canonical_format
    assert selector.batches_[-1].X.indices.dtype == np.int32


def test_float32_stays_float32():
    selector = Recorder()
    selector.learn_many(frame(a=np.float32([1]), b=np.float32([2])), [0])
    selector.learn_many(frame(b=np.float32([2])), [0])
    assert {batch.X.dtype for batch in selector.batches_} == {np.dtype(np.float32)}


def test_what_was_given_is_never_changed():
    X = sp.csr_array(np.array([[1.0, 2.0], [3.0, 4.0]]))
    kept = X.copy()
    for selector in (Recorder(), Recorder(hashed=1)):
        selector.learn_one({"b": 1.0, "a": 1.0}, 0)
        selector.learn(RowBatch(X, np.array([0, 1]), names=["a", "b"]))
        for part in ("data", "indices", "indptr"):
            assert np.array_equal(getattr(X, part), getattr(kept, part))


def test_a_selector_without_a_target_gets_none():
    class Free(Recorder):
        _target = None

        def _learn(self, batch):
            assert batch.y is None

    Free().learn_one({"a": 1.0}, None)
    Free().learn_many(frame(a=[1.0]), None)


# ---------------------------------------------------------------- refusals leave no trace


@pytest.mark.parametrize("hashed", [None, 8])
@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda s: s.learn_one({"a": 1.0, "new": 1.0}, "refuse"), TargetError, "refused"),
        (lambda s: s.learn_many(frame(new=[1.0]), ["refuse"]), TargetError, "refused"),
        (lambda s: s.learn_many(frame(new=[1.0]), ["x", "x"]), TargetError, "X has 1 rows, but y has 2"),
        (lambda s: s.learn_one({"a": 1.0, "new": np.inf}, "x"), BadValueError, "feature 'new' holds inf"),
        (lambda s: s.learn_one({"b": np.inf}, "x"), BadValueError, "feature 'b' holds inf"),
        (
            lambda s: s.learn_many(frame(new=[1.0], b=[-np.inf]), ["x"]),
            BadValueError,
            "feature 'b' holds inf|feature 'b' holds -inf",
        ),
        (lambda s: s.learn_one({"new": 1.0, 1: 2.0, "1": 3.0}, "x"), SchemaError, "'1' occurs twice"),
        (lambda s: s.learn_many(frame(), []), SchemaError, "the dataframe has no columns"),
        (lambda s: s.learn_one({"new": "red"}, "x"), InputError, "feature 'new' holds 'red'"),
        (
            lambda s: s.learn(RowBatch(np.ones((1, 2)), np.array(["x"]), names=["new"])),
            SchemaError,
            "2 features, but 1 names",
        ),
        (
            lambda s: s.learn(RowBatch(np.ones((1, 1)), np.array(["x"]), np.array([-1.0]), names=["new"])),
            InputError,
            "sample_weight must lie between",
        ),
    ],
)
def test_a_refused_row_changes_nothing(hashed, act, error, text):
    selector = Recorder(hashed)
    selector.learn_one({"a": 1.0, "b": 2.0}, "x")
    before = knowledge(selector)
    with pytest.raises(error, match=text):
        act(selector)
    assert knowledge(selector) == before
    selector.learn_one({"c": 1.0}, "x")
    assert selector.n_samples_seen_ == 2


@pytest.mark.parametrize("hashed", [None, 8])
def test_a_refused_first_row_leaves_a_selector_unfitted(hashed):
    selector = Recorder(hashed)
    with pytest.raises(TargetError):
        selector.learn_one({"a": 1.0}, "refuse")
    assert vars(selector) == {"hashed": hashed}
    selector.learn_one({"b": 1.0}, "x")
    assert selector.feature_names_in_[selector._vocabulary()["b"]] == "b"
    assert len(selector._vocabulary()) == 1


def test_missing_values_are_refused_by_name_where_the_traits_say_so():
    for X in (np.array([[1.0, 2.0], [3.0, NAN]]), sp.csr_array(np.array([[0.0, 2.0], [0.0, NAN]]))):
        selector = Whole()
        selector.learn_one({"a": 1.0}, 0)
        with pytest.raises(InputError, match="feature 'late' has missing values"):
            selector.learn(RowBatch(X, np.array([0, 1]), names=["a", "late"]))
        assert selector.feature_names_in_.tolist() == ["a"]
    with pytest.raises(InputError, match="feature 'late' has missing values"):
        selector.learn_many(frame(a=[1.0], late=[NAN]), [0])
    with pytest.raises(InputError, match="feature 'late' has missing values"):
        selector.learn_one({"a": 1.0, "late": NAN}, 0)


# ---------------------------------------------------------------- slots


def test_names_of_one_slot_are_added_up():
    selector = Recorder(hashed=1)
    selector.learn_one({"a": 1.0, "b": 2.0, "c": 4.0}, 0)
    same(selector.last, [[7]])
    selector.learn_many(frame(d=[1.0, NAN, 0.0], a=[10.0, 20.0, 0.0]), [0, 1, 0])
    same(selector.last, [[11], [NAN], [0]])
    selector.learn_many(sparse_frame(b=[1.0, 0.0]), [0, 1])
    same(selector.last, [[1], [0]])
    assert selector.batches_[0].X.has_canonical_format
    assert selector.feature_names_in_.tolist() == ["a"]
    assert selector.n_features_in_ == 1
    assert selector.collisions_ == 1
    assert selector._vocabulary_.collided == 2 + 2 + 1  # b and c, d twice, b once; zeros do not count


def test_slots_are_features_from_the_start_and_absent_ones_are_zero():
    selector = Recorder(hashed=16)
    selector.learn_many(frame(a=[1.0, 2.0], b=[3.0, 4.0]), [0, 1])  # slots 2 and 3
    same(np.array(selector.last)[:, [2, 3]], [[1, 3], [2, 4]])
    assert np.array(selector.last).sum() == 10
    assert selector.n_features_in_ == 16
    names = selector.feature_names_in_.tolist()
    assert (names[0], names[2], names[3], names[15]) == ("slot 0", "a", "b", "slot 15")
    assert selector.collisions_ == 0


def test_transform_one_finds_names_by_their_slots():
    selector = Recorder(hashed=16)
    selector.learn_one({"a": 1.0, "b": 2.0}, 0)  # slots 2 (selected) and 3
    row = {"a": 5.0, "b": 6.0, "price": 7.0}  # the slot of "price" is even, but nothing ever came to it
    assert selector.transform_one(row) == {"a": 5.0}
    selector = Recorder()
    selector.learn_one({"a": 1.0, "b": 2.0, "1": 3.0}, 0)
    assert selector.transform_one({1: 9.0, "b": 8.0, "never seen": 7.0}) == {1: 9.0}


def test_values_of_one_slot_that_cancel_are_refused_if_they_are_infinite():
    selector = Recorder(hashed=1)
    selector.learn_one({"a": 1.0}, 0)
    for act in (
        lambda: selector.learn_one({"a": np.inf, "b": -np.inf}, 0),
        lambda: selector.learn_many(frame(a=[np.inf], b=[-np.inf]), [0]),
    ):
        with pytest.raises(BadValueError, match="feature 'a' holds inf"):
            act()
    with pytest.raises(BadValueError, match="feature 'b' holds inf"):
        selector.learn_one({"a": 1.0, "b": np.inf}, 0)
    assert selector.collisions_ == 0


def test_fixed_features_are_not_hashed():
    selector = Recorder(hashed=2).fit(frame(a=[1.0], b=[2.0], c=[3.0]), [0])
    assert selector.feature_names_in_.tolist() == ["a", "b", "c"]
    assert selector.collisions_ == 0
    assert not hasattr(Recorder(hashed=2), "collisions_")


# ---------------------------------------------------------------- merging


def learnt(*rows, hashed=None):
    selector = Recorder(hashed)
    for row in rows:
        selector.learn_one(row, 0)
    return selector


def test_open_features_merge_by_name():
    mine, theirs = learnt({"a": 1.0, "b": 1.0}), learnt({"z": 1.0, "b": 1.0}, {"a": 1.0, "y": 1.0})
    mine.merge(theirs)
    assert mine.feature_names_in_.tolist() == ["a", "b", "z", "y"]
    assert mine.merged_.tolist() == [2, 1, 0, 3]
    assert mine.merged_.dtype == np.int64
    assert (mine.n_features_in_, mine.n_samples_seen_) == (4, 3)
    assert theirs.feature_names_in_.tolist() == ["z", "b", "a", "y"]
    mine.learn_one({"x": 1.0}, 0)
    assert theirs.n_features_in_ == 4


@pytest.mark.parametrize("theirs", [{"a": 1.0}, {"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 1.0, "c": 1.0}])
def test_features_in_the_same_places_need_no_columns(theirs):
    mine = learnt({"a": 1.0, "b": 1.0})
    mine.merge(learnt(theirs))
    assert mine.merged_ is None
    assert mine.n_features_in_ == max(2, len(theirs))


def test_a_selector_merges_with_itself():
    mine = learnt({"a": 1.0, "b": 1.0})
    mine.merge(mine)
    assert (mine.merged_, mine.n_samples_seen_, mine.n_features_in_) == (None, 2, 2)


def test_slots_merge_and_collide():
    mine, theirs = learnt({"a": 1.0}, {"b": 1.0}, hashed=16), learnt({"d": 1.0}, hashed=16)
    mine.merge(theirs)  # d and b share slot 3
    assert mine.merged_ is None
    assert mine.collisions_ == 1
    assert mine.feature_names_in_[3] == "b"
    assert theirs.collisions_ == 0


@pytest.mark.parametrize("hashed", [None, 16])
def test_a_failed_merge_changes_nothing(hashed):
    mine, theirs = learnt({"a": 1.0}, {"b": 1.0}, hashed=hashed), learnt({"d": 1.0}, hashed=hashed)
    theirs.refuse_ = True
    before = knowledge(mine)
    with pytest.raises(MergeError, match="refused"):
        mine.merge(theirs)
    assert knowledge(mine) == before


def test_merges_that_make_no_sense_are_explained():
    fixed, opened = Recorder().fit(frame(a=[1.0], b=[2.0]), [0]), learnt({"b": 1.0, "a": 1.0})
    for one, other in ((fixed, opened), (opened, fixed)):
        with pytest.raises(MergeError, match=r"the features differ \(2 here, 2 there\).*merge by name"):
            one.merge(other)
    fixed.merge(learnt({"a": 1.0, "b": 1.0}))
    with pytest.raises(MergeError, match="hashed is 4 here and 5 there"):
        learnt({"a": 1.0}, hashed=4).merge(learnt({"a": 1.0}, hashed=5))
    with pytest.raises(MergeError, match="features are hashed into 4 slots here and known one by one there"):
        learnt({"a": 1.0}, hashed=4).merge(learnt({"a": 1.0}).set_params(hashed=4))
    whole = Whole()
    whole.learn_one({"a": 1.0}, 0)
    with pytest.raises(CapabilityError, match="cannot merge"):
        whole.merge(whole)


# ---------------------------------------------------------------- states


@register
class Counter(Recorder):
    """A recorder that can be saved."""

    fields = {"count_": Float()}

    def _start(self, batch):
        self.count_ = 0.0

    def _learn(self, batch):
        self.count_ += float(batch.X.sum())


def saved(path, *rows, hashed=None, change=None):
    """Save a counter, with its attributes changed by hand; load it again."""
    counter = Counter(hashed)
    for row in rows:
        counter.learn_one(row, 0)
    if change is not None:
        change(counter)
    counter.save(path / "counter.sieve")
    return counter, Counter.load(path / "counter.sieve")


ROWS = [{"a": 1.0, "ü": 2.0}, {}, {"c": 3.0, "\ud800": 4.0}]


@pytest.mark.parametrize("hashed", [None, 1, 16])
def test_a_loaded_selector_goes_on_as_if_nothing_had_happened(tmp_path, hashed):
    first, again = saved(tmp_path, *ROWS, hashed=hashed)
    for one in (first, again):
        one.learn_one({"d": 1.0, "a": 2.0}, 0)
        one.learn_one({"d": 1.0, "a": 2.0}, 0)
    assert knowledge(again) == knowledge(first)
    assert again.transform_one({"a": 1.0, "d": 2.0, "e": 3.0}) == first.transform_one(
        {"a": 1.0, "d": 2.0, "e": 3.0}
    )
    again.merge(first)
    assert again.n_samples_seen_ == 10


def test_a_selector_that_met_no_names_yet_comes_back(tmp_path):
    _, again = saved(tmp_path, {})
    assert again.n_features_in_ == 0
    again.learn_one({"a": 1.0}, 0)
    assert again.feature_names_in_.tolist() == ["a"]


@pytest.mark.parametrize(
    ("hashed", "change"),
    [
        (None, lambda c: setattr(c, "n_features_in_", 9)),
        (None, lambda c: setattr(c, "_fixed_", True)),
        (None, lambda c: setattr(c, "_names_in_", np.array(["a"] * 4, dtype=object))),
        (None, lambda c: c.set_params(hashed=4)),
        (None, lambda c: vars(c).pop("_vocabulary_")),
        (16, lambda c: c.set_params(hashed=15)),
        (16, lambda c: c.set_params(hashed=None)),
        (16, lambda c: setattr(c, "n_features_in_", 4)),
    ],
)
def test_states_that_do_not_fit_are_refused(tmp_path, hashed, change):
    with pytest.raises(StateError, match="state"):
        saved(tmp_path, *ROWS, hashed=hashed, change=change)


def test_fixed_names_that_do_not_fit_are_refused(tmp_path):
    counter = Counter().fit(frame(a=[1.0], b=[2.0]), [0])
    counter._names_in_ = np.array(["a"], dtype=object)
    counter.save(tmp_path / "counter.sieve")
    with pytest.raises(StateError, match="1 names for 2 features"):
        Counter.load(tmp_path / "counter.sieve")
