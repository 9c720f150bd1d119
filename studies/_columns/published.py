"""The figures printed in the papers of SAOLA (ICDM 2014) and OSFS (TPAMI 2013), as far as they are used."""

from __future__ import annotations

import csv
from functools import cache

from studies._desk import HERE

FILE = HERE / "published" / "column_streams.csv"


def printed(paper: str, table: str, dataset: str, method: str, metric: str, setting: str = "") -> float:
    """Return a printed figure."""
    return figures()[paper, table, dataset, method, setting, metric]


@cache
def figures() -> dict[tuple[str, str, str, str, str, str], float]:
    """Return all figures, by paper, table, data set, method, setting and what is measured."""
    with FILE.open(newline="", encoding="utf-8") as file:
        return {
            (row["paper"], row["table"], row["dataset"], row["method"], row["setting"], row["metric"]): float(
                row["value"]
            )
            for row in csv.DictReader(file)
        }
