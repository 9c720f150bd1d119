"""What all selectors are: a scikit-learn selector that knows its traits and can be saved."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from streamsieve._frames import take_columns
from streamsieve._validation import matrix, refuse_non_finite
from streamsieve.base._saved import Saved
from streamsieve.exceptions import MergeError
from streamsieve.protocols import BoolArray, Task, Traits


class Selector(SelectorMixin, Saved):
    """Choose some of many features, and say why.

    A subclass stores its parameters in ``__init__`` and nothing else.  What it learns can be saved if it is
    of the kinds that :class:`Saved` names.
    """

    #: What the selector can do, whatever its parameters; see :meth:`traits`.
    _traits: ClassVar[Traits] = Traits()
    #: Parameters that say where in a stream a selector begins, and may differ where two of them merge.
    _places: ClassVar[frozenset[str]] = frozenset()

    @property
    def traits(self) -> Traits:
        """What the selector can do with its present parameters."""
        return self._traits

    @classmethod
    def method_name(cls) -> str:
        """Return the name on the command line and in tables: ``fast_osfs`` for ``FastOSFS``."""
        words = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3_\2\4", cls.__name__)
        return words.lower()

    @classmethod
    def variants(cls) -> Iterable[Self]:
        """Yield instances that together show every way of working; contract checks run over them."""
        yield cls()

    # ---------------------------------------------------------------- selecting

    @abstractmethod
    def _support(self) -> BoolArray:
        """Return a mask of the features selected now."""

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self._support().copy()

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : array, sparse matrix or dataframe with all features, in the order they were seen

        Returns
        -------
        The same kind of container with the selected columns; a dataframe stays a dataframe.
        """
        check_is_fitted(self)
        frame = self._transform_frame(X)
        if frame is not None:
            return frame
        X = matrix(self, X, reset=False, sparse="csr")
        if not self.traits.missing:
            refuse_non_finite(X, None)
        return self._output(X)

    def _transform_frame(self, X: Any) -> Any:
        """Select columns of a dataframe in its own library; None where X is something else."""
        if not hasattr(X, "columns") and not hasattr(X, "column_names"):
            return None
        checked = matrix(self, X, reset=False, sparse="csr")  # names and width, by scikit-learn's rules
        if not self.traits.missing:
            refuse_non_finite(checked, None)
        return self._columns_out(X)

    def _columns_out(self, X: Any) -> Any:
        """Return what ``transform`` puts out of a dataframe."""
        return take_columns(X, np.flatnonzero(self.get_support()))

    def _output(self, X: Any) -> Any:
        return X[:, np.flatnonzero(self.get_support())]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.traits.sparse
        tags.input_tags.allow_nan = self.traits.missing
        tags.input_tags.positive_only = self.traits.non_negative
        tags.target_tags.required = bool(self.traits.tasks)
        if Task.MULTICLASS not in self.traits.tasks:
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    # ---------------------------------------------------------------- merging

    def _check_same(self, other: Any) -> None:
        """Refuse to merge with anything but a fitted twin."""
        check_is_fitted(self)
        if type(other) is not type(self):
            raise MergeError(f"a {type(self).__name__} merges with its like, not a {type(other).__name__}")
        check_is_fitted(other)
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        different = [
            name for name in mine if name not in self._places and not _same(mine[name], theirs[name])
        ]
        if different:
            name = different[0]
            raise MergeError(
                f"{name} is {mine[name]!r} here and {theirs[name]!r} there: only equal ones merge"
            )


def _same(mine: Any, theirs: Any) -> bool:
    """Whether two parameters are equal; two selectors are if their parameters are."""
    if isinstance(mine, Selector) and type(mine) is type(theirs):
        ours, others = (selector.get_params(deep=False) for selector in (mine, theirs))
        return all(_same(value, others[name]) for name, value in ours.items())
    return bool(mine == theirs)
