"""A stream of columns that is saved and loaded after every block goes on bit for bit."""

import numpy as np
import pytest

from streamsieve import registry
from streamsieve.base import ColumnSelector
from streamsieve.protocols import Task

VARIANTS = [
    variant
    for cls in registry.selectors().values()
    if issubclass(cls, ColumnSelector) and cls.__name__ != "TwoWay"
    for variant in cls.variants()
]


def stream(tasks, seed):
    rng = np.random.default_rng(seed)
    n, p = 80, 60
    y = rng.integers(0, 3 if Task.MULTICLASS in tasks and Task.BINARY not in tasks else 2, n)
    X = rng.normal(size=(n, p))
    X[:, ::5] += y[:, None] * rng.random((1, p // 5)) * 2
    X[:, 1::7] = X[:, ::7][:, : X[:, 1::7].shape[1]] + 0.3 * rng.normal(size=X[:, 1::7].shape)
    return X, X[:, 0] + X[:, 5] + rng.normal(size=n) if tasks == {Task.REGRESSION} else y


def bits(sieve):
    lines = [(d.step, d.feature, d.event, d.reason, d.by) for d in sieve.ledger_]
    numbers = np.array([(d.statistic, d.p_value) for d in sieve.ledger_], np.float64)
    return lines, numbers.tobytes(), np.asarray(getattr(sieve, "coef_", 0.0)).tobytes()


@pytest.mark.filterwarnings("ignore:Grafting could not fit")
@pytest.mark.parametrize("selector", VARIANTS, ids=repr)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_saved_stream_goes_on_bit_for_bit(selector, seed):
    X, y = stream(selector.traits.tasks, seed)
    begun, resumed = (type(selector)(**selector.get_params(deep=False)).begin(y) for _ in range(2))
    for low in range(0, X.shape[1], 9):
        begun.offer(X[:, low : low + 9])
        resumed.offer(X[:, low : low + 9])
        resumed = type(selector).from_bytes(resumed.to_bytes())
    assert bits(begun) == bits(resumed)
