"""Defects that judges from outside found (networks, published benchmarks, peers' tests), each with its tests.

A defect of cost has tests of what is computed, because times are no tests: benchmarks measure them
(`many_classes`, `rows`, and part 5 of `benchmarks.streaming_fs`).
"""

DEFECTS = {
    "D1 a nominal column of 33 levels was cut into five bins": """
        columns/test_column_types.py::test_a_hub_of_names_is_found_whatever_the_number_of_its_levels
        columns/test_column_types.py::test_the_rarest_of_too_many_levels_are_pooled_with_a_warning
        columns/test_types_elsewhere.py::test_a_declared_hub_keeps_its_levels
        test_column_types.py::test_a_ledger_knows_the_types_of_its_columns""",
    "D2 the default test correlated integer codes": """
        columns/test_column_types.py::test_few_levels_alone_are_compared_by_tables_bit_for_bit
        columns/test_column_types.py::test_a_nominal_column_after_a_thousand_numeric_ones""",
    "D3 a Markov blanket had no spouses": """
        columns/test_spouses.py::test_a_spouse_is_found_before_and_after_its_child
        columns/test_spouses.py::test_spouses_of_levels_equal_the_twin_in_any_blocks""",
    "D4 a scan of pairs missed symmetric shapes and distant partners": """
        columns/test_interaction_scan.py::test_a_ring_and_an_exclusive_or_of_numbers_are_found_by_default
        columns/test_interaction_scan.py::test_bins_are_as_many_as_leave_five_rows_to_a_cell
        columns/test_interaction_scan.py::test_partners_at_the_ends_of_a_wide_table_meet_by_default
        columns/test_interaction_scan.py::test_an_automatic_pool_is_bounded_by_memory_and_says_when_it_is_full""",
    "D5 a monitor of drift missed the replacement of all relevant features": """
        rows/test_change_points.py::test_the_default_monitor_notices_a_swap
        rows/test_change_points.py::test_false_alarms_are_at_most_one_in_100000_rows
        rows/test_change_points.py::test_a_stationary_stream_has_no_alarm""",
    "D6 every row computed all scores again": """
        base/test_transform_one.py::test_scores_are_computed_at_reviews_only
        base/test_transform_one.py::test_a_frozen_output_computes_scores_once""",
    "D7 Grafting kept nothing of weak columns": """
        columns/test_sizes.py::test_grafting_keeps_something_of_weak_columns_by_default
        columns/test_sizes.py::test_the_automatic_penalty_lets_about_one_of_a_thousand_columns_of_noise_join""",
    "D8 an empty selection was silent": """
        columns/test_sizes.py::test_an_empty_selection_warns_with_the_reason
        columns/test_sizes.py::test_an_empty_selection_warns_before_the_learner_of_a_pipeline_fails""",
    "D9 partial_fit refused classes": """
        base/test_rows.py::test_every_row_selector_takes_classes
        base/test_rows.py::test_partial_fit_takes_the_classes_that_incremental_estimators_take""",
    "D10 constant columns were selected": """
        rows/test_constant_columns.py::test_a_constant_column_is_not_selected
        rows/test_constant_columns.py::test_a_column_that_varies_later_is_a_feature_again""",
    "D11 a perfect correlation was below 1": """
        columns/test_sizes.py::test_a_perfect_correlation_scores_one""",
    "D12 many classes: hundreds of columns kept, sets of three tried among them, and no hint": """
        columns/test_many_kept.py::test_smaller_sets_are_announced_once_and_all_sets_can_be_asked_for
        columns/test_many_kept.py::test_tables_with_too_few_rows_are_named_as_the_reason_why_columns_stay
        columns/test_many_kept.py::test_tables_with_many_kept_equal_the_twin""",
    "D13 asking a fading screen over bins was slow: scores are computed at reviews, not at every row": """
        base/test_transform_one.py::test_the_output_of_a_row_is_that_of_the_latest_review
        base/test_transform_one.py::test_scores_are_computed_at_reviews_only""",
    "D14 an empty text was no name for a column": """
        columns/test_sizes.py::test_an_empty_text_is_a_name_on_both_axes""",
}
