"""How many columns the rule should keep: chosen on one half of the sets, and judged on the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import streamsieve as ss
from streamsieve.choosing import BUDGET, LEVEL, PER_CLASS
from studies._columns import cells
from studies._desk import Desk
from studies.defaults import runs
from studies.defaults.methods import FIXED
from studies.defaults.results import Results
from studies.defaults.sets import Sample, halves

#: The rule as it is.
PRESENT = f"{PER_CLASS} per class, at least {BUDGET}"
#: Columns to keep at most, from training rows and classes; no candidate keeps more than half of the columns.
CANDIDATES: dict[str, Callable[[int, int], int]] = {
    "20": lambda _, __: 20,
    "50": lambda _, __: 50,
    "one per 16 rows, 20 to 100": lambda rows, _: min(max(rows // 16, 20), 100),
    PRESENT: lambda _, classes: max(PER_CLASS * classes, BUDGET),
}
#: Seeds of the halves.
SEEDS = 500


class Trial(NamedTuple):
    """One pair of halves: what was chosen on the first, and mean ranks on the second."""

    candidate: str
    fixed: str
    #: Mean rank on the second half of the chosen candidate and of the present rule.
    rank: float
    present: float
    #: Mean rank there of the fixed method that was best on the first half, and of the best in hindsight.
    honest: float
    hindsight: float


def columns_of(candidate: str, about: Mapping[str, int], folds: int = runs.FOLDS) -> int:
    """Return how many columns a candidate keeps at most on a set."""
    wanted = CANDIDATES[candidate](about["rows"] * (folds - 1) // folds, about["classes"])
    return min(wanted, max(about["columns"] // 2, 1))


def compute(desk: Desk, found: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return by candidate and set what was measured; what the present rule keeps too is not repeated."""
    rows, folds = runs.size_of(desk)
    measured: dict[str, dict[str, Any]] = {candidate: {} for candidate in CANDIDATES}
    for name, each in found.items():
        data: Sample | None = None
        known = {columns_of(PRESENT, each["about"], folds): each["methods"]["auto, accurate"]}
        for candidate in CANDIDATES:
            k = columns_of(candidate, each["about"], folds)
            if k not in known:
                data = data or runs.sample(name, rows)
                settings = {"form": 1, "rows": each["about"]["rows"], "folds": folds, "alpha": LEVEL}
                chosen = ss.TopK(k, alpha=LEVEL, task="classification")
                known[k] = desk.part(f"{name}, up to {k}", settings, runs.measured, chosen, data, folds)
            measured[candidate][name] = known[k]
    return measured


class Candidates:
    """Mean ranks of candidates, each ranked alone with the fixed methods, all features and the L1 penalty."""

    def __init__(self, found: Mapping[str, Any], measured: Mapping[str, Mapping[str, Any]]) -> None:
        self.names = [*found]
        self._scores: dict[str, Any] = {}
        for candidate, by_set in measured.items():
            own = {
                name: {
                    "about": each["about"],
                    "methods": {"rule": by_set[name]}
                    | {m: v for m, v in each["methods"].items() if not m.startswith("auto")},
                }
                for name, each in found.items()
            }
            results = Results(own, self.names)
            self.methods = results.methods
            self._scores[candidate] = results.scores()
        self.fixed = [method for method in self.methods if method in FIXED]

    def ranks(self, candidate: str, names: Sequence[str]) -> dict[str, float]:
        """Return mean ranks over some sets; the candidate is called "rule"."""
        some = self._scores[candidate][[self.names.index(name) for name in names]]
        above = (some[:, None, :] > some[:, :, None]).sum(axis=2)
        equal = (some[:, None, :] == some[:, :, None]).sum(axis=2)
        means = (above + (equal + 1) / 2).mean(axis=0)
        return dict(zip(self.methods, means.tolist(), strict=True))

    def mean(self, candidate: str) -> float:
        """Return the mean balanced accuracy of a candidate over all sets."""
        return float(self._scores[candidate][:, self.methods.index("rule")].mean())

    def best(self, names: Sequence[str]) -> str:
        """Return the candidate with the best mean rank over some sets; of equals, the first."""
        return min(CANDIDATES, key=lambda candidate: self.ranks(candidate, names)["rule"])

    def best_fixed(self, names: Sequence[str]) -> str:
        """Return the fixed method with the best mean rank over some sets, beside the present rule."""
        ranks = self.ranks(PRESENT, names)
        return min(self.fixed, key=ranks.__getitem__)

    def trial(self, first: Sequence[str], second: Sequence[str]) -> Trial:
        """Choose on the first sets, and judge on the second."""
        candidate, fixed = self.best(first), self.best_fixed(first)
        ranks, present = self.ranks(candidate, second), self.ranks(PRESENT, second)
        hindsight = min(ranks[method] for method in self.fixed)
        return Trial(candidate, fixed, ranks["rule"], present["rule"], ranks[fixed], hindsight)


def trials(candidates: Candidates, seeds: int = SEEDS) -> list[Trial]:
    """Halve the sets by many seeds, and judge every half by what the other one chooses."""
    found = []
    for seed in range(seeds):
        first, second = halves(tuple(candidates.names), seed)
        found += [candidates.trial(first, second), candidates.trial(second, first)]
    return found


def section(candidates: Candidates) -> str:
    """Return the tables of candidates and of what choosing on half of the sets is worth."""
    found = trials(candidates)
    share = {name: np.mean([trial.candidate == name for trial in found]) for name in CANDIDATES}
    rows = {
        candidate: [
            f"{candidates.ranks(candidate, candidates.names)['rule']:.2f}",
            f"{candidates.mean(candidate):.3f}",
            f"{100 * share[candidate]:.0f} %",
        ]
        for candidate in CANDIDATES
    }
    table = cells.table("columns kept at most", ["mean rank", "mean accuracy", "chosen by a half"], rows)
    verdict = _verdict(found, len(candidates.fixed))
    return f"## How many columns to keep\n\n{_introduction(candidates)}\n{table}\n{verdict}"


def _introduction(candidates: Candidates) -> str:
    fixed, sets = len(candidates.fixed), len(candidates.names)
    return f"""\
`TopK` at level {LEVEL:g} with several bounds on the number of columns, never more than half of them. Each is
ranked by itself with {fixed} fixed methods, all features and the L1 penalty, over {sets} sets. Mean
ranks over the sets that chose are no evidence; the halves below are.
"""


def _verdict(found: Sequence[Trial], fixed_methods: int) -> str:
    by_rank = np.array([(t.rank, t.present, t.honest, t.hindsight) for t in found])
    rank, present, honest, hindsight = by_rank.mean(axis=0)
    within = {
        "honest": np.mean(by_rank[:, 1] <= by_rank[:, 2] + 1),
        "hindsight": np.mean(by_rank[:, 1] <= by_rank[:, 3] + 1),
        "of the fixed": np.mean(by_rank[:, 2] <= by_rank[:, 3] + 1),
    }
    fixed, times = np.unique([trial.fixed for trial in found], return_counts=True)
    order = np.argsort(-times)[:3]
    often = ", ".join(f"{fixed[i]} ({100 * times[i] / len(found):.0f} %)" for i in order)
    honest_share, hindsight_share, fixed_share = (f"{100 * share:.0f} %" for share in within.values())
    return f"""\
The sets are halved by {len(found) // 2} seeds. On one half the best candidate and the best fixed method are
chosen, and both are ranked on the other half, where they were not chosen; every half has its turn. The halves
of different seeds overlap, so these are means over ways to halve these sets, not independent repetitions. The
rule as it is was developed on one such half, so it has seen some sets of every other one.

| mean rank on the half that did not choose | |
| --- | ---: |
| the rule as it is | {present:.2f} |
| the number of columns that the other half prefers | {rank:.2f} |
| the fixed method that the other half prefers | {honest:.2f} |
| the best fixed method of the same half, in hindsight | {hindsight:.2f} |

The rule is within one rank of the fixed method that the other half prefers in {honest_share} of the halves,
and within one rank of the best in hindsight in {hindsight_share}. The fixed method that the other half
prefers is within one rank of the best in hindsight in {fixed_share}: the best of {fixed_methods} methods over
a few sets has a good mean rank partly by chance, so hindsight is not a standard that any method could meet.
Chosen most often: {often}.
"""
