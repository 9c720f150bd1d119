"""A ledger whose last lines may still change, because their group is not complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, overload

from streamsieve.decisions import Decisions
from streamsieve.ledger import Ledger
from streamsieve.protocols import Arrays, Decision
from streamsieve.state import register


@register
class GroupLedger(Ledger):
    """Every decision, and after them how the open group would be decided if it were complete.

    What was decided is written once and for all; the lines on the open group are made whenever somebody
    reads, so that reading changes nothing.
    """

    #: Returns the verdicts on the open group as it is.
    outlook: Callable[[], Decisions] | None = None
    #: Why the last lines may still change.
    because: ClassVar[str] = "their group is open"

    def _whole(self) -> Ledger:
        whole = Ledger(self.keep)
        whole._chunks = [*self._chunks, self._open]  # noqa: SLF001 - its own class
        whole._length = self._length  # noqa: SLF001
        if self.outlook is not None:
            whole.record(self.outlook())
        return whole

    def __len__(self) -> int:
        return len(self._whole())

    def __iter__(self) -> Iterator[Decision]:
        return iter(self._whole())

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> list[Decision]: ...
    def __getitem__(self, index: int | slice) -> Decision | list[Decision]:
        return self._whole()[index]

    def why(self, feature: str) -> Decision:
        """Return the last decision on a feature, as if the open group were complete."""
        return self._whole().why(feature)

    def counts(self) -> dict[str, int]:
        """Count the decisions by what happened and why, as if the open group were complete."""
        return self._whole().counts()

    def kept(self) -> Iterator[Decision]:
        """Yield the decisions to keep a feature, as if the open group were complete."""
        return self._whole().kept()

    def state(self) -> Arrays:
        """Return what was decided as arrays; the open group is saved elsewhere."""
        outlook, self.outlook = self.outlook, None
        try:
            return super().state()
        finally:
            self.outlook = outlook

    def __repr__(self) -> str:
        open_ = 0 if self.outlook is None else len(self.outlook().settled.reason)
        note = f", the last {open_} columns provisional: {self.because}" if open_ else ""
        return f"<ledger of {len(self):,} decisions, keep={self.keep!r}{note}>"
