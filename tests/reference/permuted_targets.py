"""Slow twin of permutation p-values: orders of the rows one by one, from 31-bit halves of PCG64's words.

The words of one order are its upper halves and then its lower halves; row i is exchanged with row
i + floor(u (n - i) / 2^31).
"""

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=1)
def orders(n, number, seed):
    found, words = [], np.random.PCG64(seed).random_raw(number * (n // 2))
    for some in words.reshape(number, -1).tolist():
        numbers = [word >> 33 for word in some] + [word % 2**31 for word in some]
        order = list(range(n))
        for i in range(n - 1):
            other = i + numbers[i] * (n - i) // 2**31
            order[i], order[other] = order[other], order[i]
        found.append(order)
    return found


def p_value(z, basis, stop, least, most, seed):
    """Return stop / k if the k-th order is the last of ``stop`` that are as extreme.

    If there are fewer, return the share of those, the observed one among them; None for fewer than ``least``.
    """
    observed, extreme = np.sum((basis.T @ z) ** 2), 0
    for k, order in enumerate(orders(len(z), most, seed), start=1):
        extreme += np.sum((basis[order].T @ z) ** 2) >= observed * (1 - 1e-9)
        if extreme == stop:
            return stop / k
    return (1 + extreme) / (1 + most) if extreme >= least else None
