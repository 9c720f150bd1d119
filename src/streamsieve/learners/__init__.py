"""Learners that the papers pair with a selection, and Bayesian births and deaths of features."""

from streamsieve.learners.birth_death_process import FeatureLives as FeatureLives
from streamsieve.learners.birth_death_process import birth_death_process as birth_death_process
from streamsieve.learners.block_bagging import BlockBagging as BlockBagging
from streamsieve.learners.fsa import FSAClassifier as FSAClassifier
from streamsieve.learners.fsa import FSARegressor as FSARegressor
from streamsieve.learners.rjmcmc import RJMCMC as RJMCMC
from streamsieve.learners.super_learner import SuperLearner as SuperLearner

__all__ = [
    "RJMCMC",
    "BlockBagging",
    "FSAClassifier",
    "FSARegressor",
    "FeatureLives",
    "SuperLearner",
    "birth_death_process",
]
