"""The figures printed in the thesis, as far as they are used."""

from __future__ import annotations

import csv
from functools import cache

from studies._desk import HERE

FILE = HERE / "published" / "wang2021_tables_2.2-2.9.csv"
#: How the thesis calls screens and learners.
SCREENS = {
    "t": "T-score",
    "fisher": "Fisher Score",
    "chi2": "Chi-square",
    "gini": "Gini Index",
    "mutual_info": "Mutual Information",
    "relief": "Relief",
    "mrmr": "MRMR",
    "correlation": "Correlation",
    "rrelieff": "RReliefF",
    "none": "No screening",
}
LEARNERS = {"boosting": "BoostTree", "fsa": "FSA", "svm": "SVM", "nb": "NB", "logistic": "Logistic"}
BEST = "Best algorithm"
#: Data sets of classes that the thesis counts over.
COUNTED = 5


def printed(table: str, screen: str, what: str) -> str:
    """Return a printed mark or count.

    Parameters
    ----------
    table : its number
    screen : our name of the screen
    what : the thesis's name of a data set, our name of a learner, or the name of a column
    """
    return figures()[table, SCREENS[screen], LEARNERS.get(what, what)]


@cache
def figures() -> dict[tuple[str, str, str], str]:
    """Return all figures, by table, screen and column."""
    with FILE.open(newline="", encoding="utf-8") as file:
        return {(row["table"], row["row"], row["column"]): row["value"] for row in csv.DictReader(file)}
