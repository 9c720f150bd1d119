"""Tests between columns in memory equal their definitions, for every mixture of types."""

import numpy as np
import pytest

from streamsieve.column_types import BINARY, NOMINAL, NUMERIC, ORDINAL
from streamsieve.columns.redundancy.markov_blanket.held_columns import HeldColumns
from streamsieve.independence.by_type import relevance_by_type
from streamsieve.protocols import Task
from tests.helpers.tier import cases
from tests.reference.degenerate_gaussian import degenerate_gaussian
from tests.reference.iamb import by_tables

KINDS = (NUMERIC, ORDINAL, NOMINAL, BINARY)


def drawn(rng, n, kind):
    if kind == NUMERIC:
        return rng.normal(size=n)
    return rng.integers(0, 2 if kind == BINARY else 3, n).astype(float)


@pytest.mark.parametrize("task", [Task.BINARY, Task.MULTICLASS, Task.REGRESSION])
def test_mixed_columns_equal_the_definition(task):
    rng, ways = np.random.default_rng(0), set()
    for _ in range(cases(150)):
        n, size = int(rng.integers(40, 90)), int(rng.integers(0, 4))
        y = rng.normal(size=n) if task is Task.REGRESSION else rng.integers(0, 2 + (task != "binary"), n)
        kinds = [int(kind) for kind in rng.choice(KINDS, size + 2)]
        columns = [drawn(rng, n, kind) for kind in kinds]
        columns[0] = columns[0] + (y > np.median(y))
        held = HeldColumns(relevance_by_type(y, task, 0.01, "auto", 5))
        for j, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
            held.add(j, column, kind)
        given = [*range(2, size + 2)]
        tables = task is not Task.REGRESSION and NUMERIC not in [kinds[0], *kinds[2:]]
        nominal = [kind == NOMINAL for kind in kinds]
        if tables:
            codes = [np.unique(column, return_inverse=True)[1] for column in columns]
            expected = by_tables(codes, y, "multiclass", "moments")(0, given)
        else:
            expected = degenerate_gaussian(
                columns[0], y, [columns[j] for j in given],
                nominal_x=nominal[0], nominal_y=task is not Task.REGRESSION, nominal_z=nominal[2:],
            )  # fmt: skip
        ways.add(tables)
        np.testing.assert_allclose(held.given(0, given), expected, rtol=1e-6, atol=1e-9)
        if NUMERIC in kinds[:2] or task is Task.REGRESSION:
            pair = degenerate_gaussian(
                *columns[:2], [], nominal_x=nominal[0], nominal_y=nominal[1], nominal_z=[]
            )
            np.testing.assert_allclose(held.associated(0, 1), pair[1], rtol=1e-6, atol=1e-9)
        else:
            codes = [np.unique(column, return_inverse=True)[1] for column in columns[:2]]
            pair = by_tables(codes, codes[1], "multiclass", "moments")(0, [])
            np.testing.assert_allclose(held.associated(0, 1), pair[1], rtol=1e-6, atol=1e-9)
    assert ways == ({False} if task is Task.REGRESSION else {False, True})
