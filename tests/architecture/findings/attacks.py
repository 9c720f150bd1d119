"""What fault injection and hostile input once broke, each with the tests that fail if it comes back.

H: memory or data is lost.  M: a run that hangs, dies or misleads.  L: unclear errors and small losses.
S: states of streams that were merged, or learned in parts.  R: readers of files and databases.
"""

FINDINGS = {
    "H1 sparse indices out of range reached the kernels": """
        test_sparse_border.py::test_broken_compressed_matrices_are_refused_before_any_conversion
        test_sparse_border.py::test_broken_matrices_of_other_formats_are_refused
        test_sparse_border.py::test_every_door_refuses_an_index_out_of_range
        running/test_columns.py::test_a_sparse_block_of_a_source_is_checked_before_columns_are_cut_out_of_it
        campaigns/test_bounds.py::test_a_slice_of_a_campaign_finds_nothing""",
    "H2 parameters in a state were not checked": """
        test_state_hostile.py::test_forged_states_are_refused_in_little_memory
        test_state_hostile.py::test_strange_parameters_of_any_estimator_are_refused_or_legal
        test_state_hostile.py::test_parameters_that_are_set_in_mid_stream_are_checked_before_anything_is_learnt""",
    "H3 a small state took much memory": """
        test_state_hostile.py::test_forged_states_are_refused_in_little_memory
        test_state_hostile.py::test_files_that_are_no_states_are_refused_in_little_memory""",
    "M1 an output replaced the input": """
        cli/test_files.py::test_no_output_is_the_input
        cli/test_files.py::test_no_two_outputs_are_one_file
        cli/test_files.py::test_run_in_python_refuses_a_checkpoint_that_is_its_source""",
    "M2 half a line of a growing file was learned": """
        running/test_growing.py::test_half_a_line_is_left_to_the_next_run
        running/test_growing.py::test_a_run_over_a_growing_file_goes_on_with_the_line_that_was_half_there""",
    "M3 resuming was said to notice every change": """
        running/test_growing.py::test_a_changed_value_is_noticed_with_verify_full_and_the_sample_may_miss_it
        running/test_growing.py::test_a_verified_run_goes_on_and_its_digest_does_not_depend_on_batches""",
    "M4 TraceRatio never returned": """
        offline/test_trace_ratio.py::test_large_float32_values_are_summed_in_float64
        offline/test_trace_ratio.py::test_an_iteration_that_does_not_end_is_cut_off_with_a_warning""",
    "M5 an object in two threads": """
        test_one_thread.py::test_hammering_a_shared_screen_loses_no_row
        test_one_thread.py::test_every_door_of_a_row_selector_is_guarded
        test_one_thread.py::test_every_door_of_a_column_selector_is_guarded
        test_one_thread.py::test_another_process_goes_on_with_an_object_and_with_the_pool""",
    "L1 a selection beyond the features": """
        test_state_hostile.py::test_forged_states_are_refused_in_little_memory""",
    "L2 raw exceptions at load, a FIFO that hung": """
        test_state_hostile.py::test_a_class_that_is_none_is_refused
        test_state_hostile.py::test_types_that_numpy_lacks_or_a_state_has_not_are_refused
        test_state_hostile.py::test_whatever_is_raised_while_a_selector_is_loaded_is_a_state_error
        test_state_hostile.py::test_files_that_are_no_files_are_refused_at_once
        test_state_hostile.py::test_what_is_no_path_is_refused""",
    "L3 huge counts in a state": """
        test_state_hostile.py::test_forged_states_are_refused_in_little_memory""",
    "L4 terminal escapes in names": """
        cli/test_names.py::test_no_command_lets_a_name_act_on_the_terminal
        cli/test_names.py::test_text_of_objects_and_pictures_holds_no_active_character""",
    "L5 formulas in CSV files": """
        cli/test_names.py::test_no_csv_file_holds_a_formula_unless_asked_for""",
    "L6 names that occur twice, sparse frames, tiny targets": """
        test_validation.py::test_names_that_occur_twice_are_refused_by_name
        test_validation.py::test_pandas_sparse_columns_of_any_fill_value_are_taken
        columns/test_tiny_targets.py::test_a_target_in_tiny_units_gives_the_same_selection""",
    "L7 Grafting and DOFS were not resumed bit for bit": """
        columns/test_resume_bits.py::test_a_saved_stream_goes_on_bit_for_bit""",
    "L8 errors named a temporary file, or none": """
        running/test_growing.py::test_errors_of_csv_by_columns_name_the_file_of_the_user
        running/test_growing.py::test_errors_of_the_converted_copy_of_a_csv_name_the_file_of_the_user
        running/test_growing.py::test_a_bad_value_is_named_with_file_row_and_column""",
    "L9 columns have no checkpoint: refused, and a stream of columns is saved and goes on": """
        cli/test_run.py::test_column_methods_have_no_checkpoint
        base/test_columns_resume.py::test_two_weeks_are_one_run""",
    "L10 a previous file was spoken of where there was none": """
        test_state_hostile.py::test_a_previous_file_is_spoken_of_only_where_there_is_one
        cli/test_files.py::test_a_previous_file_is_mentioned_where_there_is_one""",
    "S1 merged quantiles could be saved, and not be loaded": """
        summaries/test_saved_after_merge.py::test_what_a_merge_leaves_behind_can_be_saved_and_loaded
        summaries/test_saved_after_merge.py::test_tables_of_few_values_stay_exact_through_merges""",
    "S2 a part that was merged twice counted twice": """
        engines/test_laws.py::test_a_part_counts_once
        engines/test_bad_parts.py::test_a_part_that_is_learned_twice_counts_once_or_not_at_all""",
    "S3 screens of two pairs of classes merged": """
        engines/test_bad_parts.py::test_a_part_of_one_class_in_a_screen_of_two
        rows/test_screen_errors.py::test_screens_of_more_classes_than_the_criterion_compares_do_not_merge""",
    "S4 dense and sparse parts": """
        engines/test_dask_frames.py::test_sparse_and_dense_chunks_are_of_one_kind""",
    "R1 JSON lines that are null or nested deep ended the process in Arrow's parser": """
        sources/test_damage.py::test_lines_that_end_the_parser_are_refused
        sources/test_damage.py::test_brackets_in_text_and_rows_of_many_objects_are_no_levels
        sources/test_damage.py::test_arrays_of_json_with_many_levels_or_digits_are_refused""",
    "R2 a column of JSON hid another of the same name": """
        sources/test_damage.py::test_names_of_objects_within_rows_do_not_hide_one_another""",
    "R3 dates and complex numbers became weights": """
        sources/test_weights.py::test_what_is_no_number_is_no_weight""",
    "R4 Ctrl-C did not end a query of a database": """
        sources/test_query.py::test_ctrl_c_ends_a_query
        sources/test_query.py::test_ctrl_c_ends_a_query_of_postgresql""",
    "R5 terminal escapes in what a database says of the data": """
        sources/test_query.py::test_what_a_database_says_of_the_data_is_escaped""",
    "R6 a broken sparse matrix as names ended the process": """
        sources/test_arrays.py::test_what_cannot_be_streamed_is_refused_with_a_reason""",
    "R7 statements that write ran as queries": """
        sources/test_query.py::test_a_statement_that_is_no_query_is_refused
        sources/test_query.py::test_a_query_that_changes_something_is_refused_by_the_database
        sources/test_query.py::test_a_statement_is_not_hidden_in_what_only_looks_like_a_string_or_a_comment
        sources/test_query.py::test_databases_refuse_what_the_look_at_the_text_lets_through
        sources/test_query.py::test_a_query_to_postgresql_reads_only""",
    "R8 a file of the user beside a checkpoint was replaced": """
        running/test_damage.py::test_a_file_of_the_user_beside_a_checkpoint_stays""",
    "R9 a name with a line break became two names": """
        cli/test_names.py::test_a_name_is_one_line_of_a_list_of_names""",
    "R10 parts of the user that return no numbers were learned, or ended in an error of NumPy": """
        base/test_parts_that_misbehave.py::test_a_dependence_is_a_number
        base/test_parts_that_misbehave.py::test_a_p_value_of_a_measure_is_a_probability
        base/test_parts_that_misbehave.py::test_a_test_returns_two_numbers
        base/test_parts_that_misbehave.py::test_a_reason_is_a_code
        base/test_parts_that_misbehave.py::test_a_statistic_is_a_number
        base/test_parts_that_misbehave.py::test_what_is_selected_are_arrival_numbers""",
    "R11 a command without standard output ended in a traceback": """
        cli/test_ctrl_c.py::test_a_command_ends_in_order_whatever_its_output_is""",
    "R12 cached kernels of two processes called one another's functions": """
        architecture/test_kernels.py::test_inner_functions_of_kernels_are_numbered_anew_in_every_process""",
    "R13 Ctrl-C waited for the parts that threads of the local engine had begun": """
        engines/test_laws.py::test_threads_that_are_stopped_read_no_more_than_their_batch""",
    "R14 a pattern over folders whose links form a circle did not end": """
        sources/test_open.py::test_a_pattern_reads_every_file_once_where_links_form_a_circle
        sources/test_open.py::test_a_link_that_leads_nowhere_is_named""",
}
