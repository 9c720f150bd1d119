"""The code of a page: a pipeline that runs as it is written."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier

from streamsieve import TopK
from streamsieve.evaluation import recommend, screening_protocol
from streamsieve.evaluation.reports.html.code import pipeline_code


class Own(KNeighborsClassifier):
    """A learner of this file, which a reader cannot import."""


@pytest.mark.parametrize("selector", ["f", "relief_f", "fast_osfs", "none"])
@pytest.mark.parametrize("learner", ["logistic", "nb", "knn"])
def test_the_code_is_the_combination(selector, learner):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200], y[:200]
    report = screening_protocol(X, y, [selector], [learner], sizes=[3], runs=1, folds=2)
    code = pipeline_code(report, recommend(report).best)
    assert code.startswith("import streamsieve as ss\n" if selector != "none" else "from sklearn")
    space = {"X": X, "y": y}
    exec(code, space)  # noqa: S102 - our own text
    assert np.mean(space["model"].predict(X) == y) > 0.7
    if selector in ("f", "relief_f"):
        at = 0 if selector == "f" else 1  # a screen sees the types of columns, so it comes before the scaler
        assert space["model"][at].k == 3


def test_what_cannot_be_imported_is_not_written():
    X, y = load_breast_cancer(return_X_y=True)
    report = screening_protocol(X[:100], y[:100], ["f"], {"own": Own()}, sizes=[3], runs=1, folds=2)
    assert pipeline_code(report, recommend(report).best) == ""


@pytest.fixture
def shop():
    """Codes whose order means nothing: every other one belongs to a class."""
    rng = np.random.default_rng(0)
    code = rng.integers(0, 20, 600)
    X = np.c_[rng.normal(size=600), code, rng.normal(size=600)]
    return pd.DataFrame(X, columns=["dose", "zip", "noise"]), code % 2


@pytest.mark.parametrize("selector", ["top_k", "relief_f", "none"])
def test_the_code_of_declared_types_encodes_levels(shop, selector):
    X, y = shop
    types = {"zip": "nominal", "dose": "numeric"}
    report = screening_protocol(X, y, [selector], ["logistic"], sizes=[3], runs=1, folds=2, types=types)
    code = pipeline_code(report, recommend(report).best)
    space = {"X": X, "y": y}
    exec(code, space)  # noqa: S102 - our own text
    if selector == "top_k":
        assert space["model"][0].types == types
    assert np.mean(space["model"].predict(X) == y) > 0.99


def test_types_of_a_selector_are_in_its_code(shop):
    X, y = shop
    own = TopK(types={"zip": "nominal"})
    report = screening_protocol(X, y, {"own": own}, ["knn"], sizes=[1], runs=1, folds=2)
    code = pipeline_code(report, recommend(report).best)
    assert "ss.TopK(k=1, task='classification', types={'zip': 'nominal'})" in code
    space = {"X": X, "y": y}
    exec(code, space)  # noqa: S102 - our own text
    assert space["model"][0].get_feature_names_out().tolist() == ["zip"]
