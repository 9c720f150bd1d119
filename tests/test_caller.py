"""Warnings point to the line of the user's code, whatever calls the estimator."""

import ast
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import streamsieve as ss
from streamsieve.exceptions import DependentRowsWarning, ManyLevelsWarning

PACKAGE = Path(ss.__file__).parent


def lines_of(call, category):
    """Return the lines of the files to which the warnings of a call point."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return {(w.filename, w.lineno) for w in caught if issubclass(w.category, category)}


def test_in_a_pipeline_in_a_search():
    X, y = np.random.default_rng(0).normal(size=(120, 3)), np.arange(120) // 10 % 2
    search = GridSearchCV(make_pipeline(ss.SAOLA(), DummyClassifier()), {"saola__alpha": [0.1]}, cv=2)
    found = lines_of(lambda: search.fit(X, y), DependentRowsWarning)
    assert found == {(__file__, test_in_a_pipeline_in_a_search.__code__.co_firstlineno + 3)}


def test_levels_of_a_column():
    frame = pd.DataFrame({"city": [f"c{i // 2}" for i in range(120)], "x": np.arange(120.0) % 7})
    found = lines_of(lambda: ss.FastOSFS().fit(frame, np.arange(120) % 2), ManyLevelsWarning)
    assert found == {(__file__, test_levels_of_a_column.__code__.co_firstlineno + 2)}


def test_all_warnings_are_issued_there():
    def issues(path):
        calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        return any(isinstance(call, ast.Attribute) and call.attr == "warn" for call in calls)

    assert [path.name for path in PACKAGE.rglob("*.py") if issues(path)] == ["_caller.py"]
