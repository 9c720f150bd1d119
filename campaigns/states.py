"""State files with right checksums and wrong contents: refused, or legal states of something else."""

from __future__ import annotations

import copy
import json
import resource
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from campaigns.outcome import Outcome
from campaigns.subjects import data_for, fit_all, fitted, name_of, subjects
from streamsieve import state
from streamsieve.base import ColumnSelector
from streamsieve.exceptions import StateError, StreamSieveError
from streamsieve.testing.states import INTS, mutants

GOAL = "only StateError; 0 signals; memory to load at most 2x the file + 64 MB; at most 5 s of computing"
PATIENCE = 20.0
#: Values that a parameter may be forged to.
PARAMETERS = (
    None, True, False, 0, 1, -1, 2, 7, 10**5, 2**31, 2**62, 10**30, -0.5, 0.5, 1e308, "", "x", "all",
    "f", "auto", [], [1, 2], {}, {"$": 1}, [[]], "\x00", "../../x",
)  # fmt: skip
SLOW, SPARE = 5.0, 64 * 2**20


class Case(NamedTuple):
    """A forged state: of which object, forged how."""

    subject: int
    way: str
    seed: int

    def __str__(self) -> str:
        return f"{name_of(subjects()[self.subject])}, {self.way}, {self.seed}"


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield forged states of every object in turn: by random mutations, and by one value at a time."""
    while True:
        for subject in rng.permutation(len(subjects())).tolist():
            for way in ("arrays", "parameter", "number"):
                yield Case(subject, way, int(rng.integers(2**32)))


def prepare() -> None:
    """Load all kernels before the first case: a case has a time limit, a compiler has not."""
    fit_all()
    for index in range(len(subjects())):
        with warnings.catch_warnings(), suppress(StreamSieveError):  # one cannot be saved, and says so
            warnings.simplefilter("ignore")
            _use(copy.deepcopy(fitted(index)), index)


def attempt(case: Case) -> Outcome:
    """Load a forged state and use what comes out."""
    one = fitted(case.subject)
    try:
        header, arrays = state.from_bytes(one.to_bytes())
    except StateError:
        return Outcome("held", "it cannot be saved, and says so")
    what, header, arrays = _forged(case, header, arrays)
    data = state.to_bytes(header, arrays)
    before, began = _peak(), time.process_time()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = type(one).from_bytes(data)
        except StateError as error:
            return _frugal(len(data), before, began) or Outcome("refused", f"{what}: {error}"[:300])
        if wrong := _frugal(len(data), before, began):
            return wrong
        try:
            _use(made, case.subject)
        except StreamSieveError as error:
            return Outcome("held", f"{what}: {error}"[:300])
    return Outcome("held", what)


def _forged(case: Case, header: dict[str, Any], arrays: Any) -> tuple[str, dict[str, Any], Any]:
    rng = np.random.default_rng(case.seed)
    parameters, arrays = dict(sorted(header["parameters"].items())), dict(sorted(arrays.items()))
    if case.way == "parameter" and parameters:
        name = list(parameters)[rng.integers(len(parameters))]
        value = PARAMETERS[rng.integers(len(PARAMETERS))]
        return f"{name}={json.dumps(value)}", {**header, "parameters": {**parameters, name: value}}, arrays
    whole = [name for name, a in arrays.items() if a.dtype.kind in "iu" and a.size]
    if case.way == "number" and whole:
        name = whole[rng.integers(len(whole))]
        forged = arrays[name].copy()
        value = INTS[rng.integers(len(INTS))]
        forged.reshape(-1)[rng.integers(forged.size)] = np.array(value).astype(forged.dtype)
        return f"{name}: {value}", header, {**arrays, name: forged}
    mutation, name, damaged = next(mutants(dict(arrays), 1, rng))
    return f"{name}: {mutation}", header, damaged


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _frugal(size: int, before: int, began: float) -> Outcome | None:
    """Return what is wrong with the memory or the computing time that loading took."""
    grown, seconds = _peak() - before, time.process_time() - began
    if grown > 2 * size + SPARE:
        return Outcome("lost", f"loading {size:,} bytes took {grown:,} bytes of memory")
    return Outcome("lost", f"loading took {seconds:.0f} s") if seconds > SLOW else None


def _use(made: Any, subject: int) -> None:
    """Do what a user would do next."""
    X, y, _ = data_for(subjects()[subject])
    if made.n_features_in_ < 10**6:  # what follows takes memory in proportion
        if hasattr(made, "predict"):
            made.predict(X)
        elif hasattr(made, "transform"):
            made.transform(X)
    if isinstance(made, ColumnSelector):
        made.offer(X[:, :3], names=["a", "b", "c"])
    elif hasattr(made, "partial_fit"):
        made.partial_fit(X, y)
    for name in ("selected_", "scores_", "ledger_"):
        if hasattr(made, name):
            len(getattr(made, name))
    type(made).from_bytes(made.to_bytes())
