"""Contingency tables of every kind: random, with holes, degenerate, faded."""

from importlib import import_module

import numpy as np

from streamsieve import registry
from streamsieve.criteria.tables import TableCriterion
from streamsieve.summaries.table_block import TableBlock

TABLE_CRITERIA = {
    name: kind() for name, kind in registry.criteria().items() if issubclass(kind, TableCriterion)
}
TABLE_TWINS = {name: import_module(f"tests.reference.{name}") for name in TABLE_CRITERIA}


def block(counts, n=None, *, ordered=True):
    """Make a block of one table (class, bin) or several; n is the mass by default."""
    counts = np.asarray(counts, np.float64)
    counts = counts[None] if counts.ndim == 2 else counts
    n = counts.sum(axis=(1, 2)) if n is None else np.broadcast_to(np.asarray(n, np.float64), len(counts))
    return TableBlock(counts, n, ordered)


def random_block(rng, features=8):
    """Make a block of tables of one shape: counts or masses, with empty cells, classes and bins."""
    classes, bins = int(rng.integers(1, 6)), int(rng.integers(1, 8))
    shape = (features, classes, bins)
    kind = rng.choice(["counts", "rare", "masses", "faded"])
    counts = rng.integers(0, 30, shape).astype(np.float64)
    if kind == "rare":
        counts = rng.integers(0, 3, shape) * rng.integers(0, 2, shape) * 1.0
    if kind == "masses":
        counts = counts * rng.random(shape)
    if kind == "faded":  # some classes were last seen long ago
        counts = counts * rng.random(shape) * 2.0 ** -rng.integers(0, 30, (features, classes, 1))
    counts[rng.random((features, classes)) < 0.1] = 0.0
    counts.transpose(0, 2, 1)[rng.random((features, bins)) < 0.1] = 0.0
    n = counts.sum(axis=(1, 2))
    if kind != "counts":
        counts = counts * 2.0 ** rng.integers(-50, 100)  # only shares matter, and n
    if kind == "faded":
        n = n * rng.uniform(0.5, 2, features)
    return TableBlock(counts, n, bool(rng.random() < 0.7))


def twin_scores(name, tables):
    """Score a block by the slow twin, table by table."""
    kwargs = {"ordered": tables.ordered} if name == "gini" else {}
    twin = TABLE_TWINS[name].score_of
    return np.array([twin(t, n, **kwargs) for t, n in zip(tables.counts.tolist(), tables.n, strict=True)])


def twin_p_values(name, tables):
    """Test a block by the slow twin, table by table."""
    twin = TABLE_TWINS[name].p_value_of
    return np.array([twin(t, n) for t, n in zip(tables.counts.tolist(), tables.n, strict=True)])
