"""A linear model that drops columns by a schedule while it learns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve._kernels import fsa as kernel
from streamsieve.base.choose import best
from streamsieve.dependence.blocks import column_products
from streamsieve.learners.fsa.rows import DenseRows, Product, Rows, SparseRows, Steps, Weights
from streamsieve.protocols import FloatArray, IntArray
from streamsieve.state import Array, Bool, Float, Int, Part

#: Number of rows from which the safe step is computed; larger minibatches are sampled.
MOST_SAMPLED = 256
#: Power iterations for the largest eigenvalue of their products, and the factor by which the estimate, which
#: is never too large, is raised.
MULTIPLICATIONS, MARGIN = 6, 1.1
#: Share of the columns of the last estimate of that eigenvalue below which it is repeated.
REMEASURE = 0.75
#: Maximum number of features; columns are dropped, so no array of a state has this size.
MOST_FEATURES = 2**27
#: Slopes below this are rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class FSAConfig:
    """Parameters of the learners, checked and converted to numbers.

    Attributes
    ----------
    k : number of columns to keep in the end, at least 1 and at most all
    loss : number of the loss in the kernel
    curvature : largest second derivative of the loss
    learning_rate : length of steps, or None to choose it
    """

    k: int
    loss: int
    curvature: float
    epochs: int
    annealing: float
    learning_rate: float | None
    momentum: float
    l2: float
    batch_size: int
    random_state: int

    def columns_left(self, p: int, epoch: int) -> int:
        """Return the number of columns, of p, that are left after an epoch (equation 2.26 of the thesis)."""
        k, n = self.k, self.epochs
        share = max(0.0, (n - 2.0 * epoch) / (2.0 * epoch * self.annealing + n))
        return int(k + (p - k) * share)

    def cooling(self, epoch: int) -> float:
        """Return the factor of the learning rate: 1 until the last drop, then falling to almost 0."""
        half = self.epochs / 2.0
        return 1.0 if epoch <= half else max(self.epochs - epoch + 1.0, 1.0) / (half + 1.0)


class AnnealedModel(Part):
    """Weights of the remaining columns, and everything needed to continue.

    Columns are centered, and divided by their standard deviations if ``standardize``.
    """

    fields = {
        "n_features": Int(1, MOST_FEATURES),
        "standardize": Bool(),
        "epoch": Int(),
        "n_rows": Int(),
        "columns": Array("i8", "left", low=0, order="rising"),
        "beta": Array("f8", "outputs", "left", finite=True),
        "velocity": Array("f8", "outputs", "left", finite=True),
        "intercept": Array("f8", 2, "outputs", finite=True),
        "mean": Array("f8", "left", finite=True),
        "squares": Array("f8", "left", low=0, finite=True),
        "steepness": Float(0),
        "steep_columns": Int(),
    }

    def __init__(self, n_features: int, outputs: int, *, standardize: bool) -> None:
        self.n_features, self.standardize = n_features, standardize
        self.epoch = self.n_rows = 0
        self.columns = np.arange(n_features)
        self.beta, self.velocity = np.zeros((outputs, n_features)), np.zeros((outputs, n_features))
        #: Intercepts, and their velocities.
        self.intercept = np.zeros((2, outputs))
        #: Mean and centered sum of squares of every remaining column, over all rows.
        self.mean, self.squares = np.zeros(n_features), np.zeros(n_features)
        #: Largest eigenvalue of the products of a minibatch so far, and columns left when counting began.
        self.steepness, self.steep_columns = 0.0, n_features

    @property
    def outputs(self) -> int:
        """Number of linear functions."""
        return self.intercept.shape[1]

    @property
    def scale(self) -> FloatArray:
        """Factor of every remaining column; 0 for a constant one, if columns are standardized."""
        if not self.standardize:
            return np.ones(len(self.columns))
        deviation = self._deviation
        scale = np.zeros(len(deviation))
        np.divide(1.0, deviation, out=scale, where=deviation > 1e-150)
        return scale

    @property
    def _deviation(self) -> FloatArray:
        return np.asarray(np.sqrt(np.maximum(self.squares, 0.0) / max(self.n_rows, 1)))

    def change_units(self, old: FloatArray, new: FloatArray) -> None:
        """Adapt the model to another center and spread of the target; predictions do not change."""
        factor = old[1] / new[1]
        self.beta, self.velocity, self.intercept = (
            part * factor for part in (self.beta, self.velocity, self.intercept)
        )
        self.intercept[0] += (old[0] - new[0]) / new[1]

    def rows(self, X: Any) -> Rows:
        """Update means and spreads by more rows, and return these rows standardized."""
        columns = None if len(self.columns) == self.n_features else self.columns
        mean, squares = _moments(X if columns is None or sp.issparse(X) else X[:, columns])
        if sp.issparse(X) and columns is not None:
            mean, squares = mean[columns], squares[columns]
        n = X.shape[0]
        total = self.n_rows + n
        apart = mean - self.mean
        self.mean = self.mean + apart * (n / total)
        self.squares = self.squares + squares + apart**2 * (self.n_rows * n / total)
        self.n_rows = total
        return (SparseRows if sp.issparse(X) else DenseRows)(X, columns, self.mean, self.scale)

    def step(self, rows: Rows, y: FloatArray, weight: FloatArray, config: FSAConfig) -> float:
        """Make one pass over rows, drop columns by the schedule, and return the mean loss of the pass."""
        epoch = self.epoch + 1
        order = np.random.default_rng([config.random_state, epoch]).permutation(rows.n)
        rate, chosen = config.learning_rate, config.learning_rate is None
        if rate is None:
            rate = self.safe_rate(rows, order, weight, config) * config.cooling(epoch)
        decay = 1.0 - min(rate * config.l2, 1.0)
        steps = Steps(config.batch_size, rate, config.momentum, decay, config.loss, chosen)
        total = rows.epoch(order, y, weight, Weights(self.beta, self.velocity, self.intercept), steps)
        self.epoch = epoch
        left = config.columns_left(self.n_features, epoch)
        finite = np.isfinite(total) and np.all(np.isfinite(self.beta))  # otherwise the caller gives up
        if left < len(self.columns) and finite:
            self._drop(rows, left)
        return total / rows.n

    def safe_rate(self, rows: Rows, order: IntArray, weight: FloatArray, config: FSAConfig) -> float:
        """Return the longest step that reduces every error of a minibatch, by the steepest one sampled.

        A step of rate a changes the outputs of a minibatch by a times the products of its rows, so 1 over
        their largest eigenvalue, times the loss's curvature, never overshoots; the L2 penalty adds to the
        curvature.  One minibatch an epoch is sampled; steps for a steeper one are shortened when it is met.
        """
        if len(self.columns) < REMEASURE * self.steep_columns:
            self.steepness, self.steep_columns = 0.0, len(self.columns)
        n = rows.n
        steps = -(-n // config.batch_size)
        sample = order[: min(-(-n // steps), MOST_SAMPLED)]
        self.steepness = max(self.steepness, _steepness(rows.pair_products(sample), weight[sample]))
        # the sum over the other classes is as steep as a star with one edge for each of them
        return 1.0 / (config.curvature * self.outputs * self.steepness + config.l2)

    def _drop(self, rows: Rows, left: int) -> None:
        kept = np.flatnonzero(best(self.strength, left))
        rows.keep(kept)
        self.columns, self.mean, self.squares = self.columns[kept], self.mean[kept], self.squares[kept]
        self.beta, self.velocity = self.beta[:, kept], self.velocity[:, kept]

    @property
    def strength(self) -> FloatArray:
        """Norm of the weights of every remaining column, over all outputs and for unit standard deviation."""
        sizes: FloatArray
        if self.outputs == 1:
            sizes = np.abs(self.beta[0])
        else:
            sizes = np.sqrt(np.einsum("ij,ij->j", self.beta, self.beta))
        return sizes if self.standardize else sizes * self._deviation

    def outputs_of(self, X: Any) -> FloatArray:
        """Return the outputs for some rows, (rows, outputs)."""
        some = X[:, self.columns]
        scale = self.scale
        if sp.issparse(some):
            coefficients = self.beta * scale
            return np.asarray(some @ coefficients.T + (self.intercept[0] - coefficients @ self.mean))
        return np.asarray(((some - self.mean) * scale) @ self.beta.T + self.intercept[0])

    def unsettled(
        self, rows: Rows, y: FloatArray, weight: FloatArray, config: FSAConfig
    ) -> tuple[float, float]:
        """Return the slope of the mean loss, as a share of the initial slope, and the loss without weights.

        An intercept is compared with the typical slope of a row, a weight with the steepest one among those
        that are left, or with what arises by chance in this number of rows.
        """
        found = []
        for outputs in (np.zeros((rows.n, self.outputs)), rows.products(self.beta) + self.intercept[0]):
            slopes, losses = np.empty((rows.n, self.outputs)), np.empty(rows.n)
            kernel.all_slopes(config.loss, y, outputs, weight, losses, slopes)
            found.append((rows.back_products(slopes) / rows.n, slopes, float(losses.mean())))
        (first, slopes_first, start), (last, slopes_last, _) = found
        typical = max(float(np.sqrt(np.mean(slopes_first**2))), ROUNDING)
        noise = 2.0 * typical / np.sqrt(rows.n) if self.standardize else ROUNDING
        steepest = float(np.abs(last + config.l2 * self.beta).max())
        share = max(
            steepest / max(float(np.abs(first).max()), noise),
            float(np.abs(slopes_last.mean(axis=0)).max()) / typical,
        )
        return share, start

    def _consistent(self) -> Iterator[str]:
        if not self.outputs or not len(self.columns) or self.columns[-1] >= self.n_features:
            yield "the columns left are not some of the features"


def _steepness(product: Product, weight: FloatArray) -> float:
    """Return the largest eigenvalue of a minibatch's products, intercept included, over its rows."""
    root = np.sqrt(weight)
    vector = np.random.default_rng(0).normal(size=len(weight))  # orthogonal to nothing
    length = 0.0
    for _ in range(MULTIPLICATIONS):
        turned = root * vector
        vector = root * (product(turned) + turned.sum())
        length = float(np.sqrt(vector @ vector))
        vector /= length or 1.0
    return MARGIN * length / len(weight)


def _moments(X: Any) -> tuple[FloatArray, FloatArray]:
    """Return mean and centered sum of squares of every column."""
    if not sp.issparse(X):
        mean, squares, _ = column_products(X, np.zeros(X.shape[0]))
        return mean, squares
    mean, squares = np.empty(X.shape[1]), np.empty(X.shape[1])
    kernel.moments_csr(X.indices[: X.nnz], X.data[: X.nnz], X.shape[0], mean, squares)
    return mean, squares
