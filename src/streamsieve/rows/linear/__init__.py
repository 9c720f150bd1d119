"""Linear models that learn one row after the other, and the selectors' view of them.

==================== ======================= ========================================================
file                 serves                  what it holds
==================== ======================= ========================================================
selector             the next three          ``LinearScores``: two classes, scores from one model
sparse_weights       OFS, PartialOFS         the few weights that are not 0
confidence_weights   SOFS                    mean and confidence of every weight
winnow_weights       WinnowEFS               two multiplicative weights per feature
dual_averaging       BARDA                   sums of gradients; ``one_vs_rest`` has one per class
probit               FIRES                   normal weights; ``minibatch_buffer`` gathers its rows
sketched_model       MISSION                 weights in a count sketch; ``heavy_hitters``, the k largest
==================== ======================= ========================================================

``entries`` (rows), ``signed_labels`` (labels as -1 and +1) and ``grow`` serve several of them.
"""
