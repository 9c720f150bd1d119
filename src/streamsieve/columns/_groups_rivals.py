"""Groups whose columns compete: inside the open group one by one, then with earlier groups, pair by pair."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from streamsieve._kernels import groups as kernel
from streamsieve.columns._groups import GroupedColumns, Lines
from streamsieve.dependence.blocks import TIE
from streamsieve.protocols import FloatArray, IntArray


class Fallen(NamedTuple):
    """Whom the earlier groups and the open one lost to each other, by position among those compared."""

    by: IntArray
    pair: FloatArray
    earlier_by: IntArray
    earlier_pair: FloatArray


class RivalGroups(GroupedColumns[Fallen]):
    """Groups of columns of which the less relevant of two goes, if they depend on each other too much."""

    #: Between groups, who has fallen still drives others out.
    literal: bool = False

    @abstractmethod
    def _pairs(self, some: IntArray, others: IntArray) -> FloatArray:
        """Return the dependences of columns in slots."""

    def _enter(
        self, features: IntArray, relevance: FloatArray, rows: Mapping[str, npt.NDArray[Any]], lines: Lines
    ) -> None:
        """Let newcomers into the open group, where each competes with the members before it."""
        slots = self._store(features, relevance, rows)
        members = np.concatenate([self._open, slots])
        if len(members) > 1:
            by, pair = kernel.inside(self._pairs(slots, members), self.tables["relevance"][members], TIE)
            lost = by >= 0
            if lost.any():
                feature = self.tables["feature"][members]
                lines.lose(feature[lost], feature[by[lost]], pair[lost])
                self._free = np.concatenate([self._free, members[lost]])
                members = members[~lost]
        self._open = members

    def _judge(self) -> Fallen:
        relevance = self.tables["relevance"]
        return Fallen(
            *kernel.between(
                self._pairs(self._open, self._kept), relevance[self._open], relevance[self._kept],
                self.tables["group"][self._kept], self.literal, TIE,
            )
        )  # fmt: skip

    def _tell(self, outcome: Fallen, lines: Lines) -> None:
        ours, theirs = (self.tables["feature"][slots] for slots in (self._open, self._kept))
        lost, gone = outcome.by >= 0, outcome.earlier_by >= 0
        lines.lose(ours[lost], theirs[outcome.by[lost]], outcome.pair[lost])
        by = ours[outcome.earlier_by[gone]]
        lines.evict(by, theirs[gone], by, outcome.earlier_pair[gone])

    def _survivors(self, outcome: Fallen) -> IntArray:
        return np.concatenate([self._kept[outcome.earlier_by < 0], self._open[outcome.by < 0]])
