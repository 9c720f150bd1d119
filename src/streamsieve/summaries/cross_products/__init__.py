"""Means and covariances of all pairs of features, and of every feature with the target.

======== =============================================================================
summary  :class:`CrossProducts`, and the moments that linear models read
sums     additive sums of products about an origin that follows the mean
targets  weights and targets of the rows of a batch
======== =============================================================================
"""

from streamsieve.summaries.cross_products.summary import CrossProducts as CrossProducts
from streamsieve.summaries.cross_products.summary import JointMoments as JointMoments
