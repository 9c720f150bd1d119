"""``select``: feature selection in one call, with a method chosen by the data."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone

from streamsieve._advice import as_argument, by_interface
from streamsieve._caller import warn
from streamsieve._frames import as_frame, holds_text, is_frame, new_frame, take_columns
from streamsieve._parameters import did_you_mean
from streamsieve._paths import format_of, is_paths, resolve
from streamsieve._suspects import Suspects, Watched
from streamsieve._validation import check_length, task_of
from streamsieve.base import ColumnSelector, OfflineSelector
from streamsieve.choosing import Profile, choose
from streamsieve.exceptions import (
    BadValueError,
    CapabilityError,
    InputError,
    ParameterError,
    SchemaError,
    SuspectColumnsWarning,
    TargetError,
)
from streamsieve.protocols import Task
from streamsieve.registry import selector as selector_of
from streamsieve.running import run
from streamsieve.sources import ArrowSource
from streamsieve.sources import open as open_source

#: Name of the automatic choice of a method.
AUTO = "auto"
#: Maximum number of suspicious columns that a warning names.
SHOWN = 5
#: Options of `streamsieve.open` that are not parameters of any selector.
READING = {*inspect.signature(ArrowSource).parameters} - {"paths", "target", "missing", "nominal"}


def select(
    data: Any,
    target: Any = None,
    method: Any = AUTO,
    *,
    goal: str = "accurate",
    task: str = "auto",
    groups: Any = None,
    serial: bool | int | None = None,
    **parameters: Any,
) -> Any:
    """Select features of a dataframe, an array or a file in one call.

    Parameters
    ----------
    data : dataframe, array, sparse matrix, path, pattern, or source
        Paths and patterns are opened by :func:`streamsieve.open`.
    target : str or array
        The name of the column that holds the target, or the target itself, one value per row.
    method : str or selector, default="auto"
        A name that ``streamsieve methods`` lists, or a selector.  "auto" chooses by the size of the data, the
        number of classes and ``goal``; see :func:`streamsieve.choosing.choose`.
    goal : {"accurate", "smallest", "fdr", "explain"}, default="accurate"
        Goal of the selection: accurate prediction, as few columns as possible, a bound on the false discovery
        rate, or all columns that are associated with the target, alone or in a pair.  With ``method="auto"``
        only.
    task : {"auto", "classification", "regression"}, default="auto"
        Type of target; "auto" decides by its values, as selectors do.
    groups : str or array, default=None
        Subjects, for rows that depend on each other within subjects: the name of a column, which is then no
        feature, or one label per row.  For methods that stream columns.
    serial : bool or int, default=None
        Whether rows are in time order, or the largest lag, for methods that stream columns.
    **parameters
        Parameters of the selector, such as ``alpha=0.01`` or ``k=20``; for files also options of
        :func:`streamsieve.open`, such as ``sep=";"`` or ``missing="impute"``.  Unless ``categories`` and
        ``dates`` say otherwise, text of files is encoded ("auto") and dates are left out ("drop").

    Returns
    -------
    selector
        The fitted selector, with ``ranking()``, ``transform`` and ``ledger_.why(name)``. Printing it shows
        which method was chosen and why.

    Examples
    --------
    >>> import streamsieve as ss
    >>> from sklearn.datasets import load_wine
    >>> wine = load_wine()
    >>> sieve = ss.select(wine.data, wine.target, goal="smallest")
    >>> type(sieve).__name__, len(sieve.selected_)
    ('FastOSFS', 7)
    """
    if isinstance(groups, str):
        data, groups = _without_groups(data, groups, target, parameters)
    X, y, source = _taken(data, target, parameters)
    if isinstance(groups, str):
        groups = source.column(groups)
    rows = {name: each for name, each in (("groups", groups), ("serial", serial)) if each is not None}
    omit = parameters.get("missing") == "omit"
    if omit:
        del parameters["missing"]  # a selector may take missing values without a parameter
    y_values, kind = task_of(y, task)
    note = ""
    if isinstance(method, str) and method == AUTO:
        classes = 0 if kind is Task.REGRESSION else len(np.unique(y_values))
        profile = Profile(rows=len(y_values), columns=_width(X, source), task=kind, classes=classes)
        choice = choose(profile, goal)
        cls, note = selector_of(choice.method), str(choice)
        selector = cls(**{**choice.parameters, **_known(cls(), parameters)})
    elif isinstance(method, str):
        cls = selector_of(method)
        selector = cls(**_known(cls(), parameters))
    else:
        selector = clone(method).set_params(**_known(method, parameters))
    if rows and not isinstance(selector, ColumnSelector):
        raise ParameterError(
            f"{next(iter(rows))} is for methods that stream columns, and {type(selector).method_name()} "
            "does not"
        )
    if omit:
        omit_missing(selector)
    if selector.get_params(deep=False).get("task") == "auto":  # decided, and warned about, above
        selector.set_params(task="regression" if kind is Task.REGRESSION else "classification")
    suspects = Suspects(codes_too=False)
    with _ways_out(X, source):
        _fit(selector, X, y, None if source is None else Watched(source, suspects), rows)
    kept = [str(name) for name in selector.get_feature_names_out()]
    if source is None:
        suspects.look_at_table(X, y_values, kept, np.flatnonzero(selector.get_support()))
    _question(kept, suspects)
    left_out = "; ".join(f"{why}: {', '.join(map(str, names))}" for why, names in _left_out(source).items())
    # shown with what was kept
    selector._chosen_by = "; ".join(filter(None, [note, left_out and f"left out: {left_out}"]))  # noqa: SLF001
    selector._target_column = target if isinstance(target, str) else None  # noqa: SLF001 - transform takes it
    return selector


def omit_missing(selector: Any) -> None:
    """Set a selector up for missing values, or raise ``CapabilityError`` if it takes none."""
    if "missing" in selector.get_params(deep=False):
        selector.set_params(missing="omit")
    elif not selector.traits.missing:
        fills = by_interface(
            "SimpleImputer, or missing='impute' for files,", as_argument("missing", "impute")
        )
        raise CapabilityError(
            f"{type(selector).method_name()} takes no missing values: {fills} fills in the mean of the "
            f"column; fast_osfs, osfs, saola, top_k and screen take {as_argument('missing', 'omit')}"
        )


def _known(selector: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a selector; refuse unknown ones by name."""
    known = selector.get_params(deep=True)
    for name in parameters:
        if name not in known:
            raise ParameterError(
                f"{type(selector).__name__} has no parameter {name!r}"
                f"{did_you_mean(name, [*known, 'goal', 'method', 'target', 'task'])}; it has "
                f"{', '.join(selector.get_params(deep=False))}"
            )
    return parameters


def _options(parameters: dict[str, Any]) -> dict[str, Any]:
    """Remove from the parameters, and return, those that control how files are read."""
    found = {name: parameters.pop(name) for name in [*parameters] if name in READING}
    if parameters.get("missing") == "impute":  # "omit" is an option of selectors
        found["missing"] = parameters.pop("missing")
    return found


def _taken(data: Any, target: Any, parameters: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return matrix and target of data in memory, or the source of streamed data and its target.

    Options of files are removed from the parameters.
    """
    if target is None and not hasattr(data, "rows"):
        raise TargetError("select needs a target: give target='column' or one value per row")
    in_memory = is_frame(data) or isinstance(data, np.ndarray) or hasattr(data, "tocsr")
    in_memory |= isinstance(data, list) and not is_paths(data)
    if in_memory and parameters.get("missing") == "impute":
        raise ParameterError(
            "missing='impute' is for files: fill in data in memory with scikit-learn's SimpleImputer, or "
            "give missing='omit' if the method takes missing values"
        )
    if is_frame(data) and isinstance(target, str):
        frame = as_frame(data)
        if target not in frame.columns:
            raise SchemaError(f"there is no column {target!r}{did_you_mean(target, frame.columns)}")
        return frame.drop(target).to_native(), frame[target].to_native(), None
    if in_memory:
        if isinstance(data, list) and not (data and hasattr(data[0], "__len__")):
            raise InputError("X must be a list of rows, with one value per column")
        if not isinstance(data, list) and len(data.shape) != 2:
            raise InputError(f"X must have two dimensions, rows and columns; got shape {data.shape}")
        check_length(target, len(data) if isinstance(data, list) else data.shape[0])
        return data, target, None
    options = _options(parameters) if isinstance(data, (str, os.PathLike, list, tuple)) else {}
    if is_paths(data) and not any(format_of(file).kind == "svmlight" for file in resolve(data)):
        types = parameters.get("types")
        nominal = [n for n, kind in types.items() if kind == "nominal"] if isinstance(types, dict) else []
        options = {"categories": "auto", "dates": "drop", "nominal": nominal, **options}  # as commands do
    source = open_source(data, target=target, **options)
    if getattr(source, "y", None) is None:
        raise TargetError("the source has no target of all rows: open it with target=...")
    return None, source.y, source


def _without_groups(data: Any, groups: str, target: Any, parameters: dict[str, Any]) -> tuple[Any, Any]:
    """Return the data without the column of groups, and its values, or its name if the data is in files."""
    if is_frame(data):
        frame = as_frame(data)
        if groups not in frame.columns or groups == target:
            raise SchemaError(f"there is no column {groups!r} of groups{did_you_mean(groups, frame.columns)}")
        return frame.drop(groups).to_native(), frame[groups].to_numpy()
    if not is_paths(data):
        raise ParameterError("groups must be one label per row: only dataframes and files have named columns")
    excluded = parameters.get("exclude", ())
    parameters["exclude"] = [*([excluded] if isinstance(excluded, str) else excluded), groups]
    return data, groups


@contextmanager
def _ways_out(X: Any, source: Any) -> Iterator[None]:
    """Context: a complaint about missing values names the parameters that help."""
    try:
        yield
    except BadValueError as error:
        ways = ["missing='impute' (the mean of the column)"] if source is not None else []
        if is_frame(X) and holds_text(take_columns(X, np.array([error.feature]))):
            ways = ["the text 'missing' in its place (fillna, fill_null), a category of its own"]
        if not math.isnan(error.value) or not ways:
            raise
        raise BadValueError(f"{error}, or give {' or '.join(ways)}", error.feature, error.value) from error


def _question(names: list[str], suspects: Suspects) -> None:
    """Warn of selected columns that look like identifiers, or give the target away."""
    kept = set(names)
    leaks = {name: how for name, how in suspects.leaks.items() if name in kept}
    found = [f"{name!r} alone gives the target away ({how})" for name, how in leaks.items()]
    found += [
        f"{name!r} looks like an identifier (whole numbers, all different or in order)"
        for name in suspects.identifiers
        if name in kept and name not in leaks
    ]
    sums = [name for name in suspects.totals if name in kept]
    sums += ["the target"] if suspects.target_total is not None else []
    found += [f"the last row holds the sum of all others in {', '.join(sums[:SHOWN])}"] if sums else []
    if found:
        more = f", and {len(found) - SHOWN} more" * (len(found) > SHOWN)
        warn(
            f"selected columns to question: {'; '.join(found[:SHOWN])}{more}; leave out what is not known "
            "when predictions are made",
            SuspectColumnsWarning,
        )


def _left_out(source: Any) -> dict[str, list[str]]:
    """Return the columns of files that are no features and were not named, by the reason."""
    found: dict[str, list[str]] = getattr(source, "left_out", {})
    return {why: names for why, names in found.items() if why not in ("excluded", "not asked for")}


def _width(X: Any, source: Any) -> int:
    """Return the number of columns."""
    if source is not None:
        return int(source.n_columns)
    return int(X.shape[1] if hasattr(X, "shape") else len(X[0]))


def _fit(selector: Any, X: Any, y: Any, source: Any, rows: dict[str, Any]) -> None:
    if source is None:
        selector.fit(X, y, **rows)
    elif isinstance(selector, OfflineSelector):
        selector.fit(*_read(source))
    else:
        if rows:
            selector.begin(source.y, **rows)
        run(source, selector)


def _read(source: Any) -> tuple[Any, Any]:
    """Return all rows of a source, under its names, and their target."""
    X = np.hstack([np.asarray(block.X) for block in source.columns(1024)])
    if source.names is None:
        return X, source.y
    return new_frame(dict(zip(source.names, X.T, strict=True)), "pyarrow"), source.y
