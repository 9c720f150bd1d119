"""Deferred decisions: the store of them, and the laws of selectors that defer."""

from functools import partial

import numpy as np
import pytest

import streamsieve as ss
from streamsieve.columns.deferred import DeferredColumns, eviction_of, outcome_of
from streamsieve.decisions import KEPT
from streamsieve.protocols import Reason
from tests.columns.streams import lines, reloaded
from tests.helpers.tier import cases


def rows(decisions):
    names = ("reason", "statistic", "by", "p_value")
    return list(zip(*(getattr(decisions, name).tolist() for name in names), strict=True))


def test_a_random_history_equals_plain_lists():
    rng = np.random.default_rng(0)
    deferred, plain, start = DeferredColumns(), [], 0
    for _ in range(cases(300)):
        m = int(rng.integers(0, 9))
        reason, statistic, p_value = rng.integers(0, 5, m).astype(np.uint8), rng.random(m), rng.random(m)
        deferred.append(reason, statistic, p_value)
        new = zip(reason.tolist(), statistic.tolist(), [-1] * m, p_value.tolist(), strict=True)
        plain += new
        if plain:
            feature = start + int(rng.integers(len(plain)))
            deferred.change(feature, KEPT, 0.5, start, 0.25)
            plain[feature - start] = (KEPT, 0.5, start, 0.25)
        done = int(rng.integers(len(plain) + 1))
        deferred.settled = start + done
        deferred = DeferredColumns.from_state(deferred.state())
        deferred.settled = start + done
        released = deferred.release()
        assert (released.start, released.end) == (start, start + done)
        assert rows(released) == plain[:done]
        plain, start = plain[done:], start + done
        assert rows(deferred) == rows(deferred.copy()) == plain
        assert (deferred.start, len(deferred)) == (start, len(plain))


def test_a_column_that_leaves_is_released_with_the_column_at_which_it_does():
    deferred = DeferredColumns(10)
    deferred.append(np.zeros(5, np.uint8), np.zeros(5))
    deferred.evictions += [eviction_of(13, 2, 0.9, -1), eviction_of(11, 4, 0.7, 11)]
    assert deferred.named.tolist() == [2, 4, 10, 11, 12, 13, 14]
    deferred.settled = 12
    assert [e[:4] for e in deferred.release().evictions] == [eviction_of(11, 4, 0.7, 11)[:4]]
    deferred.evictions.append(eviction_of(12, 3, 0.6, 12))
    deferred.settled = 15
    decided = outcome_of(deferred.release(), None)
    assert [(e.step, e.feature, e.reason, e.by) for e in decided.evictions] == [
        (12, 3, Reason.REDUNDANT, (12,)),
        (13, 2, Reason.IRRELEVANT, ()),
    ]
    assert deferred.evictions == []
    deferred.resume(20)
    assert (deferred.start, deferred.end) == (20, 20)


def exclusive_or(rng):
    """Return 60 columns, of which two are informative only together and one alone, and the target."""
    X = rng.integers(0, 2, (500, 60))
    y = X[:, 15] ^ X[:, 25] ^ (rng.random(500) < 0.1)
    X[:, 30] = np.where(rng.random(500) < 0.3, X[:, 30], y)
    return X.astype(float), y


def planted(rng):
    """Return 60 columns of which 20 are informative, and the target."""
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 60))
    X[:, rng.choice(60, 20, replace=False)] += y[:, None]
    return X, y


DEFERRING = {
    "interactions": (partial(ss.InteractionScan, pool=12), exclusive_or, "later ones may change them"),
    "three-way": (
        partial(ss.OSSFSDD, lower=0.3, upper=1.0, pool=6, floor=4), planted, "later ones may change them"
    ),
    "groups": (partial(ss.GroupSAOLA, alpha=0.3, group_size=7), planted, "their group is open"),
}  # fmt: skip
deferring = pytest.mark.parametrize(("make", "stream", "because"), DEFERRING.values(), ids=DEFERRING)


@deferring
def test_looking_changes_nothing_and_what_is_returned_is_final(make, stream, because):
    X, y = stream(np.random.default_rng(7))
    quiet, watched = (make().begin(y) for _ in range(2))
    returned = []
    for j in range(60):
        quiet.offer(X[:, j])
        returned += watched.offer(X[:, j])
        expected = make().fit(X[:, : j + 1], y)
        assert lines(watched) == lines(expected)
        assert watched.selected_.tolist() == expected.selected_.tolist()
        counts = watched.ledger_.counts()
        assert sum(counts.values()) == len(watched.ledger_) - counts.get("evicted", 0)
        kept = {d.feature for d in watched.ledger_ if d.event == "kept"}
        kept -= {d.feature for d in watched.ledger_ if d.event == "evicted"}
        assert kept == {f"x{i}" for i in watched.selected_}
    assert lines(quiet) == lines(watched)
    assert returned == list(watched.ledger_)[: len(returned)]
    assert len(returned) > 20
    open_ = len(watched.ledger_) - len(returned)
    assert open_ == 0 or f"columns provisional: {because}" in repr(watched.ledger_)
    assert watched.ledger_.why("x59")._replace(type=None, effect=None) == watched.ledger_[-1]
    assert list(watched.ledger_.kept()) == [d for d in watched.ledger_ if d.event == "kept"]


@deferring
@pytest.mark.parametrize("ledger", ["all", "kept", "none"])
def test_a_run_saved_anywhere_goes_on_as_before(make, stream, because, ledger):
    X, y = stream(np.random.default_rng(9))
    names = [f"f{j}" for j in range(60)]
    whole = make(ledger=ledger).begin(y)
    whole.offer(X, names=names)
    assert len(whole.selected_) > 2
    for half in (1, 5, 17, 28, 31, 46, 59):
        first = make(ledger=ledger).begin(y)
        first.offer(X[:, :half], names=names[:half])
        resumed = reloaded(first)
        assert resumed.selected_.tolist() == first.selected_.tolist()
        resumed.offer(X[:, half:], names=names[half:])
        assert [d[:4] + d[6:] for d in resumed.ledger_] == [d[:4] + d[6:] for d in whole.ledger_]
        assert resumed.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
        for name in ("pairs_", "n_pairs_"):
            assert np.array_equal(getattr(resumed, name, 0), getattr(whole, name, 0))
