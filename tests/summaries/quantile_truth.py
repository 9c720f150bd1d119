"""Exact ranks to hold quantiles against, and the orders and weights that are hard for them."""

import numpy as np

from streamsieve.summaries import Quantiles
from tests.reference.moments import decay, existing
from tests.reference.quantiles import tables
from tests.summaries.streams import Stream

#: Collapses come early and k doubles twice within 20,000 rows of a class.
QUICK = 1 / 32
#: What rounding may add to an error, as a share of the mass.
ROUNDING = 1e-11


def _few(rng, n):
    return rng.choice([-1.5, 0.0, 0.25, 2.0, 7.0], n)


def _heavy(rng, n):
    """Half of the rows share ten values, the others are all different."""
    return np.where(rng.random(n) < 0.5, rng.integers(0, 10, n), rng.normal(5, 3, n))


def _zoom(rng, n):
    """Every row lies between the two before it."""
    return np.where(np.arange(n) % 2, -1.0, 1.0) / (1.0 + np.arange(n))


ORDERS = {
    "random": lambda rng, n: rng.normal(size=n),
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "reversed": lambda rng, n: -np.sort(rng.normal(size=n)),
    "few": _few,
    "heavy": _heavy,
    "hundred values": lambda rng, n: rng.integers(0, 100, n) * 1.0,
    "sawtooth": lambda rng, n: np.arange(n) % 97 + rng.random(n) / 2,
    "long sawtooth": lambda rng, n: -(np.arange(n) % (n // 3 + 1)) * 1.0,
    "zoom in": _zoom,
    "outwards": lambda rng, n: np.where(np.arange(n) % 2, -1.0, 1.0) * np.arange(n),
}

WEIGHTS = {
    "exponential": lambda rng, n: rng.exponential(size=n) + 1e-9,
    "pareto": lambda rng, n: rng.pareto(0.3, n) + 1e-6,
    "shrinking": lambda rng, n: 0.99 ** np.arange(n),
    "growing": lambda rng, n: 1.01 ** np.arange(n),
    "copies": lambda rng, n: rng.integers(1, 6, n) * 1.0,
    "one giant": lambda rng, n: np.where(np.arange(n) == n // 2, 1e12, 1.0 + rng.random(n)),
    "giant first": lambda rng, n: np.where(np.arange(n) == 0, 1e12, 1.0 + rng.random(n)),
    "blocks": lambda rng, n: 10.0 ** rng.integers(-6, 7, n // 50 + 1).repeat(50)[:n],
    "with zeros": lambda rng, n: np.maximum(rng.normal(size=n), 0.0),
}


def all_orders(rng, n, dtype=np.float64, missing=0.1):
    """Return rows with a column for every order, the last one with missing values, and unequal classes.

    All features of a class are collapsed at the same moments, so one stream tries all orders at once.
    """
    X = np.column_stack([order(rng, n) for order in ORDERS.values()] + [rng.normal(size=n)])
    X[rng.random(n) < missing, -1] = np.nan
    return Stream(X.astype(dtype).astype(np.float64), rng.choice(3, n, p=[0.7, 0.25, 0.05]))


def learnt(stream, epsilon=QUICK, half_life=None, dtype=np.float64):
    """Return the quantiles of a stream."""
    summary = Quantiles(epsilon, half_life=half_life)
    summary.update(stream.X.astype(dtype), stream.y, stream.weight)
    return summary


def joined(*streams):
    """Return the streams one after the other, none or all of them with weights."""
    weighted = any(s.weight is not None for s in streams)
    weights = [np.ones(len(s)) if s.weight is None else s.weight for s in streams]
    X, y = np.concatenate([s.X for s in streams]), np.concatenate([s.y for s in streams])
    return Stream(X, y, np.concatenate(weights) if weighted else None)


def scale_of(summary, mass):
    """Return by how much the summary's masses are inflated: only their shares mean something."""
    return summary._mass.sum() / mass.sum()


def rank_errors(summary, stream, half_life=None, features=None):
    """Return the largest error of a rank in every class, as a share of all rows of the class.

    Ranks are asked for at all values there are, between them, and beyond them.
    """
    X, y, weight = existing(stream.X, stream.y, stream.weight)
    mass = weight * decay(len(y), half_life)
    scale, worst = scale_of(summary, mass), np.zeros(len(summary.classes))
    for j in range(X.shape[1]) if features is None else features:
        known = np.unique(X[~np.isnan(X[:, j]), j])
        points = np.concatenate([known, (known[1:] + known[:-1]) / 2, [-1e99, 1e99]])
        estimates = summary.cdf(j, points) / scale
        for c, label in enumerate(summary.classes):
            own = (y == label) & ~np.isnan(X[:, j])
            order = np.argsort(X[own, j])
            sums = np.concatenate([[0.0], np.cumsum(mass[own][order])])
            truth = sums[np.searchsorted(X[own, j][order], points, side="right")]
            error = np.abs(estimates[c] - truth).max() / max(mass[y == label].sum(), 1e-200)
            worst[c] = max(worst[c], error)
    return worst


def check_bound(summary, stream, half_life=None, features=None):
    """Assert true error <= certified error <= epsilon, class by class."""
    certified = summary.rank_error()
    assert np.all(certified <= summary.max_rank_error * (1 + ROUNDING)), certified
    errors = rank_errors(summary, stream, half_life, features)
    assert np.all(errors <= certified + ROUNDING), (errors, certified)


def all_tables(summary, bins):
    """Return the counts (feature, class, bin) and the effective rows of all features."""
    blocks = list(summary.tables(bins))
    return np.concatenate([b.counts for b in blocks]), np.concatenate([b.n for b in blocks])


def check_tables(summary, stream, half_life=None, bins=5):
    """Assert that the tables are those of the slow twin, over as many features as the stream here has."""
    wanted = tables(stream.X, stream.y, stream.weight, half_life, bins)
    assert sorted(summary.classes) == wanted.classes
    if not wanted.classes:
        assert list(summary.tables(bins)) == []
        return
    _, y, weight = existing(stream.X, stream.y, stream.weight)
    f = decay(len(y), half_life)
    scale = scale_of(summary, weight * f)
    counts, n = (a[: stream.X.shape[1]] for a in all_tables(summary, bins))
    total = (weight * f).sum()
    order = [summary.classes.index(label) for label in wanted.classes]
    np.testing.assert_allclose(counts[:, order] / scale, wanted.counts, rtol=1e-9, atol=1e-11 * total)
    np.testing.assert_allclose(n, wanted.n, rtol=1e-9, atol=1e-11 * len(y))
