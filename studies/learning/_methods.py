"""The selectors that are compared, by the name they have in tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamsieve as ss

#: Methods that learn from rows scaled to length about 1, as their papers have it.
SHORT_ROWS = frozenset({"OFS", "SOFS"})

METHODS: dict[str, Callable[[int], Any]] = {
    "OMCP": lambda k: ss.RunningAverages(k, model="mcp"),
    "OMP on R": lambda k: ss.RunningAverages(k, model="omp"),
    "mRMR on R": lambda k: ss.RunningAverages(k, model="mrmr"),
    "OLasso": lambda k: ss.RunningAverages(k, model="lasso"),
    "OFSA": lambda k: ss.RunningAverages(k, model="fsa"),
    "OLSth": lambda k: ss.RunningAverages(k, model="ols_threshold"),
    "B-ARDA": ss.BARDA,
    "MISSION": lambda k: ss.MISSION(k, width=4096, learning_rate=0.01),
    "screen": lambda k: ss.Screen("f", k=k),
    "FIRES": ss.FIRES,
    "OFS": ss.OFS,
    "SOFS": ss.SOFS,
}
