"""Life cycle of column selectors: ``begin``, ``same_rows``, ``fit``, the selection, and saving."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from streamsieve._frames import names_of, take_named
from streamsieve._validation import TASKS, check_length, matrix, task_of
from streamsieve._values import refuse_non_finite
from streamsieve.base.changing_ledgers import ProvisionalLedger
from streamsieve.base.column_process import ColumnProcess
from streamsieve.base.effects import decision_effect
from streamsieve.base.fitted import fitted_property
from streamsieve.base.holdout import Holdout
from streamsieve.base.row_dependence import RowDependence, group_codes, row_dependence
from streamsieve.base.row_fingerprints import RowsIdentity, index_of
from streamsieve.base.stop import KeptValues, Stop
from streamsieve.base.typed_columns import ColumnTypesRecord, TypedColumns, check_declared
from streamsieve.decisions import Outcome
from streamsieve.exceptions import CapabilityError, ParameterError, SchemaError, TargetError
from streamsieve.feature_names import FeatureNames
from streamsieve.ledger import KEEP, Ledger
from streamsieve.protocols import BoolArray, ColumnBlock, IntArray, Position, Task, Traits
from streamsieve.state import (
    Choice,
    Field,
    Float,
    Instance,
    Int,
    Json,
    Nested,
    Part,
    Texts,
    untouched_on_error,
)
from streamsieve.state.tree import UNPROVEN

if TYPE_CHECKING:
    MixinBase = TypedColumns
else:
    MixinBase = object

#: Values per block when a whole matrix is offered: 8 MB, so that a block fits in the cache.
BLOCK_VALUES = 2**20


class ColumnLifecycle(MixinBase):
    """Mixin with what a column selector does besides deciding on blocks; precedes `Selector` in the bases."""

    #: Parameters and fitted attributes of every column selector; subclasses add their own.
    parameters: ClassVar[Mapping[str, Any]] = {
        "task": Choice(*TASKS),
        "ledger": Choice(*KEEP),
        "stop": Instance(Stop, optional=True),
    }
    fields: ClassVar[Mapping[str, Field]] = {
        "_process_": Nested(Part, derived=True, shares=("rows",), optional=True),
        "task_": Choice(*Task),
        "n_samples_seen_": Int(1, 2**31),  # the process has fewer rows if groups have a mean each
        "n_features_in_": Int(0, 2**31 - 1),
        "feature_names_in_": Texts("named", optional=True),
        "_identity_": Nested(RowsIdentity),
        "_position_": Json(),
        "stopped_": Json(),
        "_started_": Float(0),
        "names_": Nested(FeatureNames),
        "ledger_": Nested(Ledger),
        "_found_": Int(0),
        "_types_": Nested(ColumnTypesRecord, optional=True),
        "_values_": Nested(KeptValues, optional=True),
        "_holdout_": Nested(Holdout, optional=True),
    }

    _fitted_by: ClassVar[str] = "begin or fit"
    #: Why this selector takes no ``holdout``; empty if it does.
    _no_holdout: ClassVar[str] = ""
    #: What to use instead for a type of target that this method does not support; part of an error.
    _elsewhere: ClassVar[str] = ""

    task: str
    ledger: str
    stop: Stop | None

    _process_: Any
    #: How the rows given to ``begin`` depend on each other.
    _dependence: RowDependence = RowDependence()
    #: Its traits when it began; parameters set later apply from the next `begin` on.
    _began_with: Traits

    def _compose(self, y: npt.NDArray[Any], task: Task) -> ColumnProcess:  # noqa: ARG002
        """Return the process that decides on columns, bound to the target.

        A selector that implements `_begin`, `_offer` and `_selected` itself has no process.
        """
        raise TypeError(f"{type(self).__name__} must implement _compose, or _begin, _offer and _selected")

    def _begin(self, y: npt.NDArray[Any]) -> None:
        """Bind to the target, whose type is ``self.task_``."""
        self._process_ = self._compose(y, Task(self.task_))

    def _selected(self) -> Sequence[int] | IntArray:
        """Return the arrival numbers of the columns kept, in order of arrival."""
        features: IntArray = self._process_.features
        return features

    def _named(self) -> Sequence[int] | IntArray:
        """Return the arrival numbers of the columns whose names are needed: kept, or possibly kept later."""
        return self._process_.named if self._remembers else self._selected()

    @property
    def _remembers(self) -> bool:
        """Whether a column that is not kept may be kept later: it is deferred, or in a pool."""
        return self._began_with.defers

    def _finish(self) -> Outcome | None:
        """Make deferred decisions final, because the run has ended; None if none is ever deferred."""
        return self._process_.finish(self.n_features_in_) if self._began_with.defers else None

    @property
    def _ledger_kind(self) -> type[Ledger]:
        return ProvisionalLedger if self.traits.defers else Ledger

    @property
    def _omits(self) -> bool:
        """Whether ``missing="omit"`` makes it take missing values, so that an error can propose it."""
        return hasattr(self, "missing")

    def _process_for(self, attribute: str) -> Any:
        """Return the process, on behalf of a fitted attribute; ``AttributeError`` before ``begin``."""
        if "_process_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__}.{attribute} is available after begin or fit")
        return self._process_

    def _connect_ledger(self) -> None:
        """Give the ledger access to what is computed on access: types of columns, deferred decisions."""
        if self._knows_types:
            self.ledger_.type_of = self._type_of
        self.ledger_.effect_of = partial(decision_effect, self)
        if isinstance(self.ledger_, ProvisionalLedger):
            self.ledger_.outlook, self.ledger_.because = self._outlook, self._process_.because

    # ---------------------------------------------------------------- beginning

    def begin(
        self, y: Any = None, rows: Any = None, *, groups: Any = None, serial: Any = None, holdout: Any = None
    ) -> Self:
        """Start a stream of columns for the target y, and discard everything kept before.

        p-values assume independent rows, unless ``groups`` or ``serial`` describes how rows depend on each
        other; selectors without a test for dependent rows raise ``CapabilityError``.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            The target: one label or number per row.
        rows : array-like of shape (n_rows,), default=None
            Row identifiers (text, numbers or dates), by which later columns are checked to have the same
            rows.  If None, the index of a pandas ``y``, if it has one.
        groups : array-like of shape (n_rows,), default=None
            Group labels, for rows that depend on each other within groups, such as visits of one patient; at
            least 5 groups.  If y is constant within each group, columns are averaged over each group and the
            means are tested; otherwise tests are cluster-robust.
        serial : bool or int, default=None
            Whether the rows are in time order and may be autocorrelated; tests then use the effective number
            of rows.  An int is the largest lag to allow for, in [1, n / 2]; True sets it to 20 log10(n), at
            most n / 4.  False states that rows are independent, and silences the warning.  None assumes
            independent rows, with a ``DependentRowsWarning`` if y is autocorrelated in the order of rows.
        holdout : float in (0, 1) or boolean mask of shape (n_rows,), default=None
            Rows to hold out from selection, on which ``confirm`` tests the kept columns.  A proportion is
            drawn at random with ``random_state`` (a fixed seed if the selector has none), stratified by
            class.  If rows depend on each other (patients, time), hold out whole groups by a mask.  Columns
            are still offered over all rows.

        Returns
        -------
        self
        """
        for name in ("task", "ledger", "stop"):
            if not hasattr(self, name):
                raise TypeError(
                    f"{type(self).__name__} has no `{name}`: a ColumnSelector stores the parameters task, "
                    'ledger and stop in __init__; their defaults are "auto", "all" and None'
                )
        self._check_parameters()
        with untouched_on_error(self):
            rows, traits = index_of(y) if rows is None else rows, self.traits
            y, task = task_of(y, self.task, traits.tasks, type(self).__name__)
            if task not in traits.tasks:
                known = " or ".join(sorted(traits.tasks))
                advice = self._elsewhere or "use another selector, or another measure or test in it"
                raise TargetError(f"{type(self).__name__} needs a {known} target, but y is {task}: {advice}")
            if self.stop is not None:
                if not isinstance(self.stop, Stop):
                    raise ParameterError(f"stop must be a Stop or None; got {self.stop!r}")
                self.stop.check()
            dependence = row_dependence(type(self).__name__, traits, y, task, groups, serial)
            self._forget()
            self.task_, self._found_ = str(task), 0
            if holdout is not None:
                if dependence.groups is not None or dependence.lag is not None:
                    raise CapabilityError(
                        "holdout requires independent rows, because the test on the rows held out "
                        "knows neither groups nor serial: begin with some of the groups, and test the kept "
                        "columns over the others"
                    )
                y, rows = self._hold_out(holdout, y, rows, task), None
            self.n_samples_seen_ = len(y)
            self._identity_ = RowsIdentity.of(y, rows, dependence.groups, dependence.lag)
            self.n_features_in_ = 0
            #: Position in the source of the columns, as pairs; None if they had no source.
            self._position_: list[list[Any]] | None = None
            self.stopped_: str | None = None
            self._started_ = time.monotonic()
            self.names_ = FeatureNames()
            self.ledger_ = self._ledger_kind(self.ledger)
            if self.stop is not None and self.stop.accuracy is not None:
                self._values_ = KeptValues(len(y))
            self._dependence, self._began_with = dependence, traits
            if self._knows_types:
                self._types_ = ColumnTypesRecord()
            self._begin(dependence.target(y))
            self._connect_ledger()
            self._describe_target(y, task)
        return self

    def same_rows(self, y: Any = None, rows: Any = None, *, groups: Any = None) -> Self:
        """Check that the rows are those the stream began with, and raise an error otherwise.

        Parameters
        ----------
        y : array-like of shape (n_rows,), default=None
            The target, as given to ``begin``; the index of a pandas y is compared as well.
        rows : array-like of shape (n_rows,), default=None
            The row identifiers, as given to ``begin``.
        groups : array-like of shape (n_rows,), default=None
            The groups of rows, as given to ``begin``; the labels may differ if the groups are the same.

        Returns
        -------
        self

        Raises
        ------
        TargetError
            If the target differs; the message names the first row that does.
        SchemaError
            If the rows differ or are in another order; the message names the first row that does.
        """
        self._check_begun("comparing rows")
        if y is None and rows is None and groups is None:
            raise SchemaError(
                "nothing to compare: give same_rows the target y, the identifiers rows, or both"
            )
        if groups is not None:
            self._identity_.check_groups(group_codes(groups, self._n_rows))
        if rows is not None and self._all_rows.rows is None:
            raise SchemaError(
                "the rows have no identifiers to compare with: pass begin(y, rows=...), or compare y alone"
            )
        if y is not None:
            known = {Task.REGRESSION: "regression"}.get(Task(self.task_), "classification")
            self._all_rows.check_target(task_of(y, known)[0])
            rows = index_of(y) if rows is None else rows
        if rows is not None:
            self._all_rows.check_rows(rows)
        return self

    @fitted_property
    def position_(self) -> Position | None:
        """Position in the source after the last block offered; pass it as ``start`` to resume from there.

        None if the columns had no source.  The position is saved with the selector.
        """
        return None if self._position_ is None else {str(key): at for key, at in self._position_}

    # ---------------------------------------------------------------- the scikit-learn interface

    def _fit_blocks(
        self, X: Any, y: Any, groups: Any = None, serial: Any = None, holdout: Any = None
    ) -> Iterator[ColumnBlock]:
        """Begin, and yield the blocks to offer."""
        self._check_values()
        names, rows = names_of(X), index_of(X)
        self.__dict__.pop("feature_names_in_", None)
        X, ordered = self._coded(X)
        X = matrix(self, X, reset=True, sparse="csc")
        check_declared(getattr(self, "types", None), names, X.shape[1])
        feature_names = self.__dict__.get("feature_names_in_")
        check_length(y, X.shape[0])  # before `begin`, whose errors about y would mislead if y is short
        self.begin(y, groups=groups, serial=serial, holdout=holdout)
        if rows is not None:  # X and y belong together by order, as everywhere in scikit-learn
            if self._has_holdout:
                self._holdout_.identity = self._all_rows.over(rows)
            else:
                self._identity_ = self._identity_.over(rows)
        for part in _pieces(X):
            some = None if names is None else tuple(names[part])
            piece = X if part == slice(0, X.shape[1]) else X[:, part]
            piece = piece.astype(np.float64, copy=False)
            # `matrix` has checked everything else
            refuse_non_finite(piece, some, missing=self.traits.missing, omits=self._omits and not ordered)
            yield self._typed(ColumnBlock(piece, some), ordered)
        self.n_features_in_ = X.shape[1]
        if feature_names is not None:
            self.feature_names_in_ = feature_names

    @property
    def selected_(self) -> IntArray:
        """Arrival numbers of the columns kept, in order of arrival."""
        if not hasattr(self, "ledger_"):
            raise AttributeError("selected_ is available after begin(y) or fit(X, y)")
        found = np.asarray(self._selected())
        if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
            raise ValueError(
                f"{type(self).__name__}._selected returned an array of shape {found.shape} and "
                f"{found.dtype}: it must return the arrival numbers of the kept columns"
            )
        return found.astype(np.int64, copy=False)

    def _support(self) -> BoolArray:
        mask = np.zeros(self.n_features_in_, bool)
        mask[self.selected_] = True
        return mask

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the kept columns, in order of arrival.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of all columns, as scikit-learn passes them; must equal the known names.
        """
        if hasattr(self, "feature_names_in_") or input_features is not None:
            names: npt.NDArray[Any] = super().get_feature_names_out(input_features)
            return names
        check_is_fitted(self)
        return np.array([self.names_[int(i)] for i in np.sort(self.selected_)], dtype=object)

    def _transform_frame(self, X: Any) -> Any:
        if hasattr(self, "feature_names_in_") or names_of(X) is None:
            return super()._transform_frame(X)
        return take_named(X, self.get_feature_names_out().tolist())

    def _fitted_attributes(self) -> dict[str, Any]:
        # time already spent, so that a resumed run keeps to its budget of seconds
        return {**super()._fitted_attributes(), "_started_": time.monotonic() - self._started_}

    def _restored(self) -> None:
        self._started_ = time.monotonic() - float(self._started_)
        for absent in ("stopped_", "_position_"):
            self.__dict__.setdefault(absent, None)
        self._dependence, self._began_with = RowDependence.of(self._identity_), self.traits
        self._connect_ledger()

    def _consistent(self) -> Iterator[str]:
        yield from super()._consistent()
        p, n = self.n_features_in_, self.n_samples_seen_ if self._has_holdout else self._n_rows
        tested = self._dependence.n_tested(n)
        for part in self.__dict__.values():  # kernels rely on all parts having the same number of rows
            wanted = n if isinstance(part, (RowsIdentity, KeptValues)) else tested
            if getattr(part, "n", wanted) != wanted:
                yield f"a {type(part).__name__} has {part.n} rows, but the target {wanted}"
        yield from self._dependence.problems(getattr(self.__dict__.get("_process_"), "test", None))
        if len(self.selected_) > p or np.any(self.selected_ >= p):
            yield "a kept column was never offered"
        if self.ledger_.clocked > p:
            yield "there are times of columns that were never offered"
        if self.ledger_.keep == "all" and p > max(UNPROVEN, len(self.ledger_)):
            yield f"there are {p:,} columns, but {len(self.ledger_):,} decisions"
        if not isinstance(self.stopped_, (str, type(None))) or not _is_position(self._position_):
            yield "stopped_ is not text, or the position in the source is not one"
        types = self.__dict__.get("_types_")
        if (types is not None) != self._knows_types or (types is not None and len(types.codes) != p):
            yield f"there are not the types of {p} columns"
        if len(self.__dict__.get("feature_names_in_", range(p))) != p:
            yield f"there are {len(self.feature_names_in_)} names for {p} columns"


def _is_position(position: Any) -> bool:
    """Whether a value read from a file is a position in a source: pairs of a name and an integer."""
    return position is None or (
        isinstance(position, list)
        and all(isinstance(p, list) and [type(v) for v in p] == [str, int] for p in position)
    )


def _pieces(X: Any) -> Iterator[slice]:
    """Yield slices that cut the columns of a matrix into blocks that fit in the cache."""
    n, p = X.shape
    values = X.nnz if hasattr(X, "nnz") else n * p
    size = max(1, min(p, int(BLOCK_VALUES * p / max(values, 1))))
    return (slice(low, min(low + size, p)) for low in range(0, p, size))
