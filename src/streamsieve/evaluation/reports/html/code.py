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


def pipeline_code(report: Report, use: Standing) -> str:
    """Return a scikit-learn pipeline of a combination, at its best size; empty if it cannot be written."""
    settings = report.settings
    selector, learner = settings["selectors"].get(use.selector), settings["learners"].get(use.learner)
    if report.protocol == "prequential" or use.learner in BASELINES or not isinstance(learner, Mapping):
        return ""
    steps = []
    for described in (selector, learner):
        if described is None:  # all features are kept
            continue
        call = _call(described, use.size if described is selector else 0)
        if call is None:
            return ""
        steps.append(call)
    if settings["scale"]:
        # types of columns are guessed from values as they are: see `wants_raw`
        raw = selector is not None and "types" in selector["parameters"]
        steps.insert(1 if raw else 0, ("sklearn.preprocessing.StandardScaler", "StandardScaler()"))
    imports = ["import streamsieve as ss"] if any(path.startswith("streamsieve") for path, _ in steps) else []
    others = [path.rpartition(".") for path, _ in steps if not path.startswith("streamsieve")]
    imports += sorted({f"from {module} import {name}" for module, _, name in others})
    imports.append("from sklearn.pipeline import make_pipeline")
    lines = [*sorted(imports, key=lambda line: (line.startswith("from"), line)), ""]
    made = ", ".join(text for _, text in steps)
    return "\n".join([*lines, f"model = make_pipeline({made})", "model.fit(X, y)"])


def _call(described: Mapping[str, Any], size: int) -> tuple[str, str] | None:
    """Return the public path of a class and the call that makes it; None for what cannot be imported."""
    path, given = str(described["class"]), dict(described["parameters"])
    module, _, name = path.rpartition(".")
    if module.partition(".")[0] not in KNOWN:
        return None
    kind = getattr(importlib.import_module(module), name)
    defaults = {key: each.default for key, each in inspect.signature(kind).parameters.items()}
    parameter = size_parameter(kind()) if size else None
    if parameter is not None:
        given[parameter] = size
    changed = {key: value for key, value in given.items() if key in defaults and value != defaults[key]}
    if any(isinstance(value, (Mapping, list)) for value in changed.values()):
        return None
    arguments = ", ".join(f"{key}={value!r}" for key, value in changed.items())
    if module.startswith("streamsieve"):
        return f"streamsieve.{name}", f"ss.{name}({arguments})"
    public = ".".join(part for part in module.split(".") if not part.startswith("_"))
    return f"{public}.{name}", f"{name}({arguments})"
