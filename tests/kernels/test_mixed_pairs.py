"""Strengths of many pairs at once, against counts and correlations from their definitions."""

import math

import numpy as np

from streamsieve.column_types import BINARY, NOMINAL, NUMERIC, ORDINAL
from streamsieve.columns.redundancy.mixed_columns import MixedColumns
from streamsieve.independence.degenerate_gaussian import embedded
from tests.helpers.tier import cases
from tests.reference.degenerate_gaussian import degenerate_gaussian


def g_squared(a, b):
    """Return 2 sum c ln(c n / (c_a c_b)) over the cells that occur."""
    cells, counts = np.unique(np.c_[a, b], axis=0, return_counts=True)
    margins = [np.sum(a == x) * np.sum(b == z) for x, z in cells]
    return 2 * sum(c * math.log(c * len(a) / m) for c, m in zip(counts, margins, strict=True))


def strength(a, kind_a, b, kind_b):
    """Return sqrt(1 - exp(-2 I)) without the bias of I; the absolute correlation of two numbers."""
    n = len(a)
    if NUMERIC not in (kind_a, kind_b):
        g, freedom = g_squared(a, b), (len(np.unique(a)) - 1) * (len(np.unique(b)) - 1)
    elif NOMINAL not in (kind_a, kind_b):
        return abs(np.corrcoef(a, b)[0, 1])
    else:
        root, _ = degenerate_gaussian(
            a, b, [], nominal_x=kind_a == NOMINAL, nominal_y=kind_b == NOMINAL, nominal_z=[]
        )
        named = a if kind_a == NOMINAL else b
        g, freedom = -n * math.log(1 - root**2), len(np.unique(named)) - 1
    return math.sqrt(1 - math.exp(-max(g - max(freedom - 1, 0), 0) / n))


def test_strengths_equal_their_definitions():
    rng = np.random.default_rng(0)
    for _ in range(cases(30)):
        n = int(rng.choice([8, 31, 200]))
        z = rng.normal(size=n)
        held = []
        for _ in range(12):
            x, kind = (
                z * rng.normal() + rng.normal(size=n),
                int(rng.choice([NUMERIC, ORDINAL, BINARY, NOMINAL])),
            )
            if kind != NUMERIC:
                x = np.digitize(
                    x, [0] if kind == BINARY else np.linspace(-1, 1, int(rng.integers(2, 6)))
                ).astype(float)
            if len(np.unique(x)) > 1:
                held.append((x, kind))
        kept, slots = MixedColumns(n), []
        for x, kind in held[1:]:
            slots.append(kept.add(embedded(x, kind)))
        new = embedded(*held[0])
        found = kept.strengths(new, np.array(slots))
        np.testing.assert_allclose(found, [strength(*held[0], *each) for each in held[1:]], atol=1e-7)


def test_a_slot_that_was_left_is_taken_again():
    rng = np.random.default_rng(1)
    kept = MixedColumns(20)
    slots = [kept.add(embedded(rng.normal(size=20), NUMERIC)) for _ in range(40)]
    kept.drop(slots[3])
    bits = embedded((rng.random(20) > 0.5).astype(float), BINARY)
    assert kept.add(bits) == slots[3]
    assert kept.strengths(bits, np.array([slots[3]])) > 0.5
    assert kept[slots[3]] is bits
