"""Small random streams in every form a summary may meet, and the comparison with the slow twins."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from streamsieve.summaries import Moments
from tests.reference.comoments import comoments
from tests.reference.moments import decay, effective_counts, existing, moments

DENSE = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "float32 F": lambda X: np.asfortranarray(X, np.float32),
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
}
SPARSE = {
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csr float32": lambda X: sp.csr_array(X.astype(np.float32)),
}
FORMS = DENSE | SPARSE
#: Larger than any value here: what rounding has eaten up is not compared, except that it is no NaN.
UNKNOWN = 1e30
HALF_LIVES = (None, 1.0, 3.0, 100.0, 1e5)


@dataclass
class Stream:
    """Rows of a stream; NaN is missing, ``weight`` may be None."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None

    def __len__(self):
        return len(self.y)

    def __getitem__(self, part):
        return Stream(self.X[part], self.y[part], None if self.weight is None else self.weight[part])

    def cut(self, rng, pieces):
        """Cut into a number of pieces at random places; some may be empty."""
        edges = [0, *sorted(rng.integers(0, len(self) + 1, pieces - 1).tolist()), len(self)]
        return [self[low:high] for low, high in pairwise(edges)]


def values(rng, n, p):
    """Numbers that float32 holds exactly: zeros, small numbers and columns far from 0."""
    X = rng.normal(size=(n, p)) * 2.0 ** rng.integers(-3, 4, p) + rng.choice([0, 0, 0, 5, -100], p)
    X[rng.random((n, p)) < rng.choice([0, 0.3, 0.9])] = 0.0
    return X.astype(np.float32).astype(np.float64)


def weights(rng, n, kind):
    """None, whole numbers with zeros, or fractions with zeros."""
    if kind == "none":
        return None
    w = rng.integers(0, 4, n).astype(np.float64) if kind == "whole" else rng.random(n)
    w[rng.random(n) < 0.1] = 0.0
    return w


def random_stream(rng, target, n=None, p=None, labels=(0, 1, 2)):
    """Make a stream of any kind: with or without missing values and weights."""
    n = int(rng.integers(1, 15)) if n is None else n
    p = int(rng.integers(1, 5)) if p is None else p
    X = values(rng, n, p)
    X[rng.random((n, p)) < rng.choice([0, 0, 0.2, 0.7])] = np.nan
    y = rng.choice(np.array(labels), n) if target == "classes" else values(rng, n, 1)[:, 0] + 3
    return Stream(X, y, weights(rng, n, rng.choice(["none", "whole", "fraction"])))


def feed(summary, stream, form="C"):
    """Update a summary with a stream in one form (its name, or a function)."""
    summary.update((FORMS[form] if isinstance(form, str) else form)(stream.X), stream.y, stream.weight)
    return summary


def learnt(kind, parts, forms, half_life=None):
    """Return a new summary of the kind that has seen the parts, each in its form."""
    summary = kind(half_life)
    for part, form in zip(parts, forms, strict=True):
        feed(summary, part, form)
    return summary


def ways(kind, stream, form, half_life=None, sizes=(100,)):
    """Yield the summary of a stream: at once, in batches of some sizes, merged from 7 and from 64 shards."""
    for size in (len(stream), *sizes):
        parts = [stream[low : low + size] for low in range(0, len(stream), size)]
        yield learnt(kind, parts, [form] * len(parts), half_life)
    for n in (7, 64):
        size = -(-len(stream) // n)
        first, *rest = [
            learnt(kind, [stream[low : low + size]], [form], half_life) for low in range(0, len(stream), size)
        ]
        for shard in rest:
            first.merge(shard)
        yield first


def check(summary, stream, half_life=None, tolerance=1e-12):
    """Compare a summary with the slow twin over the whole stream."""
    (_check_moments if isinstance(summary, Moments) else _check_comoments)(
        summary, stream, half_life, tolerance
    )


def _near(got, wanted, slack):
    """Compare to within a slack, or the least number there is; NaN is never near."""
    wrong = ~(np.abs(got - wanted) <= np.maximum(slack, 1e-323))
    assert not wrong.any(), f"{got[wrong]} should be {wanted[wrong]}"


def _slack(tolerance, mass, total):
    """Allow for the digits lost where a feature is missing in most rows of its class."""
    share = np.maximum(mass / total, 1e-30)
    return np.where(share > 1e-6, tolerance / share**2, UNKNOWN)


def _magnitude(X):
    return np.array([np.max(np.abs(x[~np.isnan(x)]), initial=0.0) for x in X.T])


def _check_moments(summary, stream, half_life, tolerance):
    X, y, weight = existing(stream.X, stream.y, stream.weight)
    twin = moments(X, y, weight, half_life)
    assert summary.n_rows == len(y)
    assert sorted(summary.classes) == sorted(twin)
    if not twin:
        return
    assert summary.n_features == X.shape[1]
    block, counts = summary.block(0, X.shape[1]), effective_counts(X, y, weight, half_life)
    w, scale = weight * decay(len(y), half_life), _magnitude(X)
    reference = sum(mass.sum() for mass, _, _ in twin.values())
    factor = block.mass.sum() / reference if half_life is not None and reference else 1.0
    for c, label in enumerate(summary.classes):
        mass, mean, variance = twin[label]
        total = w[y == label].sum()
        slack = _slack(tolerance, mass, total)
        _near(block.mass[c] / factor, mass, tolerance * total)
        _near(block.n[c], counts[label], tolerance * total / mass.clip(total * 1e-9) * counts[label] + 1e-9)
        _near(block.mean[c], mean, slack * scale)
        _near(block.variance[c], variance, slack * scale**2)


def _check_comoments(summary, stream, half_life, tolerance):
    X, y, weight = existing(stream.X, stream.y, stream.weight)
    assert summary.n_rows == len(y)
    if not len(y):
        return
    assert summary.n_features == X.shape[1]
    twin, block = comoments(X, y, weight, half_life), summary.block(0, X.shape[1])
    full = comoments(np.ones((len(y), 1)), y, weight, half_life).count[0]
    slack = _slack(tolerance, twin.count, full)
    scale, spread = _magnitude(X), max(np.ptp(y), 1e-300)
    _near(block.n, twin.count, tolerance * full)
    _near(block.mean, twin.mean, slack * scale)
    _near(block.variance, twin.variance, slack * scale**2)
    _near(block.target_variance, twin.target_variance, slack * spread**2)
    _near(block.covariance, twin.covariance, slack * scale * spread)


def same_block(a, b, size, tolerance=1e-12):
    """Compare two summaries with each other, class by class; no value or target exceeds ``size``."""
    assert a.n_rows == b.n_rows
    assert a.n_features == b.n_features
    left, right = a.block(0, a.n_features), b.block(0, b.n_features)
    order = slice(None)
    if isinstance(a, Moments):
        order = [b.classes.index(label) for label in a.classes]
    for x, y in zip(left, right, strict=True):
        np.testing.assert_allclose(x, y[order], rtol=tolerance, atol=tolerance * size**2)


def snapshot(summary):
    """Copy everything a summary knows."""
    return {name: array.copy() for name, array in summary.state().items()}


def assert_same_bits(before, after):
    """Compare two snapshots bit for bit, NaN and signs of zeros included."""
    assert before.keys() == after.keys()
    for name, array in before.items():
        assert array.dtype == after[name].dtype
        assert array.shape == after[name].shape
        assert array.tobytes() == after[name].tobytes(), name
