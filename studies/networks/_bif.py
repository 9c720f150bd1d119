"""Bayesian networks in the interchange format BIF: read, and sampled forward."""

from __future__ import annotations

import gzip
import os
import re
from importlib import util
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from studies._data import MissingDataError

VARIABLE = re.compile(r"variable\s+(\S+)\s*\{[^{]*\{([^}]*)\}", re.DOTALL)
TABLE = re.compile(r"probability\s*\(\s*([^|)]+?)\s*(?:\|\s*([^)]*))?\)\s*\{(.*?)\}", re.DOTALL)
ROW = re.compile(r"\(([^)]*)\)\s*([^;]*);")


class Node(NamedTuple):
    """A variable: its parents, and its probabilities, one axis per parent and the last for itself."""

    parents: tuple[str, ...]
    probability: npt.NDArray[np.float64]


def folder() -> Path:
    """Return where the files are: STREAMSIEVE_NETWORKS, or the example models of an installed pgmpy."""
    named = os.environ.get("STREAMSIEVE_NETWORKS")
    if named:
        return Path(named)
    found = util.find_spec("pgmpy")
    if found is None or not found.submodule_search_locations:
        raise MissingDataError(
            "networks are read from the folder in STREAMSIEVE_NETWORKS or from pgmpy, and neither is there"
        )
    return Path(found.submodule_search_locations[0]) / "utils" / "example_models"


def network(name: str) -> dict[str, Node]:
    """Read a network, its variables by name in the order of the file."""
    path = folder() / f"{name}.bif.gz"
    if not path.exists():
        raise MissingDataError(f"{path} is not there")
    return parse(gzip.decompress(path.read_bytes()).decode())


def parse(text: str) -> dict[str, Node]:
    """Read the text of a BIF file."""
    levels = {name: [v.strip() for v in values.split(",")] for name, values in VARIABLE.findall(text)}
    nodes = {}
    for name, given, body in TABLE.findall(text):
        parents = tuple(p.strip() for p in given.split(",") if p.strip())
        p = np.zeros([len(levels[parent]) for parent in parents] + [len(levels[name])])
        if not parents:
            p[:] = _numbers(body.partition("table")[2].partition(";")[0])
        for values, numbers in ROW.findall(body):
            at = tuple(
                levels[parent].index(v.strip()) for parent, v in zip(parents, values.split(","), strict=True)
            )
            p[at] = _numbers(numbers)
        nodes[name] = Node(parents, p / p.sum(axis=-1, keepdims=True))
    return {name: nodes[name] for name in levels}


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]


def sample(nodes: dict[str, Node], n: int, seed: int) -> npt.NDArray[np.float64]:
    """Draw n rows; columns in the order of the network."""
    rng = np.random.default_rng(seed)
    place = {name: j for j, name in enumerate(nodes)}
    X = np.full((n, len(nodes)), -1)
    waiting = [*nodes]
    while waiting:
        name = next(v for v in waiting if not {*nodes[v].parents} & {*waiting})
        waiting.remove(name)
        parents, probability = nodes[name]
        below = np.cumsum(probability[tuple(X[:, place[parent]] for parent in parents)], axis=-1)
        below = np.broadcast_to(below, (n, below.shape[-1]))
        drawn = (rng.random((n, 1)) > below).sum(axis=1)
        X[:, place[name]] = np.minimum(drawn, below.shape[1] - 1)
    return X.astype(np.float64)


def graph(nodes: dict[str, Node]) -> npt.NDArray[np.bool_]:
    """Return the edges (from, to) of a network, in the order of its variables."""
    place = {name: j for j, name in enumerate(nodes)}
    edges = np.zeros((len(nodes), len(nodes)), bool)
    for name, node in nodes.items():
        for parent in node.parents:
            edges[place[parent], place[name]] = True
    return edges
