"""Slow twin of ``streamsieve.rows.fires``: one row at a time, one feature at a time.

Weights are normal with means mu (at first 0) and standard deviations sigma (at first 1).  A step over some
rows with y = -1 or +1: z = y mu.x / rho, rho = sqrt(1 + sum x^2 sigma^2), lambda = phi(z) / Phi(z);
mu += rate mean[lambda y x / rho], sigma += rate mean[-lambda y (mu.x) x^2 sigma / rho^3], both with the old
mu and sigma; then sigma = max(sigma, 0).  omega = (mu^2 - penalty_s sigma^2) / (2 penalty_r).

phi / Phi is exp(log phi - log Phi): the plain quotient is 0 / 0 for z < -38.

Source: Haug, Pawelczyk, Broelemann, Kasneci, KDD 2020.
"""

import math

import numpy as np
from scipy.special import log_ndtr


def ratio(z):
    """Return phi(z) / Phi(z)."""
    return math.exp(-0.5 * z * z - 0.5 * math.log(2 * math.pi) - log_ndtr(z))


def log_likelihood(X, y, mu, sigma):
    """Return the mean of log Phi(z), which steps go up."""
    rho = np.sqrt(1 + X**2 @ sigma**2)
    return float(np.mean(log_ndtr(y * (X @ mu) / rho)))


class Fires:
    """The model; ``step`` changes it."""

    def __init__(self, n_features, rate_mean=0.01, rate_spread=0.01, penalty_spread=0.01, penalty_ridge=0.01):
        self.mu, self.sigma = np.zeros(n_features), np.ones(n_features)
        self.rate_mean, self.rate_spread = rate_mean, rate_spread
        self.penalty_spread, self.penalty_ridge = penalty_spread, penalty_ridge

    def gradients(self, X, y):
        by_mu, by_sigma = np.zeros(len(self.mu)), np.zeros(len(self.mu))
        for x, sign in zip(X, y, strict=True):
            dot = sum(m * v for m, v in zip(self.mu, x, strict=True))
            rho = math.sqrt(1 + sum((s * v) ** 2 for s, v in zip(self.sigma, x, strict=True)))
            q = ratio(sign * dot / rho)
            for j, v in enumerate(x):
                by_mu[j] += q * sign * v / rho / len(y)
                by_sigma[j] += -q * sign * dot * v * v * self.sigma[j] / rho**3 / len(y)
        return by_mu, by_sigma

    def step(self, X, y):
        by_mu, by_sigma = self.gradients(X, y)
        self.mu = self.mu + self.rate_mean * by_mu
        self.sigma = np.maximum(self.sigma + self.rate_spread * by_sigma, 0.0)

    @property
    def omega(self):
        return (self.mu**2 - self.penalty_spread * self.sigma**2) / (2 * self.penalty_ridge)


def fires(X, y, size, epochs=1, **parameters):
    """Make a step for every ``size`` rows; those left over wait."""
    model = Fires(np.shape(X)[1], **parameters)
    for first in range(0, len(y) - size + 1, size):
        for _ in range(epochs):
            model.step(X[first : first + size], y[first : first + size])
    return model
