"""Summaries and criteria over them that are wrong are refused by name."""

from dataclasses import dataclass

import numpy as np
import pytest

from streamsieve.criteria import Criterion, Needs, ratio
from streamsieve.protocols import CLASSIFICATION
from streamsieve.state import register
from streamsieve.summaries import Moments
from streamsieve.summaries.moments import MomentsBlock
from streamsieve.testing import check_criterion, check_summary


@register
class TupleMoments(Moments):
    """Its blocks are tuples without names."""

    def blocks(self):
        return ((block.mean, block.variance) for block in super().blocks())


@register
class ArrayMoments(Moments):
    """Its blocks are arrays."""

    def blocks(self):
        return (block.mean for block in super().blocks())


@register
class OnesMoments(Moments):
    """A place without a feature reads as 1."""

    def reindexed(self, columns, n_features):
        moved = super().reindexed(columns, n_features)
        moved.bare = np.setdiff1d(np.arange(n_features), columns)
        return moved

    def blocks(self):
        for block in super().blocks():
            mean = block.mean.copy()
            mean[:, getattr(self, "bare", [])] = 1
            yield MomentsBlock(block.mass, block.n, mean, block.variance)


@register
@dataclass(frozen=True)
class Gap(Criterion):
    name, tasks, needs = "gap", CLASSIFICATION, TupleMoments

    def score(self, block):
        mean, variance = block
        return ratio(np.ptp(mean, axis=0) if len(mean) else np.zeros(mean.shape[1]), variance.sum(axis=0))


@register
@dataclass(frozen=True)
class FullBin(Criterion):
    """Largest difference of the classes' shares in the first bin."""

    name, tasks, needs = "full_bin", CLASSIFICATION, Needs.QUANTILES

    def score(self, block):
        share = ratio(block.counts, block.counts.sum(axis=2, keepdims=True))
        return np.ptp(share, axis=1).max(axis=1)


@pytest.mark.parametrize("make", [TupleMoments, ArrayMoments])
def test_blocks_may_be_tuples_and_arrays(make):
    check_summary(make)


def test_a_place_without_a_feature_must_read_as_0():
    with pytest.raises(AssertionError, match="a place without a feature does not read as one that was 0"):
        check_summary(OnesMoments)


def test_a_criterion_may_need_a_summary_of_ones_own():
    check_criterion(Gap())
    other = type("Other", (Gap,), {"needs": dict})
    with pytest.raises(AssertionError, match="needs must be one of MOMENTS, .*, or the class of a summary"):
        check_criterion(other())


@pytest.mark.parametrize("needs", [Needs.QUANTILES, Needs.COUNTS])
def test_a_criterion_over_tables_needs_no_blocks_of_its_own(needs):
    kind = register(
        dataclass(frozen=True)(type("Tables", (FullBin,), {"__module__": __name__, "needs": needs}))
    )
    check_criterion(kind())


@register
class Undeclared(Moments):
    """Has an attribute that its fields do not declare."""

    def __init__(self, *args):
        super().__init__(*args)
        self.extra = 1

    def update(self, X, y, weight=None):
        self.extra += 1
        super().update(X, y, weight)


BROKEN = {
    "`fields` must declare every attribute that it needs": Undeclared,
    "update.X, y. fails if X is a csr_array": type(
        "Dense",
        (Moments,),
        {"update": lambda self, X, y, weight=None: Moments.update(self, np.array(X, float), y, weight)},
    ),
    "nbytes must be a number of bytes": type("Unsized", (Moments,), {"nbytes": None}),
}


@pytest.mark.parametrize(("message", "make"), BROKEN.items(), ids=BROKEN)
def test_a_broken_summary_is_named(message, make):
    with pytest.raises(AssertionError, match=message):
        check_summary(make)
