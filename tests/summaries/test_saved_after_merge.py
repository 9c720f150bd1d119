"""The law of states: whatever a sequence of operations leaves can be saved, loaded and continued."""

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve.summaries import Contingency, Moments, Quantiles
from tests.helpers.tier import cases

MAKERS = {
    "moments": Moments,
    "quantiles": lambda: Quantiles(0.01),
    "quantiles fading": lambda: Quantiles(0.01, half_life=3000.0),
    "contingency": Contingency,
}


def shard(rng, make, rows, *, sparse, missing):
    """A summary of a column of few values, a rare one, one of many values and, perhaps, missing ones."""
    y = rng.integers(0, 2, rows)
    X = np.c_[
        np.round(2 * rng.normal(size=rows)) + 0.0, rng.random(rows) < 0.01, np.round(rng.normal(size=rows), 2)
    ]
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    summary = make()
    summary.update(sp.csr_array(X) if sparse else X, y)
    return summary, X, y


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_what_a_merge_leaves_behind_can_be_saved_and_loaded(make, sparse, missing):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        whole = make()
        for _ in range(12):
            whole.merge(shard(rng, make, int(rng.integers(1, 2000)), sparse=sparse, missing=missing)[0])
            again = type(whole).from_state(whole.state())  # the law
            more = shard(rng, make, 40, sparse=sparse, missing=missing)
            for summary in (again, type(whole).from_state(whole.state())):
                summary.update(more[1], more[2])
            again.merge(whole)


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
def test_tables_of_few_values_stay_exact_through_merges(missing):
    """A table that counts a value less than 0 times is right together with the buffer."""
    below = 0
    for seed in range(cases(3)):
        rng = np.random.default_rng(seed)
        whole, parts = Quantiles(), []
        for _ in range(4):
            y = rng.integers(0, 2, 62_500)
            X = np.round(2 * rng.normal(size=(len(y), 5))) + 0.0
            if missing:
                X[rng.random(X.shape) < 0.1] = np.nan
            parts.append((X, y))
            summary = Quantiles()
            summary.update(X, y)
            whole.merge(summary)
        X, y = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        below += any((runs.few.masses < 0).any() for runs in whole._store.classes)
        alone = Quantiles()
        alone.update(X, y)
        points = np.arange(-12.0, 13.0)
        for merged in (whole, Quantiles.from_state(whole.state())):
            for j in range(5):
                truth = [[np.sum(X[y == c, j] <= x) for x in points] for c in merged.classes]
                assert np.array_equal(merged.cdf(j, points), truth)
            assert np.array_equal(next(merged.tables(5)).counts, next(alone.tables(5)).counts)
    assert below > 0  # otherwise this test shows nothing
