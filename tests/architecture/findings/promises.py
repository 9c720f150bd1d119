"""Errors in promises: p-values and false discovery rates that once did not hold, each with its tests.

The tests compare with the way that failed, where it is still offered (`p_value="z"`, "t" or "chi2"; rows not
declared), or state in their text what it did.
"""

ERRORS = {
    "E1 Fisher's z is liberal in the tail, where online procedures work": """
        columns/test_p_values.py::test_an_online_procedure_over_few_rows_keeps_null_columns_as_seldom_as_promised
        independence/test_fisher_z.py::test_fishers_z_is_liberal_in_the_tail_and_t_is_not""",
    "E2 a perfect correlation had p = 0 over any number of rows": """
        independence/test_confirmation.py::test_a_copy_of_few_labels_is_judged_by_its_exact_p_value
        independence/test_confirmation.py::test_a_perfect_correlation_of_few_rows_is_one_arrangement_out_of_all
        independence/test_table_p_values.py::test_a_column_equal_to_eight_labels_is_no_certainty""",
    "E3 G2 is liberal in flat sparse tables and given strata": """
        independence/test_table_p_values.py::test_sparse_tables_hold_their_level
        independence/test_table_p_values.py::test_tests_given_strata_hold_their_level""",
    "E4 X2 is liberal in skewed tables": """
        independence/test_table_p_values.py::test_sparse_tables_hold_their_level
        independence/test_table_p_values.py::test_confirmed_p_values_hold_every_level""",
    "E5 InteractionScan kept noise more often than alpha": """
        columns/test_interaction_scan.py::test_noise_of_many_levels_is_kept_in_no_more_streams_than_the_level_says
        columns/test_interaction_scan.py::test_rare_levels_do_not_make_pairs_of_noise""",
    "E6 conditioning sets with missing values: a pairwise matrix instead of test-wise deletion": """
        columns/test_missing.py::test_tests_given_two_columns_keep_their_level_whatever_one_variable_hides
        columns/test_missing.py::test_a_separating_set_has_the_p_value_of_a_regression_over_complete_rows""",
    "E7 LOND with max(1, discoveries) instead of discoveries + 1": """
        columns/test_online_fdr.py::test_lond_has_one_more_than_its_discoveries
        kernels/test_online_fdr.py::test_slow_weights_of_a_stream_without_end_add_up_to_one""",
    "E8 dependent rows: every rate was wrong, and no page said that rows must be independent": """
        columns/test_dependent_rows.py::test_the_false_discovery_rate_holds_over_autocorrelated_rows
        columns/test_dependent_rows.py::test_the_false_discovery_rate_holds_over_groups
        columns/test_dependent_rows.py::test_an_autocorrelated_target_warns_once_and_names_the_parameter
        architecture/test_findings.py::test_what_has_a_level_says_that_rows_must_be_independent""",
    "E9 heavy tails on both sides, or a rare class and a skewed column": """
        independence/test_confirmation.py::test_the_probability_of_a_small_p_value_is_at_most_the_level
        independence/test_confirmation.py::test_online_fdr_keeps_no_more_null_columns_than_promised_of_skewed_data
        columns/test_p_values.py::test_coefficients_hold_their_level_where_the_model_leaves_heavy_tails""",
}

#: Oracles that are not ours, and the tests that compare with them.
ORACLES = {
    "scipy.stats.pearsonr": """
        independence/test_fisher_z.py::test_correlations_and_p_values_are_those_of_scipy""",
    "scipy.stats.fisher_exact": """
        independence/test_confirmation.py::test_fishers_exact_p_values_are_those_of_scipy""",
    "scipy.stats.chi2_contingency": """
        independence/test_g_squared.py::test_statistic_and_freedom_are_those_of_scipy""",
    "scipy.stats.permutation_test": """
        independence/test_table_p_values.py::test_mean_and_variance_are_those_of_scipy
        independence/test_permuted_targets.py::test_listed_orders_give_the_p_value_of_scipys_permutation_test""",
    "statsmodels, clusters": """
        independence/test_dependent_rows.py::test_cluster_sums_equal_those_of_statsmodels""",
    "statsmodels, HAC": """
        independence/test_dependent_rows.py::test_long_series_agree_with_hac_of_statsmodels""",
    "online-fdr": """
        columns/test_online_fdr.py::test_decisions_are_those_of_the_package_online_fdr""",
    "onlineFDR (R), printed vectors": """
        columns/test_online_fdr.py::test_levels_and_decisions_are_the_published_ones""",
}
