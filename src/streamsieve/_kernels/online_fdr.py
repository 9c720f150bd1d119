"""Levels of online false-discovery-rate rules: one recursion over a clock.

The stream itself and every discovery open an account.  One opened at clock c pays, at clock c + k, its amount
times the weight of step 1 + k; the sum of all payments is the level, up to a factor.  Payments are computed
ahead, window by window, so that a test costs one look-up however many discoveries there are.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from streamsieve.protocols import BoolArray, FloatArray, IntArray

#: Weights that are laid out one by one.  What older accounts pay is so smooth that a cubic through four
#: clocks of a window has it to eleven digits.
TABLED = 2**18
#: Clocks that are laid out ahead.
WINDOW = 1024
#: Positions in the array of counters: tests made; ticks among those resolved; discoveries, all, usable so
#: far, and with an account; the first clock of the window, or -1.
TESTS, CLOCK, FOUND, USABLE, OPENED, AHEAD = range(6)
#: Sequences of weights: ADDIS's and SAFFRON's, LORD's, and one that decreases slowly, for LOND.
STEEP, LORD, SLOW = range(3)
#: Forms of a level: the sum of payments v, v / (1 + v), and without accounts: LOND, reshaped LOND, spending.
PLAIN, ODDS, LOND, RESHAPED, SPENDING = range(5)
#: From this step on a harmonic number is computed from its asymptotic expansion, to 13 digits.
ASYMPTOTIC = 64


@nb.njit(nogil=True, cache=True)
def weight(step: int, sequence: int) -> float:
    """Return the weight of step 1, 2, 3, ...; they never rise, and add up to at most 1."""
    if sequence == LORD:
        return 0.07720838 * math.log(max(step, 2)) / (step * math.exp(math.sqrt(math.log(step))))
    if sequence == SLOW:
        return float(0.0944782341102974 * step**-1.1)  # 1 / zeta(1.1)
    return float(0.4374901658 * step**-1.6)


@nb.njit(nogil=True, cache=True)
def harmonic(step: int) -> float:
    """Return 1 + 1/2 + ... + 1/step; it depends on nothing else, so that pieces of a stream agree."""
    if step < ASYMPTOTIC:
        total = 0.0
        for i in range(1, step + 1):
            total += 1.0 / i
        return total
    square = float(step) ** 2
    return math.log(step) + np.euler_gamma + 0.5 / step - 1.0 / (12 * square) + 1.0 / (120 * square**2)


@nb.njit(nogil=True, cache=True)
def weights(n: int, sequence: int) -> FloatArray:
    """Return the first weights as a table; index 0 is not used."""
    table = np.zeros(n)
    for step in range(1, n):
        table[step] = weight(step, sequence)
    return table


@nb.njit(nogil=True, cache=True)
def spent(steps: IntArray, sequence: int) -> FloatArray:
    """Return the sums of the weights of the first ``steps``, which never fall."""
    sums = np.empty(len(steps))
    total = 0.0
    step = 0
    for i in range(len(steps)):
        while step < steps[i]:
            step += 1
            total += weight(step, sequence)
        sums[i] = total
    return sums


@nb.njit(nogil=True, cache=True)
def decide(
    p_values: FloatArray, rough: BoolArray, discrete: BoolArray,
    rule: tuple[float, float, float, float, float, float, float, int, int],
    without_discarding: tuple[float, float, float, float, int],
    lag: int, most: int,
    table: FloatArray, sequence: int,
    counters: IntArray, ticks: BoolArray, found_at: IntArray, opened_at: IntArray, ahead: FloatArray,
    levels: FloatArray, found: BoolArray,
) -> int:  # fmt: skip
    """Judge p-values in order; return how many were judged before there were ``most`` discoveries.

    P-values that are ``rough`` are lower bounds that tick as the p-values do; it also returns before one that
    might be a discovery.  In an empty mask there are none, and with a lag there must be none.

    rule = (amount of the stream's account, of the first discovery's, of every other's, factor, cap, low,
    high, which tests tick, form).  Tests that tick: 0 all, 1 p <= high, 2 p > low, 3 low < p <= high, 4 no
    discoveries.  Forms: PLAIN, ODDS, LOND, RESHAPED, SPENDING.  The last three have no accounts; their level
    is the amount times the weight of the test's number, LOND times one more than the discoveries that may be
    used, and RESHAPED that divided by a harmonic number.

    Tests that are ``discrete`` have the factor, cap, low, high and ticks of ``without_discarding``; in an
    empty mask there are none.

    A test is resolved ``lag`` tests later; until then it counts as a tick, and its discovery pays nothing.
    """
    first, second, amount = rule[0], rule[1], rule[2]
    form = rule[8]
    for i in range(len(p_values)):
        if counters[FOUND] >= most or counters[FOUND] == len(found_at):
            return i
        factor, cap, low, high, ticking = rule[3], rule[4], rule[5], rule[6], rule[7]
        if len(discrete) > 0 and discrete[i]:
            factor, cap, low, high, ticking = without_discarding
        before = counters[TESTS]
        resolved = max(0, before - lag)
        if lag > 0 and resolved > 0 and ticks[resolved % len(ticks)]:  # the test that is resolved now
            counters[CLOCK] += 1
        clock = counters[CLOCK]
        while counters[USABLE] < counters[FOUND] and found_at[counters[USABLE]] + lag <= before:
            counters[USABLE] += 1
        if form <= ODDS and (counters[AHEAD] < 0 or clock >= counters[AHEAD] + len(ahead)):
            counters[AHEAD] = clock - clock % len(ahead)
            _lay_out_all(ahead, counters[AHEAD], opened_at[: counters[OPENED]], rule, lag, table, sequence)
        while counters[OPENED] < counters[USABLE] and found_at[counters[OPENED]] + lag <= resolved:
            j = counters[OPENED]
            opened_at[j] = clock
            if form <= ODDS:
                _lay_out(ahead, counters[AHEAD], clock, second if j == 0 else amount, lag, table)
            counters[OPENED] += 1
        if form > ODDS:
            level = amount * _tabled(table, before + 1, sequence)
            if form != SPENDING:
                level *= counters[USABLE] + 1
            if form == RESHAPED:
                level /= harmonic(before + 1)
            level = min(cap, level)
        else:
            if before < lag:
                level = first * _tabled(table, 1 + before, sequence)
            else:
                level = ahead[clock - counters[AHEAD]]
            for j in range(counters[OPENED], counters[USABLE]):  # no test after these is resolved yet
                step = 1 + min(lag, before - found_at[j] - lag)
                level += (second if j == 0 else amount) * _tabled(table, step, sequence)
            level = level / (1.0 + level) if form == ODDS else min(cap, factor * level)
        p = p_values[i]
        if p <= level and len(rough) > 0 and rough[i]:  # p-values from different tests follow no pattern
            return i
        levels[i] = level
        found[i] = p <= level
        if ticking == 0:
            tick = True
        elif ticking == 1:
            tick = p <= high
        elif ticking == 2:
            tick = p > low
        elif ticking == 3:
            tick = (low < p) & (p <= high)
        else:
            tick = not found[i]
        counters[TESTS] += 1
        if lag > 0:
            ticks[counters[TESTS] % len(ticks)] = tick
        else:
            counters[CLOCK] += tick  # without a branch, which would be guessed wrong half of the time
        if found[i]:
            found_at[counters[FOUND]] = counters[TESTS]
            counters[FOUND] += 1
    return len(p_values)


@nb.njit(nogil=True, cache=True)
def _lay_out_all(
    ahead: FloatArray, begins: int, opened_at: IntArray,
    rule: tuple[float, float, float, float, float, float, float, int, int], lag: int,
    table: FloatArray, sequence: int,
) -> None:  # fmt: skip
    """Begin a window: payments of all accounts, the stream's first and then by age.

    The order never depends on when a window begins, so that the sums are the same to the last bit.
    """
    first, second, amount = rule[0], rule[1], rule[2]
    last = len(ahead) - 1
    nodes = np.zeros(4)
    ahead[:] = 0.0
    j = -1  # the account of the stream
    while j < len(opened_at):
        shift = 1 + begins + lag - (opened_at[j] if j >= 0 else 0)
        if shift + last < len(table):
            break
        pays = first if j < 0 else (second if j == 0 else amount)
        for k in range(4):
            nodes[k] += pays * weight(shift + k * last // 3, sequence)
        j += 1
    if j >= 0:
        for k in range(len(ahead)):
            ahead[k] = _cubic(nodes, last, k)
    while j < len(opened_at):
        opened = opened_at[j] if j >= 0 else 0
        pays = first if j < 0 else (second if j == 0 else amount)
        _lay_out(ahead, begins, opened, pays, lag, table)
        j += 1


@nb.njit(nogil=True, cache=True)
def _lay_out(ahead: FloatArray, begins: int, opened: int, pays: float, lag: int, table: FloatArray) -> None:
    """Add what one account pays at the clocks of the window; with a lag it has waited that long already."""
    since = max(0, opened - begins)
    step = 1 + begins + since - opened + lag
    to, share = ahead[since:], table[step : step + len(ahead) - since]
    for k in range(len(share)):
        to[k] += pays * share[k]


@nb.njit(nogil=True, cache=True)
def _cubic(nodes: FloatArray, last: int, k: int) -> float:
    """Return the value at k of the cubic through values at 0, last / 3, 2 last / 3 and last."""
    total = 0.0
    for a in range(4):
        part = nodes[a]
        for b in range(4):
            if b != a:
                part *= (k - b * last // 3) / (a * last // 3 - b * last // 3)
        total += part
    return total


@nb.njit(nogil=True, cache=True)
def _tabled(table: FloatArray, step: int, sequence: int) -> float:
    return float(table[step] if step < len(table) else weight(step, sequence))
