"""Detection of features that drift.

================ ======================================================================
page_hinkley     a test for changes of the mean, for many signals at once
drift_monitor    ``Screen(on_drift=)``: changes of relevance, from block to block
adaptation       what ``Screen`` forgets then
velocity_monitor ``VelocityScreen``: changes of the mean of a feature, window to window
================ ======================================================================
"""
