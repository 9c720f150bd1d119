"""The top-k rule by mutual information or symmetric uncertainty of discretized columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from streamsieve._kernels import discrete as kernel
from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.slots import SLOT, Shape
from streamsieve.columns.redundancy.top_k.correlation import KERNEL_OUTSCORED, Entries, Fates, TopKBuffer
from streamsieve.dependence.blocks import TIE
from streamsieve.dependence.information import c_log_c
from streamsieve.state import Array, Bool, Int, register


@register
class TopKDiscrete(TopKBuffer):
    """Members as categories, row by row."""

    fields = {
        **TopKBuffer.fields,
        "bins": Int(2, 1024),
        "normalized": Bool(),
        "codes": Array("u2", "kept", "rows", copy=False),
        "counts": Array("i8", "kept", "widest", low=0, high=2**31, copy=False),
        "entropy": Array("f8", "kept"),
    }

    def __init__(self, n: int, k: int, weight: float, bins: int, *, normalized: bool) -> None:
        self._bins, self._normalized, self._c_log_c = bins, normalized, c_log_c(n)
        super().__init__(n, k, weight)

    def _columns(self) -> dict[str, tuple[str, Shape]]:
        width = max(kernel.most_levels(self.n) + 1, self._bins)
        return {"codes": ("u2", (SLOT, self.n)), "counts": ("i8", (SLOT, width)), "entropy": ("f8", (SLOT,))}

    def _decide(self, candidates: Candidates, new: Entries) -> Fates:
        X = sp.csc_array(candidates.X)
        fates, limit = Fates.of(len(new.feature)), self.limit
        codes, counts = np.empty(self.n, np.uint16), np.empty(self.slots["counts"].shape[1], np.int64)
        for j, at in enumerate(candidates.at.tolist()):
            if new.values[0, j] <= limit:
                fates.fate[j] = KERNEL_OUTSCORED
                continue
            part, members = slice(X.indptr[at], X.indptr[at + 1]), slice(0, self._kept)
            shared = np.zeros(len(self.slots) + 1)
            entropy = kernel.compare(
                X.indices[part], X.data[part], self._bins, *self.slots.of("codes", "counts", "entropy"),
                self._kept, self._c_log_c, shared, codes, counts,
            )  # fmt: skip
            alike = 2 * shared[members] / (entropy + self.slots["entropy"][members])
            copied = self._first(alike >= 1 - TIE)
            shared[members] = alike if self._normalized else shared[members] / self.n
            slot = self._place(j, shared, copied, new, fates)
            if slot >= 0:
                for name, value in (("codes", codes), ("counts", counts), ("entropy", entropy)):
                    self.slots[name][slot] = value
                limit = self.limit
        return fates

    def _record(self) -> Mapping[str, Any]:
        return {**super()._record(), "bins": self._bins, "normalized": self._normalized}

    @classmethod
    def _empty(cls, record: Mapping[str, Any]) -> Self:
        sizes = record["n"], record["k"], record["weight"]
        return cls(*sizes, record["bins"], normalized=record["normalized"])

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        codes, counts, entropy = (
            array[: self._kept] for array in self.slots.of("codes", "counts", "entropy")
        )
        width = counts.shape[1]
        if np.any(codes >= width) or not all(
            np.array_equal(counts[slot], np.bincount(codes[slot], minlength=width))
            for slot in range(self._kept)
        ):
            yield "the counts of a member are not those of its codes"
            return
        for slot in range(self._kept):
            entropy[slot] = kernel.entropy(counts[slot], width, self.n, self._c_log_c)
        if not np.all(entropy > 0):
            yield "a member is constant"
