"""Compiled loops: arrays and scalars in, arrays out.  The only folder that imports numba.

Every file stands alone.  Numba stamps the cache of a function with its own file only, so a helper that
changed elsewhere would go on running as old machine code after an upgrade; a test holds this rule, and pins
``intrinsics.py``, the one file that others import.

=================== ==========================================================================================
summaries of rows   moments_dense, moments_sparse, comoments, products, contingency, few_values, entries,
                    quantiles_compact, quantiles_dense, quantiles_query, quantiles_sparse, quantiles_weighted,
                    sorted_columns
linear models, rows ofs, sofs, winnow, barda, fires, sketch, fsa, annealing, coordinate_descent, poisson
relevance           column_products, student_t, confirmation, permuted_targets, arrangements, rank_basis,
                    lagged_products, table_tests, exact_tables, column_levels, neighbors, online_fdr
redundancy          dominance, discrete, partial, tables_search, top_k, paired, paired_columns,
                    paired_partial, mixed_pairs, mixed_sets, ossfs_dd, interaction_scan
groups, models      groups, ogfs, dofs, linear, logistic, grafting, grafting_columns, substitution,
                    birth_death
offline             relief, stumps
border, compiling   sparse_indices looks at indices before anything follows them; compiling says what it costs
=================== ==========================================================================================
"""

import itertools
import os

from numba.core.bytecode import FunctionIdentity
from numba.core.compiler_lock import global_compiler_lock


def _number_from_anywhere() -> None:
    """Let the numbers by which Numba distinguishes functions begin at random, not at 1.

    Machine code of one name is linked once per process.  The names of inner functions, such as those that
    sort and find the order of an array, end with these numbers, so that kernels in the cache that two
    processes have compiled could call one another's, with arrays of other lengths and types.
    """
    FunctionIdentity._unique_ids = itertools.count(int.from_bytes(os.urandom(7)))  # noqa: SLF001


def _in_child() -> None:
    global_compiler_lock.release()
    _number_from_anywhere()


_number_from_anywhere()
if hasattr(os, "register_at_fork"):  # forked while another thread loads a kernel, a child would never go on
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=_in_child,
    )
