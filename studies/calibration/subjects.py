"""The subjects: every test of the library as a function of a block of null columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import streamsieve as ss
from streamsieve.decisions import IRRELEVANT, RELEVANT
from streamsieve.independence import ChiSquareTest, GSquared
from streamsieve.protocols import BoolArray, Event, FloatArray, Task
from studies.calibration.families import Data, Family

#: Levels at which sizes are measured.
LEVELS = (0.05, 0.01, 0.001, 0.0001)
#: Columns with one target, and as many for tests that are made one by one.
COLUMNS, STRATUM, ONE_BY_ONE = 250, 100, 25
#: Rows up to which tests at a fixed level are measured apart from those under an online rule.
FEW = 100
#: Rows for which row screens are measured: fewer are no stream.
MANY = (FEW, 10**6)


@dataclass(frozen=True)
class Subject:
    """A test.

    Attributes
    ----------
    name : on the page
    rejections : function of data and levels; an array of (levels, columns)
    takes : whether a family is meant for the test
    panel : which picture and table of the page
    default : what the library does unless told otherwise, so that its size must hold
    columns : number of columns for one target
    rows : fewest and most rows; tests that differ in small samples only need no others
    form : changes when the test does, so that stored results do not count any more
    """

    name: str
    rejections: Callable[[Data, Sequence[float]], BoolArray]
    takes: Callable[[Family], bool]
    panel: str = "Columns"
    default: bool = False
    columns: int = COLUMNS
    rows: tuple[int, int] = (0, 10**6)
    form: int = 1


def by_p_value(p_values: Callable[[Data], FloatArray]) -> Callable[[Data, Sequence[float]], BoolArray]:
    """Return the rejections of a test that has p-values; NaN is no rejection."""

    def rejections(data: Data, levels: Sequence[float]) -> BoolArray:
        p = p_values(data)
        # p-values of few rows can equal a level up to rounding
        return np.array([p <= level * (1 + 1e-12) for level in levels])

    return rejections


# ------------------------------------------------------------------------------------ marginal tests


def task(data: Data) -> str:
    """Return what y is: counts are numbers here, and only integers are labels."""
    return "classification" if data.y.dtype.kind in "iu" else "regression"


def begun(selector: Any, data: Data, **rows: Any) -> Any:
    """Return a column selector that knows the target; ``rows``: how rows depend."""
    return selector.set_params(task=task(data)).begin(data.y, **{"serial": False, **rows})


def measured(make: Callable[[], Any], *, rows: bool = False) -> Callable[[Data, Sequence[float]], BoolArray]:
    """Return the p-values of a column selector's test of relevance; ``rows``: say how rows depend."""

    def p_values(data: Data) -> FloatArray:
        found = begun(make(), data, **_declared(data) if rows else {}).measure_block(data.X).relevance
        p = np.asarray(found.p_value[np.arange(data.X.shape[1])], float)
        return np.where(np.isin(found.reason, (RELEVANT, IRRELEVANT)), p, 1.0)

    return by_p_value(p_values)


def _declared(data: Data) -> dict[str, Any]:
    return {"serial": None, **data.begin}


def decided(make: Callable[[float], Any]) -> Callable[[Data, Sequence[float]], BoolArray]:
    """Return the decisions of a column selector's test of relevance, bound to each level in turn."""

    def rejections(data: Data, levels: Sequence[float]) -> BoolArray:
        found = [begun(make(level), data).measure_block(data.X).relevance for level in levels]
        return np.array([one.reason == RELEVANT for one in found])

    return rejections


def screened(criterion: str, **options: Any) -> Callable[[Data, Sequence[float]], BoolArray]:
    """Return the p-values of a row screen."""

    def p_values(data: Data) -> FloatArray:
        p: FloatArray = ss.Screen(criterion, task=task(data), **options).fit(data.X, data.y).pvalues_
        return p

    return by_p_value(p_values)


# ------------------------------------------------------------------------------------ conditional tests


def stepwise(data: Data, *, p_value: str = "auto") -> FloatArray:
    """Return p-values of columns given other ones, which a linear model keeps."""
    selector = ss.OnlineFDR(alpha=1e-3, scope="conditional", task="regression", p_value=p_value)
    selector.begin(data.y, serial=False).offer(data.given)
    if len(selector.selected_) < data.given.shape[1]:  # no test of what the family is about
        return np.ones(data.X.shape[1])
    return np.array([decision.p_value for decision in selector.offer(data.X)])


def blanket(make: Callable[[float], Any]) -> Callable[[Data, Sequence[float]], BoolArray]:
    """Return which columns a Markov blanket takes beside the given ones, each on its own."""

    def rejections(data: Data, levels: Sequence[float]) -> BoolArray:
        kept = np.zeros((len(levels), data.X.shape[1]), bool)
        for row, level in zip(kept, levels, strict=True):
            before = begun(make(level), data)
            before.offer(data.given)
            for j in range(len(row)):
                decisions = deepcopy(before).offer(data.X[:, j])
                row[j] = any(one.event is Event.KEPT for one in decisions)
        return kept

    return rejections


def stratum(test: Any, **options: Any) -> Callable[[Data, Sequence[float]], BoolArray]:
    """Return the p-values of a table test given strata."""

    def p_values(data: Data) -> FloatArray:
        kind_of_target = Task.BINARY if data.y.max() == 1 else Task.MULTICLASS
        bound = test(data.y, kind_of_target, 0.01, **options)
        found = [bound.given(x, data.given) for x in data.X.T]
        return np.array([one.p_value if one.reliable else 1.0 for one in found])

    return by_p_value(p_values)


# ------------------------------------------------------------------------------------ oracles


def robust(data: Data) -> FloatArray:
    """Return the p-values of least squares with robust standard errors, by statsmodels.

    Serial rows: Newey and West with a bandwidth of 4 (n / 100)^(2/9); groups: clusters.
    """
    from statsmodels.api import OLS, add_constant  # noqa: PLC0415 - a test dependency

    groups, n = data.begin.get("groups"), len(data.y)
    how = {"groups": groups} if groups is not None else {"maxlags": int(4 * (n / 100) ** (2 / 9))}
    name = "cluster" if groups is not None else "HAC"
    y = data.y.astype(float)
    fits = [OLS(y, add_constant(x)).fit(cov_type=name, cov_kwds=how, use_t=True) for x in data.X.T]
    return np.array([fit.pvalues[1] for fit in fits])


# ------------------------------------------------------------------------------------ the subjects


def independent(family: Family) -> bool:
    """Rows are independent, values complete, nothing given."""
    return family.kind == "independent"


def classes(family: Family) -> bool:
    """The same, and y is a label."""
    return independent(family) and "class" in family.name


def two_classes(family: Family) -> bool:
    """The same, and there are two of them."""
    return classes(family) and ("two" in family.name or "class of" in family.name)


def numeric(family: Family) -> bool:
    """The same, and y is a number."""
    return independent(family) and not classes(family)


def published(family: Family) -> bool:
    """The same, for tests that are there to reproduce papers: no need to look further."""
    return independent(family) and not family.held_back


def kind(*kinds: str) -> Callable[[Family], bool]:
    """Return whether a family is of a kind."""
    return lambda family: family.kind in kinds


dependent, strata = kind("serial", "grouped"), kind("strata")
CONDITIONAL, MISSING, ROWS = "Conditional tests", "Missing values", "Row screens"
DEPENDENT = "Tests over dependent rows"


def complete_pairs() -> ss.SAOLA:
    """Return a selector that takes missing values."""
    return ss.SAOLA(missing="omit", measure="fisher_z")


SUBJECTS = (
    Subject("correlation, z", measured(lambda: ss.OnlineFDR(p_value="z", test="fisher_z")), published),
    Subject("correlation, t", measured(lambda: ss.OnlineFDR(p_value="t", test="fisher_z")), independent),
    Subject(
        "correlation, fixed level",
        decided(lambda a: ss.SAOLA(a, measure="fisher_z")),
        independent,
        default=True,
        rows=(0, FEW),
        form=3,
    ),
    Subject(
        "correlation, online",
        measured(lambda: ss.OnlineFDR(test="fisher_z")),
        independent,
        default=True,
        form=3,
    ),
    Subject("by type, fixed level", decided(ss.SAOLA), independent, default=True, rows=(0, FEW), form=2),
    Subject("by type, online", measured(ss.OnlineFDR), independent, default=True, form=2),
    Subject("rank basis, online", measured(lambda: ss.OnlineFDR(test="basis")), independent, form=2),
    Subject("G2, chi2", measured(lambda: ss.FastOSFS(test="g2", p_value="chi2")), published),
    Subject("X2, chi2", measured(lambda: ss.FastOSFS(test="chi2", p_value="chi2")), published),
    Subject(
        "tables, fixed level",
        decided(lambda a: ss.FastOSFS(a, test="g2")),
        independent,
        default=True,
        rows=(0, FEW),
        form=2,
    ),
    Subject(
        "tables, online",
        measured(lambda: ss.FastOSFS(0.05, test="g2", fdr="addis")),
        independent,
        default=True,
        form=2,
    ),
    Subject(
        "t in a linear model, not confirmed",
        by_p_value(partial(stepwise, p_value="t")),
        kind("given", "model"),
        CONDITIONAL,
    ),
    Subject(
        "t in a linear model", by_p_value(stepwise), kind("given", "model"), CONDITIONAL, default=True, form=3
    ),
    Subject(
        "FastOSFS",
        blanket(lambda a: ss.FastOSFS(a, test="fisher_z")),
        kind("given"),
        CONDITIONAL,
        default=True,
        columns=ONE_BY_ONE,
    ),
    Subject(
        "FastOSFS, by type",
        blanket(ss.FastOSFS),
        kind("given"),
        CONDITIONAL,
        default=True,
        columns=ONE_BY_ONE,
    ),
    Subject(
        "FastOSFS, rank basis",
        blanket(lambda a: ss.FastOSFS(a, test="basis")),
        kind("given"),
        CONDITIONAL,
        columns=ONE_BY_ONE,
        form=2,
    ),
    Subject(
        "FastOSFS, missing omitted",
        blanket(lambda a: ss.FastOSFS(a, missing="omit", test="fisher_z")),
        kind("given, missing"),
        CONDITIONAL,
        default=True,
        columns=ONE_BY_ONE,
    ),
    Subject("G2, chi2, strata", stratum(GSquared, p_value="chi2"), strata, CONDITIONAL, columns=STRATUM),
    Subject("X2, chi2, strata", stratum(ChiSquareTest, p_value="chi2"), strata, CONDITIONAL, columns=STRATUM),
    Subject("tables, strata", stratum(GSquared), strata, CONDITIONAL, default=True, columns=STRATUM),
    Subject(
        "correlation, missing omitted",
        measured(complete_pairs),
        kind("missing"),
        MISSING,
        default=True,
        form=2,
    ),
    Subject(
        "correlation, rows declared", measured(ss.OnlineFDR, rows=True), dependent, DEPENDENT, default=True
    ),
    Subject("correlation, not declared", measured(ss.OnlineFDR), dependent, DEPENDENT),
    Subject("statsmodels, HAC or cluster", by_p_value(robust), dependent, DEPENDENT, columns=ONE_BY_ONE),
    Subject("rows, t", screened("t"), two_classes, ROWS, default=True, rows=MANY),
    Subject("rows, F", screened("f"), classes, ROWS, default=True, rows=MANY),
    Subject("rows, correlation", screened("correlation"), numeric, ROWS, default=True, rows=MANY),
    Subject("rows, chi2", screened("chi2"), classes, ROWS, default=True, rows=MANY),
    Subject("rows, mutual information", screened("mutual_info"), independent, ROWS, default=True, rows=MANY),
)
