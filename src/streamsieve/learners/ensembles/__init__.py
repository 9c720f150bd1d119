"""Ensembles over streaming columns: every block of columns becomes one or more members.

============= ==========================================================================
block_bagging :class:`BlockBagging`: a bag of learners per block
super_learner :class:`SuperLearner`: several kinds of learners, weighted by stacking
base          what both share: streaming, weights, prediction
members       learners: checks, fitting, prediction, states
stacking      non-negative least squares for the weights
============= ==========================================================================
"""

from streamsieve.learners.ensembles.block_bagging import BlockBagging as BlockBagging
from streamsieve.learners.ensembles.super_learner import SuperLearner as SuperLearner
