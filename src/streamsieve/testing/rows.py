"""Contracts of selectors over rows."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import has_fit_parameter

from streamsieve.protocols import Task
from streamsieve.testing._data import Sample, assert_same, fresh, named, sample_for
from streamsieve.testing.common import frames


def check_any_chunking(selector: Any) -> None:
    """Batches of any size give the result of one batch."""
    if not selector.traits.any_chunking:
        return
    data = sample_for(selector)
    expected = _streamed(fresh(selector), data, [len(data.y)])
    rng = np.random.default_rng(0)
    for sizes in ([1], [7], [64], rng.integers(1, 40, 200).tolist()):
        assert_same(expected, _streamed(fresh(selector), data, sizes), f"batches of {sizes[:3]}")
        if selector.traits.sparse:
            rows = data._replace(X=sp.csr_array(data.X))
            assert_same(expected, _streamed(fresh(selector), rows, sizes), f"sparse batches of {sizes[:3]}")


def check_fit_is_one_batch(selector: Any) -> None:
    """``fit`` is ``partial_fit`` on an empty memory."""
    data = sample_for(selector)
    assert_same(fresh(selector).fit(data.X, data.y), _streamed(fresh(selector), data, [len(data.y)]), "fit")


def check_resume(selector: Any) -> None:
    """Saved in mid-stream, loaded and continued: as if nothing had happened."""
    data = sample_for(selector)
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
        # saving learns rows that were kept for a larger batch, so sums may be cut elsewhere
        assert np.allclose(expected.scores_, resumed.scores_, rtol=1e-12, atol=1e-15), "resumed: scores_"


def check_merge_laws(selector: Any) -> None:
    """Merging parts is learning the whole; without fading, in any order and any tree."""
    if not selector.traits.merges:
        return
    data = sample_for(selector)
    whole = _streamed(fresh(selector), data, [len(data.y)])
    for shards in (1, 2, 7, 64):
        assert_same(whole, _merged(_shards(selector, data, shards)), f"{shards} shards merged in order")
    if selector.traits.forgets:
        return
    assert_same(whole, _merged(_shards(selector, data, 7)[::-1]), "shards merged backwards")
    parts = _shards(selector, data, 4)
    left, right = parts[0].merge(parts[1]), parts[2].merge(parts[3])
    assert_same(whole, left.merge(right), "shards merged as a tree")


def check_weight_laws(selector: Any) -> None:
    """No weights are ones, weight k is k copies, weight 0 is no row; dense and sparse."""
    assert has_fit_parameter(selector, "sample_weight") is selector.traits.weights, (
        f"traits.weights is {selector.traits.weights}: it must say whether fit takes sample_weight"
    )
    if not selector.traits.weights:
        return
    data = sample_for(selector)
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
        if not selector.traits.forgets:  # copies take time
            copies = np.repeat(np.arange(len(y)), times)
            assert_same(fresh(selector).fit(X[copies], y[copies]), weighted, f"{name}: weights and copies")


def check_late_features_are_zero(selector: Any) -> None:
    """Rows as dicts may have features that earlier rows did not: these were 0."""
    if not selector.traits.late_features:
        return
    X, y, names = sample_for(selector)
    learning = fresh(selector)
    advice = "_learn must take more features than before: those up to self.n_features_in_ were 0"
    with named(f"{type(selector).__name__} fails with rows that have new features: {advice}"):
        for i, (row, target) in enumerate(zip(X, y, strict=True)):
            learning.learn_one(dict(zip(names[: 2 + i], row, strict=False)), target)
        learning.get_support()


def check_dict_rows(selector: Any) -> None:
    """Rows as dicts, with features that appear late, equal the same rows as a sparse matrix."""
    if not selector.traits.late_features:
        return
    X, y, names = sample_for(selector)
    order = np.argsort((X != 0).argmax(axis=0), kind="stable")  # features in order of first appearance
    by_dict = fresh(selector)
    for row, target in zip(X, y, strict=True):
        by_dict.learn_one({names[j]: row[j] for j in order if row[j] != 0}, target)
    known = by_dict._vocabulary()  # noqa: SLF001 - the only way from a name to its slot
    # a vocabulary may forget the names of features that are not selected
    places = {name: known.get(name) for name in names}
    # of few features other ones are drawn than of many, and a batch is not its rows for everyone
    comparable = selector.traits.any_chunking and not selector.traits.draws_features
    if comparable and None in places.values():
        chosen = fresh(selector).fit(sp.csr_array(X[:, order]), y).get_support(indices=True)
        names_chosen = {names[order[j]] for j in chosen}
        assert set(by_dict.get_feature_names_out()) == names_chosen, "dict rows: other selection"
    elif comparable:
        whole = np.zeros((len(y), by_dict.n_features_in_))
        for name, column in zip(names, X.T, strict=True):
            whole[:, places[name]] += column
        support = fresh(selector).fit(sp.csr_array(whole), y).get_support()
        assert np.array_equal(by_dict.get_support(), support), "dict rows: other selection"
    row = {**dict(zip(names, X[0], strict=True)), "never seen": 1.0}
    if getattr(selector, "output", "drop") == "drop":
        support = by_dict.get_support()
        through = {name for name, place in places.items() if place is not None and support[place]}
        assert by_dict.transform_one(row).keys() - {"never seen"} == through, "transform_one"


def check_merge_by_name(selector: Any) -> None:
    """Dict rows with late features, in any order of features, merge to the result of one stream."""
    if not (selector.traits.merges and selector.traits.late_features):
        return
    X, y, names = sample_for(selector)
    rng = np.random.default_rng(2)
    rows = [
        {names[j]: values[j] for j in rng.permutation(np.arange(i // 20, 5 + i // 16)) if j < len(names)}
        for i, values in enumerate(X)
    ]
    whole = _learned_by_dicts(fresh(selector), rows, y)
    for shards in (2, 7):
        parts = [
            _learned_by_dicts(_from_row(selector, part[0]), [rows[i] for i in part], y[part])
            for part in np.array_split(np.arange(len(y)), shards)
        ]
        merged = _merged(parts)
        assert merged.feature_names_in_.tolist() == whole.feature_names_in_.tolist(), "merged: other names"
        assert_same(whole, merged, f"{shards} shards merged by name", names=True)


def check_columns_come_and_go(selector: Any) -> None:
    """Dataframes that lack columns now and then equal one array in which those values are missing."""
    traits = selector.traits
    hashed = getattr(selector, "hashed", None) is not None  # where features are hashed, absent means 0
    if hashed or not (traits.missing and traits.any_chunking and traits.late_features):
        return
    X, y, names = sample_for(selector)
    rng = np.random.default_rng(3)
    filled, seen = np.full_like(X, np.nan), dict[str, None]()
    streamed = fresh(selector)
    for i, part in enumerate(np.array_split(np.arange(len(y)), 8)):
        there = rng.permutation(np.arange(i, len(names) if i else 5))[: 5 + i]
        of_part = [names[j] for j in there]
        frame = next(frames(X[np.ix_(part, there)], of_part), None)
        if frame is None:
            return  # no dataframe library is installed
        streamed.learn_many(frame[1], y[part])
        filled[np.ix_(part, there)] = X[np.ix_(part, there)]
        seen |= dict.fromkeys(of_part)
    assert streamed.feature_names_in_.tolist() == list(seen), "columns that come and go: other names"
    filled = filled[:, [names.index(name) for name in seen]]
    assert_same(fresh(selector).fit(filled, y), streamed, "columns that come and go")


def check_late_labels(selector: Any) -> None:
    """Labels that grow from 2 to 250 give the result of one batch that has them all."""
    if Task.MULTICLASS not in selector.traits.tasks or not selector.traits.any_chunking:
        return
    rng = np.random.default_rng(4)
    most = np.repeat(np.arange(2, 251), 3)  # how many labels there are by then
    y = np.concatenate([[0, 1], rng.integers(0, most), np.arange(250)])
    n = len(y)
    X = np.round(rng.normal(size=(n, 6)) * 8 + y[:, None] * np.linspace(0, 0.08, 6)) / 8
    for form in (np.asarray, sp.csr_array) if selector.traits.sparse else (np.asarray,):
        # text, because 250 different whole numbers in one batch would be taken for a quantity
        data = Sample(form(X), np.array([f"class {label:03}" for label in y]), [])
        whole = _streamed(fresh(selector), data, [n])
        assert_same(whole, _streamed(fresh(selector), data, [2, 120]), f"late labels, {form.__name__}")


def check_other_width_is_refused(selector: Any) -> None:
    """partial_fit never means more columns."""
    X, y, _ = sample_for(selector)
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


def _learned_by_dicts(selector: Any, rows: Sequence[dict[str, float]], y: Any) -> Any:
    for row, target in zip(rows, y, strict=True):
        selector.learn_one(row, target)
    return selector


def _shards(selector: Any, data: Sample, shards: int) -> list[Any]:
    """Learn the parts of a stream one by one."""
    learned = []
    for rows in np.array_split(np.arange(len(data.y)), shards):
        part = Sample(data.X[rows], data.y[rows], data.names)
        learned.append(_streamed(_from_row(selector, rows[0]), part, [10**6]))
    return learned


def _from_row(selector: Any, row: Any) -> Any:
    """Return an unfitted copy; one whose draws depend on the number of a row begins with this row."""
    place = {"first_row": int(row)} if "first_row" in selector.get_params(deep=False) else {}
    return fresh(selector, **place)


def _merged(parts: list[Any]) -> Any:
    first, *rest = parts
    for part in rest:
        first.merge(part)
    return first
