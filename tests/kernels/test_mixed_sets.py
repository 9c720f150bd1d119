"""Sets that a search passes over do not separate, by the slow twin; the others come in order."""

from itertools import combinations

import numpy as np
import pytest

from streamsieve.column_types import BINARY, NOMINAL, NUMERIC, ORDINAL
from streamsieve.independence.by_type import relevance_by_type
from streamsieve.independence.conditional_by_type import ConditionalByType
from streamsieve.protocols import Task
from tests.helpers.tier import cases
from tests.reference.degenerate_gaussian import degenerate_gaussian

TASKS = {"regression": Task.REGRESSION, "binary": Task.BINARY, "multiclass": Task.MULTICLASS}


def columns(rng, n, width):
    """Columns of all types around two factors, some of them nearly copies, and a noisy sum of the factors."""
    factors = rng.normal(size=(n, 2))
    found = []
    for _ in range(width):
        x = factors @ rng.normal(size=2) + rng.normal(size=n) * rng.choice([0.3, 1, 3])
        kind = int(rng.choice([NUMERIC, NUMERIC, ORDINAL, BINARY, NOMINAL]))
        if kind == NUMERIC and found and rng.random() < 0.3:
            x = found[-1][0] + rng.choice([1e-8, 1e-4, 1e-2]) * rng.normal(size=n)
        elif kind != NUMERIC:
            x = np.digitize(x, [0] if kind == BINARY else [-1, 0, 1]).astype(float)
        if len(np.unique(x)) > 1:
            found.append((x, kind))
    return found, factors.sum(axis=1) + rng.normal(size=n)


def separated(held, y, kind, column, given, alpha):
    """Whether the slow twin finds a column and the target independent; None if it cannot tell for sure."""
    parts = [held[j] for j in given]
    x, of_x = held[column]
    Z = np.column_stack([np.ones(len(x)), *[z for z, _ in parts], x, y])
    if np.linalg.cond((Z - [0, *Z.mean(axis=0)[1:]]) / np.linalg.norm(Z, axis=0)) > 1e4:
        return None
    _, p = degenerate_gaussian(
        x, y, [z for z, _ in parts], nominal_x=of_x == NOMINAL, nominal_y=kind != "regression",
        nominal_z=[k == NOMINAL for _, k in parts],
    )  # fmt: skip
    return None if abs(p - alpha) < 1e-3 * alpha else p > alpha


@pytest.mark.parametrize("kind", TASKS)
def test_sets_that_are_passed_over_do_not_separate(kind):
    rng = np.random.default_rng(1)
    passed = separating = 0
    for case in range(cases(100)):
        n, alpha = int(rng.choice([12, 40, 200, 1000])), float(rng.choice([0.01, 0.1]))
        held, y = columns(rng, n, 8)
        if kind != "regression":
            y = np.digitize(y, [0] if kind == "binary" else [-1, 1])
            if len(np.unique(y)) < (2 if kind == "binary" else 3):
                continue
        tests = ConditionalByType(relevance_by_type(y, TASKS[kind], alpha, "auto", 5))
        for j, (x, of) in enumerate(held):
            tests.add(j, x, of)
        column, newcomer = 0, (len(held) - 1 if case % 2 else None)
        others = [*range(1, len(held) - (newcomer is not None))]
        fixed = () if newcomer is None else (newcomer,)
        opened = [*tests.open_sets(column, others, 3, newcomer)]
        every = [
            some
            for size in range(1 - len(fixed), 4 - len(fixed))
            for some in combinations(range(len(others)), size)
        ]
        assert opened == [some for some in every if some in {*opened}]
        for some in {*every} - {*opened}:
            given = [*(others[i] for i in some), *fixed]
            verdict = separated(held, y, kind, column, given, alpha)
            assert not verdict, (case, given)
            passed += verdict is not None
        separating += len(opened)
    assert passed > 30
    assert separating > 30


def test_columns_come_and_go():
    """Slots that were left are taken again, and products follow."""
    rng = np.random.default_rng(2)
    held, y = columns(rng, 100, 60)
    test = relevance_by_type(y, Task.REGRESSION, 0.05, "auto", 5)
    tests = ConditionalByType(test)
    kept = []
    for j, column in enumerate(held):
        tests.add(j, *column)
        kept.append(j)
        if j % 3 == 2:
            tests.drop(kept.pop(int(rng.integers(len(kept)))))
        if j == 40:
            kept = kept[::2]
            tests.keep_only(kept)
    fresh = ConditionalByType(test)
    for j in kept:
        fresh.add(j, *held[j])
    one, other = ([*each.open_sets(kept[0], kept[1:], 2)] for each in (tests, fresh))
    assert one == other
    assert tests.given(kept[0], kept[1:3]) == pytest.approx(fresh.given(kept[0], kept[1:3]))
