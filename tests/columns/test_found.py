"""Columns found and columns kept: what is counted, and that a resumed stream counts on."""

import numpy as np
import pytest

import streamsieve as ss
from streamsieve import registry
from streamsieve.base import ColumnSelector
from streamsieve.exceptions import StateError
from streamsieve.independence.online_fdr import RULES
from tests.columns.streams import reloaded
from tests.columns.test_resume_bits import stream

VARIANTS = [
    variant
    for cls in registry.selectors().values()
    if issubclass(cls, ColumnSelector)
    for variant in cls.variants()
]


def fresh(selector):
    return type(selector)(**selector.get_params(deep=False))


@pytest.mark.filterwarnings("ignore:Grafting could not fit")
@pytest.mark.parametrize("selector", VARIANTS, ids=repr)
def test_no_more_columns_are_kept_than_found_at_any_time(selector):
    """Also one column at a time, after saving and loading, and with a stop."""
    X, y = stream(selector.traits.tasks, 3)
    whole, parts, single = (fresh(selector).begin(y) for _ in range(3))
    assert (whole.n_found_, whole.n_kept_) == (0, 0)
    whole.offer(X)
    for low in range(0, X.shape[1], 13):
        parts.offer(X[:, low : low + 13])
        parts = reloaded(parts)
        assert parts.n_kept_ == len(parts.selected_) <= parts.n_found_ <= parts.n_features_in_
    for j in range(X.shape[1]):
        single.offer(X[:, j])
    assert whole.n_found_ == parts.n_found_ == single.n_found_
    reasons = [str(d.reason) for d in whole.ledger_ if d.event != "evicted"]
    found = [reason for reason in reasons if reason in ("relevant", "redundant", "outscored")]
    spouses = reasons.count("spouse")  # of which some were found before, and others were irrelevant
    assert len(found) <= whole.n_found_ <= len(found) + spouses
    stopped = fresh(selector).set_params(stop=ss.Stop(max_offers=17)).fit(X, y)
    assert stopped.n_kept_ <= stopped.n_found_ <= 17
    if not selector.traits.defers:
        assert stopped.n_found_ == fresh(selector).fit(X[:, :17], y).n_found_


@pytest.mark.parametrize("rule", RULES)
def test_behind_an_fdr_procedure_the_columns_found_are_its_discoveries(rule):
    """Also those that a blanket rejects as collinear or because it has no reliable test."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    X = rng.integers(0, 3, (150, 60)) + 0.0
    X[:, ::3] += 2 * y[:, None] * (rng.random((150, 20)) < 0.7)
    X[:, 1::9] = X[:, ::9]
    unreliable = False
    for sieve in (
        ss.OnlineFDR(rule, alpha=0.2), ss.OnlineFDR(rule, alpha=0.2, scope="conditional"),
        ss.SAOLA(0.2, fdr=rule), ss.FastOSFS(0.2, fdr=rule), ss.TopK(4, alpha=0.2, fdr=rule),
        ss.FastOSFS(0.2, fdr=rule, test="g2", unreliable="independent"), ss.OSFS(0.2, fdr=rule, test="g2"),
    ):  # fmt: skip
        sieve.fit(X, y)
        assert sieve.n_found_ == sieve._process_.fdr.discoveries > 0
        unreliable |= any(str(d.reason) == "unreliable test" for d in sieve.ledger_)
    groups = ss.GroupSAOLA(0.2, fdr=rule, group_size=7).fit(X, y)
    assert groups.n_found_ == groups._process_.store.fdr.discoveries > 0
    assert unreliable


def test_merged_buffers_add_up():
    X, y = stream({*"ab"}, 0)
    whole = ss.TopK(3, redundancy_weight=0).fit(X, y)
    one, other = (ss.TopK(3, redundancy_weight=0).fit(X[:, part], y) for part in (slice(20), slice(20, None)))
    assert one.merge(other).n_found_ == whole.n_found_ > 3


def test_counts_that_do_not_fit_are_refused():
    X, y = stream({*"ab"}, 0)
    sieve = ss.SAOLA().fit(X, y)
    for wrong in (sieve.n_kept_ - 1, sieve.n_features_in_ + 1):
        sieve._found_ = wrong
        with pytest.raises(StateError, match="columns were found"):
            reloaded(sieve)
    assert not hasattr(ss.SAOLA(), "n_found_")
    assert not hasattr(ss.SAOLA(), "n_kept_")
