"""Learners that select features: annealed linear models, ensembles over blocks, Bayesian model sampling.

=========== ==========================================================================
fsa/        feature selection with annealing: a linear model that drops features
ensembles/  block bagging and super learner: blocks of columns become members
rjmcmc/     reversible-jump MCMC over linear models
inputs      targets, class labels, and names of columns that arrive in blocks
=========== ==========================================================================
"""

from streamsieve.learners.ensembles import BlockBagging as BlockBagging
from streamsieve.learners.ensembles import SuperLearner as SuperLearner
from streamsieve.learners.fsa import FSAClassifier as FSAClassifier
from streamsieve.learners.fsa import FSARegressor as FSARegressor
from streamsieve.learners.rjmcmc import RJMCMC as RJMCMC

__all__ = ["RJMCMC", "BlockBagging", "FSAClassifier", "FSARegressor", "SuperLearner"]
