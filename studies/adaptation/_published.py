"""The error rates printed in tables 3.8 and 3.9 of the thesis."""

from __future__ import annotations

import csv
from functools import cache

from studies._desk import HERE

FILE = HERE / "published" / "wang2021_tables_3.8-3.9.csv"
#: Tables by data set.
TABLES = {"20 News Groups": "3.8", "URL": "3.9"}


def printed(dataset: str, learner: str, screen: str, *, adapts: bool = False) -> float:
    """Return a printed error rate."""
    return figures()[dataset, learner, screen, adapts]


@cache
def figures() -> dict[tuple[str, str, str, bool], float]:
    """Return all error rates, by data set, learner, screen and whether it adapts."""
    with FILE.open(newline="", encoding="utf-8") as file:
        return {
            (row["dataset"], row["learner"], row["screen"], row["adaptation"] == "1"): float(
                row["error_rate"]
            )
            for row in csv.DictReader(file)
        }
