"""Processor instructions that Numba has no name for.

The one file that other kernels import.  Their cached machine code does not notice a change here, so this
file never changes (a test pins it): another instruction goes into another file.
"""

from __future__ import annotations

from typing import Any

import numba as nb
from numba.core import cgutils, types
from numba.extending import intrinsic

if nb.config.DISABLE_JIT:

    def prefetch(array: Any, offset: Any) -> None:
        """Do nothing: there is no machine code to speed up."""

    def popcount(word: Any) -> int:
        """Number of bits that are set."""
        return int(word).bit_count()

else:
    from llvmlite import ir

    @intrinsic
    def prefetch(_typing: Any, array: Any, offset: Any) -> Any:
        """Fetch the cache line of ``array[offset]``, which will be written to soon."""

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

    @intrinsic
    def popcount(_typing: Any, _word: Any) -> Any:
        """Number of bits that are set, by the processor's own instruction."""
        return types.int64(types.uint64), lambda _context, builder, _signature, args: builder.ctpop(args[0])
