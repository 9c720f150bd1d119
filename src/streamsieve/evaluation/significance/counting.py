"""Counts over data sets of what the tables of groups say: does screening help, and which screen?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streamsieve._parameters import did_you_mean
from streamsieve.evaluation.significance.groups import Groups, label
from streamsieve.evaluation.significance.scores import text_table
from streamsieve.exceptions import InputError, ParameterError

BETTER, SAME, WORSE = "*", "=", ""


@dataclass(frozen=True)
class Counts:
    """The three counts of Wang 2021, section 2.8, for every screen and learner.

    Attributes
    ----------
    screens : names of the screens, without that of no screening
    learners : names of the learners
    datasets : names of the data sets
    none : name of no screening
    better : by (screen, learner), the data sets on which the pair is in a better tier than the learner
        without screening (tables 2.2 and 2.6)
    marks : by (screen, data set), "*" if the screen with some learner is in a better tier than the best
        learner without screening, "=" if in the same, "" if in a worse one (tables 2.3 and 2.7)
    top : by (screen, learner), no screening included, the data sets on which the pair is in the first tier
        (tables 2.4 and 2.8)
    top_screens : by screen, no screening included, the data sets on which it is in the first tier with some
        learner (tables 2.5 and 2.9; their other column is the sum of ``top`` over learners)
    """

    screens: tuple[str, ...]
    learners: tuple[str, ...]
    datasets: tuple[str, ...]
    none: str
    better: dict[tuple[str, str], int]
    marks: dict[tuple[str, str], str]
    top: dict[tuple[str, str], int]
    top_screens: dict[str, int]

    def useful(self, screen: str) -> int:
        """Return the data sets on which a screen is better than every learner without: its "*" marks."""
        return sum(self.marks[screen, name] == BETTER for name in self.datasets)

    def __str__(self) -> str:
        best = "best learner"
        better = [
            (screen, *(str(self.better[screen, name]) for name in self.learners), str(self.useful(screen)))
            for screen in self.screens
        ]
        marks = [
            (screen, *(self.marks[screen, name] for name in self.datasets), str(self.useful(screen)))
            for screen in self.screens
        ]
        top = [
            (
                screen,
                *(str(self.top[screen, name]) for name in self.learners),
                str(sum(self.top[screen, name] for name in self.learners)),
                str(self.top_screens[screen]),
            )
            for screen in (*self.screens, self.none)
        ]
        return "\n\n".join(
            (
                f"data sets, of {len(self.datasets)}, where a screen is better than no screening\n"
                + text_table(("screen", *self.learners, best), better),
                f"against the best learner without screening: {BETTER} better, {SAME} same, blank worse\n"
                + text_table(("screen", *self.datasets, "total"), marks),
                "data sets where it is in the first tier\n"
                + text_table(("screen", *self.learners, "sum", "any learner"), top),
            )
        )


def count_groups(groups: Mapping[str, Groups], *, none: str = "none") -> Counts:
    """Count over data sets where screens help, by the tiers of their tables of groups.

    Parameters
    ----------
    groups : for each data set, by name, its table of groups; combinations are pairs (screen, learner), the
        same ones everywhere
    none : str, default="none"
        Name of the screen that stands for no screening.

    Examples
    --------
    >>> from streamsieve.evaluation.significance import count_groups, table_of_groups
    >>> pairs = [("relief", "svm"), ("none", "svm")]
    >>> dexter = table_of_groups([[0.90, 0.91, 0.92], [0.79, 0.82, 0.80]], pairs)
    >>> arcene = table_of_groups([[0.81, 0.80, 0.82], [0.80, 0.81, 0.83]], pairs)
    >>> print(count_groups({"dexter": dexter, "arcene": arcene}))
    data sets, of 2, where a screen is better than no screening
    screen  svm  best learner
    relief    1             1
    <BLANKLINE>
    against the best learner without screening: * better, = same, blank worse
    screen  dexter  arcene  total
    relief       *       =      1
    <BLANKLINE>
    data sets where it is in the first tier
    screen  svm  sum  any learner
    relief    2    2            2
    none      1    1            1
    """
    tiers = {name: _tiers(name, table) for name, table in groups.items()}
    if not tiers:
        raise InputError("there is no table of groups to count over: give at least one data set")
    pairs = list(next(iter(tiers.values())))
    for name, table in tiers.items():
        if set(table) != set(pairs):
            raise InputError(
                f"every data set must have the same combinations; {name!r} has others than "
                f"{next(iter(tiers))!r}: count over those that all have"
            )
    screens = tuple(dict.fromkeys(screen for screen, _ in sorted(pairs) if screen != none))
    learners = tuple(dict.fromkeys(learner for _, learner in sorted(pairs)))
    if (none, learners[0]) not in pairs:
        near = did_you_mean(none, {screen for screen, _ in pairs})
        raise ParameterError(
            f"there is no screen {none!r} to compare with as no screening{near}: name it, none=..."
        )
    missing = [(s, a) for s in (*screens, none) for a in learners if (s, a) not in pairs]
    if missing:
        raise InputError(f"every screen must be there with every learner; {label(missing[0])!r} is not")
    return Counts(
        screens,
        learners,
        tuple(tiers),
        none,
        {
            (screen, learner): sum(t[screen, learner] < t[none, learner] for t in tiers.values())
            for screen in screens
            for learner in learners
        },
        {
            (screen, name): _mark(_best(t, screen, learners), _best(t, none, learners))
            for screen in screens
            for name, t in tiers.items()
        },
        {pair: sum(t[pair] == 1 for t in tiers.values()) for pair in sorted(pairs)},
        {s: sum(_best(t, s, learners) == 1 for t in tiers.values()) for s in (*screens, none)},
    )


def _tiers(dataset: str, table: Groups) -> dict[tuple[str, str], int]:
    tiers: dict[tuple[str, str], int] = {}
    for name, tier in zip(table.names, table.tiers.tolist(), strict=True):
        if isinstance(name, str):
            raise InputError(
                f"combinations must be pairs (screen, learner) to be counted; {dataset!r} has {name!r}"
            )
        tiers[name] = tier
    return tiers


def _best(tiers: Mapping[tuple[str, str], int], screen: str, learners: tuple[str, ...]) -> int:
    return min(tiers[screen, learner] for learner in learners)


def _mark(screened: int, plain: int) -> str:
    if screened == plain:
        return SAME
    return BETTER if screened < plain else WORSE
