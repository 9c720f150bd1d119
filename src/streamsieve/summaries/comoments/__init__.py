"""Moments of every feature together with a numeric target.

======= ==================================================================================
summary :class:`CoMoments`: rows in, means, variances and covariances out
joint   moments of feature and target together, merged by Chan's formula
======= ==================================================================================
"""

from streamsieve.summaries.comoments.summary import CoMoments as CoMoments
from streamsieve.summaries.comoments.summary import CoMomentsBlock as CoMomentsBlock
