"""Error rates of every screen and learner, and what forgetting changes."""

from __future__ import annotations

from collections.abc import Sequence

from studies import _report
from studies._desk import Desk
from studies.adaptation._blocks import Change, Errors
from studies.adaptation._methods import BASELINES, CRITERIA, KINDS, NONE, RANDOM, named

#: What may forget, by its name in tables.
LEARNER, BOTH = "learner", "both"


def changes(errors: Errors, kind: str) -> dict[str, Change]:
    """Return what forgetting changes, mean over all screens, against a screen and a learner that do not.

    The keys are the screen's half-lives, then the learner, and both of them with the shortest half-life.
    """
    plain, forgets = KINDS[kind]
    neither = errors.over_criteria(None, plain)
    found = {life: errors.change(errors.over_criteria(life, plain), neither) for life in errors.lives}
    found[LEARNER] = errors.change(errors.over_criteria(None, forgets), neither)
    found[BOTH] = errors.change(errors.over_criteria(errors.lives[-1], forgets), neither)
    return found


def screen_behind_forgetting(errors: Errors, kind: str, life: str) -> Change:
    """Return what a screen that forgets adds where the learner forgets already."""
    forgets = KINDS[kind][1]
    return errors.change(errors.over_criteria(life, forgets), errors.over_criteria(None, forgets))


def changes_section(desk: Desk, names: Sequence[str]) -> str:
    """Return what forgetting changes."""
    lines, behind = [], []
    for name in names:
        errors = Errors(desk, name)
        for kind in KINDS:
            found = changes(errors, kind)
            error = errors.share(errors.over_criteria(None, KINDS[kind][0]))
            lines.append([f"{name}, {kind}", f"{error:.4f}", *(each.text for each in found.values())])
            behind.append(
                [
                    f"{name}, {kind}",
                    f"{errors.share(errors.over_criteria(None, KINDS[kind][1])):.4f}",
                    *(screen_behind_forgetting(errors, kind, life).text for life in errors.lives),
                ]
            )
    lives = [f"screen forgets {life}" for life in Errors(desk, names[0]).lives]
    return f"""\
## What forgetting changes

Error rate if neither screen nor learner forgets, mean over the screens, and its change if one of them or both
do (the screen fast); less is better. ± is two standard errors, from the differences of blocks of rows, and a
star marks what is beyond them.

{_report.table(["stream, learner", "neither", *lives, "learner forgets", "both"], lines)}
Where the learner forgets already, a screen that does so too changes the error by:

{_report.table(["stream, learner", "learner forgets", *lives], behind)}"""


def errors_section(desk: Desk, names: Sequence[str]) -> str:
    """Return the error rates of everything."""
    parts = ["## Error rates\n\nOf all rows after the first batch, as tables 3.8 and 3.9 have them.\n"]
    learners = [learner for pair in KINDS.values() for learner in pair]
    for name in names:
        errors = Errors(desk, name)
        screens = [
            NONE,
            RANDOM,
            *(named(criterion, life) for criterion in CRITERIA for life in (None, *errors.lives)),
        ]
        lines = [
            [screen, *(f"{errors.share(errors.wrong(screen, learner)):.4f}" for learner in learners)]
            for screen in screens
        ]
        lines += [
            [baseline, f"{errors.share(errors.wrong(NONE, baseline)):.4f}", *[""] * (len(learners) - 1)]
            for baseline in BASELINES
        ]
        parts.append(f"{name}:\n\n{_report.table(['screen', *learners], lines)}")
    return "\n".join(parts)
