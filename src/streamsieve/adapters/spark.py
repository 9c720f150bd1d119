"""A row selector as a stage of Spark's pipelines."""

from __future__ import annotations

import json
from typing import Any, Self

from streamsieve import registry
from streamsieve.base import RowSelector
from streamsieve.engines import distribute
from streamsieve.engines.checks import check_selector
from streamsieve.exceptions import CapabilityError, ParameterError
from streamsieve.rows import Screen
from streamsieve.sources import SparkSource

try:
    from pyspark.ml import Estimator, Model
    from pyspark.ml.param import Param, TypeConverters
    from pyspark.ml.param.shared import HasFeaturesCol, HasInputCols, HasLabelCol, HasOutputCol
    from pyspark.ml.util import (
        DefaultParamsReadable,
        DefaultParamsReader,
        DefaultParamsWritable,
        DefaultParamsWriter,
        MLReadable,
        MLReader,
        MLWritable,
        MLWriter,
    )
except ImportError as error:
    raise CapabilityError("pyspark is not installed: pip install 'streamsieve[spark]'") from error


class _Columns(HasLabelCol, HasFeaturesCol, HasInputCols, HasOutputCol):  # type: ignore[misc]
    """The columns that an estimator and its model have in common."""

    @property
    def _given(self) -> list[str]:
        """The plain columns to choose among; empty for a column of vectors."""
        return list(self.getInputCols()) if self.isDefined(self.inputCols) else []

    def _set_columns(self, columns: dict[str, Any]) -> None:
        self._setDefault(labelCol="label", featuresCol="features", outputCol="selected")
        self._set(**{name: value for name, value in columns.items() if value is not None})


class SparkSelector(Estimator, _Columns, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[misc]
    """Let a selector of StreamSieve choose features in a pipeline of Spark.

    Parameters
    ----------
    selector : selector over rows that merges, default=None
        Learned by the executors; None means ``Screen()``.  Its parameters are saved as JSON, so a criterion
        is given by its name.
    inputCols : list of str, default=None
        Plain columns to choose among; the model drops those that are not selected.
    featuresCol : str, default="features"
        Without ``inputCols``: a column of vectors, whose elements are the features.  They have the names that
        VectorAssembler wrote into the column's attributes.
    labelCol : str, default="label"
        The column that holds the target.
    outputCol : str, default="selected"
        With ``featuresCol``: the column of vectors of the selected elements.

    Examples
    --------
    >>> from pyspark.ml import Pipeline  # doctest: +SKIP
    >>> from streamsieve.adapters.spark import SparkSelector  # doctest: +SKIP
    >>> choose = SparkSelector(ss.Screen("f", k=20), labelCol="bought")  # doctest: +SKIP
    >>> model = Pipeline(stages=[assembler, choose, regression]).fit(clicks)  # doctest: +SKIP
    >>> model.stages[1].sieve.get_feature_names_out()  # doctest: +SKIP
    """

    def __init__(
        self,
        selector: RowSelector | None = None,
        *,
        inputCols: list[str] | None = None,
        featuresCol: str | None = None,
        labelCol: str | None = None,
        outputCol: str | None = None,
    ) -> None:
        super().__init__()
        selector = Screen() if selector is None else selector
        check_selector(selector)
        self.method = Param(self, "method", "name of the selector", TypeConverters.toString)
        self.parameters = Param(self, "parameters", "its parameters as JSON", TypeConverters.toString)
        self._set(method=type(selector).method_name(), parameters=_as_json(selector))
        self._set_columns({
            "inputCols": inputCols, "featuresCol": featuresCol, "labelCol": labelCol, "outputCol": outputCol,
        })  # fmt: skip

    @property
    def selector(self) -> RowSelector:
        """A fresh selector with the parameters given."""
        given = json.loads(self.getOrDefault(self.parameters))
        made: RowSelector = registry.selector(self.getOrDefault(self.method))(**given)
        return made

    def _fit(self, dataset: Any) -> SparkSelectorModel:
        features = self._given or [self.getFeaturesCol()]
        source = SparkSource(dataset, self.getLabelCol(), features=features)
        model = SparkSelectorModel(distribute(source, self.selector, "spark"))
        return self._copyValues(model)  # type: ignore[no-any-return]


class SparkSelectorModel(Model, _Columns, MLReadable, MLWritable):  # type: ignore[misc]
    """The selection that a :class:`SparkSelector` made.

    Attributes
    ----------
    sieve : the fitted selector, with its ``scores_``, ``ledger_``, ``get_feature_names_out`` and so on
    """

    def __init__(self, sieve: RowSelector | None = None) -> None:
        super().__init__()
        self.sieve = sieve
        self._set_columns({})

    def _transform(self, dataset: Any) -> Any:
        if self.sieve is None:
            raise ParameterError("this model has selected nothing yet: fit a SparkSelector")
        kept = [int(j) for j in self.sieve.selected_]
        if self._given:
            names = {self._given[j] for j in kept}
            return dataset.drop(*(name for name in self._given if name not in names))
        if not kept:
            raise CapabilityError("no element of the vectors was selected, and Spark has no empty vectors")
        from pyspark.ml.feature import VectorSlicer  # noqa: PLC0415

        slicer = VectorSlicer(inputCol=self.getFeaturesCol(), outputCol=self.getOutputCol(), indices=kept)
        return slicer.transform(dataset)

    def copy(self, extra: dict[Any, Any] | None = None) -> Self:
        """Return a copy with the same selection; ``extra`` are other values of parameters."""
        made: Self = super().copy(extra)
        made.sieve = self.sieve
        return made

    def write(self) -> Any:
        """Return what writes the parameters and, beside them, the state of the selector."""
        return _Writer(self)

    @classmethod
    def read(cls) -> Any:
        """Return what reads both again."""
        return _Reader()


class _Writer(MLWriter):  # type: ignore[misc]
    def __init__(self, model: SparkSelectorModel) -> None:
        super().__init__()
        self._model = model

    def saveImpl(self, path: str) -> None:  # noqa: N802 - the name that Spark calls
        if self._model.sieve is None:
            raise ParameterError("this model has selected nothing yet: fit a SparkSelector")
        DefaultParamsWriter.saveMetadata(self._model, path, self.sparkSession)
        state = self.sparkSession.createDataFrame(
            [(bytearray(self._model.sieve.to_bytes()),)], "state binary"
        )
        state.coalesce(1).write.parquet(f"{path}/state")


class _Reader(MLReader):  # type: ignore[misc]
    def load(self, path: str) -> SparkSelectorModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        (row,) = self.sparkSession.read.parquet(f"{path}/state").collect()
        model = SparkSelectorModel(registry.from_bytes(bytes(row["state"])))
        model._resetUid(metadata["uid"])  # noqa: SLF001 - as readers of Spark do
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


def _as_json(selector: RowSelector) -> str:
    """Return the parameters that differ from the defaults, as JSON."""
    plain = type(selector)().get_params(deep=False)
    given = {k: v for k, v in selector.get_params(deep=False).items() if repr(v) != repr(plain[k])}
    try:
        return json.dumps(given)
    except TypeError as error:
        raise ParameterError(
            f"a stage of Spark is saved as JSON, and {given!r} has values that JSON cannot hold: give a "
            "criterion by its name"
        ) from error
