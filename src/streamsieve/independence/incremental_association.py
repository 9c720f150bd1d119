"""Incremental association (IAMB): the columns that depend on the target given all others of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from streamsieve.protocols import FloatArray

#: How often a column may join, on average; members that leave can join again.
MOST_JOINS = 10
#: Statistics and p-values of columns and the target given others.
Tested = Callable[[list[int], list[int]], tuple[FloatArray, FloatArray]]


def incremental_association(
    columns: Sequence[int], tested: Tested, alpha: float, *, interleaved: bool, by_statistic: bool = False
) -> list[int]:
    """Return the columns of a Markov blanket in the order they joined.

    Parameters
    ----------
    columns : columns to choose from
    tested : returns statistics and p-values of columns given others
    alpha : level of every test
    interleaved : whether members are tested again after every column that joins (inter-IAMB), or at the end
    by_statistic : whether the largest statistic is the strongest association; else the smallest p-value
    """
    blanket: list[int] = []
    seen = {frozenset(blanket)}
    for _ in range(MOST_JOINS * len(columns)):
        new = _next(columns, tested, alpha, blanket, by_statistic=by_statistic)
        if new is None:
            break
        blanket.append(new)
        if interleaved:
            _shrink(tested, alpha, blanket)
        if frozenset(blanket) in seen:  # members that leave and return would go on indefinitely
            break
        seen.add(frozenset(blanket))
    _shrink(tested, alpha, blanket)
    return blanket


def _next(
    columns: Sequence[int], tested: Tested, alpha: float, blanket: list[int], *, by_statistic: bool
) -> int | None:
    """Return the column that is most associated with the target given the blanket, if it is at all."""
    others = [j for j in columns if j not in blanket]
    if not others:
        return None
    # round, so that the order of summation does not decide ties
    statistic, p_value = (
        np.array([float(f"{v:.9e}") for v in values.tolist()]) for values in tested(others, blanket)
    )
    first = np.zeros(len(others)) if by_statistic else p_value
    best = int(np.lexsort((np.array(others), -statistic, first))[0])
    return others[best] if p_value[best] <= alpha else None


def _shrink(tested: Tested, alpha: float, blanket: list[int]) -> None:
    """Take out members that are independent of the target given all others, in the order they joined."""
    for j in list(blanket):
        p_value = tested([j], [k for k in blanket if k != j])[1]
        if p_value[0] > alpha:
            blanket.remove(j)
