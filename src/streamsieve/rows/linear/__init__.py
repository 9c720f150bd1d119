"""Linear models that learn one row after the other, and the selectors' view of them.

==================== ======================= ========================================================
file                 serves                  what it holds
==================== ======================= ========================================================
selector             OFS, SOFS, WinnowEFS    ``LinearScores``: two classes, scores from one model
sparse_weights       OFS, PartialOFS         the few weights that are not 0
dual_averaging       BARDA                   sums of gradients; ``one_vs_rest`` has one per class
sketched_model       MISSION                 weights in a count sketch, and the k largest
minibatch_buffer     FIRES, FSDS             rows that wait for a minibatch
==================== ======================= ========================================================

``entries`` (rows), ``signed_labels`` (labels as -1 and +1) and ``constant_columns`` (never selected) serve
several of them.
"""
