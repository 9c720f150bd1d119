"""The one-line door: data in, fitted selector out, by a method that the data choose."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from streamsieve._frames import as_frame, is_frame, new_frame
from streamsieve._parameters import did_you_mean
from streamsieve._validation import check_length, task_of
from streamsieve.base import OfflineSelector
from streamsieve.choosing import Profile, choose
from streamsieve.exceptions import SchemaError, TargetError
from streamsieve.protocols import Task
from streamsieve.registry import selector as selector_of
from streamsieve.running import run
from streamsieve.sources import open as open_source

#: The method that is chosen by the data.
AUTO = "auto"


def select(
    data: Any,
    target: Any = None,
    method: Any = AUTO,
    *,
    goal: str = "accurate",
    task: str = "auto",
    **parameters: Any,
) -> Any:
    """Select features of a table, an array or a file by one call.

    Parameters
    ----------
    data : dataframe, array, sparse matrix, path, pattern, or source
        Files are those that :func:`streamsieve.open` takes.
    target : str or array
        The name of the column that holds the target, or the target itself, one value per row.
    method : str or selector, default="auto"
        A name that ``streamsieve methods`` lists, or a selector.  "auto" chooses by the size of the data, the
        number of classes and ``goal``; see :func:`streamsieve.choosing.choose`.
    goal : {"accurate", "smallest", "fdr", "explain"}, default="accurate"
        What the selection is for: prediction, as few columns as possible, a bound on the false discovery
        rate, or every column that takes part.  With ``method="auto"`` only.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is; "auto" decides by its values, as selectors do.
    **parameters
        Parameters of the selector, such as ``alpha=0.01`` or ``k=20``.

    Returns
    -------
    the fitted selector: it has ``ranking()``, ``transform`` and ``ledger_.why(name)``, and its text says
    which method was chosen and why

    Examples
    --------
    >>> import streamsieve as ss
    >>> from sklearn.datasets import load_wine
    >>> wine = load_wine()
    >>> sieve = ss.select(wine.data, wine.target, goal="smallest")
    >>> type(sieve).__name__, len(sieve.selected_)
    ('FastOSFS', 7)
    """
    X, y, source = _taken(data, target)
    y_values, kind = task_of(y, task)
    note = ""
    if isinstance(method, str) and method == AUTO:
        classes = 0 if kind is Task.REGRESSION else len(np.unique(y_values))
        profile = Profile(rows=len(y_values), columns=_width(X, source), task=kind, classes=classes)
        choice = choose(profile, goal)
        selector, note = choice.selector(**parameters), str(choice)
    elif isinstance(method, str):
        selector = selector_of(method)(**parameters)
    else:
        selector = clone(method).set_params(**parameters)
    if getattr(selector, "task", None) == "auto":  # decided above, and said once
        selector.set_params(task="regression" if kind is Task.REGRESSION else "classification")
    _fit(selector, X, y, source)
    selector._chosen_by = note  # noqa: SLF001 - shown with what was kept
    return selector


def _taken(data: Any, target: Any) -> tuple[Any, Any, Any]:
    """Return matrix and target of data in memory, or the target and the source of data that streams."""
    if target is None and not hasattr(data, "rows"):
        raise TargetError("select needs a target: give target='column' or one value per row")
    if is_frame(data) and isinstance(target, str):
        frame = as_frame(data)
        if target not in frame.columns:
            raise SchemaError(f"there is no column {target!r}{did_you_mean(target, frame.columns)}")
        return frame.drop(target).to_native(), frame[target].to_native(), None
    if is_frame(data) or isinstance(data, np.ndarray) or hasattr(data, "tocsr") or isinstance(data, list):
        check_length(target, data.shape[0] if hasattr(data, "shape") else len(data))
        return data, target, None
    source = open_source(data, target=target)
    if getattr(source, "y", None) is None:
        raise TargetError("the source has no target of all rows: open it with target=...")
    return None, source.y, source


def _width(X: Any, source: Any) -> int:
    """Return the number of columns."""
    if source is not None:
        return int(source.n_columns)
    return int(X.shape[1] if hasattr(X, "shape") else len(X[0]))


def _fit(selector: Any, X: Any, y: Any, source: Any) -> None:
    if source is None:
        selector.fit(X, y)
    elif isinstance(selector, OfflineSelector):
        selector.fit(*_read(source))
    else:
        run(source, selector)


def _read(source: Any) -> tuple[Any, Any]:
    """Return all rows of a source, under its names, and their target."""
    X = np.hstack([np.asarray(block.X) for block in source.columns(1024)])
    if source.names is None:
        return X, source.y
    return new_frame(dict(zip(source.names, X.T, strict=True)), "pyarrow"), source.y
