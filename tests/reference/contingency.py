"""Slow twin of ``streamsieve.summaries.contingency``: one dict entry for every (feature, class, value).

The count of a value is the sum of the weights of the rows that hold it,

    w = weight * 2^(-age / half_life),        age 0 for the last row; rows of weight 0 do not exist.

A cell that is None or NaN is missing.  A dense row lacks the features it is too short for, a sparse row holds
zeros there.  Of the values of a feature other than 0, the first ``cap`` are counted one by one, all that come
later as OTHER.

Source: counts by definition; weights and fading as of moments.
"""

import math
from typing import Any, NamedTuple

OTHER = ("any other value",)


class Row(NamedTuple):
    cells: list[Any]
    label: Any
    weight: float = 1.0
    sparse: bool = False


def cell(row, feature):
    """Return what a row holds of a feature, None if it is missing."""
    if feature >= len(row.cells):
        return 0.0 if row.sparse else None
    value = row.cells[feature]
    return None if isinstance(value, float) and math.isnan(value) else value


def decayed(rows, half_life):
    """Return the rows that exist, and the weight of each after fading."""
    rows = [row for row in rows if row.weight > 0]
    ages = range(len(rows) - 1, -1, -1)
    fade = [1.0 if half_life is None else 2.0 ** (-age / half_life) for age in ages]
    return rows, [row.weight * f for row, f in zip(rows, fade, strict=True)], fade


def contingency(rows, n_features, half_life=None, cap=math.inf):
    """Return {(feature, label, value): count}."""
    rows, weights, _ = decayed(rows, half_life)
    met = [[] for _ in range(n_features)]
    counts = {}
    for row, w in zip(rows, weights, strict=True):
        for feature in range(n_features):
            value = cell(row, feature)
            if value is None:
                continue
            if value != 0 and value not in met[feature]:
                if len(met[feature]) < cap:
                    met[feature].append(value)
                else:
                    value = OTHER
            key = feature, row.label, value
            counts[key] = counts.get(key, 0.0) + w
    return counts


def effective_rows(rows, n_features, half_life=None):
    """Return, for every feature, the number of rows that carry as much information.

    Rows with weights k_i (copies of a row) and decays f_i count as W^2 / V rows, with W = sum k f and
    V = sum k f^2; a feature present in a share of the mass, as that share of it.
    """
    counts = contingency(rows, n_features, half_life)
    rows, weights, fade = decayed(rows, half_life)
    squares = sum(w * f for w, f in zip(weights, fade, strict=True))
    n = [0.0] * n_features
    for (feature, _, _), count in counts.items():
        n[feature] += count * sum(weights) / squares
    return n
