"""Odd values, types and shapes at every door: a clear error, or finite results without warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from campaigns.outcome import Outcome
from campaigns.subjects import (
    Door,
    data_for,
    doors,
    fit_all,
    is_finite,
    name_of,
    prepared,
    subjects,
    takes_sparse,
)
from streamsieve.exceptions import StreamSieveError

GOAL = "0 unnamed errors, 0 hangs, 0 leaked warnings, 0 NaN"
PATIENCE = 20.0
Rng = np.random.Generator


class Case(NamedTuple):
    """Odd values and an odd target, at one door."""

    subject: int
    door: int
    numbers: str
    target: str
    container: str
    seed: int

    def __str__(self) -> str:
        subject = subjects()[self.subject]
        door = doors(subject)[self.door].name
        return f"{name_of(subject)}.{door}, {self.numbers}, {self.target}, {self.container}, {self.seed}"


def cases(rng: Rng) -> Iterator[Case]:
    """Yield every object and door with odd values, an odd target, or both."""
    places = [(i, j) for i, subject in enumerate(subjects()) for j in range(len(doors(subject)))]
    while True:
        for at in rng.permutation(len(places)):
            target = "as it is" if rng.random() < 0.6 else str(rng.choice([*TARGETS]))
            values, container = str(rng.choice([*VALUES])), str(rng.choice([*CONTAINERS]))
            yield Case(*places[at], values, target, container, int(rng.integers(2**32)))


def prepare() -> None:
    """Load kernels before the first case: a case has a time limit, a compiler has not."""
    fit_all()


def attempt(case: Case) -> Outcome:
    """Hand odd values in."""
    subject = subjects()[case.subject]
    door = doors(subject)[case.door]
    rng = np.random.default_rng(case.seed)
    X, y, _ = data_for(subject)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            X = CONTAINERS[case.container](VALUES[case.numbers](X, rng), takes_sparse(subject))
            target = TARGETS[case.target](y, rng)
        except (TypeError, ValueError, IndexError) as error:  # such values cannot be in such a container
            return Outcome("held", str(error)[:100], progress=False)
        said.clear()
        outcome = _entered(door, case.subject, X, target)
    leaked = [w for w in said if not issubclass(w.category, (UserWarning, ConvergenceWarning))]
    if outcome.kind == "held" and leaked:
        return Outcome("unclear", f"warning: {leaked[0].category.__name__}: {leaked[0].message}"[:300])
    return outcome


def _entered(door: Door, subject: int, X: Any, target: Any) -> Outcome:
    one = prepared(subject, door)
    try:
        answer = door.enter(one, X, target)
    except (StreamSieveError, NotFittedError) as error:
        return Outcome("refused", str(error)[:200])
    for name in ("scores_", "coef_"):
        if not is_finite(getattr(answer, name, None)):
            return Outcome("lost", f"{name} is not finite")
    return Outcome("held")


def _one(value: float) -> Callable[[Any, Rng], Any]:
    """Return a change that puts a value somewhere."""

    def change(X: Any, rng: Rng) -> Any:
        X[rng.integers(X.shape[0]), rng.integers(X.shape[1])] = value
        return X

    return change


def _column(value: Callable[[Any, Rng], Any]) -> Callable[[Any, Rng], Any]:
    """Return a change of one column."""

    def change(X: Any, rng: Rng) -> Any:
        j = rng.integers(X.shape[1])
        X[:, j] = value(X[:, j], rng)
        return X

    return change


VALUES: dict[str, Callable[[Any, Rng], Any]] = {
    "as they are": lambda X, rng: X,
    **{
        f"one {value:g}": _one(value)
        for value in (1e300, -1e300, 1e-300, 5e-324, 3.4e38, 1e20, np.nan, np.inf)
    },
    **{
        f"times {factor:g}": (lambda X, rng, f=factor: X * f) for factor in (0.0, 1e-200, 1e150, 1e-320, 1e38)
    },
    "a column of 1e16 + small": _column(lambda x, rng: 1e16 + x),
    "a constant column": _column(lambda x, rng: 0 * x + rng.normal()),
    "a column of NaN": _column(lambda x, rng: x * np.nan),
    "a column of denormals": _column(lambda x, rng: (x > 0) * 5e-324),
    "a huge and a tiny column": lambda X, rng: X * np.where(np.arange(X.shape[1]) % 2, 1e100, 1e-100),
    "two equal columns": lambda X, rng: X[:, [0, *range(X.shape[1] - 1)]],
    "all rows equal": lambda X, rng: np.repeat(X[:1], len(X), axis=0),
    "one row": lambda X, rng: X[:1],
    "two rows": lambda X, rng: X[:2],
    "no rows": lambda X, rng: X[:0],
    "no columns": lambda X, rng: X[:, :0],
    "one column": lambda X, rng: X[:, :1],
    "float32": lambda X, rng: X.astype(np.float32),
    "float32, 3e38": lambda X, rng: (_one(3e38)(X, rng)).astype(np.float32),
    "float16": lambda X, rng: X.astype(np.float16),
    "longdouble": lambda X, rng: X.astype(np.longdouble),
    "int64, huge": lambda X, rng: (X * 1e17).astype(np.int64),
    "uint8": lambda X, rng: np.abs(X).astype(np.uint8),
    "bool": lambda X, rng: X > 0,
    "complex": lambda X, rng: X + 1j,
    "text": lambda X, rng: X.astype(str),
    "objects": lambda X, rng: X.astype(object),
    "objects with None": lambda X, rng: np.where(X > 1, None, X.astype(object)),
    "dates": lambda X, rng: X.astype("datetime64[s]"),
    "three dimensions": lambda X, rng: X[None],
    "one dimension": lambda X, rng: X[0],
    "byte-swapped": lambda X, rng: X.astype(">f8"),
    "negative strides": lambda X, rng: X[::-1, ::-1],
    "read-only": lambda X, rng: _read_only(X),
    "masked": lambda X, rng: np.ma.masked_greater(X, 1),
}


def _read_only(X: Any) -> Any:
    X.flags.writeable = False
    return X


TARGETS: dict[str, Callable[[Any, Rng], Any]] = {
    "as it is": lambda y, rng: y,
    "constant": lambda y, rng: np.zeros(len(y), int),
    "all different": lambda y, rng: rng.permutation(len(y)),
    "denormals": lambda y, rng: (y > np.median(y)) * 5e-324,
    "huge": lambda y, rng: y * 1e300,
    "NaN": lambda y, rng: np.where(y > np.median(y), np.nan, y),
    "infinite": lambda y, rng: np.where(y > np.median(y), np.inf, y),
    "text": lambda y, rng: np.where(y > np.median(y), "yes", "no"),
    "objects": lambda y, rng: np.where(y > np.median(y), None, "no"),
    "bool": lambda y, rng: y > np.median(y),
    "dates": lambda y, rng: y.astype("datetime64[s]"),
    "too short": lambda y, rng: y[:-1],
    "two columns": lambda y, rng: np.c_[y, y],
    "a rare class": lambda y, rng: (np.arange(len(y)) == 3).astype(int),
    "None": lambda y, rng: None,
    "a list": lambda y, rng: y.tolist(),
    "categorical": lambda y, rng: pd.Series(pd.Categorical(y > np.median(y))),
}


def _frame(X: Any, sparse: bool) -> Any:  # noqa: FBT001
    if X.dtype.byteorder == ">":
        raise TypeError("pandas itself does not take columns out of such a frame")
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(np.shape(X)[1])])


def _twice_named(X: Any, sparse: bool) -> Any:  # noqa: FBT001
    return pd.DataFrame(X, columns=["f0"] * np.shape(X)[1])


CONTAINERS: dict[str, Callable[[Any, bool], Any]] = {
    "array": lambda X, sparse: X,
    "Fortran array": lambda X, sparse: np.asfortranarray(X),
    "list": lambda X, sparse: X.tolist(),
    "frame": _frame,
    "frame, names twice": _twice_named,
    "sparse frame": lambda X, sparse: _frame(X, sparse).astype(pd.SparseDtype(float, 0.0)),
    "csr": lambda X, sparse: sp.csr_array(X),
    "csc": lambda X, sparse: sp.csc_array(X),
    "coo": lambda X, sparse: sp.coo_array(X),
}
