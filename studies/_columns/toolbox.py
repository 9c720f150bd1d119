"""Two habits of the authors' programs, written down here to find out what their figures come from.

* Alpha-investing takes column 1 for the intercept: that column is in the model from the start, and there is
  no other constant.  If it is zero everywhere, its inverse is not a number and nothing is ever accepted.
* SAOLA-max over codes rejects, but never evicts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
BLOCK = 512
#: What is not more than this is rounding.
TIE = 1e-12


def forced_alpha_investing(X: Any, y: Numbers, other: float = -1.0) -> Numbers:
    """Return the columns that a model without intercept takes if column 1 is forced into it.

    The classes count as 1 and ``other``.  What the toolbox calls a p-value is ``exp(-z^2 / 2)``.
    """
    n, p = X.shape
    r = np.where(y == y.max(), 1.0, other)
    unit = _dense(X[:, :1])[:, 0]
    if not unit.any():
        return np.zeros(1, np.int64)
    wealth, selected, basis = 0.5, [0], [unit / np.linalg.norm(unit)]
    r = r - basis[0] * (basis[0] @ r)
    for low in range(1, p, BLOCK):
        block = np.ascontiguousarray(_dense(X[:, low : low + BLOCK]).T)
        Q = np.array(basis)
        outside = block - (block @ Q.T) @ Q
        enough = 1e-10 * (block * block).sum(axis=1)
        i = 0
        while i < len(block):
            free = (outside[i:] * outside[i:]).sum(axis=1)
            usable = free > enough[i:]
            drop = np.where(usable, (outside[i:] @ r) ** 2 / np.where(usable, free, 1.0), 0.0)
            p_value = np.where(usable, np.exp(-drop * n / (2 * (r @ r))), 1.0)
            bid = 1 / (
                2 * np.arange(low + i + 1, low + len(block) + 1)
            )  # the share of the wealth that is bet
            left = wealth * np.cumprod(1 - bid)
            hits = np.flatnonzero(p_value < left / (1 - bid) * bid)
            if len(hits) == 0:
                wealth = left[-1]
                break
            i += int(hits[0])
            wealth = left[hits[0]] + 0.5
            selected.append(low + i)
            basis.append(outside[i] / np.linalg.norm(outside[i]))
            r = r - basis[-1] * (basis[-1] @ r)
            if r @ r <= 1e-10 * n or len(basis) >= n - 1:
                return np.array(selected)
            i += 1
            outside[i:] -= np.outer(outside[i:] @ basis[-1], basis[-1])
    return np.array(selected)


def saola_max_without_evictions(X: Any, y: Numbers) -> Numbers:
    """Return what SAOLA-max keeps of columns of 0 and 1 by symmetric uncertainty, if nothing is evicted.

    A column is rejected if some kept one has more to say about the class, and the two share at least as much.
    """
    n, p = X.shape
    target = (y == y.max()).astype(np.float64)
    kept = np.empty((0, n))
    relevance, selected = np.empty(0), []
    for low in range(0, p, BLOCK):
        block = _dense(X[:, low : low + BLOCK])
        to_class = uncertainty(target @ block, block.sum(axis=0), target.sum(), n)
        old = len(kept)
        dominated = _dominated(kept, relevance, block, to_class, n)
        for i in np.flatnonzero((to_class > TIE) & ~dominated):
            x = block[:, i : i + 1]
            if not _dominated(kept[old:], relevance[old:], x, to_class[i : i + 1], n)[0]:
                kept, relevance = np.vstack([kept, x.T]), np.append(relevance, to_class[i])
                selected.append(low + int(i))
    return np.array(selected, np.int64)


def _dominated(kept: Floats, relevance: Floats, block: Floats, to_class: Floats, n: int) -> Any:
    shared = uncertainty(kept @ block, block.sum(axis=0), kept.sum(axis=1)[:, None], n)
    better = relevance[:, None]
    return ((better > to_class) & (shared > better - TIE)).any(axis=0)


def uncertainty(both: Any, first: Any, second: Any, n: int) -> Any:
    """Return the symmetric uncertainty of columns of 0 and 1 from the numbers of rows that hold ones."""
    count = np.arange(n + 1.0)
    weight = count * np.log(np.maximum(count, 1.0)) / n

    def entropy(*cells: Any) -> Any:
        return np.log(n) - sum(weight[np.asarray(cell).astype(np.int64)] for cell in cells)

    total = entropy(first, n - first) + entropy(second, n - second)
    joint = entropy(both, first - both, second - both, n - first - second + both)
    return 2 * (total - joint) / np.where(total > 0, total, 1.0)


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if sp.issparse(X) else X, np.float64)
