"""Data sets through scikit-learn: those it comes with, and those of OpenML."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.datasets.dataset import Dataset
from streamsieve.datasets.manifest import Entry
from streamsieve.exceptions import SourceError
from streamsieve.protocols import Matrix, Task


def embedded(entry: Entry) -> Dataset:
    """Return a data set that comes with scikit-learn."""
    from sklearn import datasets  # noqa: PLC0415 - heavy

    bunch = getattr(datasets, str(entry.embedded))()
    labels = getattr(bunch, "target_names", None)
    return _dataset(entry, bunch, labels, f"scikit-learn, {entry.embedded}")


def openml(entry: Entry, cache: Any = None) -> Dataset:
    """Fetch a data set from OpenML, or from scikit-learn's copy of an earlier fetch."""
    from sklearn.datasets import fetch_openml  # noqa: PLC0415 - heavy

    where = f"https://www.openml.org/d/{entry.openml}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of every try, and then raises: that says it all
            bunch = fetch_openml(data_id=entry.openml, as_frame=False, parser="liac-arff", data_home=cache)
    except (OSError, ValueError) as error:  # no network, or no such data any more
        raise SourceError(f"{entry.name} could not be fetched from {where} ({error})") from error
    return _dataset(entry, bunch, None, where)


def _dataset(entry: Entry, bunch: Any, labels: Any, origin: str) -> Dataset:
    y: npt.NDArray[Any] = np.asarray(bunch.target)
    classes = None
    if entry.task is Task.REGRESSION:
        y = y.astype(np.float64)
    else:
        classes, y = np.unique(y, return_inverse=True)
        y = y.astype(np.int64)
        if labels is not None and len(labels) == len(classes):
            classes = np.asarray(labels)
    names = getattr(bunch, "feature_names", None)
    return Dataset(
        entry.name, _matrix(bunch.data), y, entry.task,
        None if names is None else [str(name) for name in names],
        classes, None, None, entry.description, entry.citation, origin,
    )  # fmt: skip


def _matrix(X: Any) -> Matrix:
    if sp.issparse(X):
        return sp.csr_array(X, dtype=np.float64)
    return np.asarray(X, np.float64)
