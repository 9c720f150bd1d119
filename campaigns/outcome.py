"""What came of one case, and the counts of a campaign."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

#: What may come of a case, and whether it is a failure.
KINDS = {
    "held": False,  # what was promised was seen
    "refused": False,  # bad input got a clear error
    "lost": True,  # data, state or a decision is not what it must be
    "accepted": True,  # bad input was taken
    "unclear": True,  # an error that names nothing, or of a foreign type
    "crashed": True,  # the process died by a signal
    "hung": True,  # no answer in time
}


@dataclass(frozen=True)
class Outcome:
    """What came of a case.

    Parameters
    ----------
    kind : one of `KINDS`
    text : what was seen
    progress : whether the case came as far as it must for its outcome to mean anything
    amount : number of things tried in the case, such as steps of a program
    """

    kind: str
    text: str = ""
    progress: bool = True
    amount: int = 1


@dataclass
class Tally:
    """Counts of a campaign."""

    campaign: str
    goal: str
    seed: int
    minutes: float = 1.0
    counts: Counter[str] = field(default_factory=Counter)
    amount: int = 0
    progressed: int = 0
    seconds: float = 0.0
    #: Cases that failed: what was tried, and what came of it.
    failures: list[tuple[str, Outcome]] = field(default_factory=list)

    def add(self, case: object, outcome: Outcome) -> None:
        """Count a case."""
        self.counts[outcome.kind] += 1
        self.amount += outcome.amount
        self.progressed += outcome.progress
        if KINDS[outcome.kind]:
            self.failures.append((str(case), outcome))

    @property
    def tried(self) -> int:
        """Number of cases."""
        return self.counts.total()

    @property
    def reached(self) -> bool:
        """Whether nothing failed, and at least half of the cases came as far as they must."""
        return not self.failures and self.tried > 0 and 2 * self.progressed >= self.tried

    def line(self) -> str:
        """Return the counts in a line."""
        counts = ", ".join(f"{self.counts[kind]:,} {kind}" for kind in KINDS)
        steps = f" ({self.amount:,} steps)" if self.amount > self.tried else ""
        return f"{self.campaign}: {self.tried:,} tried{steps}, {self.progressed:,} progressed, {counts}"
