"""Contracts of every selector."""

from __future__ import annotations

import importlib
import inspect
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from streamsieve.base import OfflineSelector, RowSelector
from streamsieve.exceptions import InputError, ParameterError, StreamSieveError
from streamsieve.protocols import Task
from streamsieve.state.registry import name_of, registered
from streamsieve.testing._data import Sample, assert_same, fresh, named, sample_for


def check_deterministic(selector: Any) -> None:
    """The same data twice give the same result, bit for bit; ``selected_`` is in column order."""
    X, y, _ = sample_for(selector)
    a, b = (fresh(selector).fit(X, y) for _ in range(2))
    assert_same(a, b, "second run")
    assert np.array_equal(a.selected_, a.get_support(indices=True)), "selected_ is not in column order"
    if hasattr(a, "ranked_"):
        assert np.array_equal(np.sort(a.ranked_), a.selected_), "ranked_ has other columns than selected_"
    if hasattr(a, "scores_"):
        assert np.array_equal(a.scores_, b.scores_), "second run: scores_ differ"


def check_containers_agree(selector: Any) -> None:
    """Dense, CSR, CSC, pandas, polars and Arrow give the same selection."""
    X, y, names = sample_for(selector)
    expected = fresh(selector).fit(X, y)
    forms: dict[str, Any] = {"column-major array": np.asfortranarray(X), "list of lists": X.tolist()}
    if selector.traits.sparse:
        kinds = (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix, sp.coo_array)
        forms |= {kind.__name__: kind(X) for kind in kinds}
    for name, form in forms.items():
        advice = ": take CSC blocks or CSR batches, or say Traits(sparse=False)" * sp.issparse(form)
        with named(f"{name} cannot be fitted{advice}"):
            fitted = fresh(selector).fit(form, y)
        assert_same(expected, fitted, name)
    for name, frame in frames(X, names):
        fitted = fresh(selector).fit(frame, y)
        assert_same(expected, fitted, name)
        kept = [names[j] for j in np.flatnonzero(fitted.get_support())]
        if getattr(selector, "output", "drop") == "drop":
            assert fitted.get_feature_names_out().tolist() == kept, f"{name}: names of the kept columns"


def check_dtypes_agree(selector: Any) -> None:
    """float32, float64, whole numbers and bool give the same selection."""
    X, y, _ = sample_for(selector)
    expected = fresh(selector).fit(X, y)
    advice = "as float64 and as {}, values that both hold exactly (compute in float64)"
    assert_same(expected, fresh(selector).fit(X.astype(np.float32), y), advice.format("float32"))
    whole = np.round(X * 2)
    expected = fresh(selector).fit(whole, y)
    for dtype in (np.int8, np.int64, np.float32):
        assert_same(expected, fresh(selector).fit(whole.astype(dtype), y), advice.format(np.dtype(dtype)))
    positive = X > 0
    expected = fresh(selector).fit(positive.astype(float), y)
    assert_same(expected, fresh(selector).fit(positive, y), advice.format("bool"))


def check_labels_are_names(selector: Any) -> None:
    """Text labels, shifted codes and floats give the same selection as 0, 1, 2, ..."""
    for task in (Task.BINARY, Task.MULTICLASS):
        if task not in selector.traits.tasks or getattr(selector, "_target", "classes") == "numeric":
            continue
        X, y, _ = sample_for(selector, task=task)
        expected = fresh(selector).fit(X, y)
        for name, labels in (
            ("text", np.array(list("abcd"))[y]),
            ("shifted", y + 7),
            ("float", y.astype(float)),
        ):
            what = f"{name} labels, {task} (labels arrive as they are: give them numbers yourself)"
            with named(what):
                fitted = fresh(selector).fit(X, labels)
            assert_same(expected, fitted, what)


def check_bad_sparse_indices(selector: Any) -> None:
    """A sparse matrix with an index out of range is refused by name, also where its flags say all is well."""
    X, y, _ = sample_for(selector)
    for form in ("csr", "csc") if selector.traits.sparse else ():
        bad = sp.coo_array(X).asformat(form)
        bad.has_canonical_format = bad.has_sorted_indices = True
        bad.indices[3] = max(X.shape) + 10**6
        text = ""
        try:
            fresh(selector).fit(bad, y)
        except InputError as error:
            text = str(error)
        assert f"number {bad.indices[3]}" in text, f"a bad index in {form} is not refused by name: {text!r}"


def check_refit_forgets(selector: Any) -> None:
    """Refitting discards everything learned before."""
    one, two = sample_for(selector, seed=1), sample_for(selector, n=90, p=9, seed=2)
    assert_same(
        fresh(selector).fit(one.X, one.y).fit(two.X, two.y), fresh(selector).fit(two.X, two.y), "refit"
    )


def check_column_permutation(selector: Any) -> None:
    """Shuffling columns shuffles the selection (selectors over columns judge in order, and may differ)."""
    if not isinstance(selector, (RowSelector, OfflineSelector)) or selector.traits.draws_features:
        return
    X, y, _ = sample_for(selector)
    order = np.random.default_rng(3).permutation(X.shape[1])
    shuffled = fresh(selector).fit(X[:, order], y).get_support()
    assert np.array_equal(shuffled, fresh(selector).fit(X, y).get_support()[order]), (
        "shuffling the columns does not shuffle the selection"
    )


def check_save_and_load(selector: Any) -> None:
    """A saved selector is restored completely, with parameters and names."""
    X, y, names = sample_for(selector)
    for _, frame in [("array", X), *list(frames(X, names))[:1]]:
        fitted = fresh(selector).fit(frame, y)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "state.sieve"
            fitted.save(path)
            again = type(selector).load(path)
        assert_same(fitted, again, "loaded", names=True)
        assert repr(again.get_params()) == repr(fitted.get_params()), "loaded: other parameters"
        assert _outcome(again, frame) == _outcome(fitted, frame), "loaded: other output"


def check_frames_stay_frames(selector: Any) -> None:
    """A dataframe goes in, a dataframe of the same library with the kept columns comes out."""
    if getattr(selector, "output", "drop") != "drop":
        return
    X, y, names = sample_for(selector)
    for name, frame in frames(X, names):
        fitted = fresh(selector).fit(frame, y)
        out = fitted.transform(frame)
        assert type(out) is type(frame), f"{name}: transform returned {type(out)}"
        columns = out.column_names if hasattr(out, "column_names") else list(out.columns)
        assert columns == fitted.get_feature_names_out().tolist(), name


def check_parameter_errors(selector: Any) -> None:
    """An invalid parameter is refused by name, with its value."""
    X, y, _ = sample_for(selector)
    for name in selector.get_params(deep=False):
        broken = fresh(selector, **{name: "no such value"})
        try:
            broken.fit(X, y)
        except ParameterError as error:
            text = str(error)
        except Exception as error:
            raise AssertionError(
                f"{name}='no such value' must raise ParameterError, not {type(error).__name__}: declare "
                f"{name} in `parameters`"
            ) from error
        else:
            raise AssertionError(f"{name}='no such value' was accepted: declare {name} in `parameters`")
        assert name in text, f"the error does not name {name}: {text}"
        assert "no such value" in text, f"the error does not say what came: {text}"


#: Values of types that hardly any parameter has.
ODD: tuple[Any, ...] = (np.array([1, 2]), np.array("x"), [[]], {1: 2}, object(), float("nan"), 10**30)


def check_odd_parameters(selector: Any) -> None:
    """A parameter of a type that makes no sense is refused by an error of this library, or has a meaning."""
    X, y, _ = sample_for(selector, n=40)
    for name in selector.get_params(deep=False):
        for value in ODD:
            odd = fresh(selector, **{name: value})
            try:
                odd.fit(X, y)
            except StreamSieveError:
                continue
            except Exception as error:
                raise AssertionError(
                    f"{name}={value!r} must be refused by ParameterError, not {type(error).__name__}: "
                    f"declare {name} in `parameters`"
                ) from error


def check_refusal_changes_nothing(selector: Any) -> None:
    """A refused fit leaves the selector as it was."""
    X, y, _ = sample_for(selector)
    fitted, expected = (fresh(selector).fit(X, y) for _ in range(2))
    bad = X.copy()
    bad[3, 2] = np.inf
    refused = {"an infinite value": (bad, y), "no rows": (X[:0], y[:0])}
    if getattr(selector, "_target", "classes") is not None:  # y is not looked at otherwise
        refused["a target that is too short"] = (X, y[:-1])
    for what, (rows, target) in refused.items():
        try:
            fitted.fit(rows, target)
        except StreamSieveError:
            assert_same(fitted, expected, f"before and after a fit that was refused for {what}")
        else:
            raise AssertionError(f"{what} was accepted: raise an InputError in `_learn` or `_offer`")


def check_value_zoo(selector: Any) -> None:
    """Every unusual value gives a named error or finite scores, and no warning except about convergence."""
    for name, X, y in _zoo(sample_for(selector, n=60, p=6)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                fitted = fresh(selector, **_narrow(selector)).fit(X, y)
                scores = getattr(fitted, "scores_", np.zeros(1))
                support = fitted.get_support()
            except StreamSieveError as error:
                assert len(str(error)) > 20, f"{name}: the error says too little: {error}"  # noqa: PT017
                continue
        assert np.all(np.isfinite(scores)), f"{name}: scores are not finite"
        assert support.dtype == bool, name


def check_attributes_can_be_listed(selector: Any) -> None:
    """``dir``, tab completion and ``inspect.getmembers`` work before and after fitting.

    They read every property, so one that is not available must raise ``AttributeError``.
    """
    X, y, _ = sample_for(selector, n=60, p=6)
    unfitted = fresh(selector, **_narrow(selector))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = fresh(selector, **_narrow(selector)).fit(X, y)
    for what, each in {"unfitted": unfitted, "fitted": fitted}.items():
        with named(f"attributes of the {what} selector cannot be listed: raise AttributeError in properties"):
            dir(each)
            inspect.getmembers(each)


def check_registered(selector: Any) -> None:
    """State files may name the class: without that, nothing finds it in a file of its own or of another."""
    kind = type(selector)
    assert registered().get(name_of(kind)) is kind, (
        f"{kind.__name__} is not registered, so ss.load and checkpoints cannot read its state files: "
        "decorate the class with streamsieve.state.register"
    )


def _narrow(selector: Any) -> dict[str, Any]:
    """The zoo has few columns: take the least k."""
    return {"k": 1} if "k" in selector.get_params() and selector.k is not None else {}


def _zoo(data: Sample) -> Iterator[tuple[str, Any, Any]]:
    X, y, _ = data

    def with_value(value: float) -> Any:
        strange = X.copy()
        strange[5, 1] = value
        return strange

    for value in (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -0.0):
        yield f"{value!r}", with_value(value), y
    all_missing = X.copy()
    all_missing[:, 1] = np.nan
    yield "a column of NaN", all_missing, y
    yield "no rows", X[:0], y[:0]
    yield "no columns", X[:, :0], y
    yield "one row", X[:1], y[:1]
    yield "two rows", X[:2], y[:2]
    yield "one class", X, np.ones_like(y)
    yield "all constant", np.ones_like(X), y
    yield "duplicates", np.repeat(X[:, :1], 6, axis=1), y
    yield "duplicated rows", np.repeat(X[:2], 30, axis=0), np.repeat(y[:2], 30)
    yield "all zero", np.zeros_like(X), y
    yield "bool", X > 0, y
    yield "largest int64", np.full(X.shape, np.iinfo(np.int64).max), y
    yield "large offset", X + 1e12, y
    yield "huge spread", X * np.logspace(-100, 100, X.shape[1]), y
    yield "denormal", X * 1e-310, y
    yield "object numbers", X.astype(object), y
    yield "text", np.full(X.shape, "a"), y
    yield "objects", np.full(X.shape, {}), y
    yield "complex", X * 1j, y
    yield "three dimensions", X[:, :, None], y
    yield "one dimension", X[:, 0], y
    yield "a number", 3.0, y
    yield "None", None, y
    yield "short target", X, y[:-1]
    yield "no target", X, None
    yield "missing target", X, np.where(np.arange(len(y)) == 2, np.nan, y.astype(float))
    yield "infinite target", X, np.where(np.arange(len(y)) == 2, np.inf, y.astype(float))
    yield "empty sparse", sp.csr_array(X.shape), y
    yield "sparse NaN", sp.csr_array(with_value(np.nan)), y
    yield "sparse inf", sp.csr_array(with_value(np.inf)), y
    yield "sparse overflow", sp.csr_array(with_value(1e308)), y


def frames(X: Any, names: list[str]) -> Iterator[tuple[str, Any]]:
    """The same table in every dataframe library that is installed."""
    makers = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}
    for library, maker in makers.items():
        try:
            module = importlib.import_module(library)
        except ImportError:
            continue
        yield library, getattr(module, maker)({name: X[:, j] for j, name in enumerate(names)})


def _outcome(selector: Any, X: Any) -> list[Any]:
    out = selector.transform(X)
    values = out.to_numpy() if hasattr(out, "to_numpy") else np.asarray(out)
    return np.asarray(values).tolist()  # type: ignore[no-any-return]
