"""Types of the features of offline methods over tables: declared, read off dtypes, or guessed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from streamsieve.base.fitted import fitted_property
from streamsieve.base.typed_columns import check_declared, coded, typed
from streamsieve.column_types import TYPES, ColumnTypes, TypesParameter
from streamsieve.exceptions import ParameterError
from streamsieve.protocols import ColumnBlock, RowBatch
from streamsieve.state import Array

if TYPE_CHECKING:
    from streamsieve.base.offline import OfflineSelector

    MixinBase = OfflineSelector
else:
    MixinBase = object


def refuse_types_of_numbers(types: ColumnTypes, test: str) -> None:
    """Raise ``ParameterError`` if types are declared for a test that knows numbers only."""
    if types is not None and test == "fisher_z":
        raise ParameterError(
            f"types={types!r} does not go with test='fisher_z', which takes all features for numbers: take "
            "test='auto'"
        )


class TypedFeatures(MixinBase):
    """Stands before `OfflineSelector`: names become codes that tables keep, declared quantities get bins."""

    parameters = {"types": TypesParameter()}
    fields = {"_types_": Array("u1", "features", high=len(TYPES) - 1)}

    types: ColumnTypes
    _types_: npt.NDArray[np.uint8]
    #: While fitting: names of columns of text and categories, and whether these are ordered.
    _ordered: dict[str, bool]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose features.

        Parameters
        ----------
        X : all rows (dense, sparse or dataframe); text and categories of a dataframe are nominal
        y : one label or number per row

        Returns
        -------
        self
        """
        self._check_values()
        X, self._ordered = coded(X) if self.traits.text else (X, {})
        try:
            return super().fit(X, y)
        finally:
            del self._ordered

    def _fit(self, batch: RowBatch) -> None:
        self._check_parameters()
        known = getattr(self, "feature_names_in_", None)
        names = None if known is None else list(map(str, known))
        check_declared(self.types, names, self.n_features_in_)
        X = sp.csc_array(batch.X) if sp.issparse(batch.X) else batch.X
        block = typed(ColumnBlock(X, names), self.types, self._ordered, 0)
        self._types_ = np.asarray(block.types, np.uint8)
        X = sp.csr_array(block.X) if sp.issparse(block.X) else block.X
        super()._fit(replace(batch, X=X))
        self.ledger_.type_of = self.column_types_.get

    def _restored(self) -> None:
        super()._restored()
        self.ledger_.type_of = self.column_types_.get

    @fitted_property
    def column_types_(self) -> dict[str, str]:
        """Types of the features by name, as they were declared, read off dtypes, or guessed."""
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return {str(name): TYPES[kind] for name, kind in zip(names, self._types_, strict=False)}
