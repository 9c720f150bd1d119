"""What an offline selector learnt comes back from a file whole, or is refused."""

import numpy as np
import pytest

import streamsieve as ss
from streamsieve import registry, state
from streamsieve.exceptions import StateError
from streamsieve.testing._data import sample_for

VARIANTS = [
    next(iter(cls.variants()))
    for cls in registry.selectors().values()
    if registry.axis(cls) == registry.AXES["offline"]
]


def mutants(array):
    """Return arrays that cannot be what was learnt."""
    yield "too long", np.concatenate([array, array[-1:]]) if len(array) else np.zeros(3, array.dtype)
    yield "of another type", np.sign(array).astype(np.float32 if array.dtype.kind == "f" else np.int32)
    yield "of another shape", array[None]
    if array.dtype.kind == "f" and len(array):
        yield "not finite", np.full_like(array, np.nan)
    if array.dtype.kind == "i" and len(array):
        yield "beyond the features", array + 1000
        yield "below the features", array - 1000


def refused(path):
    try:
        ss.load(path)
    except StateError:
        return True
    return False


@pytest.mark.parametrize("selector", VARIANTS, ids=lambda selector: type(selector).__name__)
def test_arrays_that_do_not_fit_are_refused(selector, tmp_path):
    X, y, _ = sample_for(selector)
    path = tmp_path / "offline.sieve"
    selector.fit(X, y).save(path)
    assert np.array_equal(ss.load(path).selected_, selector.selected_)
    header, arrays = state.read(path)
    tried = 0
    for name, array in arrays.items():
        for what, wrong in mutants(array):
            state.write(path, header, {**arrays, name: wrong})
            assert refused(path), f"{name} {what} was accepted"
            tried += 1
    assert tried >= 5
    del arrays["selected_"]
    state.write(path, header, arrays)
    assert refused(path)
