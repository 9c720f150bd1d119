"""The recommended combination as code to copy."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from streamsieve.evaluation.candidates.selectors import size_parameter
from streamsieve.evaluation.candidates.stream_learners import BASELINES
from streamsieve.evaluation.reports.recommendation import Standing
from streamsieve.evaluation.reports.report import Report

#: Packages whose classes a reader can import.
KNOWN = ("streamsieve", "sklearn")
SCALER = ("sklearn.preprocessing.StandardScaler", "StandardScaler()")
#: Nominal columns as learners see them; names of columns are those of a frame.
LEVELS = """levels = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore", sparse_output=False), lambda X: X.columns.intersection(nominal)),
    remainder="passthrough",
)"""
OF_LEVELS = ("sklearn.compose.make_column_transformer", "sklearn.preprocessing.OneHotEncoder")
FRAMES = '.set_output(transform="pandas")'


def pipeline_code(report: Report, use: Standing) -> str:
    """Return a scikit-learn pipeline of a combination, at its best size; empty if it cannot be written."""
    settings = report.settings
    selector, learner = settings["selectors"].get(use.selector), settings["learners"].get(use.learner)
    if report.protocol == "prequential" or use.learner in BASELINES or not isinstance(learner, Mapping):
        return ""
    types = settings["data"].get("types", {})
    chosen = None if selector is None else _call(selector, use.size, types)
    learned = _call(learner, 0, {})
    if learned is None or (selector is not None and chosen is None):
        return ""
    scaler = [SCALER] if settings["scale"] else []
    # types of columns are guessed from values as they are: see `wants_raw`
    raw = selector is not None and "types" in selector["parameters"]
    before = [] if chosen is None else [chosen] if raw else [*scaler, chosen]
    nominal = [name for name, kind in types.items() if kind == "nominal"]
    if nominal:
        before = [(path, text + FRAMES) for path, text in before]
        return _written([*before, ("", "levels"), *scaler, learned], nominal)
    return _written([*before, *([] if before and not raw else scaler), learned], [])


def _written(steps: list[tuple[str, str]], nominal: list[str]) -> str:
    """Return the text of a pipeline of steps, each the path of a class and the call that makes it."""
    paths = [*(path for path, _ in steps if path), *(OF_LEVELS if nominal else ())]
    ours = ["import streamsieve as ss"] if any(path.startswith("streamsieve") for path in paths) else []
    others = [path.rpartition(".") for path in paths if not path.startswith("streamsieve")]
    imports = {f"from {module} import {name}" for module, _, name in others}
    lines = [*ours, *sorted({*imports, "from sklearn.pipeline import make_pipeline"}), ""]
    if nominal:
        lines += [f"nominal = {nominal!r}", LEVELS]
    made = ", ".join(text for _, text in steps)
    frame = "  # X is a pandas DataFrame" if nominal else ""
    return "\n".join([*lines, f"model = make_pipeline({made})", f"model.fit(X, y){frame}"])


def _call(described: Mapping[str, Any], size: int, types: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the public path of a class and the call that makes it; None for what cannot be imported.

    ``types`` are those declared for the data, which stand where a selector has none of its own.
    """
    path, given = str(described["class"]), dict(described["parameters"])
    module, _, name = path.rpartition(".")
    if module.partition(".")[0] not in KNOWN:
        return None
    kind = getattr(importlib.import_module(module), name)
    defaults = {key: each.default for key, each in inspect.signature(kind).parameters.items()}
    parameter = size_parameter(kind()) if size else None
    if parameter is not None:
        given[parameter] = size
    if given.get("types", "") is None and types:
        given["types"] = dict(types)
    changed = {key: value for key, value in given.items() if key in defaults and value != defaults[key]}
    if any(isinstance(value, (Mapping, list)) for key, value in changed.items() if key != "types"):
        return None  # an object, of which a report knows a description
    arguments = ", ".join(f"{key}={value!r}" for key, value in changed.items())
    if module.startswith("streamsieve"):
        return f"streamsieve.{name}", f"ss.{name}({arguments})"
    public = ".".join(part for part in module.split(".") if not part.startswith("_"))
    return f"{public}.{name}", f"{name}({arguments})"
