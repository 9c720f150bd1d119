"""Loading of data sets by name."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve._parameters import check_choice, did_you_mean
from streamsieve._validation import clean_sparse
from streamsieve.datasets import local
from streamsieve.datasets.dataset import Dataset
from streamsieve.datasets.manifest import MANIFEST, Entry
from streamsieve.exceptions import ParameterError, SourceError
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
            warnings.simplefilter("ignore")  # warnings of attempts; the error is enough
            bunch = fetch_openml(data_id=entry.openml, as_frame=False, parser="liac-arff", data_home=cache)
    except (OSError, ValueError) as error:  # no network, or the data set was removed
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
        return sp.csr_array(clean_sparse(X, "csr"), dtype=np.float64)
    return np.asarray(X, np.float64)


#: Sources of data sets; "auto" is the first that has it.
SOURCES = ("auto", "embedded", "local", "openml")


def load(name: str, source: str = "auto", *, cache: str | os.PathLike[str] | None = None) -> Dataset:
    """Return a data set by its name.

    Parameters
    ----------
    name : str
        One of :func:`available`, or of a file ``NAME.npz`` in the folder that the variable
        STREAMSIEVE_DATA names.
    source : {"auto", "embedded", "local", "openml"}, default="auto"
        Source.  "auto" tries the data sets of scikit-learn, then the folder, then openml.org, which needs a
        network.
    cache : path, default=None
        Folder in which scikit-learn caches downloads.  If None, its default.

    Raises
    ------
    ParameterError : there is no data set of this name
    SourceError : it is not available here; the message says where it was searched, and what to do

    Examples
    --------
    >>> from streamsieve import datasets
    >>> data = datasets.load("breast_cancer")
    >>> data.shape, data.task, data.names[:2], data.classes.tolist()
    ((569, 30), <Task.BINARY: 'binary'>, ['mean radius', 'mean texture'], ['malignant', 'benign'])
    """
    check_choice("source", source, SOURCES)
    if not isinstance(name, str):
        raise ParameterError(f"a data set has a name, such as 'iris'; got {name!r}")
    entry = MANIFEST.get(name)
    if entry is None:
        path = local.path_of(name) if source in ("auto", "local") else None
        if path is None:
            known = [*MANIFEST, *local.names()]
            raise ParameterError(
                f"there is no data set {name!r}{did_you_mean(name, known)} "
                "(streamsieve.datasets.available() lists them)"
            )
        return local.read(path, local.unlisted(path))
    tried: list[str] = []
    for one in SOURCES[1:] if source == "auto" else (source,):
        found = _from(one, entry, tried, cache)
        if found is not None:
            return found
    raise SourceError(f"{name} is not to be had: {'; '.join(tried)}. {_way_out(entry)}")


def available() -> dict[str, dict[str, object]]:
    """List the data sets by name, with their facts and where each is available.

    Returns
    -------
    dict
        By name; ``where`` is "embedded", "local", "openml" (a network is needed) or "absent".

    Examples
    --------
    >>> from streamsieve import datasets
    >>> datasets.available()["iris"]["where"]
    'embedded'
    """
    listed = {
        name: {
            "where": _where(entry),
            "task": str(entry.task),
            "rows": entry.rows,
            "features": entry.features,
            "description": entry.description,
            "citation": entry.citation,
        }
        for name, entry in MANIFEST.items()
    }
    files = {entry.file for entry in MANIFEST.values()}
    own: dict[str, dict[str, object]] = {
        name: {"where": "local", "description": "A file of your own."}
        for name in local.names()
        if name not in files
    }
    return {**listed, **own}


def _where(entry: Entry) -> str:
    if entry.embedded is not None:
        return "embedded"
    if entry.file is not None and local.path_of(entry.file) is not None:
        return "local"
    return "absent" if entry.openml is None else "openml"


def _from(
    source: str, entry: Entry, tried: list[str], cache: str | os.PathLike[str] | None
) -> Dataset | None:
    """Return the data set from one source, or note why it is not available there."""
    path = None if entry.file is None else local.path_of(entry.file)
    if source == "embedded" and entry.embedded is not None:
        return embedded(entry)
    if source == "local" and path is not None:
        return local.read(path, entry)
    if source == "openml" and entry.openml is not None:
        try:
            return openml(entry, cache)
        except SourceError as error:
            tried.append(str(error))
            return None
    why = {"embedded": "it does not come with scikit-learn", "openml": "OpenML does not have it"}
    tried.append(_not_local(entry) if source == "local" else why[source])
    return None


def _not_local(entry: Entry) -> str:
    folder = local.folder()
    if entry.file is None:
        return "it is not kept in the folder of data sets"
    if folder is None:
        return f"{local.VARIABLE} is not set, which names the folder of data sets"
    return f"{folder / entry.file}.npz is not there"


def _way_out(entry: Entry) -> str:
    network = "" if entry.openml is None else "Try again with a network"
    if entry.file is None:
        return network
    put = f"ut {entry.file}.npz (X and {entry.target}) into a folder and name that folder by {local.VARIABLE}"
    return f"{network}, or p{put}" if network else f"P{put}"
