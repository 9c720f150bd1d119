"""Compiled loops: arrays and scalars in, arrays out.  The only folder that imports numba.

Every file stands alone.  Numba stamps the cache of a function with its own file only, so a helper that
changed elsewhere would go on running as old machine code after an upgrade; a test holds this rule, and pins
``intrinsics.py``, the one file that others import.

=================== ==========================================================================================
summaries of rows   moments_dense, moments_sparse, comoments, products, contingency, few_values, entries,
                    quantiles_dense, quantiles_query, quantiles_sparse, quantiles_weighted, sorted_columns
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

import os

from numba.core.compiler_lock import global_compiler_lock

if hasattr(os, "register_at_fork"):  # forked while another thread loads a kernel, a child would never go on
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )
