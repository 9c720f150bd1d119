"""Small streams with everything that hurts: ties, copies, constants, few rows, gaps, late labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

WORDS = ("no", "yes", "maybe", "never", "often", "once")
FORMS = ("dense", "fortran", "strided", "float32", "int", "csr", "csc", "csr32", "pandas")


class Stream(NamedTuple):
    """A table that is fed to a selector by rows or by columns."""

    X: Any
    y: Any
    weight: Any
    names: list[str]


def make_stream(spec: dict[str, Any]) -> Stream:
    """Return the stream that a description stands for.

    Parameters
    ----------
    spec : seed, n, p, task, and optionally labels, gaps, nonnegative, drift, ordered, exact
    """
    rng = np.random.default_rng(spec["seed"])
    n, p, task = spec["n"], spec["p"], spec["task"]
    classes = {"binary": 2, "multiclass": 3 + spec["seed"] % 3, "one class": 1}.get(task, 2)
    label = rng.integers(0, classes, n)
    label[: min(classes, n)] = np.arange(min(classes, n))
    if spec.get("ordered"):
        label = np.sort(label)
    signal = rng.normal(size=n) if task == "regression" else label - label.mean()
    columns: list[Any] = []
    for _ in range(p):
        column = _column(rng, signal, columns)
        if spec.get("drift"):
            half = n // 2
            column[half:] = _column(rng, signal, columns)[half:]
        columns.append(column)
    X = np.stack(columns, axis=1)
    if not spec.get("exact"):  # ties, and values that float32 holds
        X = np.round(X * 8) / 8
    if spec.get("nonnegative"):
        X = np.abs(X)
    if spec.get("gaps"):
        X[(rng.random((n, p)) < rng.choice([0.05, 0.3, 0.8], p)) & (rng.random(p) < 0.6)] = np.nan
        if rng.random() < 0.3:
            X[:, rng.integers(p)] = np.nan
    y = _target(spec, label, signal + 0.5 * rng.normal(size=n))
    return Stream(X, y, rng.integers(0, 4, n) / 1.0, [f"feature {j}" for j in range(p)])


def _column(rng: np.random.Generator, signal: Any, columns: list[Any]) -> Any:
    """Return a column of some kind, often one made of the columns before."""
    n = len(signal)
    noise = rng.normal(size=n)
    earlier = columns[int(rng.integers(len(columns)))] if columns else noise
    other = columns[int(rng.integers(len(columns)))] if columns else signal
    kinds = [
        lambda: noise,
        lambda: signal + noise,
        lambda: 0.4 * signal + noise,
        lambda: -2 * signal + 0.5 * noise,
        earlier.copy,
        lambda: -earlier,
        lambda: 2 * earlier + 3,
        lambda: earlier + 0.2 * noise,
        lambda: earlier + other,
        lambda: earlier * other,
        lambda: np.full(n, 3.0),
        lambda: np.zeros(n),
        lambda: (rng.random(n) < 0.2 + 0.5 * (signal > 0)) * 1.0,
        lambda: rng.integers(0, 4, n) * 1.0,
        lambda: np.round(signal + noise),
        lambda: noise * (rng.random(n) < 0.2),
        lambda: (signal + noise) * (rng.random(n) < 0.3),
        lambda: signal**2 + 0.3 * noise,
        lambda: 1000.0 + signal + noise,
        lambda: rng.standard_cauchy(n).clip(-1e6, 1e6),
        signal.copy,
        lambda: np.where(np.arange(n) == n // 2, 1.0, 0.0),
    ]
    likely = np.array([4, 4, 3, 1, 1, 1, 1, 2, 2, 1, 0.5, 0.5, 2, 1.5, 2, 1, 1.5, 1, 1, 1, 0.3, 0.5])
    kind = int(rng.choice(len(kinds), p=likely / likely.sum()))
    return np.array(kinds[kind](), np.float64).clip(-1e9, 1e9)


def _target(spec: dict[str, Any], label: Any, numbers: Any) -> Any:
    labels = spec.get("labels", "int")
    if spec["task"] == "regression":
        return np.round(numbers * 4) if labels == "whole" else numbers
    if labels == "text":
        return np.array(WORDS)[label]
    if labels == "bool":
        return label > 0
    return {"shifted": label * 3 - 2, "float": label.astype(float)}.get(labels, label)


def in_form(X: Any, form: str, names: list[str] | None = None) -> Any:
    """Return a dense table, or a part of one, in another container or of another type.

    Parameters
    ----------
    X : float64 array
    form : one of ``FORMS``
    names : of the columns, for dataframes
    """
    makers: dict[str, Any] = {
        "dense": np.ascontiguousarray,
        "fortran": np.asfortranarray,
        "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        "float32": lambda X: np.ascontiguousarray(X, np.float32),
        "int": lambda X: np.nan_to_num(X).round().astype(np.int64),
        "csr": sp.csr_array,
        "csc": sp.csc_array,
        "csr32": lambda X: sp.csr_array(X.astype(np.float32)),
    }
    if form != "pandas":
        return makers[form](X)
    import pandas as pd  # noqa: PLC0415 - few cases need it

    return pd.DataFrame(X, columns=names if names is not None else [f"c{j}" for j in range(X.shape[1])])


def real_stream(loaded: Any, seed: int, most_rows: int, most_columns: int) -> Stream:
    """Return some rows and columns of a data set, as dense rows.

    Parameters
    ----------
    loaded : what ``datasets.load`` returns
    seed : of the draw
    most_rows, most_columns : size of the part
    """
    rng = np.random.default_rng(seed)
    n, p = loaded.X.shape
    rows = np.sort(rng.permutation(n)[:most_rows])
    if sp.issparse(loaded.X):  # columns of which something is there
        filled = np.flatnonzero(np.diff(sp.csc_array(loaded.X[rows]).indptr))
        columns = np.sort(rng.permutation(filled)[:most_columns])
        X = loaded.X[rows][:, columns].toarray()
    else:
        columns = np.sort(rng.permutation(p)[:most_columns])
        X = loaded.X[np.ix_(rows, columns)]
    X = np.asarray(X, np.float64)
    return Stream(X, np.asarray(loaded.y)[rows], np.ones(len(rows)), [f"feature {j}" for j in columns])
