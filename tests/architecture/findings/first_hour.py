"""First-hour defects: what newcomers stumbled over, each with the tests that fail if it comes back.

A: wrong or misleading results.  B: errors that point the wrong way.  C: confusing output.
D: pictures and the report.  E: packaging.  M: what was missing.
An id in brackets is a file of the corpus of messy files.
"""

DEFECTS = {
    "A1 whole-number targets were taken for classes": """
        test_targets.py::test_many_whole_numbers_are_numeric_and_it_is_said
        test_targets.py::test_every_axis_follows_the_rule
        cli/test_answers.py::test_a_target_is_said_to_be_what_the_method_took_it_for
        cli/test_first_hour.py::test_an_ambiguous_target_is_called_by_its_name""",
    "A2 the README's rows example did not do what its comments said": """
        docs/test_readme.py::test_examples_print_what_their_comments_claim
        cli/test_first_hour.py::test_a_ledger_of_the_end_only_is_said_to_be_one
        cli/test_first_hour.py::test_a_ranking_needs_no_guess_about_the_order""",
    "A3 the README's examples needed packages that it does not install": """
        docs/test_readme.py::test_the_installation_of_the_readme_lacks_what_its_examples_do_without
        docs/test_readme.py::test_examples_print_what_their_comments_claim""",
    "A4 the default method was the one the report put last": """
        test_choosing.py::test_the_table
        cli/test_cli.py::test_select_names_its_default_method""",
    "A5 a verdict contradicted its table": """
        evaluation/test_recommendation.py::test_one_feature_is_no_contradiction""",
    "A6 three folds were said to show no difference": """
        evaluation/test_recommendation.py::test_three_folds_are_too_few_to_tell""",
    "B1 missing labels were called a mix of types": """
        test_targets.py::test_missing_labels_are_counted_and_placed""",
    "B2 compressed and other files got advice that made it worse": """
        cli/test_messy.py[gzip.csv.gz]
        cli/test_messy.py[gzip_renamed.csv]
        cli/test_messy.py[nameless.gz]
        cli/test_messy.py[sheet.xlsx]
        cli/test_messy.py[lines.jsonl]
        cli/test_messy.py[comma.txt]""",
    "B3 semicolons and decimal commas were not read": """
        cli/test_messy.py[semicolon.csv]
        cli/test_messy.py[decimal_comma.csv]
        cli/test_messy.py[space.txt]""",
    "B4 an error named a temporary file": """
        cli/test_first_hour.py::test_an_error_names_the_file_of_the_user""",
    "B5 missing and infinite values: no way out was named": """
        cli/test_messy.py[missing.csv]
        cli/test_messy.py[missing_imputed.csv]
        cli/test_messy.py[missing_excluded.csv]
        cli/test_messy.py[missing_text_and_numbers.csv]
        test_selecting.py::test_missing_values_beside_text_get_advice_that_works
        cli/test_first_hour.py::test_types_and_rows_that_miss_values_exclude_each_other
        cli/test_compare.py::test_missing_values_name_options_that_help
        cli/test_first_hour.py::test_an_infinity_names_options_that_help
        cli/test_first_hour.py::test_an_infinity_in_a_comparison_names_its_file
        cli/test_first_hour.py::test_missing_values_are_not_skipped_in_silence""",
    "B6 errors forgot the names of the frame": """
        test_targets.py::test_errors_have_the_names_of_the_frame""",
    "B7 lengths were compared after labels": """
        test_targets.py::test_lengths_are_compared_before_labels""",
    "B8 no columns: NumPy's words": """
        test_targets.py::test_no_columns_are_called_so""",
    "B9 an Arrow array as target": """
        test_targets.py::test_targets_of_arrow_are_taken""",
    "B10 dates were called text": """
        test_targets.py::test_dates_are_not_called_text
        sources/test_dates.py::test_dates_in_text_are_left_out_or_refused_as_other_dates_are""",
    "B11 options were checked after the work": """
        cli/test_answers.py::test_options_are_checked_before_any_work
        cli/test_compare.py::test_options_are_checked_before_the_data_is_read""",
    "B12 --resume was offered where it would be refused": """
        cli/test_compare.py::test_a_folder_of_another_comparison_is_refused
        cli/test_compare.py::test_another_comparison_replaces_one_if_asked""",
    "B13 why() did not know the nearest name": """
        base/test_showing.py::test_questions_about_unknown_features_are_answered""",
    "B14 small errors: names twice, grammar, a missing package, a table as a state, plurals": """
        cli/test_first_hour.py::test_a_name_that_two_columns_have_is_named
        cli/test_first_hour.py::test_columns_of_text_are_all_named_in_good_grammar
        cli/test_messy.py[several_bad_columns.csv]
        cli/test_messy.py[bad_columns_and_text.csv]
        base/test_showing.py::test_a_missing_library_is_named
        cli/test_answers.py::test_a_table_is_no_saved_selector
        cli/test_first_hour.py::test_nothing_kept_is_answered_without_the_parameters_that_a_method_lacks
        cli/test_first_hour.py::test_one_column_is_called_one""",
    "C1 kept meant two things": """
        cli/test_cli.py::test_counts_are_those_of_the_end
        test_ledger.py::test_a_block_counts_what_stays_and_what_leaves
        test_ledger.py::test_counts_add_up_by_event_and_reason""",
    "C2 the statistic had no name, p-values underflowed": """
        cli/test_types.py::test_effects_have_the_name_of_what_they_are
        cli/test_answers.py::test_p_values_do_not_underflow_and_signs_name_their_class""",
    "C3 three orders of kept features": """
        cli/test_first_hour.py::test_kept_features_are_in_the_order_of_their_strength
        base/test_showing.py::test_a_ranking_is_the_selection_best_first""",
    "C4 columns were left out without a word": """
        cli/test_answers.py::test_the_top_of_the_output_says_what_was_taken
        cli/test_messy.py[index.csv]
        cli/test_messy.py[names.csv]""",
    "C5 compiling was counted as work": """
        cli/test_first_hour.py::test_compiling_is_counted_apart_and_one_is_not_plural
        cli/test_cli.py::test_times_of_the_demo_leave_out_compiling""",
    "C6 methods did not fit the terminal, and a third were refused": """
        cli/test_answers.py::test_methods_fit_the_terminal_and_can_be_filtered
        cli/test_answers.py::test_select_runs_every_method
        cli/test_answers.py::test_a_method_explains_itself
        cli/test_answers.py::test_errors_about_parameters_list_them
        cli/test_first_hour.py::test_an_option_that_is_a_parameter_names_the_way""",
    "C7 help was cut": """
        cli/test_answers.py::test_help_fits_80_columns_with_examples
        cli/test_first_hour.py::test_long_names_are_folded_and_not_cut
        cli/test_first_hour.py::test_a_terminal_wraps_between_words_and_code_stays_whole""",
    "C8 a mistyped name took seconds": """
        cli/test_answers.py::test_what_is_mistyped_imports_nothing_heavy""",
    "C9 the demo did not say what its data are": """
        cli/test_cli.py::test_the_demo_writes_a_picture_and_a_ledger
        cli/test_cli.py::test_the_demo_says_how_it_was_called""",
    "C10 rows were not counted": """
        cli/test_answers.py::test_rows_are_counted_as_rows
        cli/test_run.py::test_resuming_shows_the_rows_that_were_done_before""",
    "C11 nothing kept in a pipeline: no warning": """
        cli/test_first_hour.py::test_nothing_kept_in_a_pipeline_is_warned_of""",
    "C12 names were hidden, and objects had no text": """
        test_selecting.py::test_everything_public_is_listed
        test_selecting.py::test_sources_say_what_they_are
        base/test_showing.py::test_ledgers_become_frames_of_every_library
        evaluation/test_recommendation.py::test_in_a_notebook_it_is_short_and_escaped""",
    "C13 a page referred to a table that is elsewhere": """
        docs/test_readme.py::test_links_lead_somewhere
        architecture/test_findings.py::test_no_page_looks_for_the_table_of_methods_in_the_readme""",
    "D1 the report": """
        evaluation/test_html.py::test_significance_is_no_fainter_and_the_dots_have_a_scale
        evaluation/test_html.py::test_no_hole_between_cards_and_a_mark_where_a_table_goes_on
        evaluation/test_html.py::test_the_ledgers_reasons_are_there
        evaluation/test_code.py::test_the_code_is_the_combination
        evaluation/test_recommendation.py::test_no_significant_difference_is_said_and_the_smallest_is_recommended""",
    "D2 the picture of drift": """
        evaluation/test_plots.py::test_drift_draws_one_panel_a_screen""",
    "D3 the picture of scores": """
        evaluation/test_plots.py::test_small_scores_are_drawn_apart_and_curves_named_at_their_ends
        cli/test_plot.py::test_scores_of_a_file""",
    "D4 the picture of arrival": """
        studies/test_column_studies.py::test_the_line_of_all_columns_is_explained""",
    "D5 the pictures of growth": """
        benchmarks/test_benchmarks.py::test_pictures_of_growth_say_what_is_held_fixed""",
    "D6 the picture of craters": """
        examples/test_craters.py::test_marks_differ_by_more_than_red_and_green_and_cover_no_crater""",
    "E1 packaging": """
        docs/test_release.py::test_every_extra_is_tried_by_the_release_check
        docs/test_release.py::test_the_table_of_extras_says_what_each_brings
        docs/test_release.py::test_the_long_description_has_no_relative_link
        cli/test_answers.py::test_the_package_runs_as_a_module""",
    "M1 columns and rows to leave out": """
        cli/test_messy.py[leak.csv]
        cli/test_messy.py[missing_target.csv]
        cli/test_messy.py[missing_imputed.csv]
        cli/test_answers.py::test_advice_can_be_copied_whatever_the_names""",
    "M2 dialects and formats": """
        cli/test_messy.py[latin1.csv]
        cli/test_messy.py[zstd.csv.zst]
        cli/test_messy.py[patients.sqlite]
        cli/test_messy.py[view.sqlite]
        cli/test_messy.py[units.csv]
        cli/test_messy.py[transposed.csv]
        cli/test_messy.py[nameless.csv]
        cli/test_messy.py[aligned.txt]
        cli/test_messy.py[types.parquet]
        cli/test_messy.py[patients.duckdb]
        cli/test_messy.py[parts]
        cli/test_messy.py[pattern]
        cli/test_answers.py::test_standard_input""",
    "M3 categories": """
        cli/test_messy.py[categories.csv]
        cli/test_answers.py::test_indicators_of_a_column_are_one_group""",
    "M4 the reduced table, and features in four formats": """
        cli/test_answers.py::test_the_reduced_table
        cli/test_first_hour.py::test_identifiers_stay_as_they_are_written
        cli/test_first_hour.py::test_missing_values_of_the_reduced_table_are_empty
        cli/test_answers.py::test_kept_features_in_every_format""",
    "M5 a default that fits the data": """
        test_choosing.py::test_the_table
        cli/test_compare_plan.py::test_the_method_that_select_takes_is_among_the_default_selectors
        test_targets.py::test_a_screen_chooses_its_criterion_by_the_target""",
    "M6 reference, tutorial, gallery, FAQ, glossary": """
        docs/test_site.py::test_every_public_name_is_in_the_reference
        docs/test_complete.py::test_a_question_of_a_newcomer_has_its_answer
        examples/test_gallery.py::test_there_are_enough""",
    "M7 ledgers and rankings as frames, pages for notebooks, plot()": """
        base/test_showing.py::test_ledgers_become_frames_of_every_library
        base/test_showing.py::test_text_and_page_say_what_happened
        base/test_showing.py::test_pictures_draw_names_as_they_are""",
    "M8 metrics, groups, times and --overwrite of compare": """
        evaluation/test_recommendation.py::test_of_errors_the_smallest_is_best
        cli/test_compare.py::test_rows_that_depend_on_each_other
        cli/test_compare.py::test_another_comparison_replaces_one_if_asked""",
    "M9 completion, -h, examples": """
        cli/test_first_hour.py::test_completion_for_the_shell
        cli/test_answers.py::test_help_fits_80_columns_with_examples""",
    "M10 warnings of nothing kept, of identifiers and of leaks": """
        cli/test_answers.py::test_nothing_kept_says_the_smallest_p_value_and_what_to_try
        cli/test_answers.py::test_identifiers_and_leaks_are_warned_of
        cli/test_messy.py[ninety_nine.csv]
        cli/test_messy.py[classes_alike.csv]""",
    "M11 k beyond the width": """
        base/test_showing.py::test_a_k_beyond_the_width_warns_as_scikit_learn_does
        base/test_showing.py::test_a_grid_over_k_goes_on""",
    # columns are decided as they come, and a column selector is saved in between: --save, ss.load, same_rows
    "M12 checkpoints of columns on the command line: refused with the way out": """
        cli/test_run.py::test_column_methods_have_no_checkpoint
        base/test_columns_resume.py::test_two_weeks_are_one_run""",
    "M13 python -m streamsieve, and run on a path": """
        cli/test_answers.py::test_the_package_runs_as_a_module
        test_selecting.py::test_run_opens_what_is_not_open""",
}
