"""Welford over the non-zeros of CSR rows: one cache line a non-zero, zeros for free.

``table[feature, class]`` holds [weight, mean, m2] of the values that are stored, and the weight of the
missing ones.  The zeros are never touched: their weight is what is left of the class's total, and they
are merged in when somebody asks.  A feature's cell is fetched 32 non-zeros ahead, because with millions
of features nearly every access is a cache miss.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt
from numba.core import cgutils, types
from numba.extending import intrinsic

from streamsieve.protocols import FloatArray, IntArray

if nb.config.DISABLE_JIT:

    def _prefetch(array: Any, offset: Any) -> None:
        """Do nothing: there is no machine code to speed up."""

else:
    from llvmlite import ir

    @intrinsic
    def _prefetch(_typing: Any, array: Any, offset: Any) -> Any:
        """Ask for ``array[offset]``'s cache line, to be written to soon."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            view = context.make_array(signature.args[0])(context, builder, args[0])
            address = builder.gep(view.data, [args[1]])
            byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            for_writing, keep, data = ir.Constant(word, 1), ir.Constant(word, 3), ir.Constant(word, 1)
            builder.call(function, [builder.bitcast(address, byte), for_writing, keep, data])
            return context.get_dummy_value()

        return types.void(array, offset), generate


@nb.njit(nogil=True, cache=True)
def update(
    indptr: IntArray, indices: npt.NDArray[np.int32], data: FloatArray, codes: IntArray,
    w: FloatArray, weighted: bool, table: FloatArray,
) -> None:  # fmt: skip
    """Take CSR rows into the table; ``codes`` are the rows' classes."""
    classes = table.shape[1]
    flat = table.reshape(table.size)
    last = len(indices) - 1
    wi = 1.0
    for i in range(len(indptr) - 1):
        c = codes[i]
        if weighted:
            wi = w[i]
            if wi == 0.0:
                continue
        for e in range(indptr[i], indptr[i + 1]):
            _prefetch(flat, (np.intp(indices[min(e + 32, last)]) * classes + c) * 4)
            cell = table[indices[e], c]
            x = np.float64(data[e])
            if np.isnan(x):
                cell[3] += wi
            else:
                n = cell[0] + wi
                d = x - cell[1]
                mean = cell[1] + d * (wi / n)
                cell[0] = n
                cell[1] = mean
                cell[2] += wi * d * (x - mean)
