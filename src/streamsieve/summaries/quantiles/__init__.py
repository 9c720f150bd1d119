"""The distribution of every feature per class, with a certified rank error.

============ =========================================================================
summary      :class:`Quantiles`: rows in, tables over bins of equal frequency out
dense        dense rows: a sketch per class, queried together
sketch       base class: a buffer of rows, and sorted runs of all features in step
sorted_rows  buffered rows in order, so that a query sorts only new ones
equal_weight sketch of rows of equal weight (the fast path)
weighted     sketch of rows of unequal weight: sample weights and fading
compact      everything a class holds as one run, to be sent or merged many at a time
small_domain exact counts of columns with at most 64 different values
sparse       CSR rows: merging runs of stored values; zeros are inferred
entries      the runs of sparse rows: sorted, merged, pooled and renamed
============ =========================================================================
"""

from streamsieve.summaries.quantiles.summary import Quantiles as Quantiles
