"""Does adaptation help?  What the numbers say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import numpy as np

from studies._desk import Desk
from studies.adaptation._blocks import Change, Errors
from studies.adaptation._methods import CRITERIA, KINDS, NONE, RANDOM, named
from studies.adaptation.tables import LEARNER, changes, screen_behind_forgetting


def section(desk: Desk, names: Sequence[str]) -> str:
    """Return the answer."""
    streams = [Errors(desk, name) for name in names]
    lives = streams[0].lives
    screen = {life: Tally.of(streams, lambda e, kind, life=life: changes(e, kind)[life]) for life in lives}
    learner = Tally.of(streams, lambda e, kind: changes(e, kind)[LEARNER])
    behind = Tally.of(streams, lambda e, kind: screen_behind_forgetting(e, kind, lives[-1]))
    alone = "; ".join(f"{life}, it {tally.word}" for life, tally in screen.items())
    return f"""\
## Does adaptation help?

In short: a learner that forgets {learner.word}. A screen that forgets: {alone}; behind a learner that forgets
already, it {behind.word}.

- A screen that forgets: {"; ".join(f"{life}, {tally}" for life, tally in screen.items())}. Where the learner
  forgets already and the screen does so fast: {behind}.
- A learner that forgets: {learner}.
- Screening itself, without any forgetting, against no screening: {Tally.of(streams, _screening)}. Features
  drawn by lot against the same number of screened ones: {Tally.of(streams, _by_lot)}.
- {_best(streams)}
"""


class Tally(NamedTuple):
    """In how many cases (a stream and a learner) a change is beyond doubt for the better or the worse."""

    better: int
    worse: int
    cases: int
    mean: float

    @classmethod
    def of(cls, streams: Sequence[Errors], change: Callable[[Errors, str], Change]) -> Self:
        """Count over all cases."""
        found = [change(errors, kind) for errors in streams for kind in KINDS]
        return cls(
            sum(each.certain and each.difference < 0 for each in found),
            sum(each.certain and each.difference > 0 for each in found),
            len(found),
            float(np.mean([each.difference for each in found])),
        )

    @property
    def word(self) -> str:
        """What that says, in a word or two."""
        if self.better <= self.worse:
            return "does not help" if self.worse < self.cases / 2 else "hurts"
        return "helps in most cases" if self.better > self.cases / 2 else "seldom helps"

    def __str__(self) -> str:
        """Return the numbers."""
        return (
            f"beyond doubt better in {self.better} of {self.cases} cases, worse in {self.worse}, mean change "
            f"of the error {self.mean:+.3f}"
        )


def _screening(errors: Errors, kind: str) -> Change:
    plain = KINDS[kind][0]
    return errors.change(errors.over_criteria(None, plain), errors.wrong(NONE, plain))


def _by_lot(errors: Errors, kind: str) -> Change:
    plain = KINDS[kind][0]
    return errors.change(errors.wrong(RANDOM, plain), errors.over_criteria(None, plain))


def _best(streams: Sequence[Errors]) -> str:
    """Name the best of all on each stream."""
    told = []
    for errors in streams:
        screens = [NONE, *(named(c, life) for c in CRITERIA for life in (None, *errors.lives))]
        pairs = [(screen, learner) for screen in screens for pair in KINDS.values() for learner in pair]
        best = min(pairs, key=lambda pair: errors.share(errors.wrong(*pair)))
        error = errors.share(errors.wrong(*best))
        told.append(f"on {errors.name} the screen `{best[0]}` with `{best[1]}` ({error:.4f})")
    return f"The lowest error of all has {', '.join(told)}."
