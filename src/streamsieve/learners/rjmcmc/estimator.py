"""Reversible-jump MCMC over linear models of streaming columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from streamsieve._caller import warn
from streamsieve._parameters import check_number
from streamsieve._validation import check_block, matrix
from streamsieve._values import refuse_non_finite
from streamsieve.base import Selector
from streamsieve.base.fitted import fitted_property
from streamsieve.base.seeded import Seeded
from streamsieve.exceptions import InputError, NotBegunError, TargetError
from streamsieve.learners.inputs import check_numbers, names_with, rows_of
from streamsieve.learners.rjmcmc.model_sampler import ModelSampler, Prior
from streamsieve.protocols import BoolArray, FloatArray, IntArray, Task, Traits
from streamsieve.state import Float, FloatOr, Int, Nested, Texts, untouched_on_error

#: By how much the probability of a column may differ between the two halves of a sampler.
UNSETTLED = 0.5
#: Fewest rows: one for the intercept, one for a coefficient, one to tell how well they fit.
LEAST_ROWS = 3
#: Range of a target whose squares are normal numbers.
LEAST_RANGE = 1e-150


class RJMCMC(Seeded, RegressorMixin, Selector):
    """Posterior inclusion probabilities of streaming columns, by reversible-jump MCMC.

    A Markov chain over sets of columns.  A move proposes the birth of a column or the death of one in the
    model, and is accepted such that the stationary distribution of the chain is the posterior.  A new column
    enlarges the space, and the chain continues from its current model.

    Parameters
    ----------
    moves : int, default=50000
        Number of moves of ``fit`` and ``sample`` that are counted, at least 1.
    burn_in : int, default=1000
        Number of initial moves that are not counted, whenever counting restarts; at least 0.
    moves_per_column : int, default=20
        Number of moves when a column arrives, at least 0.
    prior : float, default=0.5
        Prior inclusion probability of every column, in (0, 1).
    g : float or "benchmark", default="benchmark"
        Zellner's g: the prior variance of coefficients relative to that of least squares, in (0, 1e30].
        "benchmark": the number of rows, or the squared number of columns if that is larger.
    min_inclusion : float, default=0.5
        Minimum posterior inclusion probability of a selected column, in [0, 1].
    random_state : int or None, default=0
        Seed of the moves, in [0, 2^32).  If None, one is drawn when a fit begins, and saved.

    Attributes
    ----------
    inclusion_ : float64 array, posterior inclusion probability of every column
    scores_ : the same
    selected_ : columns of the selected features, in column order
    ranked_ : columns with a probability of at least ``min_inclusion``, most probable first
    coef_ : float64 array, mean coefficient of every column over the models, weighted by their probability
    intercept_ : float
    model_ : columns in the current model of the chain
    acceptance_ : share of the counted moves that were accepted
    n_features_in_ : number of columns offered
    feature_names_in_ : their names; if any came with a name
    n_samples_seen_ : number of rows

    Notes
    -----
    **Formula.** The model is ``y = a + X b + e`` with Zellner's g-prior on b; with a and the variance of e
    unknown, the log Bayes factor of q columns with R^2 against none is ``(n - 1 - q) / 2 log(1 + g) - (n - 1)
    / 2 log(1 + g (1 - R^2))``. Births and deaths are proposed half and half, where both are possible.
    Coefficients are integrated out, so the Jacobian of the jump is 1. At most n - 2 columns are in a model. A
    column that is constant, or collinear with those in the model, is never born.

    Columns may come one by one or in blocks: the result is the same.  ``offer`` keeps the chain near the
    posterior; ``sample`` counts, and counting starts again after the next ``offer`` and when ``prior`` or
    ``g`` has changed.  Memory is rows times columns, because any column may be born again: of more than some
    thousands, preselect with ``streamsieve.columns``.

    Strongly correlated columns share their probability, and the chain is slow to exchange them: raise
    ``moves``, and compare seeds.  A ``ConvergenceWarning`` is raised if the two halves of the chain disagree.

    **When it fails.** The model is linear with normal errors. Strongly correlated columns make the chain mix
    slowly, and memory grows with rows times columns.

    References
    ----------
    Green, Reversible Jump Markov Chain Monte Carlo Computation and Bayesian Model Determination, Biometrika
    82 (1995); Denison, Mallick, Smith, Automatic Bayesian Curve Fitting, JRSS B 60 (1998); the prior is that
    of Fernandez, Ley, Steel, Benchmark Priors for Bayesian Model Averaging, Journal of Econometrics 100
    (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from streamsieve.learners.rjmcmc import RJMCMC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 30))
    >>> y = X[:, 4] - 0.8 * X[:, 20] + rng.normal(size=100)
    >>> chain = RJMCMC().begin(y)
    >>> for low in range(0, 30, 10):
    ...     chain = chain.offer(X[:, low : low + 10])
    >>> chain = chain.sample()
    >>> chain.selected_.tolist(), bool(chain.inclusion_[[4, 20]].min() > 0.99)
    ([4, 20], True)
    """

    _traits: ClassVar[Traits] = Traits(tasks=frozenset({Task.REGRESSION}), any_chunking=True)

    parameters = {
        "moves": Int(1, 2**31 - 1),
        "burn_in": Int(0, 2**31 - 1),
        "moves_per_column": Int(0, 2**31 - 1),
        "prior": Float(0, 1, open_low=True, open_high=True),
        "g": FloatOr("benchmark", 0, 1e30, open_low=True),
        "min_inclusion": Float(0, 1),
    }
    fields = {
        "n_samples_seen_": Int(LEAST_ROWS, size="rows"),
        "n_features_in_": Int(0, size="columns"),
        "feature_names_in_": Texts("columns", unique=True, optional=True),
        "_sampler_": Nested(ModelSampler, shares=("columns", "rows")),
    }

    def __init__(
        self,
        moves: int = 50_000,
        *,
        burn_in: int = 1000,
        moves_per_column: int = 20,
        prior: float = 0.5,
        g: float | str = "benchmark",
        min_inclusion: float = 0.5,
        random_state: int | None = 0,
    ) -> None:
        self.moves = moves
        self.burn_in = burn_in
        self.moves_per_column = moves_per_column
        self.prior = prior
        self.g = g
        self.min_inclusion = min_inclusion
        self.random_state = random_state

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield the defaults, and another prior without moves on arrival."""
        yield cls(moves=5000)
        yield cls(moves=5000, moves_per_column=0, prior=0.1, g=50.0, min_inclusion=0.2, random_state=1)

    def begin(self, y: Any = None) -> Self:
        """Start a stream of columns for the target y, and discard everything learned before.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            The target: one number per row.

        Returns
        -------
        self
        """
        with untouched_on_error(self):
            self._forget()
            self._begin(y, rows_of(y))
        return self

    def _begin(self, y: Any, n: int) -> None:
        self._check_parameters()
        y = check_numbers(y, n)
        if n < LEAST_ROWS:
            raise InputError(f"n_samples = {n}, but a linear model needs at least {LEAST_ROWS} rows")
        if y.min() == y.max():
            raise TargetError(f"y is constant ({y[0]:g}): give a target that varies")
        if y.max() - y.min() < LEAST_RANGE:
            raise TargetError(
                f"y varies by {y.max() - y.min():g}, whose square is 0 in float64: give it in smaller units"
            )
        self._sampler_ = ModelSampler(y)
        self.n_samples_seen_, self.n_features_in_ = n, 0

    def offer(self, X: Any, names: Sequence[str] | str | None = None) -> Self:
        """Add columns; for each, the space grows and the chain makes a few moves.

        Parameters
        ----------
        X : a column or a block (dense, sparse or dataframe) over the rows given to ``begin``
        names : sequence of str, default=None
            Names of the columns, different from all earlier ones.  If None, those of a dataframe.

        Returns
        -------
        self
        """
        if not hasattr(self, "_sampler_"):
            raise NotBegunError("call RJMCMC.begin(y) before offering columns")
        self._check_parameters()
        block = check_block(X, [names] if isinstance(names, str) else names, self.n_samples_seen_)
        all_names = names_with(self, block)
        self._arrive(block.X)
        if all_names is not None:
            self.feature_names_in_ = all_names
        return self

    def _arrive(self, X: Any) -> None:
        sampler = self._sampler_
        for j in range(X.shape[1]):
            column = X[:, [j]].toarray()[:, 0] if sp.issparse(X) else X[:, j]
            sampler.arrive(np.ascontiguousarray(column, np.float64))
            rng = np.random.default_rng([self._seed, 0, sampler.p])
            sampler.walk(self.moves_per_column, self._prior(sampler), rng, count=False)
        self.n_features_in_ = sampler.p

    def sample(self, moves: int | None = None) -> Self:
        """Make moves, and count the models visited.

        Parameters
        ----------
        moves : number of moves, by default the parameter ``moves``; they add to those counted before unless
            a column has come since, or ``prior`` or ``g`` has changed

        Returns
        -------
        self
        """
        if not getattr(self, "n_features_in_", 0):
            raise NotBegunError("call RJMCMC.begin(y) and offer columns before sampling")
        self._check_parameters()
        if moves is not None:
            check_number("moves", moves, low=1, integer=True)
        self._count(int(self.moves if moves is None else moves))
        return self

    def _count(self, wanted: int) -> None:
        sampler = self._sampler_
        prior = self._prior(sampler)
        sampler.set_prior(prior)
        rng = np.random.default_rng([self._seed, 1, sampler.p, sampler.moves])
        if sampler.moves == 0:
            sampler.walk(int(self.burn_in), prior, rng, count=False)
        start = sampler.stays
        sampler.walk(wanted // 2, prior, rng, count=True)
        half = sampler.stays
        sampler.walk(wanted - wanted // 2, prior, rng, count=True)
        first, second = (half - start) / max(wanted // 2, 1), (sampler.stays - half) / (wanted - wanted // 2)
        j = int(np.argmax(np.abs(first - second)))
        if abs(first[j] - second[j]) > UNSETTLED:
            warn(
                f"the chain has not settled: column {j} was in the model after {first[j]:.0%} of the first "
                f"half of {wanted:,} moves, and after {second[j]:.0%} of the second; raise moves, or leave "
                "out columns that are almost equal",
                ConvergenceWarning,
            )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to a whole matrix: begin, add the columns of X in order, and sample.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            All columns.
        y : array-like of shape (n_rows,)
            The target: one number per row.

        Returns
        -------
        self
        """
        with untouched_on_error(self):
            self._forget()
            X = matrix(self, X, reset=True, sparse="csc")
            refuse_non_finite(X, getattr(self, "feature_names_in_", None))
            self._begin(y, X.shape[0])
            self._arrive(X)
            self._count(int(self.moves))
        return self

    def _prior(self, sampler: ModelSampler) -> Prior:
        g = float(max(sampler.n, sampler.p**2)) if self.g == "benchmark" else float(self.g)
        return Prior(g, math.log(self.prior / (1.0 - self.prior)), min(sampler.p, sampler.n - 2))

    def _sampled(self, name: str) -> ModelSampler:
        if not hasattr(self, "_sampler_") or not self._sampler_.moves:
            raise AttributeError(f"{name} is available after fit, or after sample")
        return self._sampler_

    def _check_sampled(self) -> None:
        check_is_fitted(self)
        if not self.n_features_in_:
            raise NotBegunError("no columns were offered yet: offer some, and call sample")
        if not self._sampler_.moves:
            raise NotBegunError("no moves were counted since the last column was offered: call sample first")

    @property
    def inclusion_(self) -> FloatArray:
        """Posterior inclusion probability of every column."""
        return self._sampled("inclusion_").inclusion

    @property
    def scores_(self) -> FloatArray:
        """The same as ``inclusion_``."""
        return self._sampled("scores_").inclusion

    @property
    def selected_(self) -> IntArray:
        """Columns that are probable enough, in column order."""
        return np.flatnonzero(self._sampled("selected_").inclusion >= self.min_inclusion)

    @property
    def ranked_(self) -> IntArray:
        """Columns that are probable enough, most probable first."""
        inclusion = self._sampled("ranked_").inclusion
        return np.argsort(-inclusion, kind="stable")[: np.count_nonzero(inclusion >= self.min_inclusion)]

    @fitted_property
    def model_(self) -> IntArray:
        """Columns in the model where the chain is now."""
        return self._sampler_.model

    @property
    def acceptance_(self) -> float:
        """Share of the counted moves that were accepted."""
        sampler = self._sampled("acceptance_")
        return sampler.accepted / sampler.moves

    @property
    def coef_(self) -> FloatArray:
        """Mean coefficient of every column over the models."""
        return self._sampled("coef_").linear_function[0]

    @property
    def intercept_(self) -> float:
        """Intercept of the linear model."""
        return self._sampled("intercept_").linear_function[1]

    def _support(self) -> BoolArray:
        self._check_sampled()
        return np.asarray(self.inclusion_ >= self.min_inclusion)

    def _transform_frame(self, X: Any) -> Any:
        self._check_sampled()
        return super()._transform_frame(X)

    def predict(self, X: Any) -> FloatArray:
        """Return the mean prediction of all models, weighted by their probability.

        Parameters
        ----------
        X : rows with all columns, in order of arrival
        """
        self._check_sampled()
        X = matrix(self, X, reset=False, sparse="csr")
        refuse_non_finite(X, getattr(self, "feature_names_in_", None))
        weights, intercept = self._sampler_.linear_function
        return np.asarray(X @ weights) + intercept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = None
        return tags
