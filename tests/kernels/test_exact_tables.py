"""Fisher's exact test and random tables, compiled or not."""

import itertools
import math

import numba
import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import fisher_exact

from streamsieve._kernels import exact_tables as kernel
from streamsieve.independence.table_p_values import STOP, RandomTables
from tests.helpers.tier import cases
from tests.reference import table_moments as twin


def log_factorial(n):
    return gammaln(np.arange(n + 1.0) + 1)


def test_fisher_is_that_of_scipy_for_every_table_of_some_margins():
    for n, ones, fewest in itertools.product((1, 2, 5, 8, 13), range(14), range(14)):
        if ones > n or fewest > n:
            continue
        for corner in range(max(0, ones + fewest - n), min(ones, fewest) + 1):
            table = [[corner, fewest - corner], [ones - corner, n - ones - fewest + corner]]
            p = kernel.fisher_one(corner, fewest, ones, n, log_factorial(n))
            assert p == pytest.approx(fisher_exact(table).pvalue, rel=1e-10), table


def test_fisher_is_that_of_scipy_in_large_and_lopsided_tables():
    rng = np.random.default_rng(0)
    for _ in range(cases(300)):
        n = int(10 ** rng.uniform(0.5, 5))
        ones, fewest = (int(n * rng.uniform() ** 3) for _ in range(2))
        low, high = max(0, ones + fewest - n), min(ones, fewest)
        spread = math.sqrt(max(ones * fewest / n, 1)) * rng.choice([1, 5, 100])
        corner = int(np.clip(rng.normal(ones * fewest / n, spread), low, high))
        # with its row or without; large tables are not remembered
        remembered = fewest + int(rng.integers(2)) if fewest * ones < 2**22 else 0
        out, known = np.zeros(1), np.zeros((remembered, ones + 1))
        for _ in range(2):  # computed, and looked up
            kernel.fisher(np.array([corner]), np.array([fewest]), ones, n, log_factorial(n), known, out)
            assert out[0] == kernel.fisher_one(corner, fewest, ones, n, log_factorial(n))
        wanted = fisher_exact([[corner, fewest - corner], [ones - corner, n - ones - fewest + corner]]).pvalue
        assert out[0] == pytest.approx(wanted, rel=1e-7, abs=1e-290), (n, ones, fewest, corner)


@pytest.mark.parametrize("alpha", [1e-6, 0.01, 0.05, 0.3, 0.9])
def test_bounds_are_where_the_p_value_crosses_alpha(alpha):
    for n, ones in ((7, 3), (40, 20), (60, 1), (200, 13), (50, 50)):
        lf = log_factorial(n)
        low, high = np.zeros((2, n // 2 + 1), np.int64)
        kernel.fisher_bounds(ones, n, alpha, lf, low, high)
        for fewest in range(1, len(low)):
            for corner in range(max(0, ones + fewest - n), min(ones, fewest) + 1):
                significant = kernel.fisher_one(corner, fewest, ones, n, lf) <= alpha
                assert significant == (not low[fewest] <= corner <= high[fewest]), (n, ones, fewest, corner)


def random_tables(rng, most=4):
    r, c = rng.integers(2, most, 2)
    share = np.outer(rng.dirichlet(np.ones(r)), rng.dirichlet(np.ones(c))).ravel()
    return [rng.multinomial(rng.integers(4, 25), share).reshape(r, c) for _ in range(rng.integers(1, 4))]


def test_cells_are_tested_as_the_twin_does():
    rng = np.random.default_rng(1)
    for _ in range(cases(50)):
        used = [twin.occurring(t) for t in random_tables(rng, 5) if twin.moments(t)[2] > 0]
        if not used:
            continue
        found = [kernel.cell_p_value(t, log_factorial(30)) for t in used]
        assert min(1.0, min(p for p, _ in found) * sum(k for _, k in found)) == pytest.approx(
            twin.cell_p(used), rel=1e-9
        )


def flat(margins, side):
    pieces = [m[side] for m in margins]
    return np.concatenate(pieces).astype(np.int64), np.cumsum([0, *map(len, pieces)])


def test_random_tables_are_those_of_the_twin():
    rng = np.random.default_rng(2)
    for _ in range(cases(30)):
        tables = random_tables(rng)
        margins = twin.margins_of(tables)
        if not margins:
            continue
        observed = sum(twin.moments(table)[0] for table in tables)
        wanted = [s >= observed * (1 - 1e-9) for s, _ in zip(twin.draws(margins), range(100), strict=False)]
        for stop in (3, 1000):
            at = int(np.argmax(np.cumsum(wanted) == stop)) + 1 if sum(wanted) >= stop else 100
            with np.errstate(over="ignore"):  # without the JIT, NumPy notices that random numbers wrap around
                found = kernel.exceedances(*flat(margins, 0), *flat(margins, 1), observed, 100, stop)
            assert found == (sum(wanted[:at]), at)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="half a million draws are for compiled code")
def test_random_tables_have_their_hypergeometric_probabilities():
    """A 2 x 2 table is as large as the observed one as often as Fisher's test (here by X squared) says."""
    for margins in ([((3, 17), (5, 15))], [((10, 10), (9, 11))], [((1, 29), (1, 29))]):
        (ones, rest), (fewest, _) = margins[0]
        n, lf = ones + rest, log_factorial(sum(margins[0][0]))
        corners = np.arange(max(0, ones + fewest - n), min(ones, fewest) + 1)
        share = np.exp([kernel._log_probability(k, fewest, ones, n, lf) for k in corners])
        assert share.sum() == pytest.approx(1.0)
        statistic = np.array(
            [twin.pearson(np.array([[k, fewest - k], [ones - k, n - ones - fewest + k]])) for k in corners]
        )
        for observed in np.unique(statistic):
            wanted = min(1.0, share[statistic >= observed * (1 - 1e-9)].sum())
            found, draws = kernel.exceedances(*flat(margins, 0), *flat(margins, 1), observed, 20_000, 10**9)
            assert found / draws == pytest.approx(
                wanted, abs=4 * math.sqrt(wanted * (1 - wanted) / draws) + 1e-12
            )


def test_remembered_tables_are_those_that_are_drawn():
    rng = np.random.default_rng(5)
    for _ in range(20):
        margins = [[[int(m) for m in np.sort(rng.integers(1, 9, k))] for k in rng.integers(2, 5, 2)]]
        rows = min(sum(margins[0][0]), sum(margins[0][1]))
        for side in margins[0]:  # both sides count the same rows
            side[-1] += rows + 40 - sum(side)
        flats = *flat(margins, 0), *flat(margins, 1)
        most = int(rng.choice([5, 200]))
        with np.errstate(over="ignore"):  # without the JIT, NumPy notices that random numbers wrap around
            tables = RandomTables(*map(tuple, margins[0]), most)
            for observed in rng.choice([0.0, 0.5, 3.0, 5.0, 8.0, 15.0, 1e9], 6).tolist():
                assert tables.exceedances(observed) == kernel.exceedances(*flats, observed, most, STOP)
