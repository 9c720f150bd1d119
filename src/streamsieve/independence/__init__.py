"""Tests of independence between columns, and levels at which to test them.

======================= ====================================================================================
fisher_z                correlations: t, F, Fisher's z; ``complete_pairs`` with missing values;
                        ``correlation_p_values`` has their distribution under independence,
                        ``confirmation`` and ``discreteness`` say where these p-values can be trusted,
                        ``permuted_targets`` has permutation p-values for where they cannot,
                        ``rough_p_values`` says which of them need not be computed
g_squared, chi_square   contingency tables; ``contingency_test`` is their base class, ``column_pieces`` its
                        input, ``table_p_values`` its p-values, ``joint_tables`` given any number of columns
rank_basis              curves: the joint F test of a basis of ranks; ``arrangements`` confirms it
degenerate_gaussian     columns of two types; ``by_type`` and ``conditional_by_type`` choose among the above
information_test        mutual information of discretized columns
incremental_association the search of IAMB
any_test, contract      a test of your own; ``p_values`` lists the ways to compute one
dependent_rows/         the same tests over time series and repeated rows
online_fdr              multiple testing: the level at which to test the next column
======================= ====================================================================================
"""

from streamsieve.independence.chi_square import ChiSquareTest as ChiSquareTest
from streamsieve.independence.fisher_z import FisherZ as FisherZ
from streamsieve.independence.g_squared import GSquared as GSquared

__all__ = ["ChiSquareTest", "FisherZ", "GSquared"]
