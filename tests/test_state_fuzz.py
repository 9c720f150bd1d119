"""Damaged states with a right checksum are refused, or are legal states of something else that go on working.

Run under ``NUMBA_BOUNDSCHECK=1`` to let an access out of bounds raise; ``MUTANTS`` sets how many per subject.
"""

import os

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve import state
from streamsieve.criteria import AnovaF
from streamsieve.summaries import (
    CoMoments,
    Contingency,
    CrossProducts,
    Moments,
    Quantiles,
    RecentRows,
    SortedColumns,
    TargetBins,
    Window,
)
from streamsieve.summaries.nesting import innermost
from streamsieve.testing.states import fuzz, mutants
from tests.helpers.tier import cases

MUTANTS = int(os.environ.get("MUTANTS", str(cases(200))))
rng = np.random.default_rng(0)
X, y = rng.normal(size=(300, 6)), rng.integers(0, 2, 300)
X[:, 1] += y
FEW = np.round(X)


def learnt(summary, rows, weight=None):
    summary.update(rows, y.astype(float) if summary.target == "numeric" else y, weight)
    return summary


def read(summary):
    """Ask a summary for what criteria ask."""
    if isinstance(summary, Moments):
        AnovaF()(summary)
    elif isinstance(summary, CrossProducts):
        summary.moments()
    else:
        list(summary.tables(5) if hasattr(summary, "tables") else summary.blocks())


def use_summary(summary):
    again = type(summary).from_state(summary.state())
    n = max(1, min(6, summary.n_features or 6))
    labels = y.astype(float) if summary.target == "numeric" else y
    summary.update(FEW[:70, :n], labels[:70])
    summary.merge(again)
    if summary.n_features < 10**6:  # sparse rows of a window prove no number of features
        read(innermost(summary))
    type(summary).from_state(summary.state())


HEAVY, WHOLE = rng.exponential(size=300), rng.integers(0, 3, 300).astype(float)
SUMMARIES = {
    "moments": lambda: learnt(Moments(), X),
    "moments sparse": lambda: learnt(Moments(50.0), sp.csr_array(FEW)),
    "quantiles": lambda: learnt(Quantiles(0.05), X),
    "quantiles weighted": lambda: learnt(Quantiles(0.05), X, HEAVY),
    "quantiles few values": lambda: learnt(Quantiles(0.05), FEW),
    "quantiles sparse": lambda: learnt(Quantiles(0.05), sp.csr_array(FEW)),
    "contingency": lambda: learnt(Contingency(), FEW),
    "contingency sparse": lambda: learnt(Contingency(50.0), sp.csr_array(FEW)),
    "contingency text": lambda: learnt(Contingency(cap=4), np.where(FEW == 1, "one", FEW.astype(object))),
    "co-moments": lambda: learnt(CoMoments(), X),
    "co-moments sparse": lambda: learnt(CoMoments(50.0), sp.csr_array(FEW)),
    "products": lambda: learnt(CrossProducts(), X),
    "products sparse": lambda: learnt(CrossProducts(50.0, target="numeric"), sp.csr_array(FEW)),
    "window": lambda: learnt(Window(Contingency(), size=100), FEW, WHOLE),
    "window sparse": lambda: learnt(Window(Moments(), size=100), sp.csr_array(FEW)),
    "bins": lambda: learnt(TargetBins(Moments(), bins=2, warm_up=10), X),
    "bins of few rows": lambda: learnt(Window(TargetBins(Quantiles(0.05), bins=2), size=100), X),
    "recent rows": lambda: learnt(RecentRows(size=50), sp.csr_array(FEW)),
    "sorted columns": lambda: learnt(SortedColumns(), X),
}


@pytest.mark.parametrize("make", SUMMARIES.values(), ids=SUMMARIES)
def test_damaged_summaries(make):
    summary = make()
    refused, _, findings = fuzz(
        "summary", summary.state(), type(summary).from_state, use_summary, MUTANTS, np.random.default_rng(1)
    )
    assert not findings
    assert refused > MUTANTS / 3


def use_columns(sieve):
    sieve.offer(np.c_[X, y + X[:, 0]])
    list(sieve.ledger_)
    type(sieve).from_bytes(sieve.to_bytes())


def use_two_way(both):
    kept = len(both.selected_)
    both.learn_rows(X[:40, np.zeros(kept, int)], y[:40])
    both.offer(np.r_[X, X[:40]])
    both.review()
    list(both.ledger_)
    type(both).from_bytes(both.to_bytes())


def use_rows(selector):
    if selector.n_features_in_ == 6 and selector._fixed_:
        selector.partial_fit(X[:40], y[:40])
    if selector.n_features_in_ < 10**6:
        assert len(selector.scores_) == selector.n_features_in_
    type(selector).from_bytes(selector.to_bytes())


SELECTORS = {
    "SAOLA": (ss.SAOLA(), use_columns),
    "SAOLA su": (ss.SAOLA(measure="su"), use_columns),
    "SAOLA omit": (ss.SAOLA(missing="omit"), use_columns),
    "AlphaInvesting": (ss.AlphaInvesting(), use_columns),
    "AlphaInvesting logistic": (ss.AlphaInvesting(model="logistic"), use_columns),
    "InformationInvesting": (ss.InformationInvesting(), use_columns),
    "StreamwiseIC": (ss.StreamwiseIC("aic"), use_columns),
    "OnlineFDR": (ss.OnlineFDR(alpha=0.5, lag=1), use_columns),
    "OnlineFDR conditional": (ss.OnlineFDR(alpha=0.5, scope="conditional"), use_columns),
    "Grafting squared": (ss.Grafting(0.01, loss="squared"), use_columns),
    "Grafting logistic": (ss.Grafting(0.01, l1_ratio=0.5), use_columns),
    "OnlineSubstitution squared": (ss.OnlineSubstitution(3, loss="squared", refresh=2), use_columns),
    "OnlineSubstitution logistic": (ss.OnlineSubstitution(3, refresh=2), use_columns),
    "GroupSAOLA": (ss.GroupSAOLA(alpha=0.5, group_size=4, fdr="addis"), use_columns),
    "GroupSAOLA su": (ss.GroupSAOLA(measure="su", group_size=4), use_columns),
    "OGFS": (ss.OGFS(min_gain=0, alpha=0.5, l1=0.01, group_size=4), use_columns),
    "DOFS": (ss.DOFS(l1=0.01, group_size=4), use_columns),
    "DOFS draw": (ss.DOFS("draw", group_size=4), use_columns),
    "OSSFSDD": (ss.OSSFSDD(lower=0.2, upper=1.0, floor=0, alpha=0.3), use_columns),
    "OSSFSDD floor": (ss.OSSFSDD(lower=0.2, upper=1.0, alpha=0.3), use_columns),
    "InteractionScan": (ss.InteractionScan(alpha=0.9), use_columns),
    "TwoWay": (ss.TwoWay(ss.FastOSFS(alpha=0.5), row_screen=ss.Screen("f", alpha=0.5)), use_two_way),
    "Screen f": (ss.Screen("f", k=2), use_rows),
    "Screen mutual_info": (ss.Screen("mutual_info", k=2, max_rank_error=0.05), use_rows),
    "OFS": (ss.OFS(k=2), use_rows),
}


@pytest.mark.filterwarnings("ignore:Grafting could not fit", "ignore:the elastic net is")
@pytest.mark.parametrize(("selector", "use"), SELECTORS.values(), ids=SELECTORS)
def test_damaged_selectors(selector, use):
    header, arrays = selector.fit(X, y)._saved()

    def load(damaged):
        return type(selector).from_bytes(state.to_bytes(header, damaged))

    refused, _, findings = fuzz(repr(selector), arrays, load, use, MUTANTS, np.random.default_rng(1))
    assert not findings
    assert refused > MUTANTS / 3


@pytest.mark.parametrize("selector", [ss.SAOLA(0.5), ss.TopK(4, missing="omit"), ss.DOFS()], ids=repr)
def test_damaged_rows_held_out(selector):
    header, arrays = selector.fit(X, y, holdout=0.4)._saved()

    def load(damaged):
        return type(selector).from_bytes(state.to_bytes(header, damaged))

    def use(sieve):
        use_columns(sieve)
        sieve.confirm()

    assert any(name.startswith("holdout_/") for name in arrays)
    refused, _, findings = fuzz(repr(selector), arrays, load, use, MUTANTS, np.random.default_rng(1))
    assert not findings
    assert refused > MUTANTS / 3


def test_a_seed_finds_its_mutant_again_whatever_the_order_of_the_arrays():
    arrays = Moments().state() | learnt(Moments(), X).state()
    backwards = dict(reversed(arrays.items()))
    for seed in range(40):
        ((one, name, a),) = mutants(arrays, 1, np.random.default_rng(seed))
        ((other, again, b),) = mutants(backwards, 1, np.random.default_rng(seed))
        assert (one, name) == (other, again)
        assert {key: array.tobytes() for key, array in a.items()} == {
            key: array.tobytes() for key, array in b.items()
        }
