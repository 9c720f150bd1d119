"""The top-k rule by correlation over the rows where both columns are observed."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from streamsieve._kernels import paired as kernel
from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.slots import SLOT, Shape
from streamsieve.columns.redundancy.top_k.correlation import KERNEL_OUTSCORED, Entries, Fates, TopKBuffer
from streamsieve.dependence.blocks import TIE, column_slices, with_missing
from streamsieve.protocols import FloatArray, Reason
from streamsieve.state import Array, register


@register
class TopKCompletePairs(TopKBuffer):
    """Members of unit length with 0 for missing values, and where they are observed."""

    fields = {
        **TopKBuffer.fields,
        "columns": Array("f8", "kept", "rows", low=-1 - 1e-6, high=1 + 1e-6, copy=False),
        "seen": Array("f8", "kept", "rows", low=0, high=1, copy=False),
    }

    def _columns(self) -> dict[str, tuple[str, Shape]]:
        return {"columns": ("f8", (SLOT, self.n)), "seen": ("f8", (SLOT, self.n))}

    def rejects(self, dependence: float) -> Reason | None:  # noqa: ARG002
        """Return None: a copy of a member may depend on the target less than the member does."""
        return None

    def _decide(self, candidates: Candidates, new: Entries) -> Fates:
        X, at, *_ = candidates
        fates, limit = Fates.of(len(at)), self.limit
        sparse, missing = sp.issparse(X), with_missing(X)[at]
        pointers, rows, values = column_slices(X, at)
        for j in range(len(at)):
            # a copy with missing values may depend on y less than its member: it is redundant, not outscored
            if new.values[0, j] <= limit and not missing[j]:
                fates.fate[j] = KERNEL_OUTSCORED
                continue
            part = slice(pointers[j], pointers[j + 1])
            column = values[part]
            if sparse:
                column = np.zeros(self.n)
                column[rows[part]] = values[part]
            x, seen = _standardized(column)
            shared, joint = np.zeros(len(self.slots) + 1), np.zeros(len(self.slots) + 1)
            kernel.compare(x, seen, *self.slots.of("columns", "seen"), self._kept, shared, joint)
            # redundant: a copy that is observed only where the member is observed
            alike = (shared >= 1 - TIE) & (joint == seen.sum())
            slot = self._place(j, shared, self._first(alike[: self._kept]), new, fates)
            if slot >= 0:
                self.slots["columns"][slot], self.slots["seen"][slot] = x, seen
                limit = self.limit
        return fates


def _standardized(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a column with mean 0 and norm 1, 0 where it is missing; and where it is observed."""
    seen = ~np.isnan(x)
    values = x[seen] - x[np.argmax(seen)]
    for _ in range(2):  # second pass: remove the rounding error of the first
        values -= values.mean()
    out = np.zeros(len(x))
    out[seen] = values / np.sqrt(values @ values)
    return out, seen.astype(np.float64)
