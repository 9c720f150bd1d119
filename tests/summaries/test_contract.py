"""Every summary of the registry keeps the laws of ``protocols.Summary``, and each broken law is named."""

import inspect
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from streamsieve import registry
from streamsieve.exceptions import MergeError
from streamsieve.state import register
from streamsieve.summaries import ByType, Contingency, Moments, Quantiles, TargetBins, Window
from streamsieve.summaries.nesting import innermost
from streamsieve.testing import check_summary
from streamsieve.testing import summaries as laws
from streamsieve.testing._summary_rows import known
from tests.summaries.listing import Listing

SUMMARIES = registry.summaries()


def variants():
    """Yield a maker of every summary: plain, fading, with either target, and around another."""
    for name, kind in SUMMARIES.items():
        parameters = inspect.signature(kind).parameters
        if not {"inner", "numbers"} & {*parameters}:
            yield name, kind
        if "half_life" in parameters:
            yield f"{name} fading", partial(kind, half_life=7.0)
        if "target" in parameters:
            yield f"{name} numeric", partial(kind, target="numeric")
    for inner in (Moments, Quantiles, Contingency):
        yield f"Window over {inner.__name__}", lambda inner=inner: Window(inner(), size=50)
        yield f"TargetBins over {inner.__name__}", lambda inner=inner: TargetBins(inner(), bins=3)
    yield "Window over TargetBins", lambda: Window(TargetBins(Moments(), bins=3), size=50)
    yield "RecentRows, few", partial(SUMMARIES["RecentRows"], size=50)


def by_type():
    """Yield makers of summaries whose columns 1 and 3 are levels."""
    for name, numbers in (("Moments", Moments), ("Quantiles", Quantiles)):
        yield f"ByType over {name}", lambda numbers=numbers: ByType(numbers(), Contingency(), [1, 3])
    yield "ByType fading", lambda: ByType(Moments(half_life=7.0), Contingency(half_life=7.0), [1, 3])
    yield (
        "ByType numeric",
        lambda: ByType(TargetBins(Moments(), bins=3), TargetBins(Contingency(), bins=3), [1, 3]),
    )
    yield "Window over ByType", lambda: Window(ByType(Moments(), Contingency(), [1, 3]), size=50)


def both(summary):
    """Return what the two summaries know, of numbers in the columns that are none of levels."""
    summary = innermost(summary)
    return [*known(summary.numbers), *known(summary.levels)]


VARIANTS = dict(variants())
BY_TYPE = dict(by_type())


def test_every_summary_is_checked():
    makers = [*VARIANTS.values(), *BY_TYPE.values()]
    assert {type(make()) for make in makers} == {*SUMMARIES.values()}


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)
def test_laws(make):
    check_summary(make)


@pytest.mark.parametrize("make", BY_TYPE.values(), ids=BY_TYPE)
def test_laws_of_two_kinds_of_columns(make, monkeypatch):
    # types move with their columns, so that a fresh summary of moved columns has other types
    monkeypatch.setattr(laws, "reindexing_moves_columns", lambda make, read: None)
    check_summary(make, both)


def test_types_move_with_their_columns():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (60, 3)).astype(float), rng.integers(0, 2, 60)
    here, there = (ByType(Moments(), Contingency(), at) for at in ([0, 1], [1, 4]))
    here.update(X, y)
    wide = np.full((60, 5), np.nan)
    wide[:, [4, 1, 2]] = X
    there.update(wide, y)
    moved = here.reindexed(np.array([4, 1, 2]), 5)
    assert moved.at.tolist() == [1, 4]
    for mine, theirs in zip(both(moved), both(there), strict=True):
        np.testing.assert_allclose(mine, theirs)


def test_columns_with_levels_that_were_never_seen_cannot_move():
    summary = ByType(Moments(), Contingency(), [0, 3])
    summary.update(np.zeros((4, 4)), np.arange(4) % 2)
    assert summary.reindexed(np.arange(4), 4).at.tolist() == [0, 3]
    for seen in (2, 3):
        few = ByType(Moments(), Contingency(), [0, 3])
        few.update(np.zeros((4, seen)), np.arange(4) % 2)
        with pytest.raises(MergeError, match=f"column 3 has levels, but only {seen} columns were seen"):
            few.reindexed(np.arange(seen), seen)


def test_parts_with_other_types_do_not_merge():
    with pytest.raises(MergeError, match=r"columns \[1\] are levels here, columns \[2\] there"):
        ByType(Moments(), Contingency(), [1]).merge(ByType(Moments(), Contingency(), [2]))


def test_a_summary_that_cannot_be_read_is_named():
    with pytest.raises(AssertionError, match=r"Listing has neither `blocks\(\)` nor `tables\(bins\)`"):
        check_summary(Listing)


def broken(**members):
    return register(type("Broken", (Moments,), {"__module__": __name__, **members}))


def no_reindexed(_):
    raise AttributeError


def nan_as_zero(self, X, y, weight=None):
    X = X.copy()
    values = X.data if sp.issparse(X) else X
    values[np.isnan(values)] = 0.0
    Moments.update(self, X, y, weight)


def only_complete_rows(self, X, y, weight=None):
    there = ~np.isnan(X.toarray() if sp.issparse(X) else X).any(axis=1)
    Moments.update(self, X[there], y[there], None if weight is None else weight[there])


BROKEN = {
    "has no `reindexed`": {"reindexed": property(no_reindexed)},
    "rows of weight 0, changed the summary": {
        "update": lambda self, X, y, weight=None: Moments.update(self, X, y)
    },
    "merging differs from concatenating": {"merge": lambda self, other: None},
    "merging changed the other": {"merge": lambda self, other: (Moments.merge(self, other), other.fade(0.5))},
    "must raise MergeError": {
        "merge": lambda self, other: Moments.merge(self, other) if isinstance(other, Moments) else None
    },
    "late features": {"update": lambda self, X, y, weight=None: Moments.update(self, X[:, ::-1], y, weight)},
    "reads back differently": {"state": lambda self: {**Moments.state(self), "mass": self._mass + 1.0}},
    "nothing but NaN change": {"update": nan_as_zero},
    "differ from features that were forgotten": {"update": only_complete_rows},
    "must raise SchemaError": {"forget": lambda self, columns: None},
}


@pytest.mark.parametrize(("message", "members"), BROKEN.items(), ids=BROKEN)
def test_a_broken_law_is_named(message, members):
    with pytest.raises((AssertionError, MergeError), match=message):
        check_summary(broken(**members))


def test_an_empty_batch_may_have_any_number_of_features():
    summary = Moments()
    summary.update(np.zeros((0, 3)), np.zeros(0))
    assert summary.n_features == 0
