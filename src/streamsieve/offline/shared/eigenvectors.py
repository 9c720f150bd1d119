"""The leading eigenvectors of a large symmetric matrix, computed so that Ctrl-C is handled meanwhile."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg.cython_lapack

from streamsieve._threads import answering
from streamsieve.exceptions import InputError
from streamsieve.protocols import FloatArray, IntArray

#: Number of rows from which LAPACK takes tenths of a second.
LARGE = 300
#: Bounds of eigenvalues, which are selected by number; and LAPACK's own choice of the accuracy.
UNUSED, FULL_ACCURACY = ctypes.c_double(0.0), ctypes.c_double(0.0)


def leading(matrix: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """Return the k largest eigenvalues in increasing order, and their eigenvectors as columns.

    ``matrix`` is symmetric, contiguous by rows, and destroyed: one such matrix may be gigabytes.  SciPy's
    ``eigh`` computes the same, but holds the GIL until it is done.
    """
    if len(matrix) < LARGE:
        return _leading(matrix, k)
    return answering(lambda: _leading(matrix, k))


def _leading(matrix: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    routine, whole = _dsyevr()
    n = len(matrix)
    values, vectors, support = np.empty(n), np.empty((k, n)), np.empty(2 * k, whole)
    found, failed = whole(0), whole(0)

    def call(work: FloatArray, integers: IntArray, *, ask: bool) -> None:
        """Compute, or only query the required work space."""
        room, more = (-1, -1) if ask else (len(work), len(integers))
        routine(
            b"V", b"I", b"L", whole(n), matrix.ctypes, whole(n), UNUSED, UNUSED, whole(n - k + 1), whole(n),
            FULL_ACCURACY, found, values.ctypes, vectors.ctypes, whole(n), support.ctypes, work.ctypes,
            whole(room), integers.ctypes, whole(more), failed,
        )  # fmt: skip

    work, integers = np.empty(1), np.empty(1, whole)
    call(work, integers, ask=True)
    call(np.empty(int(work[0])), np.empty(int(integers[0]), whole), ask=False)
    if failed.value or found.value != k:
        raise InputError(
            f"the eigenvectors of the {n:,} x {n:,} similarities could not be computed (DSYEVR returned "
            f"{failed.value}): scale the features first, for example with StandardScaler"
        )
    return values[:k], vectors.T


@cache
def _dsyevr() -> tuple[Callable[..., None], Any]:
    """Return SciPy's DSYEVR, which releases the GIL if called by ctypes, and the type of its integers."""
    capsule = scipy.linalg.cython_lapack.__pyx_capi__["dsyevr"]
    name_of, address_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    address_of.restype, address_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name = name_of(capsule)
    whole, real = ctypes.POINTER(integers_of(name.decode())), ctypes.POINTER(ctypes.c_double)
    text, array = ctypes.c_char_p, ctypes.c_void_p
    arguments: list[Any] = [
        text, text, text, whole, array, whole, real, real, whole, whole, real, whole, array, array, whole,
        array, array, whole, array, whole, whole,
    ]  # fmt: skip
    return ctypes.CFUNCTYPE(None, *arguments)(address_of(capsule, name)), integers_of(name.decode())


def integers_of(signature: str) -> type[ctypes.c_int32 | ctypes.c_int64]:
    """Return the type of integers in the signature of a LAPACK routine, of which the fourth is one."""
    return ctypes.c_int32 if signature.split(",")[3].strip() == "int *" else ctypes.c_int64
