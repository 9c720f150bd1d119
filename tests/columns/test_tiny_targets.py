"""Statistics are ratios, so the unit of a numeric target does not matter, even if its squares vanish."""

import numpy as np
import pytest

from streamsieve import registry
from streamsieve.protocols import Task

REGRESSORS = [
    cls
    for cls in registry.selectors().values()
    if Task.REGRESSION in cls().traits.tasks
    and registry.axis(cls) != "rows"
    and cls.__name__ not in ("TwoWay", "Grafting")  # the penalty of Grafting is in the unit of the target
]


@pytest.mark.parametrize("unit", [2.0**-600, 2.0**-1060, 5e-324])
@pytest.mark.parametrize("cls", REGRESSORS)
def test_a_target_in_tiny_units_gives_the_same_selection(cls, unit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    y = np.round(3 * X[:, 0] - 2 * X[:, 3] + rng.normal(size=80), 1) * 10  # whole numbers: products are exact
    task = {"task": "regression"} if "task" in cls().get_params() else {}
    one, tiny = (cls(**task).fit(X, target) for target in (y, y * unit))
    assert tiny.selected_.tolist() == one.selected_.tolist()
    for a, b in zip(one.ledger_, tiny.ledger_, strict=True):
        assert np.isfinite(a.statistic) == np.isfinite(b.statistic)
