"""The numbers printed in Wang 2021, tables 3.2-3.6."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "published" / "wang2021_tables_3.2-3.6.csv"
OFFLINE = "offline"
MINIBATCHES = tuple(2**k for k in range(12))
#: What each epsilon is called in the file.
EPSILONS = {
    "0.2": 1 / 5, "0.02": 1 / 50, "0.01": 1 / 100, "0.002": 1 / 500, "0.001": 1 / 1000, "1/1500": 1 / 1500,
    "0.0005": 1 / 2000,
}  # fmt: skip
#: How the thesis calls our files: of gisette only the validation part is at hand.
NAMES = {"madelon": "madelon", "gisette_valid": "gisette", "dexter": "dexter", "dorothea": "dorothea"}


def published(table: str, dataset: str, setting: object, criterion: str = "") -> float:
    """Return a printed number; the data set goes by our name."""
    return _numbers()[table, criterion, NAMES[dataset], str(setting)]


@cache
def _numbers() -> dict[tuple[str, str, str, str], float]:
    with FILE.open(newline="", encoding="utf-8") as file:
        return {
            (row["table"], row["criterion"], row["dataset"], row["setting"]): float(row["value"])
            for row in csv.DictReader(file)
        }
