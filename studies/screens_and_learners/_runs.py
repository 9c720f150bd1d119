"""The runs: every screen and learner on a data set, done right or as the thesis did it."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsieve.evaluation import Report, combinations, curves, screening_protocol
from streamsieve.exceptions import SourceError
from studies._desk import Desk
from studies._parts import cores
from studies.screens_and_learners._cases import CASES, Case, Limits, read
from studies.screens_and_learners._methods import (
    FSA,
    FSA_EPOCHS,
    FSA_KEEPS,
    NONE,
    SAMPLED,
    TREES,
    fsa,
    learners,
    screens,
)

#: The two ways, by the name of their parts.
RIGHT, LITERAL = "right", "literal"
DIGITS = 5


def limits_of(desk: Desk) -> Limits:
    """Return how much is done."""
    if desk.quick:
        return Limits(rows=60, columns=30, runs=2, folds=2)
    return Limits(workers=cores())


def compute(desk: Desk) -> list[str]:
    """Compute all parts; return the data sets that are there."""
    done = []
    limits = limits_of(desk)
    for name, case in CASES.items():
        settings = {
            "form": 1, "folds": limits.folds, "tau": case.tau, "steps": case.steps,
            "fsa": [FSA_KEEPS, FSA_EPOCHS], "trees": TREES, "sampled": SAMPLED, "quick": desk.quick,
        }  # fmt: skip
        try:
            for way in ways(case):
                runs = runs_of(case, limits, way)
                desk.part(f"{name}: {way}", {**settings, "runs": runs}, on_data, case, limits, way)
        except SourceError as error:
            desk.skip(name, str(error))
        else:
            done.append(name)
    return done


def ways(case: Case) -> tuple[str, ...]:
    """Return in which ways a data set is gone through."""
    return (RIGHT, LITERAL) if case.literal_runs else (RIGHT,)


def runs_of(case: Case, limits: Limits, way: str) -> int:
    """Return how often rows are dealt."""
    return limits.runs or (case.literal_runs if way == LITERAL else case.runs)


def on_data(case: Case, limits: Limits, way: str) -> dict[str, Any]:
    """Return how well each combination does: by size, and at its best size in every fold or run."""
    X, y = read(case, limits)
    few = limits.rows is not None
    sizes = case.sizes(X.shape[1])
    plan: dict[str, Any] = {
        "sizes": sizes, "runs": runs_of(case, limits, way), "folds": limits.folds,
        "literal": way == LITERAL, "task": "regression" if case.numeric else "classification",
        "n_jobs": limits.workers,
    }  # fmt: skip
    report = screening_protocol(
        X, y, screens(numeric=case.numeric, few=few), learners(numeric=case.numeric, few=few), **plan
    )
    # what FSA keeps without a screen is a number of features like any other
    alone = screening_protocol(
        X, y, NONE, {f"{size}": fsa(size, numeric=case.numeric) for size in sizes}, **plan
    )
    counts = np.bincount(y) if not case.numeric else np.array([0])
    return {
        "rows": len(y),
        "features": X.shape[1],
        "largest": int(counts.max()),
        "sizes": sizes,
        "combinations": {**_found(report), **_fsa_alone(alone, sizes)},
    }


def _found(report: Report) -> dict[str, dict[str, Any]]:
    best, shapes = combinations(report), curves(report)
    return {
        " + ".join(pair): {
            "size": size,
            "curve": np.round(shapes[pair].mean, DIGITS).tolist(),
            "values": np.round(values.ravel(), DIGITS).tolist(),
        }
        for pair, size, values in zip(best.names, best.sizes.tolist(), best.fold_scores, strict=True)
    }


def _fsa_alone(report: Report, sizes: list[int]) -> dict[str, dict[str, Any]]:
    found = _found(report)
    by_size = {size: found[f"{NONE} + {size}"] for size in sizes}
    best = max(sizes, key=lambda size: by_size[size]["curve"][0])
    curve = [by_size[size]["curve"][0] for size in sizes]
    return {f"{NONE} + {FSA}": {"size": best, "curve": curve, "values": by_size[best]["values"]}}
