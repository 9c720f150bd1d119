"""Performance against the number of features, in the manner of figures 2.1 to 2.4."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from streamsieve.evaluation import plots
from studies._desk import Desk
from studies.screens_and_learners._cases import CASES
from studies.screens_and_learners._methods import NONE
from studies.screens_and_learners._runs import RIGHT
from studies.screens_and_learners._tiers import Found

#: The set that is drawn, if it is there: screens differ most on it.
DRAWN = "madelon"


def section(desk: Desk, names: Sequence[str]) -> str:
    """Draw one data set."""
    name = DRAWN if DRAWN in names else names[0]
    found = Found(desk, name, RIGHT)
    screens = [screen for screen in found.screens if screen != NONE]
    best = max(found.learners, key=lambda learner: max(found.peak((s, learner)) for s in found.screens))
    panels = {
        "best learner at each size": {
            screen: np.max([found.by_pair[screen, learner]["curve"] for learner in found.learners], axis=0)
            for screen in screens
        },
        best: {screen: found.by_pair[screen, best]["curve"] for screen in screens},
    }
    across = {
        "best learner at each size": max(found.peak((NONE, learner)) for learner in found.learners),
        best: found.peak((NONE, best)),
    }
    measure = "R2" if CASES[name].numeric else "AUC"
    figure = plots.performance(found.sizes, panels, across, measure=measure, title=name)
    caption = f"{name}: {measure} against the number of features. After figures 2.1 to 2.4 of the thesis."
    return f"## In a picture\n\n{desk.picture('screens_and_learners', figure, caption)}"
