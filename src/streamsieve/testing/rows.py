"""Contracts of selectors over rows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from streamsieve.testing._compare import assert_same, fresh
from streamsieve.testing._data import Sample, sample, task_for


def check_any_chunking(selector: Any) -> None:
    """Batches of any size give the result of one batch."""
    if not selector.traits.any_chunking:
        return
    data = sample(task_for(selector))
    expected = _streamed(fresh(selector), data, [len(data.y)])
    rng = np.random.default_rng(0)
    for sizes in ([1], [7], [64], rng.integers(1, 40, 200).tolist()):
        assert_same(expected, _streamed(fresh(selector), data, sizes), f"batches of {sizes[:3]}")
        if selector.traits.sparse:
            rows = data._replace(X=sp.csr_array(data.X))
            assert_same(expected, _streamed(fresh(selector), rows, sizes), f"sparse batches of {sizes[:3]}")


def check_fit_is_one_batch(selector: Any) -> None:
    """``fit`` is ``partial_fit`` on an empty memory."""
    data = sample(task_for(selector))
    assert_same(fresh(selector).fit(data.X, data.y), _streamed(fresh(selector), data, [len(data.y)]), "fit")


def check_resume(selector: Any) -> None:
    """Saved in mid-stream, loaded and continued: as if nothing had happened."""
    data = sample(task_for(selector))
    expected = _streamed(fresh(selector), data, [16])
    half = 80
    first, second = (
        Sample(data.X[part], data.y[part], data.names) for part in (slice(half), slice(half, None))
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "half.sieve"
        _streamed(fresh(selector), first, [16]).save(path)
        resumed = _streamed(type(selector).load(path), second, [16])
    assert_same(expected, resumed, "resumed")
    if hasattr(expected, "scores_"):
        assert np.array_equal(expected.scores_, resumed.scores_), "resumed: scores_ differ in the last bits"


def check_merge_laws(selector: Any) -> None:
    """Merging parts is learning the whole; without fading, in any order and any tree."""
    if not selector.traits.merges:
        return
    data = sample(task_for(selector))
    whole = _streamed(fresh(selector), data, [len(data.y)])
    for shards in (1, 2, 7, 64):
        parts = [_streamed(fresh(selector), part, [10**6]) for part in _split(data, shards)]
        assert_same(whole, _merged(parts), f"{shards} shards merged in order")
    if getattr(selector, "half_life", None) is not None:
        return
    parts = [_streamed(fresh(selector), part, [10**6]) for part in _split(data, 7)]
    assert_same(whole, _merged(parts[::-1]), "shards merged backwards")
    parts = [_streamed(fresh(selector), part, [10**6]) for part in _split(data, 4)]
    left, right = parts[0].merge(parts[1]), parts[2].merge(parts[3])
    assert_same(whole, left.merge(right), "shards merged as a tree")


def check_weight_laws(selector: Any) -> None:
    """No weights are ones, weight k is k copies, weight 0 is no row; dense and sparse."""
    if not selector.traits.weights:
        return
    data = sample(task_for(selector))
    rng = np.random.default_rng(1)
    times = rng.integers(0, 4, len(data.y))
    for name, form in (("dense", np.asarray), ("sparse", sp.csr_array)):
        X, y = form(data.X), data.y
        ones = fresh(selector).fit(X, y, sample_weight=np.ones(len(y)))
        assert_same(fresh(selector).fit(X, y), ones, f"{name}: weights of one")
        present = np.flatnonzero(times)
        removed = fresh(selector).fit(X[present], y[present], sample_weight=times[present])
        weighted = fresh(selector).fit(X, y, sample_weight=times)
        assert_same(removed, weighted, f"{name}: weights of zero")
        if getattr(selector, "half_life", None) is None:  # copies take time, and time fades
            copies = np.repeat(np.arange(len(y)), times)
            assert_same(fresh(selector).fit(X[copies], y[copies]), weighted, f"{name}: weights and copies")


def check_dict_rows(selector: Any) -> None:
    """Rows as dicts, with features that appear late, equal the same rows as a sparse matrix."""
    X, y, names = sample(task_for(selector))
    order = np.argsort((X != 0).argmax(axis=0), kind="stable")  # features in order of first appearance
    by_dict = fresh(selector)
    for row, target in zip(X, y, strict=True):
        by_dict.learn_one({names[j]: row[j] for j in order if row[j] != 0}, target)
    known = by_dict.feature_names_in_.tolist()
    by_matrix = fresh(selector).fit(sp.csr_array(X[:, [names.index(name) for name in known]]), y)
    assert np.array_equal(by_dict.get_support(), by_matrix.get_support()), "dict rows: other selection"
    row = {"never seen": 1.0, **dict(zip(names, X[0], strict=True))}
    kept = by_dict.transform_one(row)
    if getattr(selector, "output", "drop") == "drop":
        assert set(kept) == set(by_dict.get_feature_names_out()), "transform_one"


def check_other_width_is_refused(selector: Any) -> None:
    """partial_fit never means more columns."""
    X, y, _ = sample(task_for(selector))
    fitted = fresh(selector).partial_fit(X, y)
    for wrong in (X[:, :-1], np.hstack([X, X])):
        try:
            fitted.partial_fit(wrong, y)
        except ValueError as error:
            assert "features" in str(error)  # noqa: PT017
        else:
            raise AssertionError("another number of features was accepted")


def _streamed(selector: Any, data: Sample, sizes: Sequence[int]) -> Any:
    """Feed rows in batches whose sizes repeat ``sizes``."""
    low = turn = 0
    while low < len(data.y):
        part = slice(low, low + sizes[turn % len(sizes)])
        selector.partial_fit(data.X[part], data.y[part])
        low, turn = part.stop, turn + 1
    return selector


def _split(data: Sample, shards: int) -> Iterator[Sample]:
    for part in np.array_split(np.arange(len(data.y)), shards):
        yield Sample(data.X[part], data.y[part], data.names)


def _merged(parts: list[Any]) -> Any:
    first, *rest = parts
    for part in rest:
        first.merge(part)
    return first
