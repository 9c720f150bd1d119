"""Reversible-jump MCMC over linear models of streaming columns.

============= ==========================================================================
estimator     :class:`RJMCMC`
model_sampler the Markov chain over sets of columns: moves, counts, state
============= ==========================================================================
"""

from streamsieve.learners.rjmcmc.estimator import RJMCMC as RJMCMC
