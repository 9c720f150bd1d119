"""A fuzzer for states: damage the arrays of a legal state, keep the checksum right, and see what happens.

A damaged state must be refused with ``StateError``, or be a legal state of something else; in that case the
object must go on working.  Anything else (another exception, a signal, memory out of proportion) is a bug of
a declaration.  The mutations know nothing about any class: they follow from what a state is, arrays by name.

Run it with ``NUMBA_BOUNDSCHECK=1``, so that an access out of bounds raises instead of corrupting memory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from streamsieve.exceptions import StateError, StreamSieveError
from streamsieve.protocols import Arrays

#: Numbers that are legal somewhere and absurd elsewhere.
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 7.0, 1e-320, 1e300, -1e300, np.nan, np.inf, -np.inf)
INTS = (0, 1, -1, 2, 7, 63, 64, 65, 1023, 2**16, 2**31 - 1, 2**31, 2**62, -(2**63), 2**63 - 1)
DTYPES = ("f4", "f8", "i2", "i4", "i8", "u1", "u2", "u8", "?", "f2")
#: Sizes that an empty array can claim at no cost.
HUGE = (2**16 + 1, 2**24, 2**31, 2**40)

Mutation = Callable[[Arrays, str, np.random.Generator], Arrays]


class Finding(NamedTuple):
    """A damaged state that was neither refused nor harmless."""

    subject: str
    mutation: str
    array: str
    error: BaseException


def value(state: Arrays, name: str, rng: np.random.Generator) -> Arrays:
    """Write a few absurd values into an array."""
    a = state[name].copy()
    for _ in range(rng.integers(1, 4) if a.size else 0):
        choices = FLOATS if a.dtype.kind == "f" else (0, 1) if a.dtype.kind == "b" else INTS
        with np.errstate(all="ignore"):
            a.reshape(-1)[rng.integers(a.size)] = np.array(choices[rng.integers(len(choices))]).astype(
                a.dtype
            )
    return {**state, name: a}


def nearby(state: Arrays, name: str, rng: np.random.Generator) -> Arrays:
    """Change one value a little: by one, in sign, or to the value beside it."""
    a = state[name].copy()
    if a.size and a.dtype.kind != "b":
        flat = a.reshape(-1)
        i = rng.integers(a.size)
        with np.errstate(all="ignore"):
            flat[i] = (
                flat[i] + flat.dtype.type(1),
                -flat[i] if a.dtype.kind in "fi" else flat[i],
                flat[i - 1],
            )[rng.integers(3)]
    return {**state, name: a}


def dtype(state: Arrays, name: str, rng: np.random.Generator) -> Arrays:
    """Give an array another type."""
    with np.errstate(all="ignore"):
        return {**state, name: state[name].astype(DTYPES[rng.integers(len(DTYPES))])}


def length(state: Arrays, name: str, rng: np.random.Generator) -> Arrays:
    """Make an array longer or shorter along one axis."""
    a = state[name]
    if a.ndim == 0:
        return {**state, name: np.repeat(a, rng.integers(0, 3))}
    axis = int(rng.integers(a.ndim))
    size = min(a.shape[axis], 10_000)  # an empty array may claim more than there is memory
    if not a.size:
        return {
            **state,
            name: np.zeros([2 if i == axis else min(n, 3) for i, n in enumerate(a.shape)], a.dtype),
        }
    keep = np.sort(rng.integers(0, size, rng.integers(0, size + 3)))
    return {**state, name: np.take(a, keep, axis)}


def claim(state: Arrays, name: str, rng: np.random.Generator) -> Arrays:
    """Let an array without values claim a huge size, and every other array of that size likewise."""
    a = state[name]
    if a.ndim == 0 or not a.size:
        return {**state, name: np.empty((0, *a.shape[1:], HUGE[rng.integers(2)])[: max(a.ndim, 1)], a.dtype)}
    size, huge = a.shape[int(rng.integers(a.ndim))], HUGE[rng.integers(len(HUGE))]
    out = dict(state)
    for other, b in state.items():
        if size in b.shape and (b.ndim > 1 or rng.random() < 0.5):
            shape = [huge if n == size else n for n in b.shape]
            shape[next((i for i, n in enumerate(shape) if n != huge), 0)] = 0
            with contextlib.suppress(ValueError):  # NumPy refuses the product of too large sizes
                out[other] = np.empty(shape, b.dtype)
    return out


def together(state: Arrays, name: str, rng: np.random.Generator) -> Arrays:
    """Change one size in all arrays that have it, so that shapes still fit together."""
    a = state[name]
    if a.ndim == 0 or not a.size:
        return drop(state, name, rng)
    size = a.shape[int(rng.integers(a.ndim))]
    keep = np.sort(rng.integers(0, size, max(0, size + int(rng.integers(-2, 3)))))
    out = {}
    for other, b in state.items():
        for axis in range(b.ndim):
            if b.size and b.shape[axis] == size:
                b = np.take(b, keep, axis)  # noqa: PLW2901
        out[other] = b
    return out


def drop(state: Arrays, name: str, rng: np.random.Generator) -> Arrays:  # noqa: ARG001
    """Leave an array out."""
    return {key: a for key, a in state.items() if key != name}


def add(state: Arrays, name: str, rng: np.random.Generator) -> Arrays:
    """Add an undeclared array, or one inside of another."""
    extra = (f"{name}_", f"{name}/more", name.rpartition("/")[0] + "/$kind", "evil_")[rng.integers(4)]
    return {**state, extra: state[name]}


def swap(state: Arrays, name: str, rng: np.random.Generator) -> Arrays:
    """Exchange two arrays."""
    other = list(state)[rng.integers(len(state))]
    return {**state, name: state[other], other: state[name]}


def shuffle(state: Arrays, name: str, rng: np.random.Generator) -> Arrays:
    """Put the values of an array into another order."""
    a = state[name].copy()
    rng.shuffle(a.reshape(-1))
    return {**state, name: a}


def shape(state: Arrays, name: str, rng: np.random.Generator) -> Arrays:
    """Turn or flatten an array, or put it on its own axis."""
    a = state[name]
    return {**state, name: (np.ascontiguousarray(a.T), a.reshape(-1), a[None])[rng.integers(3)]}


MUTATIONS: tuple[Mutation, ...] = (
    value, value, value, nearby, nearby, dtype, length, length, claim, claim, together, drop, add, swap,
    shuffle, shape,
)  # fmt: skip


def mutants(state: Arrays, n: int, rng: np.random.Generator) -> Iterator[tuple[str, str, Arrays]]:
    """Yield n damaged states, each with the mutation and the array it began with; some are damaged twice.

    Names are drawn in sorted order: a file may list its arrays in any, and a seed must find its case again.
    """
    for _ in range(n):
        out, what = dict(sorted(state.items())), []
        for _ in range(1 + int(rng.random() < 0.2)):
            name = list(out)[rng.integers(len(out))]
            mutation = MUTATIONS[rng.integers(len(MUTATIONS))]
            out = mutation(out, name, rng)
            what.append((mutation.__name__, name))
        yield "+".join(m for m, _ in what), "+".join(a for _, a in what), out


def fuzz(
    subject: str,
    state: Mapping[str, npt.NDArray[Any]],
    load: Callable[[Arrays], Any],
    use: Callable[[Any], None],
    n: int,
    rng: np.random.Generator,
) -> tuple[int, int, list[Finding]]:
    """Damage a state n times; return how many were refused, how many loaded and worked, and the findings.

    Parameters
    ----------
    subject : what the state is of, for the findings
    state : a legal state
    load : rebuilds the object, such as ``Moments.from_state``
    use : makes the object work: scores, more rows, a merge, another round trip
    n : number of mutants
    """
    refused = accepted = 0
    findings: list[Finding] = []
    for mutation, array, damaged in mutants(dict(state), n, rng):
        try:
            made = load(damaged)
        except StateError:
            refused += 1
            continue
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is a finding
            findings.append(Finding(subject, f"load: {mutation}", array, error))
            continue
        try:
            with np.errstate(all="ignore"):
                use(made)
            accepted += 1
        except StreamSieveError:
            accepted += 1  # a legal state of something else may refuse these rows
        except BaseException as error:  # noqa: BLE001
            findings.append(Finding(subject, f"use: {mutation}", array, error))
    return refused, accepted, findings
