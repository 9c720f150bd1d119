"""When are two selectors the same?"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

RELATIVE = 1e-9


def fresh(selector: Any, /, **parameters: Any) -> Any:
    """Return an unfitted copy, with some parameters changed."""
    return clone(selector).set_params(**parameters)


def assert_same(a: Any, b: Any, what: str, *, names: bool = False) -> None:
    """Assert that two fitted selectors chose the same features, by scores equal to rounding."""
    left, right = a.get_support(), b.get_support()
    assert np.array_equal(left, right), (
        f"{what}: the selections differ, {np.flatnonzero(left)} and {np.flatnonzero(right)}"
    )
    for attribute in ("scores_", "wealth_"):
        if hasattr(a, attribute):
            x, y = getattr(a, attribute), getattr(b, attribute)
            assert np.allclose(x, y, rtol=RELATIVE, atol=1e-12), f"{what}: {attribute} differ"
    for attribute in ("selected_", "ranked_"):
        if hasattr(a, attribute):
            x, y = getattr(a, attribute), getattr(b, attribute)
            assert np.array_equal(x, y), f"{what}: {attribute} differ"
    if names:
        assert a.get_feature_names_out().tolist() == b.get_feature_names_out().tolist(), (
            f"{what}: names differ"
        )


def decisions(selector: Any) -> list[tuple[Any, ...]]:
    """Return the ledger without its floating-point columns."""
    return [(d.step, d.feature, d.event, d.reason, d.by) for d in selector.ledger_]
