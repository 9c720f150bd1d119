"""Rules that end a run: each is met to the column, whatever the blocks, and the ledger says so."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve import state
from streamsieve.exceptions import ParameterError, StateError
from tests.columns.streams import reloaded

SIEVES = {"saola": ss.SAOLA, "alpha_investing": ss.AlphaInvesting}
both = pytest.mark.parametrize("kind", SIEVES.values(), ids=SIEVES)


@pytest.fixture
def stream():
    """Return 40 columns of which every fourth is relevant in its own way, and the target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 40))
    y = (X[:, ::4].sum(axis=1) > 0).astype(int)
    return X, y


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that shows what a test says."""
    clock = SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now
    for module in ("stop", "column_lifecycle"):
        monkeypatch.setattr(f"streamsieve.base.{module}.time", clock)
    return clock


def in_blocks(sieve, X, size):
    for low in range(0, X.shape[1], size):
        sieve.offer(X[:, low : low + size])
    return sieve


def reasons(sieve):
    return [str(d.reason) for d in sieve.ledger_ if d.event != "evicted"]


@both
@pytest.mark.parametrize("size", [1, 3, 40])
def test_after_the_last_allowed_feature_every_column_is_stopped(kind, size, stream):
    X, y = stream
    free = in_blocks(kind().begin(y), X, 40)
    assert len(free.selected_) > 4
    sieve = in_blocks(kind(stop=ss.Stop(max_features=3)).begin(y), X, size)
    last = sieve.selected_[-1]
    assert sieve.selected_.tolist() == free.selected_[:3].tolist()
    assert sieve.stopped_ == "max_features=3"
    assert reasons(sieve) == reasons(free)[: last + 1] + ["stopped"] * (39 - last)


@both
@pytest.mark.parametrize("size", [1, 3, 40])
def test_exactly_max_offers_columns_are_examined(kind, size, stream):
    X, y = stream
    free = in_blocks(kind().begin(y), X, 40)
    sieve = in_blocks(kind(stop=ss.Stop(max_offers=17)).begin(y), X, size)
    assert sieve.stopped_ == "max_offers=17"
    assert reasons(sieve) == reasons(free)[:17] + ["stopped"] * 23
    assert sieve.n_features_in_ == 40


@both
@pytest.mark.parametrize("name", ["callback", "accuracy"])
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("size", [1, 7, 40])
def test_the_quality_is_asked_for_once_per_kept_column_until_the_target(kind, name, form, size, stream):
    X, y = stream
    chosen, asked = in_blocks(kind().begin(y), X, 40).selected_[:4].tolist(), []

    def quality(given):
        asked.append(given.copy() if name == "accuracy" else (given.n_features_in_, given.selected_.tolist()))
        return len(asked) / 10

    sieve = in_blocks(kind(stop=ss.Stop(target=0.4, **{name: quality})).begin(y), form(X), size)
    for i, seen in enumerate(asked):
        if name == "accuracy":
            np.testing.assert_array_equal(seen, X[:, chosen[: i + 1]])
        else:
            assert seen == (chosen[i] + 1, chosen[: i + 1])
    assert len(asked) == 4
    assert sieve.stopped_ == "target=0.4"
    assert sieve.selected_.tolist() == chosen
    assert reasons(sieve)[chosen[-1] + 1 :] == ["stopped"] * (39 - chosen[-1])


@both
def test_time_counts_from_begin_and_is_looked_at_after_every_block(kind, stream, clock):
    X, y = stream
    sieve = kind(stop=ss.Stop(seconds=2.5)).begin(y)
    for moment, low in ((101.0, 0), (102.4, 10), (102.5, 20), (102.6, 30)):
        clock.now = moment
        sieve.offer(X[:, low : low + 10])
    free = in_blocks(kind().begin(y), X, 40)
    assert sieve.stopped_ == "seconds=2.5"
    assert reasons(sieve) == reasons(free)[:30] + ["stopped"] * 10
    assert sieve.selected_.tolist() == [j for j in free.selected_ if j < 30]


@both
def test_time_spent_before_saving_counts_after_loading(kind, stream, clock):
    X, y = stream
    sieve = kind(stop=ss.Stop(seconds=5)).begin(y)
    clock.now = 103.0
    sieve.offer(X[:, :10])
    saved = sieve.to_bytes()
    clock.now = 20.0  # another machine, another clock
    again = kind.from_bytes(saved)
    again.offer(X[:, 10:20])
    assert again.stopped_ is None
    clock.now = 22.0
    again.offer(X[:, 20:30])
    assert again.stopped_ == "seconds=5"


@both
def test_the_first_rule_met_is_the_one_named(kind, stream):
    X, y = stream
    stop = ss.Stop(max_features=2, max_offers=40, seconds=1000, target=2.0, callback=lambda _: 0.0)
    assert kind(stop=stop).fit(X, y).stopped_ == "max_features=2"
    stop = ss.Stop(max_features=30, max_offers=2, seconds=1000)
    assert kind(stop=stop).fit(X, y).stopped_ == "max_offers=2"


@both
def test_begin_starts_afresh_after_a_stop(kind, stream):
    X, y = stream
    sieve = kind(stop=ss.Stop(max_offers=5)).begin(y)
    sieve.offer(X)
    sieve.begin(y)
    assert sieve.stopped_ is None
    assert [str(d.reason) for d in sieve.offer(X[:, 0])] != ["stopped"]


@both
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"max_features": 0}, "stop.max_features must be a whole number at least 1; got 0"),
        ({"max_offers": 1.5}, "stop.max_offers must be a whole number at least 1; got 1.5"),
        ({"seconds": 0}, "stop.seconds must be a number above 0; got 0"),
        ({"target": "high"}, "stop.target must be a number; got 'high'"),
        ({"target": 0.9}, "stop.target and one of stop.accuracy and stop.callback must be given together"),
        ({"accuracy": len}, "stop.target and one of stop.accuracy and stop.callback must be given together"),
        ({"target": 1, "accuracy": len, "callback": len}, "must be given together"),
        ({"target": 1, "accuracy": 0.9}, "stop.accuracy must be a function; got 0.9"),
    ],
)
def test_rules_that_cannot_be_met_are_refused(kind, rule, message):
    with pytest.raises(ParameterError, match=message):
        kind(stop=ss.Stop(**rule)).begin([0, 1])


def test_values_of_evicted_columns_are_not_remembered():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    dose = y + rng.normal(size=300)
    copy = dose + 0.5 * rng.normal(size=300)
    seen = []
    stop = ss.Stop(target=9, accuracy=lambda kept: seen.append(kept.copy()) or 0.0)
    sieve = ss.SAOLA(stop=stop).fit(np.c_[copy, dose], y)
    assert [kept.shape[1] for kept in seen] == [1, 1]
    np.testing.assert_array_equal(seen[1][:, 0], dose)
    assert list(sieve._values_._columns) == [1]


def test_values_are_saved_and_the_function_is_not(stream):
    X, y = stream
    seen = []

    def accuracy(kept):
        seen.append(kept.copy())
        return 0.0

    whole = ss.SAOLA(stop=ss.Stop(target=1, accuracy=accuracy)).fit(X, y)
    expected, seen = seen, []
    half = ss.SAOLA(stop=ss.Stop(target=1, accuracy=accuracy)).begin(y)
    half.offer(X[:, :17])
    again = reloaded(half)
    with pytest.raises(ParameterError, match=r"stop.accuracy or stop.callback was not saved"):
        again.offer(X[:, 17:])
    again = reloaded(half).set_params(stop=ss.Stop(target=1, accuracy=accuracy))
    again.offer(X[:, 17:])
    assert again.selected_.tolist() == whole.selected_.tolist()
    for one, other in zip(seen, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_accuracy_that_comes_late_is_refused(stream):
    X, y = stream
    sieve = ss.SAOLA().begin(y)
    sieve.offer(X[:, :17])
    sieve.set_params(stop=ss.Stop(target=1, accuracy=lambda _: 0.0))
    with pytest.raises(ParameterError, match=r"stop.accuracy was set after .*set it before begin\(y\)"):
        sieve.offer(X[:, 17:])


@both
@pytest.mark.parametrize("name", ["accuracy", "callback"])
@pytest.mark.parametrize("value", [None, "high", float("nan"), [0.5]])
def test_a_function_that_returns_no_number_is_refused(kind, name, value, stream):
    X, y = stream
    sieve = kind(stop=ss.Stop(target=1, **{name: lambda _: value})).begin(y)
    with pytest.raises(ParameterError, match=f"stop.{name} must return a number to compare with target; got"):
        sieve.offer(X)


@both
@pytest.mark.parametrize("rule", [{"max_offers": 11}, {"max_features": 2}, {"seconds": 3}])
def test_single_columns_stop_as_blocks_do(kind, rule, stream):
    X, y = stream
    single, wide = (kind(stop=ss.Stop(**rule)).begin(y) for _ in range(2))
    for j in range(40):
        single.offer(X[:, j].copy())
    wide.offer(X)
    assert [d[:4] for d in single.ledger_] == [d[:4] for d in wide.ledger_]
    assert single.stopped_ == wide.stopped_


@pytest.mark.parametrize(("name", "change"), [
    ("features", lambda a: a[::-1]), ("features", lambda a: -a - 1), ("values", lambda a: a[:, 1:]),
])  # fmt: skip
def test_values_that_do_not_fit_are_refused(name, change, stream):
    X, y = stream
    sieve = ss.SAOLA(stop=ss.Stop(target=1, accuracy=lambda _: 0.0)).fit(X, y)
    header, arrays = sieve._saved()
    key = f"values_/{name}"
    with pytest.raises(StateError):
        ss.SAOLA.from_bytes(state.to_bytes(header, arrays | {key: change(arrays[key])}))
