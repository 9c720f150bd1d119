"""What a test with too few rows may mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamsieve as ss
from studies._columns.methods import PAPER_RULE

READINGS: dict[str, dict[str, Any]] = {
    "skip, occupied": {"unreliable": "skip", "reliable": "occupied"},
    "skip, nominal": {"unreliable": "skip", "reliable": "nominal"},
    "independent, occupied": {"unreliable": "independent", "reliable": "occupied"},
    "independent, nominal": {"unreliable": "independent", "reliable": "nominal"},
    "paper's rule": dict(PAPER_RULE),
}
#: Ours, and the paper's.
DEFAULT, PAPER = "skip, occupied", "paper's rule"
ALGORITHMS: dict[str, Callable[..., Any]] = {"OSFS": ss.OSFS, "Fast-OSFS": ss.FastOSFS}
LEVELS = (0.01, 0.05)
