"""River's own checks hold for every selector over rows."""

import functools
import itertools
import random

import numpy as np
import pandas as pd
import pytest
from river import checks, compose, datasets, linear_model

import streamsieve as ss
from streamsieve import registry
from streamsieve.adapters.river import RiverSelector
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import Task

SELECTORS = [cls for cls in registry.selectors().values() if registry.axis(cls) == "rows"]


class Taken:
    """The first rows of a data set, as often as they are asked for."""

    def __init__(self, dataset, n):
        self.dataset, self.n = dataset, n

    def __iter__(self):
        return itertools.islice(iter(self.dataset), self.n)


def numeric(selector):
    return Task.REGRESSION in selector.traits.tasks and getattr(selector, "task", "auto") != "classification"


#: A shuffle under which what cannot hold does not.
SEED = 0
#: What cannot hold, and why.
COPIES = "of columns that are copies, as all are after two rows, the first to come stands for all"
EXCEPTIONS = {("RunningAverages", "check_shuffle_features_no_impact"): COPIES}


def checks_for(cls):
    """Yield river's checks; selectors of classes get one of river's data sets with classes."""
    selector = ss.Screen("correlation") if cls is ss.Screen else next(iter(cls.variants()))
    model = RiverSelector(selector)
    for check in checks.yield_checks(model):
        dataset = getattr(check, "keywords", {}).get("dataset")
        if dataset is not None and not numeric(selector):
            check = functools.partial(check.func, dataset=Taken(datasets.Phishing(), 200))  # noqa: PLW2901
        name = getattr(check, "__name__", None) or check.func.__name__
        reason = EXCEPTIONS.get((cls.__name__, name))
        marks = [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]
        yield pytest.param(model, check, id=f"{cls.__name__}-{name}", marks=marks)


@pytest.mark.parametrize(("model", "check"), [case for cls in SELECTORS for case in checks_for(cls)])
def test_river_check(model, check):
    random.seed(SEED)  # river shuffles features at random
    check(model.clone())


def test_a_selector_works_in_a_pipeline():
    model = compose.Pipeline(RiverSelector(ss.Screen("f", k=3)), linear_model.LogisticRegression())
    hits = 0
    for i, (x, y) in enumerate(datasets.Phishing()):
        hits += (model.predict_one(x) == y) * (i >= 250)
        model.learn_one(x, y)
    assert hits > 0.7 * 1000
    assert len(model["RiverSelector"].sieve.get_feature_names_out()) == 3


def test_absent_features_are_zero_in_dicts_and_dataframes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    rows = [{name: float(v) for name, v in zip("abcd", r, strict=True)} for r in rng.normal(size=(60, 4))]
    one, many = RiverSelector(ss.Screen("f", k=2)), RiverSelector(ss.Screen("f", k=2))
    for columns, part in (("abc", slice(0, 30)), ("cd", slice(30, 60))):
        batch = [{name: row[name] for name in columns} for row in rows[part]]
        for x, label in zip(batch, y[part], strict=True):
            one.learn_one(x, label)
        many.learn_many(pd.DataFrame(batch), pd.Series(y[part]))
    np.testing.assert_allclose(one.sieve.scores_, many.sieve.scores_, rtol=1e-12)
    frame = pd.DataFrame(rows)
    assert many.transform_many(frame).columns.tolist() == list(one.transform_one(rows[0]))


def test_the_given_selector_stays_as_it_is():
    given = ss.Screen("f")
    model = RiverSelector(given)
    model.learn_one({"a": 1.0}, 0)
    assert not hasattr(given, "n_features_in_")
    with pytest.raises(ParameterError, match="selector over rows"):
        RiverSelector(ss.SAOLA())
