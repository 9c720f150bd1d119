"""Ledgers whose lines later columns may change: provisional ones, and revised ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from streamsieve.decisions import Decisions
from streamsieve.ledger import Ledger
from streamsieve.protocols import Decision, Event
from streamsieve.state import register


@register
class ProvisionalLedger(Ledger):
    """A ledger whose last lines may still change, because some decisions are deferred.

    Final decisions are recorded once.  The provisional ones are computed on every access, so that reading
    changes nothing; they are not saved.
    """

    #: Returns the provisional decisions, as they would be if no more columns arrived; None if there are none.
    outlook: Callable[[], Decisions] | None = None
    #: Why they may still change.
    because: str = ""

    def _parts(self) -> Sequence[Sequence[Decision]]:
        final = super()._parts()
        if self.outlook is None or self.keep == "none":
            return final
        provisional = self.outlook()
        return (*final, provisional if self.keep == "all" else list(provisional.changes()))

    def __repr__(self) -> str:
        open_ = 0 if self.outlook is None else len(self.outlook().outcome.reason)
        note = f", the last {open_} columns provisional: {self.because}" if open_ else ""
        return f"<ledger of {len(self):,} decisions, keep={self.keep!r}{note}>"


@register
class RevisedLedger(Ledger):
    """A ledger in which later columns may revise the decision on an earlier one.

    Every decision is recorded once.  Revisions are computed on every access, and replace all recorded
    decisions on their features; they are not saved.
    """

    #: Returns the current decisions on features whose recorded ones are outdated; None if there are none.
    revisions: Callable[[], Sequence[Decision]] | None = None

    def _parts(self) -> Sequence[Sequence[Decision]]:
        recorded = super()._parts()
        revised = () if self.revisions is None or self.keep == "none" else self.revisions()
        if not revised:
            return recorded
        features = {line.feature for line in revised}
        lines = [line for line in chain.from_iterable(recorded) if line.feature not in features]
        # evictions precede the decision on the new column that caused them
        return (sorted([*lines, *revised], key=lambda line: (line.step, line.event is not Event.EVICTED)),)
