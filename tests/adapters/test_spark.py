"""Selectors as stages of Spark's pipelines: fitted, saved, loaded, with names of vector elements."""

import numpy as np
import pandas as pd
import pytest

import streamsieve as ss
from streamsieve.exceptions import CapabilityError, ParameterError, SourceError
from tests.engines.laws import rows

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'streamsieve[spark]'")
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.feature import VectorAssembler

from streamsieve.adapters.spark import SparkSelector, SparkSelectorModel

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore")]  # Spark's own warnings
NAMES = [f"c{j}" for j in range(6)]


def table():
    X, y = rows(600)
    return pd.DataFrame(X, columns=NAMES).assign(label=y.astype(float))


def test_a_pipeline_is_fitted_saved_and_loaded(classic, tmp_path):
    data = classic.createDataFrame(table())
    stages = [
        VectorAssembler(inputCols=NAMES, outputCol="features"),
        SparkSelector(ss.Screen("f", k=2)),
        LogisticRegression(featuresCol="selected", maxIter=5),
    ]
    pipeline = Pipeline(stages=stages)
    pipeline.write().overwrite().save(str(tmp_path / "pipeline"))
    model = Pipeline.load(str(tmp_path / "pipeline")).fit(data)
    one = ss.run(table(), ss.Screen("f", k=2), target="label")
    sieve = model.stages[1].sieve
    assert sieve.get_feature_names_out().tolist() == one.get_feature_names_out().tolist()
    model.write().overwrite().save(str(tmp_path / "model"))
    again = PipelineModel.load(str(tmp_path / "model"))
    assert isinstance(again.stages[1], SparkSelectorModel)
    np.testing.assert_array_equal(again.stages[1].sieve.scores_, sieve.scores_)
    for fitted in (model, again):
        (row,) = fitted.transform(data.limit(1)).collect()
        np.testing.assert_array_equal(row["selected"].toArray(), row["features"].toArray()[one.selected_])
        assert "prediction" in row


def test_plain_columns_that_are_not_selected_are_dropped(classic):
    data = classic.createDataFrame(table().assign(id="x"))
    model = SparkSelector(ss.Screen("mutual_info", k=2), inputCols=NAMES).fit(data)
    kept = model.sieve.get_feature_names_out().tolist()
    assert len(kept) == 2
    assert model.transform(data).columns == [*[n for n in NAMES if n in kept], "label", "id"]
    assert model.copy().transform(data).columns == model.transform(data).columns


def test_refusals(classic):
    with pytest.raises(CapabilityError, match="depends on the order of rows"):
        SparkSelector(ss.OFS())
    with pytest.raises(CapabilityError, match="streams columns"):
        SparkSelector(ss.SAOLA())
    with pytest.raises(ParameterError, match="give a criterion by its name"):
        SparkSelector(ss.Screen(ss.criteria.MutualInfo(discrete=True)))
    with pytest.raises(SourceError, match="no column 'features'"):
        SparkSelector().fit(classic.createDataFrame(table()))
    with pytest.raises(ParameterError, match="fit a SparkSelector"):
        SparkSelectorModel().transform(classic.createDataFrame(table()))
