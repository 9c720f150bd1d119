"""Null families chosen after the tests had been written: their developers had not looked at them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.stats
from scipy.signal import lfilter

from studies.calibration.families import (
    BURN_IN,
    LARGE,
    Data,
    Drawn,
    Family,
    Generator,
    bernoulli,
    exact_labels,
    independent,
    labelled,
    levels,
    lognormal,
    pareto,
    student,
)

# ------------------------------------------------------------------------------------ marginals


def laplace_product(rng: Generator, shape: Any) -> Drawn:
    """Product of two Laplace variables."""
    return rng.laplace(size=shape) * rng.laplace(size=shape)


def log_cauchy(rng: Generator, shape: Any) -> Drawn:
    """Exponential of a Cauchy variable, cut where doubles would end."""
    return np.exp(np.clip(rng.standard_cauchy(shape), -100, 100))


def u_shaped(rng: Generator, shape: Any) -> Drawn:
    """Beta with both parameters 0.2: most values are near 0 or 1."""
    return rng.beta(0.2, 0.2, shape)


def zipf(rng: Generator, shape: Any) -> Drawn:
    """Counts with a power tail."""
    return np.minimum(rng.zipf(1.8, shape), 10**6).astype(float)


def hurdle(rng: Generator, shape: Any) -> Drawn:
    """Four zeros in five, else gamma: amounts."""
    return np.where(rng.random(shape) < 0.2, rng.gamma(0.5, 10.0, shape), 0.0)


def saturated(rng: Generator, shape: Any) -> Drawn:
    """A sensor that reads in steps of 0.1 and stops at 2."""
    return np.clip(np.round(np.exp(0.8 * rng.standard_normal(shape)), 1), 0.1, 2.0)


def weibull(rng: Generator, shape: Any) -> Drawn:
    """Weibull with shape 0.5."""
    return rng.weibull(0.5, shape)


def negative_binomial(rng: Generator, shape: Any) -> Drawn:
    """Overdispersed counts with mean 2."""
    return rng.negative_binomial(0.4, 1 / 6, shape).astype(float)


def score(rng: Generator, n: int) -> Drawn:
    """A rating in seven steps of a half, most of them low."""
    return 0.5 * levels(0.45, 0.25, 0.12, 0.08, 0.05, 0.03, 0.02)(rng, n)


def inverse_gamma(rng: Generator, shape: Any) -> Drawn:
    """Reciprocal of a gamma variable: finite mean, infinite variance."""
    return 1.0 / rng.gamma(1.3, size=shape)


def arcsine(rng: Generator, shape: Any) -> Drawn:
    """A sine wave at random times."""
    return np.sin(2 * np.pi * rng.random(shape))


def skellam(rng: Generator, shape: Any) -> Drawn:
    """Difference of two counts, of which one is rare."""
    return (rng.poisson(2.0, shape) - 5.0 * rng.poisson(0.1, shape)).astype(float)


def two_modes(rng: Generator, shape: Any) -> Drawn:
    """Normal around 0, or in one of twelve cases around 8."""
    return rng.standard_normal(shape) + 8.0 * (rng.random(shape) < 1 / 12)


def levy(rng: Generator, shape: Any) -> Drawn:
    """One-sided stable, without a mean."""
    return 1.0 / np.maximum(rng.standard_normal(shape) ** 2, 1e-12)


def rounded_powers(rng: Generator, shape: Any) -> Drawn:
    """Whole numbers with a power tail, half of them 1."""
    return np.floor(rng.random(shape) ** -1.0)


def common_scale(rng: Generator, n: int, m: int) -> Data:
    """Squares of normals whose scale changes from row to row, in all columns alike, and a lognormal y."""
    scale = np.exp(0.7 * rng.standard_normal((n, 1)))
    return Data(scale * rng.standard_normal((n, m)) ** 2, np.exp(rng.standard_normal(n)))


# ------------------------------------------------------------------------------------ dependence


def copula(rng: Generator, n: int, m: int) -> Data:
    """Exchangeable lognormal columns with a t4 copula, which ties their extremes together."""
    shared, own = rng.standard_normal((n, 1)), rng.standard_normal((n, m))
    t = np.sqrt(0.5) * (shared + own) / np.sqrt(rng.chisquare(4, (n, 1)) / 4)
    X = np.exp(scipy.stats.norm.ppf(scipy.stats.t.cdf(t, 4)))
    return Data(X, rng.permutation(exact_labels(n, (0.8, 0.2))))


def filtered(b: list[float], a: list[float]) -> Callable[[Generator, int, int], Data]:
    """Return a draw of linear time series, in the columns and in the target."""

    def draw(rng: Generator, n: int, m: int) -> Data:
        series = lfilter(b, a, rng.standard_normal((n + BURN_IN, m + 1)), axis=0)[BURN_IN:]
        return Data(np.ascontiguousarray(series[:, 1:]), series[:, 0], {"serial": True})

    return draw


def garch(rng: Generator, n: int, m: int) -> Data:
    """GARCH(1, 1) rows: uncorrelated, with a variance that is persistent."""
    noise = rng.standard_normal((n + BURN_IN, m + 1))
    series, variance = np.empty_like(noise), np.ones(m + 1)
    for t in range(len(noise)):
        series[t] = np.sqrt(variance) * noise[t]
        variance = 0.05 + 0.15 * series[t] ** 2 + 0.8 * variance
    return Data(np.ascontiguousarray(series[BURN_IN:, 1:]), series[BURN_IN:, 0], {"serial": True})


def unequal(rng: Generator, n: int, m: int, *, constant: bool) -> Data:
    """Groups of very different sizes, from 1 row to a quarter of all."""
    sizes = np.maximum(np.round(n * 0.25 * 0.8 ** np.arange(40)), 1).astype(int)
    label = np.repeat(np.arange(40), sizes)[:n]
    groups = int(label.max()) + 1
    shared, own = rng.standard_normal((groups, m + 1)), rng.standard_normal((n, m + 1))
    both = np.sqrt(0.3) * shared[label] + np.sqrt(0.7) * own
    y = rng.permutation(np.arange(groups) % 2)[label] if constant else both[:, 0]
    return Data(np.ascontiguousarray(both[:, 1:]), y, {"groups": label})


def heavy_residuals(rng: Generator, n: int, m: int) -> Data:
    """Columns that depend on y through two given ones; what is left is lognormal in x and t3 in y."""
    Z = rng.standard_normal((n, 2))
    y = 5 * Z.sum(axis=1) + rng.standard_t(3, n)
    X = Z.sum(axis=1)[:, None] + np.exp(rng.standard_normal((n, m)))
    return Data(X, y, given=Z)


def pareto_residuals(rng: Generator, n: int, m: int) -> Data:
    """Columns that depend on y through a given one; what is left is Pareto in x and Laplace in y."""
    Z = rng.standard_normal((n, 1))
    return Data(Z + rng.pareto(2.5, (n, m)), 8 * Z[:, 0] + rng.laplace(size=n), given=Z)


def rare_class_given(rng: Generator, n: int, m: int) -> Data:
    """A class of 15 % that a given column nearly decides; columns are this one and gamma noise."""
    Z = rng.standard_normal((n, 1))
    latent = 4 * Z[:, 0] + rng.standard_normal(n)
    y = (latent > np.quantile(latent, 0.85)).astype(int)
    return Data(Z + rng.gamma(0.5, size=(n, m)), y, given=Z)


def modelled(
    k: int, x: Callable[[Generator, Any], Drawn], y: Callable[[Generator, Any], Drawn], copies: float = 0.0
) -> Callable[[Generator, int, int], Data]:
    """Return a draw of columns that depend on y through k given ones; x and y draw what a model leaves.

    Effects of the given columns fall by a factor of 6, so that each in turn is significant.  ``copies``: the
    share that given columns have in common.
    """

    def draw(rng: Generator, n: int, m: int) -> Data:
        Z = copies * rng.standard_normal((n, 1)) + (1 - copies) * rng.standard_normal((n, k))
        effects = 6.0 ** np.arange(k + 1, 1, -1) / (1 - copies)
        return Data(Z.mean(axis=1)[:, None] + x(rng, (n, m)), Z @ effects + y(rng, n), given=Z)

    return draw


def counts_given(rng: Generator, n: int, m: int) -> Data:
    """Columns and y are counts, and five levels of a given column move both."""
    Z = rng.integers(0, 5, (n, 1)).astype(float)
    return Data(Z + rng.poisson(0.4, (n, m)), 9 * Z[:, 0] + rng.poisson(0.4, n) + 0.5, given=Z)


def rarer_class_given(rng: Generator, n: int, m: int) -> Data:
    """A class of 5 % that a given column nearly decides; columns are this one and lognormal noise."""
    Z = rng.standard_normal((n, 1))
    latent = 4 * Z[:, 0] + rng.standard_normal(n)
    y = (latent > np.quantile(latent, 0.95)).astype(int)
    return Data(Z + np.exp(rng.standard_normal((n, m))), y, given=Z)


def bursts(rng: Generator, n: int, m: int) -> Data:
    """Runs of ten rows are missing, in each column others; values are skewed."""
    lost = np.repeat(rng.random((-(-n // 10), m)) < 0.3, 10, axis=0)[:n]
    return Data(np.where(lost, np.nan, rng.gamma(0.5, size=(n, m))), rng.gamma(0.5, size=n))


def tiny_strata(rng: Generator, n: int, m: int) -> Data:
    """Two levels (20 %), two classes (30 %), and strata of about five rows."""
    z = rng.integers(0, n // 5, n)
    y, X = (rng.random(n) < 0.3).astype(int), (rng.random((n, m)) < 0.2).astype(float)
    return Data(X, y, given=z[:, None].astype(float))


GEOMETRIC = (*(0.5 ** np.arange(1, 12)).tolist(), 0.5**11)
late = partial(Family, held_back=True)
HELD_BACK = (
    late("products of Laplaces, x and y", independent(laplace_product, laplace_product)),
    late("log-Cauchy x, t2 y", independent(log_cauchy, student(2))),
    late("beta(0.2, 0.2) x and y", independent(u_shaped, u_shaped)),
    late("Zipf counts, class of 3 %", labelled(zipf, 0.97, 0.03), LARGE),
    late("amounts (80 % zeros), class of 8 %", labelled(hurdle, 0.92, 0.08), LARGE),
    late("saturated sensor, x and y", independent(saturated, saturated)),
    late("amounts (80 % zeros), score in 7 skewed steps", independent(hurdle, score)),
    late("ones (30 %), t2 y", independent(bernoulli(0.3), student(2))),
    late("Weibull x, four classes (7:1:1:1)", labelled(weibull, 0.7, 0.1, 0.1, 0.1)),
    late("overdispersed counts, x and y", independent(negative_binomial, negative_binomial)),
    late("12 geometric levels, three skewed classes", labelled(levels(*GEOMETRIC), 0.8, 0.15, 0.05), LARGE),
    late("lognormal columns, t4 copula, two classes (4:1)", copula),
    late("inverse gamma x, two classes (3:1)", labelled(inverse_gamma, 0.75, 0.25), (15, 60)),
    late("sine wave x, Pareto y", independent(arcsine, pareto), (15, 60)),
    late("differences of counts, x and y", independent(skellam, skellam), (15, 60)),
    late("two far modes, class of 12 %", labelled(two_modes, 0.88, 0.12), (15, 60)),
    late("one-sided stable x, four equal classes", labelled(levy, 0.25, 0.25, 0.25, 0.25), (15, 60)),
    late("rounded powers x, classes 90:7:3", labelled(rounded_powers, 0.9, 0.07, 0.03), (60,)),
    late("squares with a common scale, lognormal y", common_scale, (15, 60)),
    late("missing in bursts, gamma x and y", bursts, kind="missing"),
    late("x, y depend through given, heavy residuals", heavy_residuals, (100, 300), kind="given"),
    late(
        "x, y depend through one given, Pareto and Laplace left", pareto_residuals, (100, 300), kind="given"
    ),
    late("class of 15 %, gamma x, through one given", rare_class_given, (100, 300), kind="given"),
    late(
        "two given over 20 rows, Weibull and t2 left", modelled(2, weibull, student(2)), (20,), kind="model"
    ),
    late("counts, x and y, through one given", counts_given, (60,), kind="model"),
    late("class of 5 %, lognormal x, through one given", rarer_class_given, (140,), kind="model"),
    late(
        "three near copies given, lognormal and t3 left",
        modelled(3, lognormal, student(3), 0.9),
        (60,),
        kind="model",
    ),
    late(
        "five given over 16 rows, lognormal and t3 left",
        modelled(5, lognormal, student(3)),
        (16,),
        kind="model",
    ),
    late("20 flat levels, class of 6 %", labelled(levels(*(0.05,) * 20), 0.94, 0.06), (300,)),
    late("15 flat levels, three classes (8:1:1)", labelled(levels(*(1 / 15,) * 15), 0.8, 0.1, 0.1), (250,)),
    late("2 levels, 2 classes, strata of 5 rows", tiny_strata, (100, 200), kind="strata"),
    late("MA(5) rows", filtered([1.0] * 6, [1.0]), (200, 600), kind="serial"),
    late("seasonal rows, lag 12", filtered([1.0], [1.0, *[0.0] * 11, -0.7]), (200, 600), kind="serial"),
    late("oscillating AR(2) rows", filtered([1.0], [1.0, -1.2, 0.8]), (200, 600), kind="serial"),
    late("GARCH(1, 1) rows", garch, (200, 600), kind="serial"),
    late("unequal groups, y constant", partial(unequal, constant=True), (200,), kind="grouped"),
    late("unequal groups, y varies", partial(unequal, constant=False), (200,), kind="grouped"),
)
