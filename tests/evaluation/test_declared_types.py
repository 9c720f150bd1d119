"""Declared types in the protocols: selectors test levels, and learners see an indicator for each."""

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.evaluation import screening_protocol, streaming_protocol
from streamsieve.evaluation.candidates.selectors import with_types
from streamsieve.evaluation.engine.indicators import Indicators
from streamsieve.evaluation.engine.problem import Problem
from streamsieve.exceptions import ParameterError, SchemaError

NAMES = ["dose", "zip", "noise"]


@pytest.fixture
def shop():
    """Codes whose order means nothing: every other one belongs to a class."""
    rng = np.random.default_rng(0)
    code = rng.integers(0, 20, 600)
    return np.c_[rng.normal(size=600), code, rng.normal(size=600)], code % 2


def test_a_nominal_column_is_an_indicator_for_each_level():
    X = np.array([[0.5, 7.0], [1.5, 3.0], [2.5, 7.0]])
    seen = Indicators.of(X, [1])
    assert seen.X.tolist() == [[0.5, 0, 1], [1.5, 1, 0], [2.5, 0, 1]]
    assert seen.columns(np.array([1, 0])).tolist() == [1, 2, 0]
    assert seen.columns(None) is None
    assert Indicators.of(sp.csr_array(X), [1]).X.tolist() == seen.X.tolist()
    assert Indicators.of(X, []).X is X


@pytest.mark.parametrize("protocol", [screening_protocol, streaming_protocol])
def test_learners_and_selectors_take_levels(shop, protocol):
    X, y = shop
    few = {"orders": 2, "checkpoints": 2}
    if protocol is screening_protocol:
        few = {"runs": 1, "folds": 2, "sizes": [1]}

    def scores(types):
        report = protocol(
            X, y, ["none", "top_k"], ["logistic"], names=NAMES, types=types, metric="accuracy", **few
        )
        last = report.table if protocol is screening_protocol else report.table.where(columns=3)
        return [last.where(selector=name)["score"] for name in ("none", "top_k")]

    assert np.min(scores({"zip": "nominal"})) > 0.99
    assert np.max(scores(None)) < 0.7


def test_types_of_a_selector_come_before_those_of_the_data(shop):
    problem = Problem.of(*shop, names=NAMES, types={"zip": "nominal", "noise": "numeric"})
    both = with_types(ss.TopK(1, types={"zip": "ordinal"}), problem)
    assert both.types == {"x1": "ordinal"}
    assert with_types(ss.TopK(1), problem, np.array([1, 0])).types == {"x0": "nominal"}
    for other in (ss.TopK(1, types="numeric"), ss.Grafting(), None):
        assert with_types(other, problem) is other


@pytest.mark.parametrize(
    ("types", "error", "message"),
    [
        ({"zap": "nominal"}, SchemaError, r"types\['zap'\]: there is no such column; did you mean 'zip'"),
        ({"zip": "name"}, ParameterError, r"types\['zip'\] must be one of 'numeric'"),
    ],
)
def test_wrong_types_are_refused(shop, types, error, message):
    with pytest.raises(error, match=message):
        screening_protocol(*shop, ["top_k"], ["nb"], names=NAMES, types=types)
