"""A board: the scores of all entries on all cases of one question, and who is ahead."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from streamsieve.evaluation.significance import critical_difference, friedman


def figure(value: float) -> str:
    """Return a score: three decimals, three digits where it is small, whole numbers where it is large."""
    if math.isnan(value):
        return "\N{EN DASH}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.01 else f"{value:.3g}"


class Cell(NamedTuple):
    """What an entry did on a case: its score, the columns it kept, the seconds it took (NaN: not known)."""

    score: float
    size: float = float("nan")
    seconds: float = float("nan")
    spread: float = float("nan")  #: standard deviation of the score over orders of the columns


class Ranks(NamedTuple):
    """Mean ranks over the cases that all of some entries have."""

    entries: tuple[str, ...]
    means: list[float]
    difference: float  #: critical difference at 0.05
    p_value: float  #: of Friedman's test
    n_cases: int


def filled(cells: Mapping[str, Mapping[str, Cell]]) -> dict[str, Mapping[str, Cell]]:
    """Return the rows that have anything."""
    return {name: row for name, row in cells.items() if row}


@dataclass(frozen=True)
class Board:
    """Scores of entries on cases.

    Attributes
    ----------
    title, measure, about : what is asked, what a score is, and how it is measured
    kinds : kind of every entry: "ours", "peer", "baseline", "entered"
    cells : by entry and case
    published : printed figures of methods that are not run, by method and case
    lower_is_better : whether a low score is good
    """

    title: str
    measure: str
    about: str
    kinds: Mapping[str, str]
    cells: Mapping[str, Mapping[str, Cell]]
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    lower_is_better: bool = False

    @property
    def cases(self) -> list[str]:
        """All cases, in the order in which they were run."""
        return [*dict.fromkeys(case for row in self.cells.values() for case in row)]

    @property
    def complete(self) -> list[str]:
        """The entries that have a score for every case."""
        return [name for name, row in self.cells.items() if len(row) == len(self.cases)]

    def mean(self, entry: str, what: str = "score") -> float:
        """Return the mean of a figure over the cases of an entry."""
        values = [getattr(cell, what) for cell in self.cells[entry].values()]
        return float(np.mean(values)) if values else float("nan")

    def order(self) -> list[str]:
        """Return the entries, those with all cases first, best mean first."""
        sign = 1 if self.lower_is_better else -1
        full = set(self.complete)
        return sorted(self.cells, key=lambda name: (name not in full, sign * self.mean(name)))

    def ranks(self) -> Ranks | None:
        """Return mean ranks, if there are two complete entries and two cases at least."""
        names, cases = self.complete, self.cases
        if len(names) < 2 or len(cases) < 2:
            return None
        table = [[self.cells[name][case].score for name in names] for case in cases]
        test = friedman(table, names, higher_is_better=not self.lower_is_better)
        difference = critical_difference(len(names), len(cases))
        return Ranks(tuple(names), test.mean_ranks.tolist(), difference, test.p_value, len(cases))

    def ahead(self) -> str | None:
        """Return who of the others is better than our best by the mean over the cases both have, if any."""
        ours = [name for name in self.complete if self.kinds[name] == "ours"]
        others = [name for name in self.complete if self.kinds[name] != "ours"]
        if not ours or not others:
            return None
        sign = 1 if self.lower_is_better else -1
        best = min(ours, key=lambda name: sign * self.mean(name))
        better = [name for name in others if sign * (self.mean(name) - self.mean(best)) < -1e-9]
        if not better:
            return None
        listed = ", ".join(
            f"{n} {figure(self.mean(n))}" for n in sorted(better, key=lambda n: sign * self.mean(n))
        )
        return f"{self.title} ({self.measure}): {listed}; our best is {best} with {figure(self.mean(best))}."

    def ahead_in_cases(self) -> str | None:
        """Return the cases in which one of the others is better than each of ours, and that one."""
        sign = 1 if self.lower_is_better else -1
        found = []
        for case in self.cases:
            known = {name: row[case].score for name, row in self.cells.items() if case in row}
            ours = [sign * score for name, score in known.items() if self.kinds[name] == "ours"]
            others = {name: sign * score for name, score in known.items() if self.kinds[name] != "ours"}
            if ours and others:
                best = min(others, key=others.__getitem__)
                if others[best] < min(ours) - 1e-9:
                    found.append(f"{case}: {best} {figure(known[best])}, ours {figure(sign * min(ours))}")
        return f"{self.title} ({self.measure}), single cases. {'; '.join(found)}." if found else None

    def published_ahead(self) -> str | None:
        """Return which printed figures are better than our best, over the cases they have."""
        ours = [name for name in self.complete if self.kinds[name] == "ours"]
        found = []
        for method, row in self.published.items():
            both = [case for case in self.cases if case in row]
            if ours and both:
                best = max(float(np.mean([self.cells[n][case].score for case in both])) for n in ours)
                printed = float(np.mean([row[case] for case in both]))
                if printed > best + 1e-9:
                    found.append(f"{method} {printed:.3f}, ours {best:.3f}")
        return f"{self.title}, published: {'; '.join(found)}." if found else None
