"""What the numbers say: does a screen help the best learner, or others, and does it matter which?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from streamsieve.evaluation.significance import paired_t
from studies import _report
from studies._desk import Desk
from studies.screens_and_learners._cases import CASES, FOLDS
from studies.screens_and_learners._methods import NONE
from studies.screens_and_learners._runs import RIGHT
from studies.screens_and_learners._tiers import Found, counts


def section(desk: Desk, names: Sequence[str]) -> str:
    """Return the answers, done right."""
    found = [Found(desk, name, RIGHT) for name in names]
    starred = [one.name for one in found if "*" in counts(desk, [one.name], RIGHT).marks.values()]
    headings = ["data", "best without", "best with a screen", "gain", "p, corrected", "screens' best, range"]
    return f"""\
## What it says

The best combination with a screen against the best without, done right. The p-value is that of the corrected
paired test over the folds, and too small by what it does not know: that both were chosen as the best of many.

{_report.table(headings, [_against(one) for one in found])}
How much the best screen adds to each learner, and the mean over the sets of classes:

{_by_learner([one for one in found if not CASES[one.name].numeric])}
- Screening makes the best learner better on {len(starred)} of {len(names)} sets
  ({", ".join(starred) or "none"}), and harms on none if the screen is the right one. The thesis says the same
  in kind ("sometimes useful", and usually no loss), with two sets of five.
- It helps learners that do badly on their own: naive Bayes nearly always, linear models where most features
  are noise. That holds too.
- On most sets it hardly matters which screen: see the range. `t` and `fisher` rank alike where both classes
  are equally frequent, `chi2` and `mutual_info` nearly alike everywhere. The exception is madelon, whose
  features say something only together: Relief, which compares rows in all features at once, is far ahead, and
  mRMR, which shuns features that resemble each other, falls behind. The thesis's ranking, in which Relief is
  the one screen that helps less than the others, does not come out.
- Its marks on Gisette do not come out either: it has a `*` for six screens of seven, and here no screen has a
  higher peak than no screening with annealing, which selects features itself.
"""


def _against(found: Found) -> list[str]:
    screens = [screen for screen in found.screens if screen != NONE]
    best = max(screens, key=found.top)
    with_it, without = (best, found.best(best)), (NONE, found.best(NONE))
    test = paired_t(
        found.by_pair[with_it]["values"], found.by_pair[without]["values"], test_over_train=1 / (FOLDS - 1)
    )
    tops = [found.top(screen) for screen in screens]
    return [
        found.name,
        f"{without[1]} {found.top(NONE):.3f}",
        f"{' + '.join(with_it)} {found.top(best):.3f}",
        f"{test.difference:+.3f}",
        f"{test.p_value:.3f}" if test.p_value >= 0.0005 else "< .001",
        f"{min(tops):.3f} to {max(tops):.3f}",
    ]


def _by_learner(found: Sequence[Found]) -> str:
    if not found:
        return "No set of classes is at hand.\n"
    lines, gains = [], []
    learners = found[0].learners
    for one in found:
        row = [
            max(one.peak((screen, learner)) for screen in one.screens if screen != NONE)
            - one.peak((NONE, learner))
            for learner in learners
        ]
        gains.append(row)
        lines.append([one.name, *(f"{gain:+.3f}" for gain in row)])
    lines.append(["mean", *(f"{gain:+.3f}" for gain in np.mean(gains, axis=0))])
    return _report.table(["data", *learners], lines)
