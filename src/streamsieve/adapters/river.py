"""A row selector as a part of river's pipelines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sklearn.base import clone

from streamsieve._frames import refuse_text
from streamsieve.base import RowSelector
from streamsieve.exceptions import CapabilityError, InputTypeError, ParameterError
from streamsieve.rows import Screen

try:
    from river import base
except ImportError as error:
    raise CapabilityError("river is not installed: pip install 'streamsieve[river]'") from error


class RiverSelector(base.SupervisedTransformer, base.MiniBatchSupervisedTransformer):  # type: ignore[misc]
    """Let a selector of StreamSieve choose features in a pipeline of river.

    Parameters
    ----------
    selector : a selector over rows, default=None
        It is copied and stays as it is; None means ``Screen()``.

    Attributes
    ----------
    sieve : the copy that learns, with its ``scores_``, ``ledger_``, ``save`` and so on

    Notes
    -----
    A feature that is absent from a row is 0, in dicts and in dataframes alike, as river has it.  Before the
    first row nothing is selected.  Ties go to the feature that came first, so as long as features tie, the
    order of a dict matters.

    Examples
    --------
    >>> from river import compose, linear_model
    >>> import streamsieve as ss
    >>> from streamsieve.adapters.river import RiverSelector
    >>> model = compose.Pipeline(RiverSelector(ss.Screen("f", k=1)), linear_model.LogisticRegression())
    >>> for i in range(100):
    ...     model.learn_one({"noise": i % 5, "signal": i % 2}, bool(i % 2))
    >>> model["RiverSelector"].transform_one({"noise": 3, "signal": 1})
    {'signal': 1}
    """

    def __init__(self, selector: RowSelector | None = None) -> None:
        if not isinstance(selector, RowSelector | None):
            raise ParameterError(f"selector must be a selector over rows, got {selector!r}")
        self.selector = selector
        self.sieve: RowSelector = Screen() if selector is None else clone(selector)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"selector": Screen("correlation")}

    def learn_one(self, x: Mapping[Any, float], y: Any) -> None:
        """Learn a row."""
        self.sieve.learn_one(x, y)

    def transform_one(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the selected features of a row."""
        return self.sieve.transform_one(x) if hasattr(self.sieve, "n_features_in_") else {}

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a pandas dataframe; columns may come and go."""
        import pandas as pd  # noqa: PLC0415 - river's minibatches are pandas'

        if not isinstance(X, pd.DataFrame):
            raise InputTypeError(f"X must be a pandas dataframe, got a {type(X).__name__}")
        refuse_text(X)
        try:
            X = X.astype(pd.SparseDtype(float, 0.0))
        except (TypeError, ValueError, OverflowError) as error:
            raise InputTypeError(f"X must hold numbers: {error}") from error
        self.sieve.learn_many(X, y)

    def transform_many(self, X: Any) -> Any:
        """Return the selected columns of a pandas dataframe."""
        through = self.transform_one(dict.fromkeys(X.columns, 1.0))
        return X[[name for name in X.columns if name in through]]
