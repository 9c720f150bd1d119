"""What is compared: the paper's methods to the letter, the same as they should be, and simple baselines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import streamsieve as ss
from studies._columns.splits import Labels
from studies._columns.toolbox import forced_alpha_investing
from studies.dofs._published import DPP_ONLY, SUPERVISED, UNSUPERVISED

#: The paper's settings: level, penalty (and least weight), and the larger of its two sizes of groups.
LEVEL, PENALTY, GROUP = 0.05, 0.15, 10
#: Above so many columns the baseline does not ask what they share: that takes a minute.
MANY = 200

#: Given columns, classes and a seed: the columns that are kept.
Chooser = Callable[[Any, Labels, int], npt.NDArray[np.int64]]

#: The paper's rules to the letter, one by one.
FAULTS: dict[str, dict[str, Any]] = {
    "Wilcoxon's test for redundancy": {"redundancy_test": "wilcoxon_literal"},
    "label graphs swapped": {"scatter": "labels_literal"},
    "best first, and t against alpha": {"reading": "literal"},
    "either test is enough": {"local": "either"},
    "weights below the penalty leave": {"least_weight": PENALTY},
    "a model for every column": {"refit": "column"},
}
LITERAL: dict[str, Any] = {name: value for fault in FAULTS.values() for name, value in fault.items()}
#: Other ways to read the paper.
OTHERWISE: dict[str, dict[str, Any]] = {
    "literal, Wilcoxon's test reversed": LITERAL | {"redundancy_test": "wilcoxon_reversed"},
    "literal, class means for graphs": LITERAL | {"scatter": "moments_literal"},
    "literal, both tests needed": LITERAL | {"local": "both"},
    "literal, any weight stays": LITERAL | {"least_weight": 0.0},
    "literal, groups of 5": LITERAL | {"group_size": 5},
}
#: What columns may be compared by; the paper names no kernel.
KERNELS: dict[str, dict[str, Any]] = {
    "radial": {},
    "radial, half as wide": {"gamma": 4.0},
    "squared correlation": {"kernel": "squared_correlation"},
}

DRAWN = "DOFS, DPP only"
UNSUPERVISED_LITERAL, UNSUPERVISED_OURS = "DOFS, unsupervised, literal", "DOFS, unsupervised, corrected"
LITERALLY, CORRECTED = "DOFS, supervised, literal", "DOFS, supervised, corrected"
FORCED = "Alpha-investing, column 1 forced"

#: The three modes of DOFS, to the letter and corrected.
MODES: dict[str, dict[str, Any]] = {
    DRAWN: {"stages": "draw"},
    UNSUPERVISED_LITERAL: {"stages": "unsupervised", **LITERAL},
    UNSUPERVISED_OURS: {"stages": "unsupervised"},
    LITERALLY: LITERAL,
    CORRECTED: {},
}
#: Other readings of the supervised mode, and corrected ones with a single fault left.
READINGS: dict[str, dict[str, Any]] = OTHERWISE | {f"corrected, but: {name}": f for name, f in FAULTS.items()}


def dofs(seed: int, **parameters: Any) -> ss.DOFS:
    """Return DOFS with the paper's settings."""
    settings = {"alpha": LEVEL, "l1": PENALTY, "group_size": GROUP, "random_state": seed}
    return ss.DOFS(**settings | parameters)


def _fitted(make: Callable[[int], Any]) -> Chooser:
    return lambda X, y, seed: make(seed).fit(X, y).selected_


def _drawn(parameters: dict[str, Any]) -> Chooser:
    return _fitted(lambda seed: dofs(seed, **parameters))


RIVALS: dict[str, Chooser] = {
    FORCED: lambda X, y, _: forced_alpha_investing(X, y),
    "Alpha-investing": _fitted(lambda _: ss.AlphaInvesting()),
    "OSFS": _fitted(lambda _: ss.OSFS(LEVEL, p_value="z", test="fisher_z")),
    "Grafting": _fitted(lambda _: ss.Grafting(PENALTY, l1_ratio=0.5)),
    "OGFS": _fitted(lambda _: ss.OGFS(alpha=LEVEL, l1=PENALTY, group_size=GROUP)),
}
MAIN: dict[str, Chooser] = RIVALS | {name: _drawn(parameters) for name, parameters in MODES.items()}
EVERY: dict[str, Chooser] = MAIN | {name: _drawn(parameters) for name, parameters in READINGS.items()}

#: Which of the paper's methods each of ours stands beside.
BESIDE = {
    FORCED: "Alpha-investing",
    **{name: name for name in RIVALS if name != FORCED},
    DRAWN: DPP_ONLY,
    UNSUPERVISED_LITERAL: UNSUPERVISED,
    UNSUPERVISED_OURS: UNSUPERVISED,
    LITERALLY: SUPERVISED,
    CORRECTED: SUPERVISED,
}
#: The paper's methods as it describes them, and as this library has them.
AS_PRINTED = {
    BESIDE[name]: name for name in MAIN if name not in {"Alpha-investing", UNSUPERVISED_OURS, CORRECTED}
}
AS_OURS = {BESIDE[name]: name for name in MAIN if name not in {FORCED, UNSUPERVISED_LITERAL, LITERALLY}}


def top(k: int) -> ss.TopK:
    """Return the baseline of so many columns: streaming mRMR, or simply the best if there are many."""
    return ss.TopK(max(1, k), redundancy_weight=0.5 if k <= MANY else 0.0, alpha=None, measure="fisher_z")


def as_many(k: int, p: int, seed: int) -> npt.NDArray[np.int64]:
    """Return so many columns at random."""
    return np.sort(np.random.default_rng(seed).choice(p, k, replace=False))
