"""Rows of a stream as learners behind a selector get them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve._validation import clean_sparse
from streamsieve.base import RowSelector
from streamsieve.evaluation.candidates.selectors import chosen, seeded, support_of
from streamsieve.evaluation.engine.scaling import RunningScaler
from streamsieve.protocols import BoolArray, IntArray, Matrix, RowBatch


class SelectedStream:
    """Rows for learners: scaled by the rows so far, and reduced to the selected features."""

    def __init__(self, selector: Any, follow: str, seed: int, *, scale: bool) -> None:
        if selector is not None:  # a copy whose output keeps its width, or its columns
            output = {"output": follow} if "output" in selector.get_params(deep=False) else {}
            selector = seeded(selector, seed, output)
        self.selector = selector
        self._follow, self._scaler = follow, RunningScaler() if scale else None
        self._mask: BoolArray | None = None
        self._frozen: IntArray | None = None
        self._before: set[int] = set()
        self._width = 0
        self.seconds = 0.0

    def learn(self, batch: RowBatch) -> None:
        """Learn a batch: the selector, and the scales."""
        self._width = batch.X.shape[1]
        if self.selector is not None:
            begun = time.perf_counter()
            if isinstance(self.selector, RowSelector):
                self.selector.learn(RowBatch(batch.X, batch.y, batch.weight))
            else:
                self.selector.partial_fit(batch.X, batch.y)
            self.seconds += time.perf_counter() - begun
            if self._follow == "frozen" and self._frozen is None:
                self._frozen = chosen(self.selector).copy()
        if self._scaler is not None:
            self._scaler.learn(_floats(batch.X))

    def seen(self, X: Matrix) -> Matrix:
        """Return rows as learners get them."""
        X = _floats(X)
        out = X if self._scaler is None else self._scaler(X)
        if self.selector is None:
            return out
        begun = time.perf_counter()
        if "output" in self.selector.get_params(deep=False):
            out = self.selector.transform(out)
        else:
            out = self._zeroed(out)
        self.seconds += time.perf_counter() - begun
        return out

    def _zeroed(self, X: Matrix) -> Matrix:
        """Set the features that a selector of another library does not select to 0."""
        if self._mask is None or self._follow == "zero":
            self._mask = support_of(self.selector)
        if not sp.issparse(X):
            return np.where(self._mask, X, 0.0)
        out = X.copy()
        out.data = np.where(self._mask[out.indices], out.data, 0.0)
        return out

    def look(self) -> tuple[IntArray, int]:
        """Return the features that learners get, and how many of them they did not get at the last look."""
        if self.selector is None:
            return np.arange(self._width), 0
        kept = chosen(self.selector) if self._frozen is None else self._frozen
        now = set(kept.tolist())
        entered = len(now - self._before)
        self._before = now
        return kept, entered

    def drift(self) -> list[list[Any]]:
        """Return the changes of relevance that the selector detected."""
        noticed = getattr(self.selector, "drift_", None) or []
        return [[int(d.row), int(d.feature), float(d.before), float(d.after)] for d in noticed]


def _floats(X: Matrix) -> Matrix:
    if sp.issparse(X):
        return sp.csr_array(clean_sparse(X, "csr"), dtype=np.float64)
    return np.asarray(X, np.float64)
