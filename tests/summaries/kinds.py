"""Every summary over features with its slow twin: for tests that hold for all of them."""

from functools import partial

import numpy as np
import pytest

from streamsieve.summaries import CoMoments, Contingency, CrossProducts, Moments, Quantiles
from tests.reference.cross_products import joint_moments
from tests.reference.moments import existing
from tests.summaries import pieces, quantile_truth, streams
from tests.summaries.streams import DENSE, random_stream

#: Weights whose sums tie with the edges of bins, up to rounding.
TIES = (0.1, 1 / 3, 0.25)


def check_products(products, stream, half_life=None, tolerance=1e-11):
    """Compare cross products with the slow twin over the whole stream."""
    X, y, _ = existing(stream.X, stream.y, stream.weight)
    assert products.n_rows == len(y)
    if products.target == "classes":
        assert sorted(products.classes) == sorted(set(y.tolist()))
    if len(y) == 0:
        return
    assert products.n_features == X.shape[1]
    classes = products.classes if products.target == "classes" else None
    twin = joint_moments(stream.X, stream.y, stream.weight, half_life, classes)
    found = products.moments()
    size = np.maximum(np.abs(X).max(axis=0), 1e-300)
    spread = np.maximum(np.sqrt(twin.target_variance), 1e-300 if classes is None else 1.0)
    if classes is None:
        spread[0] = max(np.abs(y).max(), 1e-300)
    np.testing.assert_allclose(found.n, twin.n, rtol=tolerance)
    for name, scale in (
        ("mean", size), ("covariance", np.outer(size, size)), ("target_mean", spread),
        ("target_variance", spread**2), ("target_covariance", np.outer(spread, size)),
    ):  # fmt: skip
        got, wanted = getattr(found, name), getattr(twin, name)
        assert got.shape == wanted.shape
        far = np.abs(got - wanted) > max(tolerance, 1e-11) * scale + 1e-300  # subnormal: few digits
        assert not far.any(), f"{got} should be {wanted}"
    assert np.array_equal(found.covariance, found.covariance.T)


def check_quantiles(summary, stream, half_life=None, tolerance=None):
    assert summary.n_rows == len(existing(stream.X, stream.y, stream.weight)[1])
    assert not summary.n_rows or summary.n_features == stream.X.shape[1]
    quantile_truth.check_tables(summary, stream, half_life, bins=2 + len(stream) % 6)


def check_counts(summary, stream, half_life=None, tolerance=1e-11):
    piece = pieces.Piece(stream.X.astype(object), stream.y, stream.weight, "C")
    pieces.check(summary, [piece], half_life, tolerance=max(tolerance, 1e-11))


class Kind:
    """How to make a summary and check it; whether it takes NaN, and dense ones merge with sparse ones."""

    def __init__(self, make, target, check, *, missing=True, mixes=True):
        self.make, self.target, self.check = make, target, check
        self.missing, self.mixes = missing, mixes

    def __call__(self, half_life=None):
        return self.make(half_life=half_life)

    def from_state(self, state):
        return type(self()).from_state(state)

    def stream(self, rng, **how):
        """Random rows, now and then of equal fractional weights or with tied values."""
        stream = random_stream(rng, self.target, **how)
        if rng.random() < 0.1:
            stream.weight = np.full(len(stream), rng.choice(TIES))
        if rng.random() < 0.2:
            stream.X = np.round(stream.X)
        if not self.missing:
            stream.X[np.isnan(stream.X)] = 0.0
        return stream

    def absent(self, form):
        """What a row of this form holds in features it does not have."""
        return np.nan if form in DENSE and self.missing else 0.0

    def forms(self, rng, forms, n):
        """Forms of n parts that may be merged."""
        return rng.choice(forms, n) if self.mixes else [rng.choice(forms)] * n


KINDS = {
    "Moments": Kind(Moments, "classes", streams.check),
    "CoMoments": Kind(CoMoments, "numeric", streams.check),
    "CrossProducts": Kind(CrossProducts, "classes", check_products, missing=False),
    "numeric CrossProducts": Kind(
        partial(CrossProducts, target="numeric"), "numeric", check_products, missing=False
    ),
    "Quantiles": Kind(Quantiles, "classes", check_quantiles, mixes=False),
    "Contingency": Kind(Contingency, "classes", check_counts),
}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
over_classes = pytest.mark.parametrize(
    "kind",
    [kind for kind in KINDS.values() if kind.target == "classes"],
    ids=[name for name, kind in KINDS.items() if kind.target == "classes"],
)


def merged(rng, summaries, *, in_order):
    """Merge two at a time until one is left: neighbors only, or any two in any order."""
    summaries = list(summaries)
    while len(summaries) > 1:
        i = int(rng.integers(len(summaries) - 1))
        i, j = (i, i + 1) if in_order else rng.permutation(len(summaries))[:2]
        summaries[i].merge(summaries[j])
        del summaries[j]
    return summaries[0]
