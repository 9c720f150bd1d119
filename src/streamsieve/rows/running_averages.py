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
from streamsieve.rows.covariance_models.problem import Problem, Standardized, standardized
from streamsieve.rows.summarized import SummarizedRows
from streamsieve.state import Bool, Choice, Float, Int, Nested
from streamsieve.summaries.cross_products import CrossProducts

CORRECTIONS = ("none", "bonferroni", "bh")
DEFAULT_ALPHA = 0.05
#: Parameters that may change at any time, because they only affect queries.
QUERY = ("k", "model", "alpha", "correction", "l2", "steps", "annealing", "gamma", "balanced")


class RunningAverages(SummarizedRows, RowSelector):
    """Sparse linear models (lasso, MCP, OMP, FSA, t-tests) from running averages of a stream of rows.

    The state consists of the sums of products of all pairs of features.  Lasso, concave penalties, annealing,
    matching pursuit and t-tests need nothing else, so each is a query on the same state: exact, independent
    of the order of rows, mergeable, and optionally with exponential forgetting.  Change the query at any time
    with ``set_params(model=...)``.

    Parameters
    ----------
    k : int or None, default=None
        Number of features to keep, at least 1; fewer only if the others are constant, copies, or explain
        nothing more.  If None, 10, or with "t_test" the significant ones.
    model : str, default="mcp"
        "mcp" and "lasso": the largest penalty of the path (minimax concave, L1) with k nonzero coefficients;
        "elastic_net" and "adaptive_lasso": the lasso's relatives.  "fsa": feature selection with annealing,
        gradient steps that successively drop the smallest coefficients.  "omp": orthogonal matching pursuit.
        "mrmr": most relevance, least redundancy.  "ols_threshold": the largest coefficients of least squares.
        "t_test": tests of each coefficient given all other features.
    alpha : float or None, default=None
        With "t_test": significance level, in (0, 1).  If None, 0.05 unless k is given.
    correction : {"none", "bonferroni", "bh"}, default="bh"
        With alpha: which error rate alpha bounds: the type I error of each test ("none"), the family-wise
        error rate ("bonferroni"), or the false discovery rate ("bh", Benjamini-Hochberg, for p-values that
        are independent or positively dependent).
    l2 : float, default=1e-3
        L2 penalty of "ols_threshold", "fsa", "elastic_net" and the first fit of "adaptive_lasso", at least 0;
        it is added to the diagonal of the correlation matrix.
    steps : int, default=300
        Number of gradient steps of "fsa", in [2, 1000000].
    annealing : float, default=10
        Annealing rate of "fsa", at least 0: larger values drop features earlier.
    gamma : float, default=3
        Concavity of the penalty of "mcp", above 1; for large values it approaches the lasso.
    half_life : float or None, default=None
        Number of rows after which the weight of an observation is halved, at least 1.  If None, all rows
        count alike.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" infers it: fractional numbers, or more than 20 distinct whole numbers with
        fewer than 10 rows each, mean regression, anything else classification.
    balanced : bool, default=False
        Whether all classes have the same weight, whatever their number of rows; otherwise squared error
        neglects a rare class.  The covariance within classes is assumed to be the same for all of them.
    output : {"drop", "zero", "frozen"}, default="drop"
        What ``transform`` does with features that are not selected: "drop" them, set them to "zero", or drop
        those outside the selection of the first call ("frozen").
    ledger : {"all", "kept", "none"}, default="all"
        Whether to record which features entered and left the selected set, when, and with what score; "kept"
        is the same as "all".

    Attributes
    ----------
    scores_ : float64 array, one per feature: the size of its coefficient, all features and the target scaled
    to
        variance 1; for "t_test" its t; for "omp" and "mrmr" a number that falls in order of entry.  0 is
        outside the model.
    pvalues_ : float64 array, one per feature: p-value of the t-test given all other features, for any model
    untestable_ : why there are no tests; empty if there are
    selected_ : columns of the selected features, in column order
    ranked_ : the same columns, best first
    coef_, intercept_ : least squares on the selected features, in the units of the data, with zeros for the
        others; labels count as -1 and 1.  Shapes are those of scikit-learn's linear models.
    classes_ : labels in sorted order; with two of them, ``coef_`` is that of the second
    summary_ : the :class:`streamsieve.summaries.CrossProducts` of all rows
    ledger_ : which features entered and left the selected set, after how many rows, with what score

    Notes
    -----
    **Formula.** With the sums ``X'X``, ``X'y``, n and the means, standardized: the lasso minimizes ``1/2 b'Rb
    - b'r + penalty |b|_1`` over the correlations R and r; the other models minimize the same quadratic loss
    under another penalty, or test its coefficients.

    **When it fails.** Effects that are not linear are not seen, p is limited by memory, and a rare class
    counts little unless ``balanced=True``. Under drift the sums mix old and new rows unless there is a
    ``half_life``.

    Memory is 8 p^2 bytes for p features and twice that during a query; more than 20,000 features are refused:
    screen first.  A batch costs little more than ``X.T @ X``; the cost of a query does not depend on the
    number of rows.

    More than two classes are handled one-versus-rest; the score of a feature is the largest over classes, and
    its p-value the smallest times their number.  ("mrmr" takes the largest relevance.)  Labels may appear
    late: sums are kept per class, so the result is that of one batch.

    A path has 40 penalties, equally spaced on a logarithmic scale down to 1/1000 of the largest, and ends at
    the first with k or more nonzero coefficients; the k largest are kept.  If there are fewer at the end,
    they are followed by the features that would enter next.  Of identical columns only the first is used.

    Tests need more rows than features, by more than 10, counted as (sum of weights)^2 / sum of squares under
    a half-life; before that all p-values are 1, nothing is kept, and ``untestable_`` gives the reason.  A
    feature that
    is a linear combination of others has p-value 1.  Each query is valid by itself; there is no correction
    for repeated queries until something is significant.  For labels they are tests of a linear model of -1
    and 1.
    What ``correction`` bounds holds for independent rows and normal errors, or many rows.

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
        """Yield every model, and the other selection rules, half-lives and weights."""
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

    # ---------------------------------------------------------------- queries

    def _refresh(self) -> None:
        super()._refresh()
        question = tuple(getattr(self, name) for name in QUERY)
        if self._cache_.get("question") != question:  # drop the cached results of another query
            self._invalidate()
            self._check_parameters()
            self._check_k()
            self._cache_["question"] = question

    def _standardized(self) -> Standardized:
        if "standardized" not in self._cache_:
            moments = self._summary_.moments()
            if not self._regression_:
                order = self._label_order()
                moments = moments._replace(
                    target_mean=moments.target_mean[order],
                    target_variance=moments.target_variance[order],
                    target_covariance=moments.target_covariance[order],
                )
            self._cache_["standardized"] = standardized(moments, balanced=self.balanced)
        found: Standardized = self._cache_["standardized"]
        return found

    def _label_order(self) -> list[int]:
        labels = self._summary_.classes
        return sorted(range(len(labels)), key=lambda i: labels[i])

    def _problem(self) -> Problem:
        known = self._standardized()
        numbers = float(self.l2), int(self.steps), float(self.annealing), float(self.gamma)
        return Problem(known.R, known.c, known.n, self._k, *numbers)

    def _tests(self) -> Tests:
        if "tests" not in self._cache_:
            self._cache_["tests"] = conditional_tests(self._problem())
        found: Tests = self._cache_["tests"]
        return found

    def _everywhere(self, values: FloatArray, otherwise: float) -> FloatArray:
        """Return one value per feature, from those of the features that vary and are distinct."""
        out = np.full(self.n_features_in_, otherwise)
        out[self._standardized().live] = values
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
        """Labels seen, in order; empty if the target is numeric."""
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
        """The intercept of the linear model."""
        known, slopes = self._standardized(), self._slopes()
        mean = np.pad(known.mean, (0, slopes.shape[1] - len(known.mean)))
        level = known.target_mean if self._regression_ else 2 * known.target_mean - 1
        constants: FloatArray = level - slopes @ mean
        return float(constants[0]) if self._regression_ else constants

    def _slopes(self) -> FloatArray:
        """Return (target, feature)."""
        if "slopes" not in self._cache_:
            support, known = self._support(), self._standardized()
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
