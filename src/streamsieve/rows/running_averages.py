"""Sparse linear models fitted to running averages of products."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from streamsieve._parameters import check_choice
from streamsieve._validation import TASKS
from streamsieve.base import RowSelector
from streamsieve.base.choose import best, significant
from streamsieve.base.fitted import fitted_property
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import ANY_TASK, CLASSIFICATION, BoolArray, FloatArray, RowBatch, Task, Traits
from streamsieve.rows.covariance_models import MODELS
from streamsieve.rows.covariance_models.ols import Tests, conditional_tests, pseudo_inverse
from streamsieve.rows.covariance_models.problem import Problem, Standardised, standardised
from streamsieve.rows.summarized import SummarizedRows
from streamsieve.state import Bool, Choice, Float, Int, Nested
from streamsieve.summaries.cross_products import CrossProducts

CORRECTIONS = ("none", "bonferroni", "bh")
DEFAULT_ALPHA = 0.05
#: Parameters that may change at any time: they ask another question about what was learnt.
QUERY = ("k", "model", "alpha", "correction", "l2", "steps", "annealing", "gamma", "balanced")


class RunningAverages(SummarizedRows, RowSelector):
    """Keep the features of a sparse linear model of all rows so far, without keeping the rows.

    Rows go into the sums of products of all pairs of features.  Lasso, concave penalties, annealing, matching
    pursuit and t-tests need nothing else, so each is a query on the same state: exact, in any order of rows,
    mergeable, and fading if you wish.  ``set_params(model=...)`` asks another one, at any time.

    Parameters
    ----------
    k : int or None, default=None
        Keep k features, k >= 1; fewer only where the others are constant, copies, or explain nothing more.
        None keeps 10, or with "t_test" those that pass.
    model : str, default="mcp"
        "mcp" and "lasso": the first penalty (minimax concave, absolute value) that leaves k coefficients;
        "elastic_net" and "adaptive_lasso": the lasso's relatives.  "fsa": feature selection with annealing,
        gradient steps that drop the smallest coefficients on the way.  "omp": orthogonal matching pursuit.
        "mrmr": most relevance, least redundancy.  "ols_threshold": the largest coefficients of least squares.
        "t_test": tests of each coefficient given all other features.
    alpha : float or None, default=None
        With "t_test": keep features whose p-value is at most alpha, 0 < alpha < 1.  None is 0.05 where k is
        None, too.
    correction : {"none", "bonferroni", "bh"}, default="bh"
        With alpha: what alpha bounds. "none" the error of each test, "bonferroni" the probability of any
        false feature, "bh" (Benjamini-Hochberg) the false discovery rate.
    l2 : float, default=1e-3
        L2 penalty of "ols_threshold", "fsa", "elastic_net" and the first fit of "adaptive_lasso", at least 0;
        it is added to every feature's variance of 1.
    steps : int, default=300
        Gradient steps of "fsa", at least 2 and at most 1,000,000.
    annealing : float, default=10
        How early "fsa" drops features, at least 0: the more, the earlier.
    gamma : float, default=3
        How concave the penalty of "mcp" is, above 1; very large is the lasso.
    half_life : float or None, default=None
        Rows after which an observation weighs half, at least 1; None remembers all rows alike.
    task : {"auto", "classification", "regression"}, default="auto"
        What y is.  "auto" takes fractional numbers for a numeric target and all else for labels.
    balanced : bool, default=False
        Whether all classes count the same, however many rows they have.  Squared error neglects a rare class.
        The covariance within classes is taken to be the same in all of them.
    output : {"drop", "zero", "frozen"}, default="drop"
        "drop" features that are not selected, set them to "zero", or keep the selection of the first output.
    ledger : {"all", "kept", "none"}, default="all"
        Record which features entered and left, when, and at what score; "kept" is the same as "all".

    Attributes
    ----------
    scores_ : float64 array, one per feature: the size of its coefficient, all features and the target scaled
    to
        variance 1; for "t_test" its t; for "omp" and "mrmr" a number that falls in order of entry.  0 is
        outside the model.
    pvalues_ : float64 array, one per feature: of its test given all other features, whatever the model
    untestable_ : why there are no tests, or nothing
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    coef_, intercept_ : least squares on the selected features, in the units of the data, with zeros for the
        others; labels count as -1 and 1.  Shapes are those of scikit-learn's linear models.
    classes_ : labels in order; with two of them, ``coef_`` is about the second
    summary_ : the :class:`streamsieve.summaries.CrossProducts` behind all this
    ledger_ : which features entered and left, after how many rows, at what score

    Notes
    -----
    **Formula.** With the sums ``X'X``, ``X'y``, n and the means, standardized: the lasso minimizes ``1/2 b'Rb
    - b'r + penalty |b|_1`` over the correlations R and r; the other models minimize the same quadratic loss
    under another penalty, or test its coefficients.

    **When it fails.** Effects that are not linear are not seen, p is limited by memory, and a rare class
    counts little unless ``balanced=True``. Under drift the sums mix old and new rows unless there is a
    ``half_life``.

    Memory is 8 p^2 bytes for p features and twice that for a query; more than 20,000 features are refused:
    screen first.  A batch costs little more than ``X.T @ X``, a query does not depend on the number of rows.

    More than two classes are a target each, one against the rest; a feature's score is the largest of them,
    and its p-value the smallest times their number.  ("mrmr" takes the largest relevance.)  Labels may appear
    late: sums are kept per class, so the result is that of one batch.

    A path goes down 40 equal steps of the logarithm to 1/1000 of the first penalty, and ends at the first
    step with k coefficients or more; the k largest are kept.  If there are fewer at the end, those that would
    enter next follow.  Of columns that are copies of each other, the first stands for all.

    Tests need more rows than features, by more than 10, counted as (sum of weights)^2 / sum of squares under
    a half-life; before that all p-values are 1, nothing is kept, and ``untestable_`` says so.  A feature that
    is a linear combination of others has p-value 1.  Every query is valid by itself; looking again and again
    until something passes is not corrected for.  For labels they are tests of a linear model of -1 and 1.

    The paper tunes annealing and the L2 penalty; here they have fixed defaults.

    References
    ----------
    Sun, Wang, Zhu and Barbu, A Novel Framework for Online Supervised Learning with Feature Selection,
    arXiv:1803.11521, 2018.  Barbu, She, Ding and Gramajo, Feature Selection with Annealing for Computer
    Vision and Big Data Learning, TPAMI 2017.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> selector = ss.RunningAverages(k=2)
    >>> for _ in range(5):
    ...     X = rng.normal(size=(100, 6))
    ...     y = X[:, 4] - 0.5 * X[:, 1] + 0.1 * rng.normal(size=100)
    ...     selector = selector.partial_fit(X, y)
    >>> selector.ranked_, selector.coef_.round(1)
    (array([4, 1]), array([ 0. , -0.5,  0. ,  0. ,  1. ,  0. ]))
    >>> selector.set_params(model="t_test", k=None, alpha=0.01).ranked_
    array([4, 1])
    """

    parameters = {
        "model": Choice(*MODELS),
        "alpha": Float(0, 1, open_low=True, open_high=True, optional=True),
        "correction": Choice(*CORRECTIONS),
        "l2": Float(0),
        "steps": Int(2, 1_000_000),
        "annealing": Float(0),
        "gamma": Float(1, open_low=True),
        "half_life": Float(1, optional=True),
        "task": Choice(*TASKS),
        "balanced": Bool(),
    }
    fields = {"_regression_": Bool(), "_summary_": Nested(CrossProducts)}

    def __init__(
        self,
        k: int | None = None,
        *,
        model: str = "mcp",
        alpha: float | None = None,
        correction: str = "bh",
        l2: float = 1e-3,
        steps: int = 300,
        annealing: float = 10.0,
        gamma: float = 3.0,
        half_life: float | None = None,
        task: str = "auto",
        balanced: bool = False,
        output: str = "drop",
        ledger: str = "all",
    ) -> None:
        self.k = k
        self.model = model
        self.alpha = alpha
        self.correction = correction
        self.l2 = l2
        self.steps = steps
        self.annealing = annealing
        self.gamma = gamma
        self.half_life = half_life
        self.task = task
        self.balanced = balanced
        self.output = output
        self.ledger = ledger

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """One for every model, and the other ways of choosing, forgetting and weighing."""
        for model in MODELS:
            yield cls(model=model)
        yield cls(k=1, task="regression")
        yield cls(model="t_test", alpha=0.1, correction="none", task="regression")
        yield cls(half_life=100)
        yield cls(model="omp", balanced=True, output="zero")

    @property
    def traits(self) -> Traits:
        """What the selector can do with its present parameters."""
        tasks = {"classification": CLASSIFICATION, "regression": frozenset({Task.REGRESSION})}
        return Traits(
            tasks=tasks.get(str(self.task), ANY_TASK),
            weights=True,
            merges=True,
            forgets=self.half_life is not None,
            size_parameter="k" if self.alpha is None else None,
        )

    @property
    def _target(self) -> str:
        if hasattr(self, "_regression_"):
            return "numeric" if self._regression_ else "classes"
        check_choice("task", self.task, TASKS)
        return {"auto": "auto", "regression": "numeric"}.get(self.task, "classes")

    # ---------------------------------------------------------------- learning

    def _start(self, batch: RowBatch) -> None:
        self._regression_ = self._takes_numbers(batch)
        self._summary_ = CrossProducts(self.half_life, target="numeric" if self._regression_ else "classes")

    def _check_together(self) -> None:
        if self.alpha is not None and self.model != "t_test":
            raise ParameterError(
                f"alpha={self.alpha} has no meaning for model={self.model!r}, which tests nothing: "
                "give k, or use model='t_test'"
            )
        if self.alpha is not None and self.k is not None:
            raise ParameterError(f"give one of k and alpha, not k={self.k} and alpha={self.alpha}")

    def _learn(self, batch: RowBatch) -> None:
        self._summary_.update(batch.X, np.asarray(batch.y), batch.weight)

    # ---------------------------------------------------------------- asking

    def _refresh(self) -> None:
        super()._refresh()
        question = tuple(getattr(self, name) for name in QUERY)
        if self._cache_.get("question") != question:  # drop the answers to another question
            self._invalidate()
            self._check_parameters()
            self._check_k()
            self._cache_["question"] = question

    def _standardised(self) -> Standardised:
        if "standardised" not in self._cache_:
            moments = self._summary_.moments()
            if not self._regression_:
                order = self._label_order()
                moments = moments._replace(
                    target_mean=moments.target_mean[order],
                    target_variance=moments.target_variance[order],
                    target_covariance=moments.target_covariance[order],
                )
            self._cache_["standardised"] = standardised(moments, balanced=self.balanced)
        found: Standardised = self._cache_["standardised"]
        return found

    def _label_order(self) -> list[int]:
        labels = self._summary_.classes
        return sorted(range(len(labels)), key=lambda i: labels[i])

    def _problem(self) -> Problem:
        known = self._standardised()
        numbers = float(self.l2), int(self.steps), float(self.annealing), float(self.gamma)
        return Problem(known.R, known.c, known.n, self._k, *numbers)

    def _tests(self) -> Tests:
        if "tests" not in self._cache_:
            self._cache_["tests"] = conditional_tests(self._problem())
        found: Tests = self._cache_["tests"]
        return found

    def _everywhere(self, values: FloatArray, otherwise: float) -> FloatArray:
        """Put values of live features in their places among all."""
        out = np.full(self.n_features_in_, otherwise)
        out[self._standardised().live] = values
        return out

    def _scores(self) -> FloatArray:
        live = self._tests().t if self.model == "t_test" else MODELS[self.model](self._problem())
        return self._everywhere(live, 0.0)

    @fitted_property
    def pvalues_(self) -> FloatArray:
        """One p-value per feature, of its test given all other features."""
        return self._everywhere(self._tests().p_values, 1.0)

    @fitted_property
    def untestable_(self) -> str:
        """Why there are no tests and all p-values are 1; empty where there are."""
        return self._tests().reason

    @fitted_property
    def classes_(self) -> npt.NDArray[Any]:
        """Labels seen, in order; there are none if the target is numeric."""
        if self._regression_:
            raise AttributeError("there are no classes_: the target is numeric")
        return np.array(sorted(self._summary_.classes))

    @fitted_property
    def coef_(self) -> FloatArray:
        """Coefficients of least squares on the selected features, in the units of the data."""
        slopes = self._slopes()
        return slopes[0] if self._regression_ else slopes

    @fitted_property
    def intercept_(self) -> FloatArray | float:
        """What ``coef_`` is added to."""
        known, slopes = self._standardised(), self._slopes()
        mean = np.pad(known.mean, (0, slopes.shape[1] - len(known.mean)))
        level = known.target_mean if self._regression_ else 2 * known.target_mean - 1
        constants: FloatArray = level - slopes @ mean
        return float(constants[0]) if self._regression_ else constants

    def _slopes(self) -> FloatArray:
        """Return (target, feature)."""
        if "slopes" not in self._cache_:
            support, known = self._support(), self._standardised()
            chosen = np.flatnonzero(support[known.live])
            some = known.R[np.ix_(chosen, chosen)]
            beta = known.c[:, chosen] @ pseudo_inverse(some)
            columns = known.live[chosen]
            slopes = np.zeros((len(known.c), self.n_features_in_))
            # labels are -1 and 1 here, but 0 and 1 in the summary
            unit = 1.0 if self._regression_ else 2.0
            slopes[:, columns] = unit * beta * known.target_sd[:, None] / known.sd[columns]
            self._cache_["slopes"] = slopes
        cached: FloatArray = self._cache_["slopes"]
        return cached

    # ---------------------------------------------------------------- choosing

    def _choose(self) -> BoolArray:
        used = self.scores_ > 0
        if self.model == "t_test" and self.k is None:
            alpha = DEFAULT_ALPHA if self.alpha is None else self.alpha
            return significant(self.pvalues_, alpha, self.correction) & used
        return best(self.scores_, self._k) & used

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        summary, target = self._summary_, "numeric" if self._regression_ else "classes"
        if summary.target != target:
            yield f"the summary has no {target} target"
        if summary.half_life != self.half_life:
            yield f"the summary has half_life={summary.half_life}, not {self.half_life}"
        if summary.n_features > self.n_features_in_:
            yield "the summary has more features than there are"
        yield from self._proven_features(summary.n_features)
