"""Candidates of a comparison: selectors and learners, by name or as objects.

=============== =================================================
selectors       selectors, and their selections at every size
learners        scikit-learn estimators, and their predictions
stream_learners learners with partial_fit, baselines, adapters
selected_stream rows of a stream reduced to the selected features
=============== =================================================
"""
