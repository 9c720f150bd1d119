"""Slow twin of the p-values of ``p_value="moments"``: one table at a time, formulas as printed.

1. Given its margins, Pearson's statistic of a stratum with n rows, r levels and c classes that occur has

       mean      n (r - 1)(c - 1) / (n - 1)
       variance  2 n / (n - 3) (v_1 - w_1)(v_2 - w_2) + n^2 / (n - 1) w_1 w_2
       v_1 = (n - r)(r - 1) / (n - 1),   w_1 = (n sum 1 / n_i. - r^2) / (n - 2),   v_2, w_2 with c and n_.j

   under permutation (Haldane 1940; Dawson 1954).  Strata with n < 4, and those in which all permutations have
   the same statistic, are left out.  Statistics, means and variances add up over strata.
2. p is the tail of the gamma distribution with that mean and variance.  No variance: there is no test, p = 1.
3. A 2 x 2 table without strata has Fisher's p-value if an expected count is below 5, or always (``exact``).
4. Where p <= alpha and the smallest expected count of any stratum is below 1, p must be confirmed by
   tests that hold at every level: p = max(p, valid).  At a fixed level only if the last term of the
   variance, summed over strata, is more than a twentieth of it, or a single table has a level or class of
   fewer than four rows.  The smallest p-value of Fisher's exact
   tests of level i against the others and class j against the others, times their number (Bonferroni),
   is p_cell.  If 2 p_cell <= 1 / B, valid = 2 p_cell.  Else tables are drawn with the same margins: h =
   10 exceedances after l draws give 10 / l (Besag and Clifford 1991), b < 10 after all B draws 2 min((1
   + b) / (1 + B), p_cell).  B = 40 / alpha at a fixed level and 100,000 for an online rule, and 100,000
   at most.

Draws depend on the sorted margins only, so names of levels and order of rows mean nothing.
"""

import copy
import functools
import itertools
import math

import numpy as np
from scipy.special import gammaincc

MOST_DRAWS = 100_000
STOP = 10
MASK = 2**64 - 1


def occurring(table):
    """Return the table without empty rows and columns."""
    table = np.asarray(table)
    return table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]


def fisher_p(table):
    """Return Fisher's exact p-value, by counting in whole numbers."""
    (k, b), (c, d) = np.asarray(table).tolist()
    row, column, low = k + b, k + c, max(0, k - d)
    ways = [math.comb(row, low) * math.comb(c + d, column - low)]
    for a in range(low, min(row, column)):
        ways.append(ways[-1] * (row - a) * (column - a) // ((a + 1) * (d - k + a + 1)))
    return sum(way for way in ways if way <= ways[k - low]) / sum(ways)


def pearson(table):
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def moments(table):
    """Return statistic, mean and variance of one stratum; zeros if it is left out."""
    table = occurring(table)
    n, (r, c) = int(table.sum()), table.shape
    if n < 4 or r < 2 or c < 2:
        return 0.0, 0.0, 0.0
    v1, v2 = ((n - k) * (k - 1) / (n - 1) for k in (r, c))
    w1, w2 = ((n * (1 / table.sum(axis=a)).sum() - table.shape[1 - a] ** 2) / (n - 2) for a in (1, 0))
    mean = n * (r - 1) * (c - 1) / (n - 1)
    variance = 2 * n / (n - 3) * (v1 - w1) * (v2 - w2) + n**2 / (n - 1) * w1 * w2
    if variance <= 1e-10 * mean:
        return 0.0, 0.0, 0.0
    return pearson(table), mean, variance


def gamma_p(tables):
    """Return the p-value of the sum over strata by a gamma distribution; 1 without a test."""
    statistic, mean, variance = map(sum, zip(*(moments(table) for table in tables), strict=True))
    return float(gammaincc(mean**2 / variance, statistic * mean / variance)) if variance > 0 else 1.0


def joint_share(tables):
    """Return the share of the last term in the variance."""
    last = total = 0.0
    for table in map(occurring, tables):
        n, variance = int(table.sum()), moments(table)[2]
        if variance > 0:
            w = [(n * (1 / table.sum(axis=a)).sum() - table.shape[1 - a] ** 2) / (n - 2) for a in (1, 0)]
            last, total = last + n**2 / (n - 1) * w[0] * w[1], total + variance
    return last / total if total else 0.0


def has_rare_level(tables):
    """Whether there is one table that is not left out, with a level or class of few rows.

    Fewer than 16, or than 3 for each class or level on the other side.
    """
    used = [table for table in map(occurring, tables) if moments(table)[2] > 0]
    if len(used) != 1:
        return False
    levels, classes = used[0].shape
    rows, columns = used[0].sum(axis=1).min(), used[0].sum(axis=0).min()
    return rows < max(16, 3 * classes) or columns < max(16, 3 * levels)


def smallest_expected(tables):
    """Return the smallest expected count of the strata that are not left out."""
    used = [occurring(table) for table in tables if moments(table)[2] > 0]
    return min((t.sum(axis=1).min() * t.sum(axis=0).min() / t.sum() for t in used), default=math.inf)


def cell_p(tables):
    """Return the Bonferroni p-value of one level against the others and one class against the others."""
    smallest, tests = 1.0, 0
    for table in map(occurring, (table for table in tables if moments(table)[2] > 0)):
        r, c = table.shape
        for i in range(r if r > 2 else 1):
            for j in range(c if c > 2 else 1):
                k, row, column, n = table[i, j], table[i].sum(), table[:, j].sum(), table.sum()
                two = [[k, row - k], [column - k, n - row - column + k]]
                smallest, tests = min(smallest, fisher_p(two)), tests + 1
    return min(1.0, smallest * tests)


def random_numbers(seed):
    """Yield splitmix64."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def draws(margins):
    """Yield Pearson's statistic of random tables with the margins of every stratum, (drawn, shuffled)."""
    seed = 0
    for drawn, shuffled in margins:
        for count in (*drawn, *shuffled):
            seed = next(random_numbers(seed ^ count))
    numbers = random_numbers(seed)
    codes = [[i for i, count in enumerate(shuffled) for _ in range(count)] for _, shuffled in margins]
    products = [np.outer(shuffled, drawn) for drawn, shuffled in margins]
    while True:
        total = 0.0
        for (drawn, shuffled), code, product in zip(margins, codes, products, strict=True):
            n, at, cell = len(code), 0, np.zeros((len(shuffled), len(drawn)), int)
            for j, count in enumerate(drawn[:-1]):  # the largest one takes what is left
                for _ in range(count):
                    other = at + (((next(numbers) >> 32) * (n - at)) >> 32)
                    code[at], code[other] = code[other], code[at]
                    cell[code[at], j] += 1
                    at += 1
            cell[:, -1] = np.array(shuffled) - cell.sum(axis=1)
            total += n * float((cell**2 / product).sum()) - n
        yield total


def margins_of(tables):
    """Return the sorted margins of the strata that count; those of which fewer rows are drawn come first."""
    used = [occurring(table) for table in tables if moments(table)[2] > 0]
    both = [tuple(tuple(sorted(t.sum(axis=a).tolist())) for a in (0, 1)) for t in used]
    fewer = min((sum(sum(m[a][:-1]) for m in both), a) for a in (0, 1))[1]
    return tuple(sorted((m[fewer], m[1 - fewer]) for m in both))


@functools.lru_cache(maxsize=100)
def drawn_once(margins):
    """Return the statistics of random tables, to be copied: copies share what was drawn."""
    return itertools.tee(draws(margins), 1)[0]


def valid_p(tables, most):
    """Return a p-value that is valid at every level."""
    p = cell_p(tables)
    if 2 * p <= 1 / most:
        return 2 * p
    observed = sum(moments(table)[0] for table in tables)
    found, margins = 0, margins_of(tables)
    for count, statistic in zip(range(1, most + 1), copy.copy(drawn_once(margins)), strict=False):
        found += statistic >= observed * (1 - 1e-9)
        if found == STOP:
            return STOP / count
    return 2 * min((1 + found) / (1 + most), p)


def table_p(tables, *, alpha, exact=False, given=False, tail=False):
    """Return the p-value of a level of the target, given strata or (one table) nothing."""
    if not given:
        table = occurring(tables[0])
        if table.shape == (2, 2):
            expected = table.sum(axis=1).min() * table.sum(axis=0).min() / table.sum()
            return fisher_p(table) if exact or expected < 5 else gamma_p(tables)
    p = gamma_p(tables)
    skewed = smallest_expected(tables) < 1 and (tail or exact or joint_share(tables) > 0.05)
    if alpha > 0 and p <= alpha and (skewed or has_rare_level(tables)):
        p = max(p, valid_p(tables, MOST_DRAWS if exact else min(MOST_DRAWS, math.ceil(40 / alpha))))
    return p
