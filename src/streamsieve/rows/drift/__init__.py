"""Detection of features that drift.

================= ======================================================================
change_points     generalized likelihood ratio tests for changes of the mean
relevance_changes the same over normal scores of features: ``Screen(detector="glr")``
page_hinkley      the Page-Hinkley test for changes of the mean
drift_monitor     ``Screen(on_drift=)``: changes of relevance, from block to block
adaptation        what ``Screen`` forgets then
velocity_monitor  ``VelocityScreen``: changes of the mean of a feature, window to window
================= ======================================================================
"""
