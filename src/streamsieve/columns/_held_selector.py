"""What selectors share whose verdicts wait for later columns."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from streamsieve.base import ColumnSelector
from streamsieve.columns._groups_ledger import GroupLedger
from streamsieve.columns._held_lines import HeldLines, Lines
from streamsieve.decisions import Decisions, Eviction, PValues, Settled
from streamsieve.protocols import FloatArray, Reason
from streamsieve.state import register


@register
class WaitingLedger(GroupLedger):
    """Every decision, and after them how the columns would be decided whose verdict waits."""

    because: ClassVar[str] = "later ones may change them"


class WaitingSelector(ColumnSelector):
    """Decide columns of which some wait; until then the ledger tells how things would stand now.

    A subclass calls :meth:`_begin_lines` in ``_begin``, :meth:`_open_lines` first thing in ``_offer`` and
    ``_finish``, and says how things would stand (:meth:`_presented`) and what p-values are.
    """

    _lines_: HeldLines

    @abstractmethod
    def _presented(self) -> Lines:
        """Return the lines that wait as if nothing more came; change nothing."""

    @abstractmethod
    def _line_p_values(self, lines: Lines) -> PValues | FloatArray:
        """Return p-values of lines."""

    @abstractmethod
    def _gone_p_values(self, statistic: FloatArray) -> FloatArray:
        """Return p-values of those that leave."""

    def _begin_lines(self) -> None:
        self._lines_ = HeldLines()
        self.ledger_: WaitingLedger = WaitingLedger(self.ledger)
        self.ledger_.outlook = self._outlook

    def _open_lines(self) -> None:
        """Go on where the columns are: after a stop, some came that nobody looked at."""
        if not len(self._lines_):
            self._lines_.start = self._lines_.settled = self.n_features_in_

    def _outlook(self) -> Decisions:
        return self._decisions(self._settled(self._presented()), range(0), None)

    def _settled(self, lines: Lines) -> Settled:
        p_values = self._gone_p_values(np.array([d.statistic for d in lines.departures])).tolist()
        evictions = [
            Eviction(d.step, d.feature, Reason.REDUNDANT, d.statistic, p, (d.step,))
            for d, p in zip(lines.departures, p_values, strict=True)
        ]
        blamed = np.flatnonzero(lines.by >= 0).tolist()
        by = {lines.start + j: (int(lines.by[j]),) for j in blamed}
        p_value = self._line_p_values(lines)
        return Settled(lines.start, lines.reason, lines.statistic, p_value, by, evictions)

    def _restored(self) -> None:
        lines, n = self._lines_, self.n_features_in_
        if not isinstance(self.ledger_, WaitingLedger) or not isinstance(lines, HeldLines):
            raise TypeError("its ledger is not one of columns that wait")
        if lines.start + len(lines) > n or np.any(lines.view().by >= n):
            raise ValueError("a column that waits was never offered")
        self.ledger_.outlook = self._outlook
        super()._restored()
        if np.any((self.selected_ < 0) | (self.selected_ >= n)):
            raise ValueError("a kept column was never offered")
