"""Peaks and tiers of every combination, the marks (tables 2.3 and 2.7) and the counts (2.6, 2.8, 2.9)."""

from __future__ import annotations

from collections.abc import Sequence

from streamsieve.evaluation.significance import Counts
from studies import _report
from studies._desk import Desk
from studies.screens_and_learners._cases import CASES
from studies.screens_and_learners._methods import NONE
from studies.screens_and_learners._published import BEST, COUNTED, LEARNERS, printed
from studies.screens_and_learners._runs import LITERAL, RIGHT
from studies.screens_and_learners._tiers import Found, counts

BLANK = "blank"


def marks(desk: Desk, names: Sequence[str]) -> dict[tuple[str, str], tuple[str, str, str]]:
    """Return, by data set and screen, the thesis's mark, ours in its way, and ours done right."""
    found = {}
    for name in names:
        both = [counts(desk, [name], way).marks for way in (LITERAL, RIGHT)]
        table, theirs = "2.3" if CASES[name].numeric else "2.7", CASES[name].printed or ""
        for screen, _ in both[0]:
            ours = [mark[screen, name] or BLANK for mark in both]
            found[name, screen] = (printed(table, screen, theirs), ours[0], ours[1])
    return found


def marks_section(desk: Desk, names: Sequence[str]) -> str:
    """Return the marks, theirs and ours."""
    found = marks(desk, names)
    lines = [
        [name, screen, theirs, literal, _gain(desk, name, screen, LITERAL), _apart(theirs, literal), right,
         _gain(desk, name, screen, RIGHT), _apart(theirs, right)]
        for (name, screen), (theirs, literal, right) in found.items()
    ]  # fmt: skip
    headings = [
        "data", "screen", "thesis", "its way", "gain", "difference", "right", "gain", "difference"
    ]  # fmt: skip
    same = [sum(three[0] == three[i] for three in found.values()) for i in (1, 2)]
    return f"""\
## The marks (tables 2.3 and 2.7)

Against the best learner without screening: `*` the screen with some learner is in a better tier, `=` in the
same, blank in a worse one. *Gain* is our peak with the screen less our peak without. In its way:
{len(found)} figures, {same[0]} equal to the last digit printed, 0 more within chance,
{len(found) - same[0]} apart; done right, {same[1]} are equal.

{_report.table(headings, lines)}
A test of {CASES[names[0]].literal_runs} runs tells less apart than the thesis's of 7, so some of our `=` may
be a `*` with more runs, but only where the gain is positive.
"""


def _apart(theirs: str, ours: str) -> str:
    return "" if theirs == ours else f"{theirs} there"


def _gain(desk: Desk, name: str, screen: str, way: str) -> str:
    found = Found(desk, name, way)
    return f"{found.top(screen) - found.top(NONE):+.4f}"


def groups_section(desk: Desk, names: Sequence[str]) -> str:
    """Return a table a data set: peak and tier of every combination."""
    parts = [_INTRODUCTION]
    for name in names:
        found = Found(desk, name, RIGHT)
        tiers = found.groups()
        lines = [
            [
                screen,
                *(
                    f"{found.peak((screen, learner)):.3f} ({tiers.tier((screen, learner))}) "
                    f"{_at(found, screen, learner)}"
                    for learner in found.learners
                ),
            ]
            for screen in found.screens
        ]
        what = "R2" if CASES[name].numeric else "AUC"
        parts.append(
            f"{name}, {what}; tiers: {len(tiers.groups)}\n\n"
            + _report.table(["screen", *found.learners], lines)
        )
    return "\n".join(parts)


def _at(found: Found, screen: str, learner: str) -> str:
    """Return at how many features the peak is."""
    size = found.by_pair[screen, learner]["size"]
    return f"at {size:,}" if size else "all"


_INTRODUCTION = """\
## Peaks and tiers, done right

Mean over all folds at the best number of features, the tier in brackets, and that number. Tiers are those of
the table of groups by paired t-tests of folds at .05, corrected for the training rows that folds share
(Nadeau and Bengio). A combination is in the first tier if a test does not tell it from the best one, or if it
stands above one that is so.
"""


def counts_section(desk: Desk, names: Sequence[str]) -> str:
    """Return the three counting tables, theirs and ours."""
    found = counts(desk, names, RIGHT)
    learners = [learner for learner in LEARNERS if learner in found.learners]
    n = len(names)
    better = [
        [
            screen,
            *(f"{printed('2.6', screen, learner)} / {found.better[screen, learner]}" for learner in learners),
            f"{printed('2.6', screen, BEST)} / {found.useful(screen)}",
            f"{found.useful(screen) / n - int(printed('2.6', screen, BEST)) / COUNTED:+.2f}",
        ]
        for screen in found.screens
    ]
    marked = [
        [screen, *(found.marks[screen, name] for name in names), str(found.useful(screen))]
        for screen in found.screens
    ]
    top = [_top(found, screen, learners, n) for screen in (*found.screens, NONE)]
    return f"""\
## Counts over data sets (tables 2.6 to 2.9)

Theirs of {COUNTED} sets / ours of {n}, done right. Only three of the sets are in both, so the counts stand
beside each other; the difference in the last column is one of shares.

Sets on which a screen helps a learner, and the best learner (table 2.6):

{_report.table(["screen", *learners, "best learner", "difference"], better)}
Our marks (as table 2.7):

{_report.table(["screen", *names, "total"], marked)}
Sets on which a combination is in the first tier (table 2.8), and a screen with any learner (table 2.9):

{_report.table(["screen", *learners, "any learner", "difference"], top)}"""


def _top(found: Counts, screen: str, learners: Sequence[str], n: int) -> list[str]:
    sets = printed("2.9", screen, "sets")
    return [
        screen,
        *(f"{printed('2.8', screen, learner)} / {found.top[screen, learner]}" for learner in learners),
        f"{sets} / {found.top_screens[screen]}",
        f"{found.top_screens[screen] / n - int(sets) / COUNTED:+.2f}",
    ]
