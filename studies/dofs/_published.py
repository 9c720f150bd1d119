"""The figures printed in the paper of DOFS (Siu, Xu 2018); its tables have no numbers."""

from __future__ import annotations

import csv
from functools import cache

from studies._desk import HERE

FILE = HERE / "published" / "dofs_tables.csv"
#: The paper's methods; the last three are DOFS.
DPP_ONLY, UNSUPERVISED, SUPERVISED = "DOFS (DPP only)", "DOFS (unsupervised)", "DOFS (supervised)"
RIVALS = ("Alpha-investing", "OSFS", "Grafting", "OGFS")
METHODS = (*RIVALS, DPP_ONLY, UNSUPERVISED, SUPERVISED)
#: Its data sets; lung cancer is not at hand.
DATASETS = (
    "ionosphere", "spambase", "spectf", "wdbc", "colon", "leukemia", "lung cancer", "prostate",
)  # fmt: skip
MICROARRAYS = ("colon", "leukemia", "lung cancer", "prostate")


def described(dataset: str, metric: str) -> float:
    """Return the number of rows ("n_obs") or columns ("n_features") that the paper gives."""
    return _figures()["datasets", dataset, "", metric]


def printed(dataset: str, method: str, metric: str) -> float:
    """Return a printed "accuracy" (a share) or number of columns ("n_selected")."""
    return _figures()["results", dataset, method, metric]


@cache
def _figures() -> dict[tuple[str, str, str, str], float]:
    with FILE.open(newline="", encoding="utf-8") as file:
        return {
            (row["table"], row["dataset"], row["method"], row["metric"]): float(row["value"])
            for row in csv.DictReader(file)
        }
