"""Null families: distributions of columns and a target that are independent of each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

Generator = np.random.Generator
Drawn = npt.NDArray[Any]

SMALL, SIZES, LARGE = (8, 20, 100, 400), (20, 100, 400), (100, 400)
#: Rows that are dropped before a series begins, so that it is stationary.
BURN_IN = 200


@dataclass(frozen=True)
class Data:
    """A block of null columns and its target.

    Attributes
    ----------
    X : the columns
    y : the target: int labels, or float numbers
    begin : keyword arguments of ``begin`` that describe the rows
    given : columns on which y depends, given which the columns of X are independent of y
    """

    X: Drawn
    y: Drawn
    begin: dict[str, Any] = field(default_factory=dict)
    given: Drawn | None = None


@dataclass(frozen=True)
class Family:
    """A null family.

    Attributes
    ----------
    name : what the columns and the target are
    draw : function of a generator, rows and columns
    sizes : numbers of rows
    kind : "independent" rows; "serial" or "grouped" rows; "missing" values; "given" columns, or
        "strata"; "given, missing"; "model": given columns that only a linear model takes
    held_back : chosen after the tests were written
    """

    name: str
    draw: Callable[[Generator, int, int], Data]
    sizes: tuple[int, ...] = SIZES
    kind: str = "independent"
    held_back: bool = False


# ------------------------------------------------------------------------------------ marginals

Marginal = Callable[[Generator, Any], Drawn]


def gaussian(rng: Generator, shape: Any) -> Drawn:
    """Standard normal."""
    return rng.standard_normal(shape)


def lognormal(rng: Generator, shape: Any) -> Drawn:
    """Exponential of a standard normal."""
    return np.exp(rng.standard_normal(shape))


def student(freedom: float) -> Marginal:
    """Student's t."""
    return lambda rng, shape: rng.standard_t(freedom, shape)


def bernoulli(share: float) -> Marginal:
    """Zeros and ones."""
    return lambda rng, shape: (rng.random(shape) < share).astype(float)


def poisson(mean: float) -> Marginal:
    """Counts."""
    return lambda rng, shape: rng.poisson(mean, shape).astype(float)


def levels(*shares: float) -> Marginal:
    """Category codes with these probabilities."""
    edges = np.cumsum(shares)[:-1]
    return lambda rng, shape: np.searchsorted(edges, rng.random(shape)).astype(float)


def rounded(rng: Generator, shape: Any) -> Drawn:
    """A normal rounded to whole numbers: five values or so."""
    return np.round(rng.standard_normal(shape))


def sparse(rng: Generator, shape: Any) -> Drawn:
    """Nineteen zeros in twenty, else lognormal."""
    return np.where(rng.random(shape) < 0.05, np.exp(rng.standard_normal(shape)), 0.0)


def contaminated(rng: Generator, shape: Any) -> Drawn:
    """Normal, with one value in a hundred from a normal thirty times as wide."""
    return rng.standard_normal(shape) * np.where(rng.random(shape) < 0.01, 30.0, 1.0)


def pareto(rng: Generator, shape: Any) -> Drawn:
    """Pareto with infinite variance: tail index 1.5."""
    return rng.pareto(1.5, shape)


FLAT5, SKEWED5 = (0.2,) * 5, (0.6, 0.25, 0.1, 0.04, 0.01)


def independent(x: Marginal, y: Marginal) -> Callable[[Generator, int, int], Data]:
    """Return a draw of independent columns with a numeric target."""
    return lambda rng, n, m: Data(x(rng, (n, m)), varied(y, rng, n))


def labelled(x: Marginal, *shares: float) -> Callable[[Generator, int, int], Data]:
    """Return a draw of independent columns with classes of exactly these shares."""

    def draw(rng: Generator, n: int, m: int) -> Data:
        return Data(x(rng, (n, m)), rng.permutation(exact_labels(n, shares)))

    return draw


def exact_labels(n: int, shares: tuple[float, ...]) -> Drawn:
    """Return sorted labels; every class has its share of the rows, and at least two."""
    counts = np.maximum(np.round(n * np.array(shares)), 2).astype(int)
    counts[int(np.argmax(counts))] += n - counts.sum()
    return np.repeat(np.arange(len(shares)), counts)


def varied(y: Marginal, rng: Generator, n: int) -> Drawn:
    """Return a target that is not constant."""
    while True:
        drawn = y(rng, n)
        if np.ptp(drawn) > 0:
            return drawn


# ------------------------------------------------------------------------------------ dependence


def equicorrelated(rng: Generator, n: int, m: int) -> Data:
    """Columns that share a factor: every two correlate by 0.5."""
    shared = rng.standard_normal((n, 1))
    return Data(np.sqrt(0.5) * (shared + rng.standard_normal((n, m))), rng.standard_normal(n))


def copies(rng: Generator, n: int, m: int) -> Data:
    """Runs of ten columns that correlate by 0.95."""
    origin = np.repeat(rng.standard_normal((n, -(-m // 10))), 10, axis=1)[:, :m]
    X = np.sqrt(0.95) * origin + np.sqrt(0.05) * rng.standard_normal((n, m))
    return Data(X, rng.permutation(exact_labels(n, (0.5, 0.5))))


def autoregressive(phi: float, *, classes: bool = False) -> Callable[[Generator, int, int], Data]:
    """Return a draw of AR(1) rows, in the columns and in the target."""

    def draw(rng: Generator, n: int, m: int) -> Data:
        noise = rng.standard_normal((n + BURN_IN, m + 1))
        series = lfilter([1.0], [1.0, -phi], noise, axis=0)[BURN_IN:]
        y = (series[:, 0] > 0).astype(int) if classes else series[:, 0]
        return Data(np.ascontiguousarray(series[:, 1:]), y, {"serial": True})

    return draw


def clusters(groups: int, *, constant: bool) -> Callable[[Generator, int, int], Data]:
    """Return a draw of rows in equal groups with intraclass correlation 0.3; y may be constant in each."""

    def draw(rng: Generator, n: int, m: int) -> Data:
        label = np.repeat(np.arange(groups), n // groups)
        shared, own = rng.standard_normal((groups, m + 1)), rng.standard_normal((len(label), m + 1))
        both = np.sqrt(0.3) * shared[label] + np.sqrt(0.7) * own
        y = rng.permutation(np.arange(groups) % 2)[label] if constant else both[:, 0]
        return Data(np.ascontiguousarray(both[:, 1:]), y, {"groups": label})

    return draw


def incomplete(when: str) -> Callable[[Generator, int, int], Data]:
    """Return a draw of columns with missing values: at random, by their own value, or where y is large."""

    def draw(rng: Generator, n: int, m: int) -> Data:
        X, y = rng.standard_normal((n, m)), rng.standard_normal(n)
        own = {"random": rng.random((n, m)) < 0.4, "own": X > 0.5, "target": np.tile(y[:, None] > 0.5, m)}
        return Data(np.where(own[when], np.nan, X), y)

    return draw


def confounded(when: str) -> Callable[[Generator, int, int], Data]:
    """Return columns that depend on y through two given columns only, with missing values or without."""

    def draw(rng: Generator, n: int, m: int) -> Data:
        Z = rng.standard_normal((n, 2))
        y = 5 * Z.sum(axis=1) + rng.standard_normal(n)  # so strong that the given columns are always kept
        X = Z.sum(axis=1)[:, None] + rng.standard_normal((n, m))
        lost = {
            "never": np.zeros((n, m), bool), "random": rng.random((n, m)) < 0.4,
            "target": np.tile(y[:, None] > 2, m),
        }  # fmt: skip
        return Data(np.where(lost[when], np.nan, X), y, given=Z)

    return draw


def stratified(x_levels: int, classes: int, strata: int) -> Callable[[Generator, int, int], Data]:
    """Return category codes and classes that depend on each other through a given column of strata only."""

    def draw(rng: Generator, n: int, m: int) -> Data:
        z = rng.integers(0, strata, n)
        y = (z + rng.integers(0, 2, n) * rng.integers(0, classes, n)) % classes
        X = (z[:, None] + rng.integers(0, 2, (n, m)) * rng.integers(0, x_levels, (n, m))) % x_levels
        return Data(X.astype(float), y, given=z[:, None].astype(float))

    return draw


def flat_strata(x_levels: int, classes: int, strata: int) -> Callable[[Generator, int, int], Data]:
    """Return category codes, classes and a given column of strata, all uniform and independent."""

    def draw(rng: Generator, n: int, m: int) -> Data:
        z, y = rng.integers(0, strata, n), rng.integers(0, classes, n)
        return Data(rng.integers(0, x_levels, (n, m)).astype(float), y, given=z[:, None].astype(float))

    return draw


# ------------------------------------------------------------------------------------ the families

DESIGNED = (
    Family("Gaussian x, Gaussian y", independent(gaussian, gaussian), SMALL),
    Family("lognormal x, Gaussian y", independent(lognormal, gaussian), SMALL),
    Family("rare ones in x (10 %), Gaussian y", independent(bernoulli(0.1), gaussian)),
    Family("Gaussian x, two equal classes", labelled(gaussian, 0.5, 0.5), SMALL),
    Family("lognormal x, two equal classes", labelled(lognormal, 0.5, 0.5)),
    Family("lognormal x, lognormal y", independent(lognormal, lognormal), SMALL),
    Family("t3 x, t3 y", independent(student(3), student(3))),
    Family("Cauchy x, Cauchy y", independent(student(1), student(1))),
    Family("Pareto x, Pareto y", independent(pareto, pareto)),
    Family("contaminated x, contaminated y", independent(contaminated, contaminated)),
    Family("rare ones in x (10 %), lognormal y", independent(bernoulli(0.1), lognormal)),
    Family("lognormal x, class of 5 %", labelled(lognormal, 0.95, 0.05), LARGE),
    Family("lognormal x, class of 1 %", labelled(lognormal, 0.99, 0.01), (1000,)),
    Family("counts (mean 0.3), class of 5 %", labelled(poisson(0.3), 0.95, 0.05), LARGE),
    Family("ones (50 %), two equal classes", labelled(bernoulli(0.5), 0.5, 0.5), SMALL),
    Family("ones (10 %), two equal classes", labelled(bernoulli(0.1), 0.5, 0.5)),
    Family("ones (3 %), class of 10 %", labelled(bernoulli(0.03), 0.9, 0.1), LARGE),
    Family("rounded x, rounded y (ties)", independent(rounded, rounded)),
    Family("sparse x (95 % zeros), Gaussian y", independent(sparse, gaussian)),
    Family("sparse x (95 % zeros), class of 10 %", labelled(sparse, 0.9, 0.1)),
    Family("Gaussian x, three classes", labelled(gaussian, 0.5, 0.3, 0.2)),
    Family("lognormal x, five skewed classes", labelled(lognormal, *SKEWED5), LARGE),
    Family("five flat levels, five flat classes", labelled(levels(*FLAT5), *FLAT5)),
    Family("five skewed levels, five skewed classes", labelled(levels(*SKEWED5), *SKEWED5), LARGE),
    Family("ten flat levels, two classes", labelled(levels(*(0.1,) * 10), 0.5, 0.5)),
    Family("equicorrelated Gaussian columns, Gaussian y", equicorrelated),
    Family("blocks of ten near copies, two equal classes", copies),
    Family("missing at random (40 %)", incomplete("random"), kind="missing"),
    Family("missing where x is large", incomplete("own"), kind="missing"),
    Family("missing where y is large", incomplete("target"), kind="missing"),
    Family("x, y depend through two given columns", confounded("never"), (100, 300), kind="given"),
    Family("the same, 40 % missing at random", confounded("random"), (300,), kind="given, missing"),
    Family("the same, missing where y is large", confounded("target"), (300,), kind="given, missing"),
    Family("3 levels, 3 classes, 9 flat strata given", flat_strata(3, 3, 9), (90, 180), kind="strata"),
    Family("3 levels, 3 classes depend through 9 strata", stratified(3, 3, 9), (180,), kind="strata"),
    Family("2 levels, 2 classes depend through 8 strata", stratified(2, 2, 8), (80, 200), kind="strata"),
    Family("AR(1) rows, 0.5", autoregressive(0.5), (200, 600), kind="serial"),
    Family("AR(1) rows, 0.8", autoregressive(0.8), (200, 600), kind="serial"),
    Family("AR(1) rows, 0.8, two classes", autoregressive(0.8, classes=True), (200, 600), kind="serial"),
    Family("30 groups, y constant in a group", clusters(30, constant=True), (300,), kind="grouped"),
    Family("30 groups, y varies in a group", clusters(30, constant=False), (300,), kind="grouped"),
    Family("10 groups, y varies in a group", clusters(10, constant=False), (200,), kind="grouped"),
)
