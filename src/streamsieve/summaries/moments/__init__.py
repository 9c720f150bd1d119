"""Mean and variance of every feature per class.

======== =============================================================================
summary  :class:`Moments`, and the blocks that criteria read
dense    dense rows: mean and centered second moment per class and feature
sparse   CSR rows: the same over stored values; zeros are inferred
======== =============================================================================
"""

from streamsieve.summaries.moments.summary import Moments as Moments
from streamsieve.summaries.moments.summary import MomentsBlock as MomentsBlock
