"""Samples of Bayesian networks whose graph is known, and Markov blankets."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studies._data import MissingDataError

FILE = "bayesnet_s500"
NAMES = ("Child3", "Child10", "Insurance", "Mildew", "Alarm10", "Pigs", "Gene")

Graph = npt.NDArray[np.bool_]


def network(name: str) -> tuple[npt.NDArray[np.float64], Graph]:
    """Return the samples (sample, row, variable) and the graph (from, to) of a network."""
    folder = os.environ.get("STREAMSIEVE_DATA")
    if not folder:
        raise MissingDataError("STREAMSIEVE_DATA is not set: name the folder of real data sets with it")
    path = Path(folder) / f"{FILE}.npz"
    if not path.exists():
        raise MissingDataError(f"{path} is not there")
    with np.load(path, allow_pickle=False) as file:
        return file[f"{name}_X"].astype(np.float64), file[f"{name}_graph"].astype(bool)


def blanket(graph: Graph, target: int) -> Graph:
    """Return who is in a variable's Markov blanket: parents, children, and the children's other parents."""
    members = graph[target] | graph[:, target] | graph[:, graph[target]].any(axis=1)
    members[target] = False
    return np.asarray(members)
