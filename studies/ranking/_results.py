"""The stored results as arrays: methods by sets by orders."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from studies._desk import HERE, Desk
from studies.ranking._judge import CLASSIFIERS
from studies.ranking._methods import ALL, RANKED, RIVAL
from studies.ranking._statistics import mean_ranks

#: Sets with as many columns are wide.
WIDE = 500


class Results:
    """What was measured, for the tables.

    Parameters
    ----------
    desk : with all parts computed
    names : the data sets
    """

    def __init__(self, desk: Desk, names: Sequence[str]) -> None:
        self.names, self._found = list(names), {name: desk.part.result(name) for name in names}
        self.methods = [*RANKED, ALL]

    def shape(self, name: str) -> tuple[int, int]:
        """Return the rows and columns of a set."""
        return self._found[name]["rows"], self._found[name]["columns"]

    def shapes(self, names: Sequence[str]) -> list[list[str]]:
        """Return the rows of a table of sizes."""
        return [[name, *(f"{number:,}" for number in self.shape(name))] for name in names]

    @cached_property
    def wide(self) -> list[int]:
        """Places of the wide sets."""
        return [i for i, name in enumerate(self.names) if self.shape(name)[1] >= WIDE]

    def of(self, what: str) -> dict[str, Any]:
        """Return, by method, an array of sets by orders (or of sets, for what has no orders).

        Parameters
        ----------
        what : a classifier, "accuracy" for the mean of them, "size", "alike" or "seconds"
        """
        keys = CLASSIFIERS if what == "accuracy" else (what,)
        return {
            method: np.mean(
                [[self._found[name]["methods"][method][key] for name in self.names] for key in keys], axis=0
            )
            for method in self.methods
        }

    def place(self, method: str) -> float | None:
        """Return where in the stream a method's columns come, mean over the wide sets with any."""
        by_set = [self._found[self.names[i]]["methods"][method]["place"] for i in self.wide]
        known = [place for place in by_set if place is not None]
        return float(np.mean(known)) if known else None

    @cached_property
    def accuracy(self) -> dict[str, Any]:
        """Mean accuracy of the classifiers, by method: sets by orders."""
        return self.of("accuracy")

    def mean(self, method: str) -> float:
        """Return the mean accuracy over sets and orders."""
        return float(self.accuracy[method].mean())

    def gains(self, method: str, rival: str = RIVAL) -> Any:
        """Return by how much a method is better than another, by set, means over the orders."""
        return (self.accuracy[method] - self.accuracy[rival]).mean(axis=1)

    def ranks(self, sets: Sequence[int] | None = None, order: int | None = None) -> dict[str, float]:
        """Return the mean ranks of the methods.

        Parameters
        ----------
        sets : places of the sets; None for all
        order : place of one order; None for the mean over the orders
        """
        chosen = slice(None) if sets is None else sets
        rows = [self.accuracy[method][chosen] for method in RANKED]
        values = [row.mean(axis=1) if order is None else row[:, order] for row in rows]
        return dict(zip(RANKED, mean_ranks(values).tolist(), strict=True))

    @cached_property
    def ranked(self) -> list[str]:
        """The methods by mean rank, the best first."""
        ranks = self.ranks()
        return sorted(RANKED, key=lambda method: (ranks[method], -self.mean(method)))


@cache
def printed() -> dict[tuple[str, str, str], float]:
    """Return the figures of the earlier ranking by method, data set ("" for all 17) and what is measured."""
    with (HERE / "published" / "column_ranking.csv").open(newline="", encoding="utf-8") as file:
        return {(r["method"], r["dataset"], r["metric"]): float(r["value"]) for r in csv.DictReader(file)}
