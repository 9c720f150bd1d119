"""Broken CSR and CSC matrices at every door of every selector and learner: refused, never read."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from campaigns.outcome import Outcome
from campaigns.subjects import data_for, doors, fit_all, name_of, prepared, subjects, takes_sparse
from streamsieve.exceptions import StreamSieveError

GOAL = "0 signals, 0 hangs, 0 accepted; every refusal names the position"
Matrix = Any
Rng = np.random.Generator


class Case(NamedTuple):
    """A matrix broken in one way, at one door."""

    subject: int
    door: int
    container: str
    fault: str
    seed: int

    def __str__(self) -> str:
        subject = subjects()[self.subject]
        door = doors(subject)[self.door].name
        return f"{name_of(subject)}.{door}, {self.container}, {self.fault}, {self.seed}"


def cases(rng: Rng) -> Iterator[Case]:
    """Yield every object, door, container and fault, in random order, again and again."""
    places = [
        (i, j)
        for i, subject in enumerate(subjects())
        if takes_sparse(subject)
        for j in range(len(doors(subject)))
    ]
    while True:
        for at in rng.permutation(len(places)):
            subject, door = places[at]
            yield Case(
                subject,
                door,
                str(rng.choice([*CONTAINERS])),
                str(rng.choice([*FAULTS])),
                int(rng.integers(2**32)),
            )


def prepare() -> None:
    """Load kernels before the first case: a case has a time limit, a compiler has not."""
    fit_all()


def attempt(case: Case) -> Outcome:
    """Hand a broken matrix in; a legal one must give what its clean form gives."""
    subject = subjects()[case.subject]
    door = doors(subject)[case.door]
    rng = np.random.default_rng(case.seed)
    X, y, _ = data_for(subject)
    matrix = broken(CONTAINERS[case.container](X), case.fault, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            answer = door.enter(prepared(case.subject, door), matrix, y)
        except StreamSieveError as error:
            if case.fault in LEGAL:
                return Outcome("lost", f"a legal matrix was refused: {error}")
            clear = re.search(r"\d", str(error)) is not None
            return Outcome("refused" if clear else "unclear", str(error)[:300])
        if case.fault not in LEGAL:
            return Outcome("accepted")
        clean = door.enter(prepared(case.subject, door), CONTAINERS[case.container](X), y)
    if hasattr(clean, "get_support") and not np.array_equal(clean.get_support(), answer.get_support()):
        return Outcome("lost", "the selection is not that of the sorted matrix")
    return Outcome("held")


CONTAINERS: dict[str, Callable[[Any], Matrix]] = {
    "csr_array": sp.csr_array,
    "csc_array": sp.csc_array,
    "csr_matrix": sp.csr_matrix,
    "csc_matrix": sp.csc_matrix,
}


def broken(matrix: Matrix, fault: str, rng: Rng) -> Matrix:
    """Break a matrix in place, past the checks of SciPy's constructors."""
    FAULTS[fault](matrix, rng)
    return matrix


def _index(value: Callable[[int], int], dtype: type) -> Callable[[Matrix, Rng], None]:
    """Return a fault that puts one index somewhere else; ``value`` gets the number of columns or rows."""

    def fault(matrix: Matrix, rng: Rng) -> None:
        indices = matrix.indices.astype(dtype)
        indices[rng.integers(len(indices))] = value(matrix.shape[1 if matrix.format == "csr" else 0])
        matrix.indices = indices

    return fault


def _one_based(matrix: Matrix, rng: Rng) -> None:
    matrix.indices = matrix.indices + 1


def _pointer(change: Callable[[Any, Rng, int], Any]) -> Callable[[Matrix, Rng], None]:
    def fault(matrix: Matrix, rng: Rng) -> None:
        matrix.indptr = change(matrix.indptr.copy(), rng, len(matrix.data))

    return fault


def _set(pointers: Any, at: int, value: int) -> Any:
    pointers[at] = value
    return pointers


def _swapped(pointers: Any, rng: Rng, nnz: int) -> Any:
    at = rng.integers(1, len(pointers) - 2)
    pointers[at] = pointers[at + 1] + 1
    return pointers


def _fewer_values(matrix: Matrix, rng: Rng) -> None:
    matrix.data = matrix.data[:-3]


def _fewer_indices(matrix: Matrix, rng: Rng) -> None:
    matrix.indices = matrix.indices[:-3]


def _wider(matrix: Matrix, rng: Rng) -> None:
    matrix._shape = (matrix.shape[0] + 5, matrix.shape[1] + 5)


def _unsorted(matrix: Matrix, rng: Rng) -> None:
    """Legal: the entries of a row in another order, under flags that say otherwise."""
    for low, high in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        order = low + rng.permutation(high - low)
        matrix.indices[low:high], matrix.data[low:high] = matrix.indices[order], matrix.data[order]
    matrix.has_sorted_indices = matrix.has_canonical_format = True


def _long_indices(matrix: Matrix, rng: Rng) -> None:
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)


FAULTS: dict[str, Callable[[Matrix, Rng], None]] = {
    "index one past the end": _index(lambda n: n, np.int32),
    "index far past the end": _index(lambda n: n + 10**6, np.int32),
    "negative index": _index(lambda n: -1, np.int32),
    "very negative index": _index(lambda n: -(2**31), np.int32),
    "index 2^32 + 3": _index(lambda n: 2**32 + 3, np.int64),
    "index 2^40": _index(lambda n: 2**40, np.int64),
    "one-based indices": _one_based,
    "pointer beyond the values": _pointer(lambda p, rng, nnz: _set(p, -1, nnz + 7)),
    "pointer far beyond the values": _pointer(lambda p, rng, nnz: _set(p, -1, 2**30)),
    "first pointer not 0": _pointer(lambda p, rng, nnz: _set(p, 0, 2)),
    "negative pointer": _pointer(lambda p, rng, nnz: _set(p, int(rng.integers(1, len(p) - 1)), -5)),
    "pointers that fall": _pointer(_swapped),
    "too few pointers": _pointer(lambda p, rng, nnz: p[:-2]),
    "too many pointers": _pointer(lambda p, rng, nnz: np.concatenate([p, p[-1:], p[-1:]])),
    "fewer values than indices": _fewer_values,
    "fewer indices than values": _fewer_indices,
    "a larger shape": _wider,
    "unsorted under a false flag": _unsorted,
    "64-bit indices": _long_indices,
}
#: Faults that are none.
LEGAL = frozenset({"unsorted under a false flag", "64-bit indices"})
