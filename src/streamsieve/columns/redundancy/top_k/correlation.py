"""The top-k rule by absolute correlation."""

from __future__ import annotations

import scipy.sparse as sp

from streamsieve._kernels.budget import LANES
from streamsieve.columns.redundancy.contract import Candidates
from streamsieve.columns.redundancy.slots import TILE, Shape
from streamsieve.columns.redundancy.top_k.rule import Entries, Fates, TopKBuffer
from streamsieve.dependence.blocks import column_slices
from streamsieve.state import Array, register


@register
class TopKCorrelation(TopKBuffer):
    """Members centred, of unit length, in tiles of 16."""

    fields = {
        **TopKBuffer.fields,
        "columns": Array("f8", "kept", "rows", low=-1 - 1e-6, high=1 + 1e-6, copy=False),
    }

    def _columns(self) -> dict[str, tuple[str, Shape]]:
        return {"columns": ("f8", (TILE, self.n, LANES))}

    def _decide(self, candidates: Candidates, new: Entries) -> Fates:
        X, at, _, relevance = candidates
        return self._run((*column_slices(X, at), sp.issparse(X), *relevance.columns), None, new)
