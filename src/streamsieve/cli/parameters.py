"""Values of command-line options: lists of names, and parameters of methods."""

from __future__ import annotations

import ast
import csv
import io
import shlex
from collections.abc import Iterable
from typing import Any

from streamsieve._parameters import did_you_mean
from streamsieve.exceptions import CapabilityError, ParameterError
from streamsieve.protocols import Task


def parts_of(option: str, text: str) -> list[str]:
    """Return the parts between commas; a part in double quotes may contain commas."""
    parts = [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [""])]
    if not all(parts):
        raise ParameterError(f"{option} wants names with commas between them, such as a,b,c; got {text!r}")
    return list(dict.fromkeys(parts))


def listed_names(names: Iterable[str]) -> str:
    """Return names as :func:`names_of` reads them from the command line of a shell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return shlex.quote(text.getvalue())


def names_of(option: str, texts: Iterable[str] | None) -> list[str]:
    """Return the names of an option that may be given several times."""
    return list(dict.fromkeys(name for text in texts or () for name in parts_of(option, text)))


def marks_of(texts: Iterable[str] | None) -> list[str]:
    """Return the texts of --na; as in other options, commas separate several."""
    return [mark for text in texts or () for mark in (parts_of("--na", text) if "," in text else [text])]


def parsed(cls: type[Any], texts: list[str]) -> dict[str, Any]:
    """Turn alpha=0.05 into parameters of a selector."""
    known = cls().get_params(deep=False)
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ParameterError(f"--param wants name=value, got {text!r}; {listed(cls)}")
        if name not in known:
            raise ParameterError(
                f"{cls.method_name()} has no parameter {name!r}{did_you_mean(name, known)}; {listed(cls)}"
            )
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


def task_parameter(cls: type[Any], task: str | None) -> dict[str, str]:
    """Return --task as a parameter of a selector; a method with one kind of target has none."""
    if task is None:
        return {}
    selector, name = cls(), cls.method_name()
    if "task" in selector.get_params(deep=False):
        return {"task": task}
    able = {"regression" if each is Task.REGRESSION else "classification" for each in selector.traits.tasks}
    if task != "auto" and able and task not in able:
        takes, others = ("class labels", task) if task == "regression" else ("numeric targets", "multiclass")
        raise CapabilityError(
            f"--task {task}: {name} takes {takes} only; `streamsieve methods --task {others}` lists methods "
            "that take yours"
        )
    return {}


def listed(cls: type[Any]) -> str:
    """Return the parameters of a method with their defaults."""
    known = ", ".join(f"{name}={value!r}" for name, value in cls().get_params(deep=False).items())
    return f"it has {known} (streamsieve methods {cls.method_name()} explains them)"


def plain_parameters(selector: Any) -> dict[str, Any]:
    """Return the parameters, as JSON can hold them."""
    simple = (str, int, float, bool, type(None))
    parameters = selector.get_params(deep=False).items()
    return {name: value if isinstance(value, simple) else repr(value) for name, value in parameters}
